//! What lies where an archive has its index. What is searched for is found, whatever that is.

use std::fs;
use std::ops::Range;
use std::sync::OnceLock;

use timeline::dump::Messages;
use timeline::{Event, Order, Source};
use timeline_archive::Archive;
use timeline_search::{Case, Index, LineNumbers, Needle, line_count};

use super::{part_of, sample};

const NEEDLES: [&str; 6] = [
    "7000000",
    "00000013",
    "went",
    "e7c",
    "ratio(1.5)",
    "nowhere",
];

/// Uses the bytes as the index of an archive, and searches for all needles.
pub fn run(bytes: &[u8]) {
    searched(bytes, 0..NEEDLES.len());
}

/// Uses the bytes as the index of an archive, and searches for one needle.
pub fn run_part(bytes: &[u8]) {
    let one = part_of(bytes, NEEDLES.len());
    searched(bytes, one..one + 1);
}

/// A needle, and where the archive has it, found without an index.
struct Expected {
    needle: Needle,
    lines: Lines,
}

/// The numbers and messages of events.
type Lines = Vec<(u64, String)>;

fn expected() -> &'static [Expected] {
    static EXPECTED: OnceLock<Vec<Expected>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let archive = Archive::from_bytes(sample::archive());
        let expect = |needle| {
            let needle = Needle::text(needle, Case::Smart).expect("a short text");
            let all = archive.events_by_time(Order::OldestFirst);
            let lines = found(&archive, &needle, all, LineNumbers::new(Order::OldestFirst));
            Expected { needle, lines }
        };
        NEEDLES.into_iter().map(expect).collect()
    })
}

fn searched(bytes: &[u8], needles: Range<usize>) {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let path = folder.path().join("flight.tla");
    fs::write(&path, sample::archive()).expect("written");
    fs::write(folder.path().join("flight.tla.idx"), bytes).expect("written");
    let archive = Archive::open(&path).expect("an archive");
    let everything = Needle::text("", Case::Smart).expect("a short text");
    // What is no index stays; what is damaged is made again.
    for _ in 0..2 {
        let mut index = Index::open(&archive);
        for Expected { needle, lines } in &expected()[needles.clone()] {
            let candidates = index.candidates(needle, Order::OldestFirst, Some(0));
            let selection = candidates.selection.into();
            let some = archive.events_by_time_where(Order::OldestFirst, selection);
            assert_eq!(&found(&archive, needle, some, candidates.lines), lines);
        }
        let every = [
            index.lines(17..18, 0),
            index.lines(3..u64::MAX, 2),
            index.from_time(1_000_000),
            index.at_lines(&[0, 9], 0),
            index.lines(17..40, 1),
        ];
        // One to each needle.
        let some = every.into_iter().enumerate();
        let some = some.filter(|(number, _)| needles.contains(&(number % NEEDLES.len())));
        for candidates in some.filter_map(|(_, candidates)| candidates) {
            let selection = candidates.selection.into();
            let events = archive.events_by_time_where(Order::OldestFirst, selection);
            found(&archive, &everything, events, candidates.lines);
        }
        let _ = index.update(|_| ());
    }
}

/// The numbers and messages of the events with a needle.
fn found(
    archive: &Archive,
    needle: &Needle,
    events: impl Iterator<Item = Event>,
    mut numbers: LineNumbers,
) -> Lines {
    let (mut messages, mut found) = (Messages::new(archive), Vec::new());
    for event in events {
        let text = messages.text(&event, archive.definition(event.id));
        let (first, _) = numbers.next(&event, line_count(&text));
        if text.lines().any(|line| needle.is_in(line)) {
            found.push((first, text.into_owned()));
        }
    }
    found
}
