//! New events as they come, with an exact account of those that were overwritten unread.
//!
//! Every event has a place in the count of its lane: the chunk says how many its lane committed
//! before it. A follower remembers the next place for each lane. A poll first asks each lane how
//! far it has come, by a consistent cut, and only then looks at the chunks. A gap is then an exact
//! loss, and no event that was just being written. It counts with the event that follows the gap.

use super::gone::Gone;
use super::groups::{Group, Groups};
use super::{Event, Events, Order};
use crate::layout::words::Entry;
use crate::ring::reader::{self, Chunk};
use crate::ring::{Storage, cut};
use crate::segment::Segment;
use crate::sync::Ordering;

/// Where a follower starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// With the very first event: those that are gone already count as missed.
    Start,
    /// With the oldest event that is still there.
    Oldest,
    /// With the newest so many of those that are there.
    Newest(usize),
    /// With the first event from now on.
    Now,
}

/// An event and its place. Lanes and entries count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The event.
    pub event: Event,
    /// The lane it was logged through.
    pub lane: u32,
    /// How many entries were logged through that lane before it.
    pub number: u64,
    /// How many there are with those that it takes itself.
    pub next: u64,
    /// How many entries of that lane were overwritten unread right before it, since the follower
    /// began. Those that were overwritten earlier are counted by [`Event::missed`] alone.
    pub missed: u64,
}

/// Chunks taken in one poll, beside one of each lane: as many as stay near the processor until they
/// are used.
const AT_ONCE: usize = 16;
/// Entries at the end of a chunk among which a quiet moment is sought.
const TAIL: usize = 64;

/// Follows a live ring.
pub struct Follow<'a> {
    segment: &'a Segment,
    lanes: Vec<Lane>,
    /// What was overwritten before the follower began.
    gone: Gone,
    missed: u64,
    fresh: Vec<Chunk>,
    entries: Vec<Entry>,
    /// What of the entries is of one chunk.
    runs: Vec<Run>,
    /// The events in their order: ticks, the run, and the entry in it.
    order: Vec<(u64, u32, u32)>,
    /// How many of these were given.
    given: usize,
}

/// Entries of one chunk.
struct Run {
    lane: u32,
    /// Where they begin among all.
    start: usize,
    /// The number of the first in its lane.
    first: u64,
    count: usize,
    /// What is missing before its first event.
    missing: Missing,
}

/// Entries of a lane that were overwritten.
#[derive(Clone, Copy, Default)]
struct Missing {
    /// Before the follower began.
    earlier: u64,
    /// Since then.
    unread: u64,
}

