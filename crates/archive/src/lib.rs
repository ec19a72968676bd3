//! Archives: the events of a ring in a file that outlives it and can be read after any damage.
//!
//! docs/archive.md states every byte. A file is a sequence of frames, each around a record in
//! msgpack; a block is a record that holds many events. A damaged byte costs only the frame that
//! contains it. Files are joined by writing one after the other.
//!
//! `format` defines the contents of a file, `write` encodes events, `read` decodes them, and
//! `record` follows a ring and writes files. Each module uses only those named before it.
//!
//! error.rs has the errors of all.

mod error;
mod format;
mod read;
mod record;
mod write;

/// The limits of archives that docs/archive.md states.
pub mod limits {
    pub use crate::format::block::{
        MAX_ARGS, MAX_COLUMNS, MAX_EVENTS, MAX_EXPANDED, MAX_EXPANSION, MAX_PAYLOAD,
    };
    pub use crate::format::frame::MAX_RECORD;
    pub use crate::format::storage::MOST_REPEATED as MAX_REPEATED;
    pub use crate::read::open::archive::SHOWN as SHOWN_SYMBOL;
    pub use crate::read::units::ordered::{ADDRESSES as SHOWN_ADDRESSES, PAYLOAD as SHOWN_PAYLOAD};
    pub use crate::write::writer::MOST_TEXT as MAX_TEXT;
}

/// Frames, for connections that carry them.
pub mod frames {
    pub use crate::format::frame::{Checksum, NotAFrame, first, put};
    pub use crate::format::record::{events_in, preamble};
}

/// Numbers of few bytes, as in blocks.
pub mod varint {
    pub use crate::format::varint::{NumberReader, put, put_difference, signed};
}

pub use error::{Error, Result};
pub use format::clock::ClockComparison;
pub use format::event::{ArchiveEvent, OBJECT, PRINTF, RawDefinition, RawEvent, RawThread};
pub use format::file_name::has_archive_name;
pub use format::frame::MAGIC;
pub use format::module::ModuleRecord;
pub use format::preamble::Preamble;
pub use format::process::ProcessRecord;
pub use format::session::{MAX_METADATA, SessionFile};
pub use format::symbol::Symbol;
pub use format::time_text::{ReadTime, TimeForm};
pub use read::choice::block_ranges::BlockRanges;
pub use read::choice::columns::{BlockColumns, ShapeValues};
pub use read::choice::select::{Places, Select};
pub use read::choice::value_column::ValueColumn;
pub use read::choice::visitor::UnitVisitor;
pub use read::copy::filtered_copy::FilteredTotals;
pub use read::copy::repair::CopyTotals;
pub use read::file::bytes::ArchiveBytes;
pub use read::loss::coverage::Hole;
pub use read::open::archive::Archive;
pub use read::open::outline::Outline;
pub use read::order::events::{ArchiveEvents, UnitReader};
pub use read::order::follow::ArchiveFollow;
pub use read::order::inflow::ArchiveInflow;
pub use read::order::recorded_event::{
    EventText, InFile, RecordedDefinition, RecordedEvent, RecordedThread,
};
pub use read::texts::executable::Misfit;
pub use read::texts::recovery::{ExecutableSearch, Recovery};
pub use read::texts::sessions::TraceSession;
pub use read::units::unit::UnitInfo;
pub use record::numbered_files::{LockedFile, create_file};
pub use record::output::FileChange;
pub use record::output::{ArchiveOutput, OutputTrouble};
pub use record::output::{Destination, FileLimits, ReferenceClock};
pub use record::output::{Fsync, Keeping};
pub use record::recorder::Recorder;
pub use record::recorder::totals::Totals;
pub use record::resume::{ResumeState, RunState};
pub use record::trace_files::TraceFiles;
pub use record::watch_mark::WatchMark;
pub use write::lines::{BlockLine, LineBlock, LineShape, LineTexts, LineValues};
pub use write::writer::{Form, Writer};
