//! Creates a timeline: builds it whole under a name of its own, and then renames it.
//!
//! So NAME never leads to an unfinished timeline, and a failure (no space) leaves everything as it
//! was. A creator gets the name only if nothing else has it: of several creators one comes first,
//! and the others find the name in use.
//!
//! **Why is the default size not fixed?** The default takes 74.8 MiB, but a container has 64 MiB in
//! /dev/shm: a new user's first program would fail there. So a creator that asks for no size gets
//! the largest power of two that fits, given the file system, a quota and the limit on the size of
//! files, so that it fits again when the program starts again: see sizes.rs. A bit of the header's
//! flags says so, because a creator may also have asked for that same size. The library asks how
//! much space is free before it takes any: a failed attempt would take all of it for a moment, and
//! any other program that needs a page of /dev/shm at that moment would die. No space is left free
//! for others on purpose, because there is no way to know how much they need. A program that shares
//! a small /dev/shm should ask for a size, which either fits or fails. Memory is another matter,
//! because too little of it ends the program: see src/shm/room.rs.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::file_lock::refuse_used;
use super::sizes::{Plan, SizeCandidate, Sizes};
use super::staging::Staging;
use super::{LOOKS, check_clock, former, locked_at, magic};
use crate::clock::ClockChoice;
use crate::error::{Error, Result};
use crate::layout::{self, Bound};
use crate::ring::lanes;
use crate::segment::{self, TimelineMapping, Use};
use crate::shm::{self, LockFile, Name, NoReserve, Patience, Record, Room, Shortage, Trust};

/// How often a creator asks for space while another creator has it.
const ATTEMPTS: u32 = 100;

/// Creates the timeline at `name`. Without a number of `entries` it gets the default, or the
/// largest power of two below it that fits. A timeline at that name without a living writer is
/// kept: see `former`.
///
/// Returns the lifecycle lock of the new timeline, still held, so that its creator joins it first.
pub fn create(name: &Name, plan: &Plan) -> Result<(TimelineMapping, LockFile)> {
    let trust = &plan.trust;
    check_clock(name.given())?;
    let mut sizes = Sizes::of(plan)?;
    check_mode(plan.mode)?;
    // Checked before anything is built. Checked again when the timeline gets its name, because the
    // file there may change until then.
    sizes.begin(name, trust, lock_corpse(name, trust)?.as_ref());
    let staging = Staging::new(name)?;
    let mut attempts = 0..ATTEMPTS;
    loop {
        let error = match build(name, &staging, &sizes.now()) {
            Ok(segment) => return place(name, staging, plan).map(|lock| (segment, lock)),
            Err(error) => error,
        };
        let Some((shortage, missing)) = shortage(&error) else {
            // The name may be in use now, by the creator that had the space.
            lock_corpse(name, trust)?;
            return Err(error);
        };
        staging.empty(name)?;
        // What else leaves too little room stays, whatever is removed.
        let can_help = matches!(shortage.bound, Bound::FileSystem | Bound::ControlGroup);
        if can_help && sizes.is_worth_the_oldest() && attempts.next().is_some() {
            // Otherwise as above.
            let corpse = lock_corpse(name, trust)?;
            if corpse.is_some() && former::make_room(name, trust, missing) {
                // What it would replace is gone. There may be room for more than the least now.
                sizes.begin(name, trust, corpse.as_ref());
                continue;
            }
        }
        if sizes.less(shortage) {
            continue;
        }
        // Several creators may each have got a part of space that is enough for one.
        if attempts.next().is_some() && staging.has_rivals(name) {
            std::thread::sleep(Duration::from_millis(shm::unguessable() % 32));
        } else {
            // The last rival may have given it its name since.
            let corpse = lock_corpse(name, trust)?;
            return Err(match error {
                Error::NoSpace {
                    path,
                    needed,
                    free,
                    bound,
                    ..
                } => Error::NoSpace {
                    path,
                    needed,
                    free,
                    bound,
                    replaces: can_help && corpse.is_some(),
                },
                other => other,
            });
        }
    }
}

/// What leaves too little room, and how many bytes are missing.
fn shortage(error: &Error) -> Option<(Shortage, u64)> {
    match *error {
        Error::NoSpace {
            needed,
            free,
            bound,
            ..
        } => Some((Shortage { bound, free }, needed.saturating_sub(free))),
        _ => None,
    }
}

