//! fastrace: events of local spans, handed to its collector thread, whose reporter drops them.

mod common;

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::{LocalParentGuard, LocalSpan};
use fastrace::{Event, Span};

/// A trace is handed over whole, and what a thread holds back is limited to 10,240 records.
const EVENTS_OF_A_TRACE: u32 = 1000;

struct Drops;

impl Reporter for Drops {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        std::hint::black_box(spans);
    }
}

/// Declared in the order in which they have to be dropped.
struct Trace {
    _parent: LocalParentGuard,
    _root: Span,
    events: u32,
}

impl Trace {
    fn new() -> Self {
        let root = Span::root("bench", SpanContext::random());
        Self {
            _parent: root.set_local_parent(),
            _root: root,
            events: 0,
        }
    }
}

struct Fastrace;

impl common::Peer for Fastrace {
    const NAME: &'static str = "fastrace";
    const NOTE: &'static str = "integers become strings; its reporter drops what it is given";
    const CRATE: &'static str = "fastrace";
    type Thread = Option<Trace>;

    fn thread(&self) -> Option<Trace> {
        Some(Trace::new())
    }

    #[inline(always)]
    fn log(&self, thread: &mut Option<Trace>, i: i64) {
        let Some(trace) = thread else { return };
        LocalSpan::add_event(Event::new("event").with_properties(|| {
            [
                ("a", i.to_string()),
                ("b", (i + 1).to_string()),
                ("c", (i + 2).to_string()),
                ("d", (i + 3).to_string()),
            ]
        }));
        trace.events += 1;
        if trace.events == EVENTS_OF_A_TRACE {
            // The old parent has to be gone before the new one is set, or they would be nested.
            *thread = None;
            *thread = Some(Trace::new());
        }
    }

    fn drain(&self) {
        fastrace::flush();
    }

    fn lost(&self) -> Option<u64> {
        None
    }
}

fn main() {
    fastrace::set_reporter(Drops, Config::default());
    common::run(|| Fastrace);
}
