//! The life of a timeline: creating, joining, keeping the former one, removing.
//!
//! After each wait for a lock, the name is looked up again, because the file may have been renamed
//! meanwhile. A name is given to another file, or taken away, only as file_lock.rs says.
//!
//! create.rs creates in the requested size or as large as fits at each start (sizes.rs), in a file
//! beside the name (staging.rs); former.rs names the kept timelines.

mod create;
mod file_lock;
mod former;
mod sizes;
mod staging;

pub use create::create;
pub use file_lock::FileLock;
pub use former::{attach_kept, is_former, name_before};
pub use sizes::Plan;
pub use staging::{is_being_created, is_staging};

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::access::Owner;
use crate::clock;
use crate::error::{Error, Result};
use crate::layout;
use crate::ring::roster;
use crate::segment::{TimelineMapping, Use};
use crate::shm::{self, Lock, LockFile, Name, Opening, Patience, Trust};

/// How often a name is looked up that leads to another file each time. Only an attacker replaces it
/// more often.
const LOOKS: u32 = 1000;

/// The first eight bytes; zeros if the file is shorter.
fn magic(path: &Path, file: &File) -> Result<[u8; 8]> {
    let mut magic = [0; 8];
    file.read_at(&mut magic, 0)
        .map_err(|e| Error::io("read", path, e))?;
    Ok(magic)
}

/// The owner of a file. An error if a writer may not use files of that owner.
fn trusted(path: &Path, file: &File, trust: &Trust) -> Result<Owner> {
    let owner = shm::owner(file).map_err(|e| Error::io("examine", path, e))?;
    match trust.includes(file, &owner) {
        true => Ok(owner),
        false => Err(Error::NotTrusted {
            path: path.to_path_buf(),
            owner,
        }),
    }
}

/// An error if the calling thread may not read its clocks.
pub fn check_clock(path: &Path) -> Result<()> {
    match clock::is_forbidden() {
        false => Ok(()),
        true => {
            let why = "the kernel forbids rdtsc, and with it every clock, in this thread \
                       (PR_SET_TSC): allow it (PR_TSC_ENABLE) until the thread has finished here";
            Err(Error::io("read the clock for", path, io::Error::other(why)))
        }
    }
}

/// Opens the file at a name and locks it. The owner is checked before the wait for the lock.
fn locked_at(
    name: &Name,
    trust: &Trust,
    patience: fn() -> Patience,
    open: impl Fn() -> Result<Option<File>>,
) -> Result<Option<LockFile>> {
    let path = name.given();
    for _ in 0..LOOKS {
        let Some(file) = open()? else {
            return Ok(None);
        };
        let owner = trusted(path, &file, trust)?;
        let lock = LockFile::acquire(Opening::own(file), Lock::Lifecycle, patience())
            .map_err(|e| Error::lock(path, &owner, e))?;
        if shm::is_at(lock.file(), name.file()) {
            return Ok(Some(lock));
        }
    }
    let why = "another process replaces it again and again";
    Err(Error::io("lock", path, io::Error::other(why)))
}

/// Maps the timeline at `name` for writing, and returns it with its lifecycle lock held.
pub fn join(name: &Name, purpose: Use, trust: &Trust) -> Result<(TimelineMapping, LockFile)> {
    join_within(name, purpose, trust, || Patience::SECONDS)
}

/// Like [`join`], but waits only so long for the lock.
pub fn join_within(
    name: &Name,
    purpose: Use,
    trust: &Trust,
    patience: fn() -> Patience,
) -> Result<(TimelineMapping, LockFile)> {
    let path = name.given();
    check_clock(path)?;
    let open = || open_existing(name, true).map(Some);
    let lock = locked_at(name, trust, patience, open)?;
    let Some(lock) = lock else {
        return Err(Error::NotFound { path: path.into() });
    };
    let segment = TimelineMapping::load(name, lock.file(), purpose)?;
    match segment.this_boot {
        Some(true) => Ok((segment, lock)),
        Some(false) => Err(Error::OtherBoot { path: path.into() }),
        None => Err(Error::UnknownBoot { path: path.into() }),
    }
}

/// Like [`join`], for logging; `None` if the timeline has no writers any more.
pub fn join_living(name: &Name, trust: &Trust) -> Result<Option<(TimelineMapping, LockFile)>> {
    let (segment, lock) = join(name, Use::Log, trust)?;
    // The lifecycle lock keeps others from joining. So it gets no writers from here on, either.
    let users = roster::users(&segment.map, &segment.geometry, lock.file());
    let lives = !users.is_empty() || shm::slots_locked(lock.file());
    Ok(lives.then_some((segment, lock)))
}

/// Maps the timeline or snapshot at `name` for reading.
pub fn attach(name: &Name) -> Result<(TimelineMapping, File)> {
    let file = open_existing(name, false)?;
    let segment = TimelineMapping::load(name, &file, Use::Read)?;
    if !segment.facts.snapshot {
        check_clock(name.given())?;
    }
    Ok((segment, file))
}

