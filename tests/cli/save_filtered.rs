//! Snapshots with only some of the events: what they show, against a dump with the same filter.

use serde_json::Value;
use timeline::{Attached, FollowFrom, Order, Priority, Timeline, event};

use crate::command::*;
use crate::support::{Name, run_on};

/// Events of one entry, of several, and important ones.
fn log_some(tl: &Timeline, count: u32) {
    for number in 0..count {
        let text = "some words ".repeat(number as usize % 9);
        event!(tl, Priority::Info, "engine", "got {number}", number);
        event!(
            tl,
            Priority::Error,
            "disk",
            "wrote {number}: {text}",
            number,
            text
        );
        if number < 6 {
            let id = number;
            event!(important: true, tl, Priority::Info, "net", "interface {id}", id);
            event!(important: true, tl, Priority::Info, "route", "route {id}", id);
        }
    }
}

/// What `dump --json` prints.
fn dump(path: &str, filter: &[&str]) -> Vec<Value> {
    let mut events = succeed(&[&["dump", "--json", path], filter].concat()).json();
    for event in &mut events {
        // A gap belongs to the next event that is there, and a snapshot has one more anchor.
        for field in ["missed", "time", "unix_ns"] {
            event.as_object_mut().unwrap().remove(field);
        }
    }
    events
}

const FILTERS: [&[&str]; 6] = [
    &["--category", "engine"],
    &["--priority", "..warning", "--where", "number > 100"],
    &["--category", "disk", "--category", "net"],
    &["--category", "route", "--where", "id == 2"],
    &["--grep", "words", "--where", "number < 2000000"],
    &["--category", "nothing"],
];

