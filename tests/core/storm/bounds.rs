//! Tests that what does not fit is dropped and counted, and that no byte is written out of place.
//! The cases are CPUs without a lane, more threads than lanes, and events beyond the table.

use std::collections::BTreeSet;
use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::sync::Barrier;

use timeline::internal::Record;
use timeline::internal::layout::geometry::REGION_NAMES;
use timeline::internal::layout::header::{CHECKED, Header};
use timeline::internal::layout::{Geometry, HEADER_SIZE, records};
use timeline::{ClockKind, EventId, Order, Timeline};

use super::load::{move_to, own_cpus};
use crate::support::{
    NO_RSEQ, Name, Process, arguments, attach, checked, define, hear, naive, rseq, say, seal,
};

/// The smallest ring, as it was made or with other lanes, and what its file held when somebody
/// looked.
struct Small {
    name: Name,
    _opener: Timeline,
    geometry: Geometry,
    seen: Vec<u8>,
}

impl Small {
    /// With so many lanes of CPUs at most; all others are the threads'.
    fn new(purpose: &str, most_cpu_lanes: u32) -> Small {
        let name = Name::new(purpose);
        let opener = Timeline::with_size(name.path(), 256, 2048).expect("created");
        define(&opener);
        let mut bytes = std::fs::read(name.file()).expect("read");
        let mut geometry = Geometry::load(&Header::of(&bytes)).expect("sound");
        let moved = geometry.cpu_lanes.saturating_sub(most_cpu_lanes);
        geometry.cpu_lanes -= moved;
        geometry.thread_lanes += moved;
        Header::edit(&mut bytes, |h| {
            geometry.store(h);
            seal(h);
        });
        let file = File::options()
            .write(true)
            .open(name.file())
            .expect("there");
        file.write_all_at(&bytes[..CHECKED], 0).expect("written");
        Small {
            seen: std::fs::read(name.file()).expect("read"),
            _opener: opener,
            geometry,
            name,
        }
    }

    /// Where the file has changed since the last look. A place is a region, the part of the header
    /// that changes, a record's room for later versions, or what lies between regions.
    fn changes(&mut self) -> BTreeSet<&'static str> {
        let now = std::fs::read(self.name.file()).expect("read");
        let before = std::mem::replace(&mut self.seen, now);
        assert_eq!(before.len(), self.seen.len(), "another length");
        let differ = |at: &usize| before[*at] != self.seen[*at];
        (0..before.len())
            .filter(differ)
            .map(|at| self.place(at as u64))
            // Whoever logs looks at the clock when it is time to.
            .filter(|place| *place != STRETCHES)
            .collect()
    }

    fn place(&self, at: u64) -> &'static str {
        if at < HEADER_SIZE {
            let last = offset_of!(Header, dropped_undefined) + 8;
            let counts = offset_of!(Header, dropped_interrupted)..last;
            return match at as usize {
                ..CHECKED => "the header",
                at if counts.contains(&at) => "counts",
                _ => "the changing header",
            };
        }
        let holds = |i: &usize| {
            let region = self.geometry.regions[*i];
            (region.offset..region.offset + region.length).contains(&at)
        };
        let stretches = self.geometry.stretches;
        if (stretches.offset..stretches.offset + stretches.length).contains(&at) {
            return STRETCHES;
        }
        let Some(index) = (0..REGION_NAMES.len()).find(holds) else {
            return "between regions";
        };
        let (name, region) = (REGION_NAMES[index], self.geometry.regions[index]);
        let used = match name {
            "lanes" => offset_of!(records::Lane, saved) as u64,
            "chunks" => offset_of!(records::Chunk, opened) as u64 + 8,
            "entries" => 56,
            _ => region.stride,
        };
        if (at - region.offset) % region.stride < used {
            name
        } else {
            "unused room"
        }
    }
}

/// Where it stands how the wall clock runs.
const STRETCHES: &str = "stretches";

/// What a process changes that joins and logs.
const LOGGING: [&str; 6] = [
    "chunks",
    "entries",
    "lanes",
    "processes",
    "the changing header",
    "threads",
];

/// Joins a timeline, and logs 1,000 events from one thread on each of the CPUs given. The threads
/// end when told.
pub fn logs_on_cpus(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let cpus = &given[1..];
    let (logged, leave) = (Barrier::new(cpus.len() + 1), Barrier::new(cpus.len() + 1));
    std::thread::scope(|scope| {
        for cpu in cpus {
            let cpu: usize = cpu.parse().expect("a number");
            let (timeline, logged, leave) = (&timeline, &logged, &leave);
            scope.spawn(move || {
                move_to(0, cpu);
                (0..1000).for_each(|i| timeline.log(event, arguments(cpu as i64, i)));
                logged.wait();
                leave.wait();
            });
        }
        logged.wait();
        say(rseq());
        hear();
        leave.wait();
    });
}

