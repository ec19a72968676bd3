//! Follows a ring and writes its events to files.
//! Files are rotated, continued after a crash, and opened again if another process removes them.
//!
//! recorder/ reads the ring, and output/ writes the files, which numbered_files.rs finds and makes
//! in a directory; trace_files.rs keeps frames there that come from elsewhere. resume.rs reads what
//! an earlier recorder left in a file, and identity.rs says of which run of which program the ring
//! is. tick_clock.rs turns ticks into times; watch_mark.rs says whether somebody waits for new
//! events.

mod identity;
pub(crate) mod numbered_files;
pub(crate) mod output;
pub(crate) mod recorder;
pub(crate) mod resume;
pub(crate) mod tick_clock;
pub(crate) mod trace_files;
pub(crate) mod watch_mark;
