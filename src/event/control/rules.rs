//! Rules: which events are logged, as words such as `info,engine=packet,+net.sent,-net.*`.
//!
//! Each event follows the last word that speaks of it. So a word at the end changes what was asked
//! for before, and nothing has to be undone first. A level alone speaks of all events: whatever
//! stands before it no longer counts.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::event::definitions::definition::Definition;
use crate::event::definitions::priority::{Level, Priority};
use crate::event::messages::syntax::Syntax;
use crate::event::names::glob::matches;
use crate::event::names::name::{category_name, event_name, is_in_pattern};

/// Which events are logged: a level for all of them, other levels for categories, and events that
/// are logged or not, whatever their priority.
///
/// | word | meaning |
/// |---|---|
/// | `info` | the level of all events; only as the first word. It ends all earlier rules |
/// | `engine=packet` | the level of the events of category `engine` |
/// | `+engine.got_*` | events of these names are logged |
/// | `-engine.got_*` | events of these names are not logged |
///
/// In categories and names, `*` is any text and `?` any one character. See
/// [`Definition::name`](crate::Definition::name).
///
/// # Example
/// ```
/// use timeline::Rules;
/// let mut rules: Rules = "info,engine=packet".parse()?;
/// rules.add(&"-engine.idle_*".parse()?);
/// assert_eq!(rules.to_string(), "info,engine=packet,-engine.idle_*");
/// rules.add(&"engine=trace".parse()?); // replaces the earlier word about that category
/// assert_eq!(rules.to_string(), "info,-engine.idle_*,engine=trace");
/// # Ok::<(), timeline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    level: Option<Level>,
    rules: Vec<Rule>,
}

/// What one word says of the events whose category or name matches a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    Category(String, Level),
    Events(String, bool),
}

/// What rules say of one event, as its definition record keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No rule speaks of it: the level of the timeline counts.
    Default,
    /// This level counts instead.
    Level(Level),
    /// It is logged, or not, whatever its priority.
    Events(bool),
}

impl Verdict {
    /// Its number in a definition record.
    pub fn code(self) -> u8 {
        match self {
            Verdict::Default => 0,
            Verdict::Level(level) => 1 + level.get(),
            Verdict::Events(true) => 10,
            Verdict::Events(false) => 11,
        }
    }

    /// What a number in a record says: nothing, if it has no meaning.
    pub fn from_code(code: u8) -> Verdict {
        match code {
            1..=9 => Level::from_u8(code - 1).map_or(Verdict::Default, Verdict::Level),
            10 => Verdict::Events(true),
            11 => Verdict::Events(false),
            _ => Verdict::Default,
        }
    }

    /// Whether an event of that priority is logged. `level` is that of the timeline. A sampler
    /// raises levels up to `boost`, but logs nothing that was switched off by its name.
    pub fn allows(self, priority: Priority, level: Level, boost: Level) -> bool {
        match self {
            Verdict::Default => level.max(boost).allows(priority),
            Verdict::Level(level) => level.max(boost).allows(priority),
            Verdict::Events(on) => on,
        }
    }
}

impl Rule {
    /// The kind of pattern, and the pattern: two rules with the same are about the same.
    fn about(&self) -> (bool, &str) {
        match self {
            Rule::Category(pattern, _) => (true, pattern),
            Rule::Events(pattern, _) => (false, pattern),
        }
    }

    fn verdict(&self) -> Verdict {
        match self {
            Rule::Category(_, level) => Verdict::Level(*level),
            Rule::Events(_, on) => Verdict::Events(*on),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Category(pattern, level) => write!(f, "{pattern}={level}"),
            Rule::Events(pattern, true) => write!(f, "+{pattern}"),
            Rule::Events(pattern, false) => write!(f, "-{pattern}"),
        }
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(word: &str) -> Result<Rule, Error> {
        let bad = || Error::BadRule {
            found: word.to_owned(),
        };
        let pattern = |pattern: &str| {
            let is_good = |c| is_in_pattern(c) || c == '*' || c == '?';
            let is_good = !pattern.is_empty() && pattern.chars().all(is_good);
            is_good.then(|| pattern.to_owned()).ok_or_else(bad)
        };
        // No name is without a dot, and a misspelt option (`--json`) is none.
        let of_events = |events: &str| {
            let may_match = events.contains(['.', '*', '?']) && !events.starts_with(['+', '-']);
            match may_match {
                true => pattern(events),
                false => Err(bad()),
            }
        };
        if let Some(events) = word.strip_prefix('+') {
            return Ok(Rule::Events(of_events(events)?, true));
        }
        if let Some(events) = word.strip_prefix('-') {
            return Ok(Rule::Events(of_events(events)?, false));
        }
        let (category, level) = word.split_once('=').ok_or_else(bad)?;
        Ok(Rule::Category(pattern(category)?, level.parse()?))
    }
}

impl Rules {
    /// Events whose names match are logged, or not, whatever their priority.
    ///
    /// # Errors
    /// `BadRule` if no name can match: it is empty, or has a character that is in no name.
    pub fn events(glob: &str, on: bool) -> Result<Rules, Error> {
        let sign = if on { '+' } else { '-' };
        Ok(Rules {
            level: None,
            rules: vec![format!("{sign}{glob}").parse()?],
        })
    }

    /// The level of all events of which no further word speaks; `None` if it is not said.
    pub fn level(&self) -> Option<Level> {
        self.level
    }

    /// The words behind the level.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.rules.iter().map(Rule::to_string)
    }

    /// Adds later rules. Each replaces an earlier one about the same category or the same names; a
    /// level replaces all.
    pub fn add(&mut self, later: &Rules) {
        if let Some(level) = later.level {
            *self = Rules::from(level);
        }
        for rule in &later.rules {
            self.push(rule.clone());
        }
    }

