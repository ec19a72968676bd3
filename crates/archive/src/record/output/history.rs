//! Finds the runs in an archive, and how far each is recorded: a recorder continues there.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use timeline::internal::{files::open_to_read, name_before};
use timeline::{Attached, is_former};

use crate::error::{Error, Result};
use crate::format::preamble::Preamble;
use crate::record::resume::{ResumeState, RunState};
use crate::write::writer::FileDictionary;

/// Where a recorder continues with a ring.
pub struct Resume {
    /// The run of the ring. It has a magic.
    pub run: Preamble,
    /// Whether nothing of the run was recorded before.
    pub is_new: bool,
    /// The lanes, and the number of the next event of each.
    pub next: Vec<(u64, u64)>,
    /// The lanes that end with a gap: the event behind it was not written.
    pub gaps: HashSet<u32>,
    /// The numbers of the important events that are recorded.
    pub important: BTreeSet<u64>,
    /// Whether the current file has the preamble of the run.
    pub introduced: bool,
    /// The strings that the current file defines for the run.
    pub known: FileDictionary,
    /// Whether other runs were recorded before.
    pub later: bool,
}

/// What a recorder leaves for the next one.
pub struct Handover {
    /// The lanes, and the number of the next event of each.
    pub positions: Vec<(u64, u64)>,
    /// The lanes that end with a gap, and the number of the event behind it.
    pub gaps: BTreeMap<u64, u64>,
    /// The strings and symbols in the current file.
    pub known: FileDictionary,
    /// The numbers of the important events that are recorded.
    pub important: BTreeSet<u64>,
}

/// The contents of the current file, and of the older files as far as they had to be read.
pub struct History {
    current: ResumeState,
    older: ResumeState,
    /// Older files that are not read yet, the newest first.
    unread: VecDeque<PathBuf>,
    /// Whether the current file is something else than an archive.
    foreign: bool,
    /// Whether a file was passed over, which may have had events.
    lost: bool,
    /// The preamble of the current file, if it had nothing else: then the file is written from its
    /// beginning.
    lone_preamble: Option<Preamble>,
}

impl History {
    /// Of the contents of the current file, and the names of the older files, the newest first.
    /// `lost` says whether one of these was an archive at most, and is none now.
    pub fn new(
        mut current: ResumeState,
        older: impl Iterator<Item = PathBuf>,
        lost: bool,
    ) -> History {
        let (foreign, mut lone_preamble) = (current.is_foreign(), None);
        if current.is_nothing_yet() {
            lone_preamble = current.runs.pop();
            current = ResumeState::default();
        }
        History {
            current,
            older: ResumeState::default(),
            unread: older.collect(),
            foreign,
            lost,
            lone_preamble,
        }
    }

    /// Of a run that is recorded elsewhere, up to this state. The next frames begin a file.
    pub fn of_run(run: Preamble, state: Option<RunState>) -> History {
        let found = state.map_or_else(ResumeState::nothing, |state| {
            ResumeState::of_run(run, state)
        });
        let mut history = History::new(found, std::iter::empty(), false);
        history.go_on_in(ResumeState::default());
        history
    }

    /// The end of the whole frames in the current file.
    pub fn end(&self) -> u64 {
        self.current.end
    }

    /// Another file, with these contents, becomes the current one.
    pub fn go_on_in(&mut self, found: ResumeState) {
        let mut passed = std::mem::replace(&mut self.current, found);
        passed.known.clear();
        passed.add_older(std::mem::take(&mut self.older));
        self.older = passed;
    }

    /// The preambles of the files that were read, the last one first: of a run, it has the newest
    /// steps of the clock.
    fn runs(&self) -> impl Iterator<Item = &Preamble> {
        self.older.runs.iter().chain(&self.current.runs).rev()
    }

    /// The last run of a timeline with the name of this one, in the files that were read.
    pub fn last_of(&self, at: &Attached) -> Option<&Preamble> {
        let name = name_of_all_runs(at);
        self.runs().find(|run| has_name(run, &name))
    }

