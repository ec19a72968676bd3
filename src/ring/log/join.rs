//! Makes a thread join the timeline before its first event.
//! The process gets an identity, and the thread a state, and a lane if it needs one. When the
//! thread ends, it gives its lane back.
//!
//! The state of a thread is Relaxed, because only that thread and its signal handlers look at it; a
//! compiler_fence with SeqCst stands where a handler that forked may have wiped it (local.rs). The
//! identity of the process is loaded with Acquire, which pairs with the Release in `joined`, except
//! where it is Relaxed: there this thread has joined, and so has loaded it that way before.

use super::RingLog;
use crate::clock::{self, settle};
use crate::layout::words::entry_thread;
use crate::ring::local::{self, Joining, NO_LANE, ThreadState, is_time, may_try};
use crate::ring::pending_event::PendingEvent;
use crate::ring::threads::ThreadNames;
use crate::ring::{lanes, processes, threads};
use crate::shm::{Patience, shares_memory_with_parent, thread_id, unnoticed};
use crate::sync::{Ordering, compiler_fence};

/// So many threads register between two looks whether another process was killed.
const NOTICE: u64 = 8;

/// Why a thread could not be given a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamingError {
    /// A signal handler called while its thread joined or was given a name.
    Interrupted,
    /// The thread could not join.
    NotJoined,
    /// There is no record for it.
    NoRecord,
}

impl RingLog {
    /// A thread's first event, or its first after a fork, or the first that needs a lane of its
    /// own. Gets the thread a state and a lane, and the process an identity. Only here does
    /// logging make system calls. Without an event, the thread only joins, and its caller counts.
    #[cold]
    #[inline(never)]
    pub(super) fn first_event(&self, pending: Option<&PendingEvent>) {
        unnoticed(|| match (Joining::enter(), pending) {
            (None, None) => {}
            (None, Some(_)) => self.dropped(|header| &header.dropped_interrupted),
            (Some(joining), pending) => {
                let state = self.join_thread(&joining);
                if let Some(pending) = pending {
                    let log = |state| {
                        self.append(state, pending)
                            || (self.take_lane(state) && self.append_through(state, pending))
                    };
                    match state.map(log) {
                        Some(true) => {}
                        Some(false) => self.dropped(|header| &header.dropped_no_lane),
                        None => self.dropped(|header| &header.dropped_not_joined),
                    }
                }
                // The thread is at its end, and this is the last call that it makes here.
                if joining.ended() {
                    joining.leave();
                }
            }
        });
    }

    // Inline, like what it calls: a first event has a bound on its stack.
    #[inline(always)]
    fn join_thread(&self, joining: &Joining) -> Option<&'static ThreadState> {
        if self.is_closed() {
            return None;
        }
        let state = joining.thread_state(self.index.number())?;
        if state.wanted.swap(self.index.key(), Ordering::Relaxed) != self.index.key() {
            state.waiting.store(0, Ordering::Relaxed);
        }
        if state.key.load(Ordering::Relaxed) == self.index.key() {
            // It only lacks a lane; or a handler joined it after our caller checked, and before we
            // entered.
            return Some(state);
        }
        if !may_try(state) {
            return None;
        }
        // A child of vfork runs in our memory, as the thread that waits for it. It must not log; at
        // least it does not join as that thread or process.
        if shares_memory_with_parent() {
            state.waiting.store(0, Ordering::Relaxed);
            return None;
        }
        if clock::is_forbidden() {
            return None;
        }
        let process = self.process()?;
        let (thread, tid) = self.register(process);
        // For the next one. Not in `register`, which takes stack as well.
        if threads::registered(self.ring.mapping()) >= self.geometry.threads.into() {
            self.notice_a_death();
        }
        state.waiting.store(0, Ordering::Relaxed);
        state.named.store(0, Ordering::Relaxed);
        state.busy.store(0, Ordering::Relaxed);
        state.lane.store(NO_LANE, Ordering::Relaxed);
        state
            .thread_word
            .store(entry_thread(thread, tid), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // Wiped: a handler that interrupted this forked, this is the child, and all of the above
        // belongs to its parent.
        if self.index.page().process.load(Ordering::Relaxed) != process {
            state.waiting.store(0, Ordering::Relaxed);
            return None;
        }
        state.key.store(self.index.key(), Ordering::Relaxed);
        Some(state)
    }

