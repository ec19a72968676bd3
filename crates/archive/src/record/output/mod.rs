//! Where a recorder writes: a file, or numbered files in a directory, that may be full for a time.
//!
//! Only whole frames are written. What a full disk cuts is taken off again, and the caller is told
//! how much of what it gave stands in the file; the rest is its own to keep and to try again.

mod reopen;
mod rotation;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use timeline::{Attached, Error, Result, files::open_to_read, name_before};

use crate::format::frame::{Frames, Part};
use crate::format::preamble::Preamble;
use crate::record::numbered_files::{self, Files, Locked};
use crate::record::resume::Left;
use crate::write::writer::Known;

pub use reopen::Change;
pub use rotation::{Fsync, Keeping};

/// How long to wait before what failed is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// What does not work at present, and is tried again and again.
#[derive(Debug)]
pub struct Trouble {
    /// The step that failed: `write`, `make durable`, ….
    pub doing: &'static str,
    /// On which file.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
    since: Instant,
}

impl Trouble {
    fn new(doing: &'static str, path: PathBuf, error: io::Error) -> Trouble {
        Trouble {
            doing,
            path,
            error,
            since: Instant::now(),
        }
    }

    /// Whether it is time to try again.
    fn is_over(&self) -> bool {
        self.since.elapsed() >= PAUSE
    }
}

/// Where recorders write, one after the other.
pub struct Output {
    /// As it was given.
    path: PathBuf,
    files: Option<Files>,
    file: Locked,
    present: PathBuf,
    keeping: Keeping,
    /// Bytes of whole frames in the present file.
    size: u64,
    /// Bytes with which it begins before any event.
    beginning: u64,
    begun: Instant,
    /// Bytes written to all files.
    written: u64,
    /// What stands in the present file, and as far as it had to be looked for in those before.
    here: Left,
    before: Left,
    /// Files that are still to be looked into, the newest first.
    unread: VecDeque<PathBuf>,
    /// Of what was found in the present file and is none of it: all, or a preamble and nothing
    /// behind.
    foreign: bool,
    alone: Option<Preamble>,
    /// Whether the present file is this recorder's own.
    made: bool,
    /// Whether the name leads elsewhere, and no file could be begun there.
    away: bool,
    writing: Option<Trouble>,
    rotating: Option<Trouble>,
    syncing: Option<Trouble>,
    removing: Option<Trouble>,
}

/// Where to go on with a ring.
pub(crate) struct Place {
    /// Its run, which has a magic.
    pub run: Preamble,
    /// Whether nothing of that was recorded before.
    pub is_new: bool,
    /// Lanes, and the number of the next event of each.
    pub next: Vec<(u64, u64)>,
    /// Lanes that end with a gap: the event behind it was not written.
    pub gaps: HashSet<u32>,
    /// Whether the present file says whose the run is.
    pub introduced: bool,
    /// Strings that the present file defines for it.
    pub known: Known,
    /// Whether other runs were recorded before.
    pub later: bool,
}

impl Output {
    /// Opens the file at `path`, or the directory that is there or whose name ends in `/`. Both are
    /// made for their owner alone if they are not there, and locked against other recorders.
    ///
    /// # Errors
    /// `Io`; `RecorderBusy`; `NotADirectory` for a file that is to be rotated.
    pub fn open(path: impl AsRef<Path>, keeping: Keeping) -> Result<Output> {
        let path = path.as_ref();
        let is_new = !path.exists();
        let (files, file, present) = if Output::is_directory(path) {
            let (files, file, present) = Files::open(path)?;
            (Some(files), file, present)
        } else if keeping.rotates() {
            return Err(Error::NotADirectory { path: path.into() });
        } else {
            (None, numbered_files::open(path)?, path.to_path_buf())
        };
        let mut here = Left::read(&file).map_err(|error| Error::io("read", &present, error))?;
        let (foreign, mut alone) = (here.is_foreign(), None);
        if here.is_nothing_yet() {
            alone = here.runs.pop();
            here = Left::default();
        }
        let created = file.metadata().and_then(|metadata| metadata.created()).ok();
        let age = created.and_then(|created| SystemTime::now().duration_since(created).ok());
        let begun = age.and_then(|age| Instant::now().checked_sub(age));
        Ok(Output {
            path: path.to_path_buf(),
            made: files.as_ref().map_or(is_new, Files::is_made),
            away: false,
            unread: files.iter().flat_map(Files::older).collect(),
            files,
            file,
            present,
            keeping,
            size: here.end,
            beginning: 0,
            begun: begun.unwrap_or_else(Instant::now),
            written: 0,
            here,
            before: Left::default(),
            foreign,
            alone,
            writing: None,
            rotating: None,
            syncing: None,
            removing: None,
        })
    }

