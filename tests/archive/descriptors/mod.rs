//! Tests hosts that close descriptors of standard streams, or ours.
//! Standard streams: no descriptor of the library has the number of one, not for a moment.
//! Ours: we never read, and never close, what the host opens under that number.

mod kept;
mod sampled;
mod streams;

use std::path::Path;

use timeline::Timeline;

use crate::support::{arguments, define};

/// The descriptors that lead to a file.
fn all_of(file: &Path) -> Vec<i32> {
    let all = std::fs::read_dir("/proc/self/fd").expect("listed");
    let numbers = all.flatten().filter_map(|entry| {
        let leads_there = std::fs::read_link(entry.path()).is_ok_and(|link| link == file);
        leads_there.then(|| entry.file_name().to_str()?.parse().ok())?
    });
    numbers.collect()
}

const EVENTS: usize = 100;

/// Creates a ring and logs.
fn log_into(path: &str, mode: u32) -> Timeline {
    let options = Timeline::options().entries(256).string_table_size(2048);
    let timeline = options.mode(mode).create(path).expect("created");
    let event = define(&timeline);
    (0..EVENTS as i64).for_each(|number| timeline.log(event, arguments(1, number)));
    timeline
}

/// The host closes each descriptor that leads to a file, and opens another file there. The numbers.
fn take_over(file: &Path, by: &std::fs::File) -> Vec<i32> {
    use std::os::fd::AsRawFd;
    let numbers = all_of(file);
    for number in &numbers {
        // SAFETY: what the library does about it is what is tested.
        assert_eq!(unsafe { libc::dup2(by.as_raw_fd(), *number) }, *number);
    }
    numbers
}
