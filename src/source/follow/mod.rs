//! Follows new events, and counts exactly those that were overwritten unread.
//!
//! Every entry has a number in its lane: the chunk says how many entries its lane committed before
//! it. A follower remembers the next number of each lane. A poll first takes a consistent cut, to
//! know how far each lane has come, and only then looks at the chunks. So a gap is an exact loss,
//! and not an event that was just being written. It is reported with the event after the gap.
//!
//! placed.rs gives the events of a poll with their positions, holes.rs says where there are holes
//! around them, and counts.rs how many entries are unread and missed. Loads of ticks are Relaxed:
//! the copy of a chunk finds if it was overwritten.

mod counts;
mod holes;
mod placed;

use super::chunk_entries::ChunkEntries;
use super::chunk_loss::ChunkLoss;
use super::entry::LaneRun;
use super::groups::{EntryGroup, Groups};
use super::important::Important;
use super::lane::{Lane, LaneLoss};
use super::merge::EntryMerge;
use super::ring_contents::RingContents;
use super::{Event, Events, Order, PlacedEvent};
use crate::layout::words::Entry;
use crate::ring::reader::{self, Chunk};
use crate::ring::{Storage, cut};
use crate::segment::TimelineMapping;
use crate::sync::Ordering;
use holes::PollHoles;

/// Where a follower starts. It gets all important events first, wherever it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowFrom {
    /// With the very first event: those already overwritten count as missed.
    Start,
    /// With the oldest event in the ring.
    Oldest,
    /// With the newest events in the ring, this many.
    Newest(usize),
    /// With the first event from now on.
    Now,
}

/// Chunks taken in one poll, in addition to one of each lane: they fit the processor's caches until
/// they are used.
const AT_ONCE: usize = 16;
/// Entries at the end of a chunk that are searched for a quiet moment.
const TAIL: usize = 64;

/// Follows a ring.
pub struct Follow<'a> {
    segment: &'a TimelineMapping,
    lanes: Vec<Lane>,
    /// The entries that were overwritten before the follower began.
    gone: ChunkLoss,
    /// How many these are, and those before the first chunk of each lane.
    overwritten: u64,
    missed: u64,
    holes: PollHoles,
    important: Important,
    /// The important events of the last poll, and how many of these were returned.
    kept: Vec<PlacedEvent>,
    kept_given: usize,
    fresh: Vec<Chunk>,
    /// What is next to be read of each chunk: far behind, a follower asks at each poll.
    starts: Vec<Start>,
    entries: Vec<Entry>,
    /// The entries of each chunk in `entries`.
    runs: Vec<ChunkEntries>,
    /// The order of the events in them that were not returned yet.
    merge: EntryMerge,
    /// Memory for the ticks, the words and the runs of events.
    ticks: Vec<u64>,
    words: Vec<u8>,
    lane_runs: Vec<LaneRun>,
}

/// The ticks of the first unread entry of a chunk. An entry that was committed stays the same as
/// long as its chunk has the same ticket.
#[derive(Clone, Copy, Default)]
struct Start {
    ticket: u64,
    index: u32,
    ticks: u64,
}

