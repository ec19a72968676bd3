//! The writer's half: append an entry, and take a new chunk when the old one is full.

use super::Storage;
use crate::layout::words::{Cursor, State};
use crate::sync::{Ordering, fence};

/// No chunk could be taken: every one is some lane's current chunk.
#[derive(Debug, PartialEq, Eq)]
pub struct NoChunk;

/// Writes one entry through `lane`, which the caller owns: `write` is given the chunk and the index to
/// fill, and the entry is committed if it says so.
#[inline(always)]
pub fn append<S: Storage>(
    ring: &S,
    lane: u32,
    write: impl FnOnce(&S, u32, u32) -> bool,
) -> Result<(), NoChunk> {
    // Relaxed: only this lane's owner changes its cursor; a former owner's stores happened before the
    // Acquire with which we took the lane.
    let mut cursor = Cursor(ring.cursor(lane).load(Ordering::Relaxed));
    if cursor.count() >= ring.chunk_entries() {
        cursor = refill(ring, lane, cursor)?;
    }
    if !write(ring, ring.chunk_of(cursor.ticket()), cursor.count()) {
        return Ok(());
    }
    // Release (pairs with the Acquire load in reader::inspect): whoever sees the new count sees the entry.
    ring.cursor(lane).store(cursor.0 + 1, S::COMMIT);
    Ok(())
}

/// Gives the lane a new chunk. `full` is its cursor, which counts a whole chunk.
///
/// Tries two laps of tickets: in one lap every chunk comes by, and whatever another thread took in the
/// meantime comes by again. It waits for nobody.
#[cold]
#[inline(never)]
fn refill<S: Storage>(ring: &S, lane: u32, full: Cursor) -> Result<Cursor, NoChunk> {
    let before = match committed(ring, lane, full) {
        Committed::Count(count) => count,
        Committed::Adopted(cursor) => return Ok(cursor),
    };
    for _ in 0..2 * ring.chunks() {
        // Relaxed: the ticket only names a chunk; taking it is the CAS below.
        let ticket = ring.next_ticket().fetch_add(1, Ordering::Relaxed);
        let chunk = ring.chunk_of(ticket);
        if !take(ring, chunk, ticket, lane) {
            continue;
        }
        ring.fence_taken();
        describe(ring, chunk, ticket, lane, before);
        close(ring, lane, full);
        let fresh = Cursor::new(ticket, 0);
        // Release (pairs with the Acquire load in reader::inspect): with the new ticket in the cursor,
        // the close of the old chunk and the words above are visible.
        let installed = ring.cursor(lane).compare_exchange(
            full.0,
            fresh.0,
            Ordering::Release,
            Ordering::Relaxed,
        );
        match installed {
            Ok(_) => return Ok(fresh),
            // We are a child that a handler of our parent forked after `take`: the chunk is its.
            Err(now) if Cursor(now).ticket() >= ticket => return Ok(Cursor(now)),
            Err(now) => {
                // Another writer of this lane was first (lanes of CPUs): close ours empty, use theirs.
                let empty = State::closed(ticket, 0);
                let _ = ring.state(chunk).compare_exchange(
                    State::open(ticket, lane).0,
                    empty.0,
                    Ordering::Release,
                    Ordering::Relaxed,
                );
                return Ok(Cursor(now));
            }
        }
    }
    // Every chunk is some lane's. One of them may be ours: prepared by a predecessor that was killed.
    adopt(ring, lane, full, Some(before)).ok_or(NoChunk)
}

/// Opens the chunk for `lane` under `ticket`, if nobody needs it and no later ticket has it.
///
/// Each turn of the loop means that another writer changed the state, to a ticket below ours.
fn take<S: Storage>(ring: &S, chunk: u32, ticket: u64, lane: u32) -> bool {
    let state = ring.state(chunk);
    // Acquire, here and on failure below (pairs with the AcqRel and Release of those who changed the
    // state): a closed chunk's entries happened before we overwrite them.
    let mut old = State(state.load(Ordering::Acquire));
    loop {
        // A stale ticket (we slept for a whole lap) must not go back in time.
        if old.ticket() >= ticket || !takeable(ring, old) {
            return false;
        }
        let open = State::open(ticket, lane);
        // AcqRel: Acquire as above; Release pairs with the Acquire of whoever takes it after us.
        match state.compare_exchange(old.0, open.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(now) => old = State(now),
        }
    }
}

