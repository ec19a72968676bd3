//! Tests damaged and hostile files: no crash, no hang, and no write.
//! A reader gives an error that names what is wrong, or something readable.

use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use timeline::internal::Record;
use timeline::internal::layout::geometry::REGION_NAMES;
use timeline::internal::layout::header::{self, CHECKED, Header};
use timeline::internal::layout::records::{self, Chunk};
use timeline::internal::layout::{Geometry, HEADER_SIZE, MAGIC};
use timeline::{
    Attached, Control, Definition, Error, EventId, FollowFrom, Interned, Level, Order, Priority,
    Timeline, dump, event,
};

use crate::support::{Name, Process, Random, arguments, define, seal};

/// A snapshot with events of several threads and definitions, as bytes.
fn sound() -> Vec<u8> {
    let name = Name::new("sound");
    let timeline = Timeline::with_size(name.path(), 256, 1024).expect("created");
    let event = define(&timeline);
    let other = timeline.define("other", Priority::Error, "plain\nexplained");
    let other = other.expect("defined");
    for who in 0..4 {
        std::thread::scope(|scope| {
            let timeline = &timeline;
            scope.spawn(move || {
                (0..50).for_each(|i| timeline.log(event, arguments(who, i)));
                timeline.log(other, []);
                for host in [Interned("eth0"), Interned("a longer name of a host")] {
                    event!(
                        timeline,
                        Priority::Info,
                        "net",
                        "to {host} {who}",
                        host,
                        who
                    );
                }
            });
        });
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sound.timeline");
    timeline.save(&file).expect("saved");
    std::fs::read(file).expect("read")
}

/// A folder with one file, which tests rewrite.
struct Scratch {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl Scratch {
    fn new() -> Scratch {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("hostile.timeline");
        Scratch {
            _folder: folder,
            file,
        }
    }

    fn write(&self, bytes: &[u8]) -> &Path {
        std::fs::write(&self.file, bytes).expect("written");
        &self.file
    }
}

/// Uses everything that a reader has; what comes of it does not matter, but nothing is written.
fn read_all(path: &Path) -> Result<usize, Error> {
    let attached = Attached::open(path)?;
    let forth = attached.events(Order::OldestFirst).count();
    let back = attached.events(Order::NewestFirst).count();
    if attached.is_snapshot() {
        assert_eq!(forth, back, "the orders disagree on how many there are");
    }
    for event in attached.events(Order::NewestFirst) {
        let _ = attached.thread(&event);
        let _ = attached.unix_nanos(event.ticks);
    }
    for ticks in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        let _ = attached.unix_nanos(ticks);
    }
    for from in [FollowFrom::Oldest, FollowFrom::Now] {
        let mut follow = attached.follow(from);
        let mut out = Vec::new();
        for _ in 0..3 {
            follow.poll(&mut out);
        }
    }
    let _ = attached.definition(EventId(u32::MAX));
    let _ = format!("{:?}", attached.info());
    let _ = timeline::users(path);
    dump::write(&attached, None, &mut std::io::sink()).expect("a sink takes everything");
    Ok(forth)
}

/// As [`read_all`], and the file stays as it was.
fn read_harmlessly(path: &Path) -> Result<usize, Error> {
    let before = std::fs::read(path).expect("read");
    let result = read_all(path);
    assert_eq!(std::fs::read(path).expect("read"), before, "reading wrote");
    if let Err(error) = &result {
        let text = error.to_string();
        assert!(text.contains("hostile.timeline"), "{text}");
    }
    result
}

#[test]
fn a_file_cut_short_anywhere_is_said_to_be() {
    let bytes = sound();
    let scratch = Scratch::new();
    let lengths = (0..=HEADER_SIZE as usize + 64)
        .chain((HEADER_SIZE as usize..bytes.len()).step_by(509))
        .chain([bytes.len() - 1]);
    let mut file = bytes.clone();
    let mut last = usize::MAX;
    for length in lengths {
        if length > last || last == usize::MAX {
            file.clone_from(&bytes);
        }
        file.truncate(length);
        last = length;
        let error = Attached::open(scratch.write(&file)).err();
        match error.unwrap_or_else(|| panic!("{length} bytes are accepted")) {
            Error::NotATimeline { .. } => assert!(length < 8),
            Error::Truncated {
                expected, found, ..
            } => {
                assert_eq!(found, length as u64);
                let whole = if length < HEADER_SIZE as usize {
                    HEADER_SIZE
                } else {
                    bytes.len() as u64
                };
                assert_eq!(expected, whole);
            }
            other => panic!("{length} bytes: {other}"),
        }
    }
    assert_eq!(read_harmlessly(scratch.write(&bytes)).expect("whole"), 212);
}

/// Fields before the regions of which any value is accepted.
const FREE: [&str; 2] = ["version_minor", "flags"];

#[test]
fn each_header_field_out_of_range_is_named() {
    let bytes = sound();
    let scratch = Scratch::new();
    let regions = (0..9).flat_map(|i| {
        let at = offset_of!(Header, regions) + i * size_of::<header::Region>();
        let name = REGION_NAMES[i];
        [0, 8, 16].map(|part| (name, at + part, at + part + 8))
    });
    let fields = Header::FIELDS.windows(2);
    let fields = fields.map(|pair| (pair[0].name, pair[0].offset, pair[1].offset));
    let fields = fields.take_while(|(name, ..)| *name != "regions");
    let fields = fields.filter(|(name, ..)| !FREE.contains(name));
    let at = offset_of!(Header, interned);
    for (name, at, end) in fields.chain(regions).chain([("interned", at, at + 8)]) {
        let mut damaged = bytes.clone();
        damaged[at..end].fill(0xff);
        if name != "checksum" {
            Header::edit(&mut damaged, seal);
        }
        let error = read_harmlessly(scratch.write(&damaged)).err();
        let error = error.unwrap_or_else(|| panic!("{name} at {at:#x} is accepted"));
        let right = match &error {
            Error::NotATimeline { .. } => name == "magic",
            Error::Version { found_major, .. } => name == "version_major" && *found_major == 0xffff,
            Error::Corrupt { field, .. } => *field == name,
            // The counts are all in range here, but no longer fit the regions.
            _ => false,
        };
        assert!(right, "{name} at {at:#x}: {error}");
    }
    // A region behind the end of the file.
    let total = Header::of(&bytes).total_size.into_inner();
    for (i, name) in REGION_NAMES.into_iter().enumerate() {
        let mut damaged = bytes.clone();
        Header::edit(&mut damaged, |h| {
            h.regions[i].offset = total.into();
            seal(h);
        });
        let error = read_harmlessly(scratch.write(&damaged)).err();
        let right = matches!(&error, Some(Error::Corrupt { field, .. }) if *field == name);
        assert!(right, "{name}: {error:?}");
    }
    // Any bit of the part that never changes is noticed, if only by the checksum.
    for at in 8..CHECKED {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let error = Attached::open(scratch.write(&damaged)).err();
        assert!(error.is_some(), "byte {at:#x} is accepted");
    }
    // A later minor version only adds.
    let mut newer = bytes.clone();
    Header::edit(&mut newer, |h| {
        h.version_minor = 9.into();
        seal(h);
    });
    assert_eq!(
        read_harmlessly(scratch.write(&newer)).expect("readable"),
        212
    );
    assert_eq!(newer[..8], MAGIC);
}

/// Values that code likes to fall over.
fn nasty() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..70_000u64,
        (0..64u32).prop_map(|bit| 1 << bit),
        (0..3u64).prop_map(|n| u64::MAX - n),
        (any::<u64>(), 0..1u64 << 16).prop_map(|(t, low)| (t % 64) << 16 | low),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn a_header_with_random_words_is_refused_or_read(
        words in prop::collection::vec((0..HEADER_SIZE / 8, nasty()), 1..6),
        sealed: bool,
    ) {
        let mut bytes = SOUND.with(Clone::clone);
        for (word, value) in words {
            bytes[word as usize * 8..][..8].copy_from_slice(&value.to_le_bytes());
        }
        if sealed {
            Header::edit(&mut bytes, seal);
        }
        let _ = read_harmlessly(Scratch::new().write(&bytes));
    }

    #[test]
    fn tables_and_chunks_of_random_words_are_read(
        words in prop::collection::vec((0..1u64 << 40, nasty()), 1..40),
    ) {
        let mut bytes = SOUND.with(Clone::clone);
        let g = Geometry::load(&Header::of(&bytes)).expect("sound");
        for (place, value) in words {
            // Each region gets its share; the ring itself is not larger than the others here.
            let region = g.regions[(place % 9) as usize];
            let word = region.offset + (place / 9 * 8) % (region.length / 8 * 8);
            bytes[word as usize..][..8].copy_from_slice(&value.to_le_bytes());
        }
        let scratch = Scratch::new();
        prop_assert!(read_harmlessly(scratch.write(&bytes)).is_ok());
        // What could be read can be saved, and the copy be read.
        let attached = Attached::open(&scratch.file).expect("as before");
        let copy = scratch.file.with_file_name("copy-of-hostile.timeline");
        let saved = attached.save(&copy).expect("saved");
        prop_assert_eq!(read_all(&copy).expect("readable") as u64, saved.events);
    }
}

