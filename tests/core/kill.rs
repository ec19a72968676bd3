//! Kills writers with SIGKILL at random moments.
//! What they had committed stays readable, and what they held comes back.

use std::collections::HashMap;
use std::fs::File;
use std::hint::spin_loop;

use timeline::{Attached, Event, Order, Timeline};

use crate::support::{
    Name, Process, Random, arguments, attach, checked, cpus, define, in_process_without_rseq,
    naive, rseq, run_on, say,
};

/// Threads of a writer that is to be killed.
const THREADS: i64 = 3;
/// Entries of a chunk of the smallest ring.
const CHUNK: i64 = 16;

fn log_for_ever(timeline: &Timeline, first: i64) -> ! {
    let event = define(timeline);
    std::thread::scope(|scope| {
        for who in first..first + THREADS {
            scope.spawn(move || {
                for i in 0.. {
                    timeline.log(event, arguments(who, i));
                }
            });
        }
    });
    unreachable!("it is killed")
}

/// Creates a timeline and logs until it is killed.
fn creator(given: &[String]) {
    let timeline = Timeline::with_size(&given[0], 256, 2048).expect("created");
    say("created");
    log_for_ever(&timeline, 0);
}

/// What a ring shows after a kill: all that is committed, whole, in order. What is missing between
/// two events of a thread is a multiple of `hole`.
pub fn assert_readable(name: &str, file: &std::path::Path, round: usize, hole: i64) -> Vec<Event> {
    let attached = attach(name);
    let mut iterator = attached.events(Order::OldestFirst);
    let events: Vec<Event> = iterator.by_ref().collect();
    assert_eq!(iterator.overwritten(), 0, "round {round}: nobody writes");
    let mut last: HashMap<i64, i64> = HashMap::new();
    for event in &events {
        let (who, number) = checked(event);
        if let Some(before) = last.insert(who, number) {
            let missing = number - before - 1;
            assert!(
                missing >= 0 && missing % hole == 0,
                "round {round}: thread {who}, {before} then {number}"
            );
        }
    }
    assert!(events.windows(2).all(|w| w[0].ticks <= w[1].ticks));
    // The same from the bytes of the file, with every lane's cursor taken at its word.
    let plain = naive::entries(file);
    let seen: Vec<_> = events.iter().map(|e| (e.ticks, e.tid, e.args)).collect();
    let there: Vec<_> = plain.iter().map(|f| (f.ticks, f.tid, f.args)).collect();
    assert_eq!(seen, there, "round {round}");
    let mut in_lane: HashMap<u64, u64> = HashMap::new();
    for found in &plain {
        let rises = in_lane
            .insert(found.lane, found.sequence)
            .is_none_or(|before| before < found.sequence);
        assert!(rises, "round {round}: lane {} is out of order", found.lane);
    }
    events
}

/// Waits until the ring has moved on by that many chunks, and then a little.
fn let_it_run(file: &File, chunks: u64, spins: u64) {
    let start = naive::next_ticket(file);
    while naive::next_ticket(file) < start + chunks {
        std::thread::yield_now();
    }
    (0..spins).for_each(|_| spin_loop());
}

#[test]
fn the_next_new_keeps_exactly_what_the_killed_left() {
    let name = Name::new("corpse");
    // A ticket that a killed writer took with it spares one chunk for a lap; nothing else leaves a
    // hole, and that one is of whole chunks. With lanes of CPUs, a thread leaves its events in
    // both, and one of them may rest for many laps.
    let hole = if rseq() { 1 } else { CHUNK };
    let mut random = Random(std::process::id().into());
    for round in 0..25 {
        let mut child = Process::start(creator, &[name.path()]);
        assert_eq!(child.line(), "created");
        let file = File::open(name.file()).expect("there");
        let_it_run(&file, 1 + random.below(40), random.below(3000));
        child.kill();
        let left = assert_readable(name.path(), &name.file(), round, hole);
        assert!(!left.is_empty());

        drop(Timeline::with_size(name.path(), 256, 2048).expect("the dead do not use it"));

        let kept = assert_readable(
            &name.beside(".prev"),
            &name.file_beside(".prev"),
            round,
            hole,
        );
        assert_eq!(kept, left, "round {round}");
        assert_eq!(attach(name.path()).info().entries_written, 0);
        std::fs::remove_file(name.file()).expect("removed");
    }
}

