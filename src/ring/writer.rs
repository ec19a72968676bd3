//! The writer's half: append to a lane that has one owner, and give any full lane a new chunk.
//!
//! **What does a ring keep?** Each lane's newest chunk; the other chunks are overwritten in turn.
//! The entry of a thread that logged once, on a CPU where others log much, is overwritten after one
//! lap of the ring; a lane of its own would have kept its last chunk.
//!
//! **Why is a chunk spared that was filled just now?** Chunks are taken in turn, and the next one
//! is the oldest only if all are filled as soon as they are taken. The chunk of a lane that is
//! seldom used is passed over while it is current, and may get full right before its turn. Then the
//! newest events of that lane were overwritten, while others kept theirs for a whole lap. A test
//! that logged a hundred events into a ring of a thousand lost twelve of them, once in a hundred
//! runs. So a taker checks whether a chunk was written to within the last quarter of a lap, by
//! comparing its last entry with those of chunks taken then. That reads memory twice per 1,024
//! events, too little for `make bench` to show, and stores nothing. It is a hint, and the safety of
//! the protocol does not depend on it. Half a lap was tried, and was worse than nothing if many
//! chunks belong to slow lanes: of the newest events, 24 lanes on 64 chunks held 384, where a ring
//! without the rule holds 578, and so does a quarter (`cargo test --test core sparing --
//! --nocapture`).
//!
//! **Why does a chunk record how many entries its lane committed before it?** It gives every entry
//! a number in its lane. The difference between the number expected and the one found is exactly
//! what was overwritten unread; without it a follower knows only *that* entries were lost. The
//! counts also add up to all entries ever written, without a counter on the hot path. The ticket
//! beside the count (`opened`) says whose count it is, because a writer may be killed just before
//! it stores the count. The three words cost three stores per chunk.
//!
//! **Why may a taker pass over an open chunk, and not wait for it?** The owner may be killed, or
//! asleep for hours. A chunk open in a lane may be taken once that lane's cursor has passed its
//! ticket: from then on the owner cannot write there any more. Until then it is passed over. There
//! are always more chunks than lanes, so one lap of the ring finds one. If killed writers hold all
//! of them, a lane's next owner continues in the chunk that its predecessor opened.
//!
//! **Can a refill fail although a chunk is free?** Yes, but hardly ever. Two laps of tickets reach
//! every chunk. If two threads take tickets in turn, each sees only half of the chunks. Take a ring
//! of 16 chunks, of which lanes hold 10. One thread fails if all its 32 tickets are for chunks in
//! use, while the other takes a free chunk between any two of them. For that the other must fill 16
//! entries and refill during one look of the first, 32 times in a row, and take an odd number of
//! tickets each time. Then one event is dropped and counted in `dropped_no_chunk`, and the next
//! event tries again. No thread waits, and no event is lost without a count. A last search for a
//! free chunk would add code in the place that should have the least.
//! `lanes_that_all_refill_a_ring_of_sixteen_chunks_find_a_chunk_each_time` in
//! tests/core/concurrency.rs has all lanes refill such a ring at once.
//!
//! **Can tickets run out?** They have 48 bits, and one lasts for 16 to 1,024 entries. A ring whose
//! chunks are all held by interrupted refills uses two laps of tickets for each event that it
//! drops. Even if a ticket took no more than ten nanoseconds, that is a month of nothing but drops,
//! and it ends with the first lane that goes on. If tickets run out, events are dropped and
//! counted. Tickets must not begin again at 0: a lane's current chunk would then be taken for an
//! old one (`a_ring_that_has_used_up_its_tickets_counts_what_it_drops`).

use super::{Storage, Word};
use crate::layout::words::{ChunkState, Cursor, LAST_TICKET};
use crate::sync::{Ordering, fence};

/// No chunk could be taken: each is the current chunk of a lane.
#[derive(Debug, PartialEq, Eq)]
pub struct NoChunk;

