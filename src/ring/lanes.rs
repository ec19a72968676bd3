//! Owners of lanes: taking a free lane, giving it back, and freeing those of dead processes.

use super::memory::SharedRing;
use super::{Storage, writer};
use crate::sync::{Ordering, fence};

/// The owner word: a process and one of its threads.
pub fn owner(process: u32, thread: u32) -> u64 {
    u64::from(process) << 32 | u64::from(thread)
}

/// The process in an owner word; 0 = the lane is free.
pub fn process_of(owner: u64) -> u32 {
    (owner >> 32) as u32
}

/// Takes a free lane from `first` on. The search starts at a place that depends on the caller, so
/// that threads that start together do not compete for the same lane.
pub fn acquire(ring: &SharedRing, first: u32, hint: u32, owner: u64) -> Option<u32> {
    let count = ring.lanes() - first;
    for i in 0..count {
        let lane = first + (hint.wrapping_add(i)) % count;
        let word = &ring.lane(lane).owner;
        // Relaxed: the exchange below looks again.
        if word.load(Ordering::Relaxed) != 0 {
            continue;
        }
        // Acquire (pairs with the Release in `release`): we continue from the former owner's cursor
        // and entries.
        if word
            .compare_exchange(0, owner, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
        {
            // The lane's current chunk was taken by another thread, whose fence orders only its own
            // stores; this one orders ours. Pairs with the acquire fence in reader::copy.
            fence(Ordering::Release);
            return Some(lane);
        }
    }
    None
}

/// Gives a lane back, if `owner` still owns it. The lane keeps its current chunk, and the next
/// owner continues in it.
pub fn release(ring: &SharedRing, lane: u32, owner: u64) {
    // Release (pairs with the Acquire in `acquire`). A CAS, because another process may have judged
    // us dead.
    let _ = ring
        .lane(lane)
        .owner
        .compare_exchange(owner, 0, Ordering::Release, Ordering::Relaxed);
}

/// Frees all lanes of a process that ended. Returns how many.
pub fn release_all(ring: &SharedRing, process: u32) -> u32 {
    let mut freed = 0;
    for lane in 0..ring.lanes() {
        // Acquire, pairs with the Release in `release`, though nothing hangs on it: the exchange
        // there compares the owner again.
        let word = ring.lane(lane).owner.load(Ordering::Acquire);
        if word != 0 && process_of(word) == process {
            release(ring, lane, word);
            freed += 1;
        }
    }
    freed
}

/// Initialises the tickets and cursors of a new ring.
pub fn initialise(ring: &SharedRing) {
    let (ticket, cursor) = writer::initial(ring);
    // Relaxed: nobody else has the ring yet; the rename of its file publishes it.
    ring.next_ticket().store(ticket, Ordering::Relaxed);
    for lane in 0..ring.lanes() {
        ring.cursor(lane).store(cursor, Ordering::Relaxed);
    }
}
