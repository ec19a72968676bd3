//! Measures archives: full rings of the demo's events, writers of a steady rate, and a reader.
//!
//!     bench-archive --mode fill --events E
//!         makes a timeline, has two threads log E events each to it, and leaves it; without E it
//!         is full
//!     bench-archive --mode pace --rate R --threads N --seconds S
//!         makes a timeline, says "ready", and once standard input has ended logs R events a second
//!         from N threads; prints how many
//!     bench-archive --mode read --file FILE --order time|file --repeats R
//!         reads all events of an archive: merged by time, as the command does, or in the order of
//!         the file, with all fields of each
//!     bench-archive --mode write --file FILE --events E
//!         writes an archive of E events, of which each thread has chunks in turn
//!     bench-archive --mode filter --file FILE --where CONDITION --repeats R
//!         reads the events of an archive that meet a condition, as the command does with --where
//!
//! An event is that of the demo for each match of a block of LZ4: four integers. In `fill` two
//! threads log the matches of block after block, so that times and arguments are those of real
//! work.
//! BENCH_RING names the timeline.

#[path = "../../crates/cli/src/demo/matches.rs"]
mod matches;
#[allow(dead_code, reason = "each program uses its part")]
mod measure;

use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use measure::{arguments, cpu_ns, fail, number, ring};
use timeline::internal::DEFAULT_ENTRIES;
use timeline::{EventId, Level, Order, Priority, Timeline};
use timeline_archive::{Archive, Form, RawEvent, RawThread, Writer};
use timeline_search::{Expression, Query};

/// Threads that fill a ring.
const WORKERS: u64 = 2;
/// Bytes of a block of the demo.
const BLOCK: usize = 16 * 1024;
const MESSAGE: &str = "block $block: matched $bytes at $position, $distance back";
/// Events that a thread has side by side in a file.
const CHUNK: u64 = 64;
/// How often a steady writer logs.
const TURN: Duration = Duration::from_millis(1);

fn main() {
    let [
        mode,
        file,
        order,
        events,
        rate,
        threads,
        seconds,
        repeats,
        condition,
    ] = arguments([
        "mode", "file", "order", "events", "rate", "threads", "seconds", "repeats", "where",
    ]);
    match (mode.as_deref(), file) {
        (Some("fill"), _) => fill(number("events", events, DEFAULT_ENTRIES)),
        (Some("pace"), _) => pace(
            number("rate", rate, 2_000_000),
            number("threads", threads, 2),
            number("seconds", seconds, 60),
        ),
        (Some("read"), Some(file)) => read(&file, order.as_deref(), number("repeats", repeats, 5)),
        (Some("write"), Some(file)) => write(&file, number("events", events, 20_000_000)),
        (Some("filter"), Some(file)) => {
            let condition = condition.unwrap_or("bytes > 1500".into());
            filter(&file, &condition, number("repeats", repeats, 5));
        }
        _ => fail("--mode: expected fill, pace, or read, write or filter with --file"),
    }
}

/// The value, or the end.
fn must<T>(result: Result<T, impl std::fmt::Display>) -> T {
    result.unwrap_or_else(|error| fail(error))
}

fn make() -> (Timeline, EventId) {
    let (path, _) = ring();
    let timeline = must(Timeline::new(path));
    let event = must(timeline.define("lz", Priority::Library, MESSAGE));
    must(timeline.priority(Level::from(Priority::Library)));
    (timeline, event)
}

/// The text of the demo.
fn prose(random: &mut u64) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "ring", "chunk", "lane", "event", "clock", "core", "reader", "writer", "commits", "reads",
        "wraps", "before", "after", "while", "every", "the", "a", "and", "of", "in",
    ];
    let mut text = String::with_capacity(BLOCK + 16);
    while text.len() < BLOCK {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        text.push_str(WORDS[*random as usize % WORDS.len()]);
        text.push(' ');
    }
    text.truncate(BLOCK);
    text.into_bytes()
}

/// Compresses block after block until it has found so many matches.
fn compress(seed: u64, matches: u64, mut matched: impl FnMut([i64; 4])) {
    let mut random = 0x2545_f491_4f6c_dd1d ^ seed << 32;
    let (mut found, mut block) = (0, seed);
    while found < matches {
        let packed = lz4_flex::block::compress(&prose(&mut random));
        for one in matches::matches(&packed) {
            let [length, position, distance] =
                [one.length, one.position, one.distance].map(|number| number as i64);
            found += 1;
            matched([block as i64, length, position, distance]);
        }
        block += WORKERS;
    }
}

