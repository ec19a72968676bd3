//! tokio's `tracing` with a layer that does nothing: the cost of its dispatch alone.

use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::util::SubscriberInitExt;

struct Nothing;

impl Layer<Registry> for Nothing {}

struct TracingNoop;

impl peer_common::Peer for TracingNoop {
    const NAME: &'static str = "tracing-noop";
    const NOTE: &'static str = "reads no clock and keeps nothing";
    const CRATE: &'static str = "tracing";
    type Thread = ();

    fn thread(&self) {}

    #[inline(always)]
    fn log(&self, (): &mut (), i: i64) {
        tracing::info!(a = i, b = i + 1, c = i + 2, d = i + 3, "event");
    }

    fn drain(&self) {}

    fn lost(&self) -> Option<u64> {
        None
    }
}

fn main() {
    tracing_subscriber::registry().with(Nothing).init();
    peer_common::run(|| TracingNoop);
}
