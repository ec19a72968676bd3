//! What a process runs out of: descriptors that a daemon closes, handles, event numbers.

use timeline::{Error, EventId, Level, Order, Timeline};

use super::{Fork, fork, own_pid, reap};
use crate::support::{Name, Process, arguments, attach, checked, define, hear, say};

/// Closes all descriptors from 3 up, as daemons do, and goes on as if nothing had happened.
pub fn becomes_a_daemon(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let me = i64::from(own_pid());
    timeline.log(event, arguments(me, 0));
    // SAFETY: nothing of this process uses a descriptor from 3 up, except the library under test.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    assert_eq!(closed, 0);
    // The numbers are somebody else's now.
    let others: Vec<_> = (0..20)
        .map(|_| std::fs::File::open("/dev/null").expect("opened"))
        .collect();
    timeline.log(event, arguments(me, 1));
    std::thread::scope(|scope| {
        scope.spawn(|| timeline.log(event, arguments(me, 2)));
    });
    assert_eq!(define(&timeline), event);
    timeline.priority(Level::ALL).expect("set");
    let child = fork(Fork::Library, || {
        timeline.log(event, arguments(i64::from(own_pid()), 0));
        assert_eq!(define(&timeline), event);
    });
    reap(child);
    say(child);
    hear();
    timeline.log(event, arguments(me, 3));
    drop(timeline);
    for file in others {
        file.metadata()
            .expect("still open: nothing of ours was closed");
    }
}

#[test]
fn a_daemon_that_closes_every_descriptor_goes_on_logging_and_forks() {
    let name = Name::new("daemon");
    let opener = Timeline::with_size(name.path(), 256, 2048).expect("created");
    define(&opener);
    drop(opener);
    let mut process = Process::start(becomes_a_daemon, &[name.path()]);
    let pid = process.pid();
    let child: i64 = process.line().parse().expect("a pid");
    // Its lock is gone, but it is seen to live.
    let error = Timeline::with_size(name.path(), 256, 2048).err();
    let Some(Error::InUse { by, .. }) = error else {
        panic!("expected InUse, got {error:?}");
    };
    assert_eq!(by.iter().map(|u| u.pid).collect::<Vec<_>>(), [pid]);
    process.tell();
    process.finish();
    let attached = attach(name.path());
    let of = |who: i64| -> Vec<i64> {
        attached
            .events(Order::OldestFirst)
            .map(|e| checked(&e))
            .filter(|(w, _)| *w == who)
            .map(|(_, number)| number)
            .collect()
    };
    assert_eq!(of(pid.into()), [0, 1, 2, 3]);
    assert_eq!(of(child), [0]);
    assert_eq!(attached.info().dropped.total(), 0);
}

/// Takes the right to open one more file; the limit that there was.
fn open_no_more() -> libc::rlimit {
    use std::os::fd::AsRawFd;
    let lowest = std::fs::File::open("/dev/null").expect("opened");
    let mut before = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for a limit.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut before) };
    limit_files(libc::rlimit {
        rlim_cur: lowest.as_raw_fd() as u64,
        ..before
    });
    drop(lowest);
    assert!(std::fs::File::open("/dev/null").is_err());
    before
}

fn limit_files(limit: libc::rlimit) {
    // SAFETY: a valid limit.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

/// Has a child that logs first when it can open nothing any more.
pub fn has_a_child_without_files(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    reap(fork(Fork::Library, || {
        let before = open_no_more();
        timeline.log(event, arguments(i64::from(own_pid()), 0));
        limit_files(before);
        say(own_pid());
        hear();
        timeline.log(event, arguments(i64::from(own_pid()), 1));
    }));
}

#[test]
fn a_child_that_has_no_descriptor_left_lives_although_its_start_is_not_known() {
    let name = Name::new("exhausted");
    define(&Timeline::with_size(name.path(), 256, 2048).expect("created"));
    let mut process = Process::start(has_a_child_without_files, &[name.path()]);
    let child: u32 = process.line().parse().expect("a pid");
    let users = timeline::users(name.path()).expect("read");
    assert!(users.iter().any(|user| user.pid == child), "{users:?}");
    process.tell();
    process.finish();
    let info = attach(name.path()).info();
    assert_eq!((info.entries_written, info.dropped.total()), (2, 0));
}

#[test]
fn events_with_a_number_out_of_range_are_counted_and_others_are_not_logged() {
    let name = Name::new("range");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let attached = attach(name.path());
    let capacity = attached.info().definition_capacity;
    timeline.log(EventId::NEVER, [1]);
    timeline.log(EventId(1), [1]);
    timeline.log(EventId(capacity), [1]);
    assert_eq!(attached.info().dropped.total(), 0);
    for (times, id) in (1..).zip([capacity + 1, 1 << 20, u32::MAX]) {
        timeline.log(EventId(id), [1, 2, 3, 4]);
        assert!(!timeline.enabled(EventId(id)));
        assert_eq!(attached.info().dropped.bad_event, times);
    }
    assert_eq!(attached.info().entries_written, 0);
}

#[test]
fn a_process_opens_no_more_than_sixty_four_and_each_of_them_works() {
    // In a process of its own, because other tests of this one have timelines open too.
    let name = Name::new("open");
    let opener = Timeline::with_size(name.path(), 4096, 2048).expect("created");
    let event = define(&opener);
    reap(fork(Fork::Library, || {
        let mut open = Vec::new();
        let refused = loop {
            match Timeline::open(name.path()) {
                Ok(timeline) => open.push(timeline),
                Err(error) => break error,
            }
        };
        let right = matches!(refused, Error::TooManyOpen { limit: 64 });
        for (i, timeline) in (0..).zip(&open) {
            timeline.log(event, arguments(7, i));
        }
        open.pop();
        let again = Timeline::open(name.path()).is_ok();
        let create = Timeline::with_size(name.beside(".none"), 256, 2048).is_ok();
        let ok = right && again && create && open.len() >= 32;
        let _ = timeline::unlink(name.beside(".none"));
        // SAFETY: ends the process.
        unsafe { libc::_exit(if ok { 0 } else { 1 }) };
    }));
    let attached = attach(name.path());
    let events: Vec<_> = attached.events(Order::OldestFirst).collect();
    assert!(events.len() >= 32);
    for (event, i) in events.iter().zip(0..) {
        assert_eq!(checked(event), (7, i));
    }
}
