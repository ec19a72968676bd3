//! The seven priorities, and the level up to which events are logged.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::event::names::nearest::nearest;

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

    /// The priority that may have been meant by a word that is none: one that is like it, or the
    /// one that other logs call so.
    pub fn meant_by(word: &str) -> Option<Priority> {
        let names = Priority::ALL.map(Priority::name);
        let like = nearest(word, names).first().copied();
        let word = word.to_lowercase();
        let other = OTHERS.iter().find(|(other, _)| *other == word);
        let other = other.map(|(_, priority)| *priority);
        other.or_else(|| Priority::named(like?))
    }

    /// The priority of that number, 1 to 7.
    pub fn from_u8(number: u8) -> Option<Priority> {
        Priority::ALL.into_iter().find(|p| *p as u8 == number)
    }
}

/// What other logs call a priority.
const OTHERS: [(&str, Priority); 12] = [
    ("alert", Priority::Error),
    ("crit", Priority::Error),
    ("critical", Priority::Error),
    ("debug", Priority::Trace),
    ("emerg", Priority::Error),
    ("fatal", Priority::Error),
    ("information", Priority::Info),
    ("notice", Priority::Info),
    ("panic", Priority::Error),
    ("severe", Priority::Error),
    ("silly", Priority::Library),
    ("verbose", Priority::Packet),
];

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
            meant: Priority::meant_by(name).map(Priority::name),
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

    /// The level that may have been meant by a word that is none: see [`Priority::meant_by`].
    pub fn meant_by(word: &str) -> Option<Level> {
        match word.to_lowercase().as_str() {
            "off" | "nothing" => return Some(Level::NONE),
            "everything" => return Some(Level::ALL),
            _ => {}
        }
        let like = nearest(word, ["all", "none"]);
        let like = like.first().and_then(|name| Level::named(name));
        Priority::meant_by(word).map(Level::from).or(like)
    }

    /// The error for a word that is no level.
    pub(crate) fn bad(word: &str) -> Error {
        Error::BadLevel {
            found: word.to_owned(),
            meant: Level::meant_by(word).map(Level::name),
        }
    }

    /// Its name, as in `timeline priority`.
    fn name(self) -> &'static str {
        match Priority::from_u8(self.0) {
            Some(priority) => priority.name(),
            None if self == Level::NONE => "none",
            None => "all",
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
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = Error;

    fn from_str(name: &str) -> Result<Level, Error> {
        Level::named(name).ok_or_else(|| Level::bad(name))
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
        for (word, meant) in [
            ("INFO", Some("info")),
            ("inof", Some("info")),
            ("debug", Some("trace")),
            ("Warn", Some("warning")),
            ("err", Some("error")),
            ("FATAL", Some("error")),
            ("None", Some("none")),
            ("off", Some("none")),
            ("loud", None),
            ("", None),
        ] {
            let told = word.parse::<Level>().unwrap_err().to_string();
            let hint = meant.map(|meant| format!("; did you mean {meant}?"));
            let expected = format!("packet, library, all or none{}", hint.unwrap_or_default());
            assert!(told.ends_with(&expected), "{word}: {told}");
        }
        let told = "debug".parse::<Priority>().unwrap_err().to_string();
        assert!(
            told.ends_with("packet or library; did you mean trace?"),
            "{told}"
        );
        assert!("".parse::<Level>().is_err());
    }
}
