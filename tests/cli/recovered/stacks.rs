//! Call stacks that an archive lost come back from the files that were loaded, and from no others.

use std::fs;

use super::{Lost, STRING, SYMBOL, damage, without_durations};
use crate::command::{lacking, run, succeed};
use crate::support::Name;
use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, cc, limited, succeed as succeeds};

/// What is shown of each call stack.
fn stacks(dumped: &str) -> Vec<serde_json::Value> {
    let lines = dumped
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines
        .map(|line| line["backtrace"].clone())
        .filter(|stack| !stack.is_null())
        .collect()
}

#[test]
fn call_stacks_are_named_again_by_what_was_loaded() {
    let lost = Lost::new("-O0", &[]);
    let whole = succeed(&["dump", "--json", &lost.whole]).stdout;
    let expected = stacks(&whole);
    assert!(
        expected.len() == 20 && whole.contains("\"outer\""),
        "{whole}"
    );
    damage(&lost.whole, &lost.damaged, &[STRING, SYMBOL]);
    let dumped = lost.dumped(&[]);
    assert_eq!(stacks(&dumped.stdout), expected);
    assert_eq!(without_durations(&dumped.stdout), without_durations(&whole));
    for verb in ["info", "verify"] {
        let ran = run(&[verb, &lost.damaged]);
        assert!(ran.stdout.contains("21 of 21 lost texts and "), "{ran:?}");
        assert!(ran.stdout.contains(" lost symbols from "), "{ran:?}");
    }
    let repaired = lost.path("repaired.tla");
    succeed(&["repair", &lost.damaged, "-o", &repaired]);
    assert_eq!(
        stacks(&succeed(&["dump", "--json", &repaired]).stdout),
        expected
    );

    // Nothing is named by another file, but by one that was moved elsewhere.
    let moved = lost.path("moved");
    fs::rename(&lost.program, &moved).unwrap();
    let other = compile(
        cc(),
        C99,
        &["tests/c/second.c"],
        Link::Shared,
        lost.folder.path(),
    );
    assert_eq!(other, lost.program);
    let dumped = lost.dumped(&[]);
    assert!(!dumped.stdout.contains("\"outer\""), "{dumped:?}");
    let dumped = lost.dumped(&["--executable", &moved]);
    assert_eq!(stacks(&dumped.stdout), expected);
}

#[test]
fn each_file_of_a_directory_has_what_names_its_call_stacks() {
    let lost = Lost::new("-O0", &[]);
    let name = Name::new("recover-rotated");
    succeeds(
        limited(&lost.program).args([name.path(), "100"]),
        "coreutils",
    );
    let folder = format!("{}/", lost.path("rotated"));
    let options = [
        "--plain",
        "--rotate-size",
        "64K",
        "--once",
        "--fsync",
        "never",
    ];
    succeed(&[&["record", name.path(), "-o", &folder][..], &options].concat());
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.collect();
    assert!(files.len() > 2, "{files:?}");
    for file in files {
        let file = file.display().to_string();
        let dumped = succeed(&["dump", "--json", &file]).stdout;
        assert!(dumped.contains("\"outer\""), "{dumped}");
        let damaged = lost.path("one.tla");
        damage(&file, &damaged, &[STRING, SYMBOL]);
        let again = lacking(&["dump", "--json", &damaged]).stdout;
        assert_eq!(without_durations(&again), without_durations(&dumped));
    }
}

/// Builds the program anew, in the same place, with functions of other names.
fn build_other(lost: &Lost, flag: &str) {
    let names = ["-Dinner=wrong_inner", "-Douter=wrong_outer"];
    let flags = [C99, &["-O0", flag], &names].concat();
    let source = ["tests/c/recover.c"];
    let other = compile(cc(), &flags, &source, Link::Shared, lost.folder.path());
    assert_eq!(other, lost.program);
}

#[test]
fn a_changed_program_with_the_same_build_id_names_nothing() {
    let same = "-Wl,--build-id=0x1234567890abcdef";
    let lost = Lost::of("tests/c/recover.c", &["-O0", same], &[]);
    let expected = stacks(&succeed(&["dump", "--json", &lost.whole]).stdout);
    damage(&lost.whole, &lost.damaged, &[STRING, SYMBOL]);
    let (kept, wrong) = (lost.path("kept"), lost.path("wrong"));
    fs::copy(&lost.program, &kept).unwrap();
    build_other(&lost, same);
    fs::copy(&lost.program, &wrong).unwrap();
    let nowhere = || fs::remove_file(&lost.program).unwrap();
    for (is_there, options) in [(true, &[][..]), (false, &["--executable", &wrong])] {
        if !is_there {
            nowhere();
        }
        let dumped = lost.dumped(options);
        assert!(dumped.stdout.contains("\"backtrace\""), "{dumped:?}");
        assert!(!dumped.stdout.contains("wrong_"), "{dumped:?}");
        let repaired = lost.path("repaired.tla");
        succeed(&[&["repair", &lost.damaged, "-o", &repaired], options].concat());
        let dumped = run(&["dump", "--json", &repaired]);
        assert!(!dumped.stdout.contains("wrong_"), "{dumped:?}");
        fs::remove_file(&repaired).unwrap();
    }
    // The right one is believed, whatever stands before it.
    fs::copy(&wrong, &lost.program).unwrap();
    let dumped = lost.dumped(&["--executable", &wrong, "--executable", &kept]);
    assert_eq!(stacks(&dumped.stdout), expected);
}

#[test]
fn a_changed_program_names_nothing_in_a_ring() {
    let same = "-Wl,--build-id=0x1234567890abcdef";
    let lost = Lost::of("tests/c/recover.c", &["-O0", same], &[]);
    let name = Name::new("recover-ring");
    succeeds(limited(&lost.program).arg(name.path()), "coreutils");
    assert!(succeed(&["dump", name.path()]).stdout.contains("inner+"));
    build_other(&lost, same);
    let dumped = succeed(&["dump", name.path()]).stdout;
    assert!(!dumped.contains("wrong_"), "{dumped}");
}

#[test]
fn a_copy_of_a_program_without_a_build_id_names_call_stacks() {
    let lost = Lost::of("tests/c/recover.c", &["-O0", "-Wl,--build-id=none"], &[]);
    let expected = stacks(&succeed(&["dump", "--json", &lost.whole]).stdout);
    damage(&lost.whole, &lost.damaged, &[STRING, SYMBOL]);
    let copy = lost.path("copy");
    fs::copy(&lost.program, &copy).unwrap();
    fs::remove_file(&lost.program).unwrap();
    let dumped = lost.dumped(&["--executable", &copy]);
    assert_eq!(stacks(&dumped.stdout), expected);
    // One byte behind what is loaded is another file.
    let mut bytes = fs::read(&copy).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&copy, bytes).unwrap();
    let dumped = lost.dumped(&["--executable", &copy]);
    assert!(!dumped.stdout.contains("\"outer\""), "{dumped:?}");
}
