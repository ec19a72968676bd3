//! The thread table: names for the threads in the entries.
//!
//! An entry has the kernel's id of the thread and an identity, `generation << 16 | slot`. Slots of
//! ended threads are reused under another generation, once no slot is fresh. An entry whose
//! generation is gone keeps its thread id and loses the names and the process id, and `info` counts
//! it. It never gets another thread's: generations of a slot only grow, and a slot that had the
//! last one is not used again.
//!
//! **Which thread is forgotten first?** The one that ended first, of some that registered one after
//! the other: its entries are overwritten first. A thread that ended a moment ago, or was killed,
//! is what a person asks about. There are enough slots for threads that log sixteen entries each.
//!
//! A thread has ended, too, if its process has: nobody goes through the slots when a process ends,
//! because that would cost a forked child more than its fork. So the end of its threads is when it
//! left, or was found dead. If its slot has another process by then, it is when a thread looked
//! there; each looks at the slots right before its own, also while there are fresh ones, and so
//! soon after the end of threads that are short. Of those whose ends came at once, the one that
//! began first is forgotten first.
//!
//! A thread may change its name and group while it runs. Then its record keeps its identity, and
//! `renames` is odd meanwhile.
//!
//! The fields of a record are Relaxed: they are stored between the fence and the Release of its
//! identity, and copied between the two looks at it (`copy`); who reads the copy is alone with it.
//! What a thread stores in its own record for itself alone, or finds in it, is Relaxed, too, and so
//! are hints that an exchange looks at again.

use std::sync::Arc;

use super::executables::ProcessExecutable;
use crate::layout::records::{FLAG_SYSTEM_NAME, THREAD_GROUP, THREAD_NAME};
use crate::layout::{Geometry, records};
use crate::shm::{
    Mapping, Record, RecordAccess, load_bytes, process_name, store_bytes, thread_id, thread_name,
};
use crate::sync::{AtomicU8, AtomicU32, Ordering, fence};

/// The last generation of a slot.
const LAST_GENERATION: u16 = 0xffff;

/// A thread that logged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// The number that no other thread of its timeline ever has, whatever its name; 0 if it is not
    /// known.
    pub identity: u32,
    /// The kernel's id of the thread; 0 if it is not known.
    pub tid: u32,
    /// The id of its process; 0 if it is not known.
    pub pid: u32,
    /// The thread's name: the one that the program gave it, or that of the system. Missing in an
    /// archive that lost it, and if the thread was killed while it changed its name.
    pub name: Option<String>,
    /// Its group, if the program gave it one.
    pub group: Option<String>,
    /// The name of its process. Only in an archive can it be missing.
    pub process: Option<String>,
    /// The executable of its process, if that is known.
    pub executable: Option<Arc<ProcessExecutable>>,
}

impl Thread {
    /// The kernel's id of the thread, if it is known.
    pub fn known_tid(&self) -> Option<u32> {
        (self.tid != 0).then_some(self.tid)
    }

    /// The id of its process, if it is known.
    pub fn known_pid(&self) -> Option<u32> {
        (self.pid != 0).then_some(self.pid)
    }
}

fn record<'a>(
    map: &'a Mapping,
    geometry: &Geometry,
    slot: u32,
) -> RecordAccess<'a, records::Thread> {
    map.record(geometry.thread().at(slot))
}

/// A thread's name and group, as its record holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadNames {
    /// Its name. `None` stands for the system's.
    pub name: Option<[u8; THREAD_NAME]>,
    /// Its group; zeros if it has none.
    pub group: [u8; THREAD_GROUP],
}

impl ThreadNames {
    /// These names, as far as they fit. They end at the first NUL. Without a name, or with an empty
    /// one, the thread has that of the system; an empty group is none.
    pub fn new(name: &[u8], group: &[u8]) -> ThreadNames {
        let name = padded(name);
        ThreadNames {
            name: (name[0] != 0).then_some(name),
            group: padded(group),
        }
    }
}

/// The beginning of a text that fits with a NUL behind it. A character that is cut goes whole.
fn padded<const N: usize>(text: &[u8]) -> [u8; N] {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut end = text.len().min(N - 1);
    if end < text.len() {
        // A character has at most three bytes behind its first. Other bytes are cut anywhere.
        let goes_on = |at: &usize| text[*at] & 0xc0 == 0x80;
        let begins = (end - 3..=end).rev().find(|at| !goes_on(at));
        end = begins.unwrap_or(end);
    }
    let mut padded = [0; N];
    padded[..end].copy_from_slice(&text[..end]);
    padded
}