/// What a look at the ring found.
#[derive(PartialEq, Eq)]
enum FollowStep {
    Nothing,
    /// Entries, and no event among them.
    Padding,
    Events,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(segment: &'a TimelineMapping, from: FollowFrom) -> Follow<'a> {
        segment.look(|| Follow::begin(segment, from))
    }

    fn begin(segment: &'a TimelineMapping, from: FollowFrom) -> Follow<'a> {
        // Read before the chunks: all that was logged by then is in a chunk, or overwritten.
        let logged = super::logged(segment);
        let lanes = logged.iter().map(|logged| Lane {
            next: match from {
                FollowFrom::Start => Some(0),
                _ => *logged,
            },
            until: 0,
            missing: LaneLoss::default(),
        });
        let mut follow = Follow {
            lanes: lanes.collect(),
            gone: ChunkLoss::default(),
            overwritten: 0,
            segment,
            missed: 0,
            holes: PollHoles::default(),
            important: Important::default(),
            kept: Vec::new(),
            kept_given: 0,
            fresh: Vec::new(),
            starts: Vec::new(),
            entries: Vec::new(),
            runs: Vec::new(),
            merge: EntryMerge::default(),
            ticks: Vec::new(),
            words: Vec::new(),
            lane_runs: Vec::new(),
        };
        if matches!(from, FollowFrom::Oldest | FollowFrom::Newest(_)) {
            let whole_since = RingContents::of(&segment.ring).complete_since;
            follow.holes.begin_at(whole_since.unwrap_or(0));
        }
        match from {
            FollowFrom::Start | FollowFrom::Now => {}
            FollowFrom::Oldest => {
                for chunk in follow.note_gaps(&logged) {
                    follow.go_back(chunk.lane, chunk.before);
                }
                for lane in &mut follow.lanes {
                    lane.missing.earlier = lane.next.unwrap_or(0);
                }
                let before = follow.lanes.iter().map(|lane| lane.missing.earlier);
                follow.overwritten = before.fold(follow.gone.all(), u64::saturating_add);
            }
            FollowFrom::Newest(count) => {
                follow.note_gaps(&logged);
                let mut events = Events::of_ring(segment, Order::NewestFirst);
                for _ in 0..count {
                    let Some((_, lane, number)) = events.next_placed() else {
                        break;
                    };
                    follow.go_back(lane, number);
                }
            }
        }
        follow
    }

    /// Notes the entries missing after the first chunk of each lane. Returns the chunks.
    fn note_gaps(&mut self, logged: &[Option<u64>]) -> Vec<Chunk> {
        let mut chunks = super::chunks(self.segment, logged);
        chunks.sort_unstable_by_key(|chunk| (chunk.lane, chunk.before));
        self.gone = ChunkLoss::between(&chunks, logged);
        chunks
    }

    /// Starts at given positions: lanes, and the number of the next entry of each. Other lanes
    /// start at 0.
    pub(crate) fn at(segment: &'a TimelineMapping, positions: &[(u32, u64)]) -> Follow<'a> {
        let mut follow = Follow::new(segment, FollowFrom::Start);
        for (lane, next) in positions {
            if let Some(lane) = follow.lanes.get_mut(*lane as usize) {
                lane.next = Some(*next);
            }
        }
        follow
    }

    /// Leaves out the important events with these numbers ([`PlacedEvent::number`]).
    pub fn leave_out(&mut self, is_known: impl Fn(u64) -> bool) {
        let (segment, important) = (self.segment, &mut self.important);
        segment.look(|| important.leave_out(segment, is_known));
    }

    /// The lanes, and the number of the next entry of each, as far as they are known. Important
    /// events have no lane.
    pub fn positions(&self) -> impl Iterator<Item = (u32, u64)> {
        let lanes = (0..).zip(&self.lanes);
        lanes.filter_map(|(lane, at)| Some((lane, at.next?)))
    }

    /// Before which ticks the events of the last poll are in a [hole](super::Passage::HOLE), if
    /// any are. Entries are missing among them, or right before the first.
    pub fn hole(&self) -> Option<u64> {
        let last = |run: &ChunkEntries| run.entries(&self.entries).last().map(Entry::ticks);
        let behind = || {
            self.runs
                .iter()
                .filter_map(last)
                .max()
                .map(|last| last.saturating_add(1))
        };
        match self.holes.until()? {
            u64::MAX => behind(),
            until => Some(until),
        }
    }

    fn go_back(&mut self, lane: u32, number: u64) {
        let next = &mut self.lanes[lane as usize].next;
        *next = Some(next.map_or(number, |next| next.min(number)));
    }

    /// Appends the events that were logged since the last call to `out`: the important ones first,
    /// then the others, each sorted by time. Returns how many entries were overwritten before this
    /// call could read them. Waits at most a few microseconds, and only while other threads log.
    /// After a long pause it takes several calls to catch up. Each takes 16 chunks (16,384 events)
    /// and one more for each lane. A call with nothing new and nothing missed has caught up.
    ///
    /// All events returned up to the end of a call are a consistent cut. It has every event that
    /// was logged before the call, unless it takes several calls to catch up. With each event it
    /// has all events that happened before that one, unless they were overwritten. An event
    /// happened before another if its log call had returned when the other's began.
    ///
    /// An event can be a little older than the last one of the previous call, if its writer was
    /// interrupted between reading the clock and the commit. It happened before none of those.
    pub fn poll(&mut self, out: &mut Vec<Event>) -> u64 {
        let missed = self.gather();
        out.extend(self.kept.drain(..).map(|placed| placed.event));
        let start = out.len();
        for run in &self.runs {
            let mut missing = run.missing;
            let event = |group: EntryGroup| self.event(&group, &mut missing);
            out.extend(Groups::new(run.entries(&self.entries)).map(event));
        }
        out[start..].sort_by_key(|e| e.ticks);
        missed
    }

    fn event(&self, group: &EntryGroup, missing: &mut LaneLoss) -> Event {
        let LaneLoss { earlier, unread } = std::mem::take(missing);
        Event {
            missed: earlier.saturating_add(unread),
            passage: self.holes.passage(group.first.ticks()),
            ..Event::read(self.segment, group)
        }
    }

    /// Copies new entries, lane by lane. Returns how many were missed.
    fn gather(&mut self) -> u64 {
        self.segment.look(|| {
            let missed = self.gather_all();
            self.kept.clear();
            self.kept_given = 0;
            // After the others: all important events that happened before one of them are there.
            self.important.poll(self.segment, &mut self.kept);
            missed
        })
    }

    fn gather_all(&mut self) -> u64 {
        self.entries.clear();
        self.runs.clear();
        // Its places lead into the entries of the previous poll.
        self.merge.clear();
        self.holes.begin_poll();
        let missed_before = self.missed;
        let mut attempts = super::ATTEMPTS;
        // Padding may fill a whole snapshot. Bounded all the same, because others write the ring.
        for _ in 0..super::ATTEMPTS + self.segment.ring.chunks() as usize {
            if attempts == 0 || !self.ask_lanes() {
                break;
            }
            // Nothing but padding.
            self.entries.clear();
            self.runs.clear();
            let limit = self.copy();
            let found = self.account(limit.unwrap_or(u64::MAX));
            match limit {
                Some(_) => self.holes.look_ahead(&self.lanes),
                None => self.give_up(),
            }
            match found {
                FollowStep::Events => break,
                FollowStep::Padding if limit.is_some() => {}
                FollowStep::Padding | FollowStep::Nothing => attempts -= 1,
            }
        }
        self.missed - missed_before
    }

    /// Counts the entries that should have been there: they are missing before the next of their
    /// lane.
    fn give_up(&mut self) {
        let missed = self.missed;
        for (number, lane) in (0..).zip(&mut self.lanes) {
            let unread = lane.miss(number, lane.until, &self.gone);
            lane.next = Some(lane.until);
            self.missed = self.missed.saturating_add(unread);
        }
        if self.missed > missed {
            let since = RingContents::of(&self.segment.ring).complete_since;
            self.holes.end_at(since.unwrap_or(u64::MAX));
        }
    }

    /// Sets how far each lane may be read. Returns whether any has new entries.
    fn ask_lanes(&mut self) -> bool {
        let mut any = false;
        for (lane, until) in self.lanes.iter_mut().zip(super::cut(self.segment)) {
            // A lane with an unknown count has nothing new in this poll; the next poll asks again.
            let until = until.or(lane.next).unwrap_or(0);
            let next = *lane.next.get_or_insert(until);
            lane.until = until.max(next);
            any |= lane.until > next;
        }
        any
    }

    /// Copies new chunks, each as a run. Returns the last ticks that may be given, if not all may.
    fn copy(&mut self) -> Option<u64> {
        let (ring, lanes) = (&self.segment.ring, &self.lanes);
        self.fresh.clear();
        self.holes.ahead.clear();
        self.fresh.extend(
            (0..ring.chunks())
                .filter_map(|chunk| reader::inspect(ring, chunk))
                .filter_map(|chunk| lanes[chunk.lane as usize].unread(chunk)),
        );
        let limit = self.limit();
        self.fresh.sort_by_key(|c| (c.lane, c.before));
        for chunk in &self.fresh {
            let next = self.lanes[chunk.lane as usize].next.unwrap_or(chunk.before);
            let from = u32::try_from(next.saturating_sub(chunk.before)).unwrap_or(u32::MAX);
            let start = self.entries.len();
            // A chunk overwritten just now is missing before the lane's next run.
            if reader::copy(ring, chunk, from, &mut self.entries).is_ok() {
                self.runs.push(ChunkEntries {
                    lane: chunk.lane,
                    start,
                    first: chunk.before.saturating_add(from.into()),
                    count: self.entries.len() - start,
                    missing: LaneLoss::default(),
                });
            } else {
                self.holes
                    .lack(chunk.lane, next.max(chunk.before)..chunk.end());
            }
        }
        limit.map(|limit| self.quiet_before(limit))
    }

    /// A moment up to `limit`: no event up to it has its cause after it. See [`cut`].
    fn quiet_before(&self, limit: u64) -> u64 {
        let mut events = Vec::new();
        let (mut least, mut first) = (0, u64::MAX);
        for run in &self.runs {
            let entries = run.entries(&self.entries);
            let entries = &entries[..entries.partition_point(|e| e.ticks() <= limit)];
            let tail = &entries[entries.len().saturating_sub(TAIL)..];
            events.extend(tail.iter().map(|e| (e.ticks(), run.lane)));
            first = first.min(entries.first().map_or(u64::MAX, Entry::ticks));
            if tail.len() < entries.len() {
                least = least.max(tail[0].ticks());
            }
        }
        // The chunks left out begin at the limit. It is the last one: those of a single lane are
        // sorted already.
        events.push((limit, u32::MAX));
        events.sort_unstable();
        // Before the limit, because the chunks left out begin there.
        let moment = cut::widest_gap(&events, least, limit.saturating_sub(1));
        moment.filter(|moment| *moment >= first).unwrap_or(limit)
    }

    /// Accepts the copied entries up to these ticks, and counts those missing before them.
    fn account(&mut self, limit: u64) -> FollowStep {
        let mut found = FollowStep::Nothing;
        let mut ended = None;
        for run in &mut self.runs {
            let lane = &mut self.lanes[run.lane as usize];
            let entries = run.entries(&self.entries);
            let taken = entries.partition_point(|e| e.ticks() <= limit);
            // After a lane was cut off, none of its chunks follows.
            run.count = if ended == Some(run.lane) { 0 } else { taken };
            if taken < entries.len() {
                ended = Some(run.lane);
            }
            if run.count == 0 {
                continue;
            }
            let unread = lane.miss(run.lane, run.first, &self.gone);
            self.missed = self.missed.saturating_add(unread);
            if unread > 0 {
                self.holes.end_at(entries[0].ticks());
            }
            lane.next = Some(run.first.saturating_add(run.count as u64));
            if Groups::new(run.entries(&self.entries)).next().is_some() {
                run.missing = std::mem::take(&mut lane.missing);
                found = FollowStep::Events;
            } else if found == FollowStep::Nothing {
                found = FollowStep::Padding;
            }
        }
        found
    }

    /// Leaves only the oldest chunks in `fresh` if there are too many. Returns up to which ticks
    /// events may then be given without overtaking those left out.
    fn limit(&mut self) -> Option<u64> {
        // At least one chunk of each busy lane: a lane left out would limit the others to the ticks
        // before its own.
        let lanes = self.lanes.iter();
        let busy = lanes.filter(|lane| lane.until > lane.next.unwrap_or(0));
        let most = AT_ONCE + busy.count();
        if self.fresh.len() <= most {
            return None;
        }
        self.fresh.sort_unstable_by_key(|c| (c.lane, c.before));
        self.holes.note_ahead(&self.fresh, &self.lanes);
        let ring = &self.segment.ring;
        let (lanes, starts) = (&self.lanes, &mut self.starts);
        starts.resize(ring.chunks() as usize, Start::default());
        // These ticks may be wrong: a chunk that is overwritten meanwhile is missed all the same.
        let ticks = |c: &Chunk| {
            let next = lanes[c.lane as usize].next.unwrap_or(c.before);
            let from = next.saturating_sub(c.before);
            let index = u32::try_from(from).unwrap_or(u32::MAX);
            let index = index.min(c.count.saturating_sub(1));
            let start = &mut starts[c.chunk as usize];
            if (start.ticket, start.index) != (c.ticket, index) {
                *start = Start {
                    ticket: c.ticket,
                    index,
                    ticks: ring.word(c.chunk, index, 0).load(Ordering::Relaxed),
                };
            }
            start.ticks
        };
        let mut by_time: Vec<(u64, Chunk)> = self
            .fresh
            .iter()
            .map(ticks)
            .zip(self.fresh.iter().copied())
            .collect();
        by_time.sort_by_key(|(ticks, _)| *ticks);
        let (limit, _) = by_time[most];
        self.fresh.clear();
        self.fresh
            .extend(by_time[..most].iter().map(|(_, chunk)| *chunk));
        Some(limit)
    }
}
