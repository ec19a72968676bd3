//! Tests that interned texts are stored once by whoever logs them, and read as they were logged.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use timeline::internal::layout::Geometry;
use timeline::{
    Attached, Attributes, EventId, FollowFrom, Interned, Order, Priority, Timeline, Value, event,
};

use crate::fork::{Fork, fork_on, reap};
use crate::support::{Name, Process, Random, attach, hear, say};

/// The longest text that is interned.
const LONGEST: usize = 256;

/// The text of a number, which tells it apart from all others, and is of any length up to 300.
fn text(number: u64) -> String {
    let length = Random(number).below(300) as usize;
    let mut text = format!("{number}:");
    while text.len() < length {
        text += &number.to_string();
    }
    text
}

fn define(timeline: &Timeline) -> EventId {
    let message = "number $number to $host:istr by $copy:str";
    let event = timeline.define("core", Priority::Info, message);
    event.expect("defined")
}

/// Logs an event as a caller of C does, whose words were put together before.
fn log(timeline: &Timeline, event: EventId, number: u64) {
    let text = text(number);
    let long = Value::Text {
        bytes: text.as_bytes(),
        cut: false,
    };
    let mut words = timeline::lay_out(&[Value::Uint(number), long.clone(), long]);
    timeline.log_interned(event, &mut words, &[0, 1, 1], 0b010);
}

/// The number of an event, after its two texts were compared with that number's.
fn checked(at: &Attached, event: &timeline::Event) -> u64 {
    let layout = timeline::Layout::of(at.definition(event.id).expect("defined"));
    let values: Vec<Value> = event.values(&layout).collect();
    let [Value::Int(number), first, second] = &values[..] else {
        panic!("{values:?}");
    };
    let text = text(*number as u64);
    let own = Value::Text {
        bytes: text.as_bytes(),
        cut: false,
    };
    assert_eq!((first, second), (&own, &own));
    *number as u64
}

fn numbers(at: &Attached) -> Vec<u64> {
    let events = at.events(Order::OldestFirst);
    events.map(|event| checked(at, &event)).collect()
}

