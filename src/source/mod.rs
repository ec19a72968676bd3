//! Events out of a ring, live or saved: all of them in order of time, or the new ones as they come.

mod events;
mod follow;

pub use events::{Events, Order};
pub use follow::{Follow, From, Placed};

use crate::event::EventId;
use crate::layout::words::Entry;

/// Who logged an event: a thread of some process, by its identity in the timeline's thread table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadRef(pub u32);

/// One event as it was logged. Its meaning is in the definition of its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Ticks of the timeline's clock.
    pub ticks: u64,
    /// Which event.
    pub id: EventId,
    /// The CPU it was logged on; 0xffff when that could not be told.
    pub core: u16,
    /// The NUMA node of that CPU; 0xffff when it is not known.
    pub node: u16,
    /// The thread, as the thread table knows it.
    pub thread: ThreadRef,
    /// The kernel's id of the thread.
    pub tid: u32,
    /// Arguments; those the definition has no name for mean nothing.
    pub args: [i64; 4],
}

impl Event {
    fn new(entry: &Entry, node: Option<u8>) -> Event {
        Event {
            ticks: entry.ticks(),
            id: EventId(entry.event()),
            core: entry.core(),
            node: node.map_or(u16::MAX, u16::from),
            thread: ThreadRef(entry.thread()),
            tid: entry.tid(),
            args: entry.args(),
        }
    }
}
