//! The reader's half: inspects chunks, and copies them so that the copy is known to be whole.

use super::{Storage, Word};
use crate::layout::words::{ChunkState, Cursor, Entry};
use crate::sync::{Ordering, fence};

/// The contents of a chunk at one moment.
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
    /// The number of the entry after it in its lane.
    pub fn end(&self) -> u64 {
        self.before.saturating_add(self.count.into())
    }

    /// The part of this chunk within a cut of its lane, if there is one: `cut` counts the lane's
    /// entries, `None` all of them.
    pub fn up_to(mut self, cut: Option<u64>) -> Option<Chunk> {
        if let Some(cut) = cut {
            let there = cut.saturating_sub(self.before);
            self.count = self.count.min(u32::try_from(there).unwrap_or(u32::MAX));
        }
        (self.count > 0).then_some(self)
    }
}

/// The chunk was taken for new entries while it was read.
#[derive(Debug, PartialEq, Eq)]
pub struct OverwrittenChunk;

/// Inspects a chunk. `None` if it was never written, or was taken and left empty.
///
/// Tries again while the chunk is taken meanwhile. If that happens all the time, its entries would
/// be overwritten a moment later anyway.
pub fn inspect<S: Storage>(ring: &S, chunk: u32) -> Option<Chunk> {
    for _ in 0..64 {
        // Acquire (pairs with the Release of the close): a closed chunk's entries are visible.
        let state = ChunkState(ring.state(chunk).load(Ordering::Acquire));
        if state.ticket() == 0 {
            return None;
        }
        let (count, lane) = match state.lane() {
            None => (state.count(), None),
            Some(lane) if lane >= ring.lanes() => return None,
            Some(lane) => {
                // Acquire (pairs with the commit and the install, both Release): the counted
                // entries are visible, and so is the close of every chunk that the cursor has left.
                let cursor = Cursor(ring.cursor(lane).load(Ordering::Acquire));
                if cursor.ticket() == state.ticket() {
                    (cursor.count(), Some(lane))
                } else if ring.state(chunk).load(Ordering::Relaxed) == state.0 {
                    // Taken, but not installed yet, or never.
                    return None;
                } else {
                    continue;
                }
            }
        };
        // Relaxed: the fence and the second look at the state below order both.
        let before = ring.before(chunk).load(Ordering::Relaxed);
        let wrote = ring.chunk_lane(chunk).load(Ordering::Relaxed);
        // Acquire fence, pairs with the release fence of the next taker: if the words read were the
        // taker's, the load below reads its ticket.
        fence(Ordering::Acquire);
        if ChunkState(ring.state(chunk).load(Ordering::Relaxed)).ticket() != state.ticket() {
            continue;
        }
        // Bounds checks, because other processes write this memory.
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

/// Appends the entries `from..seen.count` of a chunk to `out`, or nothing if it was taken
/// meanwhile.
pub fn copy<S: Storage>(
    ring: &S,
    seen: &Chunk,
    from: u32,
    out: &mut Vec<Entry>,
) -> Result<(), OverwrittenChunk> {
    let start = out.len();
    // The count came with Acquire; the check below tells whether the entries still belong to it.
    let end = seen.count.min(ring.chunk_entries());
    ring.entries(seen.chunk, from..end, out);
    if !is_still(ring, seen) {
        out.truncate(start);
        return Err(OverwrittenChunk);
    }
    Ok(())
}

/// Whether all that was read of a chunk before this call is of the time when it was inspected.
pub fn is_still<S: Storage>(ring: &S, seen: &Chunk) -> bool {
    // Acquire fence, pairs with the release fence between taking a chunk and writing into it: if
    // any word read before came from a later ticket, the load below sees that ticket.
    fence(Ordering::Acquire);
    ChunkState(ring.state(seen.chunk).load(Ordering::Relaxed)).ticket() == seen.ticket
}

/// A lane at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneView {
    /// Its cursor.
    pub cursor: Cursor,
    /// How many entries it has ever committed. `None` if it was changing chunks each time we
    /// looked, or if the memory is damaged.
    pub count: Option<u64>,
}

/// Looks at these lanes.
///
/// Goes through the chunks once for all lanes that have left their chunk, and again for those that
/// moved meanwhile. In damaged memory all lanes may have left theirs.
pub fn look<S: Storage>(ring: &S, lanes: &[u32]) -> Vec<LaneView> {
    let (cursor, count) = (Cursor(0), None);
    let mut looks = vec![LaneView { cursor, count }; lanes.len()];
    let mut left: Vec<usize> = (0..lanes.len()).collect();
    for _ in 0..64 {
        left.retain(|&at| {
            // Acquire, as in `inspect`.
            let cursor = Cursor(ring.cursor(lanes[at]).load(Ordering::Acquire));
            let count = in_current(ring, lanes[at], cursor);
            looks[at] = LaneView { cursor, count };
            count.is_none()
        });
        if left.is_empty() {
            break;
        }
        // After the check that they have left their chunks: one that was prepared before that may
        // count too little.
        let sought = left.iter().map(|&at| (lanes[at], looks[at].cursor));
        let counts = prepared(ring, sought);
        // Acquire fence, pairs with the release fence of a taker: if a count is the taker's, the
        // cursor below has moved.
        fence(Ordering::Acquire);
        left.retain(|&at| {
            let (lane, look) = (lanes[at], &mut looks[at]);
            // If the cursor has moved since, the chunk with the count may have been taken before it
            // was read. If not, a lane that has left its chunk has a prepared one, which can be
            // taken only after the cursor has moved. Without one the memory is damaged, and another
            // look would find the same.
            // Relaxed: the fence above orders it behind the counts.
            let is_still = ring.cursor(lane).load(Ordering::Relaxed) == look.cursor.0;
            if is_still {
                look.count = counts[lane as usize];
            }
            !is_still
        });
    }
    looks
}

/// How many entries a lane has ever committed, if its cursor is in a chunk of its own.
fn in_current<S: Storage>(ring: &S, lane: u32, cursor: Cursor) -> Option<u64> {
    if cursor.ticket() == 0 {
        return Some(0);
    }
    let current = inspect(ring, ring.chunk_of(cursor.ticket()));
    let current = current.filter(|c| c.lane == lane && c.ticket == cursor.ticket());
    current.map(|chunk| chunk.end())
}

/// The counts of these lanes, with these cursors, from chunks that they have opened but not
/// installed. Indexed by lane, with `None` if there is no such chunk. By then the lane's former
/// chunk is closed, and may have been taken by others. This state stays if a writer is killed in
/// it. A count holds only if the lane's cursor is found unchanged afterwards.
fn prepared<S: Storage>(ring: &S, sought: impl Iterator<Item = (u32, Cursor)>) -> Vec<Option<u64>> {
    let mut cursors = vec![None; ring.lanes() as usize];
    sought.for_each(|(lane, cursor)| cursors[lane as usize] = Some(cursor));
    let mut counts = vec![None; cursors.len()];
    for chunk in 0..ring.chunks() {
        // Acquire, pairs with the AcqRel of who took the chunk: what it stored before is there.
        let state = ChunkState(ring.state(chunk).load(Ordering::Acquire));
        let Some(lane) = state.lane() else { continue };
        let Some(Some(cursor)) = cursors.get(lane as usize) else {
            continue;
        };
        // Acquire, pairs with the Release in writer::describe: the count belongs to this ticket.
        let is_described = || ring.opened(chunk).load(Ordering::Acquire) == state.ticket();
        if state.ticket() <= cursor.ticket() || !is_described() {
            continue;
        }
        // On the lane of a CPU there may be several: see writer::prepared.
        let count = &mut counts[lane as usize];
        // Relaxed: the Acquire in `is_described` orders it.
        *count = (*count).max(Some(ring.before(chunk).load(Ordering::Relaxed)));
    }
    counts
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ring::plain::{Plain, damaged};

    /// The count of one lane, found without the others.
    fn committed(ring: &Plain, lane: u32) -> Option<u64> {
        let cursor = Cursor(ring.cursor(lane).load(Ordering::Acquire));
        if cursor.ticket() == 0 {
            return Some(0);
        }
        let current = inspect(ring, ring.chunk_of(cursor.ticket()));
        if let Some(chunk) = current.filter(|c| c.lane == lane && c.ticket == cursor.ticket()) {
            return Some(chunk.before.saturating_add(chunk.count.into()));
        }
        let counted = |chunk| {
            let state = ChunkState(ring.state(chunk).load(Ordering::Relaxed));
            let is_its_own = state.lane() == Some(lane) && state.ticket() > cursor.ticket();
            let is_described = ring.opened(chunk).load(Ordering::Relaxed) == state.ticket();
            (is_its_own && is_described).then(|| ring.before(chunk).load(Ordering::Relaxed))
        };
        (0..ring.chunks()).filter_map(counted).max()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lanes_are_told_together_what_each_would_be_alone(ring in damaged()) {
            let lanes: Vec<u32> = (0..ring.lanes()).filter(|lane| lane % 3 != 1).collect();
            let looks = look(&ring, &lanes);
            prop_assert_eq!(looks.len(), lanes.len());
            for (lane, look) in lanes.iter().zip(looks) {
                prop_assert_eq!(look.cursor.0, ring.cursor(*lane).load(Ordering::Relaxed));
                prop_assert_eq!(look.count, committed(&ring, *lane), "lane {}", lane);
            }
        }
    }

    #[test]
    fn chunks_are_gone_through_once_for_all_lanes_that_have_left_theirs() {
        let (lanes, chunks) = (1 << 10, 1 << 12);
        let ring = Plain::new(lanes, chunks, 2);
        let cursor = Cursor::new(1 << 40, 1);
        (0..lanes).for_each(|lane| ring.cursor(lane).store(cursor.0, Ordering::Relaxed));
        ring.looks.set(0);
        let looks = look(&ring, &(0..lanes).collect::<Vec<_>>());
        assert!(looks.iter().all(|look| look.count.is_none()));
        let words = ring.looks.get();
        assert!(words <= 8 * u64::from(lanes + chunks), "{words} words");
    }
}
