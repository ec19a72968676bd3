//! Reads the newest events of a rotated archive.
//! It does not open files that are too old to hold one of them.
//!
//! **Why does `dump -n` trust the times of files?** A rotated archive may have ten thousand files.
//! Looking into all of them for the newest event takes as long as reading them. An event is never
//! later than the last change of its file. So the last file is read, and then those that were
//! changed after the oldest event found so far. If a copy has given all files one time, all are
//! read: `cp -a` and `rsync -a` keep the times. The numbers of files and their beginnings cannot
//! replace these times. A recorder may write an event after newer events of other lanes, if the
//! writer of the event was held up. People set clocks, and put files of several recorders together.
//! An index file would have to stay correct after kills, removed files and copies.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use timeline::Order;

use crate::error::{Error, Result};
use crate::read::file::bytes::files_of;
use crate::read::open::archive::Archive;
use crate::read::order::merge::ByTime;
use crate::read::order::recorded_event::RecordedEvent;

const SECOND: u64 = 1_000_000_000;
/// Nanoseconds by which an event may seem to be later than the last change of its file. The kernel
/// takes the time of a change from a clock that stands still for up to ten milliseconds.
const SLACK: u64 = SECOND / 10;
/// The same if the time has no fraction of a second. The program that copied the file may have cut
/// off up to two seconds.
const CUT: u64 = 2 * SECOND + SLACK;
/// After so many files, all further files that may be needed are read at once.
const FEW: usize = 4;

impl Archive {
    /// Like [`Archive::open`], but if `path` is a directory, it reads only the files that the
    /// newest `count` events and the one before them need. The counts of such an archive cover only
    /// the files that were read.
    ///
    /// An event cannot be later than the last change of its file. So it reads the last file, and
    /// then the files that were changed last, until no other file can have events as new as those
    /// it found. If a file is damaged, it reads all files.
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

/// Opens the files with the newest `count` events. Returns `None` if all files must be read.
fn newest(folder: &Path, count: usize) -> Result<Option<Archive>> {
    let mut files = files_of(folder)?;
    let Some(last) = files.pop() else {
        return Ok(None);
    };
    let mut rest: Vec<(u64, PathBuf)> = files.into_iter().map(|f| (latest(&f), f)).collect();
    rest.sort_unstable();
    let mut taken = vec![last];
    loop {
        let archive = match Archive::of_files(folder, &mut taken, &|_| None) {
            // The recorder has removed it meanwhile, to keep the size of the archive in its limit.
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
            // What is missing may be in files that were not read.
            let is_sure = rest.is_empty() || archive.holes().is_empty();
            return Ok(is_sure.then_some(archive));
        }
        // After the files that were changed last, fewer other files may be needed.
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

/// The time of the oldest of the newest `count` events, not counting important ones. `None` if
/// there are fewer events, or if the time of one of them is not known.
fn oldest_of_newest(archive: &Archive, count: usize) -> Option<u64> {
    let mut events = ByTime::<RecordedEvent>::new(archive, Order::NewestFirst);
    // Each file has all important events before its others.
    let mut events = events.by_ref().filter(|event| !event.is_important());
    let times = (0..count).map(|_| events.next()?.unix_nanos);
    times.collect::<Option<Vec<u64>>>()?.into_iter().min()
}

/// Whether anything but the end is damaged. A recorder may be writing the end at present.
fn is_damaged(archive: &Archive) -> bool {
    let end = archive.bytes().len();
    archive.damage().iter().any(|place| place.end < end)
}