    fn push(&mut self, rule: Rule) {
        // A rule about all events leaves nothing to the earlier ones.
        let is_about_all = rule.about().1.chars().all(|c| c == '*');
        self.rules
            .retain(|earlier| !is_about_all && earlier.about() != rule.about());
        self.rules.push(rule);
    }

    /// Whether a word behind the level is about events of that definition.
    pub fn speak_of(&self, definition: &Definition) -> bool {
        let Definition {
            category, message, ..
        } = definition;
        self.verdict(category, message, definition.syntax) != Verdict::Default
    }

    /// What the last rule that speaks of an event says.
    pub(crate) fn verdict(&self, category: &str, message: &str, syntax: Syntax) -> Verdict {
        if self.is_only_level() {
            return Verdict::Default;
        }
        let (name, category) = (
            event_name(category, message, syntax),
            category_name(category),
        );
        let speaks = |rule: &&Rule| match rule {
            Rule::Category(pattern, _) => matches(pattern, &category),
            Rule::Events(pattern, _) => matches(pattern, &name),
        };
        let last = self.rules.iter().rev().find(speaks);
        last.map_or(Verdict::Default, Rule::verdict)
    }

    /// Whether no word follows the level.
    pub(crate) fn is_only_level(&self) -> bool {
        self.rules.is_empty()
    }

    /// The words behind the level, as a timeline keeps them.
    pub(crate) fn text(&self) -> String {
        self.words().collect::<Vec<_>>().join(",")
    }

    /// The rules that a timeline keeps. Words that say nothing, as in a damaged file, are left out.
    pub(crate) fn stored(level: Level, text: &str) -> Rules {
        let mut rules = Rules::from(level);
        for rule in text.split(',').filter_map(|word| word.parse().ok()) {
            rules.push(rule);
        }
        rules
    }
}

impl From<Level> for Rules {
    fn from(level: Level) -> Rules {
        Rules {
            level: Some(level),
            rules: Vec::new(),
        }
    }
}

impl FromStr for Rules {
    type Err = Error;

    fn from_str(text: &str) -> Result<Rules, Error> {
        let mut rules = Rules::default();
        for (index, word) in text.split(',').map(str::trim).enumerate() {
            match word.parse() {
                Ok(rule) => rules.push(rule),
                Err(Error::BadRule { .. }) if index == 0 && is_plain(word) => {
                    rules.level = Some(word.parse()?);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(rules)
    }
}

/// What each word of stored rules says, of whatever event. Allocates nothing.
pub fn verdicts(text: &[u8]) -> impl Iterator<Item = Verdict> {
    let words = text.split(|byte| *byte == b',');
    words.filter_map(|word| match word {
        [b'+', ..] => Some(Verdict::Events(true)),
        [b'-', ..] => Some(Verdict::Events(false)),
        _ => {
            let (_, level) = str::from_utf8(word).ok()?.split_once('=')?;
            Level::named(level).map(Verdict::Level)
        }
    })
}

/// Whether a word can only be meant for a level.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(char::is_alphanumeric)
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.map(|level| level.to_string());
        let words: Vec<_> = level.into_iter().chain(self.words()).collect();
        f.pad(&words.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written() {
        let parsed = |text: &str| text.parse::<Rules>().map(|rules| rules.to_string());
        for text in ["info", "engine=packet", "none,+net.*,-net.idle,a*=info"] {
            assert_eq!(parsed(text).expect(text), text);
        }
        assert_eq!(
            parsed("a=info, b=trace,a=all").expect("good"),
            "b=trace,a=all"
        );
        assert_eq!(parsed("info,a=trace,-b.c,+*").expect("good"), "info,+*");
        assert_eq!(parsed("+a.b,*=info").expect("good"), "*=info");
        for (text, expected) in [
            ("pakcet", "unknown level \"pakcet\""),
            ("a=pakcet", "unknown level \"pakcet\""),
            ("a=info,info", "\"info\""),
            ("", "\"\""),
            ("info,", "\"\""),
            ("+", "\"+\""),
            ("-a b", "\"-a b\""),
            ("-a.b c", "\"-a.b c\""),
            ("--json", "\"--json\" is no rule"),
            ("+-net.*", "\"+-net.*\""),
            ("info,-engine", "\"-engine\""),
            ("+net", "have a dot"),
            ("=info", "\"=info\""),
            ("a=b=info", "unknown level \"b=info\""),
        ] {
            let error = parsed(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn the_last_word_about_an_event_counts() {
        let says = |text: &str, category, message| {
            let rules: Rules = text.parse().expect("good");
            rules.verdict(category, message, Syntax::Template)
        };
        let level = |level: &str| Verdict::Level(level.parse().expect("a level"));
        let text = "info,engine=packet,-*.idle_*,+engine.idle_core";
        assert_eq!(says(text, "net", "sent $n"), Verdict::Default);
        assert_eq!(says(text, "engine", "sent $n"), level("packet"));
        assert_eq!(says(text, "engine", "idle time $n"), Verdict::Events(false));
        assert_eq!(says(text, "engine", "idle core: $n"), Verdict::Events(true));

        assert_eq!(says("+*,a_b=none", "a b", "c"), level("none"));
    }

    #[test]
    fn verdicts_survive_their_codes() {
        let levels = (0..=8).filter_map(Level::from_u8).map(Verdict::Level);
        let others = [
            Verdict::Default,
            Verdict::Events(true),
            Verdict::Events(false),
        ];
        for verdict in levels.chain(others) {
            assert_eq!(Verdict::from_code(verdict.code()), verdict);
        }
        assert_eq!(Verdict::from_code(12), Verdict::Default);
    }
}