    /// The thread's identity in the thread table, and its id. The identity is 0 if all records
    /// belong to living threads.
    fn register(&self, process: u32) -> (u32, u32) {
        let register = || {
            let ticks = self.clock.now();
            let (map, geometry) = (self.ring.mapping(), &self.geometry);
            threads::register(map, geometry, process, ticks, |other| {
                processes::end(map, geometry, other, ticks)
            })
        };
        match register() {
            (0, tid) => {
                let Ok(file) = self.file.reopen() else {
                    return (0, tid);
                };
                processes::reap(&self.ring, &self.geometry, &file, process, self.clock.now());
                register()
            }
            registered => registered,
        }
    }

    /// Looks whether another process was killed, if some threads have registered since the last
    /// look. So the threads of that one count as ended from about then on. Makes some twenty system
    /// calls, which a thread's first event does not make as long as there are fresh records: for
    /// calls that make others.
    #[inline(never)]
    fn notice_a_death(&self) {
        let (map, geometry) = (self.ring.mapping(), &self.geometry);
        let registered = threads::registered(map);
        // Relaxed: if two threads find that it is time, both look.
        let noticed = self.noticed.load(Ordering::Relaxed);
        let process = self.index.page().process.load(Ordering::Relaxed);
        if process == 0 || registered.wrapping_sub(noticed) < NOTICE {
            return;
        }
        self.noticed.store(registered, Ordering::Relaxed);
        if !processes::has_others(map, geometry, process) {
            return;
        }
        if let Ok(file) = self.file.reopen() {
            let (turn, now) = (registered / NOTICE, self.clock.now());
            processes::notice_a_death(map, geometry, &file, process, turn, now);
        }
    }

    /// Looks for a record for a thread that found none when it joined. Called now and then, on slow
    /// paths.
    pub(super) fn register_again(&self, state: &ThreadState) {
        if state.key.load(Ordering::Relaxed) != self.index.key()
            || state.thread_word.load(Ordering::Relaxed) as u32 != 0
            || !is_time(&state.unnamed)
        {
            return;
        }
        unnoticed(|| {
            if let Some(joining) = Joining::enter() {
                self.register_late(state, &joining);
            }
        });
    }

    /// Registers a thread that joined without a record. Returns its identity; 0 if there is still
    /// none.
    fn register_late(&self, state: &ThreadState, _: &Joining) -> u32 {
        let process = self.index.page().process.load(Ordering::Relaxed);
        let (thread, tid) = self.register(process);
        compiler_fence(Ordering::SeqCst);
        // As in `join_thread`: not in a child, whose state is wiped.
        if state.key.load(Ordering::Relaxed) == self.index.key() {
            state
                .thread_word
                .store(entry_thread(thread, tid), Ordering::Relaxed);
        }
        thread
    }

    /// Gives the calling thread a name and a group.
    pub fn name_thread(&self, names: &ThreadNames) -> Result<(), NamingError> {
        let mut named = Err(NamingError::Interrupted);
        unnoticed(|| {
            let Some(joining) = Joining::enter() else {
                return;
            };
            named = self.name_joining(names, &joining);
            // As in `first_event`: nobody tells us of a thread that is at its end.
            if joining.ended() {
                joining.leave();
            }
        });
        named
    }

    fn name_joining(&self, names: &ThreadNames, joining: &Joining) -> Result<(), NamingError> {
        let state = self.join_thread(joining).ok_or(NamingError::NotJoined)?;
        let thread = match state.thread_word.load(Ordering::Relaxed) as u32 {
            0 => self.register_late(state, joining),
            thread => thread,
        };
        if thread == 0 {
            return Err(NamingError::NoRecord);
        }
        state
            .named
            .store(names.name.is_some().into(), Ordering::Relaxed);
        let (map, geometry) = (self.ring.mapping(), &self.geometry);
        let (name, group) = (names.name.as_ref(), Some(&names.group));
        threads::rename(map, geometry, thread, name, group);
        Ok(())
    }

    /// Follows the system's name of the calling thread, unless the program has named it, and looks
    /// whether another process was killed. Makes system calls: for calls that make others, and not
    /// for logging.
    pub fn follow_name(&self) {
        if !self.is_closed() {
            unnoticed(|| self.notice_a_death());
        }
        let Some(state) = local::thread_state(self.index.number()) else {
            return;
        };
        unnoticed(|| {
            let Some(_joining) = Joining::enter() else {
                return;
            };
            // As in `join_thread`: a child has no state, and so no record.
            let is_joined = state.key.load(Ordering::Relaxed) == self.index.key();
            if is_joined && state.named.load(Ordering::Relaxed) == 0 {
                self.take_system_name(state);
            }
        });
    }

    fn take_system_name(&self, state: &ThreadState) {
        let thread = state.thread_word.load(Ordering::Relaxed) as u32;
        let (map, geometry) = (self.ring.mapping(), &self.geometry);
        threads::rename(map, geometry, thread, None, None);
    }

