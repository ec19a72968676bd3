//! A log that is read: opened when somebody asks for it, and again when its files change.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tempfile::TempDir;
use timeline::internal::files::folder_of;
use timeline_archive::{Archive, WatchMark};

use super::containment::{has_links, is_same, open_in, path_of};
use super::discovery::{LogKind, LogSource};
use super::indexing::{Indexing, WORTHWHILE, index, missing};
use super::place::{ArchivePlace, Stamps, shown};
use super::recording::{Recording, Trouble};
use super::scratch::Scratch;
use super::version::{Version, VersionOrigin};
use crate::error::{Error, Result};

/// How long a log stays open that nobody reads.
const IDLE: Duration = Duration::from_secs(30);
/// How long a log counts as unchanged after somebody looked.
const FRESH: Duration = Duration::from_millis(10);
/// How often a recorder is told that somebody reads its archive: as often as it looks.
const RENEW: Duration = Duration::from_millis(200);

/// What tells a recorder that somebody reads its archive: when it did so last, and what its path
/// leads through.
struct Telling {
    by: WatchMark,
    at: Instant,
    _folder: Option<Arc<File>>,
}

/// A log.
pub struct LogHandle {
    /// What it is.
    pub found: LogSource,
    scratch: Arc<Scratch>,
    /// Where damaged archives find texts and names again.
    executables: Arc<[PathBuf]>,
    state: Mutex<State>,
    used: Mutex<Instant>,
    indexing: Arc<Indexing>,
    watched: Mutex<Option<Telling>>,
}

impl Drop for LogHandle {
    fn drop(&mut self) {
        let watched = self
            .watched
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(telling) = watched {
            telling.by.end();
        }
    }
}

#[derive(Default)]
struct State {
    /// The archive that is made of a ring.
    recording: Option<Recording>,
    /// A directory with a link to an archive, beside which no index can be written.
    beside: Option<TempDir>,
    /// The directory of the archive, below a served one.
    folder: Option<Arc<File>>,
    opened: Option<Opened>,
}

struct Opened {
    stamps: Stamps,
    version: Arc<Version>,
    at: Instant,
    took: Duration,
}

impl State {
    /// The directory of the archive, opened anew: paths through the one that is kept stay, if it is
    /// the same.
    fn keep(&mut self, folder: File) -> Arc<File> {
        if let Some(kept) = &self.folder
            && is_same(kept, &folder)
        {
            return Arc::clone(kept);
        }
        self.beside = None;
        Arc::clone(self.folder.insert(Arc::new(folder)))
    }
}

impl LogHandle {
    pub fn new(found: LogSource, scratch: Arc<Scratch>, executables: Arc<[PathBuf]>) -> LogHandle {
        LogHandle {
            found,
            scratch,
            executables,
            state: Mutex::default(),
            used: Mutex::new(Instant::now()),
            indexing: Arc::default(),
            watched: Mutex::default(),
        }
    }

