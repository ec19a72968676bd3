//! A ring with a writer keeps its name, whatever is created, saved or removed beside it.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use timeline::internal::Record;
use timeline::internal::files::{self, Replacement};
use timeline::internal::layout::Header;
use timeline::{Error, Timeline};

use super::foreign::{LOCKS, lock};
use crate::command::{fail, run};
use crate::support::{Name, Process, Random, arguments, attach, checked, define, say, size};

fn small(path: &str) -> Timeline {
    Timeline::with_size(path, 256, 2048).expect("created")
}

fn log(timeline: &Timeline, number: i64) {
    timeline.log(define(timeline), arguments(1, number));
}

fn held(path: &str) -> Vec<i64> {
    let numbers = attach(path);
    let numbers = numbers.events(timeline::Order::OldestFirst);
    numbers.map(|event| checked(&event).1).collect()
}

fn inode(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).expect("there").ino()
}

/// What a program logs to the name of a former ring, and at each restart beside it, both stay.
fn restarts_beside(suffix: &str) {
    let name = Name::new("beside");
    let living = small(&name.beside(suffix));
    log(&living, 100);
    let before = inode(&name.file_beside(suffix));
    for number in 1..=4 {
        log(&small(name.path()), number);
        log(&living, 100 + number);
        assert_eq!(inode(&name.file_beside(suffix)), before);
        let former = attach(name.path()).former();
        match number {
            1 => assert!(former.is_none()),
            _ => assert_eq!(
                held(former.expect("kept").path().to_str().expect("a name")),
                [number - 1]
            ),
        }
    }
    assert_eq!(held(&name.beside(suffix)), [100, 101, 102, 103, 104]);
    drop(living);
    // Once nobody writes to it, it is a former ring like any other.
    let kept = name.kept().len();
    small(name.path());
    assert_eq!(name.kept().len(), kept);
}

#[test]
fn a_living_ring_at_the_name_of_the_former_stays() {
    restarts_beside(".prev");
}

#[test]
fn a_living_ring_at_a_numbered_name_of_the_former_stays() {
    let name = Name::new("numbered");
    // The name that is known in advance is somebody else's.
    std::fs::write(name.file_beside(".prev"), "notes").expect("written");
    let living = small(&name.beside(".prev-0123456789abcdef"));
    log(&living, 100);
    let before = inode(&name.file_beside(".prev-0123456789abcdef"));
    for number in 1..=4 {
        log(&small(name.path()), number);
    }
    assert_eq!(inode(&name.file_beside(".prev-0123456789abcdef")), before);
    assert_eq!(held(&name.beside(".prev-0123456789abcdef")), [100]);
    let former = attach(name.path()).former().expect("kept");
    assert_eq!(held(former.path().to_str().expect("a plain name")), [3]);
}

#[test]
fn a_ring_at_the_name_of_a_creator_is_not_swept_away() {
    let name = Name::new("creator");
    let path = name.beside(".creating-0123456789abcdef");
    let living = small(&path);
    log(&living, 1);
    small(name.path());
    assert_eq!(held(&path), [1]);
    // Nor when its writer has ended: it is no file of a killed creator.
    drop(living);
    small(name.path());
    assert_eq!(held(&path), [1]);
}

#[test]
fn a_ring_that_is_created_while_its_name_is_saved_to_stays() {
    let name = Name::new("saved");
    let other = Name::new("other");
    log(&small(other.path()), 7);
    for make_former in [false, true] {
        if make_former {
            attach(other.path()).save(name.file()).expect("saved");
            timeline::remove(name.path()).expect("nobody writes to it");
            drop(small(name.path()));
        }
        let mut living = None;
        let replacement = Replacement::of(&name.file()).expect("nobody writes to it");
        let error = replacement.write(|_| {
            living = Some(small(name.path()));
            Ok(())
        });
        let error = error.expect_err("it has a writer by now");
        assert!(matches!(error, Error::InUse { .. }), "{error}");
        log(living.as_ref().expect("created"), 1);
        assert_eq!(held(name.path()), [1]);
        drop(living);
        timeline::remove(name.path()).expect("removed");
    }
}

#[test]
fn what_a_writer_has_is_removed_only_by_force() {
    let name = Name::new("removed");
    let living = small(name.path());
    let path = name.file();
    for error in [
        timeline::remove(name.path()).err(),
        Replacement::of(&path).err(),
    ] {
        let error = error.expect("refused");
        assert!(matches!(error, Error::InUse { .. }), "{error}");
    }
    let error = files::remove(&path).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::ResourceBusy, "{error}");
    let said = fail(&["rm", name.path()]);
    assert!(said.contains("is in use by"), "{said}");
    // Nor is it cut short by what writes over other files.
    let source = Name::new("spans");
    log(&small(source.path()), 1);
    let over = path.to_str().expect("a plain name");
    for arguments in [
        &["histogram", source.path(), "-o", over][..],
        &["histogram", source.path(), "--plot", over],
        &["save", source.path(), over],
        &["record", "--once", source.path(), "-o", over],
    ] {
        assert_ne!(run(arguments).code, Some(0), "{arguments:?}");
        assert_eq!(held(name.path()), [0_i64; 0]);
    }
    log(&living, 1);
    assert_eq!(held(name.path()), [1]);
    timeline::unlink(name.path()).expect("the writer may remove its own");
    assert!(!path.exists());
    small(name.path());
    drop(living);
    timeline::remove(name.path()).expect("nobody writes to it");
    assert!(!path.exists());
}