    /// Whether a path means a directory of files, and not one file.
    pub fn is_directory(path: &Path) -> bool {
        path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
    }

    /// Bytes written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// What does not work at present.
    pub fn trouble(&self) -> Option<&Trouble> {
        let all = [&self.writing, &self.syncing, &self.rotating, &self.removing];
        all.into_iter().find_map(Option::as_ref)
    }

    /// Whether nothing can be written at present.
    pub(crate) fn is_full(&self) -> bool {
        self.writing.is_some()
    }

    /// Whether what the run before left belongs into the archive: as one that it holds, if only a
    /// part of it, or as one after those that it holds. An archive without any has no need of what
    /// was before it.
    ///
    /// # Errors
    /// `Io`; `OtherRing` where the archive is of another timeline.
    pub fn continues_with(&mut self, before: &Attached, at: &Attached) -> Result<bool> {
        let before = self.place(before)?;
        Ok(!before.is_new || (before.later && self.place(at)?.is_new))
    }

    /// The run that the archive ends with, if it holds nothing of this one and ends with another
    /// than the one `before` this: what was logged between these may be missing.
    ///
    /// # Errors
    /// `Io`; `OtherRing` where the archive is of another timeline.
    pub(crate) fn gap(
        &mut self,
        at: &Attached,
        before: Option<&Attached>,
    ) -> Result<Option<Preamble>> {
        if at.is_snapshot() || !self.place(at)?.is_new {
            return Ok(None);
        }
        let name = at.path().display().to_string();
        let is_ours = |run: &&Preamble| {
            run.timeline.as_deref().map(whatever_run) == Some(whatever_run(&name))
        };
        let mut newest_first = self.before.runs.iter().chain(&self.here.runs).rev();
        let last = newest_first.find(is_ours);
        let is_before = |last: &&Preamble| before.is_some_and(|before| last.is_of(before));
        Ok(last.filter(|last| !is_before(last)).cloned())
    }

    fn runs(&self) -> impl Iterator<Item = &Preamble> {
        self.here.runs.iter().chain(&self.before.runs)
    }

    /// The run of a ring, as the archive names it. Where its preamble was destroyed, its magic
    /// still tells.
    fn run(
        &self,
        at: &Attached,
        made: &LazyCell<Preamble, impl FnOnce() -> Preamble>,
    ) -> Option<Preamble> {
        let named = |run: &&Preamble| run.magic.is_some() && run.is_of(at);
        let magics = self.here.places.keys().chain(self.before.places.keys());
        let mut unnamed = magics.filter(|magic| self.runs().all(|run| run.magic != Some(**magic)));
        let found = self.runs().find(named).cloned();
        // Made only if need be: that takes the fingerprint of a program.
        found.or_else(|| {
            unnamed
                .any(|m| made.magic == Some(*m))
                .then(|| Preamble::clone(made))
        })
    }

