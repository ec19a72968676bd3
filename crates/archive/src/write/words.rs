//! Describes the words of an event, which a recorder packs as they are in the ring.

use crate::format::block::MOST_NUMBER;
use timeline::{Layout, ValueKind};

/// What is different in an event of the same kind as the last one.
pub struct Alike {
    pub ticks: u64,
    pub unix_nanos: u64,
    pub number: u64,
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

/// About how many bytes an event with these words takes at most in a block.
#[inline]
pub fn weight_of_words(words: &[u8]) -> usize {
    MOST_NUMBER * 16 + 2 * words.len()
}
