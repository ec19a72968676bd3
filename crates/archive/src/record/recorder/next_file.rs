//! A recorder goes on in another file: behind one that is full or old, or in place of one that
//! somebody removed, moved or cut.

use super::Recorder;
use crate::format::record::events_in;
use crate::record::output::{Change, Next};

impl Recorder<'_> {
    /// What happened to the file since this was asked last, if it was begun anew because of it: see
    /// [`Change`].
    pub fn change(&mut self) -> Option<Change> {
        self.change.take()
    }

    /// Opens the file again if somebody changed it; whether it can be written to.
    pub(super) fn keep_place(&mut self) -> bool {
        let rotation = self.writer.output().rotation();
        let Some(change) = rotation.file().change() else {
            // Perhaps it was put back.
            rotation.stay();
            return true;
        };
        if change == Change::Gone {
            // It was logged before, and belongs to what stands before it.
            let _ = self.writer.flush();
        }
        if !self.writer.output().reopen(change) {
            return false;
        }
        self.writer.end_block();
        // What it refers to is not in the file any more.
        let lost = events_in(&self.writer.take_back(0));
        self.totals.events = self.totals.events.saturating_sub(lost);
        self.waiting = None;
        self.renew();
        if lost > 0 {
            self.totals.missed = self.totals.missed.saturating_add(lost);
            let _ = self.writer.missed(lost, None, &[]);
        }
        self.change = Some(change);
        true
    }

    /// Whether another file is to be begun before what comes next.
    pub(super) fn is_due(&mut self, next: Next) -> bool {
        let waiting = (self.writer.least(), self.writer.most());
        self.writer.output().rotation().is_due(waiting, next)
    }

    /// Begins another file if this one has no room for a record of so many bytes; whether it did.
    /// What is not written yet from `before` on belongs into the file of that record. Not if there
    /// is room once what waits is compressed.
    #[cold]
    pub(super) fn make_room(&mut self, bytes: u64, before: usize) -> bool {
        let is_limited = self.writer.output().room() < u64::MAX;
        if !is_limited || !self.is_due(Next::Record(bytes)) {
            return false;
        }
        let referred = self.writer.take_back(before);
        self.writer.end_block();
        let bytes = bytes + referred.len() as u64;
        let rotated = self.is_due(Next::Block(bytes)) && self.rotate();
        if !rotated {
            self.writer.put_back(&referred);
        }
        rotated
    }

    /// Begins another file, which can be read without the one before; stays with that one if there
    /// is no room.
    pub(super) fn rotate(&mut self) -> bool {
        if self.writer.flush().is_err() || !self.writer.output().rotate() {
            return false;
        }
        self.renew();
        true
    }

    /// Introduces the run, in another file if this one has no room for that.
    pub(super) fn begin(&mut self) {
        let introduction = self.introduction();
        let bytes = introduction.len() as u64;
        if !(self.is_due(Next::Run(bytes)) && self.rotate()) {
            self.introduce(&introduction);
        }
    }

    /// Says anew what a file needs to be read by itself.
    fn renew(&mut self) {
        self.writer.forget();
        self.forget_interned();
        let introduction = self.introduction();
        self.introduce(&introduction);
        if !self.is_new {
            self.introduce_newest();
        }
    }

    /// Frames that say whose events follow, and where they begin.
    fn introduction(&mut self) -> Vec<u8> {
        self.writer.end_block();
        let before = self.writer.unwritten().len();
        if self.unsaid {
            // Before the preamble: whoever finds that run here does not look for a gap again.
            self.writer.missed_unknown();
        }
        self.preamble.anchors = self.at.anchors();
        self.writer.preamble(&self.preamble);
        let places = self.writer.places().to_vec();
        self.writer.reached(Some(self.writer.magic()), places);
        self.writer.take_back(before)
    }

    /// Says in the file whose events follow, and where they begin.
    fn introduce(&mut self, introduction: &[u8]) {
        let bytes = introduction.len() as u64;
        self.writer.put_back(introduction);
        self.writer.output().introduce(&self.preamble, bytes);
        self.introduced = true;
        self.unsaid = false;
    }

    /// Says how far a later run is recorded, of which this file holds nothing: whoever goes on with
    /// that one looks no further.
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