/// Whether a chunk in this state may be taken: nobody writes into it, nor ever will under this ticket.
fn takeable<S: Storage>(ring: &S, state: State) -> bool {
    match state.lane() {
        // Damaged memory: no such lane exists, so nobody can be writing.
        Some(lane) if lane >= ring.lanes() => true,
        // Acquire (pairs with the install's Release): if the cursor has passed, all its stores to this
        // chunk happened before ours.
        Some(lane) => Cursor(ring.cursor(lane).load(Ordering::Acquire)).ticket() > state.ticket(),
        None => true,
    }
}

/// Writes down beside the state whose chunk it is, and how many entries that lane committed before.
fn describe<S: Storage>(ring: &S, chunk: u32, ticket: u64, lane: u32, before: u64) {
    // Relaxed: readers use both only under this ticket, after the close or the install that follow.
    ring.before(chunk).store(before, Ordering::Relaxed);
    ring.chunk_lane(chunk)
        .store(u64::from(lane), Ordering::Relaxed);
    // Release, pairs with the Acquire in `adopt` and in reader::prepared, which come here otherwise.
    ring.opened(chunk).store(ticket, Ordering::Release);
}

/// Marks the lane's full chunk as closed; nothing to do before the first chunk, or when a killed
/// predecessor got as far as this.
fn close<S: Storage>(ring: &S, lane: u32, full: Cursor) {
    if full.ticket() == 0 {
        return;
    }
    let state = ring.state(ring.chunk_of(full.ticket()));
    // Release (pairs with the Acquire load in reader::inspect): the entries happened before the close.
    let _ = state.compare_exchange(
        State::open(full.ticket(), lane).0,
        State::closed(full.ticket(), ring.chunk_entries()).0,
        Ordering::Release,
        Ordering::Relaxed,
    );
}

enum Committed {
    /// Entries the lane committed up to and with its full chunk.
    Count(u64),
    /// The chunk that a killed predecessor had prepared, now installed.
    Adopted(Cursor),
}

/// How many entries the lane has committed, its full chunk included.
///
/// The count stands beside the full chunk's state. Only if the lane's former owner was killed between
/// closing that chunk and installing the next one can it have been taken by others since; then the next
/// one is still open, carries the count, and is installed here.
fn committed<S: Storage>(ring: &S, lane: u32, full: Cursor) -> Committed {
    if full.ticket() == 0 {
        return Committed::Count(0);
    }
    let chunk = ring.chunk_of(full.ticket());
    // Relaxed: both were stored by this lane's owner, or by one whose stores we acquired with the lane.
    let before = ring.before(chunk).load(Ordering::Relaxed);
    // Acquire fence, pairs with the release fence of a taker: if `before` is the taker's, so is the state.
    fence(Ordering::Acquire);
    let state = State(ring.state(chunk).load(Ordering::Relaxed));
    if state.ticket() == full.ticket() {
        return Committed::Count(before.wrapping_add(u64::from(ring.chunk_entries())));
    }
    match adopt(ring, lane, full, None) {
        Some(cursor) => Committed::Adopted(cursor),
        // Only damaged memory comes here. Go on counting from nothing.
        None => Committed::Count(0),
    }
}

/// Installs the chunk that a killed predecessor opened for this lane and did not install.
///
/// `before`: the lane's count, unless the predecessor is known to have written it down. Only for a lane
/// with one owner: no other could be about to install, or to close, the same chunk.
fn adopt<S: Storage>(ring: &S, lane: u32, full: Cursor, before: Option<u64>) -> Option<Cursor> {
    let opened = |chunk: &u32| {
        let state = State(ring.state(*chunk).load(Ordering::Acquire));
        let ours = state.lane() == Some(lane) && state.ticket() > full.ticket();
        // Acquire, pairs with the Release in `describe`.
        let described = || ring.opened(*chunk).load(Ordering::Acquire) == state.ticket();
        ours && (before.is_some() || described())
    };
    let chunk = (0..ring.chunks()).find(opened)?;
    let ticket = State(ring.state(chunk).load(Ordering::Relaxed)).ticket();
    // Our own fence: that of the killed owner orders its stores, not ours.
    ring.fence_taken();
    if let Some(before) = before {
        describe(ring, chunk, ticket, lane, before);
        close(ring, lane, full);
    }
    let fresh = Cursor::new(ticket, 0);
    // Release, as at the end of `refill`.
    ring.cursor(lane).store(fresh.0, Ordering::Release);
    Some(fresh)
}

/// The words of a ring that nobody has written to: what `next_ticket` and each cursor start as.
///
/// Tickets start at the second lap, so that 0 is never one; a cursor starts full, so that the first
/// append takes a chunk.
pub fn initial<S: Storage>(ring: &S) -> (u64, u64) {
    let cursor = Cursor::new(0, ring.chunk_entries());
    (u64::from(ring.chunks()), cursor.0)
}
