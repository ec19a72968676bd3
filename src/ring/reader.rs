//! The reader's half: what a chunk holds, and copies of it that are known to be whole.

use super::{Storage, Word};
use crate::layout::words::{Cursor, Entry, State};
use crate::sync::{Ordering, fence};

/// What a chunk held at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// Its number.
    pub chunk: u32,
    /// The ticket it was taken with; never 0.
    pub ticket: u64,
    /// Entries committed; 0 only for a lane's current chunk.
    pub count: u32,
    /// The lane that wrote them.
    pub lane: u32,
    /// Entries that lane committed before this chunk.
    pub before: u64,
    /// Whether it is still being filled.
    pub open: bool,
}

impl Chunk {
    /// The number of the entry behind it in its lane.
    pub fn end(&self) -> u64 {
        self.before.saturating_add(self.count.into())
    }

    /// Of this, what a cut holds of its lane, if anything: so many of its entries. `None`: all.
    pub fn up_to(mut self, cut: Option<u64>) -> Option<Chunk> {
        if let Some(cut) = cut {
            let there = cut.saturating_sub(self.before);
            self.count = self.count.min(u32::try_from(there).unwrap_or(u32::MAX));
        }
        (self.count > 0).then_some(self)
    }
}

/// The chunk was taken for new entries while it was being read.
#[derive(Debug, PartialEq, Eq)]
pub struct Overwritten;

/// Looks at a chunk; `None` if it was never written, or taken for nothing.
///
/// Tries again while the chunk changes hands under its eyes; a chunk that does so all the time has
/// nothing to show that would still be there a moment later.
pub fn inspect<S: Storage>(ring: &S, chunk: u32) -> Option<Chunk> {
    for _ in 0..64 {
        // Acquire (pairs with the Release of the close): a closed chunk's entries are visible.
        let state = State(ring.state(chunk).load(Ordering::Acquire));
        if state.ticket() == 0 {
            return None;
        }
        let (count, lane) = match state.lane() {
            None => (state.count(), None),
            Some(lane) if lane >= ring.lanes() => return None,
            Some(lane) => {
                // Acquire (pairs with the commit and the install, both Release): the counted entries are
                // visible, and so is the close of every chunk that the cursor has left.
                let cursor = Cursor(ring.cursor(lane).load(Ordering::Acquire));
                if cursor.ticket() == state.ticket() {
                    (cursor.count(), Some(lane))
                } else if ring.state(chunk).load(Ordering::Relaxed) == state.0 {
                    // Taken, and not yet (or never) installed.
                    return None;
                } else {
                    continue;
                }
            }
        };
        let before = ring.before(chunk).load(Ordering::Relaxed);
        let wrote = ring.chunk_lane(chunk).load(Ordering::Relaxed);
        // Acquire fence, pairs with the release fence of the next taker: had we read its words, we would
        // now read its ticket.
        fence(Ordering::Acquire);
        if State(ring.state(chunk).load(Ordering::Relaxed)).ticket() != state.ticket() {
            continue;
        }
        // Bounds: this is memory that others write.
        let empty = count == 0 && lane.is_none();
        if empty || count > ring.chunk_entries() || wrote >= u64::from(ring.lanes()) {
            return None;
        }
        return Some(Chunk {
            chunk,
            ticket: state.ticket(),
            count,
            lane: wrote as u32,
            before,
            open: lane.is_some(),
        });
    }
    None
}

/// Appends the entries `from..seen.count` of a chunk to `out`, or nothing if it was taken meanwhile.
pub fn copy<S: Storage>(
    ring: &S,
    seen: &Chunk,
    from: u32,
    out: &mut Vec<Entry>,
) -> Result<(), Overwritten> {
    let start = out.len();
    // The count came with Acquire; whether they still belong to it is settled below.
    let end = seen.count.min(ring.chunk_entries());
    ring.entries(seen.chunk, from..end, out);
    if !is_still(ring, seen) {
        out.truncate(start);
        return Err(Overwritten);
    }
    Ok(())
}

/// Whether what was read of a chunk before this call is what it held when it was looked at.
pub fn is_still<S: Storage>(ring: &S, seen: &Chunk) -> bool {
    // Acquire fence, pairs with the release fence between taking a chunk and writing into it: if any
    // word read before came from a later ticket, the load below sees that ticket.
    fence(Ordering::Acquire);
    State(ring.state(seen.chunk).load(Ordering::Relaxed)).ticket() == seen.ticket
}

/// How many entries a lane has committed in all its life.
///
/// `None` if the lane was just changing chunks each time we looked, or if the memory is damaged.
pub fn committed<S: Storage>(ring: &S, lane: u32) -> Option<u64> {
    for _ in 0..64 {
        // Acquire, as in `inspect`.
        let cursor = Cursor(ring.cursor(lane).load(Ordering::Acquire));
        if cursor.ticket() == 0 {
            return Some(0);
        }
        let current = inspect(ring, ring.chunk_of(cursor.ticket()));
        if let Some(chunk) = current.filter(|c| c.lane == lane && c.ticket == cursor.ticket()) {
            return Some(chunk.before.saturating_add(chunk.count.into()));
        }
        let count = prepared(ring, lane, cursor);
        // If the cursor has moved since, the one that counted may have gone before we came to it. If not, a lane that
        // has left its chunk has such a one, which goes only after the cursor has moved. Without one the memory is
        // damaged, and another look would find the same.
        if ring.cursor(lane).load(Ordering::Relaxed) == cursor.0 {
            return count;
        }
    }
    None
}

/// The lane's count, from a chunk that it has opened and not installed: its former chunk is closed by
/// then, and may have been taken by others. So it stays when a writer is killed in between.
fn prepared<S: Storage>(ring: &S, lane: u32, cursor: Cursor) -> Option<u64> {
    let counted = |chunk| {
        let word = ring.state(chunk).load(Ordering::Acquire);
        let state = State(word);
        if state.lane() != Some(lane) || state.ticket() <= cursor.ticket() {
            return None;
        }
        // Acquire, pairs with the Release in writer::describe: the count belongs to this ticket.
        if ring.opened(chunk).load(Ordering::Acquire) != state.ticket() {
            return None;
        }
        let before = ring.before(chunk).load(Ordering::Relaxed);
        // As in `inspect`. If the cursor has moved, it tells more than this.
        fence(Ordering::Acquire);
        let same = ring.state(chunk).load(Ordering::Relaxed) == word
            && ring.cursor(lane).load(Ordering::Relaxed) == cursor.0;
        same.then_some(before)
    };
    // On a lane of a CPU there may be several, as writer::prepared says.
    (0..ring.chunks()).filter_map(counted).max()
}
