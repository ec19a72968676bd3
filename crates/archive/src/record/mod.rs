//! Follows a ring and writes its events to files.
//! Files are rotated, continued after a crash, and opened again if another process removes them.

mod identity;
pub(crate) mod numbered_files;
pub(crate) mod output;
pub(crate) mod recorder;
pub(crate) mod resume;
pub(crate) mod tick_clock;
pub(crate) mod watched;
