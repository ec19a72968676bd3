//! Snapshots of format version 1: every later version opens them and shows the same.
//!
//! tests/data/example.timeline was saved by a real program (docs/format.md walks through it).
//! v1.timeline was put together from the format, with what one program on one machine would not
//! write: several threads and nodes, extreme arguments, losses. It and v1.dump are made by this
//! test itself when TIMELINE_GOLDEN=write is set, which is for a new major version only; whatever a
//! change of the code makes of them otherwise, they stay.

use std::path::PathBuf;

use timeline::internal::layout::Geometry;
use timeline::internal::layout::header::Header;
use timeline::internal::layout::records::{Definition, Process};
use timeline::internal::layout::words::{entry_head, entry_thread};
use timeline::internal::{Record, argument_names};
use timeline::{Attached, ClockKind, EventId, FollowFrom, Level, Order, Priority, dump};

use crate::support::{
    Name, anchor, begin_snapshot, padded, put_chunk, put_string, put_thread, seal,
};

/// Nanoseconds from the epoch to when the snapshot's first anchor says it was taken.
pub const EPOCH: u64 = 1_700_000_000_000_000_000;
/// Ticks at that anchor; there are three to the nanosecond.
pub const TICKS: u64 = 3_000_000_000;

pub fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// The events, oldest first: ticks, event, core, thread (0 or 1), arguments.
fn events() -> Vec<(u64, u32, u16, usize, [i64; 4])> {
    let mut events: Vec<_> = (0..20)
        .map(|i| {
            let core = (i % 3) as u16;
            (
                TICKS + 1000 * i * i,
                1,
                core,
                0,
                [i as i64, -(i as i64), 3, 0],
            )
        })
        .chain((0..9).map(|i| (TICKS + 7777 * i + 1, 2, 5, 1, [i as i64, 0, 0, 0])))
        .collect();
    events.push((TICKS + 400_000, 3, 0xffff, 1, [0; 4]));
    let widest = [i64::MIN, i64::MAX, 0, -1];
    events.push((TICKS + 400_001, 4, 1, 1, widest));
    events.sort_by_key(|e| e.0);
    events
}

/// The last one is important.
const DEFINITIONS: [(&str, Priority, &str); 5] = [
    (
        "example",
        Priority::Trace,
        "processed $tcp, $udp, and $other",
    ),
    (
        "net",
        Priority::Packet,
        "packet $number\nOne for each packet that came.",
    ),
    ("net", Priority::Error, "link down"),
    ("numbers", Priority::Info, "$low $high $zero $minus"),
    ("net", Priority::Info, "interface $id has $queues"),
];
const IMPORTANT: u32 = 5;

/// The important event: ticks, core, thread, arguments. An entry before it was never written.
const KEPT: (u64, u16, usize, [i64; 4]) = (TICKS + 300, 2, 0, [7, 4, 0, 0]);

const THREADS: [(u32, u32, &str, &str); 2] = [
    (4001, 4000, "worker", "program"),
    (4002, 4000, "\u{fc}ber", "program"),
];

/// The snapshot, put together record by record from docs/format.md, so that it depends on no
/// machine.
fn made() -> Vec<u8> {
    let g = Geometry::new(256, 1024);
    let mut b = vec![0; g.total as usize];
    Header::edit(&mut b, |h| {
        begin_snapshot(h, &g);
        h.created_unix = EPOCH.into();
        h.created_ticks = TICKS.into();
        h.creator_pid = 4000.into();
        h.creator_start = 12345.into();
        h.boot_id = [0xa5; 16].map(Into::into);
        h.creator_exe = padded("/usr/bin/program");
        let mut nodes = [0xff; 1024];
        nodes[..6].copy_from_slice(&[0, 0, 1, 1, 0xff, 1]);
        h.cpu_nodes = nodes.map(Into::into);
        seal(h);

        h.level = u32::from(Level::from(Priority::App).get()).into();
        h.dropped_interrupted = 2.into();
        h.dropped_no_lane = 3.into();
        for (slot, nanoseconds) in [(0, 0), (1, 1_000_000_000)] {
            let (ticks, realtime) = (TICKS + 3 * nanoseconds, EPOCH + nanoseconds);
            h.anchors[slot] = anchor(slot, ticks, nanoseconds + 77, realtime);
        }
        h.anchors_taken = 2.into();
        h.defined = (DEFINITIONS.len() as u32 + 1).into();
    });
    tables(&mut b, &g);
    ring(&mut b, &g);
    b
}

