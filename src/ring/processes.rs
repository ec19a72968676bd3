//! The process table: who writes to a timeline, and who of them still lives.
//!
//! A writing process holds the lock on its slot's byte, which the kernel drops with it. A lock alone could be
//! lost while its holder lives (a daemon closes every descriptor it finds), or outlive it (a forked child
//! shares it), so what counts is whether a process of that id and start time runs and has the file mapped;
//! the lock decides where that cannot be seen, and who may use a slot. Whoever takes a dead slot, or finds no
//! free lane, gives the lanes and thread records of the dead back.

use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::MetadataExt;

use super::memory::Shared;
use super::{handle, lanes, threads};
use crate::error::User;
use crate::layout::{Geometry, header, records::process};
use crate::shm::{Lock, Mapping, Opening, maps_file, process_name, read_small};
use crate::sync::{Ordering, fence};

/// A process that writes to a timeline, or did when it was saved or killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// Process id, in its own pid namespace.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
    /// Whether it still runs.
    pub alive: bool,
}

/// The identity of the process in `slot`: what lanes and thread records carry.
fn identity(generation: u64, slot: u32) -> u32 {
    (generation as u32) << 16 | (slot + 1)
}

/// This process, as the table describes one.
struct Myself {
    pid: u32,
    start: u64,
    pid_namespace: u64,
    name: [u8; 16],
}

impl Myself {
    /// Without allocating: a forked child describes itself inside its first event.
    fn new() -> Myself {
        Myself {
            pid: std::process::id(),
            start: stat(c"/proc/self/stat").map_or(0, |s| s.start),
            pid_namespace: pid_namespace(),
            name: process_name(),
        }
    }
}

fn pid_namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |m| m.ino())
}

struct Stat {
    gone: bool,
    /// Its first thread has ended and others go on.
    headless: bool,
    start: u64,
}

/// State and start time from /proc/PID/stat.
fn stat(path: &CStr) -> Option<Stat> {
    let mut buffer = [0; 1024];
    let text = read_small(path, &mut buffer);
    // The second field is the name in parentheses, and may hold anything.
    let rest = &text[memchr::memrchr(b')', text)? + 1..];
    let mut fields = rest.split(|&b| b == b' ').filter(|f| !f.is_empty());
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
    let ended = matches!(fields.next()?, b"Z" | b"X" | b"x");
    let threads = number(fields.nth(16)?)?;
    Some(Stat {
        // A zombie writes no more, unless only its first thread is one.
        gone: ended && threads <= 1,
        headless: ended && threads > 1,
        start: number(fields.nth(1)?)?,
    })
}

/// Start of the calling process in clock ticks since boot; 0 without /proc.
pub fn own_start() -> u64 {
    Myself::new().start
}

/// Inode of the calling process' pid namespace; 0 without /proc.
pub fn own_pid_namespace() -> u64 {
    pid_namespace()
}

/// Whether a process runs: `None` when it cannot be seen from here, for want of /proc or because it is of
/// another pid namespace.
pub fn is_running(pid: u32, start: u64, namespace: u64) -> Option<bool> {
    if namespace != pid_namespace() || stat(c"/proc/self/stat").is_none() {
        return None;
    }
    let mut text = [0; 32];
    let seen = proc_path(pid, "stat", &mut text).and_then(stat);
    Some(seen.is_some_and(|s| !s.gone && s.start == start))
}

fn record(geometry: &Geometry, slot: u32) -> u64 {
    geometry.process().offset + u64::from(slot) * geometry.process().stride
}

