//! A log that is read: opened when somebody asks for it, and again when its files change.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use timeline_archive::{Archive, Watched};
use timeline_search::{Index, open_archive};

use super::found::{Found, Kind, Stamp};
use super::recording::{Recording, temporary};
use super::version::Version;
use crate::error::{Error, Result};

/// How long a log stays open that nobody reads.
const IDLE: Duration = Duration::from_secs(30);
/// How long a log counts as unchanged after somebody looked.
const FRESH: Duration = Duration::from_millis(10);
/// How often a recorder is told that somebody follows its archive.
const RENEW: Duration = Duration::from_secs(5);
/// Bytes of an archive that are read as fast as an index is.
const WORTHWHILE: u64 = 64 << 10;
/// The same while it grows, so that it is not indexed in many small steps.
const WORTHWHILE_GROWING: u64 = 1 << 20;
/// Bytes that take so long to read that a request is refused until they are indexed.
const LONG: u64 = 8 << 20;

/// A log.
pub struct Log {
    /// What it is.
    pub found: Found,
    state: Mutex<State>,
    used: Mutex<Instant>,
    indexing: Arc<Indexing>,
    /// What tells the recorder of the archive that somebody follows it, and when it was told last.
    watched: Mutex<Option<(Watched, Instant)>>,
}

impl Drop for Log {
    fn drop(&mut self) {
        let watched = self
            .watched
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((watched, _)) = watched {
            watched.end();
        }
    }
}

#[derive(Default)]
struct State {
    /// The archive that is made of a ring.
    recording: Option<Recording>,
    /// A directory with a link to an archive, beside which no index can be written.
    beside: Option<TempDir>,
    opened: Option<Opened>,
}

