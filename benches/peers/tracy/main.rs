//! The Tracy client: a zone with four values, sent to a server of peers.py that drops it.
//!
//! The client starts before main. Without a server it keeps every event in memory, 190 bytes each,
//! and spends most of the time on page faults; with one, it reuses memory that its thread has sent.

use std::time::Duration;
use tracy_client::{Client, span_location};

struct Tracy;

/// Far more CPU time than the client's thread uses to poll an empty queue, far less than it uses on
/// any machine while it works.
const IDLE: Duration = Duration::from_millis(5);
const WINDOW: Duration = Duration::from_millis(100);

impl peer_common::Peer for Tracy {
    const NAME: &'static str = "tracy";
    const NOTE: &'static str = "its queue has no limit; a thread compresses and sends it";
    const CRATE: &'static str = "tracy-client";
    type Thread = ();

    fn thread(&self) {}

    #[inline(always)]
    fn log(&self, (): &mut (), i: i64) {
        let zone = Client::start().span(span_location!("event"), 0);
        zone.emit_value(i as u64);
        zone.emit_value(i as u64 + 1);
        zone.emit_value(i as u64 + 2);
        zone.emit_value(i as u64 + 3);
    }

    /// The client does not tell how much it still has to send.
    fn drain(&self) {
        loop {
            let before = cpu_time();
            std::thread::sleep(WINDOW);
            if cpu_time() - before < IDLE {
                break;
            }
        }
    }

    fn lost(&self) -> Option<u64> {
        Some(0)
    }
}

fn cpu_time() -> Duration {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes only to `used`.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut used) };
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

fn main() {
    if std::env::var_os("TRACY_PORT").is_none() {
        eprintln!("tracy: expected TRACY_PORT, where a server attaches: start me through peers.py");
        std::process::exit(1);
    }
    peer_common::run(|| {
        while !Client::is_connected() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Tracy
    });
    // A regular exit waits for a farewell of the server, which ours does not send. SAFETY: all
    // output was flushed line by line, and nothing else has to be written.
    unsafe { libc::_exit(0) }
}
