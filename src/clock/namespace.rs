//! Reads how far the time namespace of this process shifts CLOCK_MONOTONIC_RAW.

use crate::shm::{inode, read_after};

/// The inode of the first time namespace, which the kernel never changes (`PROC_TIME_INIT_INO`).
const FIRST: u64 = 0xeffffffa;

/// Nanoseconds that the namespace adds to the clock of the first one; `None` if they are not known.
pub fn shift() -> Option<i64> {
    match inode(c"/proc/self/ns/time") {
        FIRST => Some(0),
        // The kernel has no time namespaces, or /proc is missing.
        0 => (inode(c"/proc/self") != 0).then_some(0),
        // The offsets in /proc are those of the namespace of future children.
        own if own == inode(c"/proc/self/ns/time_for_children") => offset(),
        _ => None,
    }
}

fn offset() -> Option<i64> {
    let mut buffer = [0; 64];
    let text = read_after(c"/proc/self/timens_offsets", b"monotonic ", &mut buffer);
    let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let line = std::str::from_utf8(line).ok()?;
    let mut numbers = line.split_ascii_whitespace().map(str::parse::<i64>);
    let (seconds, nanoseconds) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}