#[test]
fn a_snapshot_has_what_a_dump_with_the_same_filter_shows() {
    let (name, folder) = (Name::new("save-filtered"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 10);
    // More than the ring holds.
    log_some(&tl, 1_000);
    let whole = folder.path().join("whole.timeline");
    let whole = whole.to_str().unwrap();
    succeed(&["save", name.path(), whole]);
    let all = dump(whole, &[]).len();
    for filter in FILTERS {
        for source in [name.path(), whole] {
            let expected = dump(source, filter);
            assert!(expected.len() < all);
            let file = folder.path().join("some.timeline");
            let file = file.to_str().unwrap();
            let said = succeed(&[&["save", source, file], filter].concat()).stderr;
            assert_eq!(dump(file, &[]), expected, "{filter:?}: {said}");
            let (events, left_out) = (expected.len(), all - expected.len());
            assert!(said.contains(&format!("saved {events} event")), "{said}");
            let end = format!("; {left_out} event");
            assert!(said.contains(&end) && said.contains(" left out by the filter\n"));
            assert_same_entries(whole, file);
            // Nothing of the values of others is left in the file.
            let words = b"some words";
            let bytes = std::fs::read(file).unwrap();
            let has_words = bytes.windows(words.len()).any(|part| part == words);
            let is_there =
                |event: &Value| event["message"].as_str().unwrap().contains("some words");
            assert_eq!(has_words, expected.iter().any(is_there), "{filter:?}");
        }
    }
}

/// The lanes, their numbers and their gaps are those of the whole snapshot.
fn assert_same_entries(whole: &str, some: &str) {
    let [whole, some] = [whole, some].map(|file| Attached::open(file).unwrap());
    let facts = |at: &Attached| {
        let info = at.info();
        (info.entries_written, info.entries_held)
    };
    assert_eq!(facts(&some), facts(&whole));
    let read = |at: &Attached, from| {
        let mut follow = at.follow(from);
        let (mut placed, mut missed) = (Vec::new(), 0);
        loop {
            let more = follow.poll_placed();
            missed += more;
            if more == 0 && !follow.has_placed() {
                break;
            }
            while let Some(event) = follow.next_placed() {
                placed.push((event.lane, event.number, event.event.ticks));
            }
        }
        (missed, placed, follow.positions().collect::<Vec<_>>())
    };
    let told = |order| {
        let events = some.events(order).filter(|event| !event.important);
        let told: Vec<_> = events.map(|event| (event.ticks, event.missed)).collect();
        told
    };
    let mut oldest_first = told(Order::OldestFirst);
    oldest_first.reverse();
    assert_eq!(told(Order::NewestFirst), oldest_first);
    let (missed, placed, positions) = read(&some, FollowFrom::Start);
    let (missed_whole, placed_whole, positions_whole) = read(&whole, FollowFrom::Start);
    assert_eq!((missed, positions), (missed_whole, positions_whole));
    assert!(placed.iter().all(|place| placed_whole.contains(place)));
}

#[test]
fn what_is_left_out_is_not_missing_in_front_of_an_event() {
    run_on(0);
    let (name, folder) = (Name::new("save-gap"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 10);
    let some = tl.define("some", Priority::Info, "$n").unwrap();
    let other = tl.define("other", Priority::Info, "$n").unwrap();
    for n in 0..500 {
        tl.log(if n % 10 == 9 { some } else { other }, [n]);
    }
    let file = folder.path().join("some.timeline");
    let filter = ["--category", "some"];
    let save = || succeed(&[&["save", name.path(), file.to_str().unwrap()], &filter[..]].concat());
    save();
    let events = || {
        let saved = Attached::open(&file).unwrap();
        let events = saved.events(Order::OldestFirst);
        let events: Vec<_> = events.map(|event| (event.args[0], event.missed)).collect();
        events
    };
    let expected: Vec<_> = (0..50).map(|n| (n * 10 + 9, 0)).collect();
    assert_eq!(events(), expected);
    // What the ring has overwritten is missing before the first one that is there.
    for n in 500..3_000 {
        tl.log(if n % 10 == 9 { some } else { other }, [n]);
    }
    save();
    let (first, missed) = events()[0];
    let oldest = name.attach().events(Order::OldestFirst).next().unwrap();
    assert_eq!(missed, oldest.missed);
    assert!(missed > 1_000 && (0..10).contains(&(first - missed as i64)));
    assert!(events()[1..].iter().all(|(_, missed)| *missed == 0));
    // An archive of it has the same events.
    let archive = folder.path().join("some.tla");
    let [file, archive] = [&file, &archive].map(|path| path.to_str().unwrap());
    succeed(&["record", file, "-o", archive]);
    assert_eq!(dump(archive, &[]).len(), events().len());
    // An archive of all has, saved with the filter, what a dump with the filter shows.
    let paths = ["all.timeline", "all.tla", "filtered.tla"].map(|file| folder.path().join(file));
    let [whole, all, some] = [0, 1, 2].map(|path: usize| paths[path].to_str().unwrap());
    succeed(&["save", name.path(), whole]);
    succeed(&["record", whole, "-o", all]);
    let said = succeed(&[&["save", all, some], &filter[..]].concat()).stderr;
    let expected = dump(all, &filter);
    assert_eq!(dump(some, &[]), expected);
    assert!(
        said.contains(&format!("saved {} events", expected.len())),
        "{said}"
    );
    assert!(said.contains(" left out by the filter"), "{said}");
    succeed(&["verify", some]);
}

#[test]
fn events_far_apart_are_found_by_all_that_read() {
    const LAST: i64 = 15_999;
    run_on(0);
    let (name, folder) = (Name::new("save-far"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 14);
    let some = tl.define("some", Priority::Info, "$n").unwrap();
    let other = tl.define("other", Priority::Info, "$n").unwrap();
    let wanted = [0, LAST / 2, LAST];
    for n in 0..=LAST {
        tl.log(if wanted.contains(&n) { some } else { other }, [n]);
    }
    let file = folder.path().join("some.timeline");
    let saved = name.attach().save_only(&file, |event| event.id == some);
    let saved = saved.unwrap();
    assert_eq!((saved.events, saved.left_out), (3, LAST as u64 - 2));
    let snapshot = Attached::open(&file).unwrap();
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let mut found: Vec<_> = snapshot.events(order).map(|event| event.args[0]).collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{order:?}");
    }
    // Each call gives something, until all is read.
    let mut follow = snapshot.follow(FollowFrom::Oldest);
    let mut followed = Vec::new();
    for _ in wanted {
        assert_eq!(follow.poll(&mut followed), 0);
    }
    let followed: Vec<_> = followed.iter().map(|event| event.args[0]).collect();
    assert_eq!(followed, wanted);
    let archive = folder.path().join("some.tla");
    let [file, archive] = [&file, &archive].map(|path| path.to_str().unwrap());
    let said = succeed(&["record", file, "-o", archive]).stderr;
    assert!(
        said.contains("recorded 3 events") && said.contains(" 0 missed"),
        "{said}"
    );
}