struct Opened {
    stamps: Vec<(PathBuf, Stamp)>,
    version: Arc<Version>,
    at: Instant,
    took: Duration,
}

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
    /// The share that is done, of an index that is being made.
    pub fn share(&self) -> Option<f64> {
        // Relaxed: a share that is read too early or too late is still true of some moment.
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        (total > 0).then(|| done as f64 / total as f64)
    }

    fn is_needed(&self) -> bool {
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

impl Log {
    pub fn new(found: Found) -> Log {
        Log {
            found,
            state: Mutex::default(),
            used: Mutex::new(Instant::now()),
            indexing: Arc::default(),
            watched: Mutex::default(),
        }
    }

    /// The log as it is now, for somebody who waits for more: its recorder writes events at once.
    pub fn followed(&self) -> Result<Arc<Version>> {
        let version = self.version()?;
        if self.found.kind == Kind::Archive && version.growing {
            let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
            if watched.as_ref().is_none_or(|(_, at)| at.elapsed() > RENEW) {
                let by = Watched::new(&self.inside()?);
                // Without it, events come up to a second late.
                let _ = by.renew();
                *watched = Some((by, Instant::now()));
            }
        }
        Ok(version)
    }

    /// Whether its file still exists, and is in the directory that is served.
    pub fn is_there(&self) -> bool {
        match self.found.kind {
            Kind::Live => timeline::Attached::open(&self.found.path).is_ok(),
            _ => self.inside().is_ok(),
        }
    }

    /// Whether nobody has read it for a while.
    pub fn is_idle(&self) -> bool {
        self.lock_used().elapsed() > IDLE
    }

    /// Says that somebody reads it.
    pub fn renew(&self) {
        *self.lock_used() = Instant::now();
    }

    /// Why its index could not be made.
    pub fn index_failure(&self) -> Option<String> {
        let failed = self.indexing.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How far its index is made.
    pub fn indexing(&self) -> Option<f64> {
        self.indexing.share()
    }

    /// The log as it is now. An archive that grows is opened as often as that is cheap.
    pub fn version(&self) -> Result<Arc<Version>> {
        self.renew();
        let mut state = self.lock();
        let path = self.path(&mut state)?;
        if let Some(opened) = &state.opened
            && opened.at.elapsed() < FRESH.max(opened.took * 4)
        {
            return Ok(Arc::clone(&opened.version));
        }
        let stamps = stamps(&path);
        if let Some(opened) = &mut state.opened
            && opened.stamps == stamps
            && opened.version.growing == is_growing(&opened.version.archive)
        {
            opened.at = Instant::now();
            opened.took = Duration::ZERO;
            return Ok(Arc::clone(&opened.version));
        }
        self.open(&mut state, &path, stamps)
    }

    /// Like [`Log::version`], but fails while a large part of it is being indexed.
    pub fn ready(&self) -> Result<Arc<Version>> {
        let version = self.version()?;
        match self.indexing.is_needed() {
            true => Err(Error::Indexing {
                share: self.indexing.share().unwrap_or_default(),
            }),
            false => Ok(version),
        }
    }

    /// The file of a snapshot or an archive that is one file.
    pub fn file(&self) -> Result<File> {
        let path = match self.found.kind {
            Kind::Live => return Err(Error::request("a live timeline has no file to copy")),
            _ => self.inside()?,
        };
        if path.is_dir() {
            return Err(Error::request("the archive is a directory of files"));
        }
        let failed = |error| Error::io("open the file", error);
        let mut options = File::options();
        options
            .read(true)
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK);
        let file = options.open(&path).map_err(failed)?;
        // Where it is, is asked of the open file: its name may lead elsewhere meanwhile.
        let real = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(failed)?;
        let is_inside = self
            .found
            .within
            .as_ref()
            .is_none_or(|within| real.starts_with(within));
        let is_file = file.metadata().map_err(failed)?.is_file();
        (is_file && is_inside)
            .then_some(file)
            .ok_or_else(|| self.gone())
    }

    /// Where the archive is.
    fn path(&self, state: &mut State) -> Result<PathBuf> {
        if self.found.kind == Kind::Archive {
            let real = self.inside()?;
            return Ok(match &state.beside {
                Some(folder) => link_in(folder, &real),
                None => real,
            });
        }
        if state.recording.as_ref().is_none_or(Recording::has_failed) {
            state.opened = None;
            state.recording = Some(Recording::begin(&self.found.path)?);
        }
        let recording = state.recording.as_ref().expect("it was begun");
        recording.wait()?;
        Ok(recording.folder().to_path_buf())
    }

    /// The real path, which must be in the served directory.
    fn inside(&self) -> Result<PathBuf> {
        let gone = || self.gone();
        let Some(within) = &self.found.within else {
            let is_there = self.found.path.exists();
            return is_there.then(|| self.found.path.clone()).ok_or_else(gone);
        };
        let real = self.found.path.canonicalize().map_err(|_| gone())?;
        let is_inside = real.starts_with(within) && !(real.is_dir() && has_links(&real));
        is_inside.then_some(real).ok_or_else(gone)
    }

    fn gone(&self) -> Error {
        Error::NoLog {
            id: self.found.id.clone(),
        }
    }

    fn open(
        &self,
        state: &mut State,
        path: &Path,
        stamps: Vec<(PathBuf, Stamp)>,
    ) -> Result<Arc<Version>> {
        let begun = Instant::now();
        let archive = open_archive(path)?;
        let number = match &state.opened {
            Some(opened) if is_appended(opened, &stamps, &archive) => opened.version.number,
            _ => new_number(),
        };
        let growing = is_growing(&archive);
        let version = Arc::new(Version::new(number, archive, growing));
        let missing = missing(&version);
        if missing > WORTHWHILE && state.beside.is_none() && !can_write_beside(path) {
            let folder = temporary("make a directory for an index")?;
            let linked = link_in(&folder, path);
            std::os::unix::fs::symlink(path, &linked)
                .map_err(|error| Error::io("make a link to an archive", error))?;
            state.beside = Some(folder);
            return self.open(state, &linked, stamps);
        }
        state.opened = Some(Opened {
            stamps,
            version: Arc::clone(&version),
            at: begun,
            took: begun.elapsed(),
        });
        self.index(&version, missing);
        Ok(version)
    }

    /// Indexes what is missing, in a thread of its own.
    fn index(&self, version: &Arc<Version>, missing: u64) {
        let worthwhile = match version.growing {
            true => WORTHWHILE_GROWING,
            false => WORTHWHILE,
        };
        let is_busy = self.indexing.share().is_some();
        if is_busy || (missing <= worthwhile && !lacks_outlines(version)) {
            return;
        }
        let indexing = Arc::clone(&self.indexing);
        let total = version.archive.bytes().len().max(1) as u64;
        indexing.done.store(0, Ordering::Relaxed);
        indexing.total.store(total, Ordering::Relaxed);
        let waits = u64::from(missing > LONG);
        indexing.waits.store(waits, Ordering::Relaxed);
        let version = Arc::clone(version);
        let work = move || {
            let ended = Ended(&indexing);
            let mut index = Index::open(&version.archive);
            let done = &indexing.done;
            let result = index.update(|bytes| done.store(bytes, Ordering::Relaxed));
            let failed = result
                .err()
                .map(|(index, error)| format!("cannot write {}: {error}", index.display()));
            *indexing
                .failed
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = failed;
            drop(ended);
        };
        if thread::Builder::new()
            .name("index".into())
            .spawn(work)
            .is_err()
        {
            drop(Ended(&self.indexing));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_growing(archive: &Archive) -> bool {
    archive.is_recorded()
}

fn missing(version: &Version) -> u64 {
    Index::open(&version.archive).coverage().missing
}

fn lacks_outlines(version: &Version) -> bool {
    let index = Index::open(&version.archive);
    index.coverage().bytes > WORTHWHILE && index.lacks_outlines() && !version.growing
}

/// Whether an index can be written beside an archive. That of a directory lies in it.
fn can_write_beside(path: &Path) -> bool {
    let folder = match path.is_dir() {
        true => Some(path),
        false => path.parent(),
    };
    folder.is_some_and(|folder| nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK).is_ok())
}

fn link_in(folder: &TempDir, path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or("archive.tla".as_ref());
    folder.path().join(name)
}

/// The files of an archive as they are now.
fn stamps(path: &Path) -> Vec<(PathBuf, Stamp)> {
    let stamp = |path: PathBuf| {
        let stamp = Stamp::of(&fs::metadata(&path).ok()?);
        Some((path, stamp))
    };
    if !path.is_dir() {
        return stamp(path.to_path_buf()).into_iter().collect();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let archives = files.filter(|path| path.extension().is_some_and(|kind| kind == "tla"));
    let mut stamps: Vec<_> = archives.filter_map(stamp).collect();
    stamps.sort_by(|(left, _), (right, _)| left.cmp(right));
    stamps
}

/// Whether any archive in a directory is a link: it would lead out of it.
fn has_links(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut archives = entries.filter(|entry| entry.path().extension() == Some("tla".as_ref()));
    archives.any(|entry| !entry.file_type().is_ok_and(|kind| kind.is_file()))
}

/// A number that no version had before: microseconds since 1970, which browsers do not round.
fn new_number() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since.as_micros() as u64
}

/// Whether files were only appended to, and new ones added at the end.
fn is_appended(opened: &Opened, now: &[(PathBuf, Stamp)], archive: &Archive) -> bool {
    let before = &opened.stamps;
    // The digest of a unit is that of all of its file up to it. The last one may still grow.
    let mut units = opened.version.archive.units();
    let count = units.len();
    let last = units.nth(count.saturating_sub(2)).filter(|_| count > 1);
    let is_same = last.is_none_or(|last| {
        let now = archive.units().nth(last.number);
        now.is_some_and(|now| (now.digest, now.place.start) == (last.digest, last.place.start))
    });
    is_same
        && before.len() <= now.len()
        && before
            .iter()
            .zip(now)
            .all(|((old_path, old), (path, stamp))| old_path == path && stamp.is_behind(old))
}
