//! The best clock of the machine, and why it is no better one.
//!
//! **What if /sys does not tell the kernel's clock?** A sandbox or a chroot may have none. Then the
//! kernel tells it in another way: where it reads its own clock from the counter, it lets every
//! process do the same, without a system call, by one line for all CPUs (the vDSO). It takes that
//! away where it has found, or a hypervisor says, that the counters of the CPUs do not agree: then
//! `clock_gettime` makes a system call, which takes several times as long as reading a counter. So
//! the two are compared, each by the fastest of many times: an interruption makes one slower, and
//! nothing makes one faster. If it is in doubt, the counter is not used.

use std::ffi::CStr;
use std::fmt;

use super::ClockKind;
use crate::layout::Header;
use crate::shm;

/// Where the kernel says which clock it uses.
const SOURCE: &CStr = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Why the time stamp counter is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockReason {
    /// The processor does not say that its counter runs evenly, or it has none.
    Processor = 1,
    /// The kernel uses another clock.
    Kernel = 2,
    /// Nothing says that the kernel trusts the counter.
    Unknown = 3,
}

impl ClockReason {
    /// All of them.
    pub const ALL: [ClockReason; 3] = [
        ClockReason::Processor,
        ClockReason::Kernel,
        ClockReason::Unknown,
    ];

    /// The one with that number in a header.
    pub fn from_number(number: u32) -> Option<ClockReason> {
        let is_it = |reason: &ClockReason| *reason as u32 == number;
        ClockReason::ALL.into_iter().find(is_it)
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ClockReason::Processor => "processor",
            ClockReason::Kernel => "kernel",
            ClockReason::Unknown => "unknown",
        }
    }
}

impl fmt::Display for ClockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClockReason::Processor => {
                "the processor does not say that its counter runs evenly (invariant TSC)"
            }
            ClockReason::Kernel => "the kernel uses another clock source",
            ClockReason::Unknown => {
                "/sys does not tell the kernel's clock source, and clock_gettime does not read the \
                 counter"
            }
        })
    }
}

/// A clock, and how it was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockChoice {
    /// The clock.
    pub kind: ClockKind,
    /// Why it is not the counter.
    pub reason: Option<ClockReason>,
    /// The name of the kernel's clock source, NUL-padded; empty if it is not told.
    pub source: [u8; 16],
}

impl ClockChoice {
    /// The best clock of this machine.
    pub fn detect() -> ClockChoice {
        let mut source = [0; 16];
        let length = shm::read_small(SOURCE, &mut source).trim_ascii_end().len();
        source[length..].fill(0);
        let reason = match &source[..length] {
            _ if !invariant_tsc() => Some(ClockReason::Processor),
            b"tsc" => None,
            b"" if is_read_without_call() => None,
            b"" => Some(ClockReason::Unknown),
            _ => Some(ClockReason::Kernel),
        };
        ClockChoice {
            kind: match reason {
                None => ClockKind::Tsc,
                Some(_) => ClockKind::Monotonic,
            },
            reason,
            source,
        }
    }

    /// Writes it into the header of a new timeline.
    pub fn store(&self, head: &mut Header) {
        head.clock = self.kind.number().into();
        head.clock_reason = self.reason.map_or(0, |reason| reason as u32).into();
        head.clock_source = self.source.map(Into::into);
    }
}

#[cfg(target_arch = "x86_64")]
fn invariant_tsc() -> bool {
    raw_cpuid::CpuId::new()
        .get_advanced_power_mgmt_info()
        .is_some_and(|info| info.has_invariant_tsc())
}

#[cfg(not(target_arch = "x86_64"))]
fn invariant_tsc() -> bool {
    false
}

/// Whether the kernel has processes read its clock without a system call: from the counter, then,
/// because nothing else can be read so fast.
#[cfg(target_arch = "x86_64")]
fn is_read_without_call() -> bool {
    const TIMES: u32 = 200;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let fastest = |read: &mut dyn FnMut()| {
        let ticks = (0..TIMES).map(|_| {
            let start = super::rdtsc();
            read();
            super::rdtsc().wrapping_sub(start)
        });
        ticks.min().unwrap_or(u64::MAX)
    };
    // Of all clocks this is the one that no sandbox forbids.
    let clock = libc::CLOCK_MONOTONIC;
    let usual = fastest(&mut || {
        // SAFETY: `time` is a valid place for one timespec.
        unsafe { libc::clock_gettime(clock, &mut time) };
    });
    let called = fastest(&mut || {
        // SAFETY: as above; the call is that of the same name.
        unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut time) };
    });
    usual.saturating_mul(3) < called.saturating_mul(2)
}

#[cfg(not(target_arch = "x86_64"))]
fn is_read_without_call() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_goes_with_a_clock_that_is_not_the_counter() {
        let choice = ClockChoice::detect();
        assert_eq!(choice.kind == ClockKind::Tsc, choice.reason.is_none());
        if choice.source.starts_with(b"tsc\0") {
            assert_ne!(choice.reason, Some(ClockReason::Kernel));
        }
        for reason in ClockReason::ALL {
            assert_eq!(ClockReason::from_number(reason as u32), Some(reason));
        }
        assert_eq!(ClockReason::from_number(0), None);
    }
}
