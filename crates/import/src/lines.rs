//! Cuts a stream of bytes into lines.

use std::io::{self, Read};
use std::ops::Range;

/// Longer lines are cut into parts of this size, so that each reader shows all of a part.
pub const MOST: usize = 60_000;
/// So much is read at once.
const PIECE: usize = 1 << 18;

/// The lines of a stream. A part of a line comes when the stream ends, or when it is long enough.
pub struct LineReader {
    buffer: Vec<u8>,
    /// What is not taken yet.
    left: Range<usize>,
    /// Up to where the rest has no line feed.
    looked_at: usize,
}

impl LineReader {
    /// No bytes yet.
    pub fn new() -> LineReader {
        LineReader {
            buffer: vec![0; PIECE],
            left: 0..0,
            looked_at: 0,
        }
    }

    /// Reads on. Returns how many bytes there were; none at the end.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn read(&mut self, from: &mut impl Read) -> io::Result<usize> {
        if self.left.start > 0 {
            self.buffer.copy_within(self.left.clone(), 0);
            self.looked_at -= self.left.start;
            self.left = 0..self.left.len();
        }
        if self.buffer.len() - self.left.end < PIECE / 2 {
            self.buffer.resize(self.left.end + PIECE, 0);
        }
        loop {
            match from.read(&mut self.buffer[self.left.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => {
                    let count = read?;
                    self.left.end += count;
                    return Ok(count);
                }
            }
        }
    }

    /// The next line or part of one, and whether a line feed ends it.
    pub fn next_line(&mut self) -> Option<(&[u8], bool)> {
        let rest = &self.buffer[self.looked_at..self.left.end];
        let start = self.left.start;
        let end = memchr::memchr(b'\n', rest).map(|at| self.looked_at + at);
        let is_long = |end: usize| end - start > MOST;
        match end {
            Some(end) if !is_long(end) => {
                self.left.start = end + 1;
                self.looked_at = end + 1;
                Some((&self.buffer[start..end], true))
            }
            _ if is_long(self.left.end) => {
                self.left.start += MOST;
                self.looked_at = self.left.start;
                Some((&self.buffer[start..start + MOST], false))
            }
            _ => {
                self.looked_at = self.left.end;
                None
            }
        }
    }

    /// Bytes that no line feed ends.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.left.clone()]
    }

    /// Forgets these bytes, because they were taken.
    pub fn take_rest(&mut self) {
        self.left.start = self.left.end;
        self.looked_at = self.left.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_as_they_are() {
        let long = [b'x'; 2 * MOST + 5];
        let text = [
            b"a\n\nb\r\n".as_slice(),
            &long,
            b"\n",
            &long[..MOST],
            b"\nrest",
        ]
        .concat();
        for most in [1, 7, 1 << 20] {
            let mut lines = LineReader::new();
            let (mut rest, mut found) = (&text[..], Vec::new());
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(most));
                lines.read(&mut { now }).unwrap();
                rest = later;
                while let Some((line, has_end)) = lines.next_line() {
                    found.push((line.to_vec(), has_end));
                }
            }
            found.push((lines.rest().to_vec(), false));
            let lengths: Vec<_> = found.iter().map(|(line, end)| (line.len(), *end)).collect();
            let parts = [
                (MOST, false),
                (MOST, false),
                (5, true),
                (MOST, true),
                (4, false),
            ];
            assert_eq!(lengths[..3], [(1, true), (0, true), (2, true)]);
            assert_eq!(lengths[3..], parts);
        }
    }
}
