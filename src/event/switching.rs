//! Changes what was asked for, and brings all events in line with it.

use std::path::Path;

use super::channels::{Channel, Switch};
use super::rules::Rules;
use super::switches::Switches;
use super::{Definitions, Level, Priority};
use crate::error::{Error, Result};

impl Definitions {
    /// The level that was asked for.
    pub fn level(&self) -> Level {
        self.switches.level()
    }

    /// The level that a sampler asks for at the moment; none otherwise.
    pub fn boost(&self) -> Level {
        self.switches.boost()
    }

    /// The rules that were asked for, with the level.
    pub fn rules(&self) -> Rules {
        self.switches.rules()
    }

    /// Whether some event of that priority may be logged. Signal handlers ask.
    pub fn may_allow(&self, priority: Priority) -> bool {
        self.switches.may_allow(priority)
    }

    /// Adds rules to those that were asked for. The caller holds the define lock.
    pub fn add_rules(&self, path: &Path, later: &Rules) -> Result<()> {
        let mut rules = self.rules();
        rules.add(later);
        let needed = rules.text().len();
        if needed > Switches::LONGEST {
            return Err(Error::RulesFull {
                path: path.to_path_buf(),
                needed,
                capacity: Switches::LONGEST,
            });
        }
        self.switches.set_rules(&rules);
        self.apply();
        Ok(())
    }

    /// The channels.
    pub fn channels(&self) -> Vec<Channel> {
        self.channels.all()
    }

    /// Switches channels on or off, and defines those that are missing. The caller holds the define
    /// lock.
    pub fn switch_channels(&self, path: &Path, wanted: &[Switch]) -> Result<()> {
        let missing = self.channels.missing(path, wanted)?;
        self.channels.add(&self.strings.intern(path, &missing)?);
        self.switches.begin();
        self.channels.switch(wanted);
        self.enable_all();
        self.switches.applied();
        Ok(())
    }

    /// Sets the sampler's level. The caller holds the define lock.
    pub fn set_boost(&self, boost: Level) {
        self.switches.set_boost(boost);
        self.enable_all();
        self.switches.applied();
    }

    /// Brings all events in line with what was asked for, if a process was killed before it had
    /// done that. The caller holds the define lock.
    pub fn catch_up(&self) {
        if !self.switches.are_applied() {
            self.apply();
        }
    }

    fn apply(&self) {
        self.switches.show_level();
        self.judge(&self.rules());
        self.enable_all();
        self.switches.applied();
    }
}
