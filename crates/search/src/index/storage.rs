//! Reads the bytes of an index.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The file of an index, or of a part of one.
pub struct IndexStorage(pub File);

/// Most bytes that are read at once.
const MOST: u64 = 1 << 30;

impl IndexStorage {
    /// Reads the bytes in a range into a buffer, which can be used again.
    ///
    /// # Errors
    /// Those of reading the file; `UnexpectedEof` if they are not there.
    pub fn read<'a>(&self, range: Range<u64>, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let length = range.end.saturating_sub(range.start);
        if length > MOST || range.end > self.0.metadata()?.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.resize(length as usize, 0);
        self.0.read_exact_at(buffer, range.start)?;
        Ok(buffer)
    }
}
