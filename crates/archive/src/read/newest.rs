//! Reads the newest events of a rotated archive.
//! It does not open files that are too old to hold one of them.
//!
//! **Why does `dump -n` trust the times of files?** A rotated archive may have ten thousand files.
//! Looking into all of them for the newest event takes as long as reading them. An event is never
//! later than the last change of its file. So the last file is read, and then those that were
//! changed after the oldest event found so far. If a copy has given all files one time, all are
//! read: `cp -a` and `rsync -a` keep the times. Neither the numbers of files nor their beginnings
//! tell instead which file has the newest event. A recorder may write an event after newer ones of
//! other lanes, by as much as its writer was held up; clocks are set; and files of several
//! recorders may be put together. An index beside the files would be one more thing to keep true,
//! through kills, removed files and copies.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use timeline::Order;

use crate::error::{Error, Result};
use crate::read::archive::Archive;
use crate::read::bytes::files_of;
use crate::read::merge::ByTime;
use crate::read::recorded::RecordedEvent;

const SECOND: u64 = 1_000_000_000;
/// Nanoseconds by which an event may seem to be later than the last change of its file: the kernel
/// notes that by a clock that stands still for up to ten milliseconds.
const SLACK: u64 = SECOND / 10;
/// The same where no fraction of a second is noted: what copied the file may have cut off up to two
/// seconds.
const CUT: u64 = 2 * SECOND + SLACK;
/// After so many files, those that may be needed are read all at once.
const FEW: usize = 4;

impl Archive {
    /// As [`Archive::open`], but of a directory only what its newest `count` events need, and the
    /// one before these: all that the archive tells is then told of the files that were read.
    ///
    /// An event cannot be later than the last change of its file. So the last file is read, and
    /// then those that were changed last, until no other can hold events as new as those that were
    /// found. Where damage is met, all is read.
    ///
    /// # Errors
    /// Those of [`Archive::open`].
    pub fn open_newest(path: impl AsRef<Path>, count: usize) -> Result<Archive> {
        let path = path.as_ref();
        if path.is_dir()
            && let Some(archive) = newest(path, count.saturating_add(1))?
        {
            return Ok(archive);
        }
        Archive::open(path)
    }
}

/// The files with the newest `count` events; `None` if the whole has to tell.
fn newest(folder: &Path, count: usize) -> Result<Option<Archive>> {
    let mut files = files_of(folder)?;
    let Some(last) = files.pop() else {
        return Ok(None);
    };
    let mut rest: Vec<(u64, PathBuf)> = files.into_iter().map(|f| (latest(&f), f)).collect();
    rest.sort_unstable();
    let mut taken = vec![last];
    loop {
        let archive = match Archive::of_files(folder, &mut taken) {
            // Removed meanwhile, since its recorder keeps no more than so much.
            Err(Error::NoArchive { .. }) => return Ok(None),
            other => other?,
        };
        if archive.frames() == 0 || is_damaged(&archive) {
            return Ok(None);
        }
        let oldest = oldest_of_newest(&archive, count);
        let needed = |(latest, _): &&(u64, PathBuf)| oldest.is_none_or(|oldest| *latest >= oldest);
        let needed = rest.iter().rev().take_while(needed).count();
        if needed == 0 {
            return Ok(Some(archive));
        }
        // With those that were changed last, fewer others may be needed.
        let more = match oldest {
            Some(_) if taken.len() >= FEW => needed,
            _ => needed.min(taken.len()),
        };
        let more = rest.drain(rest.len() - more..).map(|(_, file)| file);
        taken.extend(more);
    }
}

/// A time that no event of a file is later than, in nanoseconds since the epoch.
fn latest(file: &Path) -> u64 {
    let changed = fs::metadata(file).and_then(|metadata| metadata.modified());
    let since = changed
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let nanos = since.and_then(|since| u64::try_from(since.as_nanos()).ok());
    nanos.map_or(u64::MAX, |nanos| match nanos % SECOND {
        0 => nanos.saturating_add(CUT),
        _ => nanos.saturating_add(SLACK),
    })
}

/// When the oldest of the newest `count` events was logged; `None` if there are fewer, or it is not
/// known of all.
fn oldest_of_newest(archive: &Archive, count: usize) -> Option<u64> {
    let mut events = ByTime::<RecordedEvent>::new(archive, Order::NewestFirst);
    let times = (0..count).map(|_| events.next()?.unix_nanos);
    times.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

/// Whether more is damaged than the end, which may be being written.
fn is_damaged(archive: &Archive) -> bool {
    let end = archive.bytes().len();
    archive.damage().iter().any(|place| place.end < end)
}
