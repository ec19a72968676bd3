//! Text put together in one buffer that is used again and again, without the machinery of `fmt`.
//!
//! Short pieces are stored in blocks of a fixed size, with whatever stands behind them; the next
//! piece is stored over that. So a piece costs neither a call nor a loop, and a number no look into
//! a table.

use std::fmt;

use super::template::{BLOCK, Template, TemplatePart};
use crate::event::Whole;
use crate::layout::MAX_ARGUMENTS;

/// Digits and sign of the longest number, rounded up to the stores that write it.
const NUMBER: usize = 24;

/// A text that grows at its end.
///
/// # Example
/// ```
/// use timeline::dump::Text;
/// let mut text = Text::new();
/// text.push("n(");
/// text.signed(-5);
/// text.push(") after");
/// text.right(Some(17), 4);
/// assert_eq!(text.as_bytes(), b"n(-5) after  17");
/// ```
#[derive(Default)]
pub struct Text {
    /// The text, and room for what comes.
    bytes: Vec<u8>,
    length: usize,
}

impl Text {
    /// No text yet.
    pub fn new() -> Text {
        Text::default()
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Its bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Forgets the text and keeps the room.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Makes room for `more` bytes, and for a block behind them.
    #[inline(always)]
    fn room(&mut self, more: usize) -> &mut [u8] {
        let needed = self.length + more + BLOCK;
        if self.bytes.len() < needed {
            self.grow(needed);
        }
        &mut self.bytes
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        self.bytes.resize(needed.next_power_of_two().max(1024), 0);
    }

    /// Appends `text`.
    #[inline(always)]
    pub fn push(&mut self, text: &str) {
        let at = self.length;
        self.room(text.len())[at..at + text.len()].copy_from_slice(text.as_bytes());
        self.length = at + text.len();
    }

    /// Appends a number.
    #[inline]
    pub fn number(&mut self, number: u64) {
        let at = self.length;
        self.length = store(self.room(NUMBER), at, number);
    }

    /// Appends a number with its sign.
    #[inline]
    pub fn signed(&mut self, number: i64) {
        let at = self.length;
        self.length = store_signed(self.room(NUMBER), at, number);
    }

    /// Appends a number, or `-` for none, with spaces before it up to this width.
    #[inline(always)]
    pub fn right(&mut self, number: Option<u64>, width: usize) {
        const SPACES: [u8; 16] = [b' '; 16];
        let Some(number) = number.filter(|&n| n < EIGHT && width <= SPACES.len()) else {
            return self.right_slowly(number, width);
        };
        let at = self.length;
        let bytes = self.room(NUMBER + SPACES.len());
        let (digits, count) = shortest(number);
        bytes[at..at + SPACES.len()].copy_from_slice(&SPACES);
        let at = at + width.saturating_sub(count);
        bytes[at..at + 8].copy_from_slice(&digits);
        self.length = at + count;
    }

    #[cold]
    fn right_slowly(&mut self, number: Option<u64>, width: usize) {
        let text = number.map_or("-".to_string(), |number| number.to_string());
        self.push(&format!("{text:>width$}"));
    }

    /// Appends nanoseconds below a second, as nine digits.
    #[inline]
    pub fn nanoseconds(&mut self, nanoseconds: u32) {
        let at = self.length;
        let (first, rest) = (nanoseconds / EIGHT as u32 % 10, nanoseconds % EIGHT as u32);
        let bytes = self.room(NUMBER);
        bytes[at] = b'0' + first as u8;
        bytes[at + 1..at + 9].copy_from_slice(&eight(rest.into()));
        self.length = at + 9;
    }

    /// Appends `template` with these values in their places.
    #[inline]
    pub fn fill(&mut self, template: &Template, values: &[i64; MAX_ARGUMENTS]) {
        match template.repeats {
            false => self.fill_parts::<false>(&template.parts, values),
            true => self.fill_parts::<true>(&template.parts, values),
        }
    }

    /// With `REPEATS`, a value that stands there already is copied from there.
    fn fill_parts<const REPEATS: bool>(
        &mut self,
        parts: &[TemplatePart],
        values: &[i64; MAX_ARGUMENTS],
    ) {
        let mut at = self.length;
        let bytes = self.room((BLOCK + NUMBER) * parts.len());
        let mut there: [Option<(usize, usize, Whole)>; MAX_ARGUMENTS] = [None; MAX_ARGUMENTS];
        for part in parts {
            bytes[at..at + BLOCK].copy_from_slice(&part.text);
            at += part.length;
            let Some(value) = values.get(part.value) else {
                continue;
            };
            if REPEATS
                && let Some((start, length, whole)) = there[part.value]
                && whole == part.whole
            {
                bytes.copy_within(start..start + NUMBER, at);
                at += length;
                continue;
            }
            let end = store_whole(bytes, at, *value, part.whole);
            if REPEATS {
                there[part.value] = Some((at, end - at, part.whole));
            }
            at = end;
        }
        self.length = at;
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// The first number of nine digits.
const EIGHT: u64 = 100_000_000;

/// Stores the number that a word is.
#[inline(always)]
fn store_whole(bytes: &mut [u8], at: usize, word: i64, whole: Whole) -> usize {
    let shift = u64::BITS - whole.bits;
    match whole.is_signed {
        true => store_signed(bytes, at, word << shift >> shift),
        false => store(bytes, at, (word as u64) << shift >> shift),
    }
}

#[inline(always)]
fn store_signed(bytes: &mut [u8], at: usize, number: i64) -> usize {
    bytes[at] = b'-';
    store(bytes, at + usize::from(number < 0), number.unsigned_abs())
}

/// Stores the digits of a number; where they end.
#[inline(always)]
fn store(bytes: &mut [u8], at: usize, number: u64) -> usize {
    if number < EIGHT {
        let (digits, count) = shortest(number);
        bytes[at..at + 8].copy_from_slice(&digits);
        return at + count;
    }
    let (high, low) = (number / EIGHT, number % EIGHT);
    let at = if high < EIGHT {
        let (digits, count) = shortest(high);
        bytes[at..at + 8].copy_from_slice(&digits);
        at + count
    } else {
        let (digits, count) = shortest(high / EIGHT);
        bytes[at..at + 8].copy_from_slice(&digits);
        bytes[at + count..at + count + 8].copy_from_slice(&eight(high % EIGHT));
        at + count + 8
    };
    bytes[at..at + 8].copy_from_slice(&eight(low));
    at + 8
}

/// The digits of a number below 10^8, and how many there are.
#[inline(always)]
fn shortest(number: u64) -> ([u8; 8], usize) {
    let digits = spread(number);
    // Of 0, the last zero stays.
    let leading = ((digits | 1 << 56).trailing_zeros() / 8) as usize;
    let text = (digits | ZEROS) >> (8 * leading);
    (text.to_le_bytes(), 8 - leading)
}

/// All eight digits of a number below 10^8.
#[inline(always)]
fn eight(number: u64) -> [u8; 8] {
    (spread(number) | ZEROS).to_le_bytes()
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight digits of a number below 10^8, one in each byte, the first in the lowest: two halves,
/// four pairs and eight digits are divided side by side (after Paul Khuong, "How to print integers
/// really fast").
#[inline(always)]
fn spread(number: u64) -> u64 {
    let number = number as u32;
    let halves = u64::from(number / 10_000) | (u64::from(number % 10_000) << 32);
    // Divided by 100: exact for four digits.
    let hundreds = ((halves * 10_486) >> 20) & 0x7f_0000_007f;
    let pairs = hundreds | ((halves - 100 * hundreds) << 16);
    // Divided by 10: exact for two digits.
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((pairs - 10 * tens) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(write: impl FnOnce(&mut Text)) -> String {
        let mut text = Text::new();
        write(&mut text);
        String::from_utf8(text.as_bytes().to_vec()).expect("only text was pushed")
    }

    #[test]
    fn every_number_of_digits_is_right_at_its_edges() {
        let edges = (0..20).map(|digits| 10_u64.pow(digits));
        for number in edges.flat_map(|edge| [edge - 1, edge, edge + 1]) {
            assert_eq!(text(|t| t.number(number)), number.to_string());
        }
        for number in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(text(|t| t.signed(number)), number.to_string());
        }
        assert_eq!(text(|t| t.number(u64::MAX)), u64::MAX.to_string());
    }

    #[test]
    fn the_eight_digits_of_every_number_are_right() {
        // Halves, pairs and digits do not depend on one another, so that all of one are all there
        // is.
        for half in 0..10_000 {
            let both = format!("{half:04}{half:04}");
            assert_eq!(eight(half * 10_001), both.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn numbers_agree_with_fmt(
            number: u64,
            shift in 0..64,
            width in 0..30_usize,
            n in 0..1_000_000_000_u32,
        ) {
            let number = number >> shift;
            let signed = number as i64;
            prop_assert_eq!(text(|t| t.number(number)), format!("{number}"));
            prop_assert_eq!(text(|t| t.signed(signed)), format!("{signed}"));
            let negative = signed.wrapping_neg();
            prop_assert_eq!(text(|t| t.signed(negative)), format!("{negative}"));
            prop_assert_eq!(text(|t| t.right(Some(number), width)), format!("{number:width$}"));
            prop_assert_eq!(text(|t| t.right(None, width)), format!("{:>width$}", "-"));
            prop_assert_eq!(text(|t| t.nanoseconds(n)), format!("{n:09}"));
        }

        #[test]
        fn pieces_follow_one_another(
            pieces in prop::collection::vec(("\\PC{0,80}", any::<i64>()), 0..40),
        ) {
            let plain: String = pieces.iter().map(|(piece, n)| format!("{piece}{n}")).collect();
            let put = text(|t| pieces.iter().for_each(|(piece, n)| {
                t.push(piece);
                t.signed(*n);
            }));
            prop_assert_eq!(put, plain);
        }
    }
}