/// Writes an event of so many entries through `lane`, which the caller owns. `write` gets the chunk
/// and the index of the first entry to fill. The entries are committed if it returns true.
///
/// The lane's chunk has [`room`] for all of them, or is full.
#[inline(always)]
pub fn append<S: Storage>(
    ring: &S,
    lane: u32,
    entries: u32,
    write: impl FnOnce(&S, u32, u32) -> bool,
) -> Result<(), NoChunk> {
    // Relaxed: only this lane's owner changes its cursor; a former owner's stores happened before
    // the Acquire with which we took the lane.
    let mut cursor = Cursor(ring.cursor(lane).load(Ordering::Relaxed));
    if cursor.count() >= ring.chunk_entries() {
        refill(ring, lane, cursor, install)?;
        cursor = Cursor(ring.cursor(lane).load(Ordering::Relaxed));
    }
    if cursor.count() + entries > ring.chunk_entries() {
        // Only in damaged memory.
        return Err(NoChunk);
    }
    if !write(ring, ring.chunk_of(cursor.ticket()), cursor.count()) {
        return Ok(());
    }
    // Release (pairs with the Acquire load in reader::inspect): a reader of the new count sees the
    // entry.
    ring.cursor(lane)
        .store(cursor.0 + u64::from(entries), S::COMMIT);
    Ok(())
}

/// How many entries the chunk of a lane has room for.
pub fn room<S: Storage>(ring: &S, lane: u32) -> u32 {
    // Relaxed, as in `append`; on the lane of a CPU it may be out of date, and is only a hint.
    let cursor = Cursor(ring.cursor(lane).load(Ordering::Relaxed));
    ring.chunk_entries().saturating_sub(cursor.count())
}

/// A chunk for a lane, found but not taken yet.
#[derive(Debug, Clone, Copy)]
pub struct Fresh {
    /// The chunk, and the state in which it was found.
    pub chunk: u32,
    /// See `chunk`.
    pub was: ChunkState,
    /// The ticket to take it with.
    pub ticket: u64,
    /// The lane.
    pub lane: u32,
    /// The lane's full cursor.
    pub full: Cursor,
    /// How many entries the lane committed before.
    pub before: u64,
}

impl Fresh {
    /// The state in which the chunk is taken.
    pub fn open(&self) -> ChunkState {
        ChunkState::open(self.ticket, self.lane)
    }

    /// The cursor at its beginning.
    pub fn cursor(&self) -> Cursor {
        Cursor::new(self.ticket, 0)
    }

    /// The chunk that the lane leaves, and its state before and after. Before a lane's first chunk:
    /// a state that no chunk has.
    pub fn closes<S: Storage>(&self, ring: &S) -> (u32, ChunkState, ChunkState) {
        let ticket = self.full.ticket();
        (
            ring.chunk_of(ticket),
            ChunkState::open(ticket, self.lane),
            ChunkState::closed(ticket, ring.chunk_entries()),
        )
    }
}

/// The result of installing a fresh chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallResult {
    /// The lane continues in it.
    Done,
    /// The chunk had another state: another writer took it.
    Taken,
    /// The lane belongs to another writer by now, or continues in another chunk, or we were
    /// interrupted. All that was done so far stays, as if we had been killed.
    Aborted,
}

/// Gives the lane a new chunk. `full` is its cursor, which counts a whole chunk.
///
/// A caller that runs `install` to its end is alone in that lane, as its only owner ([`install`]),
/// or as the only thread in a section on its CPU. All reads before that may be out of date.
///
/// Tries two laps of tickets: one lap reaches every chunk, and the second reaches again those that
/// other threads took meanwhile. It waits for no thread.
#[cold]
#[inline(never)]
pub fn refill<S: Storage>(
    ring: &S,
    lane: u32,
    full: Cursor,
    install: impl Fn(&S, &Fresh) -> InstallResult,
) -> Result<(), NoChunk> {
    let before = match committed(ring, full) {
        Some(before) => before,
        // A predecessor closed the full chunk, opened the next one and was killed. Otherwise the
        // lane continues elsewhere already, or memory is damaged; then the count starts at 0.
        None => match prepared(ring, lane, full, None) {
            Some(fresh) => {
                install(ring, &fresh);
                return Ok(());
            }
            None => 0,
        },
    };
    for turn in 0..2 * ring.chunks() {
        // Relaxed: the ticket only names a chunk; taking it is the CAS of `install`.
        let ticket = ring.next_ticket().fetch_add(1, Ordering::Relaxed);
        if ticket > LAST_TICKET {
            return Err(NoChunk);
        }
        let chunk = ring.chunk_of(ticket);
        // Acquire (pairs with the AcqRel and Release of those who changed the state): see
        // `install`.
        let was = ChunkState(ring.state(chunk).load(Ordering::Acquire));
        // A stale ticket (this thread slept for a whole lap) must not go back in time.
        if was.ticket() >= ticket || !takeable(ring, was) {
            continue;
        }
        // Only in the first lap: other threads may be quicker to take all chunks that are not
        // spared.
        if turn < ring.chunks() && is_spared(ring, ticket, full) {
            continue;
        }
        ring.prefetch(chunk);
        let fresh = Fresh {
            chunk,
            was,
            ticket,
            lane,
            full,
            before,
        };
        match install(ring, &fresh) {
            InstallResult::Done | InstallResult::Aborted => return Ok(()),
            InstallResult::Taken => {}
        }
    }
    // Every chunk is a lane's current one. One may be ours: prepared by a killed predecessor.
    let fresh = prepared(ring, lane, full, Some(before)).ok_or(NoChunk)?;
    install(ring, &fresh);
    Ok(())
}

