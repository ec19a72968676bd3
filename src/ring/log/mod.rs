//! Logging: appends one event of a thread to a lane.
//!
//! The hot path is [`rseq::append`], through the lane of the CPU. The rest of this file is for the
//! events that it could not append: a thread's first, those that find a chunk full, and those of
//! threads without a lane of a CPU. These threads have a lane of their own, and guard it by a mark
//! against their signal handlers. An append through it does these steps, in order: the busy mark
//! (so that a signal handler which interrupts an append does not write into the same entry), the
//! key (so that a state of a closed handle, or of our parent before a fork, is never taken for
//! ours), the entry, a check of the mark (so that a child forked in between leaves the entry to its
//! parent), the commit.
//!
//! join.rs is for a thread's first event, important.rs for important events, close.rs for a
//! timeline that is closed while threads log.
//!
//! The state of a thread is Relaxed, with a compiler_fence of SeqCst at each step towards its own
//! signal handlers, as local.rs says; counts of dropped events are Relaxed because they only count.

mod close;
mod important;
mod join;

pub use join::NamingError;

use super::handle::{HandleIndex, pinned};
use super::local::{self, NO_LANE, ThreadState};
use super::memory::SharedRing;
use super::pending_event::{LongEvent, PendingEvent, padding, words_in};
use super::rseq::{self, Hot, Otherwise};
use super::statement_events::Pair;
use super::{Storage, processes, writer};
use crate::clock::{ClockKind, Stretches, current_cpu, rseq_area};
use crate::event::Priority;
use crate::layout::words::Cursor;
use crate::layout::{ENABLED, Geometry, Header, MAX_EVENT_ENTRIES};
use crate::shm::SharedFile;
use crate::sync::{AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Attempts at the lane of a CPU. Each that fails was interrupted. Only a debugger that stops after
/// each instruction interrupts that many in a row. There are few, because each that finds the chunk
/// full costs a ticket.
const ATTEMPTS: u32 = 3;

/// An event that was enabled when its byte was read.
#[derive(Clone, Copy)]
pub struct EnabledEvent {
    event: u32,
    byte: u8,
}

/// A timeline in a process that writes to it.
#[repr(C)]
pub struct RingLog {
    // First, because `Otherwise` casts a pointer to it to a pointer to the Log.
    hot: Hot,
    clock: ClockKind,
    index: HandleIndex,
    ring: SharedRing,
    geometry: Geometry,
    file: SharedFile,
    /// The most words of a payload: an event is in one chunk.
    payload_words: usize,
    /// Not 0 once this process has closed it, while threads may still log: 2 if what they count is
    /// in memory of their own by then, else 1.
    closed: AtomicU32,
    /// Ticks at which a thread of this process last compared the wall clock with them, and how many
    /// ticks later it is time again.
    looked: AtomicU64,
    look_again: u64,
    /// How many threads had registered when this process last looked whether another was killed.
    noticed: AtomicU64,
}

// SAFETY: the pointer leads into the mapping that `ring` keeps; everything else is Sync by itself.
unsafe impl Send for RingLog {}
// SAFETY: as above; all access through the pointer is atomic.
unsafe impl Sync for RingLog {}

impl RingLog {
    /// Joins this process to the timeline. `None` if its process table is full.
    pub fn join(
        index: HandleIndex,
        ring: &SharedRing,
        geometry: &Geometry,
        clock: ClockKind,
        file: SharedFile,
    ) -> Option<Box<RingLog>> {
        // There are no calls in a section, so it can read no clock but the counter.
        let area = rseq_area().filter(|_| clock == ClockKind::Tsc);
        let log = Box::new(RingLog {
            hot: Hot::new(ring, geometry, index.key(), index.number(), area),
            clock,
            index,
            ring: ring.clone(),
            geometry: *geometry,
            file,
            payload_words: words_in(MAX_EVENT_ENTRIES.min(geometry.chunk_entries as usize)),
            closed: AtomicU32::new(0),
            looked: 0.into(),
            noticed: 0.into(),
            look_again: Stretches::of(ring.mapping(), geometry, clock)
                .map_or(u64::MAX, |stretches| stretches.rate().ticks(1_000_000)),
        });
        // Calls that take the loader's lock, or allocate, are made now and not in a thread's first
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

    /// Records that this process is in the process table, as `process`.
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

    /// Distinguishes it from the other handles of this process.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.index.key() as u32
    }

    /// It and a priority, for statements.
    pub fn pair(&self, priority: Priority) -> Pair {
        Pair::new(self.number(), self.index.number(), priority)
    }

    /// The timeline's file.
    pub fn file(&self) -> &SharedFile {
        &self.file
    }

    /// The enable byte of an event. `None` for ids out of range.
    #[inline(always)]
    fn enable_byte(&self, event: u32) -> Option<u8> {
        // SAFETY: below the length of the enable table, which lies in the mapping that `ring`
        // keeps. Relaxed: the byte guards nothing but itself.
        (event < self.hot.events)
            .then(|| unsafe { &*self.hot.enabled.add(event as usize) }.load(Ordering::Relaxed))
    }

    /// Whether the event is logged at the moment. Ids out of range are not.
    #[inline(always)]
    pub fn enabled(&self, event: u32) -> bool {
        self.enable_byte(event).is_some_and(|byte| byte != 0)
    }

    /// The event, if it is logged at the moment. Ids out of range are not.
    #[inline(always)]
    pub fn enabled_event(&self, event: u32) -> Option<EnabledEvent> {
        let byte = self.enable_byte(event).filter(|byte| *byte != 0)?;
        Some(EnabledEvent { event, byte })
    }

    /// Logs an event that was enabled a moment ago.
    #[inline(always)]
    pub fn log_enabled(&self, EnabledEvent { event, byte }: EnabledEvent, args: [i64; 4]) {
        let [a, b, c, d] = args;
        if byte == ENABLED {
            // SAFETY: `hot` describes the ring that is kept mapped here, and is the beginning of a
            // Log.
            return unsafe { rseq::append::<RingLog>(&raw const self.hot, event, a, b, c, d) };
        }
        self.log_short_important(event, a, b, c, d);
    }

    /// Logs an event if it is enabled.
    #[inline(always)]
    pub fn log(&self, event: u32, args: [i64; 4]) {
        if self.enable_byte(event) == Some(ENABLED) {
            let byte = ENABLED;
            return self.log_enabled(EnabledEvent { event, byte }, args);
        }
        // Loaded again, because the compiler would make one comparison more of a single load, for
        // plain events as well. One that was enabled in between is logged a moment later.
        match self.enable_byte(event) {
            Some(0 | ENABLED) => {}
            Some(byte) => self.log_enabled(EnabledEvent { event, byte }, args),
            None => self.bad_event(),
        }
    }

    /// Logs an event with a payload, if it is enabled. Cuts it to [`RingLog::payload_capacity`].
    #[inline]
    pub fn log_payload(&self, event: u32, flags: u8, payload: &[u64]) {
        match self.enable_byte(event) {
            Some(0) => {}
            Some(byte) => self.log_enabled_payload(EnabledEvent { event, byte }, flags, payload),
            None => self.bad_event(),
        }
    }

    /// The same for an event that was enabled a moment ago.
    #[inline(always)]
    pub fn log_enabled_payload(
        &self,
        EnabledEvent { event, byte }: EnabledEvent,
        flags: u8,
        payload: &[u64],
    ) {
        let LongEvent { head, words } = LongEvent::new(event, flags, payload, self.payload_words);
        if byte != ENABLED {
            return self.log_long_important(head, words);
        }
        let hot = &raw const self.hot;
        // SAFETY: `hot` describes the ring that is kept mapped here, and is the beginning of a Log;
        // `LongEvent::new` counts the entries that the words take.
        unsafe { rseq::append_long::<RingLog>(hot, words.as_ptr(), words.len(), head) }
    }

    /// Words of payload that an event can have.
    pub fn payload_capacity(&self) -> usize {
        self.payload_words
    }

    /// Logs an event that its section could not append.
    #[cold]
    fn log_slowly(&self, pending: &PendingEvent) {
        if self.is_closed() {
            return self.too_late();
        }
        match local::thread_state(self.index.number()) {
            Some(state) if self.append(state, pending) => {}
            // Checked here, before looking for a lane, because disabling cancellation costs more
            // than all of this.
            Some(state) if local::is_too_early(state, self.index.key()) => {
                let is_joined = state.key.load(Ordering::Relaxed) == self.index.key();
                self.dropped(match is_joined {
                    true => |header| &header.dropped_no_lane,
                    false => |header| &header.dropped_not_joined,
                });
            }
            _ => self.first_event(Some(pending)),
        }
    }

    /// Appends through the lane of the CPU, or else that of the thread. False if the thread has not
    /// joined, or lacks a lane.
    fn append(&self, state: &ThreadState, pending: &PendingEvent) -> bool {
        for _ in 0..ATTEMPTS {
            if state.key.load(Ordering::Relaxed) != self.index.key() {
                return false;
            }
            let Some(lane) = rseq::lane(&self.hot) else {
                break;
            };
            // Acquire, pairs with the Release of an install: the chunk that the cursor counts was
            // described before.
            let mut cursor = Cursor(self.ring.cursor(lane).load(Ordering::Acquire));
            let room = self.ring.chunk_entries().saturating_sub(cursor.count());
            if (1..pending.entry_count()).contains(&room) {
                // If one of them fails, there is still room, and the event fails as well: the next
                // attempt continues.
                let _all = (0..room).all(|_| self.try_append(&padding()));
                cursor = Cursor(self.ring.cursor(lane).load(Ordering::Acquire));
            }
            if cursor.count() >= self.ring.chunk_entries() {
                self.register_again(state);
                if rseq::refill(&self.hot, state, &self.ring, cursor, lane).is_err() {
                    self.dropped(|header| &header.dropped_no_chunk);
                    return true;
                }
                self.look_at_clock();
            }
            if self.try_append(pending) {
                return true;
            }
        }
        self.register_again(state);
        self.append_through(state, pending)
    }

    /// Appends through the lane of the CPU in one section. Returns whether it succeeded.
    fn try_append(&self, pending: &PendingEvent) -> bool {
        let hot = &raw const self.hot;
        match pending {
            // SAFETY: `hot` describes the ring that is kept mapped here.
            PendingEvent::Short(event, [a, b, c, d]) => unsafe {
                rseq::try_append(hot, *event, *a, *b, *c, *d)
            },
            // SAFETY: as above; `LongEvent::new` counts the entries that the words take.
            PendingEvent::Long(LongEvent { head, words }) => unsafe {
                rseq::try_append_long(hot, words.as_ptr(), words.len(), *head)
            },
        }
    }

    /// Appends through the thread's own lane. False if the thread has not joined this timeline, or
    /// has no lane.
    fn append_through(&self, state: &ThreadState, pending: &PendingEvent) -> bool {
        if state.busy.load(Ordering::Relaxed) != 0 {
            self.dropped(|header| &header.dropped_interrupted);
            return true;
        }
        state.busy.store(1, Ordering::Relaxed);
        // The compiler must not move the append out from between the marks. Only a handler on this
        // thread reads them.
        compiler_fence(Ordering::SeqCst);
        let lane = state.lane.load(Ordering::Relaxed);
        let thread_word = state.thread_word.load(Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // After the mark and all that belongs to the key: a child that a handler forked before this
        // finds a wiped key, one forked later finds a wiped mark before it commits.
        if state.key.load(Ordering::Relaxed) != self.index.key() {
            state.busy.store(0, Ordering::Relaxed);
            return false;
        }
        if lane == NO_LANE {
            state.busy.store(0, Ordering::Relaxed);
            return false;
        }
        let core = current_cpu();
        let write = |pending: &PendingEvent| {
            writer::append(
                &self.ring,
                lane,
                pending.entry_count(),
                |ring, chunk, index| {
                    pending.write(ring, chunk, index, (core, thread_word), || self.clock.now());
                    compiler_fence(Ordering::SeqCst);
                    // Wiped: a handler that interrupted this forked, and this is the child, which
                    // has returned to an append of its parent.
                    state.busy.load(Ordering::Relaxed) != 0
                },
            )
        };
        // Counted once: a child whose appends are not committed would always find the same room.
        let room = writer::room(&self.ring, lane);
        let is_full = room < pending.entry_count();
        let fill_up = match is_full {
            true => (0..room).try_for_each(|_| write(&padding())),
            false => Ok(()),
        };
        let done = fill_up.and_then(|()| write(pending));
        compiler_fence(Ordering::SeqCst);
        state.busy.store(0, Ordering::Relaxed);
        if done.is_err() {
            self.dropped(|header| &header.dropped_no_chunk);
        }
        if is_full {
            self.look_at_clock();
        }
        true
    }

    /// Compares the wall clock with the ticks, if no thread of this process has done so for a
    /// millisecond. Called where a chunk was full: it costs an event nothing, and waits for nobody.
    fn look_at_clock(&self) {
        let now = self.clock.now();
        // Relaxed: if two threads find that it is time, both look.
        let passed = now.wrapping_sub(self.looked.load(Ordering::Relaxed));
        if passed < self.look_again {
            return;
        }
        self.looked.store(now, Ordering::Relaxed);
        let stretches = Stretches::of(self.ring.mapping(), &self.geometry, self.clock);
        if let Some(stretches) = stretches {
            stretches.check();
        }
    }

    /// How many important events were dropped so far, by all processes, because there was no room
    /// left for them.
    pub fn dropped_important(&self) -> u64 {
        let dropped = &self.ring.header().dropped_important;
        // Relaxed: it only counts.
        dropped.load(Ordering::Relaxed)
    }

    #[cold]
    fn bad_event(&self) {
        self.dropped(|header| &header.dropped_bad_event);
    }

    /// Counts an event that came after this process had closed the timeline.
    #[cold]
    fn too_late(&self) {
        self.dropped(|header| &header.dropped_closed);
    }

    /// Counts an event whose call site could not be defined.
    #[cold]
    pub fn undefined(&self) {
        self.dropped(|header| &header.dropped_undefined);
    }

    /// Counts an event whose call site has a definition that was refused.
    #[cold]
    pub fn refused(&self) {
        self.dropped(|header| &header.dropped_refused);
    }

    #[cold]
    fn dropped(&self, why: fn(&Header) -> &AtomicU64) {
        let header = self.ring.header();
        let count = match self.is_closed() {
            true => &header.dropped_closed,
            false => why(header),
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Otherwise for RingLog {
    unsafe extern "C-unwind" fn otherwise(
        hot: *const Hot,
        event: u32,
        a: i64,
        b: i64,
        c: i64,
        d: i64,
    ) {
        // SAFETY: `log` passed the first field of a Log, and is still running.
        let log = unsafe { &*hot.cast::<RingLog>() };
        log.log_slowly(&PendingEvent::Short(event, [a, b, c, d]));
    }

    unsafe extern "C-unwind" fn otherwise_long(
        hot: *const Hot,
        words: *const u64,
        count: usize,
        head: u64,
    ) {
        // SAFETY: as above; `log_payload` passed the pointer and the length of a slice.
        let (log, words) = unsafe {
            (
                &*hot.cast::<RingLog>(),
                std::slice::from_raw_parts(words, count),
            )
        };
        log.log_slowly(&PendingEvent::Long(LongEvent { head, words }));
    }
}

impl Drop for RingLog {
    fn drop(&mut self) {
        // However long an ending thread takes: it uses what is freed now.
        self.leave(&self.ring, None);
    }
}

/// Called when a thread that logged ends: frees its lanes for others.
fn thread_exit(index: usize, key: u64, state: &ThreadState) {
    pinned(index, key, |log| {
        // SAFETY: the handle stored this pointer, has the key that this thread joined with, and
        // waits in `HandleIndex::close` until this returns.
        unsafe { &*log.cast::<RingLog>() }.end_thread(state);
    });
}
