//! Has the fuzz targets: what fuzzing tries on each reader of bytes.
//! Whatever the bytes are, nothing panics, and what must hold does.
//!
//! Each target is a function of bytes, which fuzz/bin/ feeds from a fuzzer and tests/archive/fuzz/
//! from fuzz/corpus/.
//!
//! A target with many checks has them in parts. Tests run all of them on each committed input; a
//! fuzzer runs one, because it finds the more, the more inputs it tries. The sum of the bytes says
//! which part that is: so an input that failed once fails again.

/// Bytes as an archive.
pub mod archive;
/// Records, around which the frames are whole.
pub mod archive_framed;
/// What comes over a connection.
pub mod connection;
/// Frames as the page says that they are, found without the library.
pub mod frames;
/// A text log, which is imported.
pub mod import;
/// What lies where an archive has its index.
pub mod index;
/// An interval log, or a histogram in one.
pub mod intervals;
/// A format, and what is to be filled in.
pub mod printf;
/// What people write to say which events they want.
pub mod query;
/// What a recorder finds where it is to go on.
pub mod resume;
/// A timeline, or changes to one.
pub mod ring;
/// A small archive to be searched.
pub mod sample;
/// Files in memory, for readers that want a path.
pub mod scratch;
/// A program's file, or a mangled name.
pub mod symbols;

/// Which of so many parts a fuzzer runs on these bytes.
fn part_of(bytes: &[u8], parts: usize) -> usize {
    crc32fast::hash(bytes) as usize % parts
}
