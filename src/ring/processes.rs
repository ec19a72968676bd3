//! The process table: the processes that write to a timeline, and whether they still live.
//!
//! A writing process holds the lock on its slot's byte, and the kernel drops the lock with the
//! process. So the holder lives, with two exceptions. A forked child shares the lock, and keeps it
//! when its parent is killed: then the kernel says that there is no such process. And a daemon that
//! gave its rights away has a lock that ends when it closes its descriptors: then it is seen to
//! run, and to have the file mapped. A process that takes a dead slot, or finds no free lane, frees
//! the lanes of dead processes. Their thread records are free as soon as their slot has another
//! identity, or says that they left. Now and then a process looks whether another one was killed,
//! and has its slot say so: otherwise nobody would know which of its threads ended before others
//! did.
//!
//! **What if a generation comes again?** A slot repeats the identity of a process after 65,536
//! joins; that of a thread never comes again. A process that takes the slot of a dead one first
//! frees its lanes, so no lane is ever owned by a former identity of a slot. A record of a thread
//! may still name one, and is then not free while another process has the same. A process that
//! looks for dead ones holds the lock of the slot from its judgement to the last lane that it
//! frees, and no process joins there meanwhile. It works without that lock if another process has
//! it and the owner of the slot is dead all the same: a child of the dead process, a process that
//! has left, another one that looks for dead ones, or a reader of the file.
//! That would do harm only if that lock were released and 65,536 processes joined between the
//! second check of the identity and the end of the work.
//!
//! The fields of a record are Relaxed, between the orderings of its identity: `join` takes that
//! away, then its fence stands, and the new identity comes last, with Release. Whoever loads it
//! with Acquire finds the process that it is of. A second look at an identity, under the lock of
//! its slot or before an exchange, is for the same number, and pairs with the same Release.

use std::fs::File;

use super::life::{KernelProcess, Liveness, ProcessView, proc_path};
use super::memory::SharedRing;
use super::{executables, handle, lanes, threads};
use crate::layout::Geometry;
use crate::layout::records::{FOUND_DEAD, Process};
use crate::shm::{Lock, Mapping, Opening, RecordAccess, maps_file, process_name, store_bytes};
use crate::sync::{AtomicU64, Ordering, fence};

/// The identity of the process in `slot`, as in lanes and thread records.
fn identity(generation: u64, slot: u32) -> u32 {
    (generation as u32) << 16 | (slot + 1)
}

pub(super) fn record<'a>(
    map: &'a Mapping,
    geometry: &Geometry,
    slot: u32,
) -> RecordAccess<'a, Process> {
    map.record(geometry.process().at(slot))
}

/// Whether the process of a record still writes. `locked`: a writer holds the lock on its slot.
/// (Readers of the file can take a shared lock, which proves nothing.)
///
/// A process whose lock is held is alive, unless the kernel says that there is no such process:
/// then a child that it forked holds the lock. A process whose lock is free is dead, unless it is
/// seen to run and to have the file mapped. (After an exec, id and start are the same, but the
/// mapping is gone.) Without a `file` to look for, it is alive as long as it runs.
pub(super) fn writes(
    view: &ProcessView,
    record: &RecordAccess<Process>,
    locked: bool,
    file: Option<&File>,
) -> bool {
    if has_left(record) {
        return false;
    }
    let process = kernel_process(record);
    // Another copy of this library in our process (a plugin's) has handles that we do not know, and
    // its own lock.
    let is_me = view.is_me(&process);
    if is_me && is_joined(record) {
        return true;
    }
    match view.see(&process) {
        Liveness::Gone => false,
        Liveness::Unknown => locked,
        _ if locked => true,
        // The list of mappings ends with the first thread.
        Liveness::Headless => true,
        // The file may be mapped by this very call.
        Liveness::Runs if is_me => false,
        Liveness::Runs => file.is_none_or(|file| {
            let mut text = [0; 32];
            proc_path(process.pid, "maps", &mut text).is_none_or(|maps| maps_file(maps, file))
        }),
    }
}

/// The process of a record, by its own description.
pub(super) fn kernel_process(record: &RecordAccess<Process>) -> KernelProcess {
    let number = |field: fn(&Process) -> &AtomicU64| record.field(field).load(Ordering::Relaxed);
    KernelProcess {
        pid: record.field(|process| &process.pid).load(Ordering::Relaxed),
        start: number(|process| &process.start),
        pid_namespace: number(|process| &process.pid_namespace),
        time_namespace: number(|process| &process.time_namespace),
    }
}

