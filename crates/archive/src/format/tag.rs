//! Defines the tags of records, which are their first numbers. docs/archive.md states them.

/// The program, the machine and the ring.
pub const PREAMBLE: u8 = 0;
/// The definition of a string.
pub const STRING: u8 = 1;
/// The name of an address.
pub const SYMBOL: u8 = 2;
/// A process, and its executable.
pub const PROCESS: u8 = 3;
/// An object that a process has loaded.
pub const MODULE: u8 = 4;
/// The time of another machine at a moment of the ring.
pub const CLOCK: u8 = 5;
/// Many events, compressed.
pub const BLOCK: u8 = 16;
/// The number of events that were overwritten before they were recorded.
pub const MISSED: u8 = 17;
/// To which session a file belongs.
pub const SESSION_FILE: u8 = 69;
/// The end of a session.
pub const SESSION_END: u8 = 71;
/// One event.
pub const EVENT: u8 = 127;
