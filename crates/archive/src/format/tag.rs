//! The tags of records: the first number of each. docs/archive.md states them.

/// Which program, machine and ring.
pub const PREAMBLE: u8 = 0;
/// The definition of a string.
pub const STRING: u8 = 1;
/// The name of an address.
pub const SYMBOL: u8 = 2;
/// Many events, compressed.
pub const BLOCK: u8 = 16;
/// How many events were overwritten before they were recorded.
pub const MISSED: u8 = 17;
/// One event.
pub const EVENT: u8 = 127;