/// The process with that identity, as it described itself; `None` if it left, or if its slot is
/// another's by now.
pub fn lookup(map: &Mapping, geometry: &Geometry, identity: u32) -> Option<KernelProcess> {
    let slot = (identity & 0xffff).checked_sub(1)?;
    if slot >= geometry.processes {
        return None;
    }
    let record = record(map, geometry, slot);
    let found = record.field(|process| &process.identity);
    // Acquire, pairs with the Release in `join`.
    let before = found.load(Ordering::Acquire);
    let process = kernel_process(&record);
    // Pairs with the fence in `join`: otherwise another process is taking the slot.
    fence(Ordering::Acquire);
    let is_it = before == identity && found.load(Ordering::Relaxed) == identity;
    (is_it && !has_left(&record)).then_some(process)
}

/// When a process ended, if its slot says that it did: the time when it left, or was found dead;
/// `now` if another process has the slot.
pub fn end(map: &Mapping, geometry: &Geometry, identity: u32, now: u64) -> Option<u64> {
    let slot = (identity & 0xffff).checked_sub(1);
    let Some(slot) = slot.filter(|slot| *slot < geometry.processes) else {
        return Some(now);
    };
    let record = record(map, geometry, slot);
    let found = record.field(|process| &process.identity);
    // Acquire, pairs with the Release in `join`: with an identity, `left` is that of its process.
    if found.load(Ordering::Acquire) != identity {
        return Some(now);
    }
    let left = left(&record);
    // Pairs with the fence in `join`: otherwise another process is taking the slot.
    fence(Ordering::Acquire);
    match found.load(Ordering::Relaxed) == identity {
        true => (left != 0).then_some(left & !FOUND_DEAD),
        false => Some(now),
    }
}

/// When it left, or was found dead; 0 = neither.
pub(super) fn left(record: &RecordAccess<Process>) -> u64 {
    // Acquire, pairs with the Releases in `leave` and `mark_a_dead`.
    record
        .field(|process| &process.left)
        .load(Ordering::Acquire)
}

fn has_left(record: &RecordAccess<Process>) -> bool {
    left(record) != 0
}

/// Whether a handle of this process that we know has the identity in a record.
fn is_joined(record: &RecordAccess<Process>) -> bool {
    let identity = record.field(|process| &process.identity);
    handle::is_joined(identity.load(Ordering::Relaxed))
}

/// Enters the calling process in the table. Returns its identity, or `None` if the table is full.
///
/// The lock on the slot is held as long as `opening`'s file is open. The kernel arbitrates who gets
/// a slot, so nothing else needs a lock. Does not allocate.
pub fn join(ring: &SharedRing, geometry: &Geometry, opening: &Opening, ticks: u64) -> Option<u32> {
    let map = ring.mapping();
    let view = ProcessView::here();
    let me = KernelProcess::me();
    mark_a_dead(ring, geometry, opening, &view, ticks);
    let mut turn = None;
    while let Some(next) = next_slot(map, geometry, turn) {
        turn = Some(next);
        let (_, slot) = next;
        let lock = Lock::Slot(slot);
        if !lock.try_acquire(opening) {
            continue;
        }
        let place = record(map, geometry, slot);
        let record = place.shared();
        let before = record.identity.load(Ordering::Acquire);
        if before != 0 {
            if writes(&view, &place, false, Some(opening.file())) {
                lock.release(opening);
                continue;
            }
            lanes::release_all(ring, before);
        }
        // The fence keeps the stores below behind the 0, and the Release at the end keeps them
        // before the identity (both pair with the Acquires in `writers`).
        record.identity.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        let serials = &ring.header().process_serial;
        let serial = serials.fetch_add(1, Ordering::Relaxed);
        let number = |field: &AtomicU64, value| field.store(value, Ordering::Relaxed);
        record.pid.store(me.pid, Ordering::Relaxed);
        number(&record.start, me.start);
        number(&record.pid_namespace, me.pid_namespace);
        number(&record.time_namespace, me.time_namespace);
        number(&record.joined, ticks);
        number(&record.left, 0);
        store_bytes(&record.name, &process_name());
        executables::describe(record);
        let mine = identity(serial, slot);
        record.identity.store(mine, Ordering::Release);
        return Some(mine);
    }
    None
}

