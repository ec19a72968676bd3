//! Reads a file from its begin to its end, and hashes it.

use std::fs::File;
use std::io::{self, Read};

use sha1::{Digest, Sha1};

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 18;

/// Reads as many bytes of a file, piece by piece, and returns how many there were, and their SHA-1.
///
/// # Errors
/// Those of reading.
pub fn digest(file: &File, most: u64, mut each: impl FnMut(&[u8])) -> io::Result<(u64, [u8; 20])> {
    let (mut digest, mut size) = (Sha1::new(), 0);
    let mut buffer = vec![0; AT_ONCE];
    let mut input = file.take(most);
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok((size, digest.finalize().into())),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.update(&buffer[..count]);
        each(&buffer[..count]);
        size += count as u64;
    }
}
