//! The thread table: names for the threads whose numbers stand in the entries.
//!
//! An entry carries the thread's id from the kernel and an identity, `generation << 16 | slot`.
//! Slots of ended threads are used again, oldest first, under another generation: an entry whose
//! generation is gone keeps its thread id and loses only the name. It is never given another
//! thread's.

use crate::layout::{Geometry, header, records::thread};
use crate::shm::{Mapping, process_name, thread_id, thread_name};
use crate::sync::{Ordering, fence};

/// A thread that logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's id of the thread; 0 when it is not known.
    pub tid: u32,
    /// The id of its process; 0 when it is not known.
    pub pid: u32,
    /// The thread's name when it logged first. Only an archive can lack it.
    pub name: Option<String>,
    /// The name of its process. Only an archive can lack it.
    pub process: Option<String>,
}

fn record(geometry: &Geometry, slot: u32) -> u64 {
    geometry.thread().offset + u64::from(slot) * geometry.thread().stride
}

/// Enters the calling thread: its identity (0 when every record belongs to a living thread) and its
/// thread id. Does not allocate.
pub fn register(map: &Mapping, geometry: &Geometry, process: u32, ticks: u64) -> (u32, u32) {
    let tid = thread_id();
    let serial = map
        .u64(header::THREAD_SERIAL)
        .fetch_add(1, Ordering::Relaxed);
    // Never 0, and another one for each of the next 65,534 threads.
    let generation = (serial % 65535) as u32 + 1;
    for i in 0..geometry.threads {
        let slot = (serial.wrapping_add(i.into()) % u64::from(geometry.threads)) as u32;
        let at = record(geometry, slot);
        // Acquire (pairs with the Release in `end`): the former owner has finished with the record.
        let claimed = map.u32(at + thread::LIVE).compare_exchange(
            0,
            process,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        if claimed.is_err() {
            continue;
        }
        // The fence keeps the stores below behind the 0, and the Release at the end keeps them
        // before the identity: a reader that finds the same identity before and after has read one
        // thread's record (both pair with the Acquires in `lookup`).
        map.u32(at + thread::IDENTITY).store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        map.u32(at + thread::TID).store(tid, Ordering::Relaxed);
        map.u32(at + thread::PID)
            .store(std::process::id(), Ordering::Relaxed);
        map.u64(at + thread::START).store(ticks, Ordering::Relaxed);
        map.u64(at + thread::END).store(0, Ordering::Relaxed);
        map.write(at + thread::NAME, &thread_name());
        map.write(at + thread::PROCESS_NAME, &process_name());
        let identity = generation << 16 | slot;
        map.u32(at + thread::IDENTITY)
            .store(identity, Ordering::Release);
        return (identity, tid);
    }
    (0, tid)
}

/// The thread of that identity ends; its record stays readable until the slot is needed.
pub fn end(map: &Mapping, geometry: &Geometry, identity: u32, ticks: u64) {
    let slot = identity & 0xffff;
    if identity == 0 || slot >= geometry.threads {
        return;
    }
    let at = record(geometry, slot);
    if map.u32(at + thread::IDENTITY).load(Ordering::Relaxed) == identity {
        map.u64(at + thread::END).store(ticks, Ordering::Relaxed);
        // Release (pairs with the Acquire in `register`).
        map.u32(at + thread::LIVE).store(0, Ordering::Release);
    }
}

/// Whether a process has records of threads that did not end.
pub fn any_live(map: &Mapping, geometry: &Geometry, process: u32) -> bool {
    (0..geometry.threads).any(|slot| {
        let live = map.u32(record(geometry, slot) + thread::LIVE);
        live.load(Ordering::Relaxed) == process
    })
}

/// All threads of a process end, without a time of their own.
pub fn end_all(map: &Mapping, geometry: &Geometry, process: u32) {
    for slot in 0..geometry.threads {
        let live = map.u32(record(geometry, slot) + thread::LIVE);
        // Release as in `end`; a CAS, because a live thread may have taken the slot meanwhile.
        let _ = live.compare_exchange(process, 0, Ordering::Release, Ordering::Relaxed);
    }
}

/// The thread of that identity, if its record is still there.
pub fn lookup(map: &Mapping, geometry: &Geometry, identity: u32) -> Option<Thread> {
    let slot = identity & 0xffff;
    if identity == 0 || slot >= geometry.threads {
        return None;
    }
    let at = record(geometry, slot);
    // Acquire (pairs with the Release in `register`).
    if map.u32(at + thread::IDENTITY).load(Ordering::Acquire) != identity {
        return None;
    }
    let tid = map.u32(at + thread::TID).load(Ordering::Relaxed);
    let pid = map.u32(at + thread::PID).load(Ordering::Relaxed);
    let name = map.read_c_str(at + thread::NAME, 16);
    let process = map.read_c_str(at + thread::PROCESS_NAME, 16);
    fence(Ordering::Acquire);
    // Pairs with the fence in `register`: unchanged, so nobody has started to write another thread
    // there.
    if map.u32(at + thread::IDENTITY).load(Ordering::Relaxed) != identity {
        return None;
    }
    Some(Thread {
        tid,
        pid,
        name: Some(String::from_utf8_lossy(&name).into_owned()),
        process: Some(String::from_utf8_lossy(&process).into_owned()),
    })
}
