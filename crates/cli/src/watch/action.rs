//! Reads what is to be done when a condition is met: `--then`.

use std::str::FromStr;
use std::time::Duration;

use timeline::Level;
use timeline::dump::printable;

use crate::time::parse_duration;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Save a snapshot.
    Save,
    /// Raise the level for a time.
    Priority(Level, Duration),
    /// Run this command by a shell.
    Exec(String),
}

impl Action {
    /// Whether it raises the level.
    pub fn is_priority(&self) -> bool {
        matches!(self, Action::Priority(..))
    }
}

impl FromStr for Action {
    type Err = String;

    fn from_str(text: &str) -> Result<Action, String> {
        let expected = || {
            let shown = printable(text);
            format!(
                "expected save, 'priority LEVEL for TIME' or 'exec COMMAND', got {}",
                if text.is_empty() { "nothing" } else { &shown }
            )
        };
        let text = text.trim();
        let (verb, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match verb {
            "save" if rest.is_empty() => Ok(Action::Save),
            "exec" if !rest.is_empty() => Ok(Action::Exec(rest.to_owned())),
            "priority" => {
                let (level, time) = rest.split_once(" for ").ok_or_else(expected)?;
                let level = level.trim().parse().map_err(|error| format!("{error}"))?;
                Ok(Action::Priority(level, parse_duration(time.trim())?))
            }
            _ => Err(expected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read_and_others_told() {
        let read = |text: &str| text.parse::<Action>();
        assert_eq!(read("save"), Ok(Action::Save));
        assert_eq!(read(" exec  a  b "), Ok(Action::Exec("a  b".into())));
        assert_eq!(
            read("priority all for 100us"),
            Ok(Action::Priority(Level::ALL, Duration::from_micros(100)))
        );
        for (text, told) in [
            ("", "got nothing"),
            ("exec", "expected save, 'priority"),
            ("save it", "got save it"),
            ("priority packet", "expected save"),
            ("priority loud for 1s", "\"loud\""),
            ("priority packet for 1", "expected a time with a unit"),
            ("priority packet for 0s", "above zero"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
