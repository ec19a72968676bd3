//! Measures roughly how fast ticks pass, in some microseconds.

use super::ClockKind;
use super::anchor::{TICKS_OF_NANOS, read};

/// A span must be this many times as long as the uncertainty of its two ends to give a rate.
const SHARPNESS: u64 = 64;

/// Ticks per second, with an error of at most 1/32; 0 if it cannot be measured. Takes some
/// microseconds.
pub fn measure(kind: ClockKind) -> u64 {
    if kind == ClockKind::Monotonic {
        return TICKS_OF_NANOS;
    }
    let (first, blur) = read(kind);
    for _ in 0..10_000 {
        let (last, again) = read(kind);
        let (ticks, blur) = (
            last.ticks.wrapping_sub(first.ticks),
            blur.saturating_add(again),
        );
        let nanoseconds = last.monotonic.wrapping_sub(first.monotonic);
        if nanoseconds > 0 && ticks / SHARPNESS >= blur {
            let rate = u128::from(ticks) * 1_000_000_000 / u128::from(nanoseconds);
            return u64::try_from(rate).unwrap_or(0);
        }
    }
    0
}
