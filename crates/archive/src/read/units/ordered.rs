//! Makes events in the form of events of a ring, and keeps by what they are ordered.

use std::num::NonZeroU64;

use timeline::internal::msgpack::{Marker, put};
use timeline::internal::values;
use timeline::{Encoding, Event, EventId, Passage, Payload, ThreadRef, Value};

use crate::format::event::{RawDefinition, RawThread};
use crate::read::loss::gaps::Gap;
use crate::read::texts::names::Names;
use crate::read::units::form::{DecodedEvent, EventRank, RingOrigin};
use crate::read::units::unpack::IndexedEvent;

/// An event in the form of events of a ring, and the numbers by which it is ordered.
pub struct OrderedEvent {
    pub event: Event,
    pub magic: u64,
    lane: u64,
    number: u64,
}

/// The meaning of an event.
#[derive(Clone)]
pub struct Meaning {
    id: EventId,
    /// The same as in its definition.
    is_lost: bool,
}

/// The number of arguments in an event itself.
pub const ARGUMENTS: usize = 4;
/// Most return addresses of an event in the form of events of a ring. That is several times as many
/// as an event of a ring has.
pub const ADDRESSES: usize = 1024;
/// Most bytes of values of such an event. That is dozens of times as many as an event of a ring
/// has.
pub const PAYLOAD: usize = 64 << 10;

impl DecodedEvent for OrderedEvent {
    type Definition = Meaning;
    type Thread = (ThreadRef, u32);

    fn definition(names: &Names, magic: u64, raw: &RawDefinition) -> Meaning {
        let id = names.event(magic, raw);
        let is_lost = names.definition(id).is_none_or(|means| means.is_lost);
        Meaning { id, is_lost }
    }

    fn thread(names: &Names, magic: u64, raw: &RawThread) -> (ThreadRef, u32) {
        let tid = raw.tid.and_then(|tid| u32::try_from(tid).ok());
        (names.thread_ref(magic, raw), tid.unwrap_or(0))
    }

    #[inline]
    fn make(
        ring: &RingOrigin,
        means: &Meaning,
        thread: &(ThreadRef, u32),
        event: &mut IndexedEvent,
    ) -> OrderedEvent {
        let mut args = [0; ARGUMENTS];
        let given = event.args.iter();
        args.iter_mut()
            .zip(given)
            .for_each(|(arg, given)| *arg = *given);
        let core = event.core.map_or(u16::MAX, |core| core.min(0xffff) as u16);
        // If no message says how many arguments there are, a payload does.
        let more = event.args.len() > ARGUMENTS
            || means.is_lost
            || !event.payload.is_empty()
            || !event.backtrace.is_empty();
        OrderedEvent {
            event: Event {
                ticks: event.ticks.unwrap_or(0),
                id: means.id,
                core,
                node: ring
                    .nodes
                    .get(usize::from(core))
                    .copied()
                    .unwrap_or(u16::MAX),
                thread: thread.0,
                tid: thread.1,
                args,
                payload: more.then(|| payload(event)),
                time: event.unix_nanos.and_then(NonZeroU64::new),
                missed: 0,
                passage: Passage::default(),
                important: event.is_important(),
                duration: None,
            },
            magic: ring.magic,
            lane: event.lane.unwrap_or(0),
            number: event.number.unwrap_or(0),
        }
    }

    #[inline]
    fn moment(&self) -> EventRank {
        let unix = self.event.time.map_or(0, NonZeroU64::get);
        (unix, self.event.ticks, self.magic, self.lane, self.number)
    }

    fn meaning(means: &Meaning) -> (EventId, bool) {
        (means.id, means.is_lost)
    }

    fn logger(thread: &(ThreadRef, u32)) -> (ThreadRef, u32) {
        *thread
    }

    #[inline]
    fn event(&self) -> Option<&Event> {
        Some(&self.event)
    }

    fn miss(&mut self, gap: &Gap) {
        self.event.missed = gap.before(self.magic, self.lane, self.number);
    }

    #[inline]
    fn take(&mut self) -> OrderedEvent {
        let payload = self.event.payload.take();
        let event = Event {
            payload,
            ..self.event
        };
        OrderedEvent { event, ..*self }
    }

    #[inline]
    fn heap(&self) -> usize {
        let payload = self.event.payload.as_ref();
        payload.map_or(0, |payload| {
            let lists = payload.values.capacity() + size_of::<u64>() * payload.backtrace.capacity();
            size_of::<Payload>() + lists
        })
    }
}

/// The first values up to the limit. A text that crosses the limit is cut.
fn beginning(payload: &[u8]) -> Vec<u8> {
    // An encoded text takes up to four bytes more than the text.
    let (mut kept, most) = (Vec::new(), PAYLOAD - 4);
    for value in values(payload) {
        let room = most.saturating_sub(kept.len());
        match value {
            Value::Text { bytes, .. } if bytes.len() > room => {
                let bytes = &bytes[..room];
                Value::Text { bytes, cut: true }.encode(&mut kept);
            }
            value => value.encode(&mut kept),
        }
        if kept.len() >= most {
            break;
        }
    }
    kept
}

/// The payload of an event for which four arguments are not enough. Integers have the type `long`,
/// as in an event of `printf`.
#[cold]
fn payload(event: &mut IndexedEvent) -> Box<Payload> {
    let mut values = std::mem::take(&mut event.payload);
    if values.len() > PAYLOAD {
        values = beginning(&values);
    }
    for arg in &event.args {
        put(&mut values, Marker::I64, &arg.to_be_bytes());
    }
    let mut backtrace = std::mem::take(&mut event.backtrace);
    backtrace.truncate(ADDRESSES);
    Box::new(Payload {
        values,
        encoding: Encoding::Msgpack,
        backtrace,
    })
}