    /// Gets a joined thread a lane of its own. Returns whether it has one.
    fn take_lane(&self, state: &ThreadState) -> bool {
        if state.lane.load(Ordering::Relaxed) != NO_LANE {
            return true;
        }
        if !may_try(state) {
            return false;
        }
        let process = self.index.page().process.load(Ordering::Relaxed);
        let thread_word = state.thread_word.load(Ordering::Relaxed);
        let (thread, tid) = (thread_word as u32, (thread_word >> 32) as u32);
        let owner = lanes::owner(process, thread);
        let first = self.geometry.cpu_lanes;
        let lane = lanes::acquire(&self.ring, first, tid, owner).or_else(|| {
            let file = self.file.reopen().ok()?;
            processes::reap(&self.ring, &self.geometry, &file, process, self.clock.now());
            lanes::acquire(&self.ring, first, tid, owner)
        });
        let Some(lane) = lane else {
            return false;
        };
        compiler_fence(Ordering::SeqCst);
        // Wiped, as in `join_thread`: the lane belongs to our parent.
        if state.key.load(Ordering::Relaxed) != self.index.key() {
            return false;
        }
        state.waiting.store(0, Ordering::Relaxed);
        state.lane.store(lane, Ordering::Relaxed);
        true
    }

    /// This process' identity. A forked child gets its own here.
    #[inline(always)]
    fn process(&self) -> Option<u32> {
        let page = self.index.page();
        let mut patience = Patience::SECONDS;
        loop {
            // Acquire, pairs with the Release at the end of a join.
            let process = page.process.load(Ordering::Acquire);
            if process != 0 {
                return Some(process);
            }
            if page
                .joining
                .compare_exchange(0, thread_id(), Ordering::SeqCst, Ordering::Relaxed)
                .is_ok()
            {
                break;
            }
            // Another thread of a freshly forked child is joining. It cannot be one that we
            // interrupted: Joining::enter would have found that. But a handler may have jumped out
            // of its join for good.
            patience.wait().ok()?;
        }
        // SeqCst, pairs with `close`, as the exchange above does.
        let is_open = || self.closed.load(Ordering::SeqCst) == 0;
        let joined = is_open().then(|| self.join_process()).flatten();
        let joined = joined.filter(|process| is_open() || self.leave_again(*process));
        if let Some(process) = joined {
            self.joined(process);
        }
        // A handler may have closed it right before: then it did not find that we had joined. If it
        // did so later, it has left already. Relaxed: it is this thread's own.
        let joined = joined.filter(|process| {
            is_open()
                || page.process.swap(0, Ordering::Relaxed) != *process
                || self.leave_again(*process)
        });
        page.joining.store(0, Ordering::Release);
        self.notice_a_death();
        joined
    }

    #[inline(always)]
    fn join_process(&self) -> Option<u32> {
        if let process @ 1.. = self.index.page().process.load(Ordering::Acquire) {
            return Some(process);
        }
        let opening = self.file.reopen().ok()?;
        // A forked child may be in another time namespace than its parent.
        settle();
        let now = self.clock.now();
        let process = processes::join(&self.ring, &self.geometry, &opening, now)?;
        if let Ok(file) = opening.into_own() {
            self.index.hold(&file);
            self.file.replace(file);
        }
        Some(process)
    }

    /// Undoes a join during which a handler of this thread has closed the handle, or another thread
    /// that was tired of waiting. Returns false, for no process.
    #[cold]
    #[inline(never)]
    fn leave_again(&self, process: u32) -> bool {
        self.index.close(Some(Patience::MOMENT));
        processes::leave(&self.ring, &self.geometry, process, self.time_of_end());
        self.file
            .with(|opening| processes::unlock(process, opening));
        self.index.let_go();
        self.file.close();
        false
    }

    pub(super) fn end_thread(&self, state: &ThreadState) {
        let thread_word = state.thread_word.load(Ordering::Relaxed);
        let thread = thread_word as u32;
        let process = self.index.page().process.load(Ordering::Relaxed);
        let lane = state.lane.load(Ordering::Relaxed);
        if lane != NO_LANE {
            lanes::release(&self.ring, lane, lanes::owner(process, thread));
        }
        if state.named.load(Ordering::Relaxed) == 0 {
            self.take_system_name(state);
        }
        threads::end(
            self.ring.mapping(),
            &self.geometry,
            thread,
            self.time_of_end(),
        );
    }

    /// The ticks at the end of a thread or a handle, which may be forbidden to read them by then.
    pub(super) fn time_of_end(&self) -> u64 {
        match clock::is_forbidden() {
            true => 1,
            false => self.clock.now(),
        }
    }
}
