//! The first bytes of values, as constants: patterns need them, and rmp's own are found by a call.

/// The last of the numbers that are one byte.
pub const LAST_FIXINT: u8 = 0x7f;
/// A map of no keys; up to 15 are added.
pub const FIXMAP: u8 = 0x80;
/// An array of no items; up to 15 are added.
pub const FIXARRAY: u8 = 0x90;
/// An array of 15 items.
pub const LAST_FIXARRAY: u8 = 0x9f;
/// A text of no bytes; up to 31 are added.
pub const FIXSTR: u8 = 0xa0;
/// A text of 31 bytes.
pub const LAST_FIXSTR: u8 = 0xbf;
/// In no msgpack.
pub const UNUSED: u8 = 0xc1;
/// An unsigned number of 8 bits.
pub const UINT8: u8 = 0xcc;
/// An unsigned number of 16 bits.
pub const UINT16: u8 = 0xcd;
/// An unsigned number of 32 bits.
pub const UINT32: u8 = 0xce;
/// An unsigned number of 64 bits.
pub const UINT64: u8 = 0xcf;
/// A signed number of 8 bits.
pub const INT8: u8 = 0xd0;
/// A signed number of 16 bits.
pub const INT16: u8 = 0xd1;
/// A signed number of 32 bits.
pub const INT32: u8 = 0xd2;
/// A signed number of 64 bits.
pub const INT64: u8 = 0xd3;
/// A text with a length of 16 bits.
pub const STR16: u8 = 0xda;
/// A text with a length of 32 bits.
pub const STR32: u8 = 0xdb;
/// An array with a length of 16 bits.
pub const ARRAY16: u8 = 0xdc;
/// An array with a length of 32 bits.
pub const ARRAY32: u8 = 0xdd;
/// A map with a length of 16 bits.
pub const MAP16: u8 = 0xde;