thread_local! {
    static SOUND: Vec<u8> = sound();
}

#[test]
fn numbers_at_the_edge_do_no_harm() {
    let bytes = sound();
    let g = Geometry::load(&Header::of(&bytes)).expect("sound");
    let scratch = Scratch::new();
    // A lane that claims to have written all there can be.
    let mut damaged = bytes.clone();
    for chunk in 0..g.chunks {
        let record = &mut damaged[g.chunk().at(chunk) as usize..];
        Chunk::edit(record, |chunk| chunk.before = u64::MAX.into());
    }
    read_harmlessly(scratch.write(&damaged)).expect("readable");
    // Anchors that span all of time.
    for (first, second) in [
        ([1, 0, 0], [u64::MAX, u64::MAX, u64::MAX]),
        ([1, 0, u64::MAX], [2, u64::MAX, u64::MAX]),
        ([u64::MAX - 1, 0, u64::MAX], [u64::MAX, u64::MAX, 0]),
    ] {
        let mut damaged = bytes.clone();
        Header::edit(&mut damaged, |h| {
            h.anchors = Record::zeroed();
            for (slot, [ticks, monotonic, realtime]) in [first, second].into_iter().enumerate() {
                h.anchors[slot] = header::Anchor {
                    serial: (slot as u64 + 1).into(),
                    ticks: ticks.into(),
                    monotonic: monotonic.into(),
                    realtime: realtime.into(),
                };
            }
        });
        read_harmlessly(scratch.write(&damaged)).expect("readable");
    }
}

