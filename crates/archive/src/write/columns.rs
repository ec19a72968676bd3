//! Writes the values of events into a column of a block.

use super::range::ValueRange;
use crate::format::ranges::place;
use crate::format::varint::{put, put_difference};
use timeline::internal::{ValueKind, ValueSink};

/// The column of one of the values of events.
pub struct ArgumentColumn<'a> {
    pub bytes: &'a mut Vec<u8>,
    /// The integer of the previous event of the same shape.
    pub before: &'a mut i64,
    /// The range of the values of that shape.
    pub range: &'a mut ValueRange,
}

impl ArgumentColumn<'_> {
    #[inline]
    fn integer(&mut self, kind: ValueKind, value: u64) {
        put_difference(self.bytes, value, *self.before as u64);
        *self.before = value as i64;
        self.range.add(place(kind, value));
    }
}

impl ValueSink for ArgumentColumn<'_> {
    #[inline]
    fn int(&mut self, value: i64) {
        self.integer(ValueKind::Int, value as u64);
    }

    #[inline]
    fn uint(&mut self, value: u64) {
        self.integer(ValueKind::Uint, value);
    }

    #[inline]
    fn float(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self.range.add(place(ValueKind::Float, value.to_bits()));
    }

    fn long_double(&mut self, bytes: &[u8; 16]) {
        self.bytes.extend_from_slice(bytes);
    }

    #[inline]
    fn text(&mut self, bytes: &[u8], cut: bool) {
        let length = bytes.len();
        self.range.add(Some(length as u64));
        let head = 1 + 2 * length as u64 + u64::from(cut);
        let Some(word) = word_of(bytes) else {
            put(self.bytes, head);
            self.bytes.extend_from_slice(bytes);
            return;
        };
        // All of it is copied, because a copy of fixed size is faster.
        let mut text = [head as u8; 9];
        text[1..].copy_from_slice(&word.to_le_bytes());
        let end = self.bytes.len() + 1 + length;
        self.bytes.extend_from_slice(&text);
        self.bytes.truncate(end);
    }

    fn nil(&mut self) {
        put(self.bytes, 0);
        self.range.add(Some(0));
    }
}

/// Four to eight bytes as a word.
#[inline]
fn word_of(bytes: &[u8]) -> Option<u64> {
    let above = bytes.len().checked_sub(4).filter(|above| *above <= 4)?;
    let lower = u32::from_le_bytes(*bytes.first_chunk()?);
    let upper = u32::from_le_bytes(*bytes.last_chunk()?);
    Some(u64::from(lower) | u64::from(upper) << (8 * above))
}
