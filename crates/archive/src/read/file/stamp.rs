//! The state of a file, by which a later reader knows that nobody has changed it since.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::format::varint::{NumberReader, put};

/// Nanoseconds for which a file must not have been changed. File systems note times in steps of up
/// to two seconds, and another change in the same step leaves no trace.
const SETTLED: i128 = 2_000_000_000;
const SECOND: i128 = 1_000_000_000;

/// The state of a file: its number, its length, and when its contents and its state were changed.
///
/// Each change of a file changes the last time, and programs cannot set it. Device numbers are not
/// among these, because those of some file systems change with each start of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp([u64; 6]);

impl Stamp {
    /// Of a file that was not changed in the last two seconds. If it was, its state does not say
    /// whether it is changed again.
    pub fn of(metadata: &Metadata) -> Option<Stamp> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let changed = i128::from(metadata.ctime()) * SECOND + i128::from(metadata.ctime_nsec());
        let is_settled = (now.as_nanos() as i128).checked_sub(changed)? >= SETTLED;
        is_settled.then_some(Stamp([
            metadata.ino(),
            metadata.len(),
            metadata.mtime() as u64,
            metadata.mtime_nsec() as u64,
            metadata.ctime() as u64,
            metadata.ctime_nsec() as u64,
        ]))
    }

    /// Of a file of this length.
    #[cfg(test)]
    pub fn of_length(length: usize) -> Stamp {
        Stamp([0, length as u64, 0, 0, 0, 0])
    }

    /// The length of the file.
    pub fn length(&self) -> u64 {
        self.0[1]
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|number| put(out, *number));
    }

    pub fn decode(input: &mut NumberReader) -> Option<Stamp> {
        let mut numbers = [0; 6];
        for number in &mut numbers {
            *number = input.get()?;
        }
        Some(Stamp(numbers))
    }
}
