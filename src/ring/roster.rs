//! The list of processes that write to a timeline, as people read it.

use std::fs::File;

use super::life::ProcessView;
use super::processes::{kernel_process, left, record, writes};
use crate::error::User;
use crate::layout::Geometry;
use crate::layout::records::FOUND_DEAD;
use crate::shm::{Lock, Mapping};
use crate::sync::{Ordering, fence};

/// A process that writes to a timeline, or wrote to it when it was saved or killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterProcess {
    /// Process id, in its own pid namespace.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
    /// Whether it still runs.
    pub alive: bool,
}

/// How many processes are listed that were killed, the last ones.
const MOST_DEAD: usize = 8;

/// A process in the table, which may have left.
struct Entry {
    joined: u64,
    namespace: u64,
    has_left: bool,
    writer: WriterProcess,
}

/// The processes that write now, and the last ones that were killed, unless they became another
/// program that joined. A snapshot, which is not `live`, has no writers. Without a `file`, whose
/// locks tell which processes live, all live that are not known to be dead.
pub fn writers(
    map: &Mapping,
    geometry: &Geometry,
    live: bool,
    file: Option<&File>,
) -> Vec<WriterProcess> {
    let view = ProcessView::here();
    let slots = 0..geometry.processes;
    let entry = |slot| entry(map, geometry, slot, &view, live, file);
    let entries: Vec<Entry> = slots.filter_map(entry).collect();
    let is_followed = |one: &Entry| {
        let is_later = |other: &Entry| {
            (other.writer.pid, other.namespace) == (one.writer.pid, one.namespace)
                && other.joined > one.joined
        };
        entries.iter().any(is_later)
    };
    let is_dead = |one: &&Entry| !one.has_left && !one.writer.alive && !is_followed(one);
    let mut dead: Vec<u64> = entries
        .iter()
        .filter(is_dead)
        .map(|one| one.joined)
        .collect();
    dead.sort_unstable();
    let first = dead.iter().rev().nth(MOST_DEAD - 1).copied();
    let is_last = |one: &Entry| first.is_none_or(|first| one.joined >= first);
    entries
        .iter()
        .filter(|one| one.writer.alive || (is_dead(one) && is_last(one)))
        .map(|one| one.writer.clone())
        .collect()
}

/// That of a slot, if it is whole.
fn entry(
    map: &Mapping,
    geometry: &Geometry,
    slot: u32,
    view: &ProcessView,
    live: bool,
    file: Option<&File>,
) -> Option<Entry> {
    let record = record(map, geometry, slot);
    let identity = record.field(|process| &process.identity);
    // Acquire, pairs with the Release in `join`.
    let before = identity.load(Ordering::Acquire);
    if before == 0 {
        return None;
    }
    let is_held = |file| live && Lock::Slot(slot).is_held_elsewhere(file);
    let locked = file.map(is_held);
    let left = left(&record);
    let has_left = left != 0 && left & FOUND_DEAD == 0 && locked != Some(true);
    // Relaxed: between the Acquire above and the fence below.
    let entry = Entry {
        joined: record
            .field(|process| &process.joined)
            .load(Ordering::Relaxed),
        namespace: kernel_process(&record).pid_namespace,
        has_left,
        writer: WriterProcess {
            pid: record.field(|process| &process.pid).load(Ordering::Relaxed),
            name: record.field(|process| &process.name).text(),
            alive: live && !has_left && writes(view, &record, locked.unwrap_or(true), file),
        },
    };
    // Pairs with the fence in `join`: otherwise another process is taking the slot.
    fence(Ordering::Acquire);
    (identity.load(Ordering::Relaxed) == before).then_some(entry)
}

/// The living ones, as errors name them.
pub fn users(map: &Mapping, geometry: &Geometry, file: &File) -> Vec<User> {
    writers(map, geometry, true, Some(file))
        .into_iter()
        .filter(|w| w.alive)
        .map(|w| User {
            pid: w.pid,
            name: w.name,
        })
        .collect()
}
