//! Attaches, dumps, follows, saves and records a timeline of any bytes, and never writes to it.
//!
//! Bytes that begin as a timeline does are one. Others are a list of changes to a sound one: which
//! one (1 byte), and for each change where (3 bytes, little-endian), how many bytes, and these.

use std::mem::offset_of;
use std::sync::OnceLock;

use timeline::internal::layout::MAGIC;
use timeline::internal::layout::header::{CHECKED, Header};
use timeline::{Attached, EventId, FollowFrom, Order, dump};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};

use super::part_of;
use super::scratch::Scratch;

/// Bytes of the largest file that is made of a short one.
const MOST: u64 = 1 << 20;
/// Calls in which a small ring is read to its end.
const POLLS: usize = 64;

/// Ways to read it, of which a fuzzer takes one for each input.
const PARTS: [fn(&Attached); 5] = [
    followed,
    shown,
    saved,
    |attached| recorded(attached, Form::Plain),
    |attached| recorded(attached, Form::Blocks),
];

/// Reads a timeline in all ways.
pub fn run(bytes: &[u8]) {
    read_in(bytes, &PARTS);
}

/// Reads a timeline in one way.
pub fn run_part(bytes: &[u8]) {
    let part = part_of(bytes, PARTS.len());
    read_in(bytes, &PARTS[part..=part]);
}

fn read_in(bytes: &[u8], ways: &[fn(&Attached)]) {
    let mut file = if bytes.starts_with(&MAGIC) {
        whole(bytes)
    } else {
        changed(bytes)
    };
    seal(&mut file);
    let scratch = Scratch::new(&file);
    match Attached::open(scratch.path()) {
        Ok(attached) => ways.iter().for_each(|way| way(&attached)),
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("/proc/self/fd/"), "of which file? {text}");
        }
    }
    assert!(scratch.content() == file, "reading wrote");
}

/// The sound timelines: of four integers an event, and of all that printf takes, with call stacks.
pub fn sound(which: u8) -> &'static [u8] {
    static RINGS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    let rings = RINGS.get_or_init(|| {
        [
            &include_bytes!("../rings/integers.lz4")[..],
            include_bytes!("../rings/payload.lz4"),
        ]
        .map(|packed| lz4_flex::decompress_size_prepended(packed).expect("packed by the seeds"))
    });
    &rings[usize::from(which) % rings.len()]
}

/// As long as the header says, with zeros for what is not there.
fn whole(bytes: &[u8]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    if file.len() > CHECKED {
        let (claimed, _) = file[offset_of!(Header, total_size)..].as_chunks();
        let claimed = u64::from_le_bytes(claimed[0]);
        file.resize(file.len().max(claimed.min(MOST) as usize), 0);
    }
    file
}

fn changed(bytes: &[u8]) -> Vec<u8> {
    let Some((which, mut changes)) = bytes.split_first() else {
        return Vec::new();
    };
    let mut file = sound(*which).to_vec();
    while let [a, b, c, count, rest @ ..] = changes {
        let (new, after) = rest.split_at(rest.len().min(usize::from(*count)));
        changes = after;
        let at = u32::from_le_bytes([*a, *b, *c, 0]) as usize % file.len();
        let count = new.len().min(file.len() - at);
        file[at..at + count].copy_from_slice(&new[..count]);
    }
    file
}

/// Makes the header's checksum right again (docs/format.md), so that what is behind it is reached.
pub fn seal(file: &mut [u8]) {
    if let Some(head) = file.get_mut(..CHECKED) {
        let at = offset_of!(Header, checksum);
        head[at..at + 4].fill(0);
        let sum = crc32fast::hash(head);
        head[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    }
}

fn followed(attached: &Attached) {
    for from in [
        FollowFrom::Start,
        FollowFrom::Oldest,
        FollowFrom::Newest(3),
        FollowFrom::Now,
    ] {
        let mut follow = attached.follow(from);
        let mut out = Vec::new();
        for _ in 0..3 {
            follow.poll(&mut out);
        }
        let _ = (follow.missed(), follow.unread());
    }
}

fn shown(attached: &Attached) {
    for definition in attached.definitions() {
        assert!(attached.definition(definition.id).is_some());
    }
    let _ = attached.definition(EventId(u32::MAX));
    let _ = format!("{:?}", attached.info());
    for joined in attached.processes() {
        let _ = attached.sha1(&joined);
    }
    let mut shown = Vec::new();
    dump::write(attached, Some(100), &mut shown).expect("memory takes everything");
}

/// How many there are, in whichever order.
fn events(attached: &Attached) -> usize {
    let forth = attached.events(Order::OldestFirst).count();
    let mut back = 0;
    for event in attached.events(Order::NewestFirst) {
        let _ = attached.thread(&event);
        let _ = attached.unix_nanos(event.ticks);
        back += 1;
    }
    assert_eq!(forth, back, "the orders disagree on how many there are");
    forth
}

/// A snapshot of it is one, and has the same events.
fn saved(attached: &Attached) {
    let count = events(attached);
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let file = folder.path().join("saved.timeline");
    let saved = attached.save(&file).expect("saved");
    let again = Attached::open(&file).expect("a snapshot");
    assert!(again.is_snapshot());
    assert_eq!(again.events(Order::OldestFirst).count(), count, "{saved:?}");
}

/// An archive of it has what a follower is given.
fn recorded(attached: &Attached, form: Form) {
    let mut follow = attached.follow(FollowFrom::Oldest);
    let mut placed = Vec::new();
    let caught_up = (0..POLLS).any(|_| {
        let nothing = follow.poll_placed() == 0 && !follow.has_placed();
        placed.extend(std::iter::from_fn(|| follow.next_placed()));
        nothing
    });
    assert!(caught_up, "nobody writes, and yet there is more");
    let placed = placed.iter().map(|placed| {
        let lane = Some(u64::from(placed.lane));
        (Some(placed.event.ticks), lane, Some(placed.number))
    });
    let mut followed: Vec<_> = placed.collect();
    followed.sort();
    let file = Scratch::new(b"");
    let mut output = ArchiveOutput::open(file.path(), Keeping::default()).expect("an output");
    let mut recorder = Recorder::new(attached, &mut output, form).expect("a new archive");
    assert!((0..POLLS).any(|_| !recorder.step()), "more, and more");
    let totals = recorder.finish();

    let archive = Archive::open(file.path()).expect("an archive");
    assert!(archive.damage().is_empty(), "{:?}", archive.damage());
    let found = archive
        .events()
        .map(|event| (event.ticks, event.lane, event.number));
    let mut found: Vec<_> = found.collect();
    assert_eq!(found.len() as u64, totals.events);
    found.sort();
    assert_eq!(found, followed, "{form:?}");
}
