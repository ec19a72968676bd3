//! The Perfetto SDK in process, with a ring buffer: an instant event with four debug arguments.
//!
//! Emitted as the C macro PERFETTO_TE does, because the Rust macro allocates a string for each
//! name.

use perfetto_sdk::heap_buffer::HeapBuffer;
use perfetto_sdk::pb_msg::{PbMsg, PbMsgWriter};
use perfetto_sdk::producer::{Backends, Producer, ProducerInitArgsBuilder};
use perfetto_sdk::protos::config::trace_config::TraceConfig;
use perfetto_sdk::tracing_session::TracingSession;
use perfetto_sdk::track_event::TrackEvent;
use perfetto_sdk_sys::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// As large as the ring of timeline.
const BUFFER_KB: u32 = 64 << 10;

/// The most that the service accepts; events that do not fit on their way to the buffer are
/// dropped.
const SHARED_MEMORY_KB: u32 = 32 << 10;

struct PerfettoSdk {
    category: *mut PerfettoTeCategoryImpl,
    enabled: &'static AtomicBool,
    session: Mutex<TracingSession>,
}

// SAFETY: the SDK lets any thread emit to a category, which is never unregistered.
unsafe impl Sync for PerfettoSdk {}

fn configuration() -> Vec<u8> {
    let writer = PbMsgWriter::new();
    let buffer = HeapBuffer::new(writer.stream_writer());
    let mut message = PbMsg::new(&writer).expect("a new writer has room");
    let mut config = TraceConfig { msg: &mut message };
    config.set_buffers(|buffers| {
        buffers.set_size_kb(BUFFER_KB);
    });
    config.set_data_sources(|source| {
        source.set_config(|config| {
            config.set_name("track_event");
            config.set_track_event_config(|events| {
                events.set_enabled_categories("bench");
            });
        });
    });
    message.finalize();
    let mut bytes = vec![0; writer.stream_writer().get_written_size()];
    buffer.copy_into(&mut bytes);
    bytes
}

impl PerfettoSdk {
    fn open() -> Self {
        let arguments = ProducerInitArgsBuilder::new().backends(Backends::IN_PROCESS);
        Producer::init(arguments.shmem_size_hint_kb(SHARED_MEMORY_KB).build());
        TrackEvent::init();
        let description = Box::leak(Box::new(PerfettoTeCategoryDescriptor {
            name: c"bench".as_ptr(),
            desc: c"events of the bench".as_ptr(),
            tags: std::ptr::null_mut(),
            num_tags: 0,
        }));
        // SAFETY: the description is never freed, and its texts are static.
        let category = unsafe { PerfettoTeCategoryImplCreate(description) };
        // SAFETY: the category was just created; the flag is an atomic and lives as long.
        let enabled = unsafe { AtomicBool::from_ptr(PerfettoTeCategoryImplGetEnabled(category)) };
        // SAFETY: it has no conditions.
        unsafe { PerfettoTePublishCategories() };
        let mut session = TracingSession::in_process().expect("the backend was asked for");
        session.setup(&configuration());
        session.start_blocking();
        if !enabled.load(Ordering::Relaxed) {
            eprintln!("perfetto-sdk: expected the session to enable the category, it did not");
            std::process::exit(1);
        }
        Self {
            category,
            enabled,
            session: Mutex::new(session),
        }
    }
}

fn argument(name: &'static std::ffi::CStr, value: i64) -> PerfettoTeHlExtraDebugArgInt64 {
    PerfettoTeHlExtraDebugArgInt64 {
        header: PerfettoTeHlExtra {
            type_: PerfettoTeHlExtraType_PERFETTO_TE_HL_EXTRA_TYPE_DEBUG_ARG_INT64,
        },
        name: name.as_ptr(),
        value,
    }
}

impl peer_common::Peer for PerfettoSdk {
    const NAME: &'static str = "perfetto-sdk";
    const NOTE: &'static str =
        "overwrites the oldest; drops what its service's thread is too slow to take over";
    const CRATE: &'static str = "perfetto-sdk-sys";
    type Thread = ();

    fn thread(&self) {}

    #[inline(always)]
    fn log(&self, (): &mut (), i: i64) {
        if !self.enabled.load(Ordering::Relaxed) {
            return;
        }
        let mut arguments = [
            argument(c"a", i),
            argument(c"b", i + 1),
            argument(c"c", i + 2),
            argument(c"d", i + 3),
        ];
        let [a, b, c, d] = arguments
            .each_mut()
            .map(|argument| (&raw mut *argument).cast());
        let extra = [a, b, c, d, std::ptr::null_mut()];
        // SAFETY: the category is registered, the name is static, and the list ends with null. The
        // header is the first field of each argument.
        unsafe {
            PerfettoTeHlEmitImpl(
                self.category,
                PerfettoTeType_PERFETTO_TE_TYPE_INSTANT as i32,
                c"event".as_ptr(),
                extra.as_ptr(),
            );
        }
    }

    fn drain(&self) {
        let mut session = self.session.lock().expect("only this function locks it");
        session.flush_blocking(Duration::from_secs(60));
    }

    fn lost(&self) -> Option<u64> {
        None
    }
}

fn main() {
    peer_common::run(PerfettoSdk::open);
}