    /// Tells the recorder of an archive that somebody reads it, who may ask for its tail next: from
    /// now on it writes events at once.
    fn tell(&self, path: &Path, folder: Option<Arc<File>>) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched
            .as_ref()
            .is_none_or(|told| told.at.elapsed() > RENEW)
        {
            let by = WatchMark::new(path);
            // Without it, events come up to a second late.
            let _ = by.renew();
            *watched = Some(Telling {
                by,
                at: Instant::now(),
                _folder: folder,
            });
        }
    }

    /// Whether it still exists, and no link leads there from the served directory.
    pub fn is_there(&self) -> bool {
        match (self.found.opened(), self.found.kind) {
            (Ok(Some(file)), LogKind::Archive) => !has_links(&file),
            (Ok(Some(_)), _) => true,
            (Ok(None), LogKind::Live) => timeline::Attached::open(&self.found.path).is_ok(),
            (Ok(None), _) => self.found.path.exists(),
            (Err(_), _) => false,
        }
    }

    /// Why nothing is added to it at present, if it is a live timeline.
    pub fn trouble(&self) -> Option<Trouble> {
        self.lock().recording.as_ref().and_then(Recording::trouble)
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
        self.indexing.failure()
    }

    /// How far its index is made.
    pub fn indexing(&self) -> Option<f64> {
        self.indexing.share()
    }

    /// The log as it is now. An archive that grows is opened as often as that is cheap, and its
    /// recorder is told that somebody reads it.
    pub fn version(&self) -> Result<Arc<Version>> {
        self.renew();
        let mut state = self.lock();
        let place = self.place(&mut state)?;
        let (path, folder) = (place.path.clone(), place.folder());
        let version = self.current(&mut state, place)?;
        drop(state);
        if self.found.kind == LogKind::Archive && version.growing {
            self.tell(&path, folder);
        }
        Ok(version)
    }

    fn current(&self, state: &mut State, place: ArchivePlace) -> Result<Arc<Version>> {
        if let Some(opened) = &state.opened
            && opened.at.elapsed() < FRESH.max(opened.took * 4)
        {
            return Ok(Arc::clone(&opened.version));
        }
        let stamps = place.stamps();
        if let Some(opened) = &mut state.opened
            && opened.stamps == stamps
            && opened.version.growing == is_growing(opened.version.archive())
        {
            opened.at = Instant::now();
            opened.took = Duration::ZERO;
            return Ok(Arc::clone(&opened.version));
        }
        self.open(state, place, stamps)
    }

    /// Like [`LogHandle::version`], but fails while a large part of it is being indexed.
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
        if self.found.kind == LogKind::Live {
            return Err(Error::request("a live timeline has no file to copy"));
        }
        let failed = |error| Error::io("open the file", error);
        let file = match self.found.opened()? {
            Some(file) => file,
            None => {
                let mut options = File::options();
                let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
                let opened = options
                    .read(true)
                    .custom_flags(flags)
                    .open(&self.found.path);
                opened.map_err(failed)?
            }
        };
        match file.metadata().map_err(failed)? {
            found if found.is_dir() => Err(Error::request("the archive is a directory of files")),
            found if found.is_file() => Ok(file),
            _ => Err(self.found.gone()),
        }
    }

    /// Where the archive is.
    fn place(&self, state: &mut State) -> Result<ArchivePlace> {
        if self.found.kind != LogKind::Archive {
            if state.recording.as_ref().is_none_or(Recording::has_failed) {
                (state.opened, state.recording) = (None, None);
                state.recording = Some(Recording::begin(&self.found, &self.scratch)?);
            }
            let recording = state.recording.as_ref().expect("it was begun");
            recording.wait()?;
            return Ok(ArchivePlace::at(recording.folder().to_path_buf()));
        }
        let gone = || self.found.gone();
        let place = match self.found.opened()? {
            None => {
                let is_there = self.found.path.exists();
                is_there
                    .then(|| ArchivePlace::at(self.found.path.clone()))
                    .ok_or_else(gone)?
            }
            Some(folder) if folder.metadata().is_ok_and(|found| found.is_dir()) => {
                if has_links(&folder) {
                    return Err(gone());
                }
                let folder = state.keep(folder);
                ArchivePlace {
                    path: path_of(&folder),
                    below: Some((folder, None)),
                }
            }
            Some(_) => {
                let name = self.found.path.file_name().ok_or_else(gone)?;
                let folder = state.keep(self.found.folder()?);
                // In the directory that is kept, whatever has its name meanwhile.
                let file = open_in(&folder, name).map_err(|_| gone())?;
                ArchivePlace {
                    path: path_of(&folder).join(name),
                    below: Some((folder, Some(file))),
                }
            }
        };
        Ok(match &state.beside {
            Some(folder) => ArchivePlace {
                path: link_in(folder, &self.found.path),
                ..place
            },
            None => place,
        })
    }

    fn open(&self, state: &mut State, place: ArchivePlace, stamps: Stamps) -> Result<Arc<Version>> {
        let begun = Instant::now();
        let archive = place
            .archive(&self.executables)
            .map_err(|error| self.told(error))?;
        let number = match &state.opened {
            Some(opened) if is_appended(opened, &stamps, &archive) => opened.version.number,
            _ => new_number(),
        };
        let growing = is_growing(&archive);
        let before = state.opened.as_ref().map(|opened| &*opened.version);
        let origin = VersionOrigin {
            path: self.found.path.clone(),
            _folder: place.folder(),
        };
        let version = Arc::new(Version::new(number, archive, growing, origin, before));
        let missing = missing(&version);
        let path = &place.path;
        if missing > WORTHWHILE && state.beside.is_none() && !can_write_beside(path) {
            let folder = self.scratch.folder("make a directory for an index")?;
            let linked = link_in(&folder, &self.found.path);
            // A link in another directory leads nowhere if its target is relative.
            let target = std::path::absolute(path);
            target
                .and_then(|target| std::os::unix::fs::symlink(target, &linked))
                .map_err(|error| Error::io("make a link to an archive", error))?;
            state.beside = Some(folder);
            let place = ArchivePlace {
                path: linked,
                ..place
            };
            return self.open(state, place, stamps);
        }
        state.opened = Some(Opened {
            stamps,
            version: Arc::clone(&version),
            at: begun,
            took: begun.elapsed(),
        });
        index(&self.indexing, &version, missing);
        Ok(version)
    }

    /// An error that names the log, and not where this process reads it.
    fn told(&self, error: timeline_archive::Error) -> Error {
        match error {
            timeline_archive::Error::NoArchive { .. } => self.found.gone(),
            other => Error::Unreadable {
                reason: shown(&other.to_string(), &self.found.path),
            },
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

/// Whether an index can be written beside an archive. That of a directory lies in it.
fn can_write_beside(path: &Path) -> bool {
    let folder = match path.is_dir() {
        true => path,
        false => folder_of(path),
    };
    nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK).is_ok()
}

fn link_in(folder: &TempDir, path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or("archive.tla".as_ref());
    folder.path().join(name)
}

/// A number that no version had before: microseconds since 1970, which browsers do not round.
fn new_number() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since.as_micros() as u64
}

/// Whether files were only appended to, and new ones added at the end.
fn is_appended(opened: &Opened, now: &Stamps, archive: &Archive) -> bool {
    let before = &opened.stamps;
    // The digest of a unit is that of all of its file up to it. The last one may still grow.
    let mut units = opened.version.archive().units();
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
            .all(|((old_name, old), (name, stamp))| old_name == name && stamp.is_behind(old))
}