/// Installs a chunk in a lane with one owner, the caller.
pub fn install<S: Storage>(ring: &S, fresh: &Fresh) -> InstallResult {
    // AcqRel: Acquire, because a closed chunk's entries happened before we overwrite them; Release
    // pairs with the Acquire of the next taker.
    let taken = ring.state(fresh.chunk).compare_exchange(
        fresh.was.0,
        fresh.open().0,
        Ordering::AcqRel,
        Ordering::Relaxed,
    );
    if taken.is_err() {
        return InstallResult::Taken;
    }
    ring.fence_taken();
    describe(ring, fresh);
    let (chunk, open, closed) = fresh.closes(ring);
    // Release (pairs with the Acquire load in reader::inspect): the entries happened before the
    // close. It fails before the first chunk, or if a killed predecessor has closed it already.
    let _ =
        ring.state(chunk)
            .compare_exchange(open.0, closed.0, Ordering::Release, Ordering::Relaxed);
    // Release (pairs with the Acquire load in reader::inspect): with the new ticket in the cursor,
    // the close of the old chunk and the words above are visible.
    let installed = ring.cursor(fresh.lane).compare_exchange(
        fresh.full.0,
        fresh.cursor().0,
        Ordering::Release,
        Ordering::Relaxed,
    );
    match installed {
        Ok(_) => InstallResult::Done,
        // This process was forked by a signal handler in the middle of this: the lane is the
        // parent's.
        Err(_) => InstallResult::Aborted,
    }
}

/// Whether a chunk in this state may be taken: no thread writes into it now, or ever will under
/// this ticket.
fn takeable<S: Storage>(ring: &S, state: ChunkState) -> bool {
    match state.lane() {
        // Damaged memory: no such lane exists, so no thread can be writing.
        Some(lane) if lane >= ring.lanes() => true,
        // Acquire (pairs with the install's Release): if the cursor has passed, all its stores to
        // this chunk happened before ours.
        Some(lane) => Cursor(ring.cursor(lane).load(Ordering::Acquire)).ticket() > state.ticket(),
        None => true,
    }
}

/// With fewer chunks a lap is so quick that none is spared.
const MANY: u32 = 16;
/// Chunks that are read to find when a quarter of a lap ago was.
const WITNESSES: u64 = 4;

