//! Writes the values of events into a column of a block.

use crate::format::varint::{put, put_difference};
use timeline::ValueSink;

/// The column of one of the values of events.
pub struct Column<'a> {
    pub bytes: &'a mut Vec<u8>,
    /// The integer of the previous event of the same shape.
    pub before: &'a mut i64,
}

impl ValueSink for Column<'_> {
    #[inline]
    fn int(&mut self, value: i64) {
        put_difference(self.bytes, value as u64, *self.before as u64);
        *self.before = value;
    }

    #[inline]
    fn uint(&mut self, value: u64) {
        self.int(value as i64);
    }

    #[inline]
    fn float(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn long_double(&mut self, bytes: &[u8; 16]) {
        self.bytes.extend_from_slice(bytes);
    }

    #[inline]
    fn text(&mut self, bytes: &[u8], cut: bool) {
        put(self.bytes, 1 + 2 * bytes.len() as u64 + u64::from(cut));
        self.bytes.extend_from_slice(bytes);
    }

    fn nil(&mut self) {
        put(self.bytes, 0);
    }
}
