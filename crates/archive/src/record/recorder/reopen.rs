//! A recorder goes on in a file that is begun anew, since somebody removed, moved or cut it.

use super::Recorder;
use crate::format::record::events_in;
use crate::record::output::Change;

impl Recorder<'_> {
    /// What happened to the file since this was asked last, if it was begun anew because of it: see
    /// [`Change`].
    pub fn change(&mut self) -> Option<Change> {
        self.change.take()
    }

    /// Begins the file anew if need be; whether it can be written to.
    pub(crate) fn keep_place(&mut self) -> bool {
        let Some(change) = self.writer.output().change() else {
            // Perhaps it was put back.
            self.writer.output().stay();
            return true;
        };
        if change == Change::Gone {
            // It was logged before, and belongs to what stands before it.
            let _ = self.writer.flush();
        }
        if !self.writer.output().begin_anew(change) {
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

    /// Says anew what a file needs to be read by itself.
    pub(crate) fn renew(&mut self) {
        self.writer.forget();
        self.forget_interned();
        let introduction = self.introduction();
        self.introduce(&introduction);
        if !self.is_new {
            self.remember();
        }
    }
}
