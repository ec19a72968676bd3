//! Archives, read as the rings that they were recorded from.

use std::fs;

use timeline::Attached;
use timeline_archive::{ArchiveOutput, Form, Fsync, Keeping, Recorder};

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
    let mut output = ArchiveOutput::open(&path, keeping).unwrap();
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

#[test]
fn archives_read_as_the_ring_did() {
    let mut mixture = Mixture::new("archives");
    mixture.log(40);
    mixture.end();
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
    let dumps = |(way, _): &(&&[&str], _)| way[0] == "dump";
    for (way, expected) in WAYS.iter().zip(&expected).filter(dumps) {
        assert_eq!(read(way, mixture.name.path()).0, expected.0, "{way:?}");
    }
    let stacks = expected[0].0.matches("\n    at ").count();
    let named = expected[0].0.matches("+0x").count();
    assert!(stacks > 150 && named > 100, "{stacks} {named}");
    assert_eq!(expected[4].0.lines().count() as i64, mixture.logged);
    // As before, once there is neither a ring nor the program.
    for round in 0..2 {
        for archive in &archives {
            for (way, expected) in WAYS.iter().zip(&expected) {
                let found = read(way, archive);
                assert_eq!(found, *expected, "{way:?} of {archive}");
            }
        }
        if round == 0 {
            mixture.vanish();
            fs::remove_file(&snapshot).unwrap();
        }
    }
}