    /// Where to go on with a ring.
    pub(crate) fn place(&mut self, at: &Attached) -> Result<Place> {
        let created = Some(at.info().created_unix_nanos);
        let made = LazyCell::new(|| Preamble::of(at));
        // The files follow upon each other: before one of an earlier run, there is nothing of this
        // one.
        while self.run(at, &made).is_none()
            && self.runs().all(|run| run.created >= created)
            && let Some(older) = self.unread.pop_front()
        {
            match open_to_read(&older).and_then(|file| Left::read(&file)) {
                Ok(left) => self.before.add_older(left),
                // Removed, to make room.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", &older, error)),
            }
        }
        let run = self.run(at, &made);
        let name = at.path().display().to_string();
        let is_ours = |run: &Preamble| {
            run.is_of(at) || run.timeline.as_deref().map(whatever_run) == Some(whatever_run(&name))
        };
        let is_new = self.here.frames == 0 && self.before.frames == 0;
        let mut runs = self.runs().chain(&self.alone).peekable();
        let is_ours = match runs.peek() {
            Some(_) => runs.any(is_ours),
            None => is_new,
        } || run.is_some();
        if self.foreign || !is_ours {
            return Err(Error::OtherRing {
                path: self.path.clone(),
                timeline: at.path().to_path_buf(),
            });
        }
        // What a killed recorder was writing. If that fails, so does what is written next.
        let _ = self.file.set_len(self.size);
        let magic = run.as_ref().and_then(|run| run.magic);
        let next = self.next(magic);
        let known = magic.and_then(|magic| self.here.known.get(&magic));
        let ends = |(lane, next): &(u64, u64)| {
            let gaps = [&self.before, &self.here].map(|left| left.gaps.get(&magic.unwrap_or(0)));
            let mut gaps = gaps.into_iter().flatten().filter_map(|gaps| gaps.get(lane));
            gaps.any(|number| number == next).then_some(*lane)
        };
        let gaps = next.iter().filter_map(ends);
        Ok(Place {
            gaps: gaps.filter_map(|lane| u32::try_from(lane).ok()).collect(),
            is_new: run.is_none(),
            run: run.unwrap_or_else(|| Preamble::clone(&made)),
            next,
            introduced: self.here.runs.iter().any(|run| run.is_of(at)),
            known: known.cloned().unwrap_or_default(),
            later: self.runs().next().is_some(),
        })
    }

    /// Notes that a run begins here with so many bytes, before any of its events.
    pub(crate) fn introduce(&mut self, run: &Preamble, bytes: u64) {
        self.here.runs.push(run.clone());
        if self.size == self.beginning {
            self.beginning += bytes;
        }
    }

    /// The newest of the runs after this one, and how far it is recorded.
    pub(crate) fn newest_after(&self, run: &Preamble) -> Option<(Preamble, Vec<(u64, u64)>)> {
        let after = self.runs().filter(|other| other.created > run.created);
        let newest = after.max_by_key(|other| other.created)?.clone();
        let next = self.next(newest.magic);
        Some((newest, next))
    }

    /// Of the lanes of a run, the number of the next event.
    fn next(&self, magic: Option<u64>) -> Vec<(u64, u64)> {
        let mut next = BTreeMap::new();
        for left in [&self.before, &self.here] {
            let places = magic.and_then(|magic| left.places.get(&magic));
            for (lane, place) in places.into_iter().flatten() {
                let next: &mut u64 = next.entry(*lane).or_default();
                *next = *place.max(next);
            }
        }
        next.into_iter().collect()
    }

    /// Notes how far a run is recorded, and what stands there of it, for whoever goes on with it.
    pub(crate) fn leave(
        &mut self,
        magic: u64,
        places: &[(u64, u64)],
        gaps: BTreeMap<u64, u64>,
        known: Known,
    ) {
        self.here.reach(magic, places.iter().copied());
        self.here.gaps.entry(magic).or_default().extend(gaps);
        self.here.known.insert(magic, known);
    }

    /// How many bytes more the present file may have; `u64::MAX` where that has no limit.
    pub(crate) fn room(&self) -> u64 {
        let most = self.keeping.rotate_size;
        most.map_or(u64::MAX, |most| most.saturating_sub(self.size))
    }

    /// Whether a new file is to be begun, because this one has no room for `more` bytes. Of these,
    /// `waiting` or more belong into this one, which has to have events or gets some by that.
    pub(crate) fn is_long(&self, waiting: u64, more: u64) -> bool {
        more > self.room() && self.holds(waiting) && self.may_rotate()
    }

    /// The same, before another run is introduced: none has to have events.
    pub(crate) fn is_long_for_run(&self, waiting: u64, more: u64) -> bool {
        more > self.room() && self.size.saturating_add(waiting) > 0 && self.may_rotate()
    }

