//! Reads an archive.
//! It reads all of it by time or by place, its newest part, or what is appended while it grows.

pub(crate) mod ahead;
pub(crate) mod appended;
pub(crate) mod archive;
pub(crate) mod block_ranges;
pub(crate) mod breaks;
pub(crate) mod bytes;
pub(crate) mod chosen;
pub(crate) mod columns;
pub(crate) mod contents;
pub(crate) mod coverage;
pub(crate) mod decode;
pub(crate) mod events;
pub(crate) mod executable;
pub(crate) mod filtered;
pub(crate) mod follow;
pub(crate) mod form;
pub(crate) mod gaps;
pub(crate) mod holes;
pub(crate) mod losses;
pub(crate) mod marks;
pub(crate) mod merge;
pub(crate) mod moments;
pub(crate) mod names;
pub(crate) mod newest;
pub(crate) mod open;
pub(crate) mod ordered;
pub(crate) mod outline;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod recorded;
pub(crate) mod recover;
pub(crate) mod recovery;
pub(crate) mod repair;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod seen;
pub(crate) mod select;
pub(crate) mod skip;
pub(crate) mod stamp;
pub(crate) mod stored;
pub(crate) mod unit;
pub(crate) mod unpack;
pub(crate) mod value_column;
