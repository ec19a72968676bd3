//! The thread table: names for the threads in the entries.
//!
//! An entry has the kernel's id of the thread and an identity, `generation << 16 | slot`. Slots of
//! ended threads are reused, oldest first, under another generation. An entry whose generation is
//! gone keeps its thread id and loses only the name. It never gets another thread's.

use crate::layout::{Geometry, records};
use crate::shm::{Mapping, Place, process_name, store_bytes, thread_id, thread_name};
use crate::sync::{Ordering, fence};

/// A thread that logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's id of the thread; 0 if it is not known.
    pub tid: u32,
    /// The id of its process; 0 if it is not known.
    pub pid: u32,
    /// The thread's name at its first event. Only in an archive can it be missing.
    pub name: Option<String>,
    /// The name of its process. Only in an archive can it be missing.
    pub process: Option<String>,
}

fn record<'a>(map: &'a Mapping, geometry: &Geometry, slot: u32) -> Place<'a, records::Thread> {
    map.record(geometry.thread().at(slot))
}

/// Enters the calling thread in the table. Returns its identity (0 if every record belongs to a
/// living thread) and its thread id. Does not allocate.
pub fn register(map: &Mapping, geometry: &Geometry, process: u32, ticks: u64) -> (u32, u32) {
    let tid = thread_id();
    let serials = &map.header().shared().thread_serial;
    let serial = serials.fetch_add(1, Ordering::Relaxed);
    // Never 0, and different for each of the next 65,534 threads.
    let generation = (serial % 65535) as u32 + 1;
    for i in 0..geometry.threads {
        let slot = (serial.wrapping_add(i.into()) % u64::from(geometry.threads)) as u32;
        let record = record(map, geometry, slot).shared();
        // Acquire (pairs with the Release in `end`): the former owner has finished with the record.
        let (claimed, failed) = (Ordering::Acquire, Ordering::Relaxed);
        let claim = record.live.compare_exchange(0, process, claimed, failed);
        if claim.is_err() {
            continue;
        }
        // The fence keeps the stores below behind the 0, and the Release at the end keeps them
        // before the identity: a reader that finds the same identity before and after has read one
        // thread's record (both pair with the Acquires in `lookup`).
        record.identity.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        record.tid.store(tid, Ordering::Relaxed);
        record.pid.store(std::process::id(), Ordering::Relaxed);
        record.start.store(ticks, Ordering::Relaxed);
        record.end.store(0, Ordering::Relaxed);
        store_bytes(&record.name, &thread_name());
        store_bytes(&record.process_name, &process_name());
        let identity = generation << 16 | slot;
        record.identity.store(identity, Ordering::Release);
        return (identity, tid);
    }
    (0, tid)
}

/// Ends the thread of that identity. Its record stays readable until the slot is reused.
pub fn end(map: &Mapping, geometry: &Geometry, identity: u32, ticks: u64) {
    let slot = identity & 0xffff;
    if identity == 0 || slot >= geometry.threads {
        return;
    }
    let record = record(map, geometry, slot).shared();
    if record.identity.load(Ordering::Relaxed) == identity {
        record.end.store(ticks, Ordering::Relaxed);
        // Release (pairs with the Acquire in `register`).
        record.live.store(0, Ordering::Release);
    }
}

/// Whether a process has records of threads that did not end.
pub fn any_live(map: &Mapping, geometry: &Geometry, process: u32) -> bool {
    (0..geometry.threads).any(|slot| {
        let live = record(map, geometry, slot).field(|thread| &thread.live);
        live.load(Ordering::Relaxed) == process
    })
}

/// Ends all threads of a process, without storing a time.
pub fn end_all(map: &Mapping, geometry: &Geometry, process: u32) {
    for slot in 0..geometry.threads {
        let live = &record(map, geometry, slot).shared().live;
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
    let record = record(map, geometry, slot);
    let found = record.field(|thread| &thread.identity);
    // Acquire (pairs with the Release in `register`).
    if found.load(Ordering::Acquire) != identity {
        return None;
    }
    let thread = Thread {
        tid: record.field(|thread| &thread.tid).load(Ordering::Relaxed),
        pid: record.field(|thread| &thread.pid).load(Ordering::Relaxed),
        name: Some(record.field(|thread| &thread.name).text()),
        process: Some(record.field(|thread| &thread.process_name).text()),
    };
    fence(Ordering::Acquire);
    // Pairs with the fence in `register`: unchanged, so no thread has begun to overwrite the
    // record.
    (found.load(Ordering::Relaxed) == identity).then_some(thread)
}