#[test]
fn a_cpu_without_a_lane_logs_through_lanes_of_threads() {
    let cpus = own_cpus();
    // The last CPU lies beyond the lanes: the machine has more than the smallest ring serves, or
    // that has fewer lanes than it was made with. Then none has one.
    let mut cpus = vec![cpus[0], cpus[cpus.len() - 1]];
    cpus.dedup();
    let last = cpus[cpus.len() - 1];
    for lanes in [last as u32, 0] {
        let mut small = Small::new("cpus", lanes);
        let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
        let mut given = vec![small.name.path()];
        given.extend(numbers.iter().map(String::as_str));
        let mut process = Process::start(logs_on_cpus, &given);
        let restartable = process.line() == "true";
        let attached = attach(small.name.path());
        let info = attached.info();
        let by_cpu = restartable && info.clock == ClockKind::Tsc;
        let served = |cpu: &&usize| by_cpu && **cpu < small.geometry.cpu_lanes as usize;
        let served = cpus.iter().filter(served).count();
        let in_use = [info.cpu_lanes_in_use, info.thread_lanes_in_use];
        let lanes_of = [served as u32, (cpus.len() - served) as u32];
        assert_eq!(in_use, lanes_of, "of CPUs, of threads");
        let logged = 1000 * cpus.len() as u64;
        assert_eq!((info.entries_written, info.dropped.total()), (logged, 0));
        for event in attached.events(Order::OldestFirst) {
            assert_eq!(i64::from(event.core), checked(&event).0);
        }
        for entry in naive::entries(&small.name.file()) {
            let of_cpu = entry.lane < u64::from(small.geometry.cpu_lanes);
            let at_home = !of_cpu || entry.lane as i64 == entry.args[0];
            assert!(
                at_home && entry.lane < small.geometry.lanes().into(),
                "{entry:?}"
            );
        }
        assert_eq!(
            small.changes(),
            BTreeSet::from(LOGGING),
            "{lanes} lanes of CPUs"
        );
        process.tell();
        process.finish();
    }
}

/// Joins a timeline, takes as many lanes as are given from as many threads, and logs from four
/// others when told.
pub fn takes_all_lanes(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let lanes: usize = given[1].parse().expect("a number");
    let (full, free) = (Barrier::new(lanes + 1), Barrier::new(lanes + 1));
    std::thread::scope(|scope| {
        for who in 0..lanes as i64 {
            let (timeline, full, free) = (&timeline, &full, &free);
            scope.spawn(move || {
                timeline.log(event, arguments(who, 0));
                full.wait();
                free.wait();
            });
        }
        full.wait();
        say("full");
        hear();
        std::thread::scope(|scope| {
            for who in 100..104 {
                let timeline = &timeline;
                scope.spawn(move || (0..500).for_each(|i| timeline.log(event, arguments(who, i))));
            }
        });
        say("dropped");
        hear();
        free.wait();
    });
}

#[test]
fn threads_that_find_no_lane_are_counted_and_write_nothing() {
    // For want of restartable sequences, and for want of lanes of CPUs.
    for (lanes, environment) in [(u32::MAX, &[NO_RSEQ] as &[_]), (0, &[])] {
        let mut small = Small::new("full", lanes);
        let thread_lanes = small.geometry.thread_lanes;
        let given = [small.name.path(), &thread_lanes.to_string()];
        let mut process = Process::start_with(takes_all_lanes, &given, environment);
        assert_eq!(process.line(), "full");
        small.changes();
        process.tell();
        assert_eq!(process.line(), "dropped");
        // They may have entered their names before they found no lane.
        let mut changed = small.changes();
        changed.remove("threads");
        changed.remove("the changing header");
        assert_eq!(changed, BTreeSet::from(["counts"]), "{environment:?}");
        let info = attach(small.name.path()).info();
        assert_eq!((info.dropped.no_lane, info.dropped.total()), (2000, 2000));
        assert_eq!(info.entries_written, u64::from(thread_lanes));
        process.tell();
        process.finish();
    }
}

/// Joins a timeline, and logs events that its table has no room for.
pub fn logs_beyond_the_table(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let beyond: u32 = given[1].parse().expect("a number");
    say("joined");
    hear();
    let ids = [
        beyond,
        beyond + 1,
        beyond + 4096,
        1 << 20,
        i32::MAX as u32,
        1 << 31,
        u32::MAX,
    ];
    for id in ids {
        timeline.log(EventId(id), arguments(i64::from(id), 0));
        assert!(!timeline.enabled(EventId(id)), "{id} is enabled");
    }
    say(ids.len());
    hear();
}

#[test]
fn events_beyond_the_table_change_a_count_and_nothing_else() {
    let mut small = Small::new("beyond", u32::MAX);
    let beyond = small.geometry.definitions.to_string();
    let mut process = Process::start(logs_beyond_the_table, &[small.name.path(), &beyond]);
    assert_eq!(process.line(), "joined");
    small.changes();
    process.tell();
    let logged: u64 = process.line().parse().expect("a number");
    assert_eq!(small.changes(), BTreeSet::from(["counts"]));
    let info = attach(small.name.path()).info();
    assert_eq!(
        (info.dropped.bad_event, info.dropped.total()),
        (logged, logged)
    );
    assert_eq!(info.entries_written, 0);
    process.tell();
    process.finish();
}
