//! Tests forked children that log without an exec.
//! They log as themselves, and do not touch their parent's lanes.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use timeline::{Attached, Event, Order, Timeline};

use super::{Fork, fork, own_pid, reap};
use crate::allocator;
use crate::support::{Name, Process, arguments, attach, checked, define, hear, naive, rseq, say};

fn events(attached: &Attached) -> Vec<Event> {
    attached.events(Order::OldestFirst).collect()
}

/// The numbers that `who` logged, in order; each must have been logged by the thread `tid` of
/// `pid`.
fn numbers(attached: &Attached, who: i64, tid: u32, pid: u32) -> Vec<i64> {
    let mine = events(attached).into_iter().filter(|e| checked(e).0 == who);
    mine.map(|event| {
        let thread = attached.thread(&event).expect("its thread is known");
        assert_eq!((event.tid, thread.tid, thread.pid), (tid, tid, pid));
        event.args[1]
    })
    .collect()
}

fn count_up(timeline: &Timeline, event: timeline::EventId, who: i64, range: std::ops::Range<i64>) {
    range.for_each(|i| timeline.log(event, arguments(who, i)));
}

/// Logs, forks, and logs on in parent, child and grandchild at once.
pub fn forks_plainly(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    count_up(&timeline, event, i64::from(own_pid()), 0..20);
    let child = fork(Fork::Library, || {
        // SAFETY: PR_SET_NAME takes a NUL-terminated name.
        unsafe { libc::prctl(libc::PR_SET_NAME, c"the-child".as_ptr()) };
        let again = define(&timeline);
        assert_eq!(again, event);
        count_up(&timeline, again, i64::from(own_pid()), 0..100);
        let grandchild = fork(Fork::Library, || {
            count_up(&timeline, event, i64::from(own_pid()), 0..100);
            say(format!("grandchild {}", own_pid()));
            hear();
        });
        count_up(&timeline, event, i64::from(own_pid()), 100..200);
        reap(grandchild);
    });
    say(format!("child {child}"));
    count_up(&timeline, event, i64::from(own_pid()), 20..200);
    reap(child);
}

#[test]
fn parent_child_and_grandchild_log_as_themselves_at_the_same_time() {
    let name = Name::new("fork");
    let opener = Timeline::with_size(name.path(), 4096, 2048).expect("created");
    define(&opener);
    let mut process = Process::start(forks_plainly, &[name.path()]);
    let parent = process.pid();
    let mut said: HashMap<String, u32> = HashMap::new();
    while said.len() < 2 {
        let line = process.line();
        let (who, pid) = line.split_once(' ').expect("who and pid");
        said.insert(who.to_owned(), pid.parse().expect("a number"));
    }
    let (child, grandchild) = (said["child"], said["grandchild"]);
    let attached = attach(name.path());
    // The grandchild waits for our word, and the others for it: all three are writers now.
    let writers = attached.info().writers;
    for pid in [parent, child, grandchild] {
        let found = writers.iter().filter(|w| w.pid == pid && w.alive).count();
        assert_eq!(found, 1, "{pid} in {writers:?}");
    }
    process.tell();
    process.finish();

    for (pid, count) in [(parent, 200), (child, 200), (grandchild, 100)] {
        let expected: Vec<i64> = (0..count).collect();
        assert_eq!(numbers(&attached, pid.into(), pid, pid), expected, "{pid}");
    }
    let child_event = events(&attached)
        .into_iter()
        .find(|e| e.tid == child)
        .expect("an event of the child");
    let thread = attached.thread(&child_event).expect("known");
    assert_eq!(thread.name.as_deref(), Some("the-child"));
    // All wrote through the lanes of their CPUs, or each through one of its own.
    let mut lanes: HashMap<u64, HashSet<u32>> = HashMap::new();
    for found in naive::entries(&name.file()) {
        if rseq() {
            assert_eq!(found.lane, u64::from(found.core));
        }
        lanes.entry(found.lane).or_default().insert(found.tid);
    }
    if !rseq() {
        assert_eq!(lanes.len(), 3, "{lanes:?}");
        assert!(lanes.values().all(|tids| tids.len() == 1), "{lanes:?}");
    }
    assert_eq!(attached.info().entries_written, 500);
    assert_eq!(attached.info().dropped.total(), 0);
}