#[test]
fn definitions_that_all_name_one_endless_string_do_not_eat_the_memory() {
    let name = Name::new("endless");
    let timeline = Timeline::with_size(name.path(), 256, 1 << 20).expect("created");
    let file = name.file();
    let mut bytes = std::fs::read(&file).expect("read");
    let g = Geometry::load(&Header::of(&bytes)).expect("sound");
    drop(timeline);
    bytes[g.strings().offset as usize..][..g.strings().length as usize].fill(b'x');
    Header::edit(&mut bytes, |h| {
        h.defined = g.definitions.into();
        h.strings_used = g.strings().length.into();
    });
    for id in 0..g.definitions {
        let record = &mut bytes[g.definition().at(id) as usize..];
        records::Definition::edit(record, |definition| {
            definition.category = 1.into();
            definition.message = 2.into();
            definition.priority = 3.into();
        });
    }
    std::fs::write(&file, &bytes).expect("written");
    // Under a limit of memory and a deadline, in a process of its own.
    Process::start(reads, &[file.to_str().expect("plain"), "1000000000"]).finish();
}

/// Reads a file, with no more memory than it is given.
fn reads(given: &[String]) {
    let most = given[1].parse().expect("a number");
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: a limit on this process alone; the alarm ends it.
    unsafe {
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
        libc::alarm(20);
    }
    read_all(Path::new(&given[0])).expect("readable");
}

/// Joins a timeline, and does everything a writer can.
fn writes(given: &[String]) {
    // SAFETY: the alarm ends this process if it hangs.
    unsafe { libc::alarm(20) };
    let timeline = match Timeline::open(&given[0]) {
        Ok(timeline) => timeline,
        Err(error) => {
            assert!(error.to_string().contains(&given[0]), "{error}");
            return;
        }
    };
    let _ = timeline.define("hostile", Priority::Info, "a new $one");
    let _ = timeline.priority(Level::NONE);
    timeline.priority(Level::ALL).expect("set");
    std::thread::scope(|scope| {
        for who in 0..3 {
            let timeline = &timeline;
            scope.spawn(move || {
                for i in 0..500 {
                    timeline.log(EventId(i as u32 % 7), arguments(who, i));
                    let text = format!("text {}", i % 20);
                    let host = Interned(&text);
                    event!(timeline, Priority::Info, "net", "to {host} {i}", host, i);
                }
            });
        }
    });
    let file = format!("{}.copy", given[1]);
    timeline.save(&file).expect("saved");
    let _ = std::fs::remove_file(file);
    drop(timeline);
    let _ = Control::open(&given[0]).map(|c| c.level());
}

