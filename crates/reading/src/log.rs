//! A log: a timeline, a snapshot or an archive, opened by its path.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use timeline::internal::layout::MAGIC;
use timeline::internal::looks_like;
use timeline::{Attached, ErrorKind, Event, Source};
use timeline_archive::{Archive, has_archive_name};
use timeline_search::{Query, open_archive};

use crate::error::{Error, Result};
use crate::host_clock::{ClockRelation, LogClock, RING};
use crate::programs::Programs;

/// How much of an archive is read when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// A small part, if it has an index.
    Indexed,
    /// No more of a rotated archive than the newest so many events need; otherwise as `Indexed`.
    Newest(usize),
}

/// A timeline, live or not, a snapshot, or the archive of one or several of them.
///
/// # Example
/// ```
/// use timeline::{Order, Priority, Timeline};
/// use timeline_reading::{Extent, Log, Request};
///
/// let path = format!("/timeline-doc-log-{}", std::process::id());
/// let timeline = Timeline::with_size(&path, 1024, 4096)?;
/// let sent = timeline.define("net", Priority::Info, "sent $bytes")?;
/// timeline.log(sent, [1500]);
///
/// let log = Log::open(path.as_ref(), Extent::Whole)?;
/// let mut stream = log.stream(Request::new(Order::OldestFirst));
/// assert_eq!(stream.by_ref().count(), 1);
/// assert_eq!(stream.outcome()?.missed, 0);
/// # timeline::unlink(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Log {
    path: PathBuf,
    holder: Holder,
    /// How its times compare with those of other logs, once it was aligned with them.
    pub(crate) relation: OnceLock<ClockRelation>,
}

/// What holds the events of a log.
pub enum Holder {
    /// A timeline, or a snapshot.
    Ring(Arc<Attached>),
    /// An archive.
    Archive(Box<Archive>),
}

impl Log {
    /// Opens what a path leads to. A file that does not begin like a timeline is an archive, if any
    /// part of one is in it.
    ///
    /// # Errors
    /// `Neither` if it is something else, `Timeline` or `Archive` if it cannot be read as what it
    /// is. If nothing is there, that is an error of a timeline, as which it may yet come.
    pub fn open(path: &Path, extent: Extent) -> Result<Log> {
        let error = match Attached::open(path) {
            Ok(at) => return Ok(Log::of_ring(path, at)),
            Err(error) => error,
        };
        let open = || match extent {
            Extent::Whole => Archive::open(path),
            Extent::Newest(count) if count < usize::MAX && path.is_dir() => {
                Archive::open_newest(path, count)
            }
            Extent::Indexed | Extent::Newest(_) => open_archive(path),
        };
        if path.is_dir() {
            let archive = open().map_err(Error::Archive)?;
            return Ok(Log::of_archive(path, archive));
        }
        let may_be_archive = [
            ErrorKind::NotATimeline,
            ErrorKind::Corrupt,
            ErrorKind::NotFound,
        ];
        if !may_be_archive.contains(&error.kind()) {
            return Err(Error::Timeline(error));
        }
        match open() {
            Ok(archive) if !begins_with(path, &MAGIC) => Ok(Log::of_archive(path, archive)),
            Err(timeline_archive::Error::NotAnArchive { found, .. })
                if !found.starts_with(&MAGIC) =>
            {
                Err(Error::Neither {
                    path: path.into(),
                    found: looks_like(&found),
                })
            }
            _ => Err(Error::Timeline(error)),
        }
    }

    /// A timeline that was opened by this path.
    pub fn of_ring(path: &Path, at: impl Into<Arc<Attached>>) -> Log {
        Log {
            path: path.into(),
            holder: Holder::Ring(at.into()),
            relation: OnceLock::new(),
        }
    }

    /// An archive that was opened by this path.
    pub fn of_archive(path: &Path, archive: Archive) -> Log {
        Log {
            path: path.into(),
            holder: Holder::Archive(archive.into()),
            relation: OnceLock::new(),
        }
    }

    /// The same log to be read several times: of a timeline that programs log to a snapshot, which
    /// nobody else sees.
    ///
    /// # Errors
    /// `Directory` or `Timeline` if that cannot be made.
    pub fn still(self) -> Result<Log> {
        let Some(at) = self.live() else {
            return Ok(self);
        };
        let folder = tempfile::tempdir().map_err(Error::Directory)?;
        let file = folder.path().join("still.timeline");
        at.save(&file).map_err(Error::Timeline)?;
        let still = Attached::open(&file).map_err(Error::Timeline)?;
        Ok(Log::of_ring(&self.path, still))
    }

