//! Logging: one event from a thread into a lane.
//!
//! The hot path is [`rseq::append`], through the lane of the CPU. What follows it here is for the
//! events that it could not take: a thread's first, those that find a chunk full, and those of
//! threads that no CPU's lane serves. These have a lane of their own, and guard it against their
//! signal handlers by a mark. What an append through it costs, in order: the busy mark (so that a
//! signal handler which interrupts an append does not write into the same entry), the key (so that
//! a slot of a closed handle, or of our parent before a fork, is never taken for ours), the entry,
//! a look at the mark (so that a child forked in between leaves the entry to its parent), the
//! commit.

mod join;

use super::draft::{Draft, Image, padding};
use super::handle::{Index, pinned};
use super::local::{self, NO_LANE, Slot};
use super::memory::Shared;
use super::rseq::{self, Hot, Otherwise};
use super::{Storage, processes, writer};
use crate::clock::{ClockKind, current_cpu, rseq_area};
use crate::layout::words::Cursor;
use crate::layout::{Geometry, Header, MAX_SLOTS, PAYLOAD_BYTES};
use crate::shm::SharedFile;
use crate::sync::{AtomicU64, Ordering, compiler_fence};

/// Attempts at the lane of a CPU. Each that fails was interrupted; so often in a row only a
/// debugger does that, who stops after each instruction. Few, because each that finds the chunk
/// full costs a ticket.
const ATTEMPTS: u32 = 3;

/// A timeline as this process writes to it.
#[repr(C)]
pub struct Log {
    // First: `Otherwise` gets from it to the rest.
    hot: Hot,
    clock: ClockKind,
    index: Index,
    ring: Shared,
    geometry: Geometry,
    file: SharedFile,
}

// SAFETY: the pointer leads into the mapping that `ring` keeps; everything else is Sync by itself.
unsafe impl Send for Log {}
// SAFETY: as above; all access through the pointer is atomic.
unsafe impl Sync for Log {}

impl Log {
    /// Joins this process to the timeline. `None` if its process table is full.
    pub fn join(
        index: Index,
        ring: &Shared,
        geometry: &Geometry,
        clock: ClockKind,
        file: SharedFile,
    ) -> Option<Box<Log>> {
        // In a section there is no call, so no other clock than the counter.
        let area = rseq_area().filter(|_| clock == ClockKind::Tsc);
        let log = Box::new(Log {
            hot: Hot::new(ring, geometry, index.key(), index.number(), area),
            clock,
            index,
            ring: ring.clone(),
            geometry: *geometry,
            file,
        });
        // What would take the loader's lock, or allocate, is done now and not in somebody's first
        // event.
        local::prepare(thread_exit);
        let _ = current_cpu();
        let me = log
            .file
            .with(|f| processes::join(&log.ring, &log.geometry, f, log.clock.now()))??;
        log.joined(me);
        log.file.with(|own| log.index.hold(own.file()));
        Some(log)
    }

    /// This process is in the process table, as `process`.
    fn joined(&self, process: u32) {
        let page = self.index.page();
        // Release, pairs with the Acquire in `process`.
        page.process.store(process, Ordering::Release);
        self.index.open((&raw const *self).cast());
    }

    /// The enable table and its length, for checks inlined into other languages.
    pub fn enable_table(&self) -> (*const u8, u32) {
        (self.hot.enabled.cast(), self.hot.events)
    }

    /// The file behind it.
    pub fn file(&self) -> &SharedFile {
        &self.file
    }

    /// Whether the event is logged just now. Ids out of range are not.
    #[inline(always)]
    pub fn enabled(&self, event: u32) -> bool {
        // SAFETY: below the length of the enable table, which lies in the mapping that `ring`
        // keeps. Relaxed: the byte guards nothing but itself.
        event < self.hot.events
            && unsafe { &*self.hot.enabled.add(event as usize) }.load(Ordering::Relaxed) != 0
    }

