//! Measures one way of logging beside the bare clock: common.h for Rust programs.

use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};
use std::fmt::Write;
use std::sync::Barrier;
use std::sync::atomic::{Ordering, compiler_fence};

/// A way of logging.
pub trait Peer: Sync {
    /// The name in the table.
    const NAME: &'static str;
    /// A note beside the figures.
    const NOTE: &'static str;
    /// The crate whose version is given.
    const CRATE: &'static str;
    /// The state of a thread between its events.
    type Thread;

    /// Called in each thread before its first event.
    fn thread(&self) -> Self::Thread;
    /// Logs the event with i, i + 1, i + 2, i + 3.
    fn log(&self, thread: &mut Self::Thread, i: i64);
    /// Waits until all background work is done. No thread logs meanwhile.
    fn drain(&self);
    /// How many events were logged and not kept so far, if known.
    fn lost(&self) -> Option<u64>;
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Loop,
    Sustained,
    Latency,
}

struct Options {
    mode: Mode,
    threads: usize,
    events: u64,
    repeats: u32,
}

#[derive(Clone, Default)]
struct Times {
    clock_ns: f64,
    event_ns: f64,
    empty: Vec<u32>,
    calls: Vec<u32>,
}

/// Runs a peer by its command line, and prints the results.
pub fn run<P: Peer>(open: impl FnOnce() -> P) {
    let options = parse(P::NAME);
    let start = (now_ns(), ticks());
    let peer = open();
    let barrier = Barrier::new(options.threads + 1);
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        for _ in 0..options.threads {
            let sender = sender.clone();
            let (peer, barrier, options) = (&peer, &barrier, &options);
            scope.spawn(move || run_thread(peer, barrier, options, &sender));
        }
        barrier.wait();
        peer.drain();
        for repeat in 0..options.repeats {
            let results = if options.mode == Mode::Latency {
                run_latency(&peer, &barrier, &receiver, options.threads, start)
            } else {
                run_loop(&peer, &barrier, &receiver, &options)
            };
            print::<P>(&options, repeat, &results, peer.lost());
        }
    });
}

fn run_thread<P: Peer>(
    peer: &P,
    barrier: &Barrier,
    options: &Options,
    results: &std::sync::mpsc::Sender<Times>,
) {
    let mut thread = peer.thread();
    let warm_up = options.events.min(10_000);
    clock_loop(warm_up);
    event_loop(peer, &mut thread, warm_up);
    barrier.wait();
    let mut times = Times::default();
    if options.mode == Mode::Latency {
        // Touched, so that no page fault falls between two measured calls.
        times.empty = vec![1; options.events as usize];
        times.calls = vec![1; options.events as usize];
    }
    for _ in 0..options.repeats {
        barrier.wait();
        if options.mode == Mode::Latency {
            time_calls(peer, &mut thread, &mut times);
        } else {
            times.clock_ns = clock_loop(options.events);
            account();
            barrier.wait();
            barrier.wait();
            times.event_ns = event_loop(peer, &mut thread, options.events);
            account();
        }
        barrier.wait();
        results
            .send(times.clone())
            .expect("the main thread waits for it");
    }
}

fn run_loop<P: Peer>(
    peer: &P,
    barrier: &Barrier,
    times: &std::sync::mpsc::Receiver<Times>,
    options: &Options,
) -> String {
    let total = (options.events * options.threads as u64) as f64;
    let before_clock = cpu_ns();
    barrier.wait();
    barrier.wait();
    let before_events = cpu_ns();
    barrier.wait();
    barrier.wait();
    peer.drain();
    let after = cpu_ns();
    let (mut clock_ns, mut event_ns) = (0f64, 0f64);
    for times in times.iter().take(options.threads) {
        clock_ns = clock_ns.max(times.clock_ns);
        event_ns = event_ns.max(times.event_ns);
    }
    format!(
        ",\"clock_ns\":{clock_ns:.3},\"event_ns\":{event_ns:.3},\
         \"clock_cpu_ns\":{:.3},\"event_cpu_ns\":{:.3}",
        (before_events - before_clock) / total,
        (after - before_events) / total
    )
}

fn run_latency<P: Peer>(
    peer: &P,
    barrier: &Barrier,
    times: &std::sync::mpsc::Receiver<Times>,
    threads: usize,
    start: (f64, u64),
) -> String {
    barrier.wait();
    barrier.wait();
    peer.drain();
    let (mut empty, mut calls) = (Vec::new(), Vec::new());
    for times in times.iter().take(threads) {
        empty.extend(times.empty);
        calls.extend(times.calls);
    }
    empty.sort_unstable();
    calls.sort_unstable();
    let ns = ns_per_tick(start);
    let mut text = String::new();
    for (name, per_10000) in [
        ("p50", 5000),
        ("p99", 9900),
        ("p999", 9990),
        ("p9999", 9999),
    ] {
        let at = (calls.len() - 1) * per_10000 / 10000;
        write!(text, ",\"{name}_ns\":{:.2}", f64::from(calls[at]) * ns).expect("a string takes it");
    }
    let (max, clock) = (calls[calls.len() - 1], empty[empty.len() / 2]);
    write!(
        text,
        ",\"max_ns\":{:.2},\"clock_p50_ns\":{:.2}",
        f64::from(max) * ns,
        f64::from(clock) * ns
    )
    .expect("a string takes it");
    text
}

