//! Snapshots of format version 1: every later version opens them and shows the same.
//!
//! tests/data/example.timeline was saved by a real program (docs/format.md walks through it).
//! v1.timeline was put together from the format, with what one program on one machine would not
//! write: several threads and nodes, extreme arguments, losses. It and v1.dump are made by this
//! test itself when TIMELINE_GOLDEN=write is set, which is for a new major version only; whatever a
//! change of the code makes of them otherwise, they stay.

use std::path::PathBuf;

use timeline::layout::geometry::{put16, put32, put64};
use timeline::layout::words::{Cursor, State, entry_head, entry_thread};
use timeline::layout::{Geometry, HEADER_SIZE, MAGIC, header, records};
use timeline::{Attached, ClockKind, EventId, From, Level, Order, Priority, argument_names, dump};

use crate::support::Name;

/// Nanoseconds from the epoch to when the snapshot's first anchor says it was taken.
const EPOCH: u64 = 1_700_000_000_000_000_000;
/// Ticks at that anchor; there are three to the nanosecond.
const TICKS: u64 = 3_000_000_000;

fn data(name: &str) -> PathBuf {
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

const DEFINITIONS: [(&str, Priority, &str); 4] = [
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
];

const THREADS: [(u32, u32, &str, &str); 2] = [
    (4001, 4000, "worker", "program"),
    (4002, 4000, "\u{fc}ber", "program"),
];

/// The snapshot, put together byte by byte from docs/format.md, so that it depends on no machine.
fn made() -> Vec<u8> {
    let g = Geometry::new(256, 1024);
    let mut b = vec![0; g.total as usize];
    b[..8].copy_from_slice(&MAGIC);
    put16(&mut b, header::VERSION_MAJOR, 1);
    put32(&mut b, header::HEADER_SIZE, HEADER_SIZE as u32);
    put32(&mut b, header::FLAGS, header::FLAG_SNAPSHOT);
    g.store(&mut b);
    put32(&mut b, header::CLOCK, 1);
    put64(&mut b, header::CREATED_UNIX, EPOCH);
    put64(&mut b, header::CREATED_TICKS, TICKS);
    put32(&mut b, header::CREATOR_PID, 4000);
    put64(&mut b, header::CREATOR_START, 12345);
    b[header::BOOT_ID as usize..][..16].copy_from_slice(&[0xa5; 16]);
    b[header::CREATOR_EXE as usize..][..16].copy_from_slice(b"/usr/bin/program");
    b[header::CPU_NODES as usize..][..1024].fill(0xff);
    b[header::CPU_NODES as usize..][..6].copy_from_slice(&[0, 0, 1, 1, 0xff, 1]);
    let mut checked = b[..header::CHECKED as usize].to_vec();
    checked[header::CHECKSUM as usize..][..4].fill(0);
    put32(&mut b, header::CHECKSUM, crc32fast::hash(&checked));

    put32(
        &mut b,
        header::LEVEL,
        u32::from(Level::from(Priority::App).get()),
    );
    put64(&mut b, header::DROPPED_INTERRUPTED, 2);
    put64(&mut b, header::DROPPED_NO_LANE, 3);
    for (slot, nanoseconds) in [(0, 0), (1, 1_000_000_000)] {
        let at = header::ANCHORS + slot * header::ANCHOR_SIZE;
        put64(&mut b, at, slot + 1);
        put64(&mut b, at + 8, TICKS + 3 * nanoseconds);
        put64(&mut b, at + 16, nanoseconds + 77);
        put64(&mut b, at + 24, EPOCH + nanoseconds);
    }
    put64(&mut b, header::ANCHORS_TAKEN, 2);

    let mut used = 1;
    let mut intern = |b: &mut Vec<u8>, text: &str| {
        let at = (g.strings().offset + used) as usize;
        b[at..at + text.len()].copy_from_slice(text.as_bytes());
        used += text.len() as u64 + 1;
        put64(b, header::STRINGS_USED, used);
        (used - text.len() as u64 - 1) as u32
    };
    for (id, (category, priority, message)) in (1..).zip(DEFINITIONS) {
        let at = g.definition().offset + id * g.definition().stride;
        let (category, message) = (intern(&mut b, category), intern(&mut b, message));
        put32(&mut b, at + records::definition::CATEGORY, category);
        put32(&mut b, at + records::definition::MESSAGE, message);
        b[(at + records::definition::PRIORITY) as usize] = priority as u8;
        b[(at + records::definition::KIND) as usize] = 1;
        put64(&mut b, at + records::definition::HASH, hash(id));
        let arguments = argument_names(DEFINITIONS[id as usize - 1].2).count();
        b[(at + records::definition::ARGUMENTS) as usize] = arguments as u8;
        b[(at + records::definition::TYPES) as usize..][..arguments].fill(1);
        b[(g.enable().offset + id) as usize] = u8::from(priority <= Priority::App);
    }
    put32(&mut b, header::DEFINED, DEFINITIONS.len() as u32 + 1);
    for (slot, (tid, pid, name, process)) in (0..).zip(THREADS) {
        let at = g.thread().offset + slot * g.thread().stride;
        put32(
            &mut b,
            at + records::thread::IDENTITY,
            identity(slot as usize),
        );
        put32(&mut b, at + records::thread::TID, tid);
        put32(&mut b, at + records::thread::PID, pid);
        let at = at as usize;
        b[at + 32..at + 32 + name.len()].copy_from_slice(name.as_bytes());
        b[at + 48..at + 48 + process.len()].copy_from_slice(process.as_bytes());
    }
    let at = g.process().offset;
    put32(&mut b, at + records::process::IDENTITY, 1 << 16 | 1);
    put32(&mut b, at + records::process::PID, 4000);
    b[(at + records::process::NAME) as usize..][..7].copy_from_slice(b"program");
    ring(&mut b, &g);
    b
}

/// FNV-1a of priority, category, NUL, message.
fn hash(id: u64) -> u64 {
    let (category, priority, message) = DEFINITIONS[id as usize - 1];
    [priority as u8]
        .into_iter()
        .chain(category.bytes())
        .chain([0])
        .chain(message.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
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
            let chunk = ticket % u64::from(g.chunks);
            let at = g.chunk().offset + chunk * g.chunk().stride;
            put64(b, at, State::closed(ticket, entries.len() as u32).0);
            put64(b, at + records::chunk::BEFORE, 1000 + 16 * number);
            put64(b, at + records::chunk::LANE, lane);
            put64(b, at + records::chunk::OPENED, ticket);
            let cursor = Cursor::new(ticket, entries.len() as u32);
            put64(b, g.lane().offset + lane * g.lane().stride, cursor.0);
            for (index, (ticks, event, core, _, args)) in (0..).zip(entries) {
                let at = g.entry().offset + (chunk * 16 + index) * 64;
                put64(b, at, *ticks);
                put64(b, at + 8, entry_head(*event, *core));
                put64(
                    b,
                    at + 16,
                    entry_thread(identity(thread), THREADS[thread].0),
                );
                for (i, arg) in (0..).zip(args) {
                    put64(b, at + 24 + 8 * i, *arg as u64);
                }
            }
            ticket += 1;
        }
    }
    put64(b, header::NEXT_TICKET, ticket);
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

fn dumped(attached: &Attached) -> String {
    let mut text = Vec::new();
    dump::write(attached, None, &mut text).expect("written");
    String::from_utf8(text).expect("text")
}

#[test]
fn the_golden_snapshot_is_read_as_it_ever_was() {
    let attached = golden();
    let expected = std::fs::read_to_string(data("v1.dump")).expect("there");
    assert_eq!(dumped(&attached), expected);

    let seen: Vec<_> = attached.events(Order::OldestFirst).collect();
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
    back.reverse();
    assert_eq!(back, seen);
    let mut followed = Vec::new();
    attached.follow(From::Oldest).poll(&mut followed);
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
    assert_eq!((info.definitions, info.events_held), (4, 31));
    assert_eq!(info.events_written, 2000 + 31);
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
