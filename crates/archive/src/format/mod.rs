//! Defines the format of archives: frames around msgpack records, and blocks of events in columns.

pub(crate) mod block;
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
pub(crate) mod stored;
pub(crate) mod string;
pub(crate) mod symbol;
pub(crate) mod tag;
pub(crate) mod time_text;
pub(crate) mod varint;
