//! Notices that a program was started again: its name leads to another timeline.

use std::path::Path;
use std::time::{Duration, Instant};

use timeline::Attached;

use crate::info;
use crate::output;
use crate::raised_level::RaisedLevel;

/// How often to look which timeline the name leads to.
const ASK: Duration = Duration::from_millis(200);

/// The end of following one timeline.
pub enum FollowEnd {
    /// A signal came, or no more events can come.
    Done,
    /// Another timeline has the name now.
    Replaced(Box<Attached>),
}

/// Says that another timeline has the name now.
pub fn report(at: &Attached, next: &Attached) {
    let (path, creator) = (at.path().display(), info::creator(&next.info()));
    output::say(format_args!("{path} was created again by {creator}"));
}

/// Watches which timeline a name leads to.
pub struct Restart<'a> {
    at: &'a Attached,
    level: RaisedLevel<'a>,
    /// The name that was given.
    path: &'a Path,
    asked: Option<Instant>,
    /// Whether a message has said that the name is gone.
    gone: bool,
}

impl<'a> Restart<'a> {
    /// Watches the name of the timeline `at`.
    pub fn new(at: &'a Attached, path: &'a Path) -> Restart<'a> {
        Restart {
            at,
            level: RaisedLevel::new(at),
            path,
            asked: None,
            gone: false,
        }
    }

    /// Whether it is time to look, for the first time or again.
    pub fn is_due(&mut self) -> bool {
        let due = self.asked.is_none_or(|asked| asked.elapsed() >= ASK);
        if due {
            self.asked = Some(Instant::now());
        }
        due
    }

    /// Brings the level back if a sampler was killed.
    pub fn restore_level(&mut self) {
        self.level.restore();
    }

    /// The timeline that has taken the name since, if there is one. If the name is gone, this says
    /// so once.
    pub fn next(&mut self) -> Option<Attached> {
        self.restore_level();
        if !self.at.replaced() {
            return None;
        }
        // It may not be there, or not finished yet. The next look tells.
        let next = Attached::open(self.path).ok();
        if next.is_none() && !std::mem::replace(&mut self.gone, true) {
            let path = self.at.path().display();
            output::say(format_args!(
                "{path} was removed; waiting until it is created again"
            ));
        }
        next
    }
}
