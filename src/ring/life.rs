//! Tells whether a process lives, as far as the kernel tells this process.
//!
//! A process id is valid only inside of its pid namespace, and /proc may be that of another one. A
//! start time is shown by the clock of the reader's time namespace. So ids and start times of other
//! namespaces prove nothing.
//!
//! **How does a process know which writers live?** By the lock on a writer's slot. It is visible
//! from every pid namespace, time namespace and container, and needs no /proc. Two things would
//! break that. First, a daemon closes every descriptor it finds, and goes on logging to the
//! mapping. So a page is mapped through the same opening, and keeps the lock for as long as the
//! process has its memory. (A forked child does not inherit the page, or it would keep the lock of
//! its parent.) Second, a forked child shares the opening until it logs: if its parent is killed
//! meanwhile, the lock stays. So the holder of a lock is dead only if the kernel says so: there is
//! no such process, or it has ended, or it started at another time.
//!
//! The kernel's answer counts only within our own pid namespace, because elsewhere the id is
//! another process. /proc counts only if it is mounted for that namespace; in `unshare --pid`
//! without a new /proc it is not. A start time counts only within one time namespace, because
//! elsewhere the same process has another one, and only if the process knew its own: a child
//! without a free descriptor cannot read it. For a process that cannot be seen, in another
//! container or behind `hidepid`, only the lock decides.
//!
//! A free lock is that of a dead process, unless the process is seen to run and to have the file
//! mapped: that is a daemon that gave its rights away (src/shm/lock.rs). (After an exec, id and
//! start are the same, but the mapping is gone.) `new` is more careful: it refuses a name while any
//! process holds a slot's lock, even a child of the dead process.

use std::ffi::CStr;
use std::io::Write;

use crate::shm::{inode, process_exists, read_after, read_small};

/// A process as described in the tables of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelProcess {
    /// Its id in its own pid namespace.
    pub pid: u32,
    /// Its start in clock ticks since boot, as counted in its time namespace; 0 = not known.
    pub start: u64,
    /// Inode of its pid namespace; 0 = not known.
    pub pid_namespace: u64,
    /// Inode of its time namespace; 0 = not known, or the kernel has none.
    pub time_namespace: u64,
}

impl KernelProcess {
    /// The calling process. Does not allocate.
    pub fn me() -> KernelProcess {
        KernelProcess {
            pid: std::process::id(),
            start: stat(c"/proc/self/stat").map_or(0, |s| s.start),
            pid_namespace: inode(c"/proc/self/ns/pid"),
            time_namespace: inode(c"/proc/self/ns/time"),
        }
    }
}

/// The knowledge about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// A process of that id runs, and nothing says that it is another.
    Runs,
    /// It runs, and its first thread has ended: /proc shows neither its memory nor its files.
    Headless,
    /// It has certainly ended.
    Gone,
    /// It cannot be seen from here.
    Unknown,
}

/// The point of view on other processes: the calling process, and its /proc.
pub struct ProcessView {
    me: KernelProcess,
    /// Whether /proc has the ids of our pid namespace.
    proc_is_ours: bool,
}

impl ProcessView {
    /// The view of the calling process. Does not allocate.
    pub fn here() -> ProcessView {
        ProcessView {
            me: KernelProcess::me(),
            proc_is_ours: proc_is_ours(),
        }
    }

    /// Whether `process` has the id of the calling process.
    pub fn is_me(&self, process: &KernelProcess) -> bool {
        process.pid == self.me.pid && self.shares_pids_with(process)
    }

    fn shares_pids_with(&self, process: &KernelProcess) -> bool {
        process.pid_namespace != 0 && process.pid_namespace == self.me.pid_namespace
    }

