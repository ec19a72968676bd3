//! A worker records to a file or a directory what a program logs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use timeline_archive::{Archive, Keeping};
use timeline_worker::{Worker, WorkerOptions};

use super::{LONG, files};
use crate::command::{eventually, succeed};
use crate::store::place::{Program, assert_same, events, is_important};

#[test]
fn a_file_has_all_that_is_logged_before_and_while_a_worker_runs() {
    let mut program = Program::new("worker-file", 1 << 14);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    program.log(1000);
    let worker = Worker::start(&program.timeline, &WorkerOptions::to_file(&file)).unwrap();
    program.log(1000);
    program.keep(3);
    assert!(worker.flush(LONG).unwrap());
    assert_same(&events(&file), &program.recorded_here(), "after a flush");
    assert_eq!(worker.totals().unwrap().events, 2004);
    program.log(500);
    let totals = worker.stop().unwrap();
    assert_eq!(
        (
            totals.events,
            totals.overwritten,
            totals.missed,
            totals.left
        ),
        (2504, 0, 0, 0)
    );
    assert_same(&events(&file), &program.recorded_here(), "at the end");
    assert!(events(&file)[..4].iter().all(is_important));
    succeed(&["verify", file.to_str().unwrap()]);
    // Dropping it does the same.
    program.log(100);
    drop(Worker::start(&program.timeline, &WorkerOptions::to_file(&file)).unwrap());
    assert_same(
        &events(&file),
        &program.recorded_here(),
        "after another one",
    );
}

#[test]
fn what_was_overwritten_before_it_began_is_told() {
    let mut program = Program::new("worker-late", 1024);
    let folder = tempfile::tempdir().unwrap();
    program.log(10_000);
    let info = program.name.attach().info();
    // Important entries have a place of their own.
    let gone = info.entries_written - info.entries_held;
    assert!(gone > 8000, "{info:?}");
    let options = |name: &str| WorkerOptions::to_file(folder.path().join(name));
    let worker = Worker::start(&program.timeline, &options("first.tla")).unwrap();
    assert_eq!(worker.totals().unwrap().overwritten, gone);
    let first = worker.stop().unwrap();
    assert_eq!((first.overwritten, first.missed), (gone, 0));
    // An event of four numbers takes one entry: what is not gone is there.
    let plain = |events: u64| events - 3;
    assert!(plain(first.events) + gone <= info.entries_written);
    // One that goes on knows how far the last one came, and what it missed.
    program.log(10_000);
    let second = Worker::start(&program.timeline, &options("first.tla")).unwrap();
    let second = second.stop().unwrap();
    assert_eq!(second.overwritten, 0);
    assert!(second.missed > 8000, "{second:?}");
    let archive = Archive::open(folder.path().join("first.tla")).unwrap();
    assert_eq!(archive.missed(), second.missed);
}

#[test]
fn a_directory_is_rotated_and_each_file_begins_with_important_events() {
    let mut program = Program::new("worker-files", 1 << 15);
    let folder = tempfile::tempdir().unwrap();
    let flights = folder.path().join("flights");
    let keeping = Keeping {
        rotate_size: Some(64 << 10),
        ..Keeping::default()
    };
    let options = WorkerOptions::to_file(flights.join("")).keeping(keeping);
    let worker = Worker::start(&program.timeline, &options).unwrap();
    for id in 3..6 {
        program.keep(id);
        program.log(8000);
        assert!(worker.flush(LONG).unwrap());
    }
    let totals = worker.stop().unwrap();
    assert_eq!((totals.events, totals.missed), (24_006, 0));
    let found = files(&flights);
    assert!(found.len() > 2, "{found:?}");
    for file in &found {
        let events: Vec<_> = Archive::open(file).unwrap().events().collect();
        let first = events.iter().take_while(|event| is_important(event));
        assert!(first.count() >= 3, "{}", file.display());
    }
    assert_same(&events(&flights), &program.recorded_here(), "all files");
}

#[test]
fn what_is_wrong_with_a_file_is_told_at_the_start() {
    let (program, other) = (
        Program::new("worker-one", 1024),
        Program::new("worker-two", 1024),
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    let options = WorkerOptions::to_file(&file);
    let start = |program: &Program, options: &WorkerOptions| {
        let started = Worker::start(&program.timeline, options);
        started.map(|_| ()).map_err(|error| error.to_string())
    };
    let worker = Worker::start(&program.timeline, &options).unwrap();
    let busy = start(&program, &options).unwrap_err();
    assert!(
        busy.contains("is being written by another recorder"),
        "{busy}"
    );
    worker.stop().unwrap();
    let foreign = start(&other, &options).unwrap_err();
    assert!(
        foreign.contains("holds something other than a recording"),
        "{foreign}"
    );
    assert_same(&events(&file), &program.recorded_here(), "it is as before");
    let notes = folder.path().join("notes.txt");
    fs::write(&notes, "notes").unwrap();
    start(&program, &WorkerOptions::to_file(&notes)).unwrap_err();
    assert_eq!(fs::read(&notes).unwrap(), b"notes");
    let nowhere = folder.path().join("nowhere/flight.tla");
    let lacking = start(&program, &WorkerOptions::to_file(&nowhere)).unwrap_err();
    assert!(lacking.contains("nowhere"), "{lacking}");
    start(&program, &options).unwrap();
}

/// A file system that may be written to or not, where this process may mount; removed when dropped.
struct Mounted<'a>(&'a Path);

impl Mounted<'_> {
    fn on(folder: &Path) -> Option<Mounted<'_>> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "timeline-test"]).arg(folder);
        let done = mount.output().is_ok_and(|done| done.status.success());
        assert!(done || std::env::var_os("CI").is_none(), "cannot mount");
        done.then_some(Mounted(folder))
    }

    fn remount(&self, option: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,{option}")]).arg(self.0);
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_worker_waits_for_a_disk_that_may_not_be_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::on(folder.path()) else {
        println!("nothing can be mounted here, so nothing is tested");
        return;
    };
    let mut program = Program::new("worker-room", 1 << 14);
    program.log(100);
    mounted.remount("ro");
    let file = folder.path().join("flight.tla");
    let worker = Worker::start(&program.timeline, &WorkerOptions::to_file(&file)).unwrap();
    let told = worker.trouble().unwrap().unwrap();
    assert!(told.contains("Read-only file system"), "{told}");
    assert!(!worker.flush(Duration::from_millis(1)).unwrap());
    program.log(100);
    mounted.remount("rw");
    assert!(worker.flush(LONG).unwrap());
    eventually("it to say so", || worker.trouble().unwrap().is_none());
    assert_same(&events(&file), &program.recorded_here(), "with room");
    let totals = worker.stop().unwrap();
    assert_eq!(
        (totals.events, totals.overwritten, totals.missed),
        (203, 0, 0)
    );
    // One that never gets any ends all the same.
    mounted.remount("ro");
    let other = WorkerOptions::to_file(folder.path().join("other.tla"));
    let totals = Worker::start(&program.timeline, &other)
        .unwrap()
        .stop()
        .unwrap();
    assert_eq!((totals.events, totals.bytes), (0, 0));
}
