//! Events out of a ring, live or saved: all of them in order of time, or the new ones as they come.

mod events;
mod follow;
mod gone;
mod groups;
mod held;

pub use events::{Events, Order};
pub use follow::{Follow, From, Placed};
pub(crate) use groups::Groups;
pub(crate) use held::Held;

use std::num::NonZeroU64;

use crate::event::{Definition, EventId};
use crate::ring::reader::{self, Chunk};
use crate::ring::threads::Thread;
use crate::ring::{Storage, cut};
use crate::segment::Segment;

/// How many entries were logged through each lane. `None`: that could not be told.
fn logged(segment: &Segment) -> Vec<Option<u64>> {
    let ring = &segment.ring;
    match segment.facts.snapshot {
        true => held::written(ring).into_iter().map(Some).collect(),
        false => committed(ring),
    }
}

/// How many entries each lane has committed by now. `None`: that could not be told.
fn committed(ring: &impl Storage) -> Vec<Option<u64>> {
    let lanes: Vec<u32> = (0..ring.lanes()).collect();
    let looks = reader::look(ring, &lanes).into_iter();
    looks.map(|look| look.count).collect()
}

/// How far each lane may be read: a consistent cut of a live ring, and all of a snapshot. `None`:
/// that could not be told.
pub(crate) fn cut(segment: &Segment) -> Vec<Option<u64>> {
    let clock = segment.facts.clock;
    match segment.facts.snapshot {
        true => logged(segment),
        false => cut::take(&segment.ring, || clock.now()),
    }
}

/// Attempts at finding what is not overwritten meanwhile.
pub(crate) const ATTEMPTS: usize = 8;

/// What a ring holds up to a cut, and that cut. A small ring may be overwritten as a whole while
/// the cut is taken: then the next one is tried, unless it is the same one.
pub(crate) fn contents(segment: &Segment) -> (Vec<Option<u64>>, Vec<Chunk>) {
    let up_to = |cut: Vec<Option<u64>>| {
        let chunks = chunks(segment, &cut);
        (cut, chunks)
    };
    segment.look(|| {
        let mut found = up_to(cut(segment));
        for _ in 1..ATTEMPTS {
            if !found.1.is_empty() {
                break;
            }
            let next = cut(segment);
            if next == found.0 {
                break;
            }
            found = up_to(next);
        }
        found
    })
}

/// What chunks hold up to a cut.
fn chunks(segment: &Segment, cut: &[Option<u64>]) -> Vec<Chunk> {
    let up_to = |chunk: Chunk| match segment.facts.snapshot {
        true => chunk.up_to(None),
        false => chunk.up_to(cut[chunk.lane as usize]),
    };
    let all = (0..segment.ring.chunks()).filter_map(|chunk| reader::inspect(&segment.ring, chunk));
    all.filter_map(up_to).collect()
}

/// A thread as an event names it. It means one thread, also when the kernel gave its id to another
/// since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadRef(pub u32);

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Ticks of the timeline's clock; 0 when they are not known.
    pub ticks: u64,
    /// Which event.
    pub id: EventId,
    /// The CPU it was logged on; 0xffff when it is not known.
    pub core: u16,
    /// The NUMA node of that CPU; 0xffff when it is not known.
    pub node: u16,
    /// The thread, as the thread table knows it.
    pub thread: ThreadRef,
    /// The kernel's id of the thread; 0 when it is not known.
    pub tid: u32,
    /// Arguments; those the definition has no name for mean nothing.
    pub args: [i64; 4],
    /// The payload, if four integers do not suffice: the values of printf, and the call stack. Its
    /// values are all that the event has.
    pub payload: Option<Box<Payload>>,
    /// Nanoseconds since the epoch, if the event itself says so, as in an archive. In a ring, its
    /// ticks do.
    pub time: Option<NonZeroU64>,
    /// How many entries of its lane are missing right before it: they were overwritten. An event
    /// takes one entry, one with a payload takes several, and entries that fill up a chunk count as
    /// well.
    pub missed: u64,
}

impl Event {
    /// The return addresses of its call stack, innermost first; none if it has no call stack.
    pub fn backtrace(&self) -> &[u64] {
        self.payload.as_ref().map_or(&[], |p| &p.backtrace)
    }

    /// The values of its payload, as msgpack; none if it has no payload.
    pub fn values(&self) -> &[u8] {
        self.payload.as_ref().map_or(&[], |p| &p.values)
    }
}

/// What an event says beyond four integers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// Values, as msgpack, one after the other; [`values`](crate::event::values) reads them.
    pub values: Vec<u8>,
    /// Return addresses, innermost first.
    pub backtrace: Vec<u64>,
}

/// What an address in a call stack stands for, as far as that is known: what dladdr says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The address: one to which a function will return.
    pub address: u64,
    /// The file of the program or library (`dli_fname`).
    pub file: Option<String>,
    /// Where that is mapped (`dli_fbase`).
    pub base: Option<u64>,
    /// The function, as the file spells it (`dli_sname`).
    pub name: Option<String>,
    /// Where that begins (`dli_saddr`).
    pub start: Option<u64>,
}

impl Frame {
    /// Nothing but the address.
    pub fn unknown(address: u64) -> Frame {
        Frame {
            address,
            ..Frame::default()
        }
    }
}

/// What events come from, and what is known there about them: a ring, or an archive.
pub trait Source {
    /// What an event means; `None` if no such event is defined.
    fn definition(&self, id: EventId) -> Option<&Definition>;

    /// The thread that logged an event, if it is known.
    fn thread(&self, event: &Event) -> Option<Thread>;

    /// When an event was, in nanoseconds since the epoch, if it can be told.
    fn time(&self, event: &Event) -> Option<u64>;

    /// What an address in the call stack of an event stands for.
    fn frame(&self, event: &Event, address: u64) -> Frame;

    /// All that is defined by now.
    fn definitions(&self) -> Box<dyn Iterator<Item = &Definition> + '_>;
}