    /// Logs an event if it is enabled.
    #[inline(always)]
    pub fn log(&self, event: u32, [a, b, c, d]: [i64; 4]) {
        if self.enabled(event) {
            // SAFETY: `hot` describes the ring that is kept mapped here, and begins a Log.
            unsafe { rseq::append::<Log>(&raw const self.hot, event, a, b, c, d) };
        } else if event >= self.hot.events {
            self.bad_event();
        }
    }

    /// Logs an event with a payload, if it is enabled: of it, as much as [`Log::payload_capacity`].
    #[inline]
    pub fn log_payload(&self, event: u32, flags: u8, payload: &[u8]) {
        if !self.enabled(event) {
            if event >= self.hot.events {
                self.bad_event();
            }
            return;
        }
        let mut image = Image::empty();
        image.fill(event, flags, payload, self.most_slots());
        let slots = image.slots();
        // SAFETY: `hot` describes the ring that is kept mapped here; the image has that many
        // entries.
        if !unsafe { rseq::try_append_long(&raw const self.hot, image.as_mut_ptr(), slots) } {
            self.log_slowly(Draft::Long(&mut image));
        }
    }

    /// Bytes of payload that an event can have.
    pub fn payload_capacity(&self) -> usize {
        PAYLOAD_BYTES[0] + (self.most_slots() - 1) * PAYLOAD_BYTES[1]
    }

    fn most_slots(&self) -> usize {
        MAX_SLOTS.min(self.geometry.chunk_entries as usize)
    }

    /// Logs what its section could not.
    #[cold]
    fn log_slowly(&self, mut draft: Draft) {
        match local::slot(self.index.number()) {
            Some(slot) if self.append(slot, &mut draft) => {}
            // Here, and not where a lane is looked for: holding off cancellation costs more than
            // all of this.
            Some(slot) if local::is_too_early(slot, self.index.key()) => {
                self.dropped(|header| &header.dropped_no_lane);
            }
            _ => self.first_event(&mut draft),
        }
    }

    /// Appends through the lane of the CPU, or else that of the thread; whether the thread has
    /// joined and has what is needed.
    fn append(&self, slot: &Slot, draft: &mut Draft) -> bool {
        for _ in 0..ATTEMPTS {
            if slot.key.load(Ordering::Relaxed) != self.index.key() {
                return false;
            }
            let Some(lane) = rseq::lane(&self.hot) else {
                break;
            };
            // Acquire, pairs with the Release of an install: the chunk that the cursor counts was
            // described first.
            let mut cursor = Cursor(self.ring.cursor(lane).load(Ordering::Acquire));
            let room = self.ring.chunk_entries().saturating_sub(cursor.count());
            if (1..draft.slots()).contains(&room) {
                // Where one is not done, room stays, and the event is not done either: the next
                // attempt goes on.
                let _all = (0..room).all(|_| self.try_append(&mut padding()));
                cursor = Cursor(self.ring.cursor(lane).load(Ordering::Acquire));
            }
            if cursor.count() >= self.ring.chunk_entries() {
                self.register_again(slot);
                if rseq::refill(&self.hot, slot, &self.ring, cursor, lane).is_err() {
                    self.dropped(|header| &header.dropped_no_chunk);
                    return true;
                }
            }
            if self.try_append(draft) {
                return true;
            }
        }
        self.register_again(slot);
        self.append_through(slot, draft)
    }

    /// Appends through the lane of the CPU in one section; whether it was done.
    fn try_append(&self, draft: &mut Draft) -> bool {
        let hot = &raw const self.hot;
        match draft {
            // SAFETY: as in `log`.
            Draft::Short(event, [a, b, c, d]) => unsafe {
                rseq::try_append(hot, *event, *a, *b, *c, *d)
            },
            Draft::Long(image) => {
                let slots = image.slots();
                // SAFETY: as in `log_payload`.
                unsafe { rseq::try_append_long(hot, image.as_mut_ptr(), slots) }
            }
        }
    }

