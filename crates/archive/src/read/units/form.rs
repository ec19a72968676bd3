//! The forms in which readers get events: which parts of them are made, and of what.

use timeline::{Event, EventId, ThreadRef};

use crate::format::event::{RawDefinition, RawThread};
use crate::read::loss::gaps::Gap;
use crate::read::texts::names::Names;
use crate::read::units::unpack::IndexedEvent;

/// The position of an event in the order of events: time, ticks, magic, lane, and number in the
/// lane. A value that is not known is 0.
pub type EventRank = (u64, u64, u64, u64, u64);

/// An event in the form that a reader asked for.
pub trait DecodedEvent: Sized {
    /// The definition of an event.
    type Definition: Clone;
    /// The thread that logged an event.
    type Thread: Clone;

    fn definition(names: &Names, magic: u64, raw: &RawDefinition) -> Self::Definition;
    fn thread(names: &Names, magic: u64, raw: &RawThread) -> Self::Thread;
    fn make(
        ring: &RingOrigin,
        definition: &Self::Definition,
        thread: &Self::Thread,
        event: &mut IndexedEvent,
    ) -> Self;
    fn moment(&self) -> EventRank;
    /// The number of a definition, in the form of events of a ring, and whether its message was
    /// lost.
    fn meaning(_definition: &Self::Definition) -> (EventId, bool) {
        (EventId::NEVER, true)
    }
    /// A thread in this form, with its id in the kernel.
    fn logger(_thread: &Self::Thread) -> (ThreadRef, u32) {
        (ThreadRef(0), 0)
    }
    /// The event in this form. Only such events can be chosen.
    fn event(&self) -> Option<&Event> {
        None
    }
    /// Notes how many entries are missing before it, if the gap is before this event.
    fn miss(&mut self, gap: &Gap);
    /// Moves it out of a list that is not needed any more.
    fn take(&mut self) -> Self;
    /// The bytes of memory that it has on the heap.
    fn heap(&self) -> usize;
}

/// The ring of an event.
pub struct RingOrigin {
    /// Its magic.
    pub magic: u64,
    /// The NUMA nodes of its CPUs.
    pub nodes: Vec<u16>,
}

/// For counting events: nothing else is decoded.
impl DecodedEvent for () {
    type Definition = ();
    type Thread = ();

    fn definition(_: &Names, _: u64, _: &RawDefinition) {}

    fn thread(_: &Names, _: u64, _: &RawThread) {}

    #[inline]
    fn make(_: &RingOrigin, (): &(), (): &(), _: &mut IndexedEvent) {}

    fn moment(&self) -> EventRank {
        EventRank::default()
    }

    fn miss(&mut self, _: &Gap) {}

    fn take(&mut self) {}

    fn heap(&self) -> usize {
        0
    }
}
