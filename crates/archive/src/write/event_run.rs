//! Describes events that are alike, whose words a recorder packs as they are in the ring.

use super::interner::{DefinitionId, ThreadId};
use crate::format::varint::MOST_NUMBER;
use timeline::Layout;
use timeline::internal::{AlikeEvents, ValueKind};

/// Successive events of one definition, which have ticks and a place.
#[derive(Clone, Copy)]
pub struct EventRun<'a> {
    pub definition: DefinitionId,
    pub events: AlikeEvents<'a>,
    /// The thread of each run.
    pub threads: &'a [ThreadId],
    /// The times of each event; empty if they are not known.
    pub unix_nanos: &'a [u64],
}

impl EventRun<'_> {
    /// How many these are; at least one.
    pub fn len(&self) -> usize {
        self.events.ticks.len()
    }

    /// Whether their CPUs are known.
    pub fn have_core(&self) -> bool {
        let first = self.events.runs.first();
        first.is_some_and(|run| run.core.is_some())
    }
}

/// Which values the words of an event are.
pub enum WordValues<'a> {
    /// So many integers.
    Integers(usize),
    /// What the layout says, of these kinds.
    Kinds(&'a Layout, &'a [ValueKind]),
}

impl WordValues<'_> {
    /// Whether there are words enough for all of them.
    #[inline]
    pub fn are_in(&self, words: &[u8]) -> bool {
        match self {
            WordValues::Integers(count) => words.len() / 8 >= *count,
            WordValues::Kinds(layout, _) => layout.is_whole(words),
        }
    }
}

/// About how many bytes an event with so many bytes of words takes at most in a block.
#[inline]
pub fn weight_of_words(size: usize) -> usize {
    MOST_NUMBER * 16 + 2 * size
}
