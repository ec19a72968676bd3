//! Ticks: the invariant TSC if the kernel trusts it, otherwise CLOCK_MONOTONIC_RAW.
//!
//! Here ticks are read. choice.rs says of which clock, and why of no better one, measure.rs roughly
//! how fast they pass, and namespace.rs how far a time namespace shifts them. course.rs knows the
//! course of the wall clock in stretches (course/ tests it), of which shared.rs has those in the
//! memory of a timeline; anchor.rs has the rate, and the times of timelines without stretches;
//! interpolation.rs computes many times without a division for each. cpu.rs finds the CPU and its
//! NUMA node.
//!
//! **Why does the clock need the kernel's consent?** An invariant time stamp counter may still
//! differ between sockets. The kernel tests that, and stops using the counter as its clock source
//! if it fails. Then CLOCK_MONOTONIC_RAW is used, and the header says so.
//!
//! **What if the kernel forbids a thread to read the counter?** Then no clock can be read without a
//! system call (prctl PR_SET_TSC, and seccomp's strict mode, which forbids system calls as well).
//! What makes system calls anyway asks first: opening is an error, a thread's first event is
//! dropped and counted. A thread that has logged does not ask, because that would cost more than an
//! event.
//!
//! The shift of a time namespace, and who found it, are Relaxed: a process moves to another
//! namespace only while it has one thread.

mod anchor;
mod choice;
mod course;
mod cpu;
mod interpolation;
mod measure;
mod namespace;
mod shared;

pub use anchor::{Anchor, TimeBase};
pub use choice::{ClockChoice, ClockReason};
pub use course::{ClockReading, ClockStep, Course, Stretch};
pub use cpu::{cpu_nodes, current_cpu, rseq_area};
pub use interpolation::Interpolation;
pub use measure::measure;
pub use shared::Stretches;

use std::fmt;

use crate::sync::{AtomicU64, Ordering};

/// The clock that ticks are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockKind {
    /// The invariant time stamp counter, read with `rdtsc`.
    Tsc,
    /// `CLOCK_MONOTONIC_RAW` in nanoseconds, as in the machine's first time namespace.
    Monotonic,
}

impl ClockKind {
    /// Its number in the header.
    pub fn number(self) -> u32 {
        match self {
            ClockKind::Tsc => 1,
            ClockKind::Monotonic => 2,
        }
    }

    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<ClockKind> {
        match number {
            1 => Some(ClockKind::Tsc),
            2 => Some(ClockKind::Monotonic),
            _ => None,
        }
    }

    /// The best clock of this machine.
    ///
    /// The TSC is used only if the CPU says it is invariant *and* the kernel reads its own clock
    /// from it, because the kernel tests whether the cores agree.
    pub fn detect() -> ClockKind {
        ClockChoice::detect().kind
    }

    /// The current ticks.
    #[inline(always)]
    pub fn now(self) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            ClockKind::Tsc => rdtsc(),
            _ => monotonic_raw(),
        }
    }
}

impl fmt::Display for ClockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClockKind::Tsc => "tsc",
            ClockKind::Monotonic => "monotonic_raw",
        })
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn rdtsc() -> u64 {
    // SAFETY: rdtsc has no preconditions; every x86-64 CPU has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Whether the kernel forbids the calling thread to read its clocks: `rdtsc` would end the process,
/// and so would `clock_gettime`, which uses it. Threads and forked children inherit that.
pub fn is_forbidden() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let mut mode: libc::c_int = 0;
        // SAFETY: PR_GET_TSC stores an int at the place that it is given.
        let asked = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
        asked == 0 && mode == libc::PR_TSC_SIGSEGV
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Nanoseconds by which this process's clock is ahead of the clock in the machine's first time
/// namespace, in two's complement.
static SHIFT: AtomicU64 = AtomicU64::new(0);

/// The process that looked up its shift, and whether it found it: its id << 1 | 1 if so.
static SETTLED: AtomicU64 = AtomicU64::new(0);

/// Finds out how far the time namespace of this process shifts its clock. It is called before ticks
/// are read: when the process opens a timeline, after a fork, and when it takes an anchor, because
/// it may have moved to another namespace (`setns`). Returns whether the shift is known. Does not
/// allocate.
pub fn settle() -> bool {
    let me = u64::from(std::process::id()) << 1;
    // Relaxed, here and below: it guards nothing, and a process moves only while it has one thread.
    let known = match namespace::shift() {
        Some(shift) => {
            SHIFT.store(shift as u64, Ordering::Relaxed);
            true
        }
        // The process is in a chroot by now. Its own earlier result still holds; without one, its
        // parent's is the best guess.
        None => SETTLED.load(Ordering::Relaxed) == me | 1,
    };
    // Relaxed: see above.
    SETTLED.store(me | u64::from(known), Ordering::Relaxed);
    known
}

/// Whether ticks that this process reads can be compared with those of others, as far as it was
/// found when it last looked. Makes no system call.
fn is_comparable(kind: ClockKind) -> bool {
    kind == ClockKind::Tsc || SETTLED.load(Ordering::Relaxed) & 1 == 1
}

/// Nanoseconds of CLOCK_MONOTONIC_RAW in the machine's first time namespace.
#[cold]
fn monotonic_raw() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC_RAW).wrapping_sub(SHIFT.load(Ordering::Relaxed))
}

/// Nanoseconds of CLOCK_MONOTONIC in the machine's first time namespace; `None` if this process
/// does not know its own.
fn monotonic() -> Option<u64> {
    // Relaxed: see `settle`.
    let is_known = SETTLED.load(Ordering::Relaxed) & 1 == 1;
    let shift = SHIFT.load(Ordering::Relaxed);
    is_known.then(|| nanoseconds(libc::CLOCK_MONOTONIC).wrapping_sub(shift))
}

/// Nanoseconds since the epoch.
pub fn realtime() -> u64 {
    nanoseconds(libc::CLOCK_REALTIME)
}

// libc instead of nix: this runs inside the host's signal handlers and allocators, where nothing
// may allocate.
fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid place for one timespec, and the clock exists on every supported
    // kernel.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_rise() {
        for kind in [ClockKind::detect(), ClockKind::Monotonic] {
            let mut last = kind.now();
            for _ in 0..1000 {
                let now = kind.now();
                assert!(now >= last);
                last = now;
            }
            assert_eq!(ClockKind::from_number(kind.number()), Some(kind));
        }
    }
}
