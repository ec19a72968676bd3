//! A set of pages of a segment.

use std::ops::Range;

/// A set of the pages of a segment, one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    /// None of so many pages.
    pub fn none(total: u16) -> PageSet {
        PageSet {
            words: vec![0; usize::from(total).div_ceil(64)],
        }
    }

    /// All of so many pages.
    pub fn all(total: u16) -> PageSet {
        let mut set = PageSet::none(total);
        set.insert_range(0..total);
        set
    }

    /// Adds a page of the segment.
    pub fn insert(&mut self, page: u16) {
        self.words[usize::from(page) / 64] |= 1 << (page % 64);
    }

    /// Adds pages of the segment.
    pub fn insert_range(&mut self, pages: Range<u16>) {
        let (mut at, end) = (usize::from(pages.start), usize::from(pages.end));
        while at < end {
            let count = (64 - at % 64).min(end - at);
            self.words[at / 64] |= (u64::MAX >> (64 - count)) << (at % 64);
            at += count;
        }
    }

    /// Adds all pages of another set.
    pub fn add(&mut self, other: &PageSet) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Keeps the pages that are in another set as well.
    pub fn keep(&mut self, other: &PageSet) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    /// Whether no page is in the set.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether a page is in the set.
    pub fn contains(&self, page: u16) -> bool {
        let word = self.words.get(usize::from(page) / 64);
        word.is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// The number of pages in the set.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The pages in the set.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(at, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at as u16 * 64 + bit)
        })
    }
}
