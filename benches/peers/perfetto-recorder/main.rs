//! perfetto-recorder: a span for each call, in a buffer of the thread that is dropped when full.

use perfetto_recorder::{
    EVENTS_PER_ARG, EVENTS_PER_SPAN, ThreadTraceData, current_thread_reserve, start, start_span,
};

/// The crate keeps all spans until they are taken: as many with 4 arguments as fit in about 16 MiB.
const SPANS_OF_A_BUFFER: u32 = 1 << 16;

struct Perfetto;

fn reserve() {
    current_thread_reserve(SPANS_OF_A_BUFFER as usize * (EVENTS_PER_SPAN + 4 * EVENTS_PER_ARG));
}

impl peer_common::Peer for Perfetto {
    const NAME: &'static str = "perfetto-recorder";
    const NOTE: &'static str =
        "a span, so two timestamps; full buffers are dropped, not made into a trace";
    const CRATE: &'static str = "perfetto-recorder";
    type Thread = u32;

    fn thread(&self) -> u32 {
        reserve();
        0
    }

    #[inline(always)]
    fn log(&self, spans: &mut u32, i: i64) {
        drop(start_span!("event", a = i, b = i + 1, c = i + 2, d = i + 3));
        *spans += 1;
        if *spans == SPANS_OF_A_BUFFER {
            *spans = 0;
            drop(std::hint::black_box(ThreadTraceData::take_current_thread()));
            reserve();
        }
    }

    fn drain(&self) {}

    fn lost(&self) -> Option<u64> {
        None
    }
}

fn main() {
    start().expect("Cargo.toml enables it");
    peer_common::run(|| Perfetto);
}