fn print<P: Peer>(options: &Options, repeat: u32, results: &str, lost: Option<u64>) {
    let mode = match options.mode {
        Mode::Loop => "loop",
        Mode::Sustained => "sustained",
        Mode::Latency => "latency",
    };
    println!(
        "{{\"peer\":\"{}\",\"mode\":\"{mode}\",\
         \"threads\":{},\"events\":{},\"repeat\":{repeat}{results},\"lost\":{},\
         \"note\":\"{}\",\"version\":\"{}\"}}",
        P::NAME,
        options.threads,
        options.events,
        lost.map_or("null".to_owned(), |lost| lost.to_string()),
        P::NOTE,
        locked_version(include_str!("../Cargo.lock"), P::CRATE)
    );
}

/// The bare clock, which every logging call has to read.
fn clock_loop(events: u64) -> f64 {
    let mut sum = 0u64;
    let start = now_ns();
    for _ in 0..events {
        sum = sum.wrapping_add(ticks());
    }
    std::hint::black_box(sum);
    (now_ns() - start) / events as f64
}

fn event_loop<P: Peer>(peer: &P, thread: &mut P::Thread, events: u64) -> f64 {
    let start = now_ns();
    for i in 0..events {
        peer.log(thread, i as i64);
    }
    (now_ns() - start) / events as f64
}

fn time_calls<P: Peer>(peer: &P, thread: &mut P::Thread, times: &mut Times) {
    for empty in &mut times.empty {
        let before = ticks_before();
        *empty = ticks_since(before);
    }
    for (i, call) in times.calls.iter_mut().enumerate() {
        let before = ticks_before();
        peer.log(thread, i as i64);
        *call = ticks_since(before);
    }
}

fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has it.
    unsafe { _rdtsc() }
}

/// Fenced, so that no part of the call runs before.
fn ticks_before() -> u64 {
    // SAFETY: every x86-64 processor has these.
    let ticks = unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    };
    compiler_fence(Ordering::SeqCst);
    ticks
}

/// Fenced, so that no part of the call runs after.
fn ticks_since(before: u64) -> u32 {
    compiler_fence(Ordering::SeqCst);
    let mut core = 0;
    // SAFETY: every x86-64 processor of the last fifteen years has rdtscp.
    let after = unsafe {
        let after = __rdtscp(&mut core);
        _mm_lfence();
        after
    };
    u32::try_from(after - before).unwrap_or(u32::MAX)
}

fn now_ns() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes only to `now`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &mut now) };
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// The longer the span, the less the two clocks' jitter counts.
fn ns_per_tick(start: (f64, u64)) -> f64 {
    while now_ns() - start.0 < 50e6 {
        std::hint::spin_loop();
    }
    (now_ns() - start.0) / (ticks() - start.1) as f64
}

/// The kernel updates the time of a running thread when that thread asks, or at the next timer
/// tick.
fn account() {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes only to `used`.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut used) };
}

/// User and system time of all threads so far.
fn cpu_ns() -> f64 {
    // SAFETY: a structure of integers may be zero.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes only to `usage`.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
    let micros = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    seconds as f64 * 1e9 + micros as f64 * 1e3
}

/// The version that cargo built with; a constant here would soon be wrong.
fn locked_version<'a>(lock: &'a str, package: &str) -> &'a str {
    let after = lock.split_once(&format!("name = \"{package}\"\nversion = \""));
    after
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or("unknown")
}

fn parse(name: &str) -> Options {
    let mut options = Options {
        mode: Mode::Loop,
        threads: 1,
        events: 1_000_000,
        repeats: 5,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let number = value.parse::<u32>().ok().filter(|number| *number > 0);
        match (argument.as_str(), value.as_str(), number) {
            ("--mode", "loop", _) => options.mode = Mode::Loop,
            ("--mode", "sustained", _) => options.mode = Mode::Sustained,
            ("--mode", "latency", _) => options.mode = Mode::Latency,
            ("--threads", _, Some(number)) => options.threads = number as usize,
            ("--events", _, Some(number)) => options.events = number.into(),
            ("--repeats", _, Some(number)) => options.repeats = number,
            _ => {
                eprintln!(
                    "{name}: expected --mode loop|sustained|latency, or --threads, --events or \
                     --repeats with a \
                     number above 0, got {argument} {value}"
                );
                std::process::exit(1);
            }
        }
    }
    options
}
