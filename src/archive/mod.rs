//! Archives: what a ring held, in a file that outlives it, and is read after any damage.
//!
//! docs/archive.md states every byte. A file is a sequence of frames (frame.rs), each around a record
//! (record.rs, of msgpack, codec.rs), of which a block holds many events (block.rs). So a damaged byte costs
//! what stands in its frame, and files are joined by writing one after the other.

mod block;
mod bytes;
mod codec;
mod copy;
mod data;
mod files;
mod frame;
mod gaps;
mod grow;
mod left;
mod load;
mod merge;
mod names;
mod newest;
mod numbers;
mod output;
mod packer;
mod places;
mod preamble;
mod reader;
mod record;
mod recorded;
mod recorder;
mod rows;
mod span;
mod times;
mod usual;
mod writer;

/// The limits of archives that docs/archive.md states.
pub mod limits {
    pub use super::block::{
        MAX_ARGS, MAX_COLUMNS, MAX_EVENTS, MAX_EXPANDED, MAX_EXPANSION, MAX_PAYLOAD,
    };
    pub use super::frame::MAX_RECORD;
    pub use super::load::{ADDRESSES as SHOWN_ADDRESSES, PAYLOAD as SHOWN_PAYLOAD};
    pub use super::reader::SHOWN as SHOWN_SYMBOL;
    pub use super::writer::MOST_TEXT as MAX_TEXT;
}

pub use bytes::Bytes;
pub use copy::Copied;
pub use data::{Data, Kind, PRINTF, Source};
pub use grow::Growth;
pub use merge::ArchiveEvents;
pub use output::{Change, Fsync, Keeping, Output, Trouble};
pub use preamble::Preamble;
pub use reader::Archive;
pub use record::Symbol;
pub use recorded::{Author, InFile, Recorded, Statement, Text};
pub use recorder::{Recorder, Totals};
pub use writer::{Form, Writer};
