//! Tests that events are defined the same everywhere, wholly or not at all.
//! This also holds if tables are full or the definer is killed.

use std::collections::HashSet;

use timeline::{Attached, Definition, Error, EventId, Priority, Timeline};

use super::level::levels;
use crate::support::{Name, Process, Random, attach, hear, say};

fn sizes(attached: &Attached) -> (u32, u64) {
    let info = attached.info();
    (info.definitions, info.string_bytes)
}

fn assert_nothing_defined<T: std::fmt::Debug>(
    attached: &Attached,
    result: impl FnOnce() -> Result<T, Error>,
) -> Error {
    let before = sizes(attached);
    let error = result().expect_err("refused");
    assert_eq!(sizes(attached), before, "{error}");
    assert_eq!(attached.definitions().count() as u32, before.0);
    error
}

#[test]
fn what_cannot_be_defined_is_refused_whole() {
    let name = Name::new("text");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let attached = attach(name.path());
    for (category, message, expected) in [
        ("", "message", "category"),
        ("category", "", "message"),
        ("cat\0egory", "message", "category"),
        ("category", "mess\0age", "message"),
        ("cat\negory", "message", "category"),
    ] {
        let error = assert_nothing_defined(&attached, || {
            timeline.define(category, Priority::Info, message)
        });
        assert!(
            matches!(error, Error::BadText { what, .. } if what == expected),
            "{error}"
        );
    }
    // A text may have 4,096 bytes.
    let long = "x".repeat(Definition::LONGEST_TEXT + 1);
    for (category, message, file, expected) in [
        (long.as_str(), "message", "a.c", "category"),
        ("category", &long, "a.c", "message"),
        ("category", "message", &long, "file name"),
    ] {
        let error = assert_nothing_defined(&attached, || {
            timeline.define_printf(
                category,
                Priority::Info,
                message,
                (file, 1),
                &Default::default(),
            )
        });
        assert!(
            matches!(&error, Error::BadText { what, found, .. }
                if *what == expected && found == "4097 bytes"),
            "{error}"
        );
    }
    let many = "$a ".repeat(65);
    let error = assert_nothing_defined(&attached, || {
        timeline.define("category", Priority::Info, &many)
    });
    assert!(
        matches!(error, Error::TooManyArguments { found: 65, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("at most 64"), "{error}");
    let error = assert_nothing_defined(&attached, || {
        timeline.define("category", Priority::Info, "$a:u8 and $b:int")
    });
    assert!(
        matches!(&error, Error::UnknownFieldType { field, found, .. }
            if field == "b" && found == "int"),
        "{error}"
    );
    assert!(error.to_string().contains("i8, i16"), "{error}");
    // Four are not too many, nor are those of further lines.
    let event = timeline.define("category", Priority::Info, "$a $b $c $d\nand $e");
    let definition = attached.definition(event.expect("defined")).expect("there");
    assert_eq!(
        definition.arguments().collect::<Vec<_>>(),
        ["a", "b", "c", "d"]
    );
}

#[test]
fn a_full_string_table_refuses_what_does_not_fit_and_takes_what_does() {
    let name = Name::new("strings");
    let timeline = Timeline::with_size(name.path(), 256, 1024).expect("created");
    let attached = attach(name.path());
    let long = "x".repeat(600);
    timeline
        .define("category", Priority::Info, &long)
        .expect("fits");
    // The category would fit, and must not be left behind.
    let error = assert_nothing_defined(&attached, || {
        timeline.define("other", Priority::Info, &"y".repeat(600))
    });
    let Error::StringTableFull {
        needed, free, size, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((needed, size), (606 + 1, 1024));
    assert_eq!(free, 1024 - sizes(&attached).1);
    // To the last byte.
    let rest = "z".repeat(free as usize - 1);
    let last = timeline
        .define("category", Priority::Info, &rest)
        .expect("fits");
    assert_eq!(sizes(&attached), (2, 1024));
    assert_nothing_defined(&attached, || {
        timeline.define("category", Priority::Info, "w")
    });
    // What needs no more strings still can be defined.
    let again = timeline
        .define("category", Priority::Error, &rest)
        .expect("fits");
    assert_ne!(again, last);
    assert_eq!(
        attached.definition(last).map(|d| d.message.as_str()),
        Some(rest.as_str())
    );
}

#[test]
fn a_full_definition_table_says_how_many_it_holds() {
    let name = Name::new("table");
    let timeline = Timeline::with_size(name.path(), 256, 4096).expect("created");
    let attached = attach(name.path());
    let capacity = attached.info().definition_capacity;
    for i in 0..capacity {
        let event = timeline
            .define("c", Priority::Info, &format!("{i}"))
            .expect("fits");
        assert_eq!(event, EventId(i + 1));
    }
    let error = assert_nothing_defined(&attached, || timeline.define("c", Priority::Info, "more"));
    assert!(
        matches!(error, Error::DefinitionTableFull { capacity: c, .. } if c == capacity),
        "{error}"
    );
    assert_eq!(
        timeline.define("c", Priority::Info, "5").expect("is there"),
        EventId(6)
    );
    // The last one can be logged, too.
    timeline.log(EventId(capacity), [1]);
    assert_eq!(attached.info().entries_written, 1);
    assert_eq!(attached.info().dropped.total(), 0);
}

fn message(i: u32) -> String {
    format!("event {i} of $many")
}

/// Defines the same hundred events in an order of its own, and says their numbers.
pub fn defines(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let seed: u32 = given[1].parse().expect("a number");
    say("ready");
    hear();
    let define_all = |seed: u32| {
        let mut ids = vec![0; 100];
        for i in 0..100 {
            let i = (i * 37 + seed * 11) % 100;
            let event = timeline.define("same", Priority::App, &message(i));
            ids[i as usize] = event.expect("defined").0;
        }
        ids
    };
    let ids = std::thread::scope(|scope| {
        let threads = [0, 1].map(|t| scope.spawn(move || define_all(seed * 2 + t)));
        threads.map(|t| t.join().expect("defined"))
    });
    assert_eq!(ids[0], ids[1]);
    let ids: Vec<String> = ids[0].iter().map(u32::to_string).collect();
    say(ids.join(" "));
}

#[test]
fn a_definition_is_the_same_event_in_every_thread_and_process() {
    let name = Name::new("same");
    let timeline = Timeline::with_size(name.path(), 256, 16384).expect("created");
    let mut all: Vec<_> = (0..4)
        .map(|seed: u32| Process::start(defines, &[name.path(), &seed.to_string()]))
        .collect();
    all.iter_mut().for_each(|p| assert_eq!(p.line(), "ready"));
    all.iter_mut().for_each(Process::tell);
    let said: HashSet<String> = all.iter_mut().map(Process::line).collect();
    all.into_iter().for_each(Process::finish);
    assert_eq!(said.len(), 1, "they differ");
    let attached = attach(name.path());
    assert_eq!(attached.info().definitions, 100);
    for (i, id) in (0..).zip(said.iter().next().expect("one").split(' ')) {
        let id = EventId(id.parse().expect("a number"));
        assert_eq!(
            timeline
                .define("same", Priority::App, &message(i))
                .expect("there"),
            id
        );
        let expected = Definition::new(id, "same", Priority::App, message(i));
        assert_eq!(attached.definition(id), Some(&expected));
    }
    // Another priority or category is another event.
    let other = timeline
        .define("same", Priority::Error, &message(0))
        .expect("defined");
    assert_eq!(other, EventId(101));
}

#[test]
fn a_definer_killed_at_any_moment_leaves_the_tables_sound() {
    let name = Name::new("definer");
    let timeline = Timeline::with_size(name.path(), 256, 1 << 19).expect("created");
    let attached = attach(name.path());
    let mut random = Random(std::process::id().into());
    for round in 0..100 {
        let seed = format!("{round}");
        let mut child = Process::start(levels, &[name.path(), "define", &seed]);
        assert_eq!(child.line(), "ready");
        (0..random.below(300_000)).for_each(|_| std::hint::spin_loop());
        child.kill();
        let own = format!("round {round} $n");
        let event = timeline
            .define("after", Priority::Info, &own)
            .expect("defined");
        timeline.log(event, [round]);
        let mut seen = HashSet::new();
        for definition in attached.definitions() {
            let whole = match definition.category.as_str() {
                "killed" => definition.message.ends_with(" whole"),
                "after" => definition.message.ends_with(" $n"),
                _ => false,
            };
            assert!(whole, "round {round}: {definition:?}");
            assert!(seen.insert(&definition.message), "twice: {definition:?}");
        }
        assert_eq!(
            seen.len() as u32,
            attached.info().definitions,
            "round {round}"
        );
    }
    assert!(attached.info().definitions > 200);
}
