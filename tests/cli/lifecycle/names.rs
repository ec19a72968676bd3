//! Whose a name is: in use, left behind, somebody else's file, contested.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use timeline::{Attached, Error, ErrorKind, Order, Timeline};

use super::race::{creates_at_the_word, exactly_one_creates};
use crate::support::user::{are_root, become_nobody};
use crate::support::{Name, Process, Random, arguments, attach, checked, define, hear, say};

fn small(path: &str) -> Result<Timeline, Error> {
    Timeline::with_size(path, 256, 2048)
}

/// What the timeline holds: the numbers of `who` 1.
fn held(path: &str) -> Vec<i64> {
    attach(path)
        .events(Order::OldestFirst)
        .map(|e| checked(&e).1)
        .collect()
}

fn log(timeline: &Timeline, number: i64) {
    timeline.log(define(timeline), arguments(1, number));
}

/// Has the timeline open until told.
pub fn holds(given: &[String]) {
    let _timeline = Timeline::open(&given[0]).expect("joined");
    say("open");
    hear();
}

#[test]
fn a_name_in_use_is_refused_by_whom_it_is_used_and_can_be_joined() {
    let name = Name::new("use");
    let first = small(name.path()).expect("created");
    log(&first, 1);
    let mut other = Process::start(holds, &[name.path()]);
    assert_eq!(other.line(), "open");

    let error = small(name.path()).err().expect("it is in use");
    let Error::InUse { by, .. } = &error else {
        panic!("expected InUse, got {error}");
    };
    let mut pids: Vec<u32> = by.iter().map(|u| u.pid).collect();
    pids.sort_unstable();
    let mut expected = [std::process::id(), other.pid()];
    expected.sort_unstable();
    assert_eq!(pids, expected);
    for pid in expected {
        assert!(
            error.to_string().contains(&format!("(pid {pid})")),
            "{error}"
        );
    }
    assert_eq!(error.kind(), ErrorKind::InUse);

    drop(first);
    assert!(matches!(small(name.path()), Err(Error::InUse { by, .. }) if by.len() == 1));
    let joined = Timeline::open(name.path()).expect("joined");
    log(&joined, 2);
    drop(joined);
    other.tell();
    other.finish();
    assert_eq!(timeline::users(name.path()).expect("attached"), []);
    assert_eq!(held(name.path()), [1, 2]);
    small(name.path()).expect("nobody uses it any more");
    assert_eq!(held(&name.beside(".prev")), [1, 2]);
}

#[test]
fn each_restart_keeps_what_the_one_before_left() {
    let name = Name::new("prev");
    for number in 1..=3 {
        log(&small(name.path()).expect("created"), number);
        assert_eq!(held(name.path()), [number]);
        if number > 1 {
            assert_eq!(held(&name.beside(".prev")), [number - 1]);
        }
    }
    assert!(name.staged().is_empty());
}

#[test]
fn what_is_no_timeline_is_left_alone() {
    let name = Name::new("foreign");
    std::fs::write(name.file(), "somebody's notes").expect("written");
    let before = std::fs::metadata(name.file()).expect("there").ino();
    for error in [
        small(name.path()).err(),
        Timeline::open(name.path()).err(),
        Attached::open(name.path()).err(),
        timeline::unlink(name.path()).err(),
    ] {
        let error = error.expect("refused");
        assert!(matches!(error, Error::NotATimeline { .. }), "{error}");
        assert!(error.to_string().contains(name.path()), "{error}");
    }
    let after = std::fs::read_to_string(name.file()).expect("still there");
    assert_eq!(after, "somebody's notes");
    assert_eq!(std::fs::metadata(name.file()).expect("there").ino(), before);
}

