//! Timelines that are closed where a process forks, in handlers, and where memory is short.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use timeline::Timeline;

use super::{Fork, fork, reap};
use crate::support::{Name, Process, arguments, attach, define, size};

/// The events that came late, by all processes.
fn late(path: &str) -> u64 {
    attach(path).info().dropped.closed
}

/// Closes the timeline, logs late events, and forks children that do the same.
fn forks_after_the_close(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    timeline.close();
    let log = |count| (0..count).for_each(|n| timeline.log(event, arguments(1, n)));
    log(2);
    for (how, count) in [(Fork::Library, 3), (Fork::Raw, 5)] {
        reap(fork(how, || {
            log(count);
            timeline.tell_of_late_events();
            timeline.tell_of_late_events();
        }));
        log(1);
    }
    timeline.tell_of_late_events();
    timeline.tell_of_late_events();
}

#[test]
fn a_late_event_is_told_by_the_process_that_logged_it() {
    let name = Name::new("late");
    define(&name.create(256));
    // It needs a writer to be joined.
    let opener = Timeline::open(name.path()).expect("joined");
    Process::start(forks_after_the_close, &[name.path()]).finish();
    assert_eq!(late(name.path()), 2 + 3 + 5 + 2);
    drop(opener);
}

#[test]
fn a_late_event_is_told_once_its_timeline_is_at_its_name_again() {
    let name = Name::new("away");
    let timeline = name.create(256);
    let event = define(&timeline);
    timeline.close();
    timeline.log(event, arguments(1, 0));
    let (here, away) = (name.file(), name.file_beside(".prev"));
    std::fs::rename(&here, &away).expect("renamed");
    timeline.tell_of_late_events();
    std::fs::rename(&away, &here).expect("renamed");
    assert_eq!(late(name.path()), 0);
    timeline.tell_of_late_events();
    assert_eq!(late(name.path()), 1);
}

/// Closes a timeline whose memory cannot be replaced, and whose name is gone.
fn closes_without_memory(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let limit = libc::rlimit {
        rlim_cur: 1,
        rlim_max: 1,
    };
    // SAFETY: takes a limit, which only refuses more memory.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) }, 0);
    timeline.close();
    std::fs::rename(&given[1], &given[2]).expect("renamed");
    timeline.tell_of_late_events();
}

#[test]
fn a_timeline_whose_memory_stays_keeps_what_others_counted() {
    let name = Name::new("stays");
    let timeline = name.create(256);
    let event = define(&timeline);
    timeline.close();
    timeline.log(event, arguments(1, 0));
    timeline.tell_of_late_events();
    let file = |suffix| name.file_beside(suffix).display().to_string();
    let given = [name.path(), &file(""), &file(".prev")];
    let again = Timeline::open(name.path()).expect("joined");
    Process::start(closes_without_memory, &given).finish();
    drop(again);
    assert_eq!(late(&name.beside(".prev")), 1);
}

#[cfg(target_arch = "x86_64")]
mod handlers {
    use super::super::{fork_on, install, trap};
    use super::*;

    /// Instructions since stepping began, and the one after which the handler closes.
    static STEP: AtomicU64 = AtomicU64::new(0);
    static AT: AtomicU64 = AtomicU64::new(0);
    static TIMELINE: AtomicPtr<Timeline> = AtomicPtr::new(std::ptr::null_mut());
    /// Whether the handler ends the program.
    static ENDS: AtomicBool = AtomicBool::new(false);

    const TRAP: i64 = 0x100;

    extern "C" fn on_step(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        if STEP.fetch_add(1, Ordering::SeqCst) + 1 != AT.load(Ordering::SeqCst) {
            return;
        }
        // SAFETY: the kernel passes the interrupted thread's context; clearing the trap flag in it
        // ends the stepping.
        unsafe {
            let context = context.cast::<libc::ucontext_t>();
            (*context).uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP;
        }
        // SAFETY: a timeline that stays.
        unsafe { &*TIMELINE.load(Ordering::SeqCst) }.close();
        if ENDS.load(Ordering::SeqCst) {
            // SAFETY: ends the process, which has nothing to clean up.
            unsafe { libc::_exit(0) };
        }
    }

    extern "C" fn begin(_: *mut libc::c_void) {
        trap(true);
    }

    extern "C" fn end(_: *mut libc::c_void) {
        trap(false);
    }

