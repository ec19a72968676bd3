//! Important events: kept in a region of their own, which nothing ever overwrites.
//!
//! A writer takes entries by adding to one word, writes them, and stores the ticks of the first one
//! last: that store is the commit. Nothing is freed, so a committed event never changes, and a
//! reader needs no second look. A writer that is killed in between leaves entries without ticks.
//! Readers pass over them, and nobody waits for them.
//!
//! A handler may interrupt a writer and fork. Then parent and child both continue the same call.
//! All that they store was computed before the entries were taken, so they store the same; and the
//! child, whose state is wiped (local.rs), commits nothing of its own.

use super::Word;
use crate::layout::ENTRY_WORDS;
use crate::layout::words::Entry;
use crate::sync::Ordering;

/// The words of the region, in any kind of memory. Callers keep indices below the capacity.
pub trait ImportantRegion {
    /// The order of the commit. It pairs with the Acquire in [`entry`]. Changed only to test that
    /// the model checker notices.
    const COMMIT: Ordering = Ordering::Release;

    /// A word, in shared memory or in a file that is read.
    type Word<'a>: Word
    where
        Self: 'a;

    /// How many entries there is room for.
    fn capacity(&self) -> u32;
    /// How many entries were taken.
    fn taken(&self) -> Self::Word<'_>;
    /// Word `word` (below 8) of the entry at `index`.
    fn word(&self, index: u32, word: usize) -> Self::Word<'_>;

    /// The present words of an entry. Relaxed: [`entry`] has loaded the ticks with Acquire before.
    fn copy(&self, index: u32) -> Entry {
        let mut words = [0; ENTRY_WORDS];
        for (i, word) in words.iter_mut().enumerate() {
            *word = self.word(index, i).load(Ordering::Relaxed);
        }
        Entry(words)
    }
}

/// Takes so many entries, one after the other. Returns the first; `None` if too few are left.
///
/// It adds, and does not compare and swap: a thread that is interrupted by a handler which logs at
/// each attempt would never come to an end.
pub fn take<R: ImportantRegion>(region: &R, entries: u32) -> Option<u32> {
    let fits = |taken: u64| {
        let end = taken.checked_add(entries.into())?;
        (end <= region.capacity().into()).then_some(taken as u32)
    };
    // Relaxed, here and below: the count only says which entries are whose. What is in an entry is
    // published by its ticks. The first look keeps a long event from using up the rest.
    fits(region.taken().load(Ordering::Relaxed))?;
    let taken = region.taken();
    fits(taken.fetch_add(entries.into(), Ordering::Relaxed))
}

/// Commits an event whose other words are written: stores its ticks, which are not 0.
pub fn commit<R: ImportantRegion>(region: &R, first: u32, ticks: u64) {
    // Release, pairs with the Acquire in `entry`.
    region.word(first, 0).store(ticks, R::COMMIT);
}

/// How many entries to look at.
pub fn taken<R: ImportantRegion>(region: &R) -> u32 {
    // Relaxed: a reader that knows of an event has seen a later store of its writer, and so this.
    let taken = region.taken().load(Ordering::Relaxed);
    taken.min(region.capacity().into()) as u32
}

/// The entry at `index`; `None` if it was not written yet. If it is the first of an event, that
/// event is committed, and the entries behind it can be read as well.
pub fn entry<R: ImportantRegion>(region: &R, index: u32) -> Option<Entry> {
    // Acquire, pairs with the Release in `commit`.
    let ticks = region.word(index, 0).load(Ordering::Acquire);
    (ticks != 0).then(|| region.copy(index))
}
