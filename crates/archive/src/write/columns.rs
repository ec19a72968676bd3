//! Writes the values of an event into columns of a block, one for each value.

use crate::format::varint::{put, put_difference};
use timeline::ValueSink;

/// The columns of the values of an event that are still to be written.
pub struct Columns<'a> {
    columns: std::slice::IterMut<'a, Vec<u8>>,
    /// The integers of the previous event of its shape.
    before: std::slice::IterMut<'a, i64>,
}

impl<'a> Columns<'a> {
    /// All columns, and one integer for each value.
    #[inline]
    pub fn new(columns: &'a mut [Vec<u8>], before: &'a mut [i64]) -> Columns<'a> {
        Columns {
            columns: columns.iter_mut(),
            before: before.iter_mut(),
        }
    }

    #[inline]
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>, &mut i64)) {
        if let Some((column, before)) = self.columns.next().zip(self.before.next()) {
            write(column, before);
        }
    }
}

impl ValueSink for Columns<'_> {
    #[inline]
    fn int(&mut self, value: i64) {
        self.put(|column, before| {
            put_difference(column, value as u64, *before as u64);
            *before = value;
        });
    }

    #[inline]
    fn uint(&mut self, value: u64) {
        self.int(value as i64);
    }

    #[inline]
    fn float(&mut self, value: f64) {
        self.put(|column, _| column.extend_from_slice(&value.to_le_bytes()));
    }

    fn long_double(&mut self, bytes: &[u8; 16]) {
        self.put(|column, _| column.extend_from_slice(bytes));
    }

    #[inline]
    fn text(&mut self, bytes: &[u8], cut: bool) {
        self.put(|column, _| {
            put(column, 1 + 2 * bytes.len() as u64 + u64::from(cut));
            column.extend_from_slice(bytes);
        });
    }

    fn nil(&mut self) {
        self.put(|column, _| put(column, 0));
    }
}