/// The system's name of the calling thread.
fn system_name() -> [u8; THREAD_NAME] {
    padded(&thread_name())
}

/// How many records a thread looks at if none is fresh, to take that of the one that ended first.
const LOOKED_AT: u32 = 32;
/// So many of them stand before its own, because threads do not end in the order of their records.
const BEFORE: u32 = LOOKED_AT / 2;

/// How many threads have registered so far.
pub fn registered(map: &Mapping) -> u64 {
    // Relaxed: it only counts.
    let serial = map.header().field(|header| &header.thread_serial);
    serial.load(Ordering::Relaxed)
}

/// Enters the calling thread in the table. Returns its identity and its thread id. The identity is
/// 0 if every record belongs to a living thread, or had its last one. `end` says when a process
/// ended, if it did. Does not allocate.
pub fn register(
    map: &Mapping,
    geometry: &Geometry,
    process: u32,
    ticks: u64,
    end: impl Fn(u32) -> Option<u64>,
) -> (u32, u32) {
    let tid = thread_id();
    let serials = &map.header().shared().thread_serial;
    let serial = serials.fetch_add(1, Ordering::Relaxed);
    // If a record was claimed meanwhile, another thread has got it.
    while let Some((slot, former)) = free_slot(map, geometry, serial, &end) {
        let record = record(map, geometry, slot).shared();
        if let Some(generation) = claim(record, former, process) {
            describe(record, tid, ticks);
            let identity = u32::from(generation) << 16 | slot;
            // Release, pairs with the Acquires in `copy`: with the identity, all of it is there.
            record.identity.store(identity, Ordering::Release);
            return (identity, tid);
        }
    }
    (0, tid)
}

/// The slot that the next thread gets, and the process that its record names: a fresh one, or that
/// of the thread that ended first of those that are looked at.
fn free_slot(
    map: &Mapping,
    geometry: &Geometry,
    serial: u64,
    end: impl Fn(u32) -> Option<u64>,
) -> Option<(u32, u32)> {
    let mut first_ended = None;
    let is_first_lap = serial < geometry.threads.into();
    let before = match is_first_lap {
        true => serial.min(BEFORE.into()) as u32,
        false => BEFORE,
    };
    let first = serial.wrapping_sub(before.into());
    for i in 0..geometry.threads {
        if i >= LOOKED_AT && first_ended.is_some() {
            break;
        }
        let slot = (first.wrapping_add(i.into()) % u64::from(geometry.threads)) as u32;
        let record = record(map, geometry, slot).shared();
        // Relaxed, here and below: looked at again once the record is ours. It only grows.
        let generation = record.generation.load(Ordering::Relaxed);
        let process = record.live.load(Ordering::Relaxed);
        if generation == 0 {
            // A fresh one before ours is that of a thread that registers at this moment.
            let is_ours = i >= before || !is_first_lap;
            if is_ours && (process == 0 || end(process).is_some()) {
                return Some((slot, process));
            }
            continue;
        }
        let Some(ended) = ended(record, process, &end) else {
            continue;
        };
        let key = (ended, record.start.load(Ordering::Relaxed));
        if generation != LAST_GENERATION && first_ended.is_none_or(|(first, _)| key < first) {
            first_ended = Some((key, (slot, process)));
        }
    }
    first_ended.map(|(_, slot)| slot)
}

/// When the thread of a record ended, if it did. If only its process is known to have, the time is
/// stored. If another thread takes the record at this moment, this is stored for that one, which
/// overwrites it at its own end.
fn ended(record: &records::Thread, process: u32, end: impl Fn(u32) -> Option<u64>) -> Option<u64> {
    let stored = record.end.load(Ordering::Relaxed);
    if process == 0 && stored != 0 {
        return Some(stored);
    }
    let ticks = match process {
        // Nobody knows any more.
        0 => 1,
        process => end(process)?,
    };
    let (order, end) = (Ordering::Relaxed, &record.end);
    Some(
        end.compare_exchange(0, ticks, order, order)
            .map_or_else(|end| end, |_| ticks),
    )
}

/// Takes a record whose thread has ended, for a thread of `process`. Returns its new generation;
/// `None` if another thread took it, or if it had its last one.
fn claim(record: &records::Thread, former: u32, process: u32) -> Option<u16> {
    // Acquire (pairs with the Release in `end`): the former owner has finished with the record.
    let (claimed, failed) = (Ordering::Acquire, Ordering::Relaxed);
    let claim = record
        .live
        .compare_exchange(former, process, claimed, failed);
    claim.ok()?;
    let last = record.generation.load(Ordering::Relaxed);
    let Some(generation) = last.checked_add(1) else {
        // Release, pairs with the Acquire above, of the next who tries.
        record.live.store(0, Ordering::Release);
        return None;
    };
    // First: if we are killed from here on, the next thread gets another one.
    record.generation.store(generation, Ordering::Relaxed);
    Some(generation)
}

