//! Tells when a name that was asked for is in no definition, and which ones are like it.

use std::collections::BTreeSet;

use timeline::internal::Unknown;
use timeline::{Definition, Source};

use super::measure::Measure;

/// The names of all events among these definitions.
fn events(definitions: &[&Definition]) -> BTreeSet<String> {
    let named = definitions.iter().filter(|one| one.has_name());
    named.map(|definition| definition.name()).collect()
}

/// Looks for an event, and for a field in any event of that name.
fn unknown_event(definitions: &[&Definition], event: &str, field: Option<&str>) -> Option<Unknown> {
    let unknown = Unknown::of("event", event, &events(definitions));
    let Some(field) = field.filter(|_| unknown.is_none()) else {
        return unknown;
    };
    let of_name = definitions.iter().filter(|one| one.is_named(event));
    let of_name: Vec<_> = of_name.copied().collect();
    Unknown::field(field, Some(event), &of_name)
}

impl Measure {
    /// The first of its names of which a source has nothing, if there is one.
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
    /// let told = "there is no span engine.braeth; did you mean engine.breath?";
    /// assert_eq!(unknown.to_string(), told);
    /// assert!(Measure::parse("engine.breath")?.unknown(&at).is_none());
    /// # timeline::unlink(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