    fn key(destructor: extern "C" fn(*mut libc::c_void)) -> libc::pthread_key_t {
        let mut key = 0;
        // SAFETY: `key` is a valid place for one, the destructor of the right type; it does not
        // unwind.
        let made = unsafe {
            let destructor: unsafe extern "C" fn(*mut libc::c_void) =
                std::mem::transmute(destructor);
            libc::pthread_key_create(&mut key, Some(destructor))
        };
        assert_eq!(made, 0);
        key
    }

    fn set(key: libc::pthread_key_t) {
        // SAFETY: the key exists; its destructor never looks at the value.
        unsafe { libc::pthread_setspecific(key, std::ptr::dangling::<u8>().cast()) };
    }

    /// What a child does under the eyes of the handler: its first event, or the end of a thread.
    struct Act<'a> {
        log: &'a (dyn Fn() + Sync),
        keys: Option<[libc::pthread_key_t; 2]>,
    }

    impl Act<'_> {
        /// In a new child, closed after instruction `at`; then it says how many there were, and
        /// waits until it may end.
        fn child(&self, at: u64) -> (i32, u64, PipeWriter) {
            let (mut told, tells): (PipeReader, PipeWriter) = pipe().expect("a pipe");
            let (mut hears, tell) = pipe().expect("a pipe");
            AT.store(at, Ordering::SeqCst);
            STEP.store(0, Ordering::SeqCst);
            let pid = fork_on(Fork::Library);
            if pid == 0 {
                crate::support::deadline();
                drop((told, tell));
                match self.keys {
                    None => {
                        trap(true);
                        (self.log)();
                        trap(false);
                    }
                    Some(keys) => std::thread::scope(|scope| {
                        let ends = || {
                            (self.log)();
                            keys.into_iter().for_each(set);
                        };
                        // Joined by hand: the end of its closure is not yet its own.
                        scope.spawn(ends).join().expect("it logged");
                    }),
                }
                let steps = STEP.load(Ordering::SeqCst).to_ne_bytes();
                let heard = (&tells)
                    .write_all(&steps)
                    .and_then(|()| hears.read(&mut [0]));
                // SAFETY: ends the process, which has nothing to clean up.
                unsafe { libc::_exit(i32::from(heard.is_err())) };
            }
            drop((tells, hears));
            let mut steps = [0; 8];
            // Nothing, if the handler has ended it.
            let _ = told.read_exact(&mut steps);
            (pid, u64::from_ne_bytes(steps), tell)
        }
    }

    pub fn closes_in_handlers(given: &[String]) {
        // Destructors run in the order of their keys: one of ours before the library's, one after.
        let before = key(begin);
        let timeline: &'static Timeline =
            Box::leak(Box::new(Timeline::open(&given[0]).expect("joined")));
        TIMELINE.store((&raw const *timeline).cast_mut(), Ordering::SeqCst);
        let event = define(timeline);
        timeline.log(event, arguments(1, 0));
        let after = key(end);
        let handler = on_step as *const () as usize;
        install(libc::SIGTRAP, handler, libc::SA_SIGINFO);
        let act = Act {
            log: &|| timeline.log(event, arguments(1, 1)),
            keys: (given[1] == "end").then_some([before, after]),
        };
        let (pid, count, tell) = act.child(u64::MAX);
        assert!(count > 100, "{count}");
        drop(tell);
        reap(pid);
        let attached = attach(&given[0]);
        for ends in [true, false] {
            ENDS.store(ends, Ordering::SeqCst);
            let stride = (count / (20 * size())).max(1);
            let begin = 1 + u64::from(std::process::id()) % stride;
            for at in (begin..count).step_by(stride as usize) {
                let (pid, steps, tell) = act.child(at);
                // Closed, it is no writer any more, although it still lives.
                if steps >= at {
                    let writers = attached.info().writers;
                    let is_it = |w: &timeline::WriterProcess| w.alive && w.pid == pid as u32;
                    assert!(!writers.iter().any(is_it), "after {at} of {count}");
                }
                drop(tell);
                reap(pid);
            }
        }
    }

    fn assert_none_hangs(when: &str) {
        let name = Name::new("closing");
        let opener = name.create(4096);
        define(&opener);
        Process::start(closes_in_handlers, &[name.path(), when]).finish();
    }

    #[test]
    fn a_handler_may_close_after_any_instruction_of_a_childs_first_event() {
        assert_none_hangs("first");
    }

    #[test]
    fn a_handler_may_close_after_any_instruction_of_a_threads_end() {
        assert_none_hangs("end");
    }
}
