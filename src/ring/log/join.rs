//! Makes a thread join the timeline before its first event.
//! The process gets an identity, and the thread a state, and a lane if it needs one. When the
//! thread ends, it gives its lane back.

use super::Log;
use crate::clock::settle;
use crate::layout::words::entry_thread;
use crate::ring::local::{Joining, NO_LANE, ThreadState, is_time, may_try};
use crate::ring::pending::Pending;
use crate::ring::{lanes, processes, threads};
use crate::shm::{shares_memory_with_parent, unnoticed};
use crate::sync::{Ordering, compiler_fence};

impl Log {
    /// A thread's first event, or its first after a fork, or the first that needs a lane of its
    /// own. Gets the thread a state and a lane, and the process an identity. Only here does
    /// logging make system calls.
    #[cold]
    #[inline(never)]
    pub(super) fn first_event(&self, pending: &Pending) {
        unnoticed(|| match Joining::enter() {
            None => self.dropped(|header| &header.dropped_interrupted),
            Some(joining) => {
                let logged = self.join_thread(&joining).is_some_and(|state| {
                    self.append(state, pending)
                        || (self.take_lane(state) && self.append_through(state, pending))
                });
                if !logged {
                    self.dropped(|header| &header.dropped_no_lane);
                }
                // The thread is at its end, and this is the last call that it makes here.
                if joining.ended() {
                    joining.leave();
                }
            }
        });
    }

    fn join_thread(&self, joining: &Joining) -> Option<&'static ThreadState> {
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
        let process = self.process()?;
        let (thread, tid) = self.register(process);
        state.waiting.store(0, Ordering::Relaxed);
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
            threads::register(self.ring.mapping(), &self.geometry, process, ticks)
        };
        match register() {
            (0, tid) => {
                let Ok(file) = self.file.reopen() else {
                    return (0, tid);
                };
                processes::reap(&self.ring, &self.geometry, &file, process);
                register()
            }
            registered => registered,
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
            let Some(_joining) = Joining::enter() else {
                return;
            };
            let process = self.index.page().process.load(Ordering::Relaxed);
            let (thread, tid) = self.register(process);
            compiler_fence(Ordering::SeqCst);
            // As in `join_thread`: not in a child, whose state is wiped.
            if state.key.load(Ordering::Relaxed) == self.index.key() {
                state
                    .thread_word
                    .store(entry_thread(thread, tid), Ordering::Relaxed);
            }
        });
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
            processes::reap(&self.ring, &self.geometry, &file, process);
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
    fn process(&self) -> Option<u32> {
        let page = self.index.page();
        loop {
            // Acquire, pairs with the Release at the end of a join.
            let process = page.process.load(Ordering::Acquire);
            if process != 0 {
                return Some(process);
            }
            if page
                .joining
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
            {
                break;
            }
            // Another thread of a freshly forked child is joining. It cannot be one that we
            // interrupted: Joining::enter would have found that.
            std::thread::yield_now();
        }
        let joined = self.join_process();
        if let Some(process) = joined {
            self.joined(process);
        }
        page.joining.store(0, Ordering::Release);
        joined
    }

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

    pub(super) fn end_thread(&self, state: &ThreadState) {
        let thread_word = state.thread_word.load(Ordering::Relaxed);
        let thread = thread_word as u32;
        let process = self.index.page().process.load(Ordering::Relaxed);
        let lane = state.lane.load(Ordering::Relaxed);
        if lane != NO_LANE {
            lanes::release(&self.ring, lane, lanes::owner(process, thread));
        }
        threads::end(
            self.ring.mapping(),
            &self.geometry,
            thread,
            self.clock.now(),
        );
    }
}
