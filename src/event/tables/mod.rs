//! The definitions of a timeline in shared memory, and what of them is logged at present.
//!
//! table.rs has the records of definitions and their enable bytes, strings.rs their texts, and
//! string_table.rs the texts that are stored once; module.rs is the text of an object that a
//! process has loaded. channels.rs has the channels and switches.rs what was asked for;
//! switching.rs brings the events in line with that.

pub(crate) mod channels;
pub(crate) mod module;
pub(crate) mod string_table;
pub(crate) mod strings;
pub(crate) mod switches;
pub(crate) mod switching;
pub(crate) mod table;
