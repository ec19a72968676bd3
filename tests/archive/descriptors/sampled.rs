//! Samplers whose descriptors the host closes.

use std::path::Path;

use timeline::{Level, Sampler, Timeline};

use super::{all_of, log_into, take_over};
use crate::support::{Name, Process, attach};

/// A sampler of a ring, once it has begun its burst.
fn begun(timeline: &Timeline, path: &str) -> Sampler {
    let hour = std::time::Duration::from_secs(3600);
    let sampler = timeline.sample(Level::ALL, hour, 2 * hour);
    let file = Path::new("/dev/shm").join(&path[1..]);
    // Those of the writer, of its control, and of the lock of the sampler: and none any more for
    // the burst.
    while attach(path).info().boost == Level::NONE || all_of(&file).len() != 3 {
        std::thread::yield_now();
    }
    sampler.expect("begun")
}

/// Samples a ring of its own, closes the descriptors behind the back of the library, and opens
/// another file there.
pub fn closes_what_it_samples(given: &[String]) {
    let [file, other] = [0, 1].map(|i| Path::new("/dev/shm").join(&given[i][1..]));
    let timeline = log_into(&given[0], 0o600);
    let sampler = begun(&timeline, &given[0]);
    std::fs::write(&other, "of the host").expect("written");
    let host = std::fs::File::open(&other).expect("opened");
    let numbers = take_over(&file, &host);
    assert_eq!(numbers.len(), 3, "{numbers:?}");
    drop((sampler, timeline));
    let open = all_of(&other);
    for number in numbers {
        assert!(open.contains(&number), "{number} of the host was closed");
    }
}

/// Samples a ring of its own, closes the descriptors behind the back of the library, and opens the
/// same ring, as a thread does that is about to define an event.
pub fn opens_what_it_samples(given: &[String]) {
    use std::os::fd::AsRawFd;
    let file = Path::new("/dev/shm").join(&given[0][1..]);
    let timeline = log_into(&given[0], 0o600);
    let sampler = begun(&timeline, &given[0]);
    // SAFETY: what the library does about it is what is tested.
    all_of(&file).iter().for_each(|number| unsafe {
        libc::close(*number);
    });
    // Each gets the lowest number that is free.
    let opened = [(); 8].map(|()| std::fs::File::open(&file).expect("opened"));
    drop((sampler, timeline));
    let open = all_of(&file);
    for number in opened.iter().map(AsRawFd::as_raw_fd) {
        assert!(open.contains(&number), "{number} was closed");
    }
}

#[test]
fn a_sampler_closes_no_other_opening_of_its_ring() {
    let name = Name::new("sampled");
    Process::start(opens_what_it_samples, &[name.path()]).finish();
}

#[test]
fn what_the_host_opens_in_the_place_of_locks_is_not_closed() {
    let (name, other) = (Name::new("sampled"), Name::new("of-the-host"));
    Process::start(closes_what_it_samples, &[name.path(), other.path()]).finish();
}
