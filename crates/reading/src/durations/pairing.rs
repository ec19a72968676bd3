//! Says how long spans took, of the events of one source, oldest first.

use std::sync::LazyLock;

use timeline::{Event, Source};
use timeline_latency::{Matcher, Measure};

static SPANS: LazyLock<[Measure; 1]> = LazyLock::new(|| [Measure::Spans("*".into())]);

/// Pairs the spans of one source, oldest first.
pub struct SpanPairer<'a>(Matcher<'a>);

impl<'a> SpanPairer<'a> {
    /// For the events of a source.
    pub fn new(source: &'a dyn Source) -> SpanPairer<'a> {
        SpanPairer(Matcher::new(&*SPANS, source))
    }

    /// Takes the next event, and gives it its duration if it ends a span.
    pub fn add(&mut self, event: &mut Event) {
        event.duration = self.note(event);
    }

    /// Takes the next event. Returns its duration if it ends a span.
    pub fn note(&mut self, event: &Event) -> Option<u64> {
        let mut duration = None;
        self.0.add(event, |found| duration = Some(found.value));
        duration
    }
}
