//! Tests threads that the kernel forbids to read the time stamp counter, or to make system calls.

use timeline::{Control, Order, Timeline};

use crate::support::{Name, Process, arguments, attach, checked, define, say};

/// Forbids the calling thread to read its clocks, or allows it again.
fn forbid(is_forbidden: bool) {
    let mode = match is_forbidden {
        true => libc::PR_TSC_SIGSEGV,
        false => libc::PR_TSC_ENABLE,
    };
    // SAFETY: sets a mode of the calling thread.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_TSC, mode) }, 0);
}

/// What does not log reads no clock without asking.
fn is_forbidden_the_clock(given: &[String]) {
    let path = given[0].as_str();
    let timeline = Timeline::open(path).expect("joined");
    let (event, attached) = (define(&timeline), attach(path));
    let copy = format!("{path}.saved");
    timeline.save(&copy).expect("saved");
    timeline.log(event, arguments(1, 0));
    forbid(true);
    let refused = [
        Timeline::open(path).map(drop),
        Timeline::with_size(format!("{path}.new"), 256, 2048).map(drop),
        Control::open(path).map(drop),
        timeline::Attached::open(path).map(drop),
        timeline.priority(timeline::Level::ALL),
        timeline
            .define("app", timeline::Priority::Info, "another")
            .map(drop),
    ];
    for result in refused {
        let error = result.expect_err("the clock cannot be read").to_string();
        assert!(error.contains("PR_SET_TSC"), "{error}");
    }
    // A snapshot has no clock that runs.
    assert_eq!(attach(&copy).events(Order::OldestFirst).count(), 0);
    // New threads inherit it: their events are dropped, and they end.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| (0..10).for_each(|i| timeline.log(event, arguments(2, i))));
        thread.join().expect("ended");
    });
    forbid(false);
    // A thread that logged may end, and a handle be closed, while it is forbidden.
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            timeline.log(event, arguments(3, 0));
            forbid(true);
        });
        thread.join().expect("ended");
    });
    let dropped = attached.info().dropped;
    assert_eq!((dropped.not_joined, dropped.total()), (10, 10));
    timeline.log(event, arguments(1, 1));
    let logged = attached
        .events(Order::OldestFirst)
        .map(|event| checked(&event));
    assert_eq!(logged.collect::<Vec<_>>(), [(1, 0), (3, 0), (1, 1)]);
    timeline::unlink(&copy).expect("removed");
    forbid(true);
    drop(timeline);
    say("closed");
    // The standard library reads a clock at no place from here on.
}

#[cfg(target_arch = "x86_64")]
#[test]
fn where_the_clock_is_forbidden_opening_fails_and_first_events_are_dropped() {
    let name = Name::new("tsc");
    let opener = Timeline::with_size(name.path(), 1024, 2048).expect("created");
    define(&opener);
    let mut child = Process::start(is_forbidden_the_clock, &[name.path()]);
    assert_eq!(child.line(), "closed");
    child.finish();
}

/// Ends the thread, as the only system calls of strict mode allow.
fn exit(status: i32) -> ! {
    // SAFETY: ends the process, which has one thread.
    unsafe { libc::syscall(libc::SYS_exit, status) };
    unreachable!("it has ended")
}

/// Enters seccomp's strict mode in a forked child, with events switched off.
fn is_strict(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let child = crate::fork::fork_on(crate::fork::Fork::Library);
    if child == 0 {
        timeline.log(event, arguments(1, 0));
        timeline.priority(timeline::Level::NONE).expect("set");
        // SAFETY: from here on the process may only read, write and exit.
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT) };
        (0..10_000).for_each(|i| timeline.log(event, arguments(1, i)));
        exit(i32::from(timeline.enabled(event)));
    }
    crate::fork::reap(child);
}

#[test]
fn events_that_are_switched_off_are_safe_in_strict_mode() {
    let name = Name::new("strict");
    let opener = Timeline::with_size(name.path(), 1024, 2048).expect("created");
    define(&opener);
    Process::start(is_strict, &[name.path()]).finish();
    assert_eq!(attach(name.path()).info().entries_written, 1);
}

/// Logs in a forked child whose filter kills at any system call but its last.
fn is_filtered(given: &[String]) {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let child = crate::fork::fork_on(crate::fork::Fork::Library);
    if child == 0 {
        timeline.log(event, arguments(1, 0));
        let step = |code: u32, jf, k| libc::sock_filter {
            code: code as u16,
            jt: 0,
            jf,
            k,
        };
        let mut steps = [
            step(BPF_LD | BPF_W | BPF_ABS, 0, 0),
            step(BPF_JMP | BPF_JEQ | BPF_K, 1, libc::SYS_exit as u32),
            step(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_ALLOW),
            step(BPF_RET | BPF_K, 0, libc::SECCOMP_RET_KILL_PROCESS),
        ];
        let program = libc::sock_fprog {
            len: steps.len() as u16,
            filter: steps.as_mut_ptr(),
        };
        // SAFETY: the program is sound, and lives through the call.
        let set = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            )
        };
        // Many laps of the ring.
        (1..10_000).for_each(|i| timeline.log(event, arguments(1, i)));
        exit(set);
    }
    crate::fork::reap(child);
}

#[test]
fn a_thread_that_has_logged_makes_no_system_call() {
    let name = Name::new("filter");
    let opener = Timeline::with_size(name.path(), 1024, 2048).expect("created");
    define(&opener);
    Process::start(is_filtered, &[name.path()]).finish();
    let info = attach(name.path()).info();
    assert_eq!((info.entries_written, info.dropped.total()), (10_000, 0));
}
