//! The rows of a unit: which line of the source each of its addresses is of.

use std::ops::Range;

use gimli::Unit;

use super::super::intervals::{AddressInterval, IntervalMap};
use super::super::metered::SectionReader;
use super::MOST_ROWS;

/// The rows of a unit.
#[derive(Debug, Default)]
pub struct LineRows {
    rows: Vec<LineRow>,
    /// Rows that follow one another, and the addresses of each of these sequences.
    sequences: Vec<Range<usize>>,
    cover: IntervalMap,
}

/// From this address on it is that line.
#[derive(Debug, Clone, Copy)]
pub struct LineRow {
    address: u64,
    pub file: u32,
    /// 0: of no line.
    pub line: u32,
}

impl LineRows {
    /// How many they are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Those of a unit, as far as they can be read.
    pub fn of(unit: &Unit<SectionReader>) -> Option<LineRows> {
        let mut program = unit.line_program.clone()?.rows();
        let (mut rows, mut sequences, mut intervals) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        while let Ok(Some((_, row))) = program.next_row()
            && rows.len() < MOST_ROWS
        {
            if !row.end_sequence() {
                rows.push(LineRow {
                    address: row.address(),
                    file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                    line: row
                        .line()
                        .map_or(0, |line| u32::try_from(line.get()).unwrap_or(0)),
                });
                continue;
            }
            // Some compilers do not keep their order.
            rows[first..].sort_by_key(|row| row.address);
            if let Some(begin) = rows.get(first) {
                intervals.push(AddressInterval {
                    start: begin.address,
                    end: row.address(),
                    rank: begin.address,
                });
                sequences.push(first..rows.len());
            }
            first = rows.len();
        }
        Some(LineRows {
            cover: IntervalMap::new(&intervals),
            rows,
            sequences,
        })
    }

    /// The row of an address.
    pub fn find(&self, address: u64) -> Option<LineRow> {
        let sequence = &self.rows[self.sequences[self.cover.find(address)?].clone()];
        let behind = sequence.partition_point(|row| row.address <= address);
        let row = sequence[behind.checked_sub(1)?];
        (row.line > 0).then_some(row)
    }
}