/// Forks again and again while other threads log, define and save; each child does the same.
pub fn forks_while_threads_log(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for who in 0..2 {
            let (timeline, done) = (&timeline, &done);
            scope.spawn(move || {
                for i in 0.. {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    timeline.log(event, arguments(who, i));
                    if i % 64 == who * 32 {
                        assert_eq!(define(timeline), event);
                        timeline.priority(timeline::Level::ALL).expect("set");
                    }
                }
            });
        }
        for round in 0..60 {
            let child = fork(Fork::Library, || {
                let again = define(&timeline);
                let own = format!("round $number {round}");
                let own = timeline.define("child", timeline::Priority::Info, &own);
                timeline.log(again, arguments(1000 + round, 0));
                let own = own.expect("defined");
                let file = format!("{}/{round}.timeline", given[1]);
                // The others may turn the ring over before it is saved.
                loop {
                    timeline.log(own, [round]);
                    timeline.save(&file).expect("saved");
                    let saved = Attached::open(&file).expect("saved");
                    if saved.events(Order::NewestFirst).any(|e| e.id == own) {
                        break;
                    }
                }
            });
            reap(child);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn children_forked_while_other_threads_log_and_define_do_not_hang() {
    let name = Name::new("forks");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain name");
    let opener = Timeline::with_size(name.path(), 16384, 8192).expect("created");
    define(&opener);
    Process::start(forks_while_threads_log, &[name.path(), path]).finish();
    let attached = attach(name.path());
    assert_eq!(attached.info().definitions, 61);
    for round in 0..60 {
        let snapshot = Attached::open(folder.path().join(format!("{round}.timeline")))
            .expect("the child saved it");
        let events = events(&snapshot);
        let mine = |e: &&Event| {
            snapshot
                .definition(e.id)
                .is_some_and(|d| d.category == "child")
        };
        let own: Vec<i64> = events.iter().filter(mine).map(|e| e.args[0]).collect();
        assert!(own.contains(&round), "round {round}: {own:?}");
    }
    assert_eq!(attached.info().dropped.total(), 0);
}

/// Forks behind the C library's back, from a process of several threads.
pub fn forks_with_raw_calls(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let round = AtomicI64::new(0);
    count_up(&timeline, event, i64::from(own_pid()), 0..5);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..100_000 {
                // A thousand while each child is forked: together they fit into the ring.
                while round.load(Ordering::Relaxed) * 1000 <= i {
                    std::thread::yield_now();
                }
                timeline.log(event, arguments(0, i));
            }
        });
        for i in 0..100 {
            round.store(i + 1, Ordering::Relaxed);
            // Only logging: memory may not be allocated behind the C library's back.
            let child = fork(Fork::Raw, || {
                count_up(&timeline, event, i64::from(own_pid()), 0..3);
                let grandchild = fork(Fork::Raw, || {
                    count_up(&timeline, event, i64::from(own_pid()), 0..3);
                });
                reap(grandchild);
            });
            reap(child);
            say(child);
        }
    });
    count_up(&timeline, event, i64::from(own_pid()), 5..10);
}

#[test]
fn children_forked_behind_the_c_library_log_as_themselves_too() {
    let name = Name::new("raw");
    let opener = Timeline::with_size(name.path(), 1 << 18, 2048).expect("created");
    define(&opener);
    let mut process = Process::start(forks_with_raw_calls, &[name.path()]);
    let parent = process.pid();
    let children: Vec<u32> = (0..100)
        .map(|_| process.line().parse().expect("a pid"))
        .collect();
    process.finish();
    let attached = attach(name.path());
    let mut seen: HashMap<i64, Vec<i64>> = HashMap::new();
    for event in events(&attached) {
        let (who, number) = checked(&event);
        if who != 0 {
            assert_eq!(i64::from(event.tid), who, "{event:?}");
            seen.entry(who).or_default().push(number);
        }
    }
    assert_eq!(seen.remove(&parent.into()), Some((0..10).collect()));
    for child in children {
        assert_eq!(seen.remove(&child.into()), Some(vec![0, 1, 2]), "{child}");
    }
    assert_eq!(seen.len(), 100, "as many grandchildren");
    assert!(seen.into_values().all(|numbers| numbers == [0, 1, 2]));
    assert_eq!(attached.info().dropped.total(), 0);
}

/// Forks thousands of children that each log once.
pub fn forks_many(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    for round in 0..2000 {
        let child = fork(Fork::Library, || {
            timeline.log(event, arguments(i64::from(own_pid()), round));
        });
        reap(child);
    }
}

#[test]
fn two_thousand_short_children_use_up_no_places_and_no_lanes() {
    let name = Name::new("many");
    // It remembers as many threads as there are sixteens of entries.
    let opener = Timeline::with_size(name.path(), 65_536, 2048).expect("created");
    define(&opener);
    Process::start(forks_many, &[name.path()]).finish();
    let attached = attach(name.path());
    let events = events(&attached);
    let rounds: Vec<i64> = events.iter().map(|e| checked(e).1).collect();
    assert_eq!(rounds, (0..2000).collect::<Vec<_>>());
    for event in &events {
        let thread = attached.thread(event).expect("its process is known");
        assert_eq!(
            [event.tid, thread.tid, thread.pid].map(i64::from),
            [event.args[0]; 3]
        );
    }
    assert_eq!(attached.forgotten(), 0);
    let info = attached.info();
    assert_eq!(info.dropped.total(), 0);
    assert!(
        info.thread_lanes_in_use <= 2,
        "{} lanes",
        info.thread_lanes_in_use
    );
    // The last ones that died are listed, and no more.
    assert!(info.writers.len() <= 9, "{:?}", info.writers);
}