    /// Appends through the thread's own lane, if it is joined to this timeline and has one; whether
    /// it is.
    fn append_through(&self, slot: &Slot, draft: &mut Draft) -> bool {
        if slot.busy.load(Ordering::Relaxed) != 0 {
            self.interrupted(slot);
            return true;
        }
        slot.busy.store(1, Ordering::Relaxed);
        // The compiler must not move the append out from between the marks: a handler on this very
        // thread is the only one who looks at them.
        compiler_fence(Ordering::SeqCst);
        let lane = slot.lane.load(Ordering::Relaxed);
        let who = slot.who.load(Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // After the mark and all that belongs to the key: a child that a handler forked before this
        // finds a wiped key, one forked later finds a wiped mark before it commits.
        if slot.key.load(Ordering::Relaxed) != self.index.key() {
            slot.busy.store(0, Ordering::Relaxed);
            return false;
        }
        if lane == NO_LANE {
            slot.busy.store(0, Ordering::Relaxed);
            return false;
        }
        let core = current_cpu();
        let write = |draft: &Draft| {
            writer::append(&self.ring, lane, draft.slots(), |ring, chunk, index| {
                draft.write(ring, chunk, index, (core, who), || self.clock.now());
                compiler_fence(Ordering::SeqCst);
                // Wiped: a handler that interrupted us forked, and this is the child, coming back
                // to an append of its parent.
                slot.busy.load(Ordering::Relaxed) != 0
            })
        };
        // Not by asking how much room is left now: a child whose appends are not committed would
        // ask for ever.
        let room = writer::room(&self.ring, lane);
        let fill_up = match room < draft.slots() {
            true => (0..room).try_for_each(|_| write(&padding())),
            false => Ok(()),
        };
        let done = fill_up.and_then(|()| write(draft));
        compiler_fence(Ordering::SeqCst);
        slot.busy.store(0, Ordering::Relaxed);
        if done.is_err() {
            self.dropped(|header| &header.dropped_no_chunk);
        }
        true
    }

    #[cold]
    fn interrupted(&self, slot: &Slot) {
        if slot.key.load(Ordering::Relaxed) != self.index.key() {
            // The lane in it is one of a timeline that had our place before, if any.
            return self.dropped(|header| &header.dropped_interrupted);
        }
        // There is one: an append through it is under way.
        let lane = slot.lane.load(Ordering::Relaxed);
        if lane == NO_LANE {
            return self.dropped(|header| &header.dropped_interrupted);
        }
        let counted = &self.ring.lane(lane).interrupted;
        counted.fetch_add(1, Ordering::Relaxed);
    }

    #[cold]
    fn bad_event(&self) {
        self.dropped(|header| &header.dropped_bad_event);
    }

    /// Counts an event whose statement could not be defined just then.
    #[cold]
    pub fn undefined(&self) {
        self.dropped(|header| &header.dropped_undefined);
    }

    #[cold]
    fn dropped(&self, why: fn(&Header) -> &AtomicU64) {
        why(self.ring.header()).fetch_add(1, Ordering::Relaxed);
    }
}

impl Otherwise for Log {
    unsafe extern "C-unwind" fn otherwise(
        hot: *const Hot,
        event: u32,
        a: i64,
        b: i64,
        c: i64,
        d: i64,
    ) {
        // SAFETY: `log` gave the first field of a Log, and is still running.
        let log = unsafe { &*hot.cast::<Log>() };
        log.log_slowly(Draft::Short(event, [a, b, c, d]));
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let process = self.index.page().process.load(Ordering::Relaxed);
        self.index.close();
        if process != 0 {
            processes::leave(&self.ring, &self.geometry, process, self.clock.now());
            self.file
                .with(|opening| processes::unlock(process, opening));
        }
    }
}

/// A thread that logged ends: its lanes are for others now.
fn thread_exit(index: usize, key: u64, slot: &Slot) {
    pinned(index, key, |log| {
        // SAFETY: the handle put itself there, has the key that this thread joined with, and waits
        // in `Index::close` until we are done.
        unsafe { &*log.cast::<Log>() }.end_thread(slot);
    });
}