/// Whether a chunk that may be taken was written to less than a quarter of a lap ago.
///
/// Chunks are taken in turn, and most are full soon after that, and are the oldest when their turn
/// comes again. In a lane that is seldom used, the chunk is passed over while it is current, and
/// may get full right before its turn. Then the newest events of that lane would be overwritten,
/// while other lanes keep theirs for a whole lap. So it is passed over once more.
///
/// The first entries of the chunks that were taken a quarter of a lap ago tell when that was. A
/// chunk that claims to be newer than those taken just now is not spared: its clock went back, or
/// it is damaged, and it would be spared for ever. The limit is not half a lap: if most lanes fill
/// a chunk as slowly as that, chunks would be taken that are newer than those passed over. All of
/// this is only a hint, so it is Relaxed: a wrong one takes another chunk that may be taken.
fn is_spared<S: Storage>(ring: &S, ticket: u64, full: Cursor) -> bool {
    if ring.chunks() < MANY {
        return false;
    }
    let ticks = |ticket, index| {
        let word = ring.word(ring.chunk_of(ticket), index, 0);
        word.load(Ordering::Relaxed)
    };
    let taken = |ticket: &u64| {
        let state = ChunkState(ring.state(ring.chunk_of(*ticket)).load(Ordering::Relaxed));
        state.ticket() == *ticket
    };
    // Wrapping, because other processes write this memory.
    let from = |first: u64| (0..WITNESSES).map(move |later| first.wrapping_add(later));
    let end = ring.chunk_entries() - 1;
    let last = ticks(ticket, end);
    let quarter = u64::from(ring.chunks() / 4);
    let witness = from(ticket.wrapping_sub(quarter)).find(taken);
    let is_young = witness.is_some_and(|witness| last > ticks(witness, 0));
    is_young && {
        let taken_just_now = from(ticket.wrapping_sub(WITNESSES)).filter(taken);
        let mut newest = taken_just_now.map(|ticket| ticks(ticket, 0));
        last <= ticks(full.ticket(), end) || newest.any(|first| last <= first)
    }
}

/// Stores beside the state which lane has the chunk, and how many entries it committed before.
fn describe<S: Storage>(ring: &S, fresh: &Fresh) {
    // Relaxed: readers use both only under this ticket, after the close or the install that follow.
    ring.before(fresh.chunk)
        .store(fresh.before, Ordering::Relaxed);
    ring.chunk_lane(fresh.chunk)
        .store(u64::from(fresh.lane), Ordering::Relaxed);
    // Release, pairs with the Acquire in `prepared` and in reader::prepared, which find the chunk
    // without a cursor.
    ring.opened(fresh.chunk)
        .store(fresh.ticket, Ordering::Release);
}

/// How many entries the lane has committed, including its full chunk.
///
/// The count is beside the full chunk's state. `None` if other writers have taken that chunk since:
/// it was closed first, so the next one is open, and has the count.
fn committed<S: Storage>(ring: &S, full: Cursor) -> Option<u64> {
    if full.ticket() == 0 {
        return Some(0);
    }
    let chunk = ring.chunk_of(full.ticket());
    // Relaxed: both were stored by this lane's owner, or by a former owner whose stores we acquired
    // with the lane; on the lane of a CPU, before the words that `install` finds unchanged.
    let before = ring.before(chunk).load(Ordering::Relaxed);
    // Acquire fence, pairs with the release fence of a taker: if `before` is the taker's, so is the
    // state.
    fence(Ordering::Acquire);
    let state = ChunkState(ring.state(chunk).load(Ordering::Relaxed));
    (state.ticket() == full.ticket()).then(|| before.wrapping_add(u64::from(ring.chunk_entries())))
}

/// The chunk that a killed predecessor opened for this lane but did not install.
///
/// `before` is the lane's count; `None` takes the count that the predecessor stored, and skips
/// chunks without one. On the lane of a CPU there may be several such chunks, of writers
/// interrupted at different times; the one with the highest count is the last.
fn prepared<S: Storage>(ring: &S, lane: u32, full: Cursor, before: Option<u64>) -> Option<Fresh> {
    let opened = |chunk: u32| {
        // Acquire, pairs with the AcqRel of the predecessor that took it.
        let was = ChunkState(ring.state(chunk).load(Ordering::Acquire));
        if was.lane() != Some(lane) || was.ticket() <= full.ticket() {
            return None;
        }
        // Acquire, pairs with the Release in `describe`.
        let described = || ring.opened(chunk).load(Ordering::Acquire) == was.ticket();
        let written = || described().then(|| ring.before(chunk).load(Ordering::Relaxed));
        Some(Fresh {
            chunk,
            was,
            ticket: was.ticket(),
            lane,
            full,
            before: before.or_else(written)?,
        })
    };
    (0..ring.chunks())
        .filter_map(opened)
        .max_by_key(|fresh| fresh.before)
}

/// The initial words of a ring: `next_ticket`, and the cursor of each lane.
///
/// Tickets start at the second lap, so that 0 is never one. A cursor starts full, so that the first
/// append takes a chunk.
pub fn initial<S: Storage>(ring: &S) -> (u64, u64) {
    let cursor = Cursor::new(0, ring.chunk_entries());
    (u64::from(ring.chunks()), cursor.0)
}