fn fill(events: u64) {
    let (timeline, event) = make();
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let timeline = &timeline;
            let work = move || {
                let log = |args| timeline.log(event, args);
                // By default more than a ring, so that it is full whichever was the faster.
                compress(worker, events, log);
            };
            let thread = std::thread::Builder::new().name(format!("worker-{}", worker + 1));
            must(thread.spawn_scoped(scope, work));
        }
    });
}

/// The matches of a thread are found before, so that only logging takes its time.
fn pace(rate: u64, threads: u64, seconds: u64) {
    let (timeline, event) = make();
    let each = rate / threads;
    let (mut matches, turns) = (Vec::new(), seconds * 1_000);
    compress(0, 1 << 16, |args| matches.push(args));
    println!("ready");
    must(std::io::stdin().read_to_end(&mut Vec::new()));
    let start = Instant::now();
    let log = |thread: u64| {
        let mut next = matches.iter().cycle().skip(thread as usize * 1_000);
        let mut logged = 0;
        for turn in 1..=turns {
            while logged < turn * each / 1_000 {
                timeline.log(event, *next.next().expect("there is no end of them"));
                logged += 1;
            }
            let until = TURN * turn as u32;
            std::thread::sleep(until.saturating_sub(start.elapsed()));
        }
        logged
    };
    let log = &log;
    let logged: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|n| scope.spawn(move || log(n))).collect();
        let logged = threads.into_iter().map(|t| t.join().expect("no panic"));
        logged.sum()
    });
    let seconds = start.elapsed().as_secs_f64();
    println!(r#"{{"events":{logged},"seconds":{seconds:.6}}}"#);
}

fn read(file: &str, order: Option<&str>, repeats: u64) {
    for repeat in 0..repeats {
        let (start, before) = (Instant::now(), cpu_ns());
        let archive = must(Archive::open(file));
        let (events, sum) = match order {
            None | Some("time") => {
                let events = archive.events_by_time(Order::OldestFirst);
                events.fold((0, 0), |sum, event| add(sum, &event.args))
            }
            Some("file") => archive
                .events()
                .fold((0, 0), |sum, event| add(sum, &event.args)),
            Some(other) => fail(format!("--order: expected time or file, got {other}")),
        };
        std::hint::black_box(sum);
        drop(archive);
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), (cpu_ns() - before) / 1e9);
        println!(
            "{{\"repeat\":{repeat},\"events\":{events},\"seconds\":{seconds:.6},\
             \"cpu_seconds\":{cpu:.6}}}"
        );
    }
}

fn write(file: &str, events: u64) {
    let mut matches = Vec::new();
    compress(0, 1 << 16, |args| matches.push(args));
    let mut writer = Writer::new(must(File::create(file)), 7, Form::Blocks);
    let threads = ["worker-1", "worker-2"].map(|name| RawThread {
        name: Some(writer.string(name)),
        ..RawThread::default()
    });
    let mut event = RawEvent::default();
    event.definition.format = Some(writer.string(MESSAGE));
    event.definition.category = Some(writer.string("lz"));
    event.definition.level = Some(Priority::Library as u64);
    event.definition.event = Some(1);
    for (i, args) in (0..events).zip(matches.iter().cycle()) {
        let (chunk, worker) = (i / CHUNK / WORKERS, i / CHUNK % WORKERS);
        event.thread = threads[worker as usize].clone();
        (event.core, event.lane) = (Some(worker), Some(worker));
        event.number = Some(chunk * CHUNK + i % CHUNK);
        event.ticks = Some(1_000_000 + 650 * i + args[3] as u64 % 97);
        event.unix_nanos = event
            .ticks
            .map(|ticks| 1_700_000_000_000_000_000 + ticks / 3);
        event.args.clear();
        event.args.extend(args);
        must(writer.event(&event));
    }
    must(writer.flush());
}

fn filter(file: &str, condition: &str, repeats: u64) {
    let query = Query {
        expressions: vec![must(Expression::parse(condition))],
        ..Query::default()
    };
    for repeat in 0..repeats {
        let before = cpu_ns();
        let archive = must(Archive::open(file));
        let select = Box::new(query.on(&archive));
        let found = archive.events_by_time_where(Order::OldestFirst, select);
        let found = found.count();
        let (cpu, events) = (cpu_ns() - before, archive.count() as f64);
        println!(
            "{{\"repeat\":{repeat},\"events\":{events},\"found\":{found},\
             \"event_cpu_ns\":{:.2},\"events_per_cpu_us\":{:.1}}}",
            cpu / events,
            1e3 * events / cpu
        );
    }
}

/// Counts an event and adds its arguments, so that they are read.
fn add((events, sum): (u64, i64), args: &[i64]) -> (u64, i64) {
    let sum = args.iter().fold(sum, |sum, arg| sum.wrapping_add(*arg));
    (events + 1, sum)
}
