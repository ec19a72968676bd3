//! Follows a ring into files that are rotated, resumed after a crash, and reopened when somebody
//! removes them.

mod identity;
pub(crate) mod numbered_files;
pub(crate) mod output;
pub(crate) mod recorder;
pub(crate) mod resume;
pub(crate) mod tick_clock;
