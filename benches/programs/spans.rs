//! Logs short spans at a steady rate, and a long one from time to time: for benches/latency.py.
//!
//!     bench-spans --rate EVENTS_PER_SECOND --seconds N
//!
//! BENCH_RING names the timeline. It says "ready" once it logs. Ten times a second another thread
//! logs a span of a bit more than a millisecond.

#[allow(dead_code, reason = "each program uses its part")]
mod measure;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use measure::{arguments, fail, number, ring};
use timeline::{Priority, Timeline, event};

const TURN: Duration = Duration::from_millis(1);
const LONG_SPAN: Duration = Duration::from_micros(1200);
const BETWEEN: Duration = Duration::from_millis(100);

fn main() {
    let [rate, seconds] = arguments(["rate", "seconds"]);
    let rate = number("rate", rate, 1_000_000);
    let length = Duration::from_secs(number("seconds", seconds, 10));
    let (path, _) = ring();
    let tl = Timeline::new(&path).unwrap_or_else(|error| fail(error));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(BETWEEN);
                event!(
                    tl,
                    Priority::Info,
                    "engine",
                    "begin breath {number}",
                    number = 0_u64
                );
                std::thread::sleep(LONG_SPAN);
                event!(
                    tl,
                    Priority::Info,
                    "engine",
                    "end breath {number}",
                    number = 0_u64
                );
            }
        });
        let (start, mut logged) = (Instant::now(), 0_u64);
        println!("ready");
        while start.elapsed() < length {
            let due = start.elapsed().as_nanos() * u128::from(rate) / 1_000_000_000;
            while u128::from(logged) < due {
                let number = logged;
                event!(
                    tl,
                    Priority::Info,
                    "engine",
                    "begin breath {number}",
                    number
                );
                event!(tl, Priority::Info, "engine", "end breath {number}", number);
                logged += 2;
            }
            std::thread::sleep(TURN);
        }
        is_over.store(true, Ordering::Relaxed);
        println!("{logged}");
    });
    drop(tl);
    timeline::unlink(&path).unwrap_or_else(|error| fail(error));
}