fn build(name: &Name, staging: &Staging, size: &SizeCandidate) -> Result<TimelineMapping> {
    use std::os::unix::fs::FileExt;
    let file = staging.file();
    let geometry = &size.geometry;
    let clock = ClockChoice::detect();
    let fail = |doing, e| Error::io(doing, name.given(), e);
    let too_little = |Shortage { bound, free }| Error::NoSpace {
        path: name.given().to_path_buf(),
        needed: geometry.total,
        free,
        bound,
        replaces: false,
    };
    let room = Room::of(geometry.total, shm::is_in_memory(file), size.demand).beside(size.beside);
    if let Some(shortage) = room.to_map(geometry.total) {
        return Err(too_little(shortage));
    }
    shm::reserve(file, geometry.total, &room).map_err(|e| match e {
        NoReserve::Short(shortage) => too_little(shortage),
        NoReserve::Failed(e) => fail("reserve space for", e),
    })?;
    file.set_len(geometry.total).map_err(|e| fail("size", e))?;
    let mut header = segment::new_header(geometry, &clock, size.reduced);
    file.write_all_at(header.bytes_mut(), 0)
        .map_err(|e| fail("write the header of", e))?;
    let segment = TimelineMapping::load(name, file, Use::Log).map_err(|error| match &error {
        // Of a limit that is not known, or not a page more may be locked (`mlockall`).
        Error::Io { source, .. } if is_short_of_addresses(source) => too_little(Shortage {
            bound: Bound::AddressSpace,
            free: 0,
        }),
        _ => error,
    })?;
    lanes::initialise(&segment.shared());
    // Mapping touched every page since the first anchor, so the two already give a tick rate.
    segment.add_anchor();
    Ok(segment)
}

fn is_short_of_addresses(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOMEM | libc::EAGAIN))
}

/// An error for permission bits that a timeline must not have.
fn check_mode(mode: u32) -> Result<()> {
    const ALWAYS: u32 = 0o600;
    const AT_MOST: u32 = 0o664;
    if mode & ALWAYS == ALWAYS && mode & !AT_MOST == 0 {
        return Ok(());
    }
    Err(Error::BadText {
        what: "mode",
        expected: "0600, or more rights up to 0664: a group may write, everybody else may only \
         read",
        found: format!("{mode:04o}"),
    })
}

/// Gives the timeline its group and mode. Not before it is whole: everyone who may open it may lock
/// it.
fn share(name: &Name, staging: &Staging, plan: &Plan) -> Result<()> {
    let fail = |doing| move |e| Error::io(doing, name.given(), e);
    if plan.group.is_some() {
        std::os::unix::fs::fchown(staging.file(), None, plan.group)
            .map_err(fail("give to a group"))?;
    }
    let mode = Permissions::from_mode(plan.mode);
    staging
        .file()
        .set_permissions(mode)
        .map_err(fail("set the mode of"))
}

/// Gives the timeline its name, and moves an unused timeline of that name aside.
fn place(name: &Name, staging: Staging, plan: &Plan) -> Result<LockFile> {
    let fail = |e| Error::io("replace", name.given(), e);
    let trust = &plan.trust;
    share(name, &staging, plan)?;
    for _ in 0..LOOKS {
        // Held until the old timeline has its new name, so that no process joins it in between.
        let old = lock_corpse(name, trust)?;
        if let Some(old) = &old {
            match former::keep(name, trust) {
                Ok(kept) if shm::is_at(old.file(), &kept) => {}
                Ok(other) => {
                    // The old timeline was removed meanwhile, and another process created this one
                    // and uses it. Its name may be taken again by now; then it cannot be moved
                    // back.
                    let _ = shm::rename_new(&other, name.file());
                    continue;
                }
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                Err(e) => return Err(fail(e)),
            }
        }
        match staging.place(name) {
            // Another creator came first. Its timeline is in use, or was left by it.
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
            other => other.map_err(fail)?,
        }
        return Ok(staging.into_lock());
    }
    let why = "other processes take that name again and again";
    Err(fail(std::io::Error::other(why)))
}

/// The locked timeline at `name`, or nothing if there is no file. An error if it has writers.
fn lock_corpse(name: &Name, trust: &Trust) -> Result<Option<LockFile>> {
    let open = || match shm::open(name.file(), true) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        other => other
            .map(Some)
            .map_err(|e| Error::io("replace", name.given(), e)),
    };
    let Some(lock) = locked_at(name, trust, || Patience::SECONDS, open)? else {
        return Ok(None);
    };
    let found = magic(name.given(), lock.file())?;
    if found != layout::MAGIC {
        // Not a timeline: it may belong to any other program.
        return Err(Error::NotATimeline {
            path: name.given().to_path_buf(),
            found,
        });
    }
    refuse_used(name, lock.file())?;
    Ok(Some(lock))
}
