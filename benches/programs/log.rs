//! Measures how long logging from Rust takes, beside reading the clock alone.
//!
//! The command line and the output are those of benches/peers/common.h. `--variant` names the
//! call that is measured, and E is the number of events of each thread.
//!
//!     bench-log --variant V --mode loop|sustained|latency|endless
//!         --threads N --events E --repeats R [--to ADDRESS]
//!
//! With `--to`, a worker thread sends the events to a store meanwhile.
//!
//! In endless mode it says "ready" and logs until it is killed, beside other measured programs.
//!
//! BENCH_RING names the timeline: joined if it exists, made otherwise, and left for
//! benches/bench.py. BENCH_WARM_UP is how many events are logged first; by default, once through
//! the ring.

#[allow(dead_code, reason = "each program uses its part")]
mod measure;

use std::hint::black_box;
use std::sync::{Barrier, Mutex};

use measure::{
    account, arguments, clock_loop, cpu_ns, fail, ns_per_tick, number, ring, ticks_after,
    ticks_before, timed,
};
use timeline::{ErrorKind, EventId, Level, Priority, Timeline, event, span};
use timeline_worker::{Worker, WorkerOptions};

/// The priority of events that are enabled.
const TYPED: Priority = Priority::Trace;
static NAMES: [&str; 2] = ["a name of 24 characters.", "another of as many bytes"];

struct Options {
    mode: String,
    variant: String,
    threads: u64,
    events: u64,
    repeats: u64,
}

/// The timeline, and the event to log.
struct Log {
    timeline: Timeline,
    own: bool,
    none: EventId,
    four: EventId,
    /// Less important than the others, so that it can be disabled without them.
    detail: EventId,
}

impl Log {
    fn open() -> Log {
        let (path, own) = ring();
        let timeline = match Timeline::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Timeline::new(&path),
            opened => opened,
        };
        let timeline = timeline.unwrap_or_else(|error| fail(error));
        let define = |priority, text| {
            let event = timeline.define("bench", priority, text);
            event.unwrap_or_else(|error| fail(error))
        };
        let none = define(Priority::Trace, "nothing");
        let four = define(Priority::Trace, "four $a $b $c $d");
        let detail = define(Priority::Library, "detail $a $b $c $d");
        let level = timeline.priority(Level::from(Priority::App));
        level.unwrap_or_else(|error| fail(error));
        Log {
            timeline,
            own,
            none,
            four,
            detail,
        }
    }

    /// So that this process has touched all pages of the ring.
    fn warm_up(&self) {
        let events = std::env::var("BENCH_WARM_UP").ok();
        let events = number("BENCH_WARM_UP", events, timeline::internal::DEFAULT_ENTRIES);
        for i in 0..events as i64 {
            self.timeline.log(self.four, [i, i + 1, i + 2, i + 3]);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.own {
            timeline::unlink(self.timeline.path()).unwrap_or_else(|error| fail(error));
        }
    }
}

fn main() {
    let [mode, variant, threads, events, repeats, to] =
        arguments(["mode", "variant", "threads", "events", "repeats", "to"]);
    let options = Options {
        mode: mode.unwrap_or("loop".into()),
        variant: variant.unwrap_or("enabled4".into()),
        threads: number("threads", threads, 1),
        events: number("events", events, 1_000_000),
        repeats: number("repeats", repeats, 5),
    };
    let log = Log::open();
    log.warm_up();
    let tl = &log.timeline;
    let send = |to: String| Worker::start(tl, &WorkerOptions::to_store(&to)?);
    let _worker = to.map(|to| send(to).unwrap_or_else(|error| fail(error)));
    match options.variant.as_str() {
        "enabled0" => measure(&options, |_| tl.log(log.none, [])),
        "enabled4" => measure(&options, |i| tl.log(log.four, [i, i + 1, i + 2, i + 3])),
        "event4" => measure(&options, |i| {
            let (a, b, c, d) = four(i);
            event!(tl, TYPED, "bench", "four {a} {b} {c} {d}", a, b, c, d);
        }),
        "event6" => measure(&options, |i| {
            let (a, b, c, d) = four(i);
            let (e, f) = (i + 1, i as u16);
            event!(
                tl,
                TYPED,
                "bench",
                "six {a} {b} {c} {d} {e} {f}",
                a,
                b,
                c,
                d,
                e,
                f
            );
        }),
        "event_text" => measure(&options, |i| {
            let (size, host) = (i as i32, NAMES[i as usize & 1]);
            event!(tl, TYPED, "bench", "sent {size} to {host}", size, host);
        }),
        "span4" => measure(&options, |i| {
            let (a, b, c, d) = four(i);
            let _span = span!(tl, TYPED, "bench", "span {a} {b} {c} {d}", a, b, c, d);
        }),
        "disabled" => measure(&options, |i| tl.log(log.detail, [i, i + 1, i + 2, i + 3])),
        // The reference for the check of a disabled event: a byte that the compiler cannot know,
        // and a branch.
        "branch" => {
            let byte = black_box(Box::new(0_u8));
            // SAFETY: the pointer is that of the box above.
            let look = || unsafe { std::ptr::from_ref(&*byte).read_volatile() };
            measure(&options, |i| {
                if look() != 0 {
                    taken(i);
                }
            });
        }
        other => fail(format!(
            "--variant: expected enabled0, enabled4, event4, event6, event_text, span4, \
             disabled or branch, got {other}"
        )),
    }
}

