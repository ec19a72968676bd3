//! Reads an archive.
//! It reads all of it by time or by place, its newest part, or what is appended while it grows.
//!
//! The rooms, each of which uses those below it:
//!
//! - copy/ writes what is whole or wanted of an archive to another file;
//! - recover/ finds lost texts again;
//! - order/ gives the events by time, by place, the newest first, or as they are appended;
//! - open/ finds what is in an archive, and decodes it;
//! - choice/ says which events are wanted before they are made, by their columns;
//! - units/ makes events of what is read at once;
//! - file/ reads the bytes;
//! - texts/ has the texts behind the numbers, and the programs that they are of;
//! - loss/ knows what is missing.

pub(crate) mod choice;
pub(crate) mod copy;
pub(crate) mod file;
pub(crate) mod loss;
pub(crate) mod open;
pub(crate) mod order;
pub(crate) mod recover;
pub(crate) mod texts;
pub(crate) mod units;