    /// The run of a ring, as the archive has it. If its preamble was destroyed, the magic of other
    /// records identifies it.
    fn run(
        &self,
        at: &Attached,
        made: &LazyCell<Preamble, impl FnOnce() -> Preamble>,
    ) -> Option<Preamble> {
        let named = |run: &&Preamble| run.magic.is_some() && run.is_of(at);
        let magics = self
            .current
            .positions
            .keys()
            .chain(self.older.positions.keys());
        let mut unnamed = magics.filter(|magic| self.runs().all(|run| run.magic != Some(**magic)));
        let found = self.runs().find(named).cloned();
        // Made only if needed, because it computes the digest of an executable.
        found.or_else(|| {
            unnamed
                .any(|m| made.magic == Some(*m))
                .then(|| Preamble::clone(made))
        })
    }

    /// Reads older files until the run of a ring is found. Files are in the order of their runs: if
    /// a file has a run that is older than the ring, the files before it hold nothing of the ring.
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
            match open_to_read(&older).and_then(|file| ResumeState::read(&file)) {
                Ok(found) => self.older.add_older(found),
                // Removed, to make room.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("read", &older, error)),
            }
        }
        Ok(())
    }

    /// Whether the archive is of this timeline, or empty. `run` is the run of the ring, if the
    /// archive has it.
    fn is_of(&self, at: &Attached, run: Option<&Preamble>) -> bool {
        if self.foreign {
            return false;
        }
        let name = name_of_all_runs(at);
        let is_ours = |run: &Preamble| run.is_of(at) || has_name(run, &name);
        let mut runs = self.runs().chain(&self.lone_preamble).peekable();
        let is_ours = match runs.peek() {
            Some(_) => runs.any(is_ours),
            None => self.current.frames == 0 && self.older.frames == 0,
        };
        is_ours || run.is_some()
    }

    /// Where to continue with a ring, in the archive at `path`. `made` is its preamble, if that was
    /// made already.
    pub fn resume(
        &mut self,
        at: &Attached,
        path: &Path,
        made: Option<&Preamble>,
    ) -> Result<Resume> {
        let made = LazyCell::new(|| made.cloned().unwrap_or_else(|| Preamble::of(at)));
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
        let known = magic.and_then(|magic| self.current.known.get(&magic));
        let ends = |(lane, next): &(u64, u64)| {
            let gaps =
                [&self.older, &self.current].map(|found| found.gaps.get(&magic.unwrap_or(0)));
            let mut gaps = gaps.into_iter().flatten().filter_map(|gaps| gaps.get(lane));
            gaps.any(|number| number == next).then_some(*lane)
        };
        let gaps = next.iter().filter_map(ends);
        Ok(Resume {
            gaps: gaps.filter_map(|lane| u32::try_from(lane).ok()).collect(),
            important: self.important(magic),
            is_new: run.is_none(),
            run: run.unwrap_or_else(|| Preamble::clone(&made)),
            next,
            introduced: self.current.runs.iter().any(|run| run.is_of(at)),
            known: known.cloned().unwrap_or_default(),
            // What the ring has overwritten may have been in the file that was lost.
            later: self.lost || self.runs().next().is_some(),
        })
    }

    /// Notes that the current file has the preamble of a run.
    pub fn introduce(&mut self, run: &Preamble) {
        self.current.runs.push(run.clone());
    }

    /// The newest of the runs that are newer than this one, and how far it is recorded.
    pub fn newest_after(&self, run: &Preamble) -> Option<(Preamble, Vec<(u64, u64)>)> {
        let after = self.runs().filter(|other| other.created > run.created);
        // The first of its preambles here.
        let newest = after.min_by_key(|other| Reverse(other.created))?.clone();
        let next = self.next(newest.magic);
        Some((newest, next))
    }

    /// The lanes of a run, and the number of the next event of each.
    fn next(&self, magic: Option<u64>) -> Vec<(u64, u64)> {
        let mut next = BTreeMap::new();
        for found in [&self.older, &self.current] {
            let positions = magic.and_then(|magic| found.positions.get(&magic));
            for (lane, position) in positions.into_iter().flatten() {
                let next: &mut u64 = next.entry(*lane).or_default();
                *next = *position.max(next);
            }
        }
        next.into_iter().collect()
    }

    /// The numbers of the important events of a run that are recorded. If the current file has the
    /// run, it has all of them, and those that it lacks are lost.
    fn important(&self, magic: Option<u64>) -> BTreeSet<u64> {
        let is_in = |found: &&ResumeState| found.runs.iter().any(|run| run.magic == magic);
        let found = [&self.current, &self.older].into_iter().find(is_in);
        let numbers = found.and_then(|found| found.important.get(&magic?));
        numbers.cloned().unwrap_or_default()
    }

    /// Notes how far a run is recorded, and its strings in the current file, for the next recorder.
    pub fn leave(&mut self, magic: u64, left: Handover) {
        self.current.reach(magic, left.positions);
        self.current
            .gaps
            .entry(magic)
            .or_default()
            .extend(left.gaps);
        self.current.known.insert(magic, left.known);
        let important = self.current.important.entry(magic).or_default();
        important.extend(left.important);
    }
}