/// Describes the calling thread in its new record, which has no identity yet.
fn describe(record: &records::Thread, tid: u32, ticks: u64) {
    // The fence keeps the stores below behind the 0, and the Release behind them keeps them before
    // the identity: a reader that finds the same identity before and after has read one thread's
    // record (both pair with the Acquires in `copy`).
    record.identity.store(0, Ordering::Relaxed);
    fence(Ordering::Release);
    record.tid.store(tid, Ordering::Relaxed);
    record.pid.store(std::process::id(), Ordering::Relaxed);
    record.start.store(ticks, Ordering::Relaxed);
    record.end.store(0, Ordering::Relaxed);
    record.renames.store(0, Ordering::Relaxed);
    store_first_names(record);
    store_bytes(&record.process_name, &process_name());
}

/// Stores the system's name of the calling thread, and no group.
// Not inline: a first event has a bound on its stack, and what is called next needs more of it.
#[inline(never)]
fn store_first_names(record: &records::Thread) {
    record.flags.store(FLAG_SYSTEM_NAME, Ordering::Relaxed);
    store_bytes(&record.name, &system_name());
    store_bytes(&record.group, &[0; THREAD_GROUP]);
}

/// Changes the name and the group of the calling thread, which has that identity. Without a name,
/// it has that of the system; without a group, it keeps its group. Does not allocate.
pub fn rename(
    map: &Mapping,
    geometry: &Geometry,
    identity: u32,
    name: Option<&[u8; THREAD_NAME]>,
    group: Option<&[u8; THREAD_GROUP]>,
) {
    let slot = identity & 0xffff;
    if identity == 0 || slot >= geometry.threads {
        return;
    }
    let record = record(map, geometry, slot).shared();
    let flags = if name.is_none() { FLAG_SYSTEM_NAME } else { 0 };
    let name = name.copied().unwrap_or_else(system_name);
    let group = group.copied().unwrap_or_else(|| load_bytes(&record.group));
    let is_known = record.flags.load(Ordering::Relaxed) == flags
        && load_bytes(&record.name) == name
        && load_bytes(&record.group) == group;
    if is_known || record.identity.load(Ordering::Relaxed) != identity {
        return;
    }
    // Only this thread writes here. Odd already if a handler jumped out of a rename.
    let writing = record.renames.load(Ordering::Relaxed) | 1;
    // The fence keeps the stores below behind the odd number, and the Release keeps them before the
    // even one (both pair with the Acquires in `copy`).
    record.renames.store(writing, Ordering::Relaxed);
    fence(Ordering::Release);
    record.flags.store(flags, Ordering::Relaxed);
    store_bytes(&record.name, &name);
    store_bytes(&record.group, &group);
    let written = writing.wrapping_add(1);
    record.renames.store(written, Ordering::Release);
    // Release, pairs with the Acquire in `renames`: a reader of the count finds the names.
    let count = &map.header().shared().renames;
    count.fetch_add(1, Ordering::Release);
}