/// How far a lane is read.
#[derive(Clone, Copy)]
struct Lane {
    /// How many of its events are behind us; `None` when it has some, and was just changing chunks
    /// each time we looked.
    next: Option<u64>,
    /// How many of them this poll may give.
    until: u64,
    /// What is missing before its next event.
    missing: Missing,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(segment: &'a Segment, from: From) -> Follow<'a> {
        segment.look(|| Follow::begin(segment, from))
    }

    fn begin(segment: &'a Segment, from: From) -> Follow<'a> {
        // Before the chunks are looked at: what was logged by then is in one of them, or
        // overwritten.
        let logged = super::logged(segment);
        let lanes = logged.iter().map(|logged| Lane {
            next: match from {
                From::Start => Some(0),
                _ => *logged,
            },
            until: 0,
            missing: Missing::default(),
        });
        let mut follow = Follow {
            lanes: lanes.collect(),
            gone: Gone::default(),
            segment,
            missed: 0,
            fresh: Vec::new(),
            entries: Vec::new(),
            runs: Vec::new(),
            order: Vec::new(),
            given: 0,
        };
        match from {
            From::Start | From::Now => {}
            From::Oldest => {
                for chunk in follow.note_gaps(&logged) {
                    follow.go_back(chunk.lane, chunk.before);
                }
                for lane in &mut follow.lanes {
                    lane.missing.earlier = lane.next.unwrap_or(0);
                }
            }
            From::Newest(count) => {
                follow.note_gaps(&logged);
                let mut events = Events::new(segment, Order::NewestFirst);
                for _ in 0..count {
                    let Some((_, lane, place)) = events.next_placed() else {
                        break;
                    };
                    follow.go_back(lane, place);
                }
            }
        }
        follow
    }

    /// Notes what is gone behind the first chunk of each lane, of so many entries; the chunks.
    fn note_gaps(&mut self, logged: &[Option<u64>]) -> Vec<Chunk> {
        let mut chunks = super::chunks(self.segment, logged);
        chunks.sort_unstable_by_key(|chunk| (chunk.lane, chunk.before));
        self.gone = Gone::between(&chunks, logged);
        chunks
    }

    /// From given places on: lanes, and the number of the next event of each; the others from 0.
    pub(crate) fn at(segment: &'a Segment, places: &[(u32, u64)]) -> Follow<'a> {
        let mut follow = Follow::new(segment, From::Start);
        for (lane, next) in places {
            if let Some(lane) = follow.lanes.get_mut(*lane as usize) {
                lane.next = Some(*next);
            }
        }
        follow
    }

    /// Lanes, and the number of the next event of each, as far as they are known.
    pub fn places(&self) -> impl Iterator<Item = (u32, u64)> {
        let lanes = (0..).zip(&self.lanes);
        lanes.filter_map(|(lane, at)| Some((lane, at.next?)))
    }

    fn go_back(&mut self, lane: u32, place: u64) {
        let next = &mut self.lanes[lane as usize].next;
        *next = Some(next.map_or(place, |next| next.min(place)));
    }

    /// How many entries were overwritten unread since the start: an event takes one, one with a
    /// payload several, and what fills up a chunk between them counts as well.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// What is missing behind the last event of each lane: the lane, the number that comes next in
    /// it, how many entries were overwritten unread since the follower began, and how many before.
    pub fn untold(&self) -> Vec<(u32, u64, u64, u64)> {
        let lanes = (0..).zip(&self.lanes);
        let untold = lanes.map(|(number, lane)| {
            let Missing { earlier, unread } = lane.missing;
            (number, lane.next.unwrap_or(0), unread, earlier)
        });
        untold.filter(|(.., unread, _)| *unread > 0).collect()
    }

    /// How many entries were committed and not yet polled, with those that are overwritten by now.
    pub fn unread(&self) -> u64 {
        let unread = |(lane, committed): (&Lane, Option<u64>)| {
            let committed = committed?;
            Some(committed.saturating_sub(lane.next.unwrap_or(committed)))
        };
        let committed = (self.segment).look(|| super::committed(&self.segment.ring));
        let lanes = self.lanes.iter().zip(committed);
        lanes.filter_map(unread).fold(0, u64::saturating_add)
    }

    /// Appends the events that were logged since the last call to `out`, sorted by time; returns
    /// how many entries were overwritten before this call could read them. Does not wait, but for a
    /// few microseconds while others log. After a long pause it takes several calls to catch up.
    /// Each of them takes 16 chunks (16,384 events) and one for each lane. A call with nothing new
    /// and nothing missed has caught up.
    ///
    /// All events given up to the end of a call are a consistent cut. It holds every event that was
    /// logged before the call, unless it takes several calls to catch up. With each event it holds
    /// all events that happened before that one, unless they were overwritten: those whose log
    /// calls had returned when the call that logged it began.
    ///
    /// An event can be a little older than the last one of the call before, if its writer was
    /// interrupted between reading the clock and committing it. It happened before none of those.
    pub fn poll(&mut self, out: &mut Vec<Event>) -> u64 {
        let missed = self.gather();
        let start = out.len();
        for run in &self.runs {
            let mut missing = run.missing;
            let event = |group: Group| self.event(&group, &mut missing);
            out.extend(Groups::new(run.entries(&self.entries)).map(event));
        }
        out[start..].sort_by_key(|e| e.ticks);
        missed
    }

    /// As [`Follow::poll`], with the places of the events, which [`Follow::next_placed`] gives one
    /// by one; those that it was not asked for are gone. Those of one lane stay in its order.
    pub fn poll_placed(&mut self) -> u64 {
        let missed = self.gather();
        // Sorted before they are made: an event is many times as large as its place.
        let mut last = (0, 0);
        for (number, run) in (0..).zip(&self.runs) {
            for group in Groups::new(run.entries(&self.entries)) {
                let ticks = group.first.ticks();
                // Never before the one that was logged before it.
                last = match last {
                    (before, last) if before == run.lane => (run.lane, ticks.max(last)),
                    _ => (run.lane, ticks),
                };
                self.order.push((last.1, number, group.at as u32));
            }
        }
        self.order.sort_by_key(|(ticks, ..)| *ticks);
        missed
    }

    /// How many events there are for [`Follow::next_placed`].
    pub fn placed(&self) -> usize {
        self.order.len() - self.given
    }

    /// The next event of those that [`Follow::poll_placed`] found; none after [`Follow::poll`].
    #[inline]
    pub fn next_placed(&mut self) -> Option<Placed> {
        loop {
            let (_, number, at) = *self.order.get(self.given)?;
            self.given += 1;
            let run = &mut self.runs[number as usize];
            let mut missing = std::mem::take(&mut run.missing);
            let missed = missing.unread;
            let Some(group) = Groups::new(&run.entries(&self.entries)[at as usize..]).next() else {
                continue;
            };
            let (lane, number) = (run.lane, run.first.saturating_add(u64::from(at)));
            return Some(Placed {
                event: self.event(&group, &mut missing),
                lane,
                number,
                next: number.saturating_add(1 + group.rest.len() as u64),
                missed,
            });
        }
    }

    /// How many entries were committed by now, of each lane; 0 where it is not known.
    pub fn committed(&self) -> Vec<u64> {
        let committed = (self.segment).look(|| super::committed(&self.segment.ring));
        committed
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// How many of these, as [`Follow::committed`] gave them, are still to be read.
    pub fn left_of(&self, committed: &[u64]) -> u64 {
        let lanes = committed.iter().zip(&self.lanes);
        let left = lanes.map(|(until, lane)| until.saturating_sub(lane.next.unwrap_or(*until)));
        left.fold(0, u64::saturating_add)
    }

    fn event(&self, group: &Group, missing: &mut Missing) -> Event {
        let Missing { earlier, unread } = std::mem::take(missing);
        Event {
            missed: earlier.saturating_add(unread),
            ..Event::new(group, self.segment.node(group.first.core()))
        }
    }

    /// Copies what is new, lane by lane; returns how many entries were missed.
    fn gather(&mut self) -> u64 {
        self.segment.look(|| self.gather_all())
    }

    fn gather_all(&mut self) -> u64 {
        self.entries.clear();
        self.runs.clear();
        // They lead to entries that were there before.
        self.order.clear();
        self.given = 0;
        let missed_before = self.missed;
        for _ in 0..super::ATTEMPTS {
            if !self.ask_lanes() {
                break;
            }
            let known = self.runs.len();
            let limit = self.copy();
            let any = self.account(known, limit.unwrap_or(u64::MAX));
            if limit.is_none() {
                self.give_up();
            }
            if any {
                break;
            }
        }
        self.missed - missed_before
    }

    /// Counts what should have been there and was not: it is missing before what comes next in its
    /// lane.
    fn give_up(&mut self) {
        for (number, lane) in (0..).zip(&mut self.lanes) {
            let unread = lane.miss(number, lane.until, &self.gone);
            lane.next = Some(lane.until);
            self.missed = self.missed.saturating_add(unread);
        }
    }

    /// Notes how far each lane may be read; whether any has events for us.
    fn ask_lanes(&mut self) -> bool {
        let mut any = false;
        for (lane, until) in self.lanes.iter_mut().zip(super::cut(self.segment)) {
            // A lane whose count could not be told has nothing new for us: its next look tells.
            let until = until.or(lane.next).unwrap_or(0);
            let next = *lane.next.get_or_insert(until);
            lane.until = until.max(next);
            any |= lane.until > next;
        }
        any
    }

    /// Copies new chunks, each as a run; up to which ticks their events may be given, if not all.
    fn copy(&mut self) -> Option<u64> {
        let (ring, lanes) = (&self.segment.ring, &self.lanes);
        self.fresh.clear();
        self.fresh.extend(
            (0..ring.chunks())
                .filter_map(|chunk| reader::inspect(ring, chunk))
                .filter_map(|chunk| lanes[chunk.lane as usize].unread(chunk)),
        );
        let limit = self.limit();
        self.fresh.sort_by_key(|c| (c.lane, c.before));
        let known = self.runs.len();
        for chunk in &self.fresh {
            let next = self.lanes[chunk.lane as usize].next.unwrap_or(chunk.before);
            let from = u32::try_from(next.saturating_sub(chunk.before)).unwrap_or(u32::MAX);
            let start = self.entries.len();
            // One that was overwritten just now is missing before the lane's next run.
            if reader::copy(ring, chunk, from, &mut self.entries).is_ok() {
                self.runs.push(Run {
                    lane: chunk.lane,
                    start,
                    first: chunk.before.saturating_add(from.into()),
                    count: self.entries.len() - start,
                    missing: Missing::default(),
                });
            }
        }
        limit.map(|limit| self.quiet_before(limit, known))
    }

    /// A moment up to `limit` across which no event leads to its cause: see [`cut`].
    fn quiet_before(&self, limit: u64, known: usize) -> u64 {
        // What was left out begins at the limit.
        let mut events = vec![(limit, u32::MAX)];
        let (mut least, mut first) = (0, u64::MAX);
        for run in &self.runs[known..] {
            let entries = run.entries(&self.entries);
            let entries = &entries[..entries.partition_point(|e| e.ticks() <= limit)];
            let tail = &entries[entries.len().saturating_sub(TAIL)..];
            events.extend(tail.iter().map(|e| (e.ticks(), run.lane)));
            first = first.min(entries.first().map_or(u64::MAX, Entry::ticks));
            if tail.len() < entries.len() {
                least = least.max(tail[0].ticks());
            }
        }
        events.sort_unstable();
        // Not the limit itself: what was left out follows upon it.
        let moment = cut::widest_gap(&events, least, limit.saturating_sub(1));
        moment.filter(|moment| *moment >= first).unwrap_or(limit)
    }

    /// Takes over what was copied, up to these ticks, and counts what is missing before it; whether
    /// there are events.
    fn account(&mut self, known: usize, limit: u64) -> bool {
        let mut any = false;
        let mut ended = None;
        for run in &mut self.runs[known..] {
            let lane = &mut self.lanes[run.lane as usize];
            let entries = run.entries(&self.entries);
            let taken = entries.partition_point(|e| e.ticks() <= limit);
            // In a lane that was cut off, nothing follows.
            run.count = if ended == Some(run.lane) { 0 } else { taken };
            if taken < entries.len() {
                ended = Some(run.lane);
            }
            if run.count == 0 {
                continue;
            }
            let unread = lane.miss(run.lane, run.first, &self.gone);
            self.missed = self.missed.saturating_add(unread);
            lane.next = Some(run.first.saturating_add(run.count as u64));
            if Groups::new(run.entries(&self.entries)).next().is_some() {
                run.missing = std::mem::take(&mut lane.missing);
                any = true;
            }
        }
        any
    }

    /// Leaves only the oldest chunks in `fresh` if there are too many, and returns up to which
    /// ticks events may then be taken without overtaking those left out.
    fn limit(&mut self) -> Option<u64> {
        // If those of some lanes were left out, what is taken of the others would end where they
        // begin.
        let lanes = self.lanes.iter();
        let busy = lanes.filter(|lane| lane.until > lane.next.unwrap_or(0));
        let most = AT_ONCE + busy.count();
        if self.fresh.len() <= most {
            return None;
        }
        let ring = &self.segment.ring;
        let lanes = &self.lanes;
        // Only as good as the words are now: a chunk that is overwritten meanwhile is missed all
        // the same.
        let ticks = |c: &Chunk| {
            let next = lanes[c.lane as usize].next.unwrap_or(c.before);
            let from = next.saturating_sub(c.before);
            let index = u32::try_from(from).unwrap_or(u32::MAX);
            let index = index.min(c.count.saturating_sub(1));
            ring.word(c.chunk, index, 0).load(Ordering::Relaxed)
        };
        let mut by_time: Vec<(u64, Chunk)> = self.fresh.iter().map(|c| (ticks(c), *c)).collect();
        by_time.sort_by_key(|(ticks, _)| *ticks);
        let (limit, _) = by_time[most];
        self.fresh.clear();
        self.fresh
            .extend(by_time[..most].iter().map(|(_, chunk)| *chunk));
        Some(limit)
    }
}

impl Run {
    fn entries<'e>(&self, all: &'e [Entry]) -> &'e [Entry] {
        &all[self.start..][..self.count]
    }
}

impl Lane {
    /// Notes that nothing is there before this number; how many entries were overwritten since the
    /// follower began.
    fn miss(&mut self, lane: u32, end: u64, gone: &Gone) -> u64 {
        let next = self.next.unwrap_or(end);
        let gap = end.saturating_sub(next);
        if gap == 0 {
            return 0;
        }
        let earlier = gone.count(lane, next, end).min(gap);
        let missing = &mut self.missing;
        missing.earlier = missing.earlier.saturating_add(earlier);
        missing.unread = missing.unread.saturating_add(gap - earlier);
        gap - earlier
    }

    /// The part of a chunk that was there when this poll began, if any of it is unread.
    fn unread(&self, chunk: Chunk) -> Option<Chunk> {
        let chunk = chunk.up_to(Some(self.until))?;
        (chunk.end() > self.next.unwrap_or(0)).then_some(chunk)
    }
}
