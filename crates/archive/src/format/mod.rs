//! Defines the format of archives: frames around msgpack records, and blocks of events in columns.
//!
//! frame.rs puts frames around records (record.rs; tag.rs has their numbers). The records:
//! preamble.rs says of which run of which program an archive is, string.rs is a text, process.rs a
//! process and module.rs what it has loaded, session.rs who sent it, clock.rs what time it was at
//! the receiver, symbol.rs what an address is called, event.rs a single event (kind.rs compares
//! like ones at once, number_fields.rs has its numbers) and block.rs many in columns.
//!
//! Columns are made of varints (varint.rs): storage.rs says how values stand in them, decimal.rs
//! has doubles as decimals, time_text.rs times as logs write them, and ranges.rs between which
//! values those of a block are. digest.rs makes numbers of strings, file_name.rs names the numbered
//! files.

pub(crate) mod block;
pub(crate) mod clock;
pub(crate) mod decimal;
pub(crate) mod digest;
pub(crate) mod event;
pub(crate) mod file_name;
pub(crate) mod frame;
pub(crate) mod kind;
pub(crate) mod module;
pub(crate) mod number_fields;
pub(crate) mod preamble;
pub(crate) mod process;
pub(crate) mod ranges;
pub(crate) mod record;
pub(crate) mod session;
pub(crate) mod storage;
pub(crate) mod string;
pub(crate) mod symbol;
pub(crate) mod tag;
pub(crate) mod time_text;
pub(crate) mod varint;
