//! Reads events from a ring: all in the order of time, or new ones as they come.
//!
//! events.rs gives all of a ring, merged by time (merge.rs), and follow/ those that come;
//! important.rs gives the important ones, which come first. lane.rs knows how far a lane is read,
//! chunk_entries.rs what a poll reads of a chunk, groups.rs puts events of several entries
//! together, entry.rs has an event as its entries do. What is missing: chunk_loss.rs counts what
//! was overwritten before a follower began, ring_contents.rs says how much the ring holds and since
//! when it is complete, passage.rs between which events none is missing.
//!
//! Left for later: what is missed is known in entries. A count of the events in each chunk, made
//! when it is closed, would tell how many events that are.

mod chunk_entries;
mod chunk_loss;
mod entry;
mod events;
mod follow;
mod groups;
mod important;
mod lane;
mod merge;
mod passage;
mod ring_contents;

pub use entry::{AlikeEvents, EntryEvent, EventWords, LaneRun};
pub use events::{Events, Order};
pub use follow::{Follow, FollowFrom};
pub(crate) use groups::Groups;
pub(crate) use important::{
    all as important_placed, entries as important, read as important_event,
};
pub use passage::Passage;
pub(crate) use ring_contents::RingContents;

use std::num::NonZeroU64;

use crate::clock::Interpolation;
use crate::event::{Definition, EventId, InlinedFunction, Layout, SourceLine, Values};
use crate::ring::reader::{self, Chunk};
use crate::ring::threads::Thread;
use crate::ring::{Storage, cut};
use crate::segment::TimelineMapping;

/// How many entries were logged through each lane; `None` for a lane if that is not known.
fn logged(segment: &TimelineMapping) -> Vec<Option<u64>> {
    let ring = &segment.ring;
    match segment.facts.snapshot {
        true => ring_contents::written(ring).into_iter().map(Some).collect(),
        false => committed(ring),
    }
}

/// How many entries each lane has committed; `None` for a lane if that is not known.
fn committed(ring: &impl Storage) -> Vec<Option<u64>> {
    let lanes: Vec<u32> = (0..ring.lanes()).collect();
    let looks = reader::look(ring, &lanes).into_iter();
    looks.map(|look| look.count).collect()
}

/// How far each lane may be read: a consistent cut of a ring, or all of a snapshot. `None` for a
/// lane if that is not known.
pub(crate) fn cut(segment: &TimelineMapping) -> Vec<Option<u64>> {
    let clock = segment.facts.clock;
    match segment.facts.snapshot {
        true => logged(segment),
        false => cut::take(&segment.ring, || clock.now()),
    }
}

/// Attempts to read entries before they are overwritten.
pub(crate) const ATTEMPTS: usize = 8;

/// A cut of a ring, and the chunks up to it. A small ring may be overwritten as a whole while the
/// cut is taken: then another cut is taken, unless it is the same.
pub(crate) fn contents(segment: &TimelineMapping) -> (Vec<Option<u64>>, Vec<Chunk>) {
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

/// The chunks up to a cut.
fn chunks(segment: &TimelineMapping, cut: &[Option<u64>]) -> Vec<Chunk> {
    let up_to = |chunk: Chunk| match segment.facts.snapshot {
        true => chunk.up_to(None),
        false => chunk.up_to(cut[chunk.lane as usize]),
    };
    let all = (0..segment.ring.chunks()).filter_map(|chunk| reader::inspect(&segment.ring, chunk));
    all.filter_map(up_to).collect()
}

/// The thread of an event. It means one thread, even if the kernel has reused its id since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadRef(pub u32);

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Ticks of the timeline's clock; 0 if they are not known.
    pub ticks: u64,
    /// The definition's number.
    pub id: EventId,
    /// The CPU it was logged on; 0xffff if it is not known.
    pub core: u16,
    /// The NUMA node of that CPU; 0xffff if it is not known.
    pub node: u16,
    /// The thread, by its record in the thread table.
    pub thread: ThreadRef,
    /// The kernel's id of the thread; 0 if it is not known.
    pub tid: u32,
    /// Arguments. Those beyond the definition's names mean nothing.
    pub args: [i64; 4],
    /// The payload, if four numbers are not enough: all values, and the call stack.
    pub payload: Option<Box<Payload>>,
    /// Nanoseconds since the epoch, if the event itself has them, as in an archive. In a ring its
    /// ticks give the time.
    pub time: Option<NonZeroU64>,
    /// How many entries of its lane are missing right before it, because they were overwritten. An
    /// event takes one entry, or several with a payload. Entries that fill up a chunk count as
    /// well.
    pub missed: u64,
    /// The part of its stream in which it is: between events of two, others are missing, of any
    /// lane. That of an important event says nothing.
    pub passage: Passage,
    /// Whether it is an [important](crate::Attributes::important) event. Readers get these first.
    pub important: bool,
    /// How long the span took that it ends, in nanoseconds. Only those readers know it that look
    /// for its begin: [`DumpDurations`](crate::dump::DumpDurations) does.
    pub duration: Option<u64>,
}

impl Event {
    /// The CPU it was logged on, if that is known.
    #[inline]
    pub fn known_core(&self) -> Option<u16> {
        (self.core != u16::MAX).then_some(self.core)
    }

