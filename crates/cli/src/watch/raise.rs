//! Raises the level for a short time. The level that was set stays what it was.

use std::time::{Duration, Instant};

use timeline::{Control, Level, Sampler};

use crate::failure::Result;
use crate::output;
use crate::permission;
use crate::target::Target;
use crate::trust::TrustArgs;

/// The time to the next burst, which never comes: the sampler is dropped before.
const NEVER: Duration = Duration::from_secs(3600);

/// Raises the level of a timeline, one time after the other.
pub struct Raise<'a> {
    target: &'a Target,
    trusted: &'a TrustArgs,
    level: Level,
    length: Duration,
    control: Option<Control>,
    /// The burst, and when it is over.
    burst: Option<(Sampler, Instant)>,
}

impl<'a> Raise<'a> {
    /// Attaches, so that a missing permission is told at once.
    pub fn new(
        target: &'a Target,
        trusted: &'a TrustArgs,
        (level, length): (Level, Duration),
    ) -> Result<Raise<'a>> {
        Ok(Raise {
            target,
            trusted,
            level,
            length,
            control: Some(target.control(trusted)?),
            burst: None,
        })
    }

    /// Begins a burst. One that has not ended goes on for as long again.
    pub fn begin(&mut self) {
        self.burst = None;
        let Some(control) = &self.control else { return };
        match control.sample(self.level, self.length, self.length + NEVER) {
            Ok(sampler) => self.burst = Some((sampler, Instant::now() + self.length)),
            Err(error) => {
                let told = permission::told(&error);
                output::say(format_args!("the level is not raised: {told}"));
            }
        }
    }

    /// Whether the level is still raised.
    pub fn is_raised(&mut self) -> bool {
        // Its thread has lowered the level by then, or does so when it is dropped.
        self.burst.take_if(|(_, end)| *end <= Instant::now());
        self.burst.is_some()
    }

    /// Restores the level now.
    pub fn end(&mut self) {
        self.burst = None;
    }

    /// Goes on with the timeline that has the name now.
    pub fn next_timeline(&mut self) {
        self.burst = None;
        self.control = self.target.control(self.trusted).ok();
        if self.control.is_none() {
            output::say("the level of this timeline cannot be raised");
        }
    }
}
