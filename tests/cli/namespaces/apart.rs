//! Processes in namespaces of their own, where the machine permits them.

use std::ffi::CString;
use std::io::{Error, Write};
use std::os::fd::AsRawFd;
use std::str::FromStr;

use crate::support::{Process, Role, deadline, place, refusal, role_at, say};

/// What a process has for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Clocks that are an hour and a bit ahead of the machine's, in a time namespace.
    Ahead,
    /// Clocks that have just started, also in a time namespace.
    Behind,
    /// Process ids, and still the /proc of the machine.
    Pids,
    /// The /proc that belongs to its process ids.
    Proc,
    /// No /proc at all.
    NoProc,
    /// The number that it has in the pid namespace around its own, too.
    SameNumber,
    /// A machine without a time stamp counter.
    NoCounter,
    /// No /sys at all.
    NoSys,
    /// User ids.
    Users,
}

impl FromStr for Space {
    type Err = String;

    fn from_str(word: &str) -> Result<Space, String> {
        Ok(match word {
            "Ahead" => Space::Ahead,
            "Behind" => Space::Behind,
            "Pids" => Space::Pids,
            "Proc" => Space::Proc,
            "NoProc" => Space::NoProc,
            "SameNumber" => Space::SameNumber,
            "NoCounter" => Space::NoCounter,
            "NoSys" => Space::NoSys,
            "Users" => Space::Users,
            _ => return Err(format!("no space {word}")),
        })
    }
}

/// Plays `role` in a process that has all these for itself. `None`, and the reason on standard
/// error, where that is not permitted; but in CI it must be.
pub fn start(spaces: &[Space], role: Role, arguments: &[&str]) -> Option<Process> {
    let words = spaces.iter().map(|space| format!("{space:?}"));
    let words = words.collect::<Vec<_>>().join(",");
    let role = place(role);
    let arguments = [&[words.as_str(), role.as_str()], arguments].concat();
    let mut process = Process::start(goes_apart, &arguments);
    let said = process.line();
    if said == "apart" {
        return Some(process);
    }
    // Nowhere may an ordinary user choose the number of a process.
    let is_root_only = said.starts_with("clone3:");
    let is_ci = std::env::var_os("CI").is_some();
    assert!(is_root_only || !is_ci, "{words}: {said}");
    // Not by a macro, whose text the test harness would keep to itself.
    writeln!(std::io::stderr(), "skipped, {words} not permitted: {said}").expect("written");
    None
}

/// Enters namespaces, and has a process in them play the role.
pub fn goes_apart(given: &[String]) {
    let [words, role, arguments @ ..] = given else {
        panic!("{given:?}");
    };
    let words = words.split(',').filter(|word| !word.is_empty());
    let spaces: Vec<Space> = words.map(|word| word.parse().expect("a space")).collect();
    // SAFETY: both take nothing and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    if let Err(error) = enter(&spaces, user, group) {
        return say(format!("unshare: {}", refusal(&error)));
    }
    // The first process of a pid namespace gets no signals, not even from its alarm; so it only
    // waits for the next.
    let status = wait_for(&mut || {
        settle(&spaces);
        wait_for_one(&spaces, &mut || {
            say("apart");
            role_at(role)(arguments);
        })
    });
    std::process::exit(status);
}

fn enter(spaces: &[Space], user: u32, group: u32) -> Result<(), Error> {
    if spaces.is_empty() {
        return Ok(());
    }
    let mut flags = libc::CLONE_NEWNS;
    for space in spaces {
        flags |= match space {
            Space::Ahead | Space::Behind => CLONE_NEWTIME,
            Space::Pids => libc::CLONE_NEWPID,
            Space::Users => libc::CLONE_NEWUSER,
            _ => 0,
        };
    }
    if user != 0 {
        flags |= libc::CLONE_NEWUSER;
    }
    // SAFETY: only what this process, of one thread, sees of the machine changes.
    if unsafe { libc::unshare(flags) } != 0 {
        return Err(Error::last_os_error());
    }
    if flags & libc::CLONE_NEWUSER != 0 {
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    }
    for space in spaces {
        match space {
            Space::Ahead => shift_clocks(4000)?,
            Space::Behind => shift_clocks(1 - uptime())?,
            _ => {}
        }
    }
    let none = std::ptr::null();
    let private = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the strings are NUL-terminated; what is mounted is seen by this process and its
    // children alone.
    if unsafe { libc::mount(none, c"/".as_ptr(), none, private, none.cast()) } != 0 {
        return Err(Error::last_os_error());
    }
    Ok(())
}

/// Shifts the clocks of the children to come. By five milliseconds more than said, which is too
/// little for a rate to become absurd.
fn shift_clocks(seconds: i64) -> Result<(), Error> {
    let offsets = format!("monotonic {seconds} 5000000\nboottime {seconds} 0\n");
    std::fs::write("/proc/self/timens_offsets", offsets)
}