    /// The NUMA node of that CPU, if it is known.
    #[inline]
    pub fn known_node(&self) -> Option<u16> {
        (self.node != u16::MAX).then_some(self.node)
    }

    /// The kernel's id of the thread, if it is known.
    #[inline]
    pub fn known_tid(&self) -> Option<u32> {
        (self.tid != 0).then_some(self.tid)
    }

    /// The return addresses of its call stack, innermost first; none if it has no call stack.
    pub fn backtrace(&self) -> &[u64] {
        self.payload.as_ref().map_or(&[], |p| &p.backtrace)
    }

    /// Its values, in order, as its definition lays them out.
    pub fn values<'a>(&'a self, layout: &'a Layout) -> Values<'a> {
        match &self.payload {
            None => layout.values_of_words(&self.args),
            Some(payload) => match payload.encoding {
                Encoding::Words => layout.values(&payload.values),
                Encoding::Msgpack => Values::packed(&payload.values),
            },
        }
    }
}

/// An event and its position. Lanes and entries count from 0. An important event has lane 32,768,
/// and the number of its first entry among those of important events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedEvent {
    /// The event.
    pub event: Event,
    /// The lane it was logged through.
    pub lane: u32,
    /// How many entries were logged through that lane before it.
    pub number: u64,
    /// The number of the next entry of that lane after this event.
    pub next: u64,
    /// How many entries of that lane were overwritten unread right before it, since the follower
    /// began. Earlier losses are only counted by [`Event::missed`].
    pub missed: u64,
}

/// The contents of an event beyond four numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// The values; [`Event::values`] reads them.
    pub values: Vec<u8>,
    /// How they are encoded.
    pub encoding: Encoding,
    /// Return addresses, innermost first.
    pub backtrace: Vec<u64>,
}

/// How the values of a payload are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// In words, as the definition lays them out: in a ring.
    #[default]
    Words,
    /// As msgpack, one after the other: in an archive.
    Msgpack,
}

/// The meaning of an address in a call stack, as far as it is known, like that of dladdr.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The address. It is a return address.
    pub address: u64,
    /// The file of the program or library (`dli_fname`).
    pub file: Option<String>,
    /// Where that file is mapped (`dli_fbase`).
    pub base: Option<u64>,
    /// The function, as the file spells it (`dli_sname`).
    pub name: Option<String>,
    /// Where that function begins (`dli_saddr`).
    pub start: Option<u64>,
    /// The line of that function from which the call was made, if debug information says it.
    pub source: Option<SourceLine>,
    /// The functions that the compiler put there into that function, innermost first: the call was
    /// made from the first, and that is called by the next, as it seems to who reads the source.
    pub inlined: Vec<InlinedFunction>,
}

/// Bytes that stand around the texts of an inlined function, however it is shown.
const AROUND_INLINED: usize = 128;

impl Frame {
    /// The bytes of its texts, and of those that stand around them.
    pub fn length(&self) -> usize {
        let path = |source: &'_ Option<SourceLine>| source.as_ref().map_or(0, |at| at.file.len());
        let text = |text: &'_ Option<String>| text.as_ref().map_or(0, String::len);
        let inlined = self.inlined.iter();
        let inlined =
            inlined.map(|called| text(&called.name) + path(&called.source) + AROUND_INLINED);
        text(&self.name) + text(&self.file) + path(&self.source) + inlined.sum::<usize>()
    }

    /// A frame with nothing but the address.
    pub fn unknown(address: u64) -> Frame {
        Frame {
            address,
            ..Frame::default()
        }
    }
}

/// A source of events, and of what they mean: a ring, or an archive. Any thread may ask it.
pub trait Source: Sync {
    /// The definition of an event; `None` if there is none.
    fn definition(&self, id: EventId) -> Option<&Definition>;

    /// A thread that logged events, if it is known, by what each of them has: the identity of the
    /// thread here, and its id in the kernel.
    fn thread_of(&self, thread: ThreadRef, tid: u32) -> Option<Thread>;

    /// The thread that logged an event, if it is known.
    fn thread(&self, event: &Event) -> Option<Thread> {
        self.thread_of(event.thread, event.tid)
    }

    /// Changes when [`Source::thread`] may give another name than before for the same thread.
    fn renames(&self) -> u64 {
        0
    }

    /// The time of an event in nanoseconds since the epoch, if it is known.
    fn time(&self, event: &Event) -> Option<u64>;

    /// The times around an event, if they come from its ticks alone: [`Source::time`] of other
    /// events gives the same, and takes longer.
    fn interpolation(&self, _event: &Event) -> Option<Interpolation> {
        None
    }

    /// The meaning of an address in the call stack of an event.
    fn frame(&self, event: &Event, address: u64) -> Frame;

    /// The meaning of a pointer that an event has as its value: a function or a variable.
    fn pointee(&self, event: &Event, address: u64) -> Frame {
        // That of a call stack is behind the call.
        let behind = self.frame(event, address.wrapping_add(1));
        // What stands there was not called from a line.
        Frame {
            address,
            source: None,
            ..behind
        }
    }

    /// All definitions so far.
    fn definitions(&self) -> Box<dyn Iterator<Item = &Definition> + '_>;
}
