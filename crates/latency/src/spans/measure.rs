//! Says which durations are wanted, and what they are called.

use timeline::internal::{Notation, matches_pattern};
use timeline::{Definition, FieldType};

/// Which durations are wanted. Names of events and spans are patterns: `*` is any text and `?` any
/// one character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// Spans of these names, each as a series of its own: from `begin X` to `end X` of one thread,
    /// and from `start X` to `finish X` with the same first value.
    Spans(String),
    /// From one event to another.
    Between {
        /// The names of the first events.
        from: String,
        /// The names of the last events. May be the same.
        to: String,
        /// The field whose value both events share. `None`: both are of one thread.
        key: Option<String>,
    },
    /// From an event to the next one of the same name and the same thread, each name as a series of
    /// its own.
    Every(String),
    /// The values of a field, which are no durations unless its unit says so.
    Values {
        /// The names of the events.
        event: String,
        /// The field. A number is the position of a value, beginning with 0.
        field: String,
        /// What each value is multiplied by before it is rounded to a whole number. `None`: a value
        /// with a fraction is refused, see [`Matcher::fraction`](super::Matcher::fraction).
        scale: Option<u64>,
    },
}

impl Measure {
    /// What was asked for, in one word: `a..b` for the durations between `a` and `b`.
    pub fn name(&self) -> String {
        match self {
            Measure::Spans(name) | Measure::Every(name) => name.clone(),
            Measure::Between { from, to, .. } => format!("{from}..{to}"),
            Measure::Values {
                event,
                field,
                scale,
            } => format!("{event}.{field}{}", times(*scale)),
        }
    }
}

impl Measure {
    /// Whether events of this definition may begin or end one, or have the value.
    pub fn concerns(&self, definition: &Definition) -> bool {
        match self {
            Measure::Spans(name) => {
                let part = definition.span_part();
                part.is_some_and(|part| matches_pattern(name, &part.span))
            }
            Measure::Between { from, to, .. } => {
                definition.is_named(from) || definition.is_named(to)
            }
            Measure::Every(event) | Measure::Values { event, .. } => definition.is_named(event),
        }
    }
}

/// The end of the name of values that are multiplied.
pub(super) fn times(scale: Option<u64>) -> String {
    scale.map_or_else(String::new, |scale| format!("*{scale}"))
}

/// Durations, or values, of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// The name of the span or of the event, or what was asked for.
    pub name: String,
    /// The unit of the values.
    pub unit: ValueUnit,
    /// The field whose value both events share, if they are paired by one: its name, or its
    /// position if it has none.
    pub key: Option<String>,
}

/// The unit of the values of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueUnit {
    /// Nanoseconds.
    #[default]
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A plain number.
    None,
}

impl ValueUnit {
    /// The unit of a field; `None` if there is no field of a known type.
    pub(super) fn of(kind: Option<FieldType<'_>>) -> ValueUnit {
        match kind.map(FieldType::notation) {
            Some(Notation::Duration) => ValueUnit::Nanoseconds,
            Some(Notation::Size) => ValueUnit::Bytes,
            _ => ValueUnit::None,
        }
    }
}