/// The definitions with their strings, the threads and the process.
fn tables(b: &mut [u8], g: &Geometry) {
    let mut used = 1;
    let mut intern = |b: &mut [u8], text: &str| put_string(b, g, &mut used, text);
    for (id, (category, priority, message)) in (1_u32..).zip(DEFINITIONS) {
        let arguments = argument_names(message).count();
        let (category, message) = (intern(b, category), intern(b, message));
        Definition::edit(&mut b[g.definition().at(id) as usize..], |definition| {
            definition.category = category.into();
            definition.message = message.into();
            definition.priority = (priority as u8).into();
            definition.kind = 1.into();
            definition.hash = hash(id).into();
            definition.arguments = (arguments as u8).into();
            definition.flags = u8::from(id == IMPORTANT).into();
        });
        let enabled = if id == IMPORTANT { 2 } else { 1 };
        b[g.enable().at(id) as usize] = if priority <= Priority::App {
            enabled
        } else {
            0
        };
    }
    for (slot, thread) in THREADS.into_iter().enumerate() {
        put_thread(b, g, slot as u32, identity(slot), thread);
    }
    Process::edit(&mut b[g.process().offset as usize..], |process| {
        process.identity = (1 << 16 | 1).into();
        process.pid = 4000.into();
        process.name = padded("program");
        process.executable = padded("/usr/bin/program");
        process.size = 12_345_678.into();
        process.modified = EPOCH.into();
        process.inode = 4_711.into();
        process.sha1 = [0xa5; 20].map(Into::into);
    });
}

/// FNV-1a of priority, category, NUL, message; of the important one also NUL and its flags.
fn hash(id: u32) -> u64 {
    let (category, priority, message) = DEFINITIONS[id as usize - 1];
    let flags: &[u8] = if id == IMPORTANT { &[0, 1] } else { &[] };
    let head = &[priority as u8];
    fnv1a(&[head, category.as_bytes(), &[0], message.as_bytes(), flags])
}

