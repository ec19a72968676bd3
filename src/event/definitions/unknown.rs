//! A name that was asked for and is nowhere, and the names that are like it.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use crate::event::definitions::definition::Definition;
use crate::event::names::glob::matches as matches_pattern;
use crate::event::names::nearest::nearest;
use crate::event::payloads::payload::Layout;

/// At most so many names are told if none is like it.
const MOST: usize = 8;

/// A name of which there is nothing: of an event, a field, a category, a thread, and so on.
///
/// # Example
/// ```
/// use timeline::internal::Unknown;
///
/// let names = ["engine.breath", "http.request"].map(str::to_owned);
/// let unknown = Unknown::of("span", "engine.braeth", &names.into()).expect("it is misspelt");
/// assert_eq!(unknown.to_string(), "there is no span engine.braeth; did you mean engine.breath?");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    what: &'static str,
    name: String,
    /// The event whose field it should be, or the field whose value.
    of: Option<String>,
    near: Vec<String>,
    all: Vec<String>,
}

impl Unknown {
    /// `None` if the pattern matches one of the names. `what` they are the names of: "event", say.
    pub fn of(what: &'static str, pattern: &str, names: &BTreeSet<String>) -> Option<Unknown> {
        let is_known = names.iter().any(|name| matches_pattern(pattern, name));
        (!is_known).then(|| Unknown::among(what, pattern, names))
    }

    /// `None` if one of these definitions has the field; they are those of an event, or of any if
    /// there is none. A number is the position of a value, and known. Where no field has a name, as
    /// in lines of text, their positions are told.
    pub fn field(field: &str, event: Option<&str>, definitions: &[&Definition]) -> Option<Unknown> {
        let named = definitions.iter().flat_map(|one| one.arguments());
        let mut fields: BTreeSet<String> = named.map(str::to_owned).collect();
        if field.parse::<usize>().is_ok() || fields.contains(field) {
            return None;
        }
        if fields.is_empty() {
            let counts = definitions
                .iter()
                .map(|one| Layout::of(one).kinds().count());
            let most = counts.max().unwrap_or(0).min(MOST + 1);
            fields = (0..most).map(|position| format!("${position}")).collect();
        }
        Some(Unknown {
            of: event.map(str::to_owned),
            ..Unknown::among("field", field, &fields)
        })
    }

    /// A name that is none of these. Names that differ by their digits only are those of others of
    /// the same kind, not misspelt; they are the first of all that there are.
    pub fn among(what: &'static str, name: &str, names: &BTreeSet<String>) -> Unknown {
        let own = without_digits(name);
        let is_other = |of: &&String| without_digits(of) != own;
        let (others, same): (Vec<_>, Vec<_>) = names.iter().partition(is_other);
        let near = nearest(name, others.iter().map(|name| name.as_str()));
        Unknown {
            what,
            name: name.to_owned(),
            of: None,
            near: near.into_iter().map(str::to_owned).collect(),
            all: same.into_iter().chain(others).cloned().collect(),
        }
    }

    /// A text that is none of the names that a field of an enum or of flags has.
    pub fn value(field: &str, text: &str, names: &BTreeSet<String>) -> Unknown {
        Unknown {
            of: Some(field.to_owned()),
            ..Unknown::among("value", text, names)
        }
    }

    /// A text that a field of numbers is compared with. Without its quotes it may be one.
    pub fn text_for_number(field: &str, text: &str, is_number: bool) -> Unknown {
        let (near, all) = match is_number {
            true => (vec![text.to_owned()], Vec::new()),
            false => (Vec::new(), vec!["numbers, without quotes".to_owned()]),
        };
        Unknown {
            what: "number",
            name: format!("\"{text}\""),
            of: Some(field.to_owned()),
            near,
            all,
        }
    }

    /// A number that is none of these. No number is taken for a misspelt other one.
    pub fn number<N: Display>(
        what: &'static str,
        number: String,
        numbers: &BTreeSet<N>,
    ) -> Unknown {
        Unknown {
            what,
            name: number,
            of: None,
            near: Vec::new(),
            all: numbers.iter().map(N::to_string).collect(),
        }
    }

    /// What it should be the name of.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// The name that was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it may be the name of something that a program defines only later: it is a pattern,
    /// or no name is like it. A name that is like another one is taken for misspelt, and so is that
    /// of a field which an event that is defined does not have, unless its event is a pattern.
    pub fn may_come(&self) -> bool {
        match &self.of {
            Some(event) => is_pattern(event) && self.what == "field",
            None => self.is_pattern() || !self.has_near(),
        }
    }

    /// The same if it is surely none of those that are like it.
    pub fn far(mut self) -> Unknown {
        self.near.clear();
        self
    }

    /// The names that are like it, the nearest first.
    pub fn near(&self) -> &[String] {
        &self.near
    }

    /// Whether other names are like it.
    pub fn has_near(&self) -> bool {
        !self.near.is_empty()
    }

    /// Whether it is a pattern. Names of fields are none.
    pub fn is_pattern(&self) -> bool {
        self.what != "field" && is_pattern(&self.name)
    }