/// A ring as it stands when every one of its lanes of threads, or of CPUs, was killed in the middle
/// of a refill: `steps` of "taken", "noted", "closed" (src/ring/mod.rs) done; and how many lanes
/// that were.
fn killed_in_refill(name: &Name, steps: usize, of_cpus: bool) -> (Timeline, i64) {
    use std::os::unix::fs::FileExt;
    use timeline::internal::Record;
    use timeline::internal::layout::words::ChunkState;
    use timeline::internal::layout::{Geometry, Header, records};

    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let event = define(&timeline);
    let lanes = if of_cpus { cpus().min(2) } else { 8 };
    let together = std::sync::Barrier::new(lanes);
    std::thread::scope(|scope| {
        for who in 0..lanes as i64 {
            let (timeline, together) = (&timeline, &together);
            scope.spawn(move || {
                if of_cpus {
                    run_on(who as usize);
                }
                (0..CHUNK).for_each(|i| timeline.log(event, arguments(who, i)));
                together.wait();
            });
        }
    });
    let file = File::options()
        .read(true)
        .write(true)
        .open(name.file())
        .expect("there");
    let bytes = std::fs::read(name.file()).expect("read");
    let geometry = Geometry::load(&Header::of(&bytes)).expect("sound");
    let chunk = |number: u64| records::Chunk::of(&bytes[geometry.chunk().at(number) as usize..]);
    let put_chunk = |number: u64, mut chunk: records::Chunk| {
        file.write_all_at(chunk.bytes_mut(), geometry.chunk().at(number))
            .expect("written")
    };
    let mut ticket = naive::next_ticket(&file);
    let first = if of_cpus {
        0
    } else {
        u64::from(geometry.cpu_lanes)
    };
    for lane in first..first + lanes as u64 {
        let record = records::Lane::of(&bytes[geometry.lane().at(lane) as usize..]);
        let cursor = record.cursor.into_inner();
        let (old, full) = (cursor >> 16, cursor & 0xffff);
        assert_eq!(full, CHUNK as u64, "its chunk is full");
        let mask = u64::from(geometry.chunks) - 1;
        let (mut fresh, mut former) = (chunk(ticket & mask), chunk(old & mask));
        assert_eq!(fresh.state.into_inner() >> 16, 0, "an unused chunk");
        fresh.state = ChunkState::open(ticket, lane as u32).0.into();
        if steps >= 2 {
            fresh.before = (*former.before.get_mut() + full).into();
            fresh.lane = lane.into();
            fresh.opened = ticket.into();
        }
        put_chunk(ticket & mask, fresh);
        if steps >= 3 {
            former.state = ChunkState::closed(old, full as u32).0.into();
            put_chunk(old & mask, former);
        }
        ticket += 1;
    }
    let next = std::mem::offset_of!(Header, next_ticket) as u64;
    file.write_all_at(&ticket.to_le_bytes(), next)
        .expect("written");
    (timeline, lanes as i64)
}

#[test]
fn a_ring_whose_every_lane_of_a_thread_died_in_a_refill_goes_on() {
    if !in_process_without_rseq(
        "kill::a_ring_whose_every_lane_of_a_thread_died_in_a_refill_goes_on",
    ) {
        goes_on_after_refill_was_killed(false);
    }
}

#[test]
fn a_ring_whose_every_lane_of_a_cpu_died_in_a_refill_goes_on() {
    if rseq() && cpus() > 0 {
        goes_on_after_refill_was_killed(true);
    }
}

fn goes_on_after_refill_was_killed(of_cpus: bool) {
    for steps in 1..=3 {
        let name = Name::new("refill");
        let (timeline, lanes) = killed_in_refill(&name, steps, of_cpus);
        let attached = attach(name.path());
        let event = define(&timeline);
        assert_eq!(
            attached.events(Order::OldestFirst).count() as i64,
            lanes * CHUNK
        );
        std::thread::scope(|scope| {
            let timeline = &timeline;
            scope.spawn(move || {
                for i in 0..100 {
                    if of_cpus {
                        run_on((i % lanes) as usize);
                    }
                    timeline.log(event, arguments(99, i));
                }
            });
        });
        let info = attached.info();
        assert_eq!(
            info.dropped.total(),
            0,
            "{steps} steps done: {:?}",
            info.dropped
        );
        let newest = attached
            .events(Order::NewestFirst)
            .next()
            .expect("an event");
        assert_eq!(checked(&newest), (99, 99), "{steps} steps done");
        assert_eq!(
            info.entries_written as i64,
            lanes * CHUNK + 100,
            "{steps} steps done"
        );
    }
}

#[test]
fn a_save_that_was_killed_leaves_the_former_snapshot_whole() {
    let name = Name::new("saved");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let event = define(&timeline);
    (0..50).for_each(|i| timeline.log(event, arguments(1, i)));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kept.timeline");
    timeline.save(&file).expect("saved");
    let file_name = file.to_str().expect("a plain name");
    let mut random = Random(std::process::id().into());
    for _ in 0..30 {
        let mut child = Process::start(saver, &[name.path(), file_name]);
        assert_eq!(child.line(), "saving");
        (0..random.below(200_000)).for_each(|_| spin_loop());
        child.kill();
        let snapshot = Attached::open(&file).expect("whole");
        assert_eq!(snapshot.events(Order::OldestFirst).count(), 50);
    }
}

/// Saves again and again until it is killed.
fn saver(given: &[String]) {
    let attached = attach(&given[0]);
    say("saving");
    loop {
        attached.save(&given[1]).expect("saved");
    }
}