fn open_existing(name: &Name, write: bool) -> Result<File> {
    shm::open(name.file(), write).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::NotFound {
            path: name.given().to_path_buf(),
        },
        _ => Error::io(if write { "write to" } else { "open" }, name.given(), e),
    })
}

/// Removes the name. Processes that have the timeline open go on with it, but no other can find it.
/// What killed programs of this user left beside it while they created it is removed as well. See
/// [`remove`] for those that nobody writes to.
///
/// # Errors
/// `NotFound` if there is no file; `NotATimeline` if it is another kind of file, which is not
/// removed; `InCreation` if it is what a living program is creating, `NAME.creating-…`.
pub fn unlink(path: impl AsRef<Path>) -> Result<()> {
    let name = Name::new(path.as_ref())?;
    staging::clear(&name);
    if staging::remove(&name)? {
        return Ok(());
    }
    // Without its lock if somebody keeps that: to remove a timeline is the remedy against this.
    let held = match FileLock::at(&name, "remove", || Patience::MOMENT) {
        Err(Error::Locked { .. }) => {
            open_existing(&name, false).map(|file| Some(FileLock::Open(file)))
        }
        other => other,
    };
    take_away(&name, held?)
}

/// Removes the name of a timeline that nobody writes to, or of a snapshot, and what [`unlink`]
/// removes beside it.
///
/// # Errors
/// `InUse` if a process writes to it; `Locked`; those of [`unlink`], and of a file that is damaged
/// or of another version, whose writers may not be found.
///
/// # Example
/// ```
/// use timeline::{ErrorKind, Timeline};
/// # let path = format!("/timeline-doc-remove-{}", std::process::id());
/// # let path = path.as_str();
/// let timeline = Timeline::new(path)?; // "/timeline", say
/// let error = timeline::remove(path).expect_err("it has a writer");
/// assert_eq!(error.kind(), ErrorKind::InUse);
/// drop(timeline);
/// timeline::remove(path)?;
/// # Ok::<(), timeline::Error>(())
/// ```
pub fn remove(path: impl AsRef<Path>) -> Result<()> {
    let name = Name::new(path.as_ref())?;
    staging::clear(&name);
    if staging::remove(&name)? {
        return Ok(());
    }
    let held = FileLock::at(&name, "remove", || Patience::SECONDS)?;
    if let Some(held) = &held {
        TimelineMapping::load(&name, held.file(), Use::Read)?;
    }
    take_away(&name, held.map(|held| held.unused(&name)).transpose()?)
}

/// Removes the name of a file that is held, if it is a timeline.
fn take_away(name: &Name, held: Option<FileLock>) -> Result<()> {
    let path = name.given();
    let held = held.ok_or_else(|| Error::NotFound { path: path.into() })?;
    let found = magic(path, held.file())?;
    let left_over = found == [0; 8] && is_staging(name.file()) && !is_being_created(name);
    if found != layout::MAGIC && !left_over {
        return Err(Error::NotATimeline {
            path: path.into(),
            found,
        });
    }
    std::fs::remove_file(name.file()).map_err(|e| Error::io("remove", path, e))
}

/// Gives the name to a whole file that stands beside it. An error if living processes write to a
/// timeline of that name: it must not be replaced under them.
pub fn replace(name: &Name, with: &Path) -> Result<()> {
    let fail = |e| Error::io("rename", name.given(), e);
    for _ in 0..LOOKS {
        let Some(held) = FileLock::at(name, "replace", || Patience::SECONDS)? else {
            match shm::rename_new(with, name.file()) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                other => return other.map_err(fail),
            }
        };
        let _held = held.unused(name)?;
        return std::fs::rename(with, name.file()).map_err(fail);
    }
    let why = "other processes take that name again and again";
    Err(fail(io::Error::other(why)))
}

/// Removes a file of any kind, unless it is a timeline with a writer.
pub fn remove_file(name: &Name) -> Result<()> {
    let fail = |e| Error::io("remove", name.given(), e);
    let held = FileLock::at(name, "remove", || Patience::SECONDS)?;
    let _held = held.map(|held| held.unused(name)).transpose()?;
    std::fs::remove_file(name.file()).map_err(fail)
}

/// An error if living processes write to a timeline at `name`.
pub fn refuse_living(name: &Name) -> Result<()> {
    let held = FileLock::at(name, "replace", || Patience::SECONDS)?;
    held.map(|held| held.unused(name)).transpose().map(drop)
}

/// The processes that write to the timeline at `path` now.
///
/// # Errors
/// Those of attaching.
pub fn users(path: impl AsRef<Path>) -> Result<Vec<roster::WriterProcess>> {
    let name = Name::new(path.as_ref())?;
    let (segment, file) = attach(&name)?;
    let live = !segment.facts.snapshot;
    let mut writers = roster::writers(&segment.map, &segment.geometry, live, Some(&file));
    writers.retain(|w| w.alive);
    Ok(writers)
}
