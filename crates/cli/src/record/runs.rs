//! Watches for the end of the run that is recorded, and for the next one.

use timeline::{Attached, is_former};

use super::Args;
use crate::restart::Restart;

/// Watches whether more events can come, and whether the program was started again.
pub struct Watch<'a> {
    at: &'a Attached,
    pub restart: Restart<'a>,
    /// Whether to end with this run.
    once: bool,
    pub entries: u64,
    /// Whether no more events can come, or none that are to be recorded.
    pub is_done: bool,
}

impl<'a> Watch<'a> {
    pub fn new(at: &'a Attached, args: &'a Args) -> Watch<'a> {
        // A timeline that a new run renamed has no writers, and no next run.
        let aside = is_former(at.path());
        Watch {
            at,
            restart: Restart::new(at, args.target.path()),
            once: args.once,
            entries: at.info().entries,
            is_done: at.is_snapshot() || aside,
        }
    }

    /// The timeline of the next run, if there is one and it is to be recorded.
    pub fn next(&mut self) -> Option<Attached> {
        if self.is_done {
            return None;
        }
        if self.once {
            self.restart.restore_level();
            let users = || timeline::users(self.at.path());
            let unused = || users().is_ok_and(|users| users.is_empty());
            self.is_done = self.at.replaced() || unused();
            return None;
        }
        self.restart.next()
    }
}