/// Logs, and then becomes another program.
pub fn executes(given: &[String]) {
    use std::os::unix::process::CommandExt;
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    timeline.log(event, arguments(1, 0));
    timeline
        .control()
        .priority(timeline::Level::ALL)
        .expect("set");
    let error = std::process::Command::new("/bin/sh")
        .args(["-c", "ls -l /proc/self/fd; echo; read word"])
        .env_remove("TIMELINE_TEST_ROLE")
        .exec();
    panic!("{error}");
}

#[test]
fn a_program_that_is_executed_inherits_nothing() {
    let name = Name::new("exec");
    let opener = Timeline::with_size(name.path(), 256, 2048).expect("created");
    define(&opener);
    drop(opener);
    let mut process = Process::start(executes, &[name.path()]);
    let mut descriptors = Vec::new();
    loop {
        match process.line() {
            line if line.is_empty() => break,
            line => descriptors.push(line),
        }
    }
    assert!(descriptors.len() >= 4, "{descriptors:?}");
    let ours = descriptors.iter().find(|d| d.contains(name.path()));
    assert_eq!(ours, None);
    // It runs under the same pid, but it does not write any more.
    assert_eq!(timeline::users(name.path()).expect("attached"), []);
    Timeline::with_size(name.path(), 256, 2048).expect("nobody uses it");
    process.tell();
    process.finish();
}

/// Where locks are: while defining (docs/format.md).
const DEFINE: i64 = 1 << 62;

/// Whether somebody holds the define lock of that file.
fn is_defining(file: &std::fs::File) -> bool {
    use std::os::fd::AsRawFd;
    // SAFETY: an flock of zeros is one, and valid for the call, which changes nothing else.
    unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        (lock.l_type, lock.l_start, lock.l_len) = (libc::F_WRLCK as i16, DEFINE, 1);
        assert_eq!(
            libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut lock),
            0
        );
        lock.l_type != libc::F_UNLCK as i16
    }
}

static FILE: std::sync::OnceLock<std::fs::File> = std::sync::OnceLock::new();
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Stays where it is for good, if that is in the middle of a definition, but not where another
/// thread of the process cannot fork.
extern "C" fn stops_in_a_definition(_: libc::c_int) {
    if !allocator::interrupted() && is_defining(FILE.get().expect("open")) {
        STOPPED.store(true, Ordering::SeqCst);
        loop {
            // SAFETY: waits, and changes nothing.
            unsafe { libc::pause() };
        }
    }
}

/// Forks while another of its threads holds the define lock, which it will never give back, and
/// waits to be killed. The child was forked as it was told; it logs if that was behind the C
/// library's back, and then lives on.
pub fn forks_in_a_definition(given: &[String]) {
    use std::os::unix::thread::JoinHandleExt;
    let timeline: &Timeline = Box::leak(Box::new(Timeline::open(&given[0]).expect("joined")));
    let event = define(timeline);
    say("begun");
    let file = std::fs::File::open(format!("/dev/shm{}", given[0]));
    FILE.set(file.expect("opened")).expect("not yet set");
    let defines = std::thread::spawn(move || {
        loop {
            define(timeline);
        }
    });
    // SAFETY: the handler calls only what a handler may, and the thread runs for as long as this
    // process.
    unsafe { libc::signal(libc::SIGUSR1, stops_in_a_definition as *const () as usize) };
    while !STOPPED.load(Ordering::SeqCst) {
        // SAFETY: as above.
        unsafe { libc::pthread_kill(defines.as_pthread_t(), libc::SIGUSR1) };
        std::thread::yield_now();
    }
    let how = if given[1] == "raw" {
        Fork::Raw
    } else {
        Fork::Library
    };
    let child = fork(how, || {
        // Nothing that allocates, because another thread may have been doing that.
        if given[1] == "raw" {
            timeline.log(event, arguments(1, 1));
        }
        loop {
            // SAFETY: waits until it is killed.
            unsafe { libc::pause() };
        }
    });
    say(child);
    reap(child);
}

#[test]
fn a_child_forked_during_a_definition_does_not_keep_its_lock() {
    for how in ["library", "raw"] {
        let name = Name::new("orphan");
        let opener = Timeline::with_size(name.path(), 4096, 4096).expect("created");
        let mut process = Process::start(forks_in_a_definition, &[name.path(), how]);
        assert_eq!(process.line(), "begun");
        let orphan: libc::pid_t = process.line().parse().expect("a pid");
        let file = std::fs::File::open(name.file()).expect("opened");
        assert!(is_defining(&file), "its parent lives, and is at it");
        while how == "raw" && events(&attach(name.path())).is_empty() {
            std::thread::yield_now();
        }
        process.kill();
        let defined = opener.define("core", timeline::Priority::Info, "once more");
        let lives = opener.define("core", timeline::Priority::Info, "and again");
        // SAFETY: it is the child of ours, and nobody else has its number while it runs.
        assert_eq!(unsafe { libc::kill(orphan, libc::SIGKILL) }, 0);
        defined.unwrap_or_else(|e| panic!("{how}: {e}"));
        lives.unwrap_or_else(|e| panic!("{how}: {e}"));
    }
}