#[test]
fn what_is_no_timeline_is_left_alone_at_the_name_of_the_former_and_stands_in_nobodys_way() {
    let target = Name::new("target");
    log(&small(target.path()).expect("created"), 9);
    let puts: [fn(&Path, &Name); 4] = [
        |at, _| std::fs::write(at, "somebody's notes").expect("written"),
        |at, _| std::fs::create_dir(at).expect("made"),
        |at, target| symlink(target.file(), at).expect("linked"),
        |at, _| nix::unistd::mkfifo(at, nix::sys::stat::Mode::S_IRWXU).expect("made"),
    ];
    for put in puts {
        let name = Name::new("notes");
        let prev = name.file_beside(".prev");
        put(&prev, &target);
        let inode = || std::fs::symlink_metadata(&prev).expect("there").ino();
        let before = inode();
        for number in 1..=3 {
            log(&small(name.path()).expect("created"), number);
        }
        assert_eq!(inode(), before);
        assert_eq!(held(name.path()), [3]);
        let former = attach(name.path()).former().expect("kept");
        assert_eq!(held(former.path().to_str().expect("a plain name")), [2]);
        assert_eq!(name.kept().len(), 1);
        // Only a file would go with the name.
        let _ = std::fs::remove_dir(&prev);
    }
    assert_eq!(held(target.path()), [9]);
}

#[test]
fn a_link_is_not_followed_for_writing() {
    let target = Name::new("target");
    log(&small(target.path()).expect("created"), 1);
    let link = Name::new("link");
    symlink(target.file(), link.file()).expect("linked");
    assert!(matches!(small(link.path()), Err(Error::Io { .. })));
    assert!(matches!(Timeline::open(link.path()), Err(Error::Io { .. })));
    assert_eq!(held(target.path()), [1]);
    assert!(!target.file_beside(".prev").exists() && link.staged().is_empty());
}

#[test]
fn only_the_owner_may_read_and_write_it() {
    let name = Name::new("mode");
    let timeline = small(name.path()).expect("created");
    let mode = |file| std::fs::metadata(file).expect("there").permissions().mode() & 0o7777;
    assert_eq!(mode(name.file()), 0o600);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved.timeline");
    timeline.save(&file).expect("saved");
    assert_eq!(mode(file), 0o600);
}

/// Tries what its user may not.
pub fn unprivileged(given: &[String]) {
    become_nobody();
    let folder = &given[0];
    let file = format!("{folder}/some.timeline");
    for (path, what) in [
        (file.as_str(), "a folder"),
        (given[1].as_str(), "a timeline"),
    ] {
        let error = small(path)
            .err()
            .unwrap_or_else(|| panic!("{what} of another user"));
        let Error::Io { source, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains(path), "{error}");
    }
    assert!(matches!(Attached::open(&given[1]), Err(Error::Io { .. })));
    assert!(matches!(Timeline::open(&given[1]), Err(Error::Io { .. })));
}

#[test]
fn another_user_is_told_what_is_not_permitted() {
    if !are_root() {
        // Then this user is the unprivileged one, and the file of another the one it may not write.
        let error = small("/proc/1/timeline").err().expect("not there");
        assert!(matches!(error, Error::Io { .. }), "{error}");
        return;
    }
    let name = Name::new("private");
    log(&small(name.path()).expect("created"), 1);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain name");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("set");
    Process::start(unprivileged, &[path, name.path()]).finish();
    assert_eq!(std::fs::read_dir(path).expect("listed").count(), 0);
    assert_eq!(held(name.path()), [1]);
}

#[test]
fn of_several_that_create_one_name_at_once_exactly_one_does() {
    let name = Name::new("race");
    for round in 1..=25 {
        exactly_one_creates(creates_at_the_word, name.path(), || {
            assert_eq!(attach(name.path()).info().writers.len(), 1);
        });
        assert_eq!(name.file_beside(".prev").exists(), round > 1);
        assert!(name.staged().is_empty());
    }
}

#[test]
fn of_several_threads_that_create_one_name_at_once_exactly_one_does() {
    let name = Name::new("threads");
    let together = std::sync::Barrier::new(3);
    for round in 0..500 {
        let create = || {
            together.wait();
            let created = small(name.path());
            together.wait();
            created.map(drop)
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..3).map(|_| scope.spawn(create)).collect();
            all.into_iter().map(|t| t.join().expect("ended")).collect()
        });
        let created = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(created, 1, "round {round}: {results:?}");
        for error in results.into_iter().filter_map(Result::err) {
            assert!(
                matches!(error, Error::InUse { .. }),
                "round {round}: {error}"
            );
        }
        std::fs::remove_file(name.file()).expect("there");
    }
    assert!(name.staged().is_empty());
}

