//! An event in two forms: to be chosen, and to be written.

use timeline::{Event, EventId, ThreadRef};

use crate::format::event::{RawDefinition, RawEvent, RawThread};
use crate::read::loss::gaps::Gap;
use crate::read::texts::names::Names;
use crate::read::units::form::{DecodedEvent, EventRank, RingOrigin};
use crate::read::units::ordered::OrderedEvent;
use crate::read::units::unpack::IndexedEvent;

/// An event in two forms: to be chosen, and to be written.
pub struct CopiedEvent {
    pub ordered: OrderedEvent,
    pub raw: RawEvent,
}

impl DecodedEvent for CopiedEvent {
    type Definition = (<OrderedEvent as DecodedEvent>::Definition, RawDefinition);
    type Thread = (<OrderedEvent as DecodedEvent>::Thread, RawThread);

    fn definition(names: &Names, magic: u64, raw: &RawDefinition) -> Self::Definition {
        (OrderedEvent::definition(names, magic, raw), raw.clone())
    }

    fn thread(names: &Names, magic: u64, raw: &RawThread) -> Self::Thread {
        (OrderedEvent::thread(names, magic, raw), raw.clone())
    }

    fn make(
        ring: &RingOrigin,
        definition: &Self::Definition,
        thread: &Self::Thread,
        event: &mut IndexedEvent,
    ) -> CopiedEvent {
        let raw = RawEvent {
            definition: definition.1.clone(),
            thread: thread.1.clone(),
            ticks: event.ticks,
            unix_nanos: event.unix_nanos,
            core: event.core,
            lane: event.lane,
            number: event.number,
            args: event.args.clone(),
            payload: event.payload.clone(),
            backtrace: event.backtrace.clone(),
            next: event.next,
            missed: 0,
        };
        let ordered = OrderedEvent::make(ring, &definition.0, &thread.0, event);
        CopiedEvent { ordered, raw }
    }

    fn moment(&self) -> EventRank {
        self.ordered.moment()
    }

    fn meaning(definition: &Self::Definition) -> (EventId, bool) {
        OrderedEvent::meaning(&definition.0)
    }

    fn logger(thread: &Self::Thread) -> (ThreadRef, u32) {
        OrderedEvent::logger(&thread.0)
    }

    fn event(&self) -> Option<&Event> {
        self.ordered.event()
    }

    fn miss(&mut self, gap: &Gap) {
        self.ordered.miss(gap);
    }

    fn take(&mut self) -> CopiedEvent {
        CopiedEvent {
            ordered: self.ordered.take(),
            raw: std::mem::take(&mut self.raw),
        }
    }

    fn heap(&self) -> usize {
        let words = self.raw.args.capacity() + self.raw.backtrace.capacity();
        self.ordered.heap() + size_of::<u64>() * words + self.raw.payload.capacity()
    }
}