    /// Looks for the texts and names that an archive lacks in the executables that it names and in
    /// these; see [`Archive::recover`].
    #[must_use]
    pub fn recovered(mut self, executables: &[PathBuf]) -> Log {
        if let Holder::Archive(archive) = &mut self.holder {
            archive.recover(executables);
        }
        self
    }

    /// The same log, which people know by another path.
    #[must_use]
    pub fn shown_as(mut self, path: &Path) -> Log {
        self.path = path.into();
        self
    }

    /// The path that was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What holds its events.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// What holds its events, taken out.
    pub fn into_holder(self) -> Holder {
        self.holder
    }

    /// What its events mean.
    pub fn source(&self) -> &dyn Source {
        match &self.holder {
            Holder::Ring(at) => &**at,
            Holder::Archive(archive) => &**archive,
        }
    }

    /// The timeline or snapshot, if it is one.
    pub fn ring(&self) -> Option<&Attached> {
        match &self.holder {
            Holder::Ring(at) => Some(at),
            Holder::Archive(_) => None,
        }
    }

    /// The timeline, if programs can log to it.
    pub fn live(&self) -> Option<&Arc<Attached>> {
        match &self.holder {
            Holder::Ring(at) if !at.is_snapshot() => Some(at),
            _ => None,
        }
    }

    /// The archive, if it is one.
    pub fn archive(&self) -> Option<&Archive> {
        match &self.holder {
            Holder::Ring(_) => None,
            Holder::Archive(archive) => Some(archive),
        }
    }

    /// The programs of an archive.
    pub fn programs(&self) -> Option<Programs<'_>> {
        self.archive().map(Programs::of)
    }

    /// Whether programs log to it, or a recorder writes to it.
    pub fn can_grow(&self) -> bool {
        match &self.holder {
            Holder::Ring(_) => self.live().is_some(),
            Holder::Archive(archive) => archive.is_recorded(),
        }
    }
}

impl Log {
    /// Gives an event the time of the reference, if the log was aligned with others. Returns by how
    /// many nanoseconds that may be wrong in either direction; `None` if nobody knows.
    pub fn correct(&self, event: &mut Event) -> Option<u64> {
        match self.relation.get() {
            None => Some(0),
            Some(ClockRelation::Same) => Some(RING),
            Some(ClockRelation::Compared(clock)) => clock.correct(event),
            Some(ClockRelation::Unknown) => None,
        }
    }

    /// What was last added to the times of its machine for those of the reference, and by how much
    /// that may be wrong, in nanoseconds. `None` if it was not aligned with others, or nobody
    /// knows.
    pub fn clock_offset(&self) -> Option<(i64, u64)> {
        self.host_clock()?.last()
    }

    /// By how many nanoseconds its clock or that of the reference was set between two comparisons,
    /// if the ring does not know of it.
    pub fn clock_jump(&self) -> Option<u64> {
        self.host_clock()?.jump()
    }

    /// A query of which the times are those of the reference, for events as the log has them.
    /// `None` if it is the same.
    pub fn own_query<'a>(&'a self, query: &'a Query) -> Option<&'a Query> {
        let is_timed = query.since.is_some() || query.until.is_some();
        let clock = self.host_clock().filter(|_| is_timed);
        clock.map(|clock| clock.locally(query))
    }

    /// The clock of its machine, if it was aligned with others and compared with the reference.
    pub(crate) fn host_clock(&self) -> Option<&LogClock> {
        match self.relation.get() {
            Some(ClockRelation::Compared(clock)) => Some(clock),
            _ => None,
        }
    }
}

/// Whether a path leads to a file that begins like an archive, or to a directory with archives.
pub fn begins_like_archive(path: &Path) -> bool {
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths = entries.flatten().map(|entry| entry.path());
        return paths.any(|path| has_archive_name(&path));
    }
    begins_with(path, &timeline_archive::MAGIC)
}

/// Whether it is a file that begins with `expected`. A pipe is not opened, because that would wait
/// for a writer.
fn begins_with(path: &Path, expected: &[u8]) -> bool {
    let mut beginning = vec![0; expected.len()];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut beginning).is_ok())
        && beginning == expected
}