/// Has the first slot whose process has died without leaving say so: its threads ended now, and its
/// lanes are free. So processes that come one after the other each find the one before.
// Not inline: a first event has a bound on its stack.
#[inline(never)]
fn mark_a_dead(
    ring: &SharedRing,
    geometry: &Geometry,
    opening: &Opening,
    view: &ProcessView,
    ticks: u64,
) {
    let map = ring.mapping();
    for slot in 0..geometry.processes {
        let place = record(map, geometry, slot);
        let record = place.shared();
        // Acquire, pairs with the Release in `join`. Behind a slot that nobody had are such ones.
        let before = record.identity.load(Ordering::Acquire);
        if before == 0 {
            return;
        }
        // Another handle of ours: trying its lock could lose it, if it is a lock of the process.
        let is_ours = || view.is_me(&kernel_process(&place)) && is_joined(&place);
        let lock = Lock::Slot(slot);
        if has_left(&place) || is_ours() || !lock.try_acquire(opening) {
            continue;
        }
        let is_dead = !writes(view, &place, false, Some(opening.file()));
        if is_dead && record.identity.load(Ordering::Acquire) == before {
            lanes::release_all(ring, before);
            // Release, pairs with `left`; a CAS, because it may have left just now.
            let (done, failed) = (Ordering::Release, Ordering::Relaxed);
            let _ = record
                .left
                .compare_exchange(0, ticks | FOUND_DEAD, done, failed);
        }
        lock.release(opening);
        if is_dead {
            return;
        }
    }
}

/// The slot to try after `turn`: fresh ones first, and then those of processes that left or died,
/// the first of them before the others, because its events are overwritten first and until then
/// readers ask for its executable; last, those of processes that may live. Each slot has its turn
/// once, unless it changes meanwhile.
// Not inline: a first event has a bound on its stack.
#[inline(never)]
fn next_slot(map: &Mapping, geometry: &Geometry, turn: Option<(u64, u32)>) -> Option<(u64, u32)> {
    let mut next = None;
    for slot in 0..geometry.processes {
        let record = record(map, geometry, slot);
        // Relaxed: looked at again under the lock.
        let identity = record
            .field(|process| &process.identity)
            .load(Ordering::Relaxed);
        let left = record
            .field(|process| &process.left)
            .load(Ordering::Relaxed);
        let when = match (identity, left) {
            (0, _) => 0,
            (_, 0) => u64::MAX,
            (_, left) => left & !FOUND_DEAD,
        };
        let found = (when, slot);
        if turn.is_none_or(|turn| found > turn) && next.is_none_or(|next| found < next) {
            next = Some(found);
            // No other fresh one comes before it.
            if when == 0 {
                break;
            }
        }
    }
    next
}

/// Leaves the table: frees lanes, and stores the time in the slot, which frees the thread records.
pub fn leave(ring: &SharedRing, geometry: &Geometry, me: u32, ticks: u64) {
    lanes::release_all(ring, me);
    let Some(slot) = (me & 0xffff).checked_sub(1) else {
        return;
    };
    let record = record(ring.mapping(), geometry, slot).shared();
    if record.identity.load(Ordering::Relaxed) == me {
        // Release, pairs with `has_left`: a process that sees this may take our lanes.
        record
            .left
            .store(ticks.max(1) & !FOUND_DEAD, Ordering::Release);
    }
}

/// Whether a reader of the file has locked a slot that no writer has, so that the table seems full.
pub fn is_held_by_readers(geometry: &Geometry, file: &File) -> bool {
    (0..geometry.processes).any(|slot| Lock::Slot(slot).is_held_by_readers(file))
}

/// Releases the lock on this process' slot explicitly, because a child forked meanwhile has a copy
/// of the descriptor.
pub fn unlock(me: u32, opening: &Opening) {
    if let Some(slot) = (me & 0xffff).checked_sub(1) {
        Lock::Slot(slot).release(opening);
    }
}

/// Frees the lanes and thread records of processes that died without leaving. Returns how many
/// lanes.
///
/// `opening` is the caller's own, `me` its own identity, which is skipped. Does not allocate.
pub fn reap(ring: &SharedRing, geometry: &Geometry, opening: &Opening, me: u32, ticks: u64) -> u32 {
    let map = ring.mapping();
    let view = ProcessView::here();
    let mut freed = 0;
    let mut owners = Owners::default();
    for slot in 0..geometry.processes {
        if slot.is_multiple_of(Owners::SLOTS) {
            owners = Owners::of(ring, geometry, slot);
        }
        let record = record(map, geometry, slot);
        let identity = &record.shared().identity;
        let other = identity.load(Ordering::Acquire);
        if other == 0 || other == me || !owners.has(slot) {
            continue;
        }
        // Another handle of ours: trying its lock could lose it, if it is a lock of the process.
        if view.is_me(&kernel_process(&record)) && is_joined(&record) {
            continue;
        }
        let lock = Lock::Slot(slot);
        let ours = lock.try_acquire(opening);
        let locked = !ours && lock.is_held_elsewhere(opening.file());
        let dead = !writes(&view, &record, locked, Some(opening.file()));
        if dead && identity.load(Ordering::Acquire) == other {
            freed += free_all(ring, geometry, other, ticks);
        }
        if ours {
            lock.release(opening);
        }
    }
    freed
}