    /// The state of a process, as far as it is known.
    pub fn see(&self, process: &KernelProcess) -> Liveness {
        if !self.shares_pids_with(process) {
            return Liveness::Unknown;
        }
        // The kernel answers for our own pid namespace, whatever is mounted at /proc or hidden in
        // it.
        if !process_exists(process.pid) {
            return Liveness::Gone;
        }
        if !self.proc_is_ours {
            return Liveness::Unknown;
        }
        let mut text = [0; 32];
        let Some(seen) = proc_path(process.pid, "stat", &mut text).and_then(stat) else {
            return Liveness::Unknown;
        };
        // A process that had no free descriptor when it joined could not read its start.
        let comparable = process.start != 0 && process.time_namespace == self.me.time_namespace;
        if seen.gone || (comparable && seen.start != process.start) {
            return Liveness::Gone;
        }
        match seen.headless {
            true => Liveness::Headless,
            false => Liveness::Runs,
        }
    }
}

struct Stat {
    gone: bool,
    /// Its first thread has ended, but others go on.
    headless: bool,
    start: u64,
}

/// State and start time from /proc/PID/stat.
fn stat(path: &CStr) -> Option<Stat> {
    // The 22 fields up to the last one read have at most 357 bytes.
    let mut buffer = [0; 384];
    let text = read_small(path, &mut buffer);
    // The second field is the name in parentheses, and may have any bytes.
    let rest = &text[memchr::memrchr(b')', text)? + 1..];
    let mut fields = rest.split(|&b| b == b' ').filter(|f| !f.is_empty());
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
    let ended = matches!(fields.next()?, b"Z" | b"X" | b"x");
    let threads = number(fields.nth(16)?)?;
    Some(Stat {
        // A zombie does not write, unless only its first thread is one.
        gone: ended && threads <= 1,
        headless: ended && threads > 1,
        start: number(fields.nth(1)?)?,
    })
}

/// Whether /proc is that of our own pid namespace.
///
/// It is not enough that /proc/self has our id: the namespace around ours may have given us the
/// same id. `NSpid` has our id in each namespace from that of /proc down to our own, so in our own
/// /proc it is one number.
fn proc_is_ours() -> bool {
    let mut buffer = [0; 64];
    let numbers = read_after(c"/proc/self/status", b"\nNSpid:", &mut buffer);
    let line = numbers.split(|&b| b == b'\n').next().unwrap_or_default();
    let mut numbers = line
        .split(u8::is_ascii_whitespace)
        .filter(|n| !n.is_empty());
    let mine = numbers.next().and_then(|n| std::str::from_utf8(n).ok());
    mine.and_then(|n| n.parse().ok()) == Some(std::process::id()) && numbers.next().is_none()
}

/// The path of a file of a process in /proc, NUL-terminated, without allocating.
pub fn proc_path<'a>(pid: u32, leaf: &str, text: &'a mut [u8; 32]) -> Option<&'a CStr> {
    text.fill(0);
    write!(&mut text[..31], "/proc/{pid}/{leaf}").ok()?;
    CStr::from_bytes_until_nul(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_run_and_started_some_time() {
        let me = KernelProcess::me();
        assert!(me.start > 0 && me.pid_namespace > 0);
        assert_eq!(me.pid, std::process::id());
        assert!(stat(c"/proc/self/stat").is_some_and(|s| !s.gone));
        assert!(stat(c"/proc/0/stat").is_none());
        let view = ProcessView::here();
        assert!(view.proc_is_ours && view.is_me(&me));
        assert_eq!(view.see(&me), Liveness::Runs);
    }

    #[test]
    fn nothing_is_concluded_from_other_namespaces_or_what_is_not_known() {
        let (view, me) = (ProcessView::here(), KernelProcess::me());
        let with = |change: fn(&mut KernelProcess)| {
            let mut process = me;
            change(&mut process);
            view.see(&process)
        };
        assert_eq!(with(|w| w.start += 1), Liveness::Gone);
        assert_eq!(with(|w| w.start = 0), Liveness::Runs);
        assert_eq!(with(|w| w.pid = u32::MAX), Liveness::Gone);
        assert_eq!(with(|w| w.pid_namespace += 1), Liveness::Unknown);
        assert_eq!(with(|w| w.pid_namespace = 0), Liveness::Unknown);
        // The same process, with its start as shown in another time namespace.
        let shifted = |w: &mut KernelProcess| {
            w.start += 100_000;
            w.time_namespace += 1;
        };
        assert_eq!(with(shifted), Liveness::Runs);
    }
}
