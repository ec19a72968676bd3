//! Makes numbers of strings and rings from their digests.

/// The first eight bytes of a digest as a number.
pub fn first_word(digest: &[u8]) -> u64 {
    let bytes = digest.iter().take(8);
    bytes.fold(0, |word, b| word << 8 | u64::from(*b))
}