/// Creates the ring at this path again and again, and logs to it. Ends with a failure if somebody
/// takes its name away meanwhile: at once, before it is killed.
pub fn creates_and_keeps(given: &[String]) {
    let path = &given[0];
    let mut random = Random(std::process::id().into());
    say("ready");
    loop {
        let timeline = match Timeline::with_size(path, 256, 2048) {
            Ok(timeline) => timeline,
            Err(Error::InUse { .. } | Error::Locked { .. }) => continue,
            Err(_) => std::process::exit(3),
        };
        let event = define(&timeline);
        for number in 0..random.below(200) as i64 {
            timeline.log(event, arguments(1, number));
        }
        let there = timeline::Attached::open(path).map(|found| found.info().creator_pid);
        let is_ours = matches!(there, Ok(creator) if creator == std::process::id());
        assert!(is_ours, "{path} is another one: {there:?}");
    }
}

/// Saves to these paths and removes them again and again, if nobody writes to them.
pub fn saves_and_removes(given: &[String]) {
    let (from, paths) = given.split_first().expect("a name");
    say("ready");
    loop {
        for path in paths {
            let _ = attach(from).save(format!("/dev/shm{path}"));
            let _ = timeline::remove(path);
        }
    }
}

#[test]
fn rings_keep_their_names_while_others_create_save_remove_and_are_killed() {
    let (name, source) = (Name::new("storm"), Name::new("source"));
    log(&small(source.path()), 1);
    let paths: Vec<_> = ["", ".prev", ".prev.prev"]
        .map(|suffix| name.beside(suffix))
        .into();
    // They remove at the end what stands beside them.
    let _others: Vec<Name> = paths[1..].iter().cloned().map(Name::chosen).collect();
    let all: Vec<&str> = paths.iter().map(String::as_str).collect();
    let start = |number: usize| match paths.get(number / 2) {
        Some(path) => Process::start(creates_and_keeps, &[path]),
        None => {
            let given = [&[source.path()][..], &all].concat();
            Process::start(saves_and_removes, &given)
        }
    };
    let mut random = Random(7);
    let mut processes: Vec<_> = (0..8).map(start).collect();
    processes
        .iter_mut()
        .for_each(|process| assert_eq!(process.line(), "ready"));
    for _ in 0..40 * size() {
        let number = random.below(8) as usize;
        end_by_a_kill(&mut processes[number]);
        processes[number] = start(number);
        assert_eq!(processes[number].line(), "ready");
    }
    processes.iter_mut().for_each(end_by_a_kill);
}

/// It ends by nothing else, unless its ring has lost its name.
fn end_by_a_kill(process: &mut Process) {
    process.kill();
    let status = process.wait();
    assert_eq!(status.signal(), Some(libc::SIGKILL), "{status}");
}

/// Locks a file as its creator does.
fn creator_of(path: &Path) -> File {
    let file = File::options().read(true).write(true).open(path);
    let file = file.expect("opened");
    lock(&file, libc::F_WRLCK, LOCKS + 1, 1).expect("nobody else has it");
    file
}

#[test]
fn what_a_creator_left_is_removed_by_its_name_once_the_creator_is_dead() {
    for by in [
        |path: &str| timeline::remove(path),
        |path: &str| timeline::unlink(path),
    ] {
        let name = Name::new("left");
        let suffix = ".creating-0123456789abcdef";
        let (path, file) = (name.beside(suffix), name.file_beside(suffix));
        drop(small(name.path()));
        // As nobody has joined it: whole, a part of it, and nothing.
        let mut whole = std::fs::read(name.file()).expect("read");
        Header::edit(&mut whole, |head| head.process_serial = 0.into());
        for bytes in [whole, vec![0; 8192], Vec::new()] {
            std::fs::write(&file, bytes).expect("written");
            let creator = creator_of(&file);
            let error = by(&path).expect_err("its creator lives");
            assert!(matches!(error, Error::InCreation { .. }), "{error}");
            drop(creator);
            by(&path).expect("its creator is dead");
            assert!(!file.exists());
        }
    }
}

#[test]
fn who_removes_a_name_removes_what_dead_creators_left_beside_it() {
    for by in [
        |path: &str| timeline::remove(path),
        |path: &str| timeline::unlink(path),
    ] {
        let name = Name::new("removed-with");
        drop(small(name.path()));
        let [dead, alive] = [".creating-0123456789abcdef", ".creating-fedcba9876543210"]
            .map(|suffix| name.file_beside(suffix));
        for file in [&dead, &alive] {
            std::fs::write(file, [0; 8192]).expect("written");
        }
        let creator = creator_of(&alive);
        by(name.path()).expect("nobody writes to it");
        assert!(!name.file().exists() && !dead.exists());
        assert!(alive.exists(), "its creator lives");
        drop(creator);
    }
}
