//! Changes what was asked for, and brings all events in line with it.

use std::path::Path;

use crate::error::{Error, Result};
use crate::event::control::channel::{Channel, Switch, channels_of_event};
use crate::event::control::rules::Rules;
use crate::event::definitions::event_id::EventId;
use crate::event::definitions::priority::{Level, Priority};
use crate::event::tables::switches::Switches;
use crate::event::tables::table::Definitions;
use crate::sync::{AtomicU8, Ordering};

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

    /// Whether an event is logged at present, as its enable byte says.
    pub fn is_enabled(&self, id: EventId) -> bool {
        let is_defined = (1..self.count()).contains(&id.0);
        let byte = |id| self.map.record::<AtomicU8>(self.geometry.enable().at(id));
        // Relaxed: an answer of a moment later may be another one.
        is_defined && byte(id.0).load(Ordering::Relaxed) != 0
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

    /// An error if these rules, added to those that were asked for, take more than half of the room
    /// for rules: who says so may not use it up.
    pub fn refuse_many_rules(&self, path: &Path, later: &Rules) -> Result<()> {
        let mut rules = self.rules();
        rules.add(later);
        let (needed, capacity) = (rules.text().len(), Switches::LONGEST / 2);
        match needed > capacity {
            false => Ok(()),
            true => Err(Error::RulesFull {
                path: path.to_path_buf(),
                needed,
                capacity,
            }),
        }
    }

    /// Switches those of these channels that are defined. The caller holds the define lock.
    pub fn switch_known_channels(&self, path: &Path, wanted: &[Switch]) -> Result<()> {
        let is_known = |switch: &&Switch| self.channels.known([&switch.0]).is_some();
        let known: Vec<_> = wanted.iter().filter(is_known).cloned().collect();
        match known.is_empty() {
            true => Ok(()),
            false => self.switch_channels(path, &known),
        }
    }

    /// Switches the channels of an event, which are defined, as these wishes say. Those that
    /// somebody has switched stay as they are. The caller holds the define lock.
    pub fn grant(&self, path: &Path, channels: &str, wishes: &[Switch]) -> Result<()> {
        let names = channels_of_event(channels)?;
        let switched = self.channels.all().into_iter().filter(|each| each.switched);
        let switched: Vec<_> = switched.map(|each| each.name).collect();
        let is_granted = |(wish, _): &&Switch| {
            names.iter().any(|(name, _)| name == wish) && !switched.contains(wish)
        };
        let granted: Vec<_> = wishes.iter().filter(is_granted).cloned().collect();
        self.switch_known_channels(path, &granted)
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