/// The same values as in log.c.
#[inline(always)]
fn four(i: i64) -> (i32, u64, f64, *const &'static str) {
    let name = &raw const NAMES[i as usize & 1];
    (i as i32, i as u64, i as f64, name)
}

#[cold]
#[inline(never)]
fn taken(i: i64) {
    black_box(i);
}

/// The results of the threads in a repeat: nanoseconds of a turn, or ticks of single calls.
#[derive(Default)]
struct Found {
    clock_ns: f64,
    event_ns: f64,
    empty: Vec<u64>,
    calls: Vec<u64>,
}

/// A running measurement. The barrier is for all threads and the one that prints.
struct Measure<'a> {
    options: &'a Options,
    barrier: Barrier,
    found: Mutex<Found>,
}

fn measure(options: &Options, event: impl Fn(i64) + Sync) {
    let latency = match options.mode.as_str() {
        "loop" | "sustained" => false,
        "latency" => true,
        "endless" => endless(event),
        other => fail(format!(
            "--mode: expected loop, sustained, latency or endless, got {other}"
        )),
    };
    let measure = Measure {
        options,
        barrier: Barrier::new(options.threads as usize + 1),
        found: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| measure.thread(latency, &event));
        }
        let ns_per_tick = ns_per_tick();
        for repeat in 0..options.repeats {
            let figures = if latency {
                measure.calls(ns_per_tick)
            } else {
                measure.loops()
            };
            let Options {
                mode,
                variant,
                threads,
                events,
                ..
            } = options;
            println!(
                "{{\"peer\":\"timeline-rust\",\"mode\":\"{mode}\",\"variant\":\"{variant}\",\
                 \"threads\":{threads},\"events\":{events},\"repeat\":{repeat},\
                 \"lost\":null,{figures}}}"
            );
        }
    });
}

fn endless(event: impl Fn(i64)) -> ! {
    println!("ready");
    for i in 0.. {
        event(i);
    }
    unreachable!("no machine counts that far")
}

impl Measure<'_> {
    fn thread(&self, latency: bool, event: &impl Fn(i64)) {
        let events = self.options.events;
        let warm_up = events.min(10_000);
        clock_loop(warm_up);
        event_loop(warm_up, event);
        for _ in 0..self.options.repeats {
            let mut mine = Found::default();
            if latency {
                // Touched, so that no page fault falls between two measured calls.
                mine.empty = vec![1; events as usize];
                mine.calls = vec![1; events as usize];
                self.barrier.wait();
                time_calls(event, &mut mine);
            } else {
                self.barrier.wait();
                mine.clock_ns = clock_loop(events);
                account();
                self.barrier.wait();
                self.barrier.wait();
                mine.event_ns = event_loop(events, event);
                account();
            }
            let mut all = self.found.lock().expect("no thread panics");
            all.clock_ns = all.clock_ns.max(mine.clock_ns);
            all.event_ns = all.event_ns.max(mine.event_ns);
            all.empty.append(&mut mine.empty);
            all.calls.append(&mut mine.calls);
            drop(all);
            self.barrier.wait();
        }
    }

    /// Processor time while all threads run their next loop.
    fn phase(&self) -> f64 {
        let before = cpu_ns();
        self.barrier.wait();
        self.barrier.wait();
        cpu_ns() - before
    }

    fn taken(&self) -> Found {
        std::mem::take(&mut self.found.lock().expect("no thread panics"))
    }

    fn loops(&self) -> String {
        let clock_cpu = self.phase();
        let event_cpu = self.phase();
        let Found {
            clock_ns, event_ns, ..
        } = self.taken();
        let all = (self.options.events * self.options.threads) as f64;
        format!(
            "\"clock_ns\":{clock_ns:.3},\"event_ns\":{event_ns:.3},\
             \"clock_cpu_ns\":{:.3},\"event_cpu_ns\":{:.3}",
            clock_cpu / all,
            event_cpu / all
        )
    }

    fn calls(&self, ns_per_tick: f64) -> String {
        self.phase();
        let Found {
            mut empty,
            mut calls,
            ..
        } = self.taken();
        empty.sort_unstable();
        calls.sort_unstable();
        let last = calls.len() - 1;
        let ns = |ticks: u64| ticks as f64 * ns_per_tick;
        let at = |per_10000| ns(calls[last * per_10000 / 10_000]);
        format!(
            "\"p50_ns\":{:.2},\"p99_ns\":{:.2},\"p999_ns\":{:.2},\"p9999_ns\":{:.2},\
             \"max_ns\":{:.2},\"clock_p50_ns\":{:.2}",
            at(5_000),
            at(9_900),
            at(9_990),
            at(9_999),
            ns(calls[last]),
            ns(empty[empty.len() / 2])
        )
    }
}

fn event_loop(events: u64, event: &impl Fn(i64)) -> f64 {
    timed(events, |i| {
        event(i);
        0_u64
    })
}

/// Each call by itself, fenced, so that no part of it runs before the first stamp or after the
/// second.
fn time_calls(event: &impl Fn(i64), found: &mut Found) {
    for empty in &mut found.empty {
        let before = ticks_before();
        *empty = ticks_after() - before;
    }
    for (i, call) in found.calls.iter_mut().enumerate() {
        let before = ticks_before();
        event(i as i64);
        *call = ticks_after() - before;
    }
}