/// How many of the numbers have a text that is interned, and the bytes that these take.
fn expected(numbers: impl IntoIterator<Item = u64>) -> (u32, u64) {
    let all: HashSet<u64> = numbers.into_iter().collect();
    let texts = all
        .into_iter()
        .map(text)
        .filter(|text| text.len() <= LONGEST);
    texts.fold((0, 0), |(count, bytes), text| {
        (count + 1, bytes + text.len().next_multiple_of(8) as u64)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn events_have_the_texts_that_a_naive_model_has(
        logged in prop::collection::vec(0_u64..40, 1..120),
    ) {
        let name = Name::new("interned");
        let timeline = Timeline::with_size(name.path(), 16_384, 65_536).expect("created");
        let event = define(&timeline);
        logged.iter().for_each(|number| log(&timeline, event, *number));
        let copy = name.file_beside(".copy");
        timeline.save(&copy).expect("saved");
        let saved = Attached::open(&copy).expect("readable");
        std::fs::remove_file(copy).expect("there");
        let (count, bytes) = expected(logged.iter().copied());
        for at in [attach(name.path()), saved] {
            prop_assert_eq!(&numbers(&at), &logged);
            let mut followed = Vec::new();
            let mut follow = at.follow(FollowFrom::Oldest);
            // As many as a poll gives; they come lane by lane.
            for _ in 0..1000 {
                follow.poll(&mut followed);
            }
            followed.sort_by_key(|event| event.ticks);
            let followed: Vec<u64> = followed.iter().map(|event| checked(&at, event)).collect();
            prop_assert_eq!(&followed, &logged);
            let info = at.info();
            prop_assert_eq!((info.interned, info.not_interned), (count, 0));
            prop_assert_eq!(info.interned_bytes, bytes);
        }
        // Of the entries that all texts would take, the interned ones took none.
        let words = |number: &u64| {
            let length = text(*number).len();
            let copied = length.div_ceil(8);
            3 + if length <= LONGEST { 1 + copied } else { 2 * copied }
        };
        let entries = |words: usize| 1 + words.saturating_sub(5).div_ceil(6);
        let least: usize = logged.iter().map(|number| entries(words(number))).sum();
        let held = attach(name.path()).info().entries_written;
        // A chunk of 16 entries may end with some that only fill it up.
        prop_assert!((least as u64..=2 * least as u64).contains(&held), "{} {}", held, least);
    }
}

#[test]
fn statements_of_rust_intern_beside_other_arguments() {
    let name = Name::new("interned");
    let tl = Timeline::with_size(name.path(), 1024, 4096).expect("created");
    for round in 0..3_u32 {
        let (host, long) = (Interned("eth0"), "x".repeat(LONGEST + 1));
        event!(
            tl,
            Priority::Info,
            "net",
            "{round} {host} {a} {b}",
            round,
            host,
            a = "copied",
            b = Interned("grün")
        );
        event!(
            tl,
            Priority::Info,
            "net",
            "long {long} {none}",
            long = Interned(&long),
            none = Interned("")
        );
    }
    let at = attach(name.path());
    let mut shown = Vec::new();
    timeline::dump::write(&at, None, &mut shown).expect("written");
    let shown = String::from_utf8(shown).expect("text");
    for round in 0..3 {
        let line = format!("round({round}) host(eth0) a(copied) b(grün)");
        assert!(shown.contains(&line), "{shown}");
    }
    assert_eq!(
        shown
            .matches(&format!("long({}) none()", "x".repeat(257)))
            .count(),
        3
    );
    let info = at.info();
    assert_eq!((info.interned, info.not_interned), (2, 0));
    let definition = at.definition(EventId(1)).expect("defined");
    assert_eq!(definition.message, "$round:u32 $host:istr $a:str $b:istr");
}

#[test]
fn important_events_have_their_texts() {
    let name = Name::new("interned");
    let timeline = Timeline::with_size(name.path(), 256, 4096).expect("created");
    let attributes = Attributes {
        important: true,
        ..Attributes::default()
    };
    let message = "number $number to $host:istr by $copy:str";
    let event = timeline.define_with("core", Priority::Info, message, &attributes);
    let event = event.expect("defined");
    (0..8).for_each(|number| log(&timeline, event, number % 4));
    let at = attach(name.path());
    let all: Vec<_> = at.events(Order::OldestFirst).collect();
    assert!(all.iter().all(|event| event.important));
    assert_eq!(numbers(&at), [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(at.info().interned, expected(0..4).0);
}

#[test]
fn a_full_table_copies_and_counts() {
    let name = Name::new("interned");
    let timeline = Timeline::with_size(name.path(), 4096, 4096).expect("created");
    let event = define(&timeline);
    (0..300).for_each(|number| log(&timeline, event, number));
    let at = attach(name.path());
    let all: Vec<u64> = (0..300).collect();
    let held = numbers(&at);
    assert!(held.len() > 20 && all.ends_with(&held), "{}", held.len());
    let info = at.info();
    let (wanted, _) = expected(0..300);
    assert!(info.interned > 20 && info.not_interned > 20, "{info:?}");
    assert_eq!(u64::from(info.interned) + info.not_interned, wanted.into());
    assert!(info.interned_bytes <= info.interned_capacity);
    assert!(info.interned <= info.interned_most, "{info:?}");
    // Definitions have their own room.
    timeline
        .define("core", Priority::Info, &"x".repeat(1500))
        .expect("there is room");
    // Those that are there are still found.
    let first = (0..300)
        .find(|number| text(*number).len() <= LONGEST)
        .expect("one");
    log(&timeline, event, first);
    let again = attach(name.path()).info();
    assert_eq!(
        (again.interned, again.not_interned),
        (info.interned, info.not_interned)
    );
}

/// Logs a vocabulary from threads and from a forked child, at once.
fn logs_a_vocabulary(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    say("joined");
    hear();
    let child = fork_on(Fork::Library);
    let run = |seed: u64| {
        let mut random = Random(seed);
        (0..300).for_each(|_| log(&timeline, event, random.below(200)));
    };
    if child == 0 {
        run(u64::from(std::process::id()));
        // SAFETY: ends this process, which has only this thread.
        unsafe { libc::_exit(0) };
    }
    std::thread::scope(|scope| {
        let run = &run;
        (0..3).for_each(|seed| {
            scope.spawn(move || run(seed));
        });
    });
    reap(child);
}

#[test]
fn threads_and_forked_children_of_many_processes_store_each_text_once() {
    let name = Name::new("interned");
    let timeline = Timeline::with_size(name.path(), 1 << 17, 65_536).expect("created");
    define(&timeline);
    let mut processes: Vec<Process> = (0..3)
        .map(|_| Process::start(logs_a_vocabulary, &[name.path()]))
        .collect();
    processes
        .iter_mut()
        .for_each(|process| assert_eq!(process.line(), "joined"));
    processes.iter_mut().for_each(Process::tell);
    processes.into_iter().for_each(Process::finish);
    let at = attach(name.path());
    let seen = numbers(&at);
    assert_eq!(seen.len(), 3 * 4 * 300);
    let (count, bytes) = expected(seen);
    let info = at.info();
    assert_eq!((info.interned, info.not_interned), (count, 0));
    // Who loses a race for a slot leaves the bytes of its text.
    let taken = info.interned_bytes;
    assert!((bytes..bytes * 2).contains(&taken), "{taken} {bytes}");
}

/// The hash of a text of 8 bytes, as docs/format.md says.
fn hash(text: &str) -> u64 {
    let word = u64::from_le_bytes(text.as_bytes().try_into().expect("8 bytes"));
    [word, 0].into_iter().fold(8, |hash: u64, word| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    })
}

#[test]
fn texts_that_only_their_bytes_tell_apart_are_told_apart() {
    let name = Name::new("interned");
    let timeline = Timeline::with_size(name.path(), 256, 4096).expect("created");
    let slots = 4096 / 64;
    let mut seen = HashMap::new();
    // The same length and tag, and the same first slot.
    let (first, second) = (0_u64..)
        .map(|number| format!("{number:08x}"))
        .find_map(|text| {
            let key = (
                hash(&text) >> 41,
                ((hash(&text) & 0xffff_ffff) * slots) >> 32,
            );
            seen.insert(key, text.clone()).map(|other| (other, text))
        })
        .expect("there are many");
    for text in [&first, &second, &first, &second] {
        event!(
            timeline,
            Priority::Info,
            "net",
            "to {host}",
            host = Interned(text)
        );
    }
    let at = attach(name.path());
    assert_eq!(at.info().interned, 2);
    let events = at.events(Order::OldestFirst);
    let shown: Vec<Vec<u8>> = events
        .map(|event| {
            let layout = timeline::Layout::of(at.definition(event.id).expect("defined"));
            match event.values(&layout).next() {
                Some(Value::Text { bytes, cut: false }) => bytes.to_vec(),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert_eq!(
        shown,
        [&first, &second, &first, &second].map(|text| text.clone().into_bytes())
    );
}

#[test]
fn threads_that_race_for_a_new_text_store_it_once() {
    const ROUNDS: usize = 1500;
    let name = Name::new("interned");
    let timeline = Timeline::with_size(name.path(), 1 << 18, 65_536).expect("created");
    let ready = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    // Both leave here at nearly the same time.
                    ready.fetch_add(1, Ordering::Relaxed);
                    while ready.load(Ordering::Relaxed) < 2 * (round + 1) {
                        std::hint::spin_loop();
                    }
                    let text = format!("{round:032}");
                    event!(
                        timeline,
                        Priority::Info,
                        "net",
                        "to {host}",
                        host = Interned(&text)
                    );
                }
            });
        }
    });
    let info = attach(name.path()).info();
    assert_eq!((info.interned as usize, info.not_interned), (ROUNDS, 0));
}

