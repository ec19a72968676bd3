//! Follows an archive: reads the frames that a recorder appends.
//!
//! A recorder, or an import that goes on, locks the file or directory as long as it lives. So a
//! reader knows by itself whether more events can come. A recorder writes whole frames, but a
//! reader may see a part of one. If the file ends with a part of a frame, the reader reads that
//! part again when the file has grown.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use timeline::Event;
use timeline::internal::files::open_to_read;

use crate::error::{Error, Result};
use crate::format::file_name::file_number;
use crate::format::frame::Part;
use crate::read::file::bytes::{FRAME, ScanItem, WINDOW, files_of, scan_while};
use crate::read::open::archive::Archive;
use crate::read::order::intake::FrameIntake;

/// About how many bytes of events are read at once.
const AT_ONCE: usize = 64 << 20;

/// Whether somebody who records into it has locked the file or the directory.
pub fn is_recorded(file: &File) -> bool {
    let Ok(own) = file.try_clone() else {
        return false;
    };
    // If the lock is free, this takes it for a moment.
    let taken = Flock::lock(own, FlockArg::LockSharedNonblock);
    matches!(taken, Err((_, Errno::EWOULDBLOCK)))
}

/// Continues to read where [`Archive::open`] stopped; see [`Archive::follow`].
pub struct ArchiveFollow<'a> {
    intake: FrameIntake<'a>,
    /// The directory of rotated files.
    folder: Option<PathBuf>,
    path: PathBuf,
    file: File,
    /// The file or directory with the recorder's lock.
    held: File,
    /// The position up to which the file is read.
    at: usize,
    /// The length of the file when it was last checked.
    length: usize,
    /// See [`AT_ONCE`].
    at_once: usize,
    removed: u64,
}

impl Archive {
    /// Whether a recorder writes to the archive at present.
    pub fn is_recorded(&self) -> bool {
        let held = match (self.folder(), self.bytes().last()) {
            (Some(folder), _) => open_to_read(folder),
            (None, Some((_, file, _))) => return file.is_ok_and(|file| is_recorded(&file)),
            _ => return false,
        };
        held.is_ok_and(|held| is_recorded(&held))
    }

    /// The events that are recorded from now on: those after the events that the archive had when
    /// it was opened.
    ///
    /// # Errors
    /// `Io`; `NotFound` if the archive is in memory.
    pub fn follow(&self) -> Result<ArchiveFollow<'_>> {
        let Some((path, file, start)) = self.bytes().last() else {
            return Err(Error::NoArchive {
                path: PathBuf::new(),
            });
        };
        let (file, fail) = (file?, |error| Error::io("open", path, error));
        let held = match self.folder() {
            Some(folder) => open_to_read(folder),
            None => file.try_clone(),
        };
        Ok(ArchiveFollow {
            intake: FrameIntake::behind(self),
            folder: self.folder().cloned(),
            path: path.to_path_buf(),
            file,
            held: held.map_err(fail)?,
            at: self.whole().saturating_sub(start),
            length: 0,
            at_once: AT_ONCE,
            removed: 0,
        })
    }
}