/// Whether a run is of the timeline with this name, before or after a restart of its program. One
/// that was recorded at the name of a kept timeline was kept there, or logged there itself.
fn has_name(run: &Preamble, name: &str) -> bool {
    let run = run.timeline.as_deref();
    let before = run.and_then(|run| name_before(run.as_ref()));
    run == Some(name) || before == Some(name.as_ref())
}

/// The name of a timeline, without the suffix of earlier runs if it is of one.
fn name_of_all_runs(at: &Attached) -> String {
    let before = name_before(at.path()).filter(|_| is_former(at.path()));
    before.unwrap_or(at.path()).display().to_string()
}

#[cfg(test)]
mod tests {
    use timeline::{Attached, ClockStep, Priority, Timeline};

    use crate::read::open::archive::Archive;
    use crate::record::output::{ArchiveOutput, Keeping};
    use crate::record::recorder::Recorder;
    use crate::write::writer::{Form, Writer};

    #[test]
    fn a_recorder_goes_on_with_the_last_preamble_of_its_run() {
        let path = format!("/timeline-test-last-preamble-{}", std::process::id());
        let timeline = Timeline::with_size(&path, 1024, 4096).unwrap();
        let event = timeline.define("test", Priority::Info, "$n").unwrap();
        let at = Attached::open(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let record = |name: &str, keeping: Keeping| {
            let mut output = ArchiveOutput::open(folder.path().join(name), keeping).unwrap();
            let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
            timeline.log(event, [1]);
            recorder.step();
            recorder.finish();
        };
        for (name, file) in [("one.tla", "one.tla"), ("all/", "all/timeline-000001.tla")] {
            record(name, Keeping::default());
            let first = Archive::open(folder.path().join(name)).unwrap();
            let mut preamble = first.programs().remove(0);
            let step = |ticks| ClockStep {
                ticks,
                after_ticks: ticks - 1,
                after: 3,
                before: 4,
                unix: 5,
            };
            preamble.steps = [7, 9].map(step).into();
            let file = folder.path().join(file);
            let file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
            let mut writer = Writer::new(file, preamble.magic.unwrap(), Form::Blocks);
            writer.preamble(&preamble);
            writer.flush().unwrap();
            record(name, Keeping::default());
            if name.ends_with('/') {
                // In a file of its own.
                let rotate_size = Some(64);
                record(
                    name,
                    Keeping {
                        rotate_size,
                        ..Keeping::default()
                    },
                );
            }
            let archive = Archive::open(folder.path().join(name)).unwrap();
            let magic = preamble.magic.unwrap();
            assert_eq!(archive.preamble(magic).unwrap().steps, preamble.steps);
            assert_eq!(archive.programs()[0].steps, preamble.steps);
            let told = archive
                .preambles()
                .iter()
                .filter(|p| p.steps == preamble.steps)
                .count();
            assert_eq!(told, if name.ends_with('/') { 2 } else { 1 });
        }
        timeline::unlink(&path).unwrap();
    }
}
