//! The texts behind the numbers of an archive, and the programs that they are of.
//!
//! names.rs has the strings and symbols, processes.rs what logged, sessions.rs who sent it,
//! clocks.rs what time it was there. executable.rs has the files that may have logged, in which
//! lost texts are found again; recovery.rs says what came of that.

pub(crate) mod clocks;
pub(crate) mod executable;
pub(crate) mod names;
pub(crate) mod processes;
pub(crate) mod recovery;
pub(crate) mod sessions;
