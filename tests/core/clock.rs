//! What readers write of the wall clock to the ring of a program that has ended.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use timeline::internal::Record;
use timeline::internal::layout::{Geometry, Header};
use timeline::{Attached, Order, Timeline};

use crate::support::{Name, arguments, attach, define};

/// A number of the file of a timeline.
fn number(path: &str, at: u64) -> u64 {
    let file = std::fs::File::open(format!("/dev/shm{path}")).expect("opened");
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at).expect("read");
    u64::from_le_bytes(bytes)
}

/// The number of the newest stretch: see docs/format.md.
fn newest_stretch(path: &str) -> u64 {
    number(path, 0x918)
}

/// The first ticks of the newest stretch.
fn begin_of_newest(name: &Name) -> u64 {
    let header = Header::of(&std::fs::read(name.file()).expect("read"));
    let region = Geometry::load(&header).expect("sound").stretches;
    let slot = newest_stretch(name.path()) % (region.length / region.stride);
    number(name.path(), region.at(slot) + 8)
}

fn times(attached: &Attached) -> Vec<Option<u64>> {
    let events = attached.events(Order::OldestFirst);
    events
        .map(|event| attached.unix_nanos(event.ticks))
        .collect()
}

/// Each stretch takes the room of an older one, which older events may need.
#[test]
fn readers_add_nothing_where_no_event_needs_it() {
    let name = Name::new("ended");
    let timeline = name.create(1024);
    let event = define(&timeline);
    timeline.log(event, arguments(0, 0));
    drop(timeline);
    let first = attach(name.path());
    // One begins behind the event, as the first lasts only some milliseconds.
    let logged = first.info().newest_ticks.expect("an event");
    while begin_of_newest(&name) <= logged {
        first.info();
    }
    let (added, told) = (newest_stretch(name.path()), times(&first));
    // The next one is shorter than this, too.
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(400) {
        let attached = attach(name.path());
        attached.info();
        assert_eq!(times(&attached), told);
    }
    attach(name.path())
        .save(name.beside(".saved"))
        .expect("saved");
    timeline::unlink(name.beside(".saved")).expect("removed");
    assert_eq!(newest_stretch(name.path()), added);
    // Nor does a program that saves now and then, and does not log.
    let timeline = Timeline::open(name.path()).expect("opened");
    let joined = newest_stretch(name.path());
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(400) {
        timeline.save(name.beside(".saved")).expect("saved");
    }
    timeline::unlink(name.beside(".saved")).expect("removed");
    assert_eq!(newest_stretch(name.path()), joined);
    // What is logged later has its time all the same.
    let before = unix_now();
    timeline.log(define(&timeline), arguments(0, 1));
    let [former, late] = times(&first)[..] else {
        panic!("two events");
    };
    assert_eq!(former, told[0]);
    let late = late.expect("a time");
    let margin = 1_000_000;
    assert!((before - margin..unix_now() + margin).contains(&late));
}

fn unix_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_nanos() as u64
}
