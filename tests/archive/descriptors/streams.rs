//! Closed standard streams: nothing that the library opens has their numbers.

use std::collections::HashMap;

use timeline::{Attached, Control, EventId, FollowFrom, Level, Order, Timeline};

use super::all_of;
use crate::support::user::are_root;
use crate::support::{Name, Process, arguments, define};

/// What the host prints: no header of a timeline begins so.
const PRINTED: &[u8] = b"printed by the host, who knows nothing of all this\n";

/// Writes to all standard streams; whether that went anywhere.
fn print() -> bool {
    (0..3).any(|stream| {
        // SAFETY: the bytes are there; the descriptor is whatever it is.
        unsafe { libc::write(stream, PRINTED.as_ptr().cast(), PRINTED.len()) >= 0 }
    })
}

/// Closes the streams of these numbers.
fn close_streams(which: &str) {
    for digit in which.bytes() {
        // SAFETY: descriptors that nothing of this process uses.
        unsafe { libc::close(i32::from(digit - b'0')) };
    }
}

/// Allows for so many descriptors.
fn limit_descriptors(count: u64) {
    let limit = libc::rlimit {
        rlim_cur: count,
        rlim_max: count,
    };
    // SAFETY: a limit on this process alone.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
    assert_eq!(set, 0);
}

/// Has the parent look at each system call from now on, below the root that is given.
fn is_traced(root: Option<&String>) {
    // SAFETY: changes the root of this process, and asks to be traced; both touch nothing else.
    unsafe {
        if let Some(root) = root {
            let root = std::ffi::CString::new(root.as_str()).expect("a plain name");
            assert_eq!(libc::chroot(root.as_ptr()), 0);
            assert_eq!(libc::chdir(c"/".as_ptr()), 0);
        }
        assert_eq!(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0), 0);
        libc::raise(libc::SIGSTOP);
    }
}

/// Logs from two threads and from a child.
fn log_elsewhere(timeline: &Timeline, event: EventId, calm: &(impl Fn() + Sync)) {
    std::thread::scope(|scope| {
        for who in 2..4 {
            scope.spawn(move || {
                timeline.log(event, arguments(who, 0));
                calm();
            });
        }
    });
    // SAFETY: the other threads are gone, so the child may do anything.
    let child = unsafe { libc::fork() };
    if child == 0 {
        timeline.log(event, arguments(4, 0));
        calm();
        // SAFETY: ends the child, which has nothing to clean up.
        unsafe { libc::_exit(0) };
    }
    let mut status = 1;
    // SAFETY: `status` is a valid place, and the child ours.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "the child");
}

/// Does everything that the library can, after it has closed the streams it is told to. Ends with
/// status 0 if nothing went wrong: it cannot print.
pub fn uses_everything(given: &[String]) {
    let [path, folder, which, limit, root] = given else {
        panic!("five arguments");
    };
    let bare = root == "bare";
    let limit: u64 = limit.parse().expect("a number");
    limit_descriptors(limit);
    close_streams(which);
    is_traced(bare.then_some(folder));
    let folder = if bare { "." } else { folder };
    let quiet = which == "012";
    let calm = || assert!(!(quiet && print()), "it went somewhere");
    // And the host closes them again, so that whatever comes next finds them closed.
    let again = || {
        calm();
        close_streams(which);
    };
    let timeline = Timeline::with_size(path, 1024, 8192).expect("created");
    if !bare {
        let kept = all_of(format!("/dev/shm{path}").as_ref());
        let lowest = *kept.iter().min().expect("kept") as u64;
        // Two, from 512 on or else as high as can be.
        assert_eq!(kept.len(), 2);
        assert_eq!(lowest, limit.min(514) - 2, "{limit}");
    }
    again();
    let event = define(&timeline);
    again();
    timeline.log(event, arguments(1, 0));
    log_elsewhere(&timeline, event, &calm);
    again();
    timeline.priority(Level::ALL).expect("set");
    let control = Control::open(path).expect("attached");
    control.priority(Level::ALL).expect("set");
    again();
    let moment = std::time::Duration::from_millis(1);
    drop(
        timeline
            .sample(Level::ALL, moment, 2 * moment)
            .expect("begun"),
    );
    again();
    timeline.save(format!("{folder}/saved")).expect("saved");
    let attached = Attached::open(path).expect("attached");
    let mut all = Vec::new();
    attached.follow(FollowFrom::Oldest).poll(&mut all);
    assert_eq!(all.len(), 4);
    assert_eq!(attached.info().definitions, 1);
    assert_eq!(timeline::users(path).expect("seen").len(), 1);
    again();
    if !bare {
        let listed = timeline::list().expect("listed");
        assert!(listed.iter().any(|found| found.name == *path));
    }
    record(&attached, folder);
    again();
    drop(Timeline::open(path).expect("joined"));
    drop((timeline, control));
    drop(Timeline::with_size(path, 1024, 8192).expect("created anew"));
    timeline::unlink(path).expect("removed");
    again();
}

