//! From nothing to a timeline, to its corpse: creating, joining, keeping the evidence, removing.
//!
//! A new timeline is built whole under `NAME.creating` and renamed into place, so NAME never leads to half of
//! one, and a failure (no space) leaves everything as it was. Whoever holds the lifecycle lock of the
//! file at NAME.creating is the one creator; after each wait for a lock, the name is looked at again, because
//! the file it led to may have been renamed meanwhile.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::clock::ClockKind;
use crate::error::{Error, Result};
use crate::layout;
use crate::layout::Geometry;
use crate::ring::{lanes, processes};
use crate::segment::{self, Segment, Use};
use crate::shm::{self, Lock, LockFile, Name, Opening};

/// Suffix of a timeline that is just being created.
const STAGING: &str = ".creating";

/// Whether a name is that of a timeline which is just being created.
pub fn is_staging(name: &Path) -> bool {
    name.as_os_str()
        .as_encoded_bytes()
        .ends_with(STAGING.as_bytes())
}

/// Whether somebody is creating a timeline at that staging name just now; else its creator died.
pub fn is_being_created(name: &Name) -> bool {
    shm::open(name.file(), false).is_ok_and(|file| Lock::Lifecycle.is_held_elsewhere(&file))
}

/// Creates the timeline at `name`. What stood there and has no living writer is kept as `NAME.prev`.
///
/// Returns with the lifecycle lock of the new timeline held, for the creator to join it undisturbed.
pub fn create(name: &Name, entries: u64, strings: u64) -> Result<(Segment, LockFile)> {
    if !entries.is_power_of_two() || !(layout::MIN_ENTRIES..=layout::MAX_ENTRIES).contains(&entries)
    {
        return Err(Error::BadSize {
            what: "the number of entries",
            expected: "a power of two from 256 to 2^30",
            found: entries,
        });
    }
    if !(layout::MIN_STRING_TABLE..=layout::MAX_STRING_TABLE).contains(&strings) {
        return Err(Error::BadSize {
            what: "the size of the string table",
            expected: "1024 to 2^31 bytes",
            found: strings,
        });
    }
    let staging = name.sibling(STAGING);
    let creator = claim_staging(name, &staging)?;
    let result = build_and_place(name, &staging, &creator, entries, strings);
    match result {
        Ok(segment) => Ok((segment, creator)),
        Err(error) => {
            // Ours alone, and of no use to anyone.
            let _ = std::fs::remove_file(&staging);
            Err(error)
        }
    }
}

/// The file at NAME.creating with its lifecycle lock: from here on, nobody else creates NAME.
fn claim_staging(name: &Name, staging: &Path) -> Result<LockFile> {
    let fail = |doing, e| Error::io(doing, name.given(), e);
    loop {
        let file = match shm::open(staging, true) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => match shm::create(staging) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(|e| fail("create", e))?,
            },
            other => other.map_err(|e| fail("create", e))?,
        };
        let lock =
            LockFile::acquire(Opening::own(file), Lock::Lifecycle).map_err(|e| fail("lock", e))?;
        if !shm::is_at(lock.file(), staging) {
            continue;
        }
        // What a killed creator left starts with zeros, or is whole and nobody's; all else is not ours.
        if magic(name, lock.file())? != [0; 8] {
            nobodys(name, &lock)?;
        }
        return Ok(lock);
    }
}

/// The first eight bytes, zeros where the file is shorter.
fn magic(name: &Name, file: &File) -> Result<[u8; 8]> {
    let mut magic = [0; 8];
    file.read_at(&mut magic, 0)
        .map_err(|e| Error::io("read", name.given(), e))?;
    Ok(magic)
}

/// An error unless the file is a timeline without living writers. The caller holds its lifecycle lock.
///
/// A file that is no timeline is nobody's corpse: it is not ours to move.
fn nobodys(name: &Name, lock: &LockFile) -> Result<()> {
    let found = magic(name, lock.file())?;
    if found != layout::MAGIC {
        return Err(Error::NotATimeline {
            path: name.given().to_path_buf(),
            found,
        });
    }
    let by = living(name, lock.file());
    if !by.is_empty() || shm::slots_locked(lock.file()) {
        return Err(Error::InUse {
            path: name.given().to_path_buf(),
            by,
        });
    }
    Ok(())
}

fn build_and_place(
    name: &Name,
    staging: &Path,
    creator: &LockFile,
    entries: u64,
    strings: u64,
) -> Result<Segment> {
    // Held until the old timeline has its new name, so that nobody joins it in between.
    let old = lock_corpse(name)?;
    let segment = build(name, creator.file(), entries, strings)?;
    let fail = |e| Error::io("rename", name.given(), e);
    if old.is_some() {
        let prev = name.sibling(".prev");
        if let Ok(file) = shm::open(&prev, false) {
            let found = magic(name, &file)?;
            if found != layout::MAGIC {
                return Err(Error::NotATimeline { path: prev, found });
            }
        }
        std::fs::rename(name.file(), prev).map_err(fail)?;
    }
    std::fs::rename(staging, name.file()).map_err(fail)?;
    Ok(segment)
}

