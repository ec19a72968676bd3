//! Recordings by way of a spool: an outage of any length loses nothing, and nothing comes twice.
//!
//! outages.rs has stores that are away and recorders that are killed, and troubles.rs what is full,
//! lost, damaged or somebody else's.

mod outages;
mod troubles;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use timeline_archive::{Archive, ArchiveOutput, RecordedEvent, Recorder};
use timeline_net::{LEAST_SPOOL, SenderOptions, Spool};

use super::place::{Place, eventually, is_important, options, traces};
use super::proxy::Proxy;

/// An output by way of a spool of the least size.
pub fn output_by(folder: &Path, options: &SenderOptions) -> ArchiveOutput {
    let spool = Spool::open(folder, LEAST_SPOOL, options.clone()).unwrap();
    ArchiveOutput::to(&options.address, Box::new(spool))
}

/// A store that can be away.
pub struct Link {
    proxy: Proxy,
    is_away: Arc<AtomicBool>,
}

impl Link {
    pub fn to(place: &Place) -> Link {
        let is_away = Arc::new(AtomicBool::new(false));
        let is_away_now = Arc::clone(&is_away);
        let plan = move |_| is_away_now.load(Ordering::Relaxed).then_some(0);
        Link {
            proxy: Proxy::new(place.address, plan),
            is_away,
        }
    }

    /// Is away from the next connection on; returns how it is reached.
    pub fn set(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::Relaxed);
    }

    pub fn options(&self) -> SenderOptions {
        options(self.proxy.address)
    }
}

pub fn record_all(recorder: &mut Recorder) {
    while recorder.step() {}
    recorder.flush();
}

pub fn arrive(recorder: &mut Recorder) {
    eventually("the spool to be sent", || {
        record_all(recorder);
        recorder.waiting() == 0
    });
}

/// Files in a directory, the oldest first.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

pub fn numbers(events: &[RecordedEvent]) -> Vec<u64> {
    let plain = events.iter().filter(|event| !is_important(event));
    let mut numbers: Vec<_> = plain.map(|event| event.args[0] as u64).collect();
    numbers.sort_unstable();
    numbers
}

/// Each file of a trace begins with the important events, and has each of them once.
pub fn assert_important(trace: &Path, least: usize) {
    for file in files(trace) {
        let archive = Archive::open(&file).unwrap();
        let all: Vec<_> = archive.events().filter(is_important).collect();
        let mut ids: Vec<_> = all.iter().map(|event| event.args[0]).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all.len(), "{}", file.display());
        assert!(all.len() >= least, "{}", file.display());
    }
}

/// The archives in a directory that have something.
pub fn archives(folder: &Path) -> Vec<PathBuf> {
    let mut files = files(folder);
    let is_archive = |file: &Path| file.extension().is_some_and(|end| end == "tla");
    let has_bytes = |file: &Path| file.metadata().is_ok_and(|data| data.len() > 0);
    files.retain(|file| is_archive(file) && has_bytes(file));
    files
}

/// Whether a store has so many plain events.
pub fn has(folder: &Path, logged: i64) -> bool {
    let found = |trace: &PathBuf| {
        Some(numbers(
            &Archive::open(trace).ok()?.events().collect::<Vec<_>>(),
        ))
    };
    let found = traces(folder).iter().find_map(found);
    found.is_some_and(|found| found.len() as i64 >= logged)
}
