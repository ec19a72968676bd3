//! Hosts that close descriptors. Of standard streams: no descriptor of the library has the number of one, not for a
//! moment. Of a reader: it never reads, and never closes, what the host opens under that number.

mod harness;

use std::collections::HashMap;
use std::path::Path;

use harness::user::{are_root, become_nobody};
use harness::{Name, Process, arguments, attach, checked, define, hear, say};
use timeline::{Attached, Control, Error, From, Level, Order, Timeline};

harness::roles!(
    uses_everything,
    logs_as_nobody,
    closes_what_it_reads,
    closes_what_it_samples
);

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

/// The descriptors that lead to a file.
fn all_of(file: &Path) -> Vec<i32> {
    let all = std::fs::read_dir("/proc/self/fd").expect("listed");
    let numbers = all.flatten().filter_map(|entry| {
        let leads_there = std::fs::read_link(entry.path()).is_ok_and(|link| link == file);
        leads_there.then(|| entry.file_name().to_str()?.parse().ok())?
    });
    numbers.collect()
}

/// Does everything that the library can, after it has closed the streams it is told to. Ends with status 0 if
/// nothing went wrong: it cannot print.
pub fn uses_everything(given: &[String]) {
    let [path, folder, which, limit, root] = given else {
        panic!("five arguments");
    };
    let bare = root == "bare";
    let limit: u64 = limit.parse().expect("a number");
    limit_descriptors(limit);
    close_streams(which);
    // SAFETY: changes the root of this process, and asks to be traced; both touch nothing else.
    unsafe {
        if bare {
            let folder = std::ffi::CString::new(folder.as_str()).expect("a plain name");
            assert_eq!(libc::chroot(folder.as_ptr()), 0);
            assert_eq!(libc::chdir(c"/".as_ptr()), 0);
        }
        assert_eq!(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0), 0);
        // From here on, our parent looks at what we open.
        libc::raise(libc::SIGSTOP);
    }
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
    std::thread::scope(|scope| {
        for who in 2..4 {
            let (timeline, calm) = (&timeline, &calm);
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
    attached.follow(From::Oldest).poll(&mut all);
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
    use timeline_archive::{Archive, Form, Keeping, Output, Recorder};
    for path in [format!("{folder}/one.tla"), format!("{folder}/many/")] {
        let mut output = Output::open(&path, Keeping::default()).expect("opened");
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

/// Looks at a descriptor of a standard stream that a stopped thread has just got: nothing can be written through it.
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

/// Lets a child that has stopped itself go on, and looks at all descriptors that it and its own children get.
/// What it ended with, and what was wrong.
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
    // SAFETY: the thread is stopped; the kernel fills in as much as there is room for, and says what it is.
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
        "uses_everything",
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

/// How many events a ring holds, and who logged each.
fn logged(attached: &Attached) -> Vec<i64> {
    let events = attached.events(Order::OldestFirst);
    events.map(|event| checked(&event).0).collect()
}

/// Creates a ring of nobody, and logs in the name of that user.
pub fn logs_as_nobody(given: &[String]) {
    become_nobody();
    let _timeline = log_into(&given[0], 0o600);
    say("logged");
    hear();
}

const EVENTS: usize = 100;

/// Creates a ring and logs.
fn log_into(path: &str, mode: u32) -> Timeline {
    let options = Timeline::options().entries(256).string_table_size(2048);
    let timeline = options.mode(mode).create(path).expect("created");
    let event = define(&timeline);
    (0..EVENTS as i64).for_each(|number| timeline.log(event, arguments(1, number)));
    timeline
}

/// The host closes each descriptor that leads to a file, and opens another file there. The numbers.
fn take_over(file: &Path, by: &std::fs::File) -> Vec<i32> {
    use std::os::fd::AsRawFd;
    let numbers = all_of(file);
    for number in &numbers {
        // SAFETY: what the library does about it is what is tested.
        assert_eq!(unsafe { libc::dup2(by.as_raw_fd(), *number) }, *number);
    }
    numbers
}

/// Attaches to a ring, closes the descriptors behind the back of the library, and opens a ring of other events there.
pub fn closes_what_it_reads(given: &[String]) {
    let [path, decoy, mapped] = given else {
        panic!("three arguments");
    };
    let [file, decoy_file] = [path, decoy].map(|path| Path::new("/dev/shm").join(&path[1..]));
    let is_mapped = mapped == "mapped";
    let host = std::fs::File::open(&decoy_file).expect("opened");
    let attached = attach(path);
    let here = |what: &str| {
        assert_eq!(logged(&attached), [1; EVENTS], "{what}");
        let info = attached.info();
        assert_eq!(info.events_written, EVENTS as u64, "{what}");
        assert!(!info.writers.is_empty() && info.writers.iter().all(|w| w.alive));
        attached.intact().expect("whole");
        assert!(!attached.replaced());
    };
    here("before");
    // Closed, and not used again by anybody.
    let first = take_over(&file, &host);
    // For locks, and for reading what is not mapped.
    assert_eq!(first.len(), if is_mapped { 1 } else { 2 }, "{first:?}");
    // SAFETY: as in `take_over`.
    first.iter().for_each(|number| unsafe {
        libc::close(*number);
    });
    here("closed");
    let second = take_over(&file, &host);
    assert!(!second.is_empty(), "it was opened again");
    here("taken over");
    // And again, and now the name leads to the other ring.
    let third = take_over(&file, &host);
    std::fs::remove_file(&file).expect("removed");
    std::fs::copy(&decoy_file, &file).expect("copied");
    let events = logged(&attached);
    let info = attached.info();
    assert!(attached.replaced());
    if is_mapped {
        assert_eq!(events, [1; EVENTS]);
        attached.intact().expect("whole");
    } else {
        assert_eq!(events, []);
        let Err(error @ Error::Io { .. }) = attached.intact() else {
            panic!("it says nothing");
        };
        assert!(error.to_string().contains("closed the descriptor"));
        let folder = tempfile::tempdir().expect("a folder");
        let saved = attached.save(folder.path().join("saved"));
        saved.expect_err("nothing is to be had");
    }
    // The descriptor was all that the locks could be asked through.
    assert!(info.writers.iter().all(|writer| writer.alive));
    drop(attached);
    let open = all_of(&decoy_file);
    for number in second.iter().chain(&third) {
        assert!(open.contains(number), "{number} of the host was closed");
    }
}

fn with_taken_over(path: &str, mapped: &str) {
    let decoy = Name::new("decoy");
    let other = log_into(decoy.path(), 0o600);
    let event = define(&other);
    (0..EVENTS as i64).for_each(|number| other.log(event, arguments(666, number)));
    Process::start("closes_what_it_reads", &[path, decoy.path(), mapped]).finish();
}

#[test]
fn what_the_host_opens_in_the_place_of_a_descriptor_is_neither_read_nor_closed() {
    for (mode, how) in [(0o600, "mapped"), (0o660, "in pieces")] {
        let name = Name::new("closed");
        let writer = log_into(name.path(), mode);
        with_taken_over(name.path(), how);
        drop(writer);
    }
}

#[test]
fn nor_where_the_ring_is_of_another_user() {
    if !are_root() {
        return;
    }
    let name = Name::new("closed");
    let mut writer = Process::start("logs_as_nobody", &[name.path()]);
    assert_eq!(writer.line(), "logged");
    with_taken_over(name.path(), "in pieces");
    writer.tell();
    writer.finish();
}

/// Samples a ring of its own, closes the descriptors behind the back of the library, and opens another file there.
pub fn closes_what_it_samples(given: &[String]) {
    let [file, other] = [0, 1].map(|i| Path::new("/dev/shm").join(&given[i][1..]));
    let timeline = log_into(&given[0], 0o600);
    let hour = std::time::Duration::from_secs(3600);
    let sampler = timeline.sample(Level::ALL, hour, 2 * hour);
    let sampler = sampler.expect("begun");
    // Those of the writer, of its control, and of the lock of the sampler, once that has begun its burst.
    while attach(&given[0]).info().boost == Level::NONE || all_of(&file).len() != 3 {
        std::thread::yield_now();
    }
    std::fs::write(&other, "of the host").expect("written");
    let host = std::fs::File::open(&other).expect("opened");
    let numbers = take_over(&file, &host);
    assert_eq!(numbers.len(), 3, "{numbers:?}");
    drop((sampler, timeline));
    let open = all_of(&other);
    for number in numbers {
        assert!(open.contains(&number), "{number} of the host was closed");
    }
}

#[test]
fn what_the_host_opens_in_the_place_of_locks_is_not_closed() {
    let (name, other) = (Name::new("sampled"), Name::new("of-the-host"));
    Process::start("closes_what_it_samples", &[name.path(), other.path()]).finish();
}