/// Whether there are other processes in the table than `me` that are not known to have ended.
pub fn has_others(map: &Mapping, geometry: &Geometry, me: u32) -> bool {
    others(map, geometry, me).next().is_some()
}

/// The slots of other processes that are not known to have ended.
fn others(map: &Mapping, geometry: &Geometry, me: u32) -> impl Iterator<Item = u32> {
    let is_other = move |slot: &u32| {
        let record = record(map, geometry, *slot);
        let identity = record.field(|process| &process.identity);
        // Relaxed: looked at again under the lock.
        let identity = identity.load(Ordering::Relaxed);
        identity != 0 && identity != me && !has_left(&record)
    };
    (0..geometry.processes).filter(is_other)
}

/// Looks whether one of the others was killed, another one at each `turn`, and has its slot say so.
/// Its threads ended then. Leaves its lanes to [`reap`]. Does not allocate.
// Inline, because a first event has a bound on its stack.
#[inline(always)]
pub fn notice_a_death(
    map: &Mapping,
    geometry: &Geometry,
    opening: &Opening,
    me: u32,
    turn: u64,
    ticks: u64,
) {
    let count = others(map, geometry, me).count().max(1) as u64;
    let Some(slot) = others(map, geometry, me).nth((turn % count) as usize) else {
        return;
    };
    let view = ProcessView::here();
    let record = record(map, geometry, slot);
    // As in `reap`.
    if view.is_me(&kernel_process(&record)) && is_joined(&record) {
        return;
    }
    let lock = Lock::Slot(slot);
    // With its lock, nobody takes its slot meanwhile. If a child of it has that, `reap` comes.
    if lock.try_acquire(opening) {
        if !writes(&view, &record, false, Some(opening.file())) {
            let left = &record.shared().left;
            // Release, pairs with `left`; a CAS, because it may have left just now.
            let _ =
                left.compare_exchange(0, ticks | FOUND_DEAD, Ordering::Release, Ordering::Relaxed);
        }
        lock.release(opening);
    }
}

/// Frees the lanes and thread records of a dead process. Returns how many lanes.
// Not inline: a first event has a bound on its stack, and looking at processes needs more of it.
#[inline(never)]
fn free_all(ring: &SharedRing, geometry: &Geometry, dead: u32, ticks: u64) -> u32 {
    let map = ring.mapping();
    let end = end(map, geometry, dead, ticks).unwrap_or(ticks);
    threads::end_all(map, geometry, dead, end);
    lanes::release_all(ring, dead)
}

/// Which of some slots have processes with lanes or thread records. So all lanes and records are
/// gone through once, and not once for each slot.
#[derive(Default)]
struct Owners {
    slots: [u64; 4],
}

impl Owners {
    /// How many slots they are.
    const SLOTS: u32 = 256;

    /// Those from `first` on. Does not allocate.
    fn of(ring: &SharedRing, geometry: &Geometry, first: u32) -> Owners {
        use super::Storage;
        let map = ring.mapping();
        let mut owners = Owners::default();
        let owner = |lane| lanes::process_of(ring.lane(lane).owner.load(Ordering::Relaxed));
        let of_lanes = (0..ring.lanes()).map(owner).filter(|process| *process != 0);
        for process in of_lanes.chain(threads::processes(map, geometry)) {
            let slot = (process & 0xffff).wrapping_sub(1);
            let is_here = slot.wrapping_sub(first) < Owners::SLOTS && slot < geometry.processes;
            // A record may name a process that had the slot before.
            let now = || {
                record(map, geometry, slot)
                    .shared()
                    .identity
                    .load(Ordering::Relaxed)
            };
            if is_here && now() == process {
                owners.slots[(slot % 256 / 64) as usize] |= 1 << (slot % 64);
            }
        }
        owners
    }

    fn has(&self, slot: u32) -> bool {
        self.slots[(slot % 256 / 64) as usize] >> (slot % 64) & 1 != 0
    }
}
