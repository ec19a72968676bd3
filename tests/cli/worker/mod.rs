//! Recordings inside the program: by a thread, or a step at a time.
//!
//! files.rs records to files, stores.rs to a store; threads.rs starts and stops while others log.
//! forks.rs forks and kills what records, and pumps.rs records without threads. requests.rs has
//! what is asked for by the environment, and lua.rs a program in Lua; tests/ffi/workers.rs has
//! programs in C.

mod files;
mod forks;
mod lua;
mod pumps;
mod requests;
mod stores;
mod threads;

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Far longer than anything takes: only a hang comes here.
const LONG: Duration = Duration::from_secs(60);

/// Too short for a store that refuses.
const SHORT: Duration = Duration::from_millis(20);

/// The files of an archive in a directory, in their order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
