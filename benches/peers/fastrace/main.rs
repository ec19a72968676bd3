//! fastrace: events of local spans, handed to its collector thread, whose reporter drops them.

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::{LocalParentGuard, LocalSpan};
use fastrace::{Event, Span};

/// A trace is handed over as a whole, and a thread keeps at most 10,240 records.
const EVENTS_OF_A_TRACE: u32 = 8000;

/// The collector is slower than one thread that logs, and its queue has no limit: without waiting
/// for it at times, a long run takes all memory.
const TRACES_OF_A_FLUSH: u32 = 500;

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

struct Logger {
    trace: Option<Trace>,
    traces: u32,
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

#[cold]
fn next_trace(logger: &mut Logger) {
    // The old parent has to be gone before the new one is set, or they would be nested.
    logger.trace = None;
    logger.traces += 1;
    if logger.traces.is_multiple_of(TRACES_OF_A_FLUSH) {
        fastrace::flush();
    }
    logger.trace = Some(Trace::new());
}

struct Fastrace;

impl peer_common::Peer for Fastrace {
    const NAME: &'static str = "fastrace";
    const NOTE: &'static str = "integers become strings; its reporter drops what it is given";
    const CRATE: &'static str = "fastrace";
    type Thread = Logger;

    fn thread(&self) -> Logger {
        Logger {
            trace: Some(Trace::new()),
            traces: 0,
        }
    }

    #[inline(always)]
    fn log(&self, logger: &mut Logger, i: i64) {
        LocalSpan::add_event(Event::new("event").with_properties(|| {
            [
                ("a", i.to_string()),
                ("b", (i + 1).to_string()),
                ("c", (i + 2).to_string()),
                ("d", (i + 3).to_string()),
            ]
        }));
        let trace = logger.trace.as_mut().expect("each is replaced at once");
        trace.events += 1;
        if trace.events == EVENTS_OF_A_TRACE {
            next_trace(logger);
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
    peer_common::run(|| Fastrace);
}
