//! Which runs an archive holds, and how far: so a recorder goes on where an earlier one stopped.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use timeline::{Attached, Error, Result, files::open_to_read, name_before};

use crate::format::preamble::Preamble;
use crate::record::resume::Contents;
use crate::write::writer::Known;

/// Where to go on with a ring.
pub struct Resume {
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

/// What stands in the present file, and as far as it had to be looked for in those before.
pub struct History {
    here: Contents,
    before: Contents,
    /// Files that are still to be looked into, the newest first.
    unread: VecDeque<PathBuf>,
    /// Whether the present file is no archive.
    foreign: bool,
    /// The preamble of a file that had nothing behind it, and is begun again.
    alone: Option<Preamble>,
}

impl History {
    /// Of what stands in the present file, and in files before it, the newest first.
    pub fn new(mut here: Contents, older: impl Iterator<Item = PathBuf>) -> History {
        let (foreign, mut alone) = (here.is_foreign(), None);
        if here.is_nothing_yet() {
            alone = here.runs.pop();
            here = Contents::default();
        }
        History {
            here,
            before: Contents::default(),
            unread: older.collect(),
            foreign,
            alone,
        }
    }

    /// Where the whole frames of the present file end.
    pub fn end(&self) -> u64 {
        self.here.end
    }

    /// Another file is the present one, of which so much is known.
    pub fn go_on_in(&mut self, found: Contents) {
        let mut passed = std::mem::replace(&mut self.here, found);
        passed.known.clear();
        passed.add_older(std::mem::take(&mut self.before));
        self.before = passed;
    }

    fn runs(&self) -> impl Iterator<Item = &Preamble> {
        self.here.runs.iter().chain(&self.before.runs)
    }

    /// The last run of the timeline of this name, in all that was read.
    pub fn last_of(&self, name: &str) -> Option<&Preamble> {
        let mut newest_first = self.before.runs.iter().chain(&self.here.runs).rev();
        newest_first.find(|run| has_name(run, name))
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

    /// Looks for the run of a ring in the older files. They follow upon each other: before one of
    /// an earlier run, there is nothing of this one.
    fn read_older(
        &mut self,
        at: &Attached,
        made: &LazyCell<Preamble, impl FnOnce() -> Preamble>,
    ) -> Result<()> {
        let created = Some(at.info().created_unix_nanos);
        while self.run(at, made).is_none()
            && self.runs().all(|run| run.created >= created)
            && let Some(older) = self.unread.pop_front()
        {
            match open_to_read(&older).and_then(|file| Contents::read(&file)) {
                Ok(found) => self.before.add_older(found),
                // Removed, to make room.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", &older, error)),
            }
        }
        Ok(())
    }

    /// Whether the archive is of this timeline, or of none yet; its run is known or not.
    fn is_of(&self, at: &Attached, run: Option<&Preamble>) -> bool {
        if self.foreign {
            return false;
        }
        let name = at.path().display().to_string();
        let is_ours = |run: &Preamble| run.is_of(at) || has_name(run, &name);
        let mut runs = self.runs().chain(&self.alone).peekable();
        let is_ours = match runs.peek() {
            Some(_) => runs.any(is_ours),
            None => self.here.frames == 0 && self.before.frames == 0,
        };
        is_ours || run.is_some()
    }

    /// Where to go on with a ring, in the archive at `path`.
    pub fn resume(&mut self, at: &Attached, path: &Path) -> Result<Resume> {
        let made = LazyCell::new(|| Preamble::of(at));
        self.read_older(at, &made)?;
        let run = self.run(at, &made);
        if !self.is_of(at, run.as_ref()) {
            return Err(Error::OtherRing {
                path: path.into(),
                timeline: at.path().to_path_buf(),
            });
        }
        let magic = run.as_ref().and_then(|run| run.magic);
        let next = self.next(magic);
        let known = magic.and_then(|magic| self.here.known.get(&magic));
        let ends = |(lane, next): &(u64, u64)| {
            let gaps = [&self.before, &self.here].map(|found| found.gaps.get(&magic.unwrap_or(0)));
            let mut gaps = gaps.into_iter().flatten().filter_map(|gaps| gaps.get(lane));
            gaps.any(|number| number == next).then_some(*lane)
        };
        let gaps = next.iter().filter_map(ends);
        Ok(Resume {
            gaps: gaps.filter_map(|lane| u32::try_from(lane).ok()).collect(),
            is_new: run.is_none(),
            run: run.unwrap_or_else(|| Preamble::clone(&made)),
            next,
            introduced: self.here.runs.iter().any(|run| run.is_of(at)),
            known: known.cloned().unwrap_or_default(),
            later: self.runs().next().is_some(),
        })
    }

    /// Notes that a run begins in the present file.
    pub fn introduce(&mut self, run: &Preamble) {
        self.here.runs.push(run.clone());
    }

    /// The newest of the runs after this one, and how far it is recorded.
    pub fn newest_after(&self, run: &Preamble) -> Option<(Preamble, Vec<(u64, u64)>)> {
        let after = self.runs().filter(|other| other.created > run.created);
        let newest = after.max_by_key(|other| other.created)?.clone();
        let next = self.next(newest.magic);
        Some((newest, next))
    }

    /// Of the lanes of a run, the number of the next event.
    fn next(&self, magic: Option<u64>) -> Vec<(u64, u64)> {
        let mut next = BTreeMap::new();
        for found in [&self.before, &self.here] {
            let places = magic.and_then(|magic| found.places.get(&magic));
            for (lane, place) in places.into_iter().flatten() {
                let next: &mut u64 = next.entry(*lane).or_default();
                *next = *place.max(next);
            }
        }
        next.into_iter().collect()
    }

    /// Notes how far a run is recorded, and what stands there of it, for whoever goes on with it.
    pub fn leave(
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
}

/// Whether a run is of the timeline of this name, before or after a restart of its program.
fn has_name(run: &Preamble, name: &str) -> bool {
    run.timeline.as_deref().map(name_of_all_runs) == Some(name_of_all_runs(name))
}

/// What a timeline is called, before and after a restart of its program.
fn name_of_all_runs(name: &str) -> &str {
    name_before(name.as_ref())
        .and_then(Path::to_str)
        .unwrap_or(name)
}