impl ArchiveFollow<'_> {
    /// Whether more events can come. Call it before [`ArchiveFollow::poll`]: if it returns false
    /// and `poll` then finds nothing, there are no more events.
    pub fn is_recorded(&self) -> bool {
        is_recorded(&self.held)
    }

    /// The directory of the archive, or else its file.
    pub fn path(&self) -> &Path {
        self.folder.as_deref().unwrap_or(&self.path)
    }

    /// The number of places, in what was read, where it is not known how much is missing; see
    /// [`Archive::missed_unknown`].
    pub fn missed_unknown(&self) -> u64 {
        self.intake.missed_unknown()
    }

    /// The number of bytes that were read and belong to no whole frame.
    pub fn damaged(&self) -> u64 {
        self.intake.damaged()
    }

    /// The number of files that the recorder removed before they were read, to keep the size of the
    /// archive in its limit.
    pub fn removed(&self) -> u64 {
        self.removed
    }

    /// The number of entries, in what was read, that are gone with a frame or a file: see
    /// [`Archive::holes`].
    pub fn gone(&self) -> u64 {
        self.intake.gone()
    }

    /// Appends the events that were recorded since the last call to `out`: the important ones
    /// first, then the others, each sorted by time. Returns how many events the recorder says were
    /// missed. Does not wait. A call reads at most 64 MiB of events and a block, so after a long
    /// pause it takes several calls to catch up. Once a call returns nothing new and nothing
    /// missed, the reader has caught up.
    ///
    /// # Errors
    /// `Io`.
    pub fn poll(&mut self, out: &mut Vec<Event>) -> Result<u64> {
        let known = out.len();
        loop {
            let before = self.at;
            let missed = self.read()?;
            if self.at != before {
                self.intake.give(out);
                if missed > 0 || out.len() > known {
                    return Ok(missed);
                }
                continue;
            }
            // The next file is looked for before the last read of this one, so that no event is
            // left unread.
            let Some(next) = self.next_file()? else {
                return Ok(0);
            };
            let missed = self.read()?;
            if self.at == before {
                let rest = self.length.saturating_sub(self.at);
                self.file = match open_to_read(&next) {
                    Ok(file) => file,
                    // The recorder has removed it meanwhile, so there is another file after it.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(Error::io("open", &next, error)),
                };
                let removed = between(&self.path, &next);
                self.intake.damage(rest);
                if removed > 0 {
                    self.intake.pass();
                }
                self.removed += removed;
                (self.path, self.at, self.length) = (next, 0, 0);
                continue;
            }
            self.intake.give(out);
            return Ok(missed);
        }
    }

    /// Reads the frames that were appended. Returns how many events they say were missed.
    fn read(&mut self) -> Result<u64> {
        let length = self.file.metadata();
        let length = length.map_err(|error| self.failed(error))?.len() as usize;
        let Some(end) = self.new_end(length) else {
            return Ok(0);
        };
        let (mut missed, mut bytes, mut at) = (0u64, 0, self.at);
        let (intake, at_once) = (&mut self.intake, self.at_once);
        let each = |found: ScanItem| {
            let ScanItem::Part(Part::Frame { place, record, .. }) = found else {
                return true;
            };
            intake.damage(place.start - at);
            at = place.end;
            let taken = intake.take(record, place);
            missed = missed.saturating_add(taken.missed);
            bytes += taken.bytes;
            bytes < at_once
        };
        let scanned = scan_while(&self.file, self.at..end, (WINDOW, FRAME), each);
        if bytes >= self.at_once {
            // The next call reads further frames.
            self.length = 0;
        }
        let cut = match scanned {
            // Another process cut the file during the read. The next call reads what is left of it.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => true,
            other => other.map(|()| false).map_err(|error| self.failed(error))?,
        };
        if cut {
            self.length = 0;
        } else if at == self.at && end < length {
            // No frame begins in these bytes, except perhaps one that ends after them.
            at = end - FRAME;
            self.intake.damage(at - self.at);
        }
        self.at = at;
        Ok(missed)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("read", &self.path, error)
    }

    /// Up to where the file, which has this length, is to be read now. `None` if nothing is new.
    fn new_end(&mut self, length: usize) -> Option<usize> {
        if length < self.at {
            // A recorder began the file again, because it had only a preamble.
            (self.at, self.length) = (0, 0);
            self.intake.pass();
        }
        if length == self.length || length == self.at {
            return None;
        }
        // The next call reads the rest.
        let end = length.min(self.at.saturating_add(WINDOW));
        if end == length {
            self.length = length;
        }
        Some(end)
    }

    /// The file after the present one, if the recorder has begun it.
    fn next_file(&self) -> Result<Option<PathBuf>> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let files = files_of(folder)?;
        let place = |path: &PathBuf| (path.as_os_str().len(), path.clone());
        let present = place(&self.path);
        Ok(files.into_iter().find(|path| place(path) > present))
    }
}