/// Whether the process of a record still writes: it runs and has the file mapped. (After an exec, the id
/// and the start are the same and the mapping is gone.) `None` when that cannot be seen from here.
fn writes(map: &Mapping, geometry: &Geometry, slot: u32, file: &File) -> Option<bool> {
    let record = record(geometry, slot);
    if map.u64(record + process::LEFT).load(Ordering::Acquire) != 0 {
        return Some(false);
    }
    let pid = map.u32(record + process::PID).load(Ordering::Relaxed);
    let start = map.u64(record + process::START).load(Ordering::Relaxed);
    let namespace = map.u64(record + process::PID_NAMESPACE);
    if !is_running(pid, start, namespace.load(Ordering::Relaxed))? {
        return Some(false);
    }
    if pid == std::process::id() {
        // Ourselves, or what we were before an exec; the file may be mapped by this very call. The lock tells of
        // another copy of this library in our process (a plugin's), whose handles we do not know.
        let identity = map.u32(record + process::IDENTITY).load(Ordering::Relaxed);
        let joined = handle::is_joined(identity);
        return Some(joined || Lock::Slot(slot).is_held_elsewhere(file));
    }
    let mut text = [0; 32];
    let headless = proc_path(pid, "stat", &mut text)
        .and_then(stat)
        .is_some_and(|s| s.headless);
    // The list of mappings goes with the first thread.
    Some(headless || proc_path(pid, "maps", &mut text).is_none_or(|maps| maps_file(maps, file)))
}

fn proc_path<'a>(pid: u32, leaf: &str, text: &'a mut [u8; 32]) -> Option<&'a CStr> {
    use std::io::Write;
    text.fill(0);
    write!(&mut text[..31], "/proc/{pid}/{leaf}").ok()?;
    CStr::from_bytes_until_nul(text).ok()
}

/// Enters the calling process in the table; its identity, or `None` when the table is full.
///
/// The lock on the slot is kept by keeping `opening`'s file open.
/// The kernel arbitrates who gets a slot, so nothing else needs to be locked. Does not allocate.
pub fn join(ring: &Shared, geometry: &Geometry, opening: &Opening, ticks: u64) -> Option<u32> {
    let map = ring.mapping();
    let me = Myself::new();
    for slot in 0..geometry.processes {
        let lock = Lock::Slot(slot);
        if !lock.try_acquire(opening) {
            continue;
        }
        let at = record(geometry, slot);
        let before = map.u32(at + process::IDENTITY).load(Ordering::Acquire);
        if before != 0 {
            if writes(map, geometry, slot, opening.file()) == Some(true) {
                lock.release(opening);
                continue;
            }
            bury(ring, geometry, before);
        }
        // The fence keeps the stores below behind the 0, and the Release at the end keeps them before the
        // identity (both pair with the Acquires in `writers`).
        map.u32(at + process::IDENTITY).store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        let serial = map
            .u64(header::PROCESS_SERIAL)
            .fetch_add(1, Ordering::Relaxed);
        map.u32(at + process::PID).store(me.pid, Ordering::Relaxed);
        map.u64(at + process::START)
            .store(me.start, Ordering::Relaxed);
        map.u64(at + process::PID_NAMESPACE)
            .store(me.pid_namespace, Ordering::Relaxed);
        map.u64(at + process::JOINED)
            .store(ticks, Ordering::Relaxed);
        map.u64(at + process::LEFT).store(0, Ordering::Relaxed);
        map.write(at + process::NAME, &me.name);
        let mine = identity(serial, slot);
        map.u32(at + process::IDENTITY)
            .store(mine, Ordering::Release);
        return Some(mine);
    }
    None
}

/// Leaves the table: lanes and thread records go back, and the slot says when.
pub fn leave(ring: &Shared, geometry: &Geometry, me: u32, ticks: u64) {
    bury(ring, geometry, me);
    let Some(slot) = (me & 0xffff).checked_sub(1) else {
        return;
    };
    let at = record(geometry, slot);
    let map = ring.mapping();
    if map.u32(at + process::IDENTITY).load(Ordering::Relaxed) == me {
        // Release, pairs with `runs`: whoever sees that we left may have our lanes.
        map.u64(at + process::LEFT)
            .store(ticks.max(1), Ordering::Release);
    }
}