#[test]
fn a_live_ring_of_random_words_can_be_joined_and_written_without_harm() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("saved");
    let copy = copy.to_str().expect("plain");
    let mut random = Random(u64::from(std::process::id()));
    for round in 0..120 {
        let seed = random.0;
        let name = Name::new("live");
        let timeline = Timeline::with_size(name.path(), 256, 1024).expect("created");
        let event = define(&timeline);
        (0..100).for_each(|i| timeline.log(event, arguments(1, i)));
        let file = File::options()
            .read(true)
            .write(true)
            .open(name.file())
            .expect("there");
        let g =
            Geometry::load(&Header::of(&std::fs::read(name.file()).expect("read"))).expect("sound");
        for _ in 0..1 + random.below(60) {
            let value = match random.below(5) {
                0 => random.next(),
                1 => random.below(70_000),
                2 => u64::MAX - random.below(3),
                3 => random.below(64) << 16 | random.below(1 << 16),
                _ => 1 << random.below(64),
            };
            let at = match random.below(9) {
                // The part of the header that changes.
                8 => CHECKED as u64 + random.below((HEADER_SIZE - CHECKED as u64) / 8) * 8,
                region => {
                    let region = g.regions[region as usize];
                    region.offset + random.below(region.length / 8) * 8
                }
            };
            file.write_all_at(&value.to_le_bytes(), at)
                .expect("written");
        }
        // Now and then with every chunk and lane alike.
        if random.below(4) == 0 {
            let value = random.next();
            for chunk in 0..g.chunks {
                file.write_all_at(&value.to_le_bytes(), g.chunk().at(chunk))
                    .expect("written");
            }
        }
        // A reader that was there before, a new one, and a writer.
        let mut process = Process::start(writes, &[name.path(), copy]);
        let _ = read_all(Path::new(name.path()));
        let status = process.wait();
        assert!(status.success(), "round {round}, seed {seed}: {status}");
        let _ = read_all(Path::new(name.path()));
    }
}

#[test]
fn texts_of_definitions_are_bounded_where_they_are_read() {
    let name = Name::new("endless");
    let timeline = Timeline::with_size(name.path(), 256, 1 << 20).expect("created");
    let longest = "é".repeat(Definition::LONGEST_TEXT / 2);
    let info = Priority::Info;
    let event = timeline.define(&longest, info, &longest);
    let event = event.expect("as long as it may be");
    let printf = timeline.define_printf("c", info, &longest, (&longest, 7), &Default::default());
    let printf = printf.expect("as long as it may be");
    timeline.log(event, [1]);
    timeline.log_payload(printf, &[], false);
    let attached = Attached::open(name.path()).expect("sound");
    let definition = attached.definition(event).expect("defined");
    assert_eq!(
        (&definition.category, &definition.message),
        (&longest, &longest)
    );

    // No string of the table ends any more, but the last.
    let file = File::options().write(true).open(name.file()).expect("ours");
    let strings = Geometry::new(256, 1 << 20).strings();
    let x = vec![b'x'; strings.length as usize - 1];
    file.write_all_at(&x, strings.offset).expect("written");
    let attached = Attached::open(name.path()).expect("still a timeline");
    for id in [event, printf] {
        let definition = attached.definition(id).expect("still defined");
        let file = definition.file.iter();
        for text in file.chain([&definition.category, &definition.message]) {
            assert_eq!(*text, "x".repeat(Definition::LONGEST_TEXT) + "…");
        }
    }
    let mut text = Vec::new();
    dump::write(&attached, None, &mut text).expect("written");
    // A line of names for columns, and two events of two texts.
    assert!(
        text.len() < 5 * (Definition::LONGEST_TEXT + 100),
        "{} bytes",
        text.len()
    );
}

#[test]
fn a_header_that_was_never_finished_says_so() {
    let scratch = Scratch::new();
    let mut bytes = sound();
    bytes[..8].fill(0);
    let error = read_harmlessly(scratch.write(&bytes)).err();
    assert!(matches!(error, Some(Error::Unfinished { .. })), "{error:?}");
    let header = Header::of(&bytes);
    assert_eq!(header.flags.into_inner() & header::FLAG_SNAPSHOT, 1);
    assert_eq!(header.total_size.into_inner(), bytes.len() as u64);
}
