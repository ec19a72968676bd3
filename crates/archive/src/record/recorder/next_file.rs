//! Continues a recorder in another file.
//! The reason is that the file is full or old, or that it was removed, moved or cut.

use super::Recorder;
use crate::format::record::{events_in, first_reached};
use crate::record::output::{FileChange, NextWrite};

/// The newest steps of the wall clock that a preamble has.
const MOST_STEPS: usize = 256;

impl Recorder<'_> {
    /// The change of the file since the last call, if it was opened again because of it.
    pub fn change(&mut self) -> Option<FileChange> {
        self.change.take()
    }

    /// Opens the file again if it was changed. Returns whether it can be written to.
    pub(super) fn reopen_if_changed(&mut self) -> bool {
        let Some(change) = self.writer.output().destination().change() else {
            return true;
        };
        if change == FileChange::Gone {
            // These events were logged before the change and belong to the old file.
            let _ = self.writer.flush();
        }
        if !self.writer.output().reopen(change) {
            return false;
        }
        self.writer.end_block();
        // The strings of these frames are in the old file.
        let unwritten = self.writer.take_back(0);
        let lost = events_in(&unwritten);
        self.totals.events = self.totals.events.saturating_sub(lost);
        self.waiting = None;
        self.tell_again(&unwritten);
        self.renew();
        self.totals.missed = self.totals.missed.saturating_add(lost);
        let _ = self.writer.lost(lost);
        self.change = Some(change);
        true
    }

    /// Whether another file is to be begun before `next` is written.
    pub(super) fn is_due(&mut self, next: NextWrite) -> bool {
        let waiting = (self.writer.least(), self.writer.most());
        self.writer.output().is_due(waiting, next)
    }

    /// Begins another file if this one has no room for a record of `bytes` bytes, even after the
    /// waiting events are compressed. Returns whether it did. Unwritten bytes from `before` on are
    /// definitions of that record, and go to the same file.
    #[cold]
    pub(super) fn make_room(&mut self, bytes: u64, before: usize) -> bool {
        let is_limited = self.writer.output().room() < u64::MAX;
        if !is_limited || !self.is_due(NextWrite::Record(bytes)) {
            return false;
        }
        let definitions = self.writer.take_back(before);
        self.writer.end_block();
        let bytes = bytes + definitions.len() as u64;
        let rotated = self.is_due(NextWrite::Block(bytes)) && self.rotate();
        if !rotated {
            self.writer.put_back(&definitions);
        }
        rotated
    }

    /// Begins another file, which can be read without those before it. If that fails, the recorder
    /// stays in this one.
    pub(super) fn rotate(&mut self) -> bool {
        let has_left = self.leave_file();
        if has_left {
            self.renew();
        }
        has_left
    }

    /// Leaves the file for the next one.
    fn leave_file(&mut self) -> bool {
        self.writer.flush().is_ok() && self.writer.output().rotate()
    }

    /// What frames account for that are not written is told again, by later ones. Also if they had
    /// no event: they say what was left out.
    fn tell_again(&mut self, frames: &[u8]) {
        for (lane, from) in first_reached(frames) {
            self.writer.goes_on_from(lane, from);
        }
    }

    /// Begins another file if it is time to, and introduces the run in it or in this one.
    pub(super) fn begin_batch(&mut self) {
        let rotated = self.is_due(NextWrite::Batch) && self.rotate();
        if !rotated && !self.introduced {
            self.begin();
        }
    }

    /// Introduces the run, in another file if this one has no room for the introduction.
    pub(super) fn begin(&mut self) {
        let introduction = self.introduction();
        let bytes = introduction.len() as u64;
        if self.is_due(NextWrite::Run(bytes)) && self.leave_file() {
            self.tell_again(&introduction);
            self.renew();
        } else {
            self.introduce(&introduction);
        }
    }

    /// Repeats everything that a file needs to be read by itself.
    fn renew(&mut self) {
        self.writer.forget();
        self.forget_interned();
        let introduction = self.introduction();
        self.introduce(&introduction);
        if !self.is_new {
            self.introduce_newest();
        }
    }

    /// Frames that identify the run, and say where its events begin in each lane, and the important
    /// events so far.
    fn introduction(&mut self) -> Vec<u8> {
        self.writer.end_block();
        let before = self.writer.unwritten().len();
        if self.gap_unwritten {
            // Before the preamble: a recorder that finds the preamble does not look for a gap
            // again.
            self.writer.missed_unknown();
        }
        self.preamble.anchors = self.at.anchors();
        self.take_steps();
        self.writer.preamble(&self.preamble);
        if let Some((comparison, _)) = &self.clock_told {
            self.writer.clock(comparison);
        }
        self.processes
            .repeat(self.at, &self.preamble, &mut self.writer);
        // What was left out so far is told before the positions behind it.
        self.writer.tell_moved();
        let positions = self.writer.positions().to_vec();
        self.writer.reached(Some(self.writer.magic()), positions);
        self.repeat_important();
        self.writer.take_back(before)
    }

    /// Adds the steps of the wall clock that were noticed since to the preamble. Returns whether
    /// there are any. The ring forgets them before the archive does.
    fn take_steps(&mut self) -> bool {
        let known = self.preamble.steps.last().map_or(0, |step| step.ticks);
        let mut steps = self.at.steps();
        steps.retain(|step| step.ticks > known);
        let is_new = !steps.is_empty();
        self.preamble.steps.extend(steps);
        let too_many = self.preamble.steps.len().saturating_sub(MOST_STEPS);
        self.preamble.steps.drain(..too_many);
        is_new
    }

    /// Writes which processes have joined since, before their events.
    pub(super) fn tell_processes(&mut self) {
        if self.introduced {
            self.processes
                .tell(self.at, &self.preamble, &mut self.writer);
        }
    }

    /// Writes the preamble once more if the wall clock was set since: readers take the last.
    pub(super) fn tell_steps(&mut self) {
        let changes = self.at.clock_changes();
        if self.clock_changes == changes || !self.introduced {
            return;
        }
        self.clock_changes = changes;
        if self.take_steps() {
            self.writer.end_block();
            self.writer.preamble(&self.preamble);
        }
    }

    /// Writes the important events that an earlier file has already.
    fn repeat_important(&mut self) {
        if self.important.is_empty() {
            return;
        }
        for placed in self.at.important() {
            if self.important.contains(&placed.number) {
                self.take(&placed);
                self.event.unix_nanos = self.clock.unix_nanos(self.at, placed.event.ticks);
                self.writer.put_important(&self.event);
            }
        }
    }

    /// Writes an introduction.
    fn introduce(&mut self, introduction: &[u8]) {
        let bytes = introduction.len() as u64;
        self.writer.put_back(introduction);
        self.writer.output().introduce(&self.preamble, bytes);
        self.introduced = true;
        self.gap_unwritten = false;
    }

    /// Introduces the newest run, if this run is older, and writes how far the newest run is
    /// recorded. A recorder of the newest run then need not read the files before this one.
    fn introduce_newest(&mut self) {
        if let Some((run, next)) = self.writer.output().newest_after(&self.preamble) {
            let before = self.writer.unwritten().len();
            self.writer.preamble(&run);
            self.writer.reached(run.magic, next);
            let bytes = self.writer.unwritten().len() - before;
            self.writer.output().introduce(&run, bytes as u64);
        }
    }
}
