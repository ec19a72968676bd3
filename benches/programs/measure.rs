//! The bare clock, processor time and percentiles for Rust programs; common.h has them for C.

use std::time::Instant;

#[inline(always)]
pub fn rdtsc() -> u64 {
    // SAFETY: rdtsc has no preconditions; every x86-64 CPU has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Fenced, so that no part of the timed code runs before.
#[inline(always)]
pub fn ticks_before() -> u64 {
    // SAFETY: every x86-64 CPU has SSE2 and so lfence, which has no preconditions.
    unsafe { core::arch::x86_64::_mm_lfence() };
    let ticks = rdtsc();
    // SAFETY: as above.
    unsafe { core::arch::x86_64::_mm_lfence() };
    ticks
}

/// Fenced, so that no part of the timed code runs after.
#[inline(always)]
pub fn ticks_after() -> u64 {
    let mut core = 0;
    // SAFETY: `core` is a place for a u32; every x86-64 CPU of the last fifteen years has rdtscp.
    unsafe {
        let ticks = core::arch::x86_64::__rdtscp(&mut core);
        core::arch::x86_64::_mm_lfence();
        ticks
    }
}

/// The kernel updates the time of a running thread when that thread asks, or at the next timer
/// tick.
pub fn account() {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `used` is a place for a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut used) };
}

/// Measured over a span that is long beside the reading of two clocks.
pub fn ns_per_tick() -> f64 {
    let (start, ticks) = (Instant::now(), rdtsc());
    while start.elapsed().as_millis() < 50 {
        std::hint::spin_loop();
    }
    start.elapsed().as_nanos() as f64 / (rdtsc() - ticks) as f64
}

/// The bare clock, which every logging call has to read. Nanoseconds of one reading.
pub fn clock_loop(readings: u64) -> f64 {
    timed(readings, |_| rdtsc())
}

/// Nanoseconds of one turn.
#[inline(always)]
pub fn timed<R: Into<u64>>(turns: u64, body: impl Fn(i64) -> R) -> f64 {
    let mut sum = 0_u64;
    let start = Instant::now();
    for turn in 0..turns {
        sum = sum.wrapping_add(body(turn as i64).into());
    }
    std::hint::black_box(sum);
    start.elapsed().as_nanos() as f64 / turns as f64
}

/// User and system time of all threads of this process, in nanoseconds.
pub fn cpu_ns() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is a valid place for one rusage, whose fields are integers: zero is a value
    // of it.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |t: libc::timeval| t.tv_sec as f64 * 1e9 + t.tv_usec as f64 * 1e3;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

/// The name of the timeline, and whether it is this program's own, to be removed.
pub fn ring() -> (String, bool) {
    match std::env::var("BENCH_RING") {
        Ok(name) => (name, false),
        Err(_) => (format!("/timeline-bench-{}", std::process::id()), true),
    }
}

/// Stops with a message: half of the figures are of no use.
pub fn fail(message: impl std::fmt::Display) -> ! {
    eprintln!("bench: {message}");
    std::process::exit(1)
}

/// The values of `--name value` pairs; every name is one of `known`.
pub fn arguments<const N: usize>(known: [&str; N]) -> [Option<String>; N] {
    let mut values = [const { None }; N];
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let place = known
            .iter()
            .position(|k| name.strip_prefix("--") == Some(k));
        let (Some(place), Some(value)) = (place, given.next()) else {
            fail(format!(
                "expected --{} VALUE, got {name}",
                known.join(" VALUE, --")
            ));
        };
        values[place] = Some(value);
    }
    values
}

/// A number above 0.
pub fn number(name: &str, value: Option<String>, otherwise: u64) -> u64 {
    let Some(value) = value else { return otherwise };
    match value.parse() {
        Ok(number) if number > 0 => number,
        _ => fail(format!("{name}: expected a number above 0, got {value}")),
    }
}