/// The timeline that stands at `name`, locked, if there is one and nobody writes to it.
fn lock_corpse(name: &Name) -> Result<Option<LockFile>> {
    let fail = |doing, e| Error::io(doing, name.given(), e);
    loop {
        let file = match shm::open(name.file(), true) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| fail("open", e))?,
        };
        let lock =
            LockFile::acquire(Opening::own(file), Lock::Lifecycle).map_err(|e| fail("lock", e))?;
        if !shm::is_at(lock.file(), name.file()) {
            continue;
        }
        nobodys(name, &lock)?;
        return Ok(Some(lock));
    }
}

fn living(name: &Name, file: &File) -> Vec<crate::error::User> {
    match Segment::load(name, file, Use::Read) {
        // A snapshot shows the processes of what it was taken from.
        Ok(s) if s.facts.snapshot => Vec::new(),
        Ok(s) => processes::users(&s.map, &s.geometry, file),
        // Damaged, or of another version: the locks alone must tell.
        Err(_) => Vec::new(),
    }
}

fn build(name: &Name, file: &File, entries: u64, strings: u64) -> Result<Segment> {
    let geometry = Geometry::new(entries, strings);
    let clock = ClockKind::detect();
    let fail = |doing, e| Error::io(doing, name.given(), e);
    // What a killed creator left is not worth keeping: it never had the name.
    file.set_len(0).map_err(|e| fail("empty", e))?;
    shm::reserve(file, geometry.total).map_err(|(e, free)| match e.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => Error::NoSpace {
            path: name.given().to_path_buf(),
            needed: geometry.total,
            free,
        },
        _ => fail("reserve space for", e),
    })?;
    file.set_len(geometry.total).map_err(|e| fail("size", e))?;
    file.write_all_at(&segment::new_header(&geometry, clock), 0)
        .map_err(|e| fail("write the header of", e))?;
    let segment = Segment::load(name, file, Use::Log)?;
    lanes::initialise(&segment.ring);
    // Mapping touched every page between the two anchors, so they already tell a tick rate.
    segment.add_anchor();
    Ok(segment)
}

/// Maps the live timeline at `name` for writing, with its lifecycle lock held.
pub fn join(name: &Name, purpose: Use) -> Result<(Segment, LockFile)> {
    let path = name.given();
    loop {
        let file = open_existing(name, true)?;
        let lock = LockFile::acquire(Opening::own(file), Lock::Lifecycle)
            .map_err(|e| Error::io("lock", path, e))?;
        if !shm::is_at(lock.file(), name.file()) {
            continue;
        }
        let segment = Segment::load(name, lock.file(), purpose)?;
        if segment.facts.snapshot {
            return Err(Error::ReadOnly { path: path.into() });
        }
        if segment.facts.boot_id != segment::boot_id() {
            return Err(Error::OtherBoot { path: path.into() });
        }
        return Ok((segment, lock));
    }
}

/// Maps whatever stands at `name` for reading.
pub fn attach(name: &Name) -> Result<(Segment, File)> {
    let file = open_existing(name, false)?;
    let segment = Segment::load(name, &file, Use::Read)?;
    Ok((segment, file))
}

fn open_existing(name: &Name, write: bool) -> Result<File> {
    shm::open(name.file(), write).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Error::NotFound {
            path: name.given().to_path_buf(),
        },
        _ => Error::io("open", name.given(), e),
    })
}

/// Removes the name. Whoever has the timeline open goes on with it; nobody finds it any more.
///
/// # Errors
/// `NotFound` if nothing is there; `NotATimeline` if it is something else, which stays. (What a creator that
/// was killed left at `NAME.creating` may go.)
pub fn unlink(path: impl AsRef<Path>) -> Result<()> {
    let name = Name::new(path.as_ref())?;
    let file = open_existing(&name, false)?;
    let found = magic(&name, &file)?;
    let left_over = found == [0; 8] && is_staging(name.file()) && !is_being_created(&name);
    if found != layout::MAGIC && !left_over {
        return Err(Error::NotATimeline {
            path: name.given().to_path_buf(),
            found,
        });
    }
    std::fs::remove_file(name.file()).map_err(|e| Error::io("remove", name.given(), e))
}

/// An error if living processes write to a timeline at `name`: it must not be replaced under them.
pub fn refuse_living(name: &Name) -> Result<()> {
    let Ok((segment, file)) = attach(name) else {
        return Ok(());
    };
    if segment.facts.snapshot {
        return Ok(());
    }
    let by = processes::users(&segment.map, &segment.geometry, &file);
    if by.is_empty() {
        return Ok(());
    }
    Err(Error::InUse {
        path: name.given().to_path_buf(),
        by,
    })
}

/// The processes that write to the timeline at `path` now.
///
/// # Errors
/// As for attaching.
pub fn users(path: impl AsRef<Path>) -> Result<Vec<processes::Writer>> {
    let name = Name::new(path.as_ref())?;
    let (segment, file) = attach(&name)?;
    let live = (!segment.facts.snapshot).then_some(&file);
    let mut writers = processes::writers(&segment.map, &segment.geometry, live);
    writers.retain(|w| w.alive);
    Ok(writers)
}
