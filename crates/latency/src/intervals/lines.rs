//! Reads lines of bounded length.

use std::io::{self, BufRead};

/// What comes next.
#[derive(Debug, PartialEq)]
pub enum LineStep {
    /// A line, in the buffer.
    Line,
    /// A line that is longer than the limit; what is in the buffer is less.
    TooLong,
    End,
}

/// Reads a line into the buffer, without its end. Of one that is too long it keeps nothing.
pub fn next(from: &mut impl BufRead, most: usize, line: &mut Vec<u8>) -> io::Result<LineStep> {
    line.clear();
    let (mut any, mut fits) = (false, true);
    loop {
        let piece = match from.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = piece.iter().position(|&byte| byte == b'\n');
        any |= !piece.is_empty();
        let part = &piece[..end.unwrap_or(piece.len())];
        fits &= line.len() + part.len() <= most;
        if fits {
            line.extend_from_slice(part);
        } else {
            line.clear();
        }
        let last = end.is_some() || piece.is_empty();
        let used = end.map_or(piece.len(), |end| end + 1);
        from.consume(used);
        if last {
            return Ok(match (any, fits) {
                (false, _) => LineStep::End,
                (true, true) => LineStep::Line,
                (true, false) => LineStep::TooLong,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_come_whole_or_not_at_all() {
        for buffer in 1..12 {
            let text: &[u8] = b"one\n\ntoo long a line\r\nfour\nlast";
            let mut from = BufReader::with_capacity(buffer, text);
            let mut line = Vec::new();
            let mut read = Vec::new();
            loop {
                match next(&mut from, 8, &mut line).unwrap() {
                    LineStep::End => break,
                    LineStep::TooLong => read.push("-".to_owned()),
                    LineStep::Line => read.push(String::from_utf8(line.clone()).unwrap()),
                }
                assert!(line.capacity() <= 16);
            }
            assert_eq!(read, ["one", "", "-", "four", "last"]);
        }
    }
}
