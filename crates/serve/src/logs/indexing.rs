//! Makes the index of a log, and says how far it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use timeline_search::Index;

use super::version::Version;

/// Bytes of an archive that are read as fast as an index is.
pub const WORTHWHILE: u64 = 64 << 10;
/// The same while it grows, so that it is not indexed in many small steps.
const WORTHWHILE_GROWING: u64 = 1 << 20;
/// Bytes that take so long to read that a request is refused until they are indexed.
const LONG: u64 = 8 << 20;

/// How far an index is made, in bytes of the archive.
#[derive(Default)]
pub struct Indexing {
    /// 0 while nothing is indexed.
    total: AtomicU64,
    done: AtomicU64,
    /// Whether requests have to wait for it.
    waits: AtomicU64,
    /// Why it could not be made. The log is read without it.
    failed: Mutex<Option<String>>,
}

impl Indexing {
    /// Why it could not be made.
    pub fn failure(&self) -> Option<String> {
        let failed = self.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The share that is done, of an index that is being made.
    pub fn share(&self) -> Option<f64> {
        // Relaxed: a share that is read too early or too late is still true of some moment.
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        (total > 0).then(|| done as f64 / total as f64)
    }

    /// Whether requests have to wait for it.
    pub fn is_needed(&self) -> bool {
        // Relaxed: as in `share`.
        self.waits.load(Ordering::Relaxed) > 0
    }
}

/// Says at its end, also after a panic, that nobody makes the index any more.
struct Ended<'i>(&'i Indexing);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        // Relaxed: see Indexing::share.
        self.0.waits.store(0, Ordering::Relaxed);
        self.0.total.store(0, Ordering::Relaxed);
    }
}

/// Indexes what is missing, in a thread of its own.
pub fn index(indexing: &Arc<Indexing>, version: &Arc<Version>, missing: u64) {
    let worthwhile = match version.growing {
        true => WORTHWHILE_GROWING,
        false => WORTHWHILE,
    };
    let is_busy = indexing.share().is_some();
    if is_busy || (missing <= worthwhile && !lacks_outlines(version)) {
        return;
    }
    let total = version.archive().bytes().len().max(1) as u64;
    // Relaxed, here and below: see Indexing::share.
    indexing.done.store(0, Ordering::Relaxed);
    indexing.total.store(total, Ordering::Relaxed);
    let waits = u64::from(missing > LONG);
    indexing.waits.store(waits, Ordering::Relaxed);
    let (version, theirs) = (Arc::clone(version), Arc::clone(indexing));
    let work = move || {
        let ended = Ended(&theirs);
        let mut index = Index::open(version.archive());
        let done = &theirs.done;
        let result = index.update(|bytes| done.store(bytes, Ordering::Relaxed));
        let failed = result.err().map(|(index, error)| {
            let index = version.shown(&index.display().to_string());
            format!("cannot write {index}: {error}")
        });
        *theirs.failed.lock().unwrap_or_else(PoisonError::into_inner) = failed;
        drop(ended);
    };
    let started = thread::Builder::new().name("index".into()).spawn(work);
    if started.is_err() {
        drop(Ended(indexing));
    }
}

/// How many bytes can be indexed and are not.
pub fn missing(version: &Version) -> u64 {
    version.index().coverage().missing
}

fn lacks_outlines(version: &Version) -> bool {
    let index = version.index();
    index.coverage().bytes > WORTHWHILE && index.lacks_outlines() && !version.growing
}
