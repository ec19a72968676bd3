//! The payload of a statement: a word for each argument, and behind them the bytes of texts.

use crate::event::{CUT, NULL};
use crate::layout::words::INTERNED;
use crate::timeline::Timeline;

/// A payload under construction, in words of 0.
pub struct PayloadBuilder<'a> {
    words: &'a mut [u64],
    /// The first word that no text has taken.
    end: usize,
    /// Where texts are interned.
    timeline: Option<&'a Timeline>,
    /// Which words are interned texts.
    interned: u64,
}

impl<'a> PayloadBuilder<'a> {
    /// With `fixed` words before the texts.
    #[inline(always)]
    pub fn new(words: &'a mut [u64], fixed: usize) -> PayloadBuilder<'a> {
        let end = fixed.min(words.len());
        PayloadBuilder {
            words,
            end,
            timeline: None,
            interned: 0,
        }
    }

    /// The same, for a list that has texts to be interned.
    pub fn interning(
        words: &'a mut [u64],
        fixed: usize,
        timeline: &'a Timeline,
    ) -> PayloadBuilder<'a> {
        PayloadBuilder {
            timeline: Some(timeline),
            ..PayloadBuilder::new(words, fixed)
        }
    }

    /// Which words are interned texts, as bits.
    pub fn which_are_interned(&self) -> u64 {
        self.interned
    }

    /// Notes that the word of an argument may be an interned text.
    #[inline(always)]
    pub fn note(&mut self, at: usize, word: u64) {
        if word & INTERNED != 0 && at < self.words.len() {
            self.interned |= 1 << at;
        }
    }

    /// Interns a text, or appends it. Returns its word.
    pub fn interned(&mut self, text: &str) -> u64 {
        let found = self.timeline.and_then(|timeline| timeline.intern(text));
        found.unwrap_or_else(|| self.text(text))
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

    /// How many bytes have room.
    #[inline(always)]
    pub fn room(&self) -> usize {
        (self.words.len() - self.end) * 8
    }

    /// Appends a text. Returns its word. What has no room is cut, but no character is.
    #[inline]
    pub fn text(&mut self, text: &str) -> u64 {
        self.bytes(text.as_bytes())
    }

    /// The same for bytes that need not be UTF-8.
    #[inline]
    pub fn bytes(&mut self, text: &[u8]) -> u64 {
        match self.append(text) {
            Some(()) => text.len() as u64,
            None => self.cut(text),
        }
    }

    #[cold]
    #[inline(never)]
    fn cut(&mut self, text: &[u8]) -> u64 {
        let room = self.room();
        // A character has up to three bytes after its first.
        let first = (room.saturating_sub(3)..=room)
            .rev()
            .find(|at| text[*at] & 0xc0 != 0x80);
        let length = first.filter(|at| text[*at] >= 0xc0).unwrap_or(room);
        self.append(&text[..length]);
        length as u64 | CUT
    }

    /// Appends an array of `count` elements, which are these bytes. Returns its word.
    #[inline]
    pub fn array(&mut self, bytes: &[u8], count: usize, is_cut: bool) -> u64 {
        self.append(bytes);
        count as u64 | if is_cut { CUT } else { 0 }
    }

    /// Appends bytes, if there is room for all of them.
    #[inline(always)]
    fn append(&mut self, bytes: &[u8]) -> Option<()> {
        let taken = bytes.len().div_ceil(8);
        let places = self.words.get_mut(self.end..)?.get_mut(..taken)?;
        self.end += taken;
        let (whole, rest) = bytes.as_chunks();
        copy_words(places, whole);
        if !rest.is_empty() {
            *places.last_mut()? = short_word(rest);
        }
        Some(())
    }

    /// Appends a text of these characters. Returns its word. Those that have no room are cut.
    pub fn characters(&mut self, characters: impl Iterator<Item = char>) -> u64 {
        let (mut length, mut cut, room) = (0, 0, self.room());
        for character in characters {
            let mut utf8 = [0; 4];
            let bytes = character.encode_utf8(&mut utf8).as_bytes();
            if length + bytes.len() > room {
                cut = CUT;
                break;
            }
            for byte in bytes {
                self.words[self.end + length / 8] |= u64::from(*byte) << (length % 8 * 8);
                length += 1;
            }
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

/// Stores as many words as there are in both. The first ones one by one: of a loop, the compiler
/// makes a call of memcpy, which takes longer than short texts.
#[inline(always)]
fn copy_words(to: &mut [u64], from: &[[u8; 8]]) {
    let mut pairs = to.iter_mut().zip(from);
    macro_rules! next {
        ($($step:literal)*) => {$(
            let _ = $step;
            match pairs.next() {
                Some((place, part)) => *place = u64::from_le_bytes(*part),
                None => return,
            }
        )*};
    }
    next!(0 1 2 3 4 5 6 7);
    for (place, part) in pairs {
        *place = u64::from_le_bytes(*part);
    }
}

/// Fewer than eight bytes as a word. By pieces, because a copy of an unknown length is a call.
#[inline(always)]
fn short_word(mut bytes: &[u8]) -> u64 {
    let (mut word, mut shift) = (0, 0);
    if let Some((part, rest)) = bytes.split_first_chunk() {
        (word, shift, bytes) = (u32::from_le_bytes(*part).into(), 32, rest);
    }
    if let Some((part, rest)) = bytes.split_first_chunk() {
        word |= u64::from(u16::from_le_bytes(*part)) << shift;
        (shift, bytes) = (shift + 16, rest);
    }
    if let Some(byte) = bytes.first() {
        word |= u64::from(*byte) << shift;
    }
    word
}