/// Gives the lock on this process' slot back. Explicitly, and not by closing: a child forked in the
/// meantime has a copy of the descriptor.
pub fn unlock(me: u32, opening: &Opening) {
    if let Some(slot) = (me & 0xffff).checked_sub(1) {
        Lock::Slot(slot).release(opening);
    }
}

fn bury(ring: &Shared, geometry: &Geometry, dead: u32) {
    lanes::release_all(ring, dead);
    threads::end_all(ring.mapping(), geometry, dead);
}

/// Gives back the lanes and thread records of processes that died without leaving; how many lanes.
///
/// `opening` is the caller's own, `me` its own identity, which is left alone. Does not allocate.
pub fn reap(ring: &Shared, geometry: &Geometry, opening: &Opening, me: u32) -> u32 {
    let map = ring.mapping();
    let mut freed = 0;
    for slot in 0..geometry.processes {
        let at = record(geometry, slot);
        let who = map.u32(at + process::IDENTITY).load(Ordering::Acquire);
        let owns = || owns_lanes(ring, who) || threads::any_live(map, geometry, who);
        if who == 0 || who == me || !owns() {
            continue;
        }
        let lock = Lock::Slot(slot);
        let ours = lock.try_acquire(opening);
        let dead = match writes(map, geometry, slot, opening.file()) {
            Some(writes) => !writes,
            // A child forked by the dead can hold its lock, so this may come late. It is never wrong.
            None => ours,
        };
        if dead && map.u32(at + process::IDENTITY).load(Ordering::Acquire) == who {
            freed += lanes::release_all(ring, who);
            threads::end_all(map, geometry, who);
        }
        if ours {
            lock.release(opening);
        }
    }
    freed
}

fn owns_lanes(ring: &Shared, process: u32) -> bool {
    use super::Storage;
    (0..ring.lanes())
        .any(|lane| lanes::process_of(ring.owner(lane).load(Ordering::Relaxed)) == process)
}

/// Everybody in the table: those that write now, and those that were killed and not replaced yet.
pub fn writers(map: &Mapping, geometry: &Geometry, file: Option<&File>) -> Vec<Writer> {
    let mut writers = Vec::new();
    for slot in 0..geometry.processes {
        let at = record(geometry, slot);
        let identity = map.u32(at + process::IDENTITY);
        let before = identity.load(Ordering::Acquire);
        if before == 0 {
            continue;
        }
        let locked = file.is_some_and(|f| Lock::Slot(slot).is_held_elsewhere(f));
        let left = map.u64(at + process::LEFT).load(Ordering::Acquire) != 0;
        if left && !locked {
            continue;
        }
        let name = map.read_c_str(at + process::NAME, 16);
        let writer = Writer {
            pid: map.u32(at + process::PID).load(Ordering::Relaxed),
            name: String::from_utf8_lossy(&name).into_owned(),
            alive: file.is_some_and(|f| writes(map, geometry, slot, f).unwrap_or(locked)),
        };
        // Pairs with the fence in `join`: another process is just taking the slot.
        fence(Ordering::Acquire);
        if identity.load(Ordering::Relaxed) == before {
            writers.push(writer);
        }
    }
    writers
}

/// Those that live, as an error names them.
pub fn users(map: &Mapping, geometry: &Geometry, file: &File) -> Vec<User> {
    writers(map, geometry, Some(file))
        .into_iter()
        .filter(|w| w.alive)
        .map(|w| User {
            pid: w.pid,
            name: w.name,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_run_and_started_some_time() {
        let me = Myself::new();
        assert!(me.start > 0 && me.pid_namespace > 0);
        assert_eq!(me.pid, std::process::id());
        assert!(me.name[0] != 0 && !me.name.contains(&b'\n'));
        assert!(stat(c"/proc/self/stat").is_some_and(|s| !s.gone));
        assert!(stat(c"/proc/0/stat").is_none());
    }
}
