//! What lies where an archive has its index. What is searched for is found, whatever that is.

use std::fs;

use timeline::dump::Messages;
use timeline::{Event, Order, Source};
use timeline_archive::Archive;
use timeline_search::{Case, Index, LineNumbers, Needle, line_count};

use super::sample;

const NEEDLES: [&str; 6] = [
    "7000000",
    "00000013",
    "went",
    "e7c",
    "ratio(1.5)",
    "nowhere",
];

/// Uses the bytes as the index of an archive.
pub fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("flight.tla");
    fs::write(&path, sample::archive()).expect("written");
    fs::write(folder.path().join("flight.tla.idx"), bytes).expect("written");
    let archive = Archive::open(&path).expect("an archive");
    // What is no index stays; what is damaged is made again.
    for _ in 0..2 {
        let mut index = Index::open(&archive);
        for needle in NEEDLES {
            let needle = Needle::text(needle, Case::Smart).expect("a short text");
            let all = archive.events_by_time(Order::OldestFirst);
            let expected = found(&archive, &needle, all, LineNumbers::new(Order::OldestFirst));
            let candidates = index.candidates(&needle, Order::OldestFirst, Some(0));
            let selection = Box::new(candidates.selection);
            let some = archive.events_by_time_where(Order::OldestFirst, selection);
            assert_eq!(found(&archive, &needle, some, candidates.lines), expected);
        }
        let some = [
            index.lines(17..18, 0),
            index.lines(3..u64::MAX, 2),
            index.from_time(1_000_000),
            index.at_lines(&[0, 9], 0),
            index.lines(17..40, 1),
        ];
        for candidates in some.into_iter().flatten() {
            let selection = Box::new(candidates.selection);
            let events = archive.events_by_time_where(Order::OldestFirst, selection);
            let all = Needle::text("", Case::Smart).expect("a short text");
            found(&archive, &all, events, candidates.lines);
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
) -> Vec<(u64, String)> {
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
