//! Tells when a name that was asked for is in no definition, and which ones are like it.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use timeline::{Definition, Source, matches_pattern, nearest};

use super::measure::Measure;

/// At most so many names are told if none is like it.
const MOST: usize = 8;

/// A name of which there is nothing: of a span, an event, or a field.
///
/// # Example
/// ```
/// use timeline::{Attached, Priority, Timeline, event};
/// use timeline_latency::Measure;
/// # let path = format!("/timeline-doc-unknown-{}", std::process::id());
/// # let path = path.as_str();
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// event!(tl, Priority::Info, "engine", "begin breath");
///
/// let at = Attached::open(path)?;
/// let unknown = Measure::parse("engine.braeth")?.unknown(&at).expect("it is misspelt");
/// assert_eq!(unknown.to_string(), "there is no span engine.braeth; did you mean engine.breath?");
/// assert!(Measure::parse("engine.breath")?.unknown(&at).is_none());
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    what: &'static str,
    name: String,
    /// The event whose field it should be.
    of: Option<String>,
    near: Vec<String>,
    all: Vec<String>,
}

impl Unknown {
    /// `None` if one of the names is it.
    fn of(what: &'static str, pattern: &str, names: &BTreeSet<String>) -> Option<Unknown> {
        if names.iter().any(|name| matches_pattern(pattern, name)) {
            return None;
        }
        let near = nearest(pattern, names.iter().map(String::as_str));
        Some(Unknown {
            what,
            name: pattern.to_owned(),
            of: None,
            near: near.into_iter().map(str::to_owned).collect(),
            all: names.iter().cloned().collect(),
        })
    }

    /// Whether it may be the name of something that a program defines only later: it is a pattern,
    /// or no name is like it. A name that is like another one is taken for misspelt, and so is that
    /// of a field which an event that is defined does not have, unless its event is a pattern.
    pub fn may_come(&self) -> bool {
        match &self.of {
            Some(event) => is_pattern(event),
            None => self.is_pattern() || self.near.is_empty(),
        }
    }

    /// Whether it is a pattern. Names of fields are none.
    pub fn is_pattern(&self) -> bool {
        self.of.is_none() && is_pattern(&self.name)
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

/// The names of all events among these definitions.
fn events(definitions: &[&Definition]) -> BTreeSet<String> {
    let names = definitions.iter().map(|definition| definition.name());
    names.map(|name| name.to_string()).collect()
}

/// Looks for an event, and for a field in any event of that name.
fn unknown_event(definitions: &[&Definition], event: &str, field: Option<&str>) -> Option<Unknown> {
    let unknown = Unknown::of("event", event, &events(definitions));
    let Some(field) = field.filter(|_| unknown.is_none()) else {
        return unknown;
    };
    let of_name = definitions
        .iter()
        .filter(|one| matches_pattern(event, &one.name()));
    let fields = of_name.flat_map(|definition| definition.arguments());
    let fields: BTreeSet<String> = fields.map(str::to_owned).collect();
    // A number is the position of a value.
    if field.parse::<usize>().is_ok() || fields.contains(field) {
        return None;
    }
    let near = nearest(field, fields.iter().map(String::as_str));
    Some(Unknown {
        what: "field",
        name: field.to_owned(),
        of: Some(event.to_owned()),
        near: near.into_iter().map(str::to_owned).collect(),
        all: fields.into_iter().collect(),
    })
}

impl Measure {
    /// The first of its names of which a source has nothing, if there is one.
    pub fn unknown(&self, source: &dyn Source) -> Option<Unknown> {
        // All spans are asked for most often, and to find all definitions may take long.
        if matches!(self, Measure::Spans(all) if all == "*") {
            return None;
        }
        let definitions: Vec<_> = source.definitions().collect();
        self.unknown_among(&definitions)
    }

    /// The same among these definitions alone.
    pub(super) fn unknown_among(&self, definitions: &[&Definition]) -> Option<Unknown> {
        match self {
            Measure::Spans(name) => {
                let spans = definitions.iter().filter_map(|one| one.span_part());
                let spans = spans.map(|part| part.span).collect();
                Unknown::of("span", name, &spans)
            }
            Measure::Between { from, to, key } => {
                let key = key.as_deref();
                let from = unknown_event(definitions, from, key);
                from.or_else(|| unknown_event(definitions, to, key))
            }
            Measure::Every(event) => unknown_event(definitions, event, None),
            Measure::Values { event, field, .. } => unknown_event(definitions, event, Some(field)),
        }
    }
}

/// The event, or the first of these fields of it, of which a source has nothing.
#[cfg(feature = "triggers")]
pub fn unknown_in(source: &dyn Source, event: &str, fields: &[&str]) -> Option<Unknown> {
    let definitions: Vec<_> = source.definitions().collect();
    let mut unknown = unknown_event(&definitions, event, None);
    for field in fields {
        unknown = unknown.or_else(|| unknown_event(&definitions, event, Some(field)));
    }
    unknown
}
