//! Measures one-time work (new, define, first event, attach, save), and holds a full timeline.
//!
//!     bench-cold --repeats R
//!         prints a JSON object for each figure and repeat, in nanoseconds
//!     bench-cold --hold NAME
//!         makes NAME, fills it, says "ready", and then logs an event each millisecond until
//!         standard input ends, when it removes NAME

#[allow(dead_code, reason = "each program uses its part")]
mod measure;

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use measure::{arguments, clock_loop, fail, ns_per_tick, number, rdtsc, ring};
use timeline::internal::DEFAULT_ENTRIES;
use timeline::{Attached, EventId, Order, Priority, Timeline};

/// Definitions and threads of a repeat; one would be too short to time.
const MANY: usize = 200;

fn main() {
    let [hold, repeats] = arguments(["hold", "repeats"]);
    match hold {
        Some(path) => hold_open(&path),
        None => cold(number("repeats", repeats, 15)),
    }
}

/// The value, or the end.
fn must<T>(result: Result<T, impl std::fmt::Display>) -> T {
    result.unwrap_or_else(|error| fail(error))
}

fn four(timeline: &Timeline) -> EventId {
    must(timeline.define("bench", Priority::Trace, "four $a $b $c $d"))
}

fn log(timeline: &Timeline, event: EventId, i: u64) {
    let i = i as i64;
    timeline.log(event, [i, i + 1, i + 2, i + 3]);
}

fn hold_open(path: &str) {
    let timeline = must(Timeline::new(path));
    let event = four(&timeline);
    for i in 0..DEFAULT_ENTRIES {
        log(&timeline, event, i);
    }
    println!("ready");
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let logger = scope.spawn(|| {
            let mut i = DEFAULT_ENTRIES;
            while !ended.load(Ordering::Relaxed) {
                log(&timeline, event, i);
                i += 1;
                std::thread::park_timeout(Duration::from_millis(1));
            }
        });
        must(std::io::stdin().read_to_end(&mut Vec::new()));
        ended.store(true, Ordering::Relaxed);
        logger.thread().unpark();
    });
    must(timeline::unlink(path));
}

fn cold(repeats: u64) {
    let (path, _) = ring();
    let folder = must(tempfile::tempdir());
    let ns_per_tick = ns_per_tick();
    for repeat in 0..repeats {
        let clock_ns = clock_loop(1_000_000);
        let figures = figures(&path, &folder.path().join("snapshot"), ns_per_tick);
        for (figure, ns) in figures {
            println!(
                "{{\"peer\":\"timeline-rust\",\"mode\":\"cold\",\"figure\":\"{figure}\",\
                 \"repeat\":{repeat},\"clock_ns\":{clock_ns:.3},\"event_ns\":{ns:.1}}}"
            );
        }
        must(timeline::unlink(&path));
    }
}

fn figures(path: &str, snapshot: &Path, ns_per_tick: f64) -> Vec<(&'static str, f64)> {
    let mut figures = Vec::new();
    let mut add = |figure, start: Instant, count: usize| {
        figures.push((figure, start.elapsed().as_nanos() as f64 / count as f64));
    };

    let start = Instant::now();
    let timeline = must(Timeline::new(path));
    add("new", start, 1);

    let texts: Vec<String> = (0..MANY)
        .map(|i| format!("event {i} of $a $b $c $d"))
        .collect();
    for figure in ["define", "define again"] {
        let start = Instant::now();
        for text in &texts {
            must(timeline.define("bench", Priority::Trace, text));
        }
        add(figure, start, MANY);
    }

    let event = four(&timeline);
    for i in 0..DEFAULT_ENTRIES {
        log(&timeline, event, i);
    }

    let start = Instant::now();
    let attached = must(Attached::open(path));
    add("attach", start, 1);

    let start = Instant::now();
    let newest = attached.events(Order::NewestFirst).next();
    add("newest event of an attached", start, 1);
    if newest.as_ref().map(|event| event.args[0]) != Some(DEFAULT_ENTRIES as i64 - 1) {
        fail(format!(
            "the newest event: expected the last one logged, got {newest:?}"
        ));
    }

    let start = Instant::now();
    must(timeline.save(snapshot));
    add("save", start, 1);

    let first = (0..MANY).map(|_| {
        let thread = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let start = rdtsc();
                log(&timeline, event, 0);
                rdtsc() - start
            });
            thread.join()
        });
        thread.expect("no thread panics")
    });
    let ticks: u64 = first.sum();
    figures.push((
        "first event of a thread",
        ticks as f64 * ns_per_tick / MANY as f64,
    ));
    figures
}