    /// The error of somebody who reads what goes on: it has a way out for a name that comes later.
    pub fn while_it_goes_on(&self) -> String {
        match &self.of {
            Some(event) => format!(
                "{self} (if an event with it is still to be defined, write its name as a pattern: \
                 {event}*)"
            ),
            None => format!(
                "{self} (if it is still to be defined, write it as a pattern: {}*)",
                self.name
            ),
        }
    }
}

fn without_digits(name: &str) -> String {
    name.replace(|c: char| c.is_ascii_digit(), "")
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

impl Display for Unknown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} {}", self.what, self.name)?;
        if let Some(of) = &self.of {
            write!(f, " in {of}")?;
        }
        match (&self.near[..], &self.all[..]) {
            ([one], _) => write!(f, "; did you mean {one}?"),
            ([some @ .., last], _) => write!(f, "; did you mean {} or {last}?", some.join(", ")),
            ([], []) => write!(f, ", nor any other {}", self.what),
            ([], all) => {
                let more = if all.len() > MOST { ", …" } else { "" };
                let all = all[..all.len().min(MOST)].join(", ");
                write!(f, "; there are: {all}{more}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::definitions::event_id::EventId;
    use crate::event::definitions::priority::Priority;
    use crate::event::messages::syntax::Syntax;

    fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
        names.map(str::to_owned).into()
    }

    #[test]
    fn what_is_there_is_not_unknown_and_what_is_not_is_told_with_what_is() {
        let categories = names(["engine", "net"]);
        let told = |name: &str| Unknown::of("category", name, &categories).map(|u| u.to_string());
        for name in ["engine", "eng*", "n?t"] {
            assert_eq!(told(name), None, "{name}");
        }
        let near = "there is no category engin; did you mean engine?";
        assert_eq!(told("engin").as_deref(), Some(near));
        let far = "there is no category disk; there are: engine, net";
        assert_eq!(told("disk").as_deref(), Some(far));
        let none = Unknown::of("tag", "x", &BTreeSet::new()).expect("there is none");
        assert_eq!(none.to_string(), "there is no tag x, nor any other tag");
    }

    #[test]
    fn a_field_is_a_name_or_a_position_of_one_event_or_of_any() {
        let sent = "sent $bytes to $host:str";
        let sent = Definition::new(EventId(1), "net", Priority::Info, sent);
        let told = |field, event, all: &[&Definition]| {
            Unknown::field(field, event, all).map(|unknown| unknown.to_string())
        };
        assert_eq!(told("bytes", None, &[&sent]), None);
        assert_eq!(told("0", Some("net.sent"), &[&sent]), None);
        let of_any = "there is no field bytez; did you mean bytes?";
        assert_eq!(told("bytez", None, &[&sent]).as_deref(), Some(of_any));
        let of_one = "there is no field bytez in net.sent; did you mean bytes?";
        let found = told("bytez", Some("net.sent"), &[&sent]);
        assert_eq!(found.as_deref(), Some(of_one));
    }

    #[test]
    fn where_no_field_has_a_name_positions_are_told() {
        let printf = |id, format: &str| Definition {
            syntax: Syntax::Printf,
            ..Definition::new(EventId(id), "", Priority::Info, format)
        };
        let (one, two) = (printf(1, "port %lu"), printf(2, "port %lu of %s"));
        let told = |all: &[&Definition]| Unknown::field("port", None, all).unwrap().to_string();
        assert_eq!(told(&[&one]), "there is no field port; there are: $0");
        let both = "there is no field port; there are: $0, $1";
        assert_eq!(told(&[&one, &two]), both);
        let many = printf(3, &"%d ".repeat(20));
        let some = "there are: $0, $1, $2, $3, $4, $5, $6, $7, …";
        assert_eq!(told(&[&many]), format!("there is no field port; {some}"));
        let none = printf(4, "ready");
        assert_eq!(
            told(&[&none]),
            "there is no field port, nor any other field"
        );
    }

    #[test]
    fn only_what_is_like_another_name_is_surely_misspelt() {
        let events = names(["net.sent"]);
        let may_come = |name: &str| Unknown::of("event", name, &events).map(|u| u.may_come());
        assert_eq!(may_come("net.snt"), Some(false));
        assert_eq!(may_come("net.snt*"), Some(true));
        assert_eq!(may_come("disk.read"), Some(true));
        let channels = names(["a", "bbc1", "st"]);
        let told = |name: &str| Unknown::of("channel", name, &channels).unwrap();
        let there = "there is no channel bbc2; there are: bbc1, a, st";
        assert_eq!(told("bbc2").to_string(), there);
        for (name, may_come) in [
            ("bbc2", true),
            ("b", true),
            ("bcb1", false),
            ("ts", false),
            ("s", false),
            ("ST", false),
            ("A", false),
        ] {
            let unknown = told(name);
            assert_eq!(unknown.may_come(), may_come, "{name}");
            // What is hinted at is misspelt.
            assert_eq!(unknown.has_near(), !may_come, "{unknown}");
        }
    }
}
