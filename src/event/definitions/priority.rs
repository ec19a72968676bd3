//! The seven priorities, and the level up to which events are logged.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// How much detail an event is, from the rare and grave to the frequent and fine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// Something failed.
    Error = 1,
    /// Something looks wrong.
    Warning = 2,
    /// Something worth knowing in production.
    Info = 3,
    /// The course of the program.
    Trace = 4,
    /// Details of the application.
    App = 5,
    /// Each packet, request or message.
    Packet = 6,
    /// Inside the libraries.
    Library = 7,
}

impl Priority {
    /// All of them, in rising detail.
    pub const ALL: [Priority; 7] = [
        Priority::Error,
        Priority::Warning,
        Priority::Info,
        Priority::Trace,
        Priority::App,
        Priority::Packet,
        Priority::Library,
    ];

    /// Its name, as in `timeline priority`.
    pub const fn name(self) -> &'static str {
        match self {
            Priority::Error => "error",
            Priority::Warning => "warning",
            Priority::Info => "info",
            Priority::Trace => "trace",
            Priority::App => "app",
            Priority::Packet => "packet",
            Priority::Library => "library",
        }
    }

    fn named(name: &str) -> Option<Priority> {
        Priority::ALL.into_iter().find(|p| p.name() == name)
    }

    /// The priority of that number, 1 to 7.
    pub fn from_u8(number: u8) -> Option<Priority> {
        Priority::ALL.into_iter().find(|p| *p as u8 == number)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Priority {
    type Err = Error;

    fn from_str(name: &str) -> Result<Priority, Error> {
        Priority::named(name).ok_or_else(|| Error::BadPriority {
            found: name.to_string(),
        })
    }
}

/// How much is logged: events up to a priority, none, or all.
///
/// # Example
/// ```
/// use timeline::{Level, Priority};
/// let level: Level = "info".parse()?;
/// assert!(level.allows(Priority::Warning));
/// assert!(!level.allows(Priority::Trace));
/// assert!(Level::ALL.allows(Priority::Library));
/// assert!(!Level::NONE.allows(Priority::Error));
/// # Ok::<(), timeline::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u8);

impl Level {
    /// Nothing is logged.
    pub const NONE: Level = Level(0);
    /// Everything is logged.
    pub const ALL: Level = Level(8);

    /// Whether events of that priority are logged.
    pub fn allows(self, priority: Priority) -> bool {
        priority as u8 <= self.0
    }

    /// Its number: 0 none, 1 to 7 a priority, 8 all.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The level of that number, 0 to 8.
    pub fn from_u8(number: u8) -> Option<Level> {
        (number <= Level::ALL.0).then_some(Level(number))
    }

    /// The level of that name.
    pub(crate) fn named(name: &str) -> Option<Level> {
        match name {
            "all" => Some(Level::ALL),
            "none" => Some(Level::NONE),
            _ => Priority::named(name).map(Level::from),
        }
    }

    /// The level in a header field. A number out of range allows everything.
    pub(crate) fn from_field(field: u32) -> Level {
        u8::try_from(field)
            .ok()
            .and_then(Level::from_u8)
            .unwrap_or(Level::ALL)
    }
}

impl From<Priority> for Level {
    fn from(priority: Priority) -> Level {
        Level(priority as u8)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match Priority::from_u8(self.0) {
            Some(priority) => priority.name(),
            None if *self == Level::NONE => "none",
            None => "all",
        })
    }
}

impl FromStr for Level {
    type Err = Error;

    fn from_str(name: &str) -> Result<Level, Error> {
        Level::named(name).ok_or_else(|| Error::BadLevel {
            found: name.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways_and_rise_in_detail() {
        for pair in Priority::ALL.windows(2) {
            assert!(pair[0] < pair[1]);
        }
        for p in Priority::ALL {
            assert_eq!(p.to_string().parse::<Priority>().unwrap(), p);
            assert_eq!(Priority::from_u8(p as u8), Some(p));
        }
        for n in 0..=8 {
            let level = Level::from_u8(n).unwrap();
            assert_eq!(level.to_string().parse::<Level>().unwrap(), level);
            let allowed = Priority::ALL.iter().filter(|p| level.allows(**p)).count();
            assert_eq!(allowed, usize::from(n.min(7)));
        }
        assert!(Level::from_u8(9).is_none());
        assert!("Info".parse::<Priority>().is_err());
        assert!("".parse::<Level>().is_err());
    }
}
