//! Notices that a program was started again: its name leads to another timeline.

use std::path::Path;
use std::time::{Duration, Instant};

use timeline::Attached;

use crate::output;

/// How often to ask what the name leads to.
const ASK: Duration = Duration::from_millis(200);

/// Watches what the name of a timeline leads to.
pub struct Restart<'a> {
    at: &'a Attached,
    /// The name that was given.
    path: &'a Path,
    asked: Option<Instant>,
    /// Whether it was said that the name is gone.
    gone: bool,
}

impl<'a> Restart<'a> {
    /// Of the timeline that the name leads to now.
    pub fn new(at: &'a Attached, path: &'a Path) -> Restart<'a> {
        Restart {
            at,
            path,
            asked: None,
            gone: false,
        }
    }

    /// Whether it is time to ask, for the first time or again.
    pub fn is_due(&mut self) -> bool {
        let due = self.asked.is_none_or(|asked| asked.elapsed() >= ASK);
        if due {
            self.asked = Some(Instant::now());
        }
        due
    }

    /// The timeline that took the name, if one did since. Says so if the name is gone.
    pub fn next(&mut self) -> Option<Attached> {
        if !self.at.replaced() {
            return None;
        }
        // Not there, or not finished yet: ask again later.
        let next = Attached::open(self.path).ok();
        if next.is_none() && !std::mem::replace(&mut self.gone, true) {
            let path = self.at.path().display();
            output::say(format_args!(
                "{path} was removed; waiting for it to come back"
            ));
        }
        next
    }
}
