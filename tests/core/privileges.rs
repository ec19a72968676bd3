//! Tests daemons that give their rights away.
//! They may not open the timeline again, and go on with what they have.

use timeline::{Level, Order, Priority, Timeline};

use crate::support::{Name, Process, arguments, attach, checked, define, say};

/// From here on, this process may not open the timeline: as root it becomes nobody; anybody else
/// closes the file to himself.
fn give_up(path: &str) {
    // SAFETY: geteuid only reads; setresuid changes only whose process this is.
    let became = unsafe {
        match libc::geteuid() {
            0 => libc::setresuid(65534, 65534, 65534) == 0,
            _ => std::fs::set_permissions(
                format!("/dev/shm{path}"),
                std::os::unix::fs::PermissionsExt::from_mode(0o0),
            )
            .is_ok(),
        }
    };
    assert!(became);
    assert!(Timeline::open(path).is_err(), "still open to us");
}

const CHILDREN: i64 = 3;
const EVENTS: i64 = 1000;

/// Creates a timeline, forks, and in each child becomes nobody before logging and defining.
fn gives_rights_away(given: &[String]) {
    let timeline = Timeline::with_size(&given[0], 1 << 14, 4096).expect("created");
    let event = define(&timeline);
    let children: Vec<_> = (0..CHILDREN)
        .map(|who| {
            // SAFETY: this process has one thread, so the child may do anything.
            let pid = unsafe { libc::fork() };
            assert!(pid >= 0);
            if pid == 0 {
                crate::support::deadline();
                give_up(&given[0]);
                logs_and_defines(&timeline, event, who);
                // SAFETY: ends the child, which has nothing to clean up.
                unsafe { libc::_exit(0) };
            }
            pid
        })
        .collect();
    for pid in children {
        let mut status = 0;
        // SAFETY: `status` is a valid place, `pid` a child of ours.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        assert_eq!(status, 0, "a child failed");
    }
    // And so does the creator itself.
    give_up(&given[0]);
    logs_and_defines(&timeline, event, CHILDREN);
    say("done");
}

/// From two threads, which both define: locks of the process do not keep them apart.
fn logs_and_defines(timeline: &Timeline, event: timeline::EventId, who: i64) {
    let define_many = |thread: i64| {
        for i in 0..8 {
            let message = format!("event {i} of thread {thread} of $who");
            timeline
                .define("mine", Priority::Info, &message)
                .expect("defined");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| define_many(1));
        define_many(2);
    });
    (0..EVENTS).for_each(|i| timeline.log(event, arguments(who, i)));
    timeline.priority(Level::ALL).expect("set");
}

#[test]
fn who_gave_his_rights_away_goes_on_logging_and_defining() {
    let name = Name::new("nobody");
    let mut process = Process::start(gives_rights_away, &[name.path()]);
    assert_eq!(process.line(), "done");
    process.finish();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(name.file(), open).expect("opened again");
    let attached = attach(name.path());
    let info = attached.info();
    assert_eq!(info.dropped.total(), 0, "{:?}", info.dropped);
    let mut next = [0; CHILDREN as usize + 1];
    let mut pids = std::collections::HashSet::new();
    for event in attached.events(Order::OldestFirst) {
        let (who, number) = checked(&event);
        assert_eq!(number, next[who as usize], "of {who}");
        next[who as usize] += 1;
        pids.insert(attached.thread(&event).expect("known").pid);
    }
    assert_eq!(next, [EVENTS; CHILDREN as usize + 1]);
    assert_eq!(pids.len(), next.len(), "each process under its own number");
    // One common event, and eight of each of two threads, the same in all processes.
    assert_eq!(info.definitions, 1 + 16);
}