/// Logs new texts until it is killed, from the number on that is given.
fn logs_until_it_is_killed(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let first: u64 = given[1].parse().expect("a number");
    say("begins");
    for number in first.. {
        log(&timeline, event, number % 4000);
    }
}

#[test]
fn killed_writers_leave_whole_texts() {
    let name = Name::new("interned");
    let timeline = Timeline::with_size(name.path(), 1 << 14, 65_536).expect("created");
    let event = define(&timeline);
    let mut random = Random(u64::from(std::process::id()));
    for round in 0..25 {
        let first = (round * 150).to_string();
        let mut child = Process::start(logs_until_it_is_killed, &[name.path(), &first]);
        assert_eq!(child.line(), "begins");
        (0..random.below(20_000)).for_each(|_| std::hint::spin_loop());
        child.kill();
        let at = attach(name.path());
        numbers(&at);
        log(&timeline, event, round * 150);
        assert_eq!(numbers(&at).last(), Some(&(round * 150)), "round {round}");
    }
    let (most, _) = expected(0..4000);
    let info = attach(name.path()).info();
    assert!(info.interned > 0 && info.interned <= most, "{info:?}");
}

#[test]
fn damaged_places_of_texts_are_shown_as_lost() {
    use std::os::unix::fs::FileExt;
    let name = Name::new("interned");
    let timeline = Timeline::with_size(name.path(), 256, 1024).expect("created");
    let message = "to $host:istr $b:istr";
    let event = timeline
        .define("core", Priority::Info, message)
        .expect("defined");
    let text = |bytes| Value::Text { bytes, cut: false };
    let mut words = timeline::lay_out(&[text(b"eth0"), text(b"lo")]);
    timeline.log_interned(event, &mut words, &[1, 1], 0b11);
    let at = attach(name.path());
    let shown = |at: &Attached| {
        let mut shown = Vec::new();
        timeline::dump::write(at, None, &mut shown).expect("written");
        String::from_utf8(shown).expect("text")
    };
    assert!(shown(&at).contains("to host(eth0) b(lo)"), "{}", shown(&at));
    let file = std::fs::File::options()
        .write(true)
        .open(name.file())
        .expect("ours");
    let bytes = std::fs::read(name.file()).expect("read");
    let geometry = Geometry::load(&timeline::internal::Record::of(&bytes)).expect("sound");
    let entries = &bytes[geometry.entry().offset as usize..][..geometry.entry().length as usize];
    let found = entries.chunks(64).position(|entry| entry[..8] != [0; 8]);
    let words = geometry.entry().at(found.expect("an entry") as u64) + 24;
    let interned = 1_u64 << 61;
    let end = geometry.regions[7].length;
    for damaged in [
        u64::MAX,
        interned | 4 << 32 | 0xffff_ffff,
        interned | 4 << 32 | (end - 3),
        interned | 511 << 32,
        4 << 32,
        0,
    ] {
        file.write_all_at(&damaged.to_le_bytes(), words + 8)
            .expect("written");
        assert!(
            shown(&at).contains("to host(…) b(lo)"),
            "{damaged:x} {}",
            shown(&at)
        );
    }
    // A mask that names words that there are not.
    file.write_all_at(&u64::MAX.to_le_bytes(), words)
        .expect("written");
    assert!(shown(&at).contains("to host("), "{}", shown(&at));
    // An event that claims to have texts of another place in its payload.
    let inside = interned | 9 << 32 | 4;
    file.write_all_at(&0_u64.to_le_bytes(), words)
        .expect("written");
    file.write_all_at(&inside.to_le_bytes(), words + 8)
        .expect("written");
    assert!(shown(&at).contains("to host("), "{}", shown(&at));
}
