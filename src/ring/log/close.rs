//! Closes a timeline while threads of this process may still log to it.
//!
//! A program that ends runs its destructors while its other threads go on, and nobody can wait for
//! these. So a closed handle keeps all that a thread needs that logs now or later, except what
//! belongs to others: its memory is replaced by zeros of our own ([`Mapping::forget`]), in which
//! such a thread does no harm. First the memory is replaced, and then this process leaves the
//! table, through another mapping: whatever a thread does in between happens either before it
//! leaves, or to our own memory.
//!
//! The enable bytes there send each event that was defined to a slow path, which counts it. So the
//! hot path knows nothing of this. A forked child counts its own: in its memory, the count is 0.
//!
//! A signal handler that ends the program closes it, too, and may have interrupted the very thread
//! that joins or ends, which goes on when the handler returns, or never. So nothing here waits for
//! that thread, nor for any other without bound. A thread that joins until after the close finds
//! that, and leaves again.
//!
//! What is Relaxed here is this process's own identity, and counts of events.

use std::sync::Arc;

use super::RingLog;
use crate::clock::{self, Stretches};
use crate::ring::memory::SharedRing;
use crate::ring::{local, processes};
use crate::shm::{Mapping, Patience, thread_id};
use crate::sync::Ordering;

/// The states of a closed handle: with the memory of the ring, or with memory of its own.
const IN_THE_RING: u32 = 1;
const ON_ITS_OWN: u32 = 2;

/// An enable byte that is neither that of a plain event nor that of an important one.
const CLOSED: u8 = 0xff;

impl RingLog {
    /// Whether this process has closed it.
    pub fn is_closed(&self) -> bool {
        // Relaxed: where an order matters, `RingLog::process` asks as it needs.
        self.closed.load(Ordering::Relaxed) != 0
    }

    /// Closes it. `known`: how many events are defined; `may_forget`: whether nobody else uses the
    /// mapping.
    pub fn close(&self, known: u32, may_forget: bool) {
        if self.is_closed() {
            return;
        }
        let elsewhere = may_forget.then(|| self.map_again()).flatten();
        // SeqCst here, on the load below, and on both in `process`: either a thread that joins a
        // forked child finds it closed, or we find that the thread is joining.
        self.closed.store(IN_THE_RING, Ordering::SeqCst);
        let is_joining = self.wait_for_joining();
        let map = self.ring.mapping();
        let first = self.geometry.enable().offset as usize;
        let known = known.min(self.geometry.definitions) as usize;
        // No event finds a byte of 0, which would count nothing.
        let events = first + 1..first + known;
        // A thread that joins has to leave again, and is to find the table then.
        let may_forget = elsewhere.is_some() && !is_joining;
        if may_forget && map.forget(&events, CLOSED).is_ok() {
            // Release, pairs with the Acquire in `tell_of_late_events`.
            self.closed.store(ON_ITS_OWN, Ordering::Release);
        }
        // If it could not be replaced, threads go on through the lanes of CPUs, which are nobody's.
        let patience = match local::is_handler_in_between() {
            true => Patience::MOMENT,
            false => Patience::SECONDS,
        };
        self.leave(elsewhere.as_ref().unwrap_or(&self.ring), Some(patience));
        self.index.let_go();
        self.file.close();
    }

    /// Waits for a thread that joins a forked child. Returns whether one still does: the one that
    /// this handler interrupted, or one that took too long.
    fn wait_for_joining(&self) -> bool {
        let mut patience = Patience::SECONDS;
        // SeqCst: as in `close`.
        let joining = || self.index.page().joining.load(Ordering::SeqCst);
        while ![0, thread_id()].contains(&joining()) && patience.wait().is_ok() {}
        joining() != 0
    }

    /// Another mapping of the ring.
    fn map_again(&self) -> Option<SharedRing> {
        let length = self.ring.mapping().len();
        // What takes its place may need room among what may be locked.
        self.ring.mapping().unlock();
        let map = |file: &_| Mapping::writable(file, length, false).ok();
        let map = self.file.with(|opening| map(opening.file()))??;
        SharedRing::new(&Arc::new(map), &self.geometry)
    }

    /// Leaves the process table, and frees what this process has in the ring. With patience, an
    /// ending thread that takes longer goes on.
    pub(super) fn leave(&self, ring: &SharedRing, patience: Option<Patience>) {
        let process = self.index.page().process.load(Ordering::Relaxed);
        if process != 0 && !clock::is_forbidden() {
            // The last events of a program that filled no chunk lately are told by this look.
            if let Some(stretches) = Stretches::of(ring.mapping(), &self.geometry, self.clock) {
                stretches.check();
            }
        }
        self.index.close(patience);
        if process != 0 {
            processes::leave(ring, &self.geometry, process, self.time_of_end());
            self.file
                .with(|opening| processes::unlock(process, opening));
        }
    }

    /// Tells the timeline of the events that came after it was closed, if it is still at its name.
    pub fn tell_of_late_events(&self) {
        // Otherwise they are counted there already, with those of other processes. Acquire, pairs
        // with the Release in `close`: our memory is in its place.
        if self.closed.load(Ordering::Acquire) != ON_ITS_OWN {
            return;
        }
        let count = &self.ring.header().dropped_closed;
        let late = count.swap(0, Ordering::Relaxed);
        if late != 0 && !self.tell(late) {
            // Perhaps it is there later.
            count.fetch_add(late, Ordering::Relaxed);
        }
    }

    /// Adds to the count of the timeline at its name. Returns whether it did.
    fn tell(&self, late: u64) -> bool {
        let length = self.ring.mapping().len();
        let map = self
            .file
            .reopen()
            .and_then(|opening| Mapping::writable(opening.file(), length, false));
        let Ok(map) = map else {
            return false;
        };
        let header = map.header();
        let count = &header.shared().dropped_closed;
        count.fetch_add(late, Ordering::Relaxed);
        true
    }
}