/// The number of numbered files between two files that still exist.
fn between(one: &Path, next: &Path) -> u64 {
    let number = |path: &Path| file_number(path.file_name()?.to_str()?);
    match (number(one), number(next)) {
        (Some(one), Some(next)) => next.saturating_sub(one).saturating_sub(1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use timeline::Order;

    use super::*;
    use crate::format::event::RawEvent;
    use crate::read::open::samples::{are_alike, chain, chain_of, changes, frames, runs};
    use crate::read::units::ordered::OrderedEvent;
    use crate::write::writer::{Form, Writer};

    /// An archive whose events have these numbers.
    fn archive(numbers: &[i64]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Plain);
        for number in numbers {
            let mut event = RawEvent {
                args: vec![*number],
                ticks: Some(1),
                ..RawEvent::default()
            };
            event.definition.format = Some(writer.string("number $n"));
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        file
    }

    fn poll(growth: &mut ArchiveFollow) -> Vec<i64> {
        let mut events = Vec::new();
        while {
            let before = events.len();
            growth.poll(&mut events).unwrap();
            events.len() > before
        } {}
        events.iter().map(|event| event.args[0]).collect()
    }

    #[test]
    fn files_that_went_before_they_were_read_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let file = |number: u32| folder.path().join(format!("timeline-{number:06}.tla"));
        fs::write(file(4), archive(&[1])).unwrap();
        let opened = Archive::open(folder.path()).unwrap();
        let mut growth = opened.follow().unwrap();
        fs::write(file(5), archive(&[2])).unwrap();
        assert_eq!((poll(&mut growth), growth.removed()), (vec![2], 0));
        fs::write(file(8), archive(&[3, 4])).unwrap();
        assert_eq!((poll(&mut growth), growth.removed()), (vec![3, 4], 2));
        assert_eq!((poll(&mut growth), growth.damaged()), (vec![], 0));
        assert!(!growth.is_recorded());
    }

    #[test]
    fn what_is_too_much_at_once_is_read_by_and_by() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flight.tla");
        let known = archive(&[0]);
        fs::write(&file, &known).unwrap();
        let opened = Archive::open(&file).unwrap();
        let mut growth = opened.follow().unwrap();
        growth.at_once = 3 * size_of::<OrderedEvent>();
        fs::write(&file, [known, archive(&[1, 2, 3, 4, 5, 6, 7])].concat()).unwrap();
        let mut counts = Vec::new();
        let mut events = Vec::new();
        while {
            let before = events.len();
            growth.poll(&mut events).unwrap();
            counts.push(events.len() - before);
            events.len() > before
        } {}
        assert_eq!(counts, [3, 3, 1, 0]);
        let numbers: Vec<_> = events.iter().map(|event| event.args[0]).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(growth.damaged(), 0);
    }

    #[test]
    fn a_gap_is_told_of_an_event_that_was_written_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flight.tla");
        let mut writer = Writer::new(File::create(&path).unwrap(), 7, Form::Plain);
        let event = RawEvent {
            lane: Some(3),
            number: Some(8),
            ..RawEvent::default()
        };
        writer.gap(&event, 5, 2).unwrap();
        writer.flush().unwrap();
        let opened = Archive::open(&path).unwrap();
        let mut growth = opened.follow().unwrap();
        writer.event(&event).unwrap();
        writer.flush().unwrap();
        let mut events = Vec::new();
        growth.poll(&mut events).unwrap();
        assert_eq!(events.iter().map(|e| e.missed).collect::<Vec<_>>(), [7]);
    }

    proptest! {
        #[test]
        fn what_is_followed_has_the_holes_that_it_has_when_it_is_read_anew(
            runs in runs(),
            changes in changes(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        ) {
            let bytes = frames(&runs, &changes).concat();
            prop_assume!(!bytes.is_empty());
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
            cuts.sort_unstable();
            let file = tempfile::NamedTempFile::new().unwrap();
            let write = |end: usize| fs::write(file.path(), &bytes[..end]).unwrap();
            write(cuts[0]);
            let opened = Archive::open(file.path());
            prop_assume!(opened.is_ok());
            let opened = opened.unwrap();
            let before: Vec<Event> = opened.events_by_time(Order::OldestFirst).collect();
            let mut events = Vec::new();
            let mut growth = opened.follow().unwrap();
            for end in cuts.into_iter().chain([bytes.len()]) {
                write(end);
                while {
                    let before = events.len();
                    growth.poll(&mut events).unwrap() > 0 || events.len() > before
                } {}
            }
            let read = Archive::from_bytes(bytes);
            let anew: Vec<Event> = read.events_by_time(Order::OldestFirst).collect();
            let mut followed = chain(&events);
            let one = before.iter().rfind(|event| !event.important);
            let next = events.iter().find(|event| !event.important);
            if let Some((one, next)) = one.zip(next) {
                let passage = opened.passage(one.ticks, one.time.map_or(0, Into::into));
                followed[0].1 = next.passage.goes_on(passage);
            }
            let all = [chain_of(&opened, &before), followed].concat();
            let anew = chain_of(&read, &anew);
            prop_assert!(are_alike(&runs, &all, &anew), "{:?} {:?}", all, anew);
        }
    }

    #[test]
    fn a_file_that_is_cut_and_written_anew_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flight.tla");
        fs::write(&file, archive(&[1, 2, 3])).unwrap();
        let opened = Archive::open(&file).unwrap();
        let mut growth = opened.follow().unwrap();
        let further = archive(&[4, 5]);
        let (some, rest) = further.split_at(further.len() - 3);
        let mut bytes = [archive(&[1, 2, 3]), some.to_vec()].concat();
        fs::write(&file, &bytes).unwrap();
        assert_eq!(poll(&mut growth), [4]);
        bytes.extend(rest);
        fs::write(&file, &bytes).unwrap();
        assert_eq!(poll(&mut growth), [5]);
        fs::write(&file, "").unwrap();
        assert_eq!(poll(&mut growth), []);
        fs::write(&file, archive(&[6])).unwrap();
        assert_eq!((poll(&mut growth), growth.damaged()), (vec![6], 0));
        // The reader keeps the file that it opened, even if another file takes its name.
        let other = folder.path().join("other.tla");
        fs::write(&other, archive(&[7, 8, 9])).unwrap();
        fs::rename(&other, &file).unwrap();
        assert_eq!(poll(&mut growth), []);
    }
}
