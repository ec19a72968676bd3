//! The payload of a statement: a word for each argument, and behind them the bytes of texts.

use crate::event::{CUT, NULL};

/// A payload under construction, in words of 0.
pub struct Payload<'a> {
    words: &'a mut [u64],
    /// The first word that no text has taken.
    end: usize,
}

impl<'a> Payload<'a> {
    /// With `fixed` words before the texts.
    #[inline(always)]
    pub fn new(words: &'a mut [u64], fixed: usize) -> Payload<'a> {
        let end = fixed.min(words.len());
        Payload { words, end }
    }

    /// How many words there are.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.end
    }

    /// Stores the word of an argument.
    #[inline(always)]
    pub fn put(&mut self, at: usize, word: u64) {
        if let Some(place) = self.words.get_mut(at) {
            *place = word;
        }
    }

    /// Appends a text. Returns its word. What has no room is cut, but no character is.
    pub fn text(&mut self, text: &str) -> u64 {
        let room = (self.words.len() - self.end) * 8;
        let (mut length, mut cut) = (text.len(), 0);
        if length > room {
            (length, cut) = (room, CUT);
            while !text.is_char_boundary(length) {
                length -= 1;
            }
        }
        let bytes = &text.as_bytes()[..length];
        let places = self.words[self.end..].iter_mut();
        for (place, part) in places.zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            *place = u64::from_le_bytes(word);
        }
        self.end += length.div_ceil(8);
        length as u64 | cut
    }

    /// The word of a text that there is not.
    #[inline(always)]
    pub fn nothing(&self) -> u64 {
        NULL
    }

    /// Appends numbers of `size` bytes, which are the low ones of their words. Returns the word of
    /// the array. Those that have no room are cut.
    pub fn numbers(&mut self, count: usize, size: usize, word_of: impl Fn(usize) -> u64) -> u64 {
        let in_word = 8 / size;
        let room = (self.words.len() - self.end) * in_word;
        let cut = if count > room { CUT } else { 0 };
        let count = count.min(room);
        for index in 0..count {
            // Below 64: an array of 8 bytes has one number in a word.
            let shift = index % in_word * size * 8;
            let low = word_of(index) & (u64::MAX >> (64 - size * 8));
            self.words[self.end + index / in_word] |= low << shift;
        }
        self.end += count.div_ceil(in_word);
        count as u64 | cut
    }
}
