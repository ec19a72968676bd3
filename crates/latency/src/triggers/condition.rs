//! A condition as a person writes it.

use std::fmt;
use std::str::FromStr;

use timeline::internal::Unknown;
use timeline::{Definition, Source};
use timeline_search::Expression;

use super::error::{Error, Result};
use super::kind::ConditionKind;
use super::parse;
use crate::spans::unknown_in;

/// A condition on a stream of events.
///
/// | text | met |
/// |---|---|
/// | `span NAME > TIME` | by a span that takes longer, also while it is still open |
/// | `span FIRST..LAST > TIME` | by two events of a thread; `FIRST..LAST by FIELD`: of one value |
/// | `p99(NAME, 1s) > TIME` | by the durations of a window; `p50` to `p100`, `max` |
/// | `rate(EVENT, 1s) > 1000/s` | by the number of events in a window |
/// | `event EVENT where CONDITION` | by an event whose values meet a condition of `--where` |
/// | `missing EVENT for TIME` | if no such event comes for that time |
///
/// `>` may be `>=`, `<` or `<=`. Names are patterns: `*` is any text and `?` any one character. A
/// name may stand in quotes. Times have units: `100us`, `1.5ms`, `2s`. Rates are those of `us`,
/// `ms`, `s`, `min` and `h`, and their numbers may end with `k`, `M` or `G`.
///
/// # Example
/// ```
/// use timeline_latency::Condition;
/// let condition = Condition::parse("span engine.breath > 1ms")?;
/// assert!(!condition.is_lasting());
/// assert!(Condition::parse("rate(net.got*) > 20k/s")?.is_lasting());
/// let error = Condition::parse("span engine.breath > 1").unwrap_err().to_string();
/// assert_eq!(
///     error,
///     "expected a time, with a unit, such as 100us, 10ms or 1.5s, at character 22, got 1"
/// );
/// # Ok::<(), timeline_latency::ConditionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Condition {
    pub(super) kind: ConditionKind,
    text: String,
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// A text that is none.
    pub fn parse(text: &str) -> Result<Condition> {
        Ok(Condition {
            kind: parse::condition(text)?,
            text: text.trim().into(),
        })
    }

    /// Whether it is about a state that lasts: a rate, a percentile, or missing events. Others are
    /// met by a single event, or by a single span.
    pub fn is_lasting(&self) -> bool {
        !matches!(
            self.kind,
            ConditionKind::Span { .. } | ConditionKind::Event(_)
        )
    }
}

impl Condition {
    /// Whether it waits for events of this definition.
    pub fn concerns(&self, definition: &Definition) -> bool {
        match &self.kind {
            ConditionKind::Span { measure, .. } | ConditionKind::Percentile { measure, .. } => {
                measure.concerns(definition)
            }
            ConditionKind::Rate { events, .. } | ConditionKind::Missing { events, .. } => {
                definition.is_named(events)
            }
            ConditionKind::Event(query) => query.may_want(definition),
        }
    }

    /// The first of its names of which a source has nothing, if there is one.
    pub fn unknown(&self, source: &dyn Source) -> Option<Unknown> {
        match &self.kind {
            ConditionKind::Span { measure, .. } | ConditionKind::Percentile { measure, .. } => {
                measure.unknown(source)
            }
            ConditionKind::Rate { events, .. } | ConditionKind::Missing { events, .. } => {
                unknown_in(source, events, &[])
            }
            ConditionKind::Event(query) => {
                let fields = query.expressions.iter().flat_map(Expression::fields);
                // $0 is a position, and a path leads into a value.
                let fields = fields.filter(|field| !field.contains(['$', '.', '[']));
                let event = query.events.first().map_or("*", String::as_str);
                unknown_in(source, event, &fields.collect::<Vec<_>>())
            }
        }
    }
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Condition> {
        Condition::parse(text)
    }
}

/// As it was written.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