/// Creates the timeline again and again until it is killed.
pub fn creates(given: &[String]) {
    say("ready");
    loop {
        drop(Timeline::with_size(&given[0], 4096, 4096).expect("created"));
    }
}

#[test]
fn a_creator_that_was_killed_in_the_middle_does_not_stand_in_the_way() {
    let name = Name::new("creator");
    let mut random = Random(std::process::id().into());
    let mut unfinished = 0;
    for round in 0..100 {
        let mut child = Process::start(creates, &[name.path()]);
        assert_eq!(child.line(), "ready");
        (0..random.below(300_000)).for_each(|_| std::hint::spin_loop());
        child.kill();
        unfinished += name.staged().len();
        if name.file().exists() {
            attach(name.path());
        }
        // What stands at the name is whole, and the next one takes over.
        let next = small(name.path()).unwrap_or_else(|e| panic!("round {round}: {e}"));
        log(&next, round);
        assert_eq!(held(name.path()), [round]);
    }
    assert!(unfinished > 0, "never caught in the middle");
    assert!(name.staged().is_empty());
}

#[test]
fn removing_a_name_takes_it_from_nobody_who_has_it_open() {
    let name = Name::new("unlink");
    let timeline = small(name.path()).expect("created");
    let attached = attach(name.path());
    assert!(!attached.replaced());
    timeline::unlink(name.path()).expect("removed");
    assert!(attached.replaced());
    log(&timeline, 7);
    assert_eq!(attached.events(Order::OldestFirst).count(), 1);
    for error in [
        timeline::unlink(name.path()).err(),
        Timeline::open(name.path()).err(),
        Attached::open(name.path()).err(),
    ] {
        let error = error.expect("it is gone");
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        assert!(error.to_string().contains(name.path()));
    }
    small(name.path()).expect("the name is free");
}

#[test]
fn a_snapshot_cannot_be_joined_nor_controlled() {
    let name = Name::new("snapshot");
    let timeline = small(name.path()).expect("created");
    log(&timeline, 5);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved.timeline");
    timeline.save(&file).expect("saved");
    let path = file.to_str().expect("a plain name");
    assert_eq!(held(path), [5]);
    assert!(matches!(Timeline::open(path), Err(Error::ReadOnly { .. })));
    assert!(matches!(
        timeline::Control::open(path),
        Err(Error::ReadOnly { .. })
    ));
}

#[test]
fn nobody_writes_to_a_snapshot_not_even_who_wrote_what_it_shows() {
    let name = Name::new("shown");
    let timeline = small(name.path()).expect("created");
    log(&timeline, 5);
    let copy = Name::new("shows");
    timeline.save(copy.path()).expect("saved");
    assert_eq!(timeline::users(copy.path()).expect("readable"), []);
    small(copy.path()).expect("it is in nobody's use");
    assert_eq!(held(&copy.beside(".prev")), [5]);
}

#[test]
fn a_name_is_good_for_everything_that_is_done_with_it_or_for_nothing() {
    let name = Name::new("long");
    let timeline = small(name.path()).expect("created");
    let folder = tempfile::tempdir().expect("a folder");
    for length in [200, 240, 245, 250, 255] {
        let long = folder.path().join("x".repeat(length));
        let created = small(long.to_str().expect("a plain name")).map(drop);
        let _ = std::fs::remove_file(&long);
        let saved = timeline.save(&long).map(drop);
        for result in [saved, created] {
            let said = matches!(result, Ok(()) | Err(Error::BadName { .. }));
            assert!(said, "{length} bytes: {result:?}");
        }
    }
}

#[test]
fn a_ring_that_is_written_to_is_not_replaced_by_its_own_snapshot() {
    let name = Name::new("itself");
    let timeline = small(name.path()).expect("created");
    log(&timeline, 5);
    let saved = timeline.save(name.path());
    assert!(!attach(name.path()).is_snapshot(), "{saved:?}");
    log(&timeline, 6);
    assert_eq!(held(name.path()), [5, 6]);
}
