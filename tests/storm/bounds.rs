//! What does not fit is dropped and counted, and not a byte is written where it may not be: CPUs without a lane, more
//! threads than lanes, events beyond the table.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Barrier;

use crate::harness::{
    NO_RSEQ, Name, Process, arguments, attach, checked, define, hear, naive, say,
};
use crate::load::{move_to, own_cpus};
use timeline::layout::geometry::{REGION_NAMES, put32};
use timeline::layout::{Geometry, HEADER_SIZE, header, records};
use timeline::{EventId, Order, Timeline};

/// The smallest ring, as it was made or with other lanes, and what its file held when somebody looked.
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
        let mut geometry = Geometry::load(&bytes).expect("sound");
        let moved = geometry.cpu_lanes.saturating_sub(most_cpu_lanes);
        geometry.cpu_lanes -= moved;
        geometry.thread_lanes += moved;
        geometry.store(&mut bytes);
        let head = &mut bytes[..header::CHECKED as usize];
        put32(head, header::CHECKSUM, 0);
        let sum = crc32fast::hash(head);
        put32(head, header::CHECKSUM, sum);
        let file = File::options()
            .write(true)
            .open(name.file())
            .expect("there");
        file.write_all_at(head, 0).expect("written");
        Small {
            seen: std::fs::read(name.file()).expect("read"),
            _opener: opener,
            geometry,
            name,
        }
    }

    /// Where the file has changed since the last look. A place is a region, the part of the header that changes, a
    /// record's room for later versions, or what lies between regions.
    fn changes(&mut self) -> BTreeSet<&'static str> {
        let now = std::fs::read(self.name.file()).expect("read");
        let before = std::mem::replace(&mut self.seen, now);
        assert_eq!(before.len(), self.seen.len(), "another length");
        let differ = |at: &usize| before[*at] != self.seen[*at];
        (0..before.len())
            .filter(differ)
            .map(|at| self.place(at as u64))
            .collect()
    }

    fn place(&self, at: u64) -> &'static str {
        if at < HEADER_SIZE {
            return match at {
                ..header::CHECKED => "the header",
                header::DROPPED_INTERRUPTED.. if at < header::DROPPED_BAD_EVENT + 8 => "counts",
                _ => "the changing header",
            };
        }
        let holds = |i: &usize| {
            let region = self.geometry.regions[*i];
            (region.offset..region.offset + region.length).contains(&at)
        };
        let Some(index) = (0..REGION_NAMES.len()).find(holds) else {
            return "between regions";
        };
        let (name, region) = (REGION_NAMES[index], self.geometry.regions[index]);
        let used = match name {
            "lanes" => records::lane::INTERRUPTED + 8,
            "chunks" => records::chunk::OPENED + 8,
            "entries" => 56,
            _ => region.stride,
        };
        if (at - region.offset) % region.stride < used {
            name
        } else {
            "unused room"
        }
    }

    /// The events in the ring come from a lane that may have them: that of their CPU, or one of a thread.
    fn assert_at_home(&self) {
        let events = attach(self.name.path()).events(Order::OldestFirst).count();
        let found = naive::entries(&self.name.file());
        assert_eq!(found.len(), events);
        let cores = attach(self.name.path());
        let cores: Vec<_> = cores
            .events(Order::OldestFirst)
            .map(|e| (e.ticks, e.core))
            .collect();
        for (entry, (ticks, core)) in found.iter().zip(cores) {
            assert_eq!(entry.ticks, ticks);
            let of_cpu = entry.lane < u64::from(self.geometry.cpu_lanes);
            assert!(
                !of_cpu || entry.lane == u64::from(core),
                "CPU {core}: {entry:?}"
            );
            assert!(entry.lane < u64::from(self.geometry.lanes()), "{entry:?}");
        }
    }
}

/// What a process changes that joins and logs.
const LOGGING: [&str; 6] = [
    "chunks",
    "entries",
    "lanes",
    "processes",
    "the changing header",
    "threads",
];

/// Joins a timeline, and logs 1,000 events from one thread on each of the CPUs given.
pub fn logs_on_cpus(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    for cpu in &given[1..] {
        let cpu: usize = cpu.parse().expect("a number");
        let log = || {
            move_to(0, cpu);
            (0..1000).for_each(|i| timeline.log(event, arguments(cpu as i64, i)));
        };
        std::thread::scope(|scope| scope.spawn(log).join().expect("it logged"));
    }
}

#[test]
fn a_cpu_without_a_lane_logs_through_lanes_of_threads() {
    let cpus = own_cpus();
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    // The last CPU lies beyond the lanes, be it that the machine has more than the smallest ring serves; then none has
    // one.
    for lanes in [last as u32, 0] {
        let mut small = Small::new("cpus", lanes);
        let given = [first.to_string(), last.to_string()];
        let given = [small.name.path(), &given[0], &given[1]];
        Process::start("logs_on_cpus", &given).finish();
        let attached = attach(small.name.path());
        let info = attached.info();
        assert_eq!(info.cpu_lanes, small.geometry.cpu_lanes);
        assert_eq!((info.events_written, info.dropped.total()), (2000, 0));
        let newest = attached
            .events(Order::NewestFirst)
            .next()
            .expect("an event");
        assert_eq!(checked(&newest), (last as i64, 999));
        assert_eq!(usize::from(newest.core), last);
        small.assert_at_home();
        assert_eq!(
            small.changes(),
            BTreeSet::from(LOGGING),
            "{lanes} lanes of CPUs"
        );
    }
}

/// Joins a timeline, takes as many lanes as are given from as many threads, and logs from four others when told.
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
        let mut process = Process::start_with("takes_all_lanes", &given, environment);
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
        assert_eq!(info.events_written, u64::from(thread_lanes));
        process.tell();
        process.finish();
        small.assert_at_home();
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
    let mut process = Process::start("logs_beyond_the_table", &[small.name.path(), &beyond]);
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
    assert_eq!(info.events_written, 0);
    process.tell();
    process.finish();
}