fn record(attached: &Attached, folder: &str) {
    use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};
    for path in [format!("{folder}/one.tla"), format!("{folder}/many/")] {
        let mut output = ArchiveOutput::open(&path, Keeping::default()).expect("opened");
        let mut recorder = Recorder::new(attached, &mut output, Form::Plain).expect("begun");
        while recorder.step() {}
        recorder.finish();
        drop(output);
        let archive = Archive::open(&path).expect("opened");
        assert_eq!(archive.events_by_time(Order::OldestFirst).count(), 4);
        assert!(!archive.is_recorded());
    }
}

/// System calls that return a new descriptor.
fn makes_a_descriptor(call: &libc::__c_anonymous_ptrace_syscall_info_entry) -> bool {
    let number = call.nr as libc::c_long;
    let duplicates = [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].map(|command| command as u64);
    #[cfg(target_arch = "x86_64")]
    let old = [
        libc::SYS_open,
        libc::SYS_creat,
        libc::SYS_dup2,
        libc::SYS_epoll_create,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let old: [libc::c_long; 0] = [];
    let new = [
        libc::SYS_openat,
        libc::SYS_openat2,
        libc::SYS_dup,
        libc::SYS_dup3,
        libc::SYS_socket,
        libc::SYS_epoll_create1,
        libc::SYS_eventfd2,
        libc::SYS_memfd_create,
        libc::SYS_inotify_init1,
        libc::SYS_pidfd_open,
    ];
    old.contains(&number)
        || new.contains(&number)
        || number == libc::SYS_fcntl && duplicates.contains(&call.args[1])
}

/// Looks at a descriptor of a standard stream that a stopped thread has just got: nothing can be
/// written through it.
fn leads_nowhere(thread: i32, number: i64) -> Result<(), String> {
    let link = std::fs::read_link(format!("/proc/{thread}/fd/{number}")).expect("there");
    let info = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{number}")).expect("there");
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = i32::from_str_radix(flags.expect("flags").trim(), 8).expect("octal");
    match link.to_str() {
        Some("/dev/null") if flags & libc::O_PATH != 0 => Ok(()),
        Some("anon_inode:[eventpoll]") => Ok(()),
        _ => Err(format!(
            "descriptor {number} is {}, flags {flags:o}",
            link.display()
        )),
    }
}

/// Lets a child that has stopped itself go on, and looks at all descriptors that it and its own
/// children get. What it ended with, and what was wrong.
fn watch(child: i32) -> (i32, Vec<String>) {
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_EXITKILL;
    let (mut entered, mut wrong, mut ended) = (HashMap::new(), Vec::new(), 0);
    let mut known = std::collections::HashSet::from([child]);
    loop {
        let mut status = 0;
        // SAFETY: waits for tracees of this thread; `status` is a valid place.
        let thread = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        if thread < 0 {
            return (ended, wrong);
        }
        if !libc::WIFSTOPPED(status) {
            if thread == child {
                ended = status;
            }
            continue;
        }
        let mut signal = libc::WSTOPSIG(status);
        if known.insert(thread) || signal == libc::SIGTRAP || signal == libc::SIGSTOP {
            // It begins, or has begun another; or it is the stop that all began with.
            signal = 0;
        } else if signal == libc::SIGTRAP | 0x80 {
            signal = 0;
            if let Err(what) = look(thread, &mut entered) {
                wrong.push(what);
            }
        }
        // SAFETY: the thread is stopped, and goes on.
        unsafe {
            libc::ptrace(libc::PTRACE_SETOPTIONS, thread, 0, options);
            libc::ptrace(libc::PTRACE_SYSCALL, thread, 0, signal);
        }
    }
}

/// Looks at a thread that is stopped at the beginning or at the end of a system call.
fn look(thread: i32, entered: &mut HashMap<i32, bool>) -> Result<(), String> {
    // SAFETY: the thread is stopped; the kernel fills in as much as there is room for, and says
    // what it is.
    unsafe {
        let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
        let size = size_of_val(&info);
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, thread, size, &mut info);
        if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
            entered.insert(thread, makes_a_descriptor(&info.u.entry));
            return Ok(());
        }
        let made =
            info.op == libc::PTRACE_SYSCALL_INFO_EXIT && entered.remove(&thread) == Some(true);
        match info.u.exit.sval {
            number @ 0..3 if made => leads_nowhere(thread, number),
            _ => Ok(()),
        }
    }
}

fn with_closed(which: &str, limit: u64, root: &str) {
    let name = Name::new("closed");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("a plain name");
    let path = if root == "bare" {
        "./ring.timeline"
    } else {
        name.path()
    };
    let child = Process::start(
        uses_everything,
        &[path, folder, which, &limit.to_string(), root],
    );
    let (status, wrong) = watch(child.pid() as i32);
    // It was waited for.
    std::mem::forget(child);
    assert!(wrong.is_empty(), "{which} closed: {wrong:#?}");
    assert_eq!(status, 0, "{which} closed, {limit} descriptors");
}

#[test]
fn no_descriptor_is_that_of_a_standard_stream_not_for_a_moment() {
    for which in ["0", "1", "2", "02", "12", "012"] {
        with_closed(which, 256, "whole");
    }
    for limit in [1024, 514, 513, 512, 511, 32] {
        with_closed("012", limit, "whole");
    }
}

#[test]
fn nor_where_there_are_no_devices() {
    if !are_root() {
        return;
    }
    with_closed("012", 256, "bare");
}