/// How often threads were renamed. A reader that keeps names looks them up again when it changes.
pub fn renames(map: &Mapping) -> u64 {
    let count = map.header().field(|header| &header.renames);
    // Acquire, pairs with the Release in `rename`.
    count.load(Ordering::Acquire)
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

/// The processes that records name, each as often as it has records.
pub fn processes<'a>(map: &'a Mapping, geometry: &'a Geometry) -> impl Iterator<Item = u32> + 'a {
    let live = |slot| record(map, geometry, slot).field(|thread| &thread.live);
    let processes = (0..geometry.threads).map(move |slot| live(slot).load(Ordering::Relaxed));
    processes.filter(|process| *process != 0)
}

/// Ends all threads of a process that has ended, at that time unless another one is stored.
pub fn end_all(map: &Mapping, geometry: &Geometry, process: u32, ticks: u64) {
    for slot in 0..geometry.threads {
        let record = record(map, geometry, slot).shared();
        // Relaxed: looked at again below.
        if record.live.load(Ordering::Relaxed) == process {
            ended(record, process, |_| Some(ticks));
            // Release as in `end`; a CAS, because a live thread may have taken the slot meanwhile.
            let live = &record.live;
            let _ = live.compare_exchange(process, 0, Ordering::Release, Ordering::Relaxed);
        }
    }
}

/// Copies a record as it was at one moment; zeros if another thread took it meanwhile. If its names
/// were being written each time, or their writer was killed in that, `renames` is odd in the copy.
pub fn copy(map: &Mapping, geometry: &Geometry, slot: u32, copy: &mut [u8]) {
    let record = record(map, geometry, slot);
    let identity = record.field(|thread| &thread.identity);
    let renames = record.field(|thread| &thread.renames);
    for _ in 0..64 {
        // Acquire (both pair with the Releases in `register` and `rename`).
        let before = identity.load(Ordering::Acquire);
        if before == 0 {
            return copy.fill(0);
        }
        let written = renames.load(Ordering::Acquire);
        map.read(geometry.thread().at(slot), copy);
        // Pairs with the fences in `register` and `rename`: if the words are unchanged, nobody had
        // begun to overwrite what was copied.
        fence(Ordering::Acquire);
        if identity.load(Ordering::Relaxed) != before {
            return copy.fill(0);
        }
        if written.is_multiple_of(2) && renames.load(Ordering::Relaxed) == written {
            return;
        }
        std::hint::spin_loop();
    }
    records::Thread::edit(copy, |thread| *thread.renames.get_mut() |= 1);
}

/// A thread as its record describes it.
pub struct ThreadEntry {
    /// The thread.
    pub thread: Thread,
    /// Whether its name is the system's, which may have changed since.
    pub is_system_named: bool,
    /// The identity of its process; 0 if the thread has ended. If its process has, it is that of no
    /// process, or of one that left.
    pub process: u32,
    /// Changes when its names do.
    pub renames: u32,
    /// Ticks of its first event.
    pub start: u64,
}

/// The thread of that identity, if its record is still there.
pub fn lookup(map: &Mapping, geometry: &Geometry, identity: u32) -> Option<ThreadEntry> {
    let slot = identity & 0xffff;
    if identity == 0 || slot >= geometry.threads {
        return None;
    }
    let mut bytes = [0; size_of::<records::Thread>()];
    copy(map, geometry, slot, &mut bytes);
    read(&bytes).filter(|recorded| recorded.thread.identity == identity)
}

/// The thread of the copy of a record; `None` if there is none.
pub fn read(copy: &[u8]) -> Option<ThreadEntry> {
    let record = records::Thread::of(copy);
    let number = |field: &AtomicU32| field.load(Ordering::Relaxed);
    let identity = number(&record.identity);
    if identity == 0 {
        return None;
    }
    let renames = number(&record.renames);
    let is_named = renames.is_multiple_of(2);
    let group = text(&record.group);
    let flags = record.flags.load(Ordering::Relaxed);
    Some(ThreadEntry {
        thread: Thread {
            identity,
            tid: number(&record.tid),
            pid: number(&record.pid),
            name: is_named.then(|| text(&record.name)),
            group: (is_named && !group.is_empty()).then_some(group),
            process: Some(text(&record.process_name)),
            executable: None,
        },
        start: record.start.load(Ordering::Relaxed),
        is_system_named: is_named && flags & FLAG_SYSTEM_NAME != 0,
        process: number(&record.live),
        renames,
    })
}

/// Puts a name into the copy of a record, as far as it fits.
pub fn put_name(copy: &mut [u8], name: &str) {
    records::Thread::edit(copy, |thread| {
        store_bytes(&thread.name, &padded::<THREAD_NAME>(name.as_bytes()))
    });
}

/// The text up to its first NUL, or all of it.
fn text<const N: usize>(bytes: &[AtomicU8; N]) -> String {
    let bytes = load_bytes(bytes);
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_are_cut_between_characters(text in "[a-z\u{e9}\u{2192}\u{1d11e}]{0,60}") {
            let kept = padded::<THREAD_NAME>(text.as_bytes());
            let end = kept.iter().position(|byte| *byte == 0).expect("a NUL");
            let kept = std::str::from_utf8(&kept[..end]).expect("whole characters");
            // As many as fit.
            prop_assert!(text.starts_with(kept));
            let next = text[kept.len()..].chars().next();
            prop_assert!(next.is_none_or(|next| kept.len() + next.len_utf8() >= THREAD_NAME));
        }

        #[test]
        fn bytes_that_are_no_text_are_cut_as_well(
            bytes in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let kept = padded::<THREAD_GROUP>(&bytes);
            let end = kept.iter().position(|byte| *byte == 0).expect("a NUL");
            prop_assert!(bytes.starts_with(&kept[..end]));
            let until = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            prop_assert!(end == until || (THREAD_GROUP - 4..THREAD_GROUP).contains(&end));
        }
    }
}