/// Has a child in a time namespace of its own run `f`; what it exits with. For who is apart
/// already.
pub fn in_another_time(f: &mut dyn FnMut() -> i32) -> i32 {
    // SAFETY: only the clocks of children change.
    assert_eq!(unsafe { libc::unshare(CLONE_NEWTIME) }, 0);
    shift_clocks(1_000_000).expect("shifted");
    wait_for(f)
}

/// Moves this process, which is one thread, into a time namespace of its own.
pub fn move_into_another_time() {
    // SAFETY: only the clocks of children change.
    assert_eq!(unsafe { libc::unshare(CLONE_NEWTIME) }, 0);
    shift_clocks(1_000_000).expect("shifted");
    let there = std::fs::File::open("/proc/self/ns/time_for_children").expect("there");
    // SAFETY: this process is one thread, and its own clocks change.
    let moved = unsafe { libc::setns(there.as_raw_fd(), CLONE_NEWTIME) };
    assert_eq!(moved, 0, "setns: {}", Error::last_os_error());
}

/// linux/sched.h; not in the libc crate for every target.
const CLONE_NEWTIME: libc::c_int = 0x80;

fn uptime() -> i64 {
    let text = std::fs::read_to_string("/proc/uptime").expect("there");
    text.split('.')
        .next()
        .and_then(|s| s.parse().ok())
        .expect("seconds")
}

/// What is to be done inside of the new namespaces.
fn settle(spaces: &[Space]) {
    for space in spaces {
        match space {
            Space::Proc => mount("proc", "proc", "/proc"),
            Space::NoProc => mount("tmpfs", "none", "/proc"),
            Space::NoSys => mount("tmpfs", "none", "/sys"),
            Space::NoCounter => name_another_counter(),
            _ => {}
        }
    }
}

/// Has /sys say that the kernel's clock is another one, also where there is none.
fn name_another_counter() {
    let place = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    if !std::path::Path::new(place).exists() {
        mount("tmpfs", "none", "/sys");
        let folder = std::path::Path::new(place).parent().expect("a directory");
        std::fs::create_dir_all(folder).expect("made");
        std::fs::write(place, "hpet\n").expect("written");
        return;
    }
    let folder = std::env::temp_dir();
    let file = folder.join(format!("timeline-clock-{}", std::process::id()));
    std::fs::write(&file, "hpet\n").expect("written");
    mount("", file.to_str().expect("a plain name"), place);
    std::fs::remove_file(file).expect("removed");
}

/// Mounts a file system, or, without a type, what is in one place in another.
fn mount(kind: &str, what: &str, place: &str) {
    let [c_kind, c_what, c_place] = [kind, what, place].map(|s| CString::new(s).expect("no NUL"));
    let flags = if kind.is_empty() { libc::MS_BIND } else { 0 };
    // SAFETY: the strings are NUL-terminated; the mount is seen in this namespace alone.
    let result = unsafe {
        let (kind, what, place) = (c_kind.as_ptr(), c_what.as_ptr(), c_place.as_ptr());
        libc::mount(what, place, kind, flags, std::ptr::null())
    };
    assert_eq!(
        result,
        0,
        "mount {what} at {place}: {}",
        Error::last_os_error()
    );
}

/// Has a child run `f`, waits for it, and gives what it exits with.
fn wait_for(f: &mut dyn FnMut() -> i32) -> i32 {
    // SAFETY: this process has one thread, so its child may do anything.
    let child = unsafe { libc::fork() };
    wait(child, f)
}

fn wait_for_one(spaces: &[Space], f: &mut dyn FnMut()) -> i32 {
    let mut f = || {
        deadline();
        f();
        0
    };
    if spaces.contains(&Space::SameNumber) {
        let child = fork_with_one_number();
        let error = Error::last_os_error();
        if child < 0 && error.raw_os_error() == Some(libc::EPERM) {
            say(format!("clone3: {error}"));
            return 0;
        }
        return wait(child, &mut f);
    }
    wait_for(&mut f)
}

fn wait(child: libc::pid_t, f: &mut dyn FnMut() -> i32) -> i32 {
    assert!(child >= 0, "fork: {}", Error::last_os_error());
    if child == 0 {
        // SAFETY: whoever kills the first of us ends us all.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        std::process::exit(f());
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place for one, and `child` a child of ours.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    libc::WEXITSTATUS(status) | libc::WTERMSIG(status)
}

/// Forks a child that has the same number in its own pid namespace and in the one around.
fn fork_with_one_number() -> libc::pid_t {
    // The numbers that every machine has.
    for number in (301..32768).rev() {
        let numbers = [number, number];
        // linux/sched.h: struct clone_args.
        let mut arguments = [0_u64; 11];
        arguments[4] = libc::SIGCHLD as u64;
        arguments[8] = numbers.as_ptr() as u64;
        arguments[9] = numbers.len() as u64;
        // SAFETY: without a stack of its own and with no flags it is a fork, of a process of one
        // thread.
        let child = unsafe {
            libc::syscall(
                libc::SYS_clone3,
                arguments.as_ptr(),
                size_of_val(&arguments),
            )
        };
        if child >= 0 || Error::last_os_error().raw_os_error() != Some(libc::EEXIST) {
            return child as libc::pid_t;
        }
    }
    -1
}
