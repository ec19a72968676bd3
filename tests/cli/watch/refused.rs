//! What watch refuses, and what it tells about it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::unistd::geteuid;

use super::tick;
use crate::command::*;
use crate::support::Name;
use crate::support::user::NOBODY;

#[test]
fn words_that_make_no_sense_are_told() {
    let name = Name::new("watch-refused");
    let _tl = name.create(256);
    for (args, told) in [
        (&[][..], "--when <CONDITION>"),
        (
            &["--when", "span a > 1"],
            "expected a time, with a unit, such as 100us",
        ),
        (
            &["--when", "breath > 1ms"],
            "expected span NAME > TIME, p99(NAME) > TIME",
        ),
        (
            &["--when", "span a > 1ms", "--for", "1s"],
            "'span a > 1ms' is met in a moment",
        ),
        (
            &["--when", "event a", "--then", "dance"],
            "expected save, 'priority LEVEL for TIME'",
        ),
        (
            &["--when", "event a", "--cooldown", "1"],
            "expected a time with a unit",
        ),
        (
            &["--when", "event a", "-n", "0"],
            "expected a whole number from 1 on, got 0",
        ),
        (
            &[
                "--when",
                "event a",
                "--then",
                "priority all for 1s",
                "--then",
                "priority all for 1s",
            ],
            "there can be one --then 'priority",
        ),
    ] {
        let ran = run(&[&["watch", name.path()], args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(told), "{told}: {ran:?}");
    }
}

#[test]
fn what_is_not_there_or_cannot_be_made_is_a_failure() {
    let name = Name::new("watch-missing");
    let failed = |args: &[&str]| {
        let ran = run(&[&["watch", name.path(), "--when", "event a"], args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        ran.stderr
    };
    let _tl = name.create(256);
    assert!(failed(&["--save", "/dev/null/x"]).contains("cannot create /dev/null/x"));
    // With one slash, it is a directory as well, and no name in shared memory.
    assert!(!failed(&["--save", "/proc"]).contains("/dev/shm"));
    assert!(failed(&["--save", "/dev/null"]).contains("expected a directory"));
    fs::set_permissions(name.file(), PermissionsExt::from_mode(0o622)).unwrap();
    let told = failed(&["--then", "priority all for 1s"]);
    assert!(told.contains("may write"), "{told}");
}

#[test]
fn whoever_may_only_read_can_watch() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can act as another user");
        return;
    }
    let name = Name::new("watch-foreign");
    let tl = name.create(1024);
    fs::set_permissions(name.file(), PermissionsExt::from_mode(0o644)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let program = folder.path().join("timeline");
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_timeline"))
        .arg(&program)
        .status();
    assert!(copied.unwrap().success());
    let saved = folder.path().join("saved");
    let start = |args: &[&str]| {
        let mut watch = Command::new(&program);
        watch.args([&["watch", name.path(), "--when", "event engine.tick"], args].concat());
        watch
            .uid(NOBODY)
            .gid(NOBODY)
            .current_dir("/")
            .stdin(Stdio::null());
        watch
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let args = [
        "--save",
        saved.to_str().unwrap(),
        "--after",
        "0s",
        "-n",
        "2",
        "--cooldown",
        "0s",
    ];
    let mut watch = start(&args);
    // It has no lines before it has begun, so log until it has fired twice.
    let mut status = None;
    eventually("two firings", || {
        tick(&tl, 1);
        status = watch.try_wait().unwrap();
        status.is_some()
    });
    let ran = Ran::new(watch.wait_with_output().unwrap());
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (Some(0), 2),
        "{ran:?}"
    );
    let told = ran
        .stderr
        .matches("what fires is not logged into the timeline")
        .count();
    assert_eq!(told, 1, "{ran:?}");
    assert_eq!(super::snapshots(&saved).len(), 2);
    let refused = Ran::new(
        start(&["--then", "priority all for 1s"])
            .wait_with_output()
            .unwrap(),
    );
    assert_eq!(refused.code, Some(2), "{refused:?}");
}