/// FNV-1a of these bytes.
pub fn fnv1a(parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().copied().flatten();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn identity(slot: usize) -> u32 {
    9 << 16 | slot as u32
}

/// Lane n holds thread n, in chunks of sixteen.
fn ring(b: &mut [u8], g: &Geometry) {
    let mut ticket = 100;
    for (lane, thread) in (u64::from(g.cpu_lanes)..).zip(0..THREADS.len()) {
        let mine: Vec<_> = events().into_iter().filter(|e| e.3 == thread).collect();
        for (number, entries) in (0..).zip(mine.chunks(16)) {
            let words = |(ticks, event, core, _, args): &(u64, u32, u16, usize, [i64; 4])| {
                let word = entry_thread(identity(thread), THREADS[thread].0);
                let [a, b, c, d] = args.map(|arg| arg as u64);
                [*ticks, entry_head(*event, *core), word, a, b, c, d]
            };
            let entries: Vec<_> = entries.iter().map(words).collect();
            put_chunk(b, g, (ticket, lane, 1000 + 16 * number), &entries);
            ticket += 1;
        }
    }
    Header::edit(b, |h| {
        h.next_ticket = ticket.into();
        h.important_taken = 2.into();
    });
    let (ticks, core, thread, args) = KEPT;
    let word = entry_thread(identity(thread), THREADS[thread].0);
    let words = [ticks, entry_head(IMPORTANT, core), word].into_iter();
    let at = g.important().at(1_u32) as usize;
    for (place, word) in b[at..]
        .chunks_exact_mut(8)
        .zip(words.chain(args.map(|a| a as u64)))
    {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

/// The snapshot, written first if that was asked for.
fn golden() -> Attached {
    static WRITE: std::sync::Once = std::sync::Once::new();
    let path = data("v1.timeline");
    WRITE.call_once(|| {
        if std::env::var_os("TIMELINE_GOLDEN").is_some_and(|v| v == "write") {
            std::fs::write(&path, made()).expect("written");
            let text = dumped(&Attached::open(&path).expect("readable"));
            std::fs::write(data("v1.dump"), text).expect("written");
        }
    });
    Attached::open(path).expect("readable")
}

pub fn dumped(attached: &Attached) -> String {
    let mut text = Vec::new();
    dump::write(attached, None, &mut text).expect("written");
    String::from_utf8(text).expect("text")
}

#[test]
fn the_golden_snapshot_is_read_as_it_ever_was() {
    let attached = golden();
    let expected = std::fs::read_to_string(data("v1.dump")).expect("there");
    assert_eq!(dumped(&attached), expected);

    let mut seen: Vec<_> = attached.events(Order::OldestFirst).collect();
    let kept = seen.remove(0);
    assert!(kept.important && seen.iter().all(|event| !event.important));
    assert_eq!((kept.ticks, kept.core, kept.args), (KEPT.0, KEPT.1, KEPT.3));
    let mut expected = events();
    assert_eq!(seen.len(), expected.len());
    for (event, (ticks, id, core, thread, args)) in seen.iter().zip(&expected) {
        assert_eq!(
            (event.ticks, event.id, event.core),
            (*ticks, EventId(*id), *core)
        );
        assert_eq!(event.args, *args);
        let (tid, pid, name, process) = THREADS[*thread];
        let known = attached.thread(event).expect("known");
        assert_eq!((known.tid, known.pid, event.tid), (tid, pid, tid));
        assert_eq!(
            (known.name.as_deref(), known.process.as_deref()),
            (Some(name), Some(process))
        );
        let nanoseconds = EPOCH + (ticks - TICKS) / 3;
        assert_eq!(attached.unix_nanos(*ticks), Some(nanoseconds));
    }
    let mut back: Vec<_> = attached.events(Order::NewestFirst).collect();
    assert_eq!(back.remove(0), kept);
    back.reverse();
    assert_eq!(back, seen);
    let mut followed = Vec::new();
    attached.follow(FollowFrom::Oldest).poll(&mut followed);
    assert_eq!(followed.remove(0), kept);
    followed.sort_by_key(|e| e.ticks);
    expected.sort_by_key(|e| e.0);
    assert!(
        followed
            .iter()
            .map(|e| e.ticks)
            .eq(expected.iter().map(|e| e.0))
    );
}

#[test]
fn the_golden_snapshot_says_the_same_of_itself() {
    let attached = golden();
    for (definition, (category, priority, message)) in attached.definitions().zip(DEFINITIONS) {
        assert_eq!(
            (definition.category.as_str(), definition.message.as_str()),
            (category, message)
        );
        assert_eq!(definition.priority, Some(priority));
    }
    let info = attached.info();
    assert!(info.snapshot && attached.is_snapshot());
    assert_eq!(
        (info.version, info.entries, info.clock),
        ((1, 0), 256, ClockKind::Tsc)
    );
    assert_eq!((info.chunks, info.chunk_entries), (16, 16));
    assert_eq!(info.level, Level::from(Priority::App));
    assert_eq!((info.definitions, info.entries_held), (5, 31));
    assert_eq!(info.entries_written, 2000 + 31);
    assert_eq!((info.important_used, info.important_capacity), (2, 64));
    assert_eq!((info.dropped.interrupted, info.dropped.no_lane), (2, 3));
    assert_eq!(
        (info.creator_pid, info.creator_exe.as_str()),
        (4000, "/usr/bin/program")
    );
    assert_eq!(
        (info.created_unix_nanos, info.ticks_per_second),
        (EPOCH, Some(3e9))
    );
    assert_eq!(info.boot_id, "a5a5a5a5-a5a5-a5a5-a5a5-a5a5a5a5a5a5");
    assert_eq!(
        (
            info.writers.len(),
            info.writers[0].pid,
            info.writers[0].alive
        ),
        (1, 4000, false)
    );
}

#[test]
fn a_copy_of_the_golden_snapshot_tells_the_same() {
    let attached = golden();
    let copy = Name::new("copy");
    attached.save(copy.path()).expect("saved");
    assert_eq!(
        dumped(&Attached::open(copy.path()).expect("readable")),
        dumped(&attached)
    );
}

#[test]
fn what_a_real_program_saved_is_read_as_it_ever_was() {
    let attached = Attached::open(data("example.timeline")).expect("readable");
    let expected = std::fs::read_to_string(data("example.dump")).expect("there");
    assert_eq!(dumped(&attached), expected);
    let thread = attached
        .events(Order::NewestFirst)
        .next()
        .and_then(|event| attached.thread(&event));
    assert!(thread.is_some_and(|t| t.tid == 10788 && t.pid == 10788));
}
