//! Archives, read as the rings that they were recorded from.

use std::fs;

use timeline::Attached;
use timeline_archive::{Form, Fsync, Keeping, Output, Recorder};

use crate::command::*;
use crate::mixture::Mixture;

/// Recorded to files that are smaller than the command makes them.
fn in_small_files(mixture: &Mixture, from: &str) -> String {
    let path = mixture.path("flights/");
    let keeping = Keeping {
        rotate_size: Some(4 << 10),
        fsync: Fsync::Never,
        ..Keeping::default()
    };
    let at = Attached::open(from).unwrap();
    let mut output = Output::open(&path, keeping).unwrap();
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
    while recorder.step() {}
    assert_eq!(recorder.finish().missed, 0);
    path
}

/// One of each form: blocks, single events, and several files.
fn recorded(mixture: &Mixture, from: &str) -> Vec<String> {
    let directory = in_small_files(mixture, from);
    assert!(fs::read_dir(&directory).unwrap().count() > 3);
    vec![
        mixture.record(from, "flight.tla", &[]),
        mixture.record(from, "plain.tla", &["--plain"]),
        directory,
    ]
}

/// Ways of reading that say the same of a ring and of its archive.
const WAYS: [&[&str]; 11] = [
    &["dump"],
    &["dump", "-n", "7"],
    &["dump", "-n", "0"],
    &["dump", "--long"],
    &["dump", "--json"],
    &["dump", "--json", "-n", "40"],
    &["tail"],
    &["tail", "-n", "100000"],
    &["tail", "-n", "0"],
    &["tail", "--long", "-n", "123"],
    &["tail", "--json", "-n", "200"],
];

/// The time at which a line begins, in nanoseconds, and the rest of it. Of JSON, without what
/// repeats the time.
fn timed(line: &str) -> (Option<i64>, String) {
    if let Ok(serde_json::Value::Object(mut fields)) = serde_json::from_str(line) {
        let time = fields.remove("time").unwrap();
        let unix = fields.remove("unix_ns").unwrap().as_i64();
        let time: jiff::Timestamp = time.as_str().unwrap().parse().unwrap();
        assert_eq!(unix, i64::try_from(time.as_nanosecond()).ok());
        let order = line
            .split("\":")
            .map(|part| part.rsplit('"').next().unwrap());
        return (unix, format!("{:?} {fields:?}", order.collect::<Vec<_>>()));
    }
    let date = line
        .get(..29)
        .and_then(|text| text.parse::<jiff::civil::DateTime>().ok());
    if let Some(date) = date {
        let nanos = date.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
        return (Some(nanos.as_nanosecond() as i64), line[29..].into());
    }
    let time = line
        .get(..15)
        .and_then(|text| text.parse::<jiff::civil::Time>().ok());
    let nanos =
        time.map(|time| (time - jiff::civil::Time::midnight()).total(jiff::Unit::Nanosecond));
    match nanos {
        Some(nanos) => (Some(nanos.unwrap() as i64), line[15..].into()),
        None => (None, line.into()),
    }
}

/// The same but for times: a recorder takes the clock to run evenly over some milliseconds, of
/// which the ring may know a moment in between. So they differ by nanoseconds, and where no more is
/// shown by a microsecond.
fn assert_same(found: &str, expected: &str, what: &str) {
    assert_eq!(found.lines().count(), expected.lines().count(), "{what}");
    for (found, expected) in found.lines().zip(expected.lines()) {
        let ((time, rest), (wanted, whole)) = (timed(found), timed(expected));
        assert_eq!(rest, whole, "{what}");
        let apart = time.zip(wanted).map(|(one, other)| one.abs_diff(other));
        assert!(
            time.is_some() == wanted.is_some() && apart <= Some(1_000),
            "{what}: {found}\n{expected}"
        );
    }
}

#[test]
fn archives_read_as_the_ring_did() {
    let mut mixture = Mixture::new("archives");
    mixture.log(40);
    mixture.end();
    // Whoever looks at the clock once more has times that differ by nanoseconds: a snapshot has its
    // own.
    let snapshot = mixture.path("snapshot.timeline");
    succeed(&["save", mixture.name.path(), &snapshot]);
    let archives = recorded(&mixture, &snapshot);
    let read = |way: &[&str], path: &str| {
        let mut args = vec![way[0], path];
        args.extend(&way[1..]);
        let ran = succeed(&args);
        (ran.stdout, ran.stderr)
    };
    let expected = WAYS.map(|way| read(way, &snapshot));
    let stacks = expected[0].0.matches("\n    at ").count();
    let named = expected[0].0.matches("+0x").count();
    assert!(stacks > 150 && named > 100, "{stacks} {named}");
    assert_eq!(expected[4].0.lines().count() as i64, mixture.logged);
    // As before, once there is neither a ring nor the program.
    for round in 0..2 {
        for archive in &archives {
            for (way, expected) in WAYS.iter().zip(&expected) {
                let found = read(way, archive);
                assert_same(&found.0, &expected.0, &format!("{way:?} of {archive}"));
                assert_eq!(found.1, expected.1, "{way:?} of {archive}");
            }
        }
        if round == 0 {
            mixture.vanish();
            fs::remove_file(&snapshot).unwrap();
        }
    }
}
