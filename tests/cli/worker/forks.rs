//! Programs that fork while they record, and programs that are killed.

use std::path::Path;
use std::time::Duration;

use timeline::{EventId, Priority, Timeline};
use timeline_archive::Archive;
use timeline_worker::{Error, Pump, Worker, WorkerOptions};

use super::LONG;
use crate::support::{Name, Process, deadline, hear, say, size};

fn begin(path: &str) -> (Timeline, EventId) {
    let timeline = Timeline::with_size(path, 1 << 14, 4096).unwrap();
    let event = timeline
        .define("test", Priority::Info, "number $n")
        .unwrap();
    (timeline, event)
}

fn log(timeline: &Timeline, event: EventId, numbers: std::ops::Range<i64>) {
    numbers.for_each(|number| timeline.log(event, [number]));
}

/// Does something in a forked child, which then ends as by `_exit`; and waits for it if asked to.
fn in_child(work: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child runs only what follows, and ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        deadline();
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        // SAFETY: it ends this process.
        unsafe { libc::_exit(if done.is_ok() { 0 } else { 1 }) };
    }
    child
}

fn wait(child: libc::pid_t) {
    let mut status = 0;
    // SAFETY: it writes to a variable of ours.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0), "the child failed");
}

fn is_refused<T>(result: Result<T, Error>) -> bool {
    let parent = std::os::unix::process::parent_id();
    matches!(result, Err(Error::ForkedProcess { process }) if process == parent)
}

/// A program whose child has a copy of a worker: it can do nothing with it, and lives longer than
/// its parent records.
fn forking(arguments: &[String]) {
    let (timeline, event) = begin(&arguments[0]);
    let options = WorkerOptions::to_file(&arguments[1]);
    let worker = Worker::start(&timeline, &options).unwrap();
    log(&timeline, event, 0..100);
    let mut pipe = [0; 2];
    // SAFETY: it writes two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    let (timeline_of_child, worker_of_child) = (&timeline, &worker);
    let lasting = in_child(|| {
        assert!(is_refused(worker_of_child.flush(LONG)));
        assert!(is_refused(worker_of_child.totals()));
        assert!(is_refused(worker_of_child.trouble()));
        log(timeline_of_child, event, 100..200);
        // Until the parent closes the other end.
        // SAFETY: descriptors of ours, and a byte.
        unsafe {
            libc::close(pipe[1]);
            libc::read(pipe[0], [0u8].as_mut_ptr().cast(), 1);
        }
    });
    // Another child drops its copy.
    let mut worker = Some(worker);
    wait(in_child(|| drop(worker.take())));
    wait(in_child(|| {
        assert!(is_refused(worker.take().unwrap().stop()))
    }));
    let worker = worker.unwrap();
    // The parent goes on as if there were no children, and stops.
    log(&timeline, event, 200..300);
    let busy = Worker::start(&timeline, &options).err().unwrap();
    assert!(busy.to_string().contains("another recorder"), "{busy}");
    assert!(worker.flush(LONG).unwrap());
    worker.stop().unwrap();
    // The child still has copies of its descriptors, and keeps nothing locked by them.
    let mut pump = Pump::start(&timeline, &options).unwrap();
    log(&timeline, event, 300..400);
    let child_of_pump = &mut pump;
    wait(in_child(|| {
        assert!(is_refused(child_of_pump.step()));
        assert!(is_refused(child_of_pump.update(Duration::ZERO)));
        assert!(is_refused(child_of_pump.flush(LONG)));
        assert!(is_refused(child_of_pump.end()));
        // A recording of its own goes to a file of its own.
        let own = format!("{}.child", arguments[1]);
        let worker = Worker::start(&timeline, &WorkerOptions::to_file(own)).unwrap();
        assert!(worker.flush(LONG).unwrap());
        worker.stop().unwrap();
    }));
    let mut pump = Some(pump);
    wait(in_child(|| drop(pump.take())));
    let busy = Worker::start(&timeline, &options).err().unwrap();
    assert!(busy.to_string().contains("another recorder"), "{busy}");
    log(&timeline, event, 400..500);
    // SAFETY: a descriptor of ours.
    unsafe { libc::close(pipe[1]) };
    wait(lasting);
    let totals = pump.unwrap().end().unwrap();
    assert_eq!((totals.missed, totals.left), (0, 0));
}

/// The numbers in an archive that is whole, and of how many processes they are.
fn numbers(file: &Path) -> (Vec<i64>, usize) {
    let archive = Archive::open(file).unwrap();
    assert!(archive.damage().is_empty());
    assert_eq!((archive.missed(), archive.repeated()), (0, 0));
    let events: Vec<_> = archive.events().collect();
    let mut numbers: Vec<_> = events.iter().map(|event| event.args[0]).collect();
    numbers.sort();
    let mut pids: Vec<_> = events.iter().map(|event| event.thread.pid).collect();
    pids.sort();
    pids.dedup();
    (numbers, pids.len())
}

#[test]
fn a_forked_child_leaves_the_recording_alone_and_its_events_are_in_it() {
    let name = Name::new("worker-forks");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    Process::start(forking, &[name.path(), file.to_str().unwrap()]).finish();
    assert_eq!(numbers(&file), ((0..500).collect(), 2));
    let child = folder.path().join("flight.tla.child");
    let (of_child, _) = numbers(&child);
    assert_eq!(of_child, (0..400).collect::<Vec<_>>());
}

/// Logs a hundred numbers from the given one on, has some of them written, and waits to be killed.
fn killed(arguments: &[String]) {
    let first: i64 = arguments[2].parse().unwrap();
    let (timeline, event) = begin(&arguments[0]);
    let worker = Worker::start(&timeline, &WorkerOptions::to_file(&arguments[1])).unwrap();
    log(&timeline, event, first..first + 60);
    assert!(worker.flush(LONG).unwrap());
    log(&timeline, event, first + 60..first + 100);
    say("logged");
    hear();
}

#[test]
fn a_killed_program_loses_nothing_if_it_starts_again() {
    let name = Name::new("worker-killed");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    let rounds = 10 * size() as i64;
    for round in 0..rounds {
        let first = (100 * round).to_string();
        let mut program = Process::start(killed, &[name.path(), file.to_str().unwrap(), &first]);
        program.line();
        program.kill();
        // What was flushed is there, and all of the runs before: the ring of the last one was
        // recorded to its end.
        let (found, _) = numbers(&file);
        let least = 100 * round + 60;
        assert!(found.len() as i64 >= least, "{} of {least}", found.len());
        assert_eq!(found, (0..found.len() as i64).collect::<Vec<_>>());
    }
    // Whoever records it next takes the rest.
    let at = name.attach();
    let worker = Worker::record(at, &WorkerOptions::to_file(&file)).unwrap();
    worker.stop().unwrap();
    assert_eq!(numbers(&file).0, (0..100 * rounds).collect::<Vec<_>>());
}
