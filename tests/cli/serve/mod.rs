//! `timeline serve`: its answers are what other verbs print, and not everybody gets one.

mod browser;
mod description;
mod durations;
mod errors;
mod full;
mod growing;
mod guard;
pub mod http;
mod links;
mod live;
mod long_spans;
mod page;
mod readers;
mod relative;
mod same;
mod scratch;
mod stacks;
mod unknown_process;
mod unmatched;

use crate::command::eventually;

/// Waits until a recorder has begun to write an archive.
fn begun(path: &str) {
    eventually("the beginning of an archive", || {
        std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
    });
}