    /// What is too little room to go on with a file: it is not worth blocks of few events.
    pub(crate) fn bit(&self) -> u64 {
        self.keeping.rotate_size.unwrap_or(0) / 8
    }

    /// Whether a new file is to be begun because of the time.
    pub(crate) fn is_old(&self, waiting: u64) -> bool {
        let Some(most) = self.keeping.rotate_every else {
            return false;
        };
        self.holds(waiting) && self.begun.elapsed() >= most && self.may_rotate()
    }

    /// Whether there are events in the present file, with so many bytes that belong into it.
    fn holds(&self, waiting: u64) -> bool {
        self.size.saturating_add(waiting) > self.beginning
    }

    fn may_rotate(&self) -> bool {
        !self.is_full() && self.rotating.as_ref().is_none_or(Trouble::is_over)
    }

    /// Begins a new file, unless that fails. All that belongs into this one stands in it.
    pub(crate) fn rotate(&mut self) -> bool {
        let Some(files) = &mut self.files else {
            return false;
        };
        match files.next(self.size) {
            Ok((file, path)) => {
                self.finish();
                (self.file, self.present) = (file, path);
            }
            Err(error) => {
                let error = match error {
                    Error::Io { source, .. } => source,
                    other => io::Error::other(other),
                };
                let path = self.present.clone();
                self.rotating = Some(Trouble::new("begin a file behind", path, error));
                return false;
            }
        }
        self.rotating = None;
        self.pass();
        self.made = true;
        (self.size, self.beginning) = (0, 0);
        self.begun = Instant::now();
        true
    }

    /// Makes the present file durable, unless nobody wants that.
    pub(crate) fn finish(&mut self) {
        if self.keeping.fsync != Fsync::Never {
            self.sync();
        }
    }

    fn sync(&mut self) {
        let names = self.files.as_ref().map_or(Ok(()), Files::sync);
        let synced = self.file.sync_data().and(names);
        self.syncing = synced.err().map(|error| {
            let path = self.present.clone();
            Trouble::new("make durable", path, error)
        });
    }

    /// Writes as much as there is room for, in whole frames, and notes if that is not all.
    fn put(&mut self, frames: &[u8]) -> usize {
        let mut done = 0;
        let failure = loop {
            if done == frames.len() {
                break None;
            }
            match self.file.write_at(&frames[done..], self.size + done as u64) {
                Ok(0) => break Some(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
        };
        if let Some(error) = failure {
            done = whole(&frames[..done]);
            // If that fails, what is written next stands over it, from the same place on.
            let _ = self.file.set_len(self.size + done as u64);
            self.writing = Some(Trouble::new("write", self.present.clone(), error));
        } else {
            self.writing = None;
        }
        self.size += done as u64;
        self.written += done as u64;
        done
    }

    /// Removes what would be too much with so many bytes more.
    fn make_room(&mut self, more: usize) {
        if let (Some(most), Some(files)) = (self.keeping.keep_size, &mut self.files) {
            let removed = files.keep(most, self.size.saturating_add(more as u64));
            let path = &self.present;
            self.removing = removed
                .err()
                .map(|error| Trouble::new("remove the oldest files beside", path.clone(), error));
        }
    }
}

/// Takes whole frames, and of them as many as there is room for.
impl Write for Output {
    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        let waits = |trouble: &Trouble| !trouble.is_over();
        // What is cut or gone is seen to before the next event is read.
        if self.away || self.writing.as_ref().is_some_and(waits) || self.is_cut() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.make_room(frames.len());
        let done = self.put(frames);
        if done > 0 {
            if self.keeping.fsync == Fsync::Every {
                self.sync();
            }
        } else if !frames.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a timeline is called, before and after a restart of its program.
fn whatever_run(name: &str) -> &str {
    name_before(name.as_ref())
        .and_then(Path::to_str)
        .unwrap_or(name)
}

/// How much of frames that were cut is whole.
fn whole(frames: &[u8]) -> usize {
    let mut end = 0;
    for part in Frames::new(frames) {
        match part {
            Part::Frame { place, .. } => end = place.end,
            Part::Damage(_) => break,
        }
    }
    end
}
