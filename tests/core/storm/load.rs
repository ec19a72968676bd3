//! Runs processes that log while the kernel does to their threads all that it can.
//! It moves them, interrupts them and forks them.

use std::cell::Cell;
use std::fs::File;
use std::io::Error;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use timeline::Timeline;

use crate::allocator::ALLOCATIONS;
use crate::support::{Random, Way, deadline, hear, rseq, say};

/// Threads of a process that log.
pub const THREADS: i64 = 4;
/// Children of a process that log, one at a time for each of its first threads.
pub const CHILDREN: i64 = 2;
/// The first thread of a process, which stays from round to round.
pub const MAIN: i64 = THREADS + CHILDREN;
/// Who logs: the process times this, plus its thread (0..), its child (THREADS..), its first
/// thread, or the handler of one of them.
pub const SLOTS: i64 = 16;
/// Added to a thread or a child: its signal handler.
pub const HANDLER: i64 = 8;
const _: () = assert!(MAIN < HANDLER && 2 * HANDLER <= SLOTS);

/// For each `who`, the calls that began and those that returned, in memory that processes share: it
/// tells what those that were killed have done.
pub struct Counts(MmapRaw);

/// Bytes of one `who`: a cache line, so that threads don't wait for one another.
const LINE: usize = 64;

impl Counts {
    /// All of them 0.
    pub fn create(path: &Path, processes: i64) -> Counts {
        let file = File::create_new(path).expect("created");
        file.set_len((processes * SLOTS) as u64 * LINE as u64)
            .expect("sized");
        Counts::open(path)
    }

    pub fn open(path: &Path) -> Counts {
        let file = File::options().read(true).write(true).open(path);
        let map = MmapOptions::new().map_raw(&file.expect("there"));
        Counts(map.expect("mapped"))
    }

    fn word(&self, who: i64, word: usize) -> &AtomicU64 {
        let at = who as usize * LINE + word * 8;
        assert!(at < self.0.len());
        // SAFETY: aligned, inside the mapping, which is as old as `self`; all access is atomic.
        unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().add(at).cast()) }
    }

    /// Calls that `who` began.
    pub fn begun(&self, who: i64) -> &AtomicU64 {
        self.word(who, 0)
    }

    /// Calls of `who` that returned.
    pub fn returned(&self, who: i64) -> &AtomicU64 {
        self.word(who, 1)
    }
}

/// What every thread of a process, and its handlers, log to.
pub struct Crew {
    pub timeline: Timeline,
    way: Way,
    pub counts: Counts,
    /// The first `who` of this process.
    pub first: i64,
    /// The threads and children at work, by member, as (process, thread); 0 = none.
    targets: [(AtomicI32, AtomicI32); MAIN as usize],
}

/// The crew of this process, for handlers.
static CREW: AtomicPtr<Crew> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// Who this thread is; negative when its handlers are not to log.
    static WHO: Cell<i64> = const { Cell::new(-1) };
}

extern "C" fn on_signal(_: libc::c_int) {
    let who = WHO.get();
    // SAFETY: null, or a crew that was leaked.
    let crew = unsafe { CREW.load(Ordering::Acquire).as_ref() };
    if let Some(crew) = crew.filter(|_| who >= 0) {
        crew.log_counted(who + HANDLER);
    }
}

impl Crew {
    /// Joins the timeline, and stays until the process ends.
    pub fn join(path: &str, counts: &str, process: i64, typed: bool) -> &'static Crew {
        let timeline = Timeline::open(path).expect("joined");
        let crew: &'static Crew = Box::leak(Box::new(Crew {
            way: Way::define(typed, &timeline),
            timeline,
            counts: Counts::open(Path::new(counts)),
            first: process * SLOTS,
            targets: Default::default(),
        }));
        CREW.store((&raw const *crew).cast_mut(), Ordering::Release);
        // SAFETY: an action of zeros is valid, but for a handler of the right type, which only
        // logs.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            let set = libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut());
            assert_eq!(set, 0);
        }
        crew
    }

    /// Logs one event whose number nobody else has used, and counts it before and after.
    pub fn log_counted(&self, who: i64) {
        let number = self.counts.begun(who).fetch_add(1, Ordering::Relaxed);
        self.way.log(&self.timeline, who, number as i64);
        self.counts.returned(who).fetch_add(1, Ordering::Relaxed);
    }

    fn log_many(&self, who: i64, numbers: std::ops::Range<u64>) {
        for number in numbers {
            self.way.log(&self.timeline, who, number as i64);
        }
    }

    /// From here on the calling thread is moved and interrupted as `member`.
    pub fn enter(&self, member: i64) {
        WHO.set(self.first + member);
        let (process, thread) = &self.targets[member as usize];
        process.store(std::process::id() as i32, Ordering::Relaxed);
        // SAFETY: gettid takes nothing and cannot fail.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) };
        thread.store(tid as i32, Ordering::Release);
    }

    /// Forks a child that runs `f` as `member` and ends. It is moved and interrupted like the
    /// threads.
    pub fn fork(&self, member: i64, f: impl FnOnce(i64)) {
        let (process, thread) = &self.targets[member as usize];
        // A handler in the child must not take itself for its parent.
        hold_signals(true);
        // SAFETY: the child only logs, which asks for no lock or memory of the process, and ends.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0, "fork: {}", Error::last_os_error());
        if pid == 0 {
            deadline();
            WHO.set(self.first + member);
            hold_signals(false);
            let allocations = ALLOCATIONS.get();
            f(self.first + member);
            assert_eq!(ALLOCATIONS.get(), allocations, "a child allocated");
            // SAFETY: ends the process, which has nothing to clean up.
            unsafe { libc::_exit(0) };
        }
        process.store(pid, Ordering::Relaxed);
        thread.store(pid, Ordering::Release);
        hold_signals(false);
    }

    /// Whether a child that was forked as `member` is still there, as far as [`Crew::disturb`] has
    /// noticed.
    pub fn is_at_work(&self, member: i64) -> bool {
        self.targets[member as usize].1.load(Ordering::Acquire) != 0
    }

    /// Until told to stop, some thousand times a second: interrupts each thread and child, and
    /// moves each to a random CPU. Children that have ended are waited for here, so that no number
    /// is signalled that is somebody else's by now.
    pub fn disturb(&self, stop: &AtomicBool) {
        hold_signals(true);
        let cpus = own_cpus();
        let mut random = Random(std::process::id().into());
        while !stop.load(Ordering::Acquire) {
            // Only so that it leaves the CPU to those it disturbs.
            std::thread::sleep(std::time::Duration::from_micros(200));
            for (member, (process, thread)) in (0..).zip(&self.targets) {
                let tid = thread.load(Ordering::Acquire);
                if tid == 0 || (member >= THREADS && self.reap(member, libc::WNOHANG)) {
                    continue;
                }
                let cpu = cpus[random.below(cpus.len() as u64) as usize];
                move_to(tid, cpu);
                let pid = process.load(Ordering::Relaxed);
                // SAFETY: a thread of ours, or a child that was not waited for; the signal is
                // handled.
                unsafe { libc::syscall(libc::SYS_tgkill, pid, tid, libc::SIGUSR1) };
            }
        }
    }

    /// Waits for the child forked as `member`, which must have succeeded; whether it has ended.
    fn reap(&self, member: i64, flags: libc::c_int) -> bool {
        let (process, thread) = &self.targets[member as usize];
        let (pid, mut status) = (process.load(Ordering::Relaxed), 0);
        // SAFETY: `status` is a valid place for one.
        let waited = unsafe { libc::waitpid(pid, &mut status, flags) };
        assert!(waited >= 0, "waitpid: {}", Error::last_os_error());
        if waited == pid {
            assert_eq!(status, 0, "the forked child failed, or hung");
            thread.store(0, Ordering::Release);
        }
        waited == pid
    }

    /// Each thread logs `by_thread` events; the first of them have a child, forked somewhere on the
    /// way, that logs `by_child`. Returns when all have ended.
    fn storm(&'static self, by_thread: u64, by_child: u64) {
        let (finished, leave) = (
            Barrier::new(THREADS as usize + 1),
            Barrier::new(THREADS as usize + 1),
        );
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for member in 0..THREADS {
                let (finished, leave) = (&finished, &leave);
                scope.spawn(move || {
                    self.enter(member);
                    let who = self.first + member;
                    let fork = Random(u64::from(std::process::id()) ^ who as u64).below(by_thread);
                    self.log_many(who, 0..fork);
                    if member < CHILDREN {
                        self.fork(THREADS + member, |who| self.log_many(who, 0..by_child));
                    }
                    self.log_many(who, fork..by_thread);
                    finished.wait();
                    // Interrupted until here; a thread that has ended could not be.
                    leave.wait();
                    WHO.set(-1);
                });
            }
            let disturber = scope.spawn(|| self.disturb(&stop));
            finished.wait();
            stop.store(true, Ordering::Release);
            disturber.join().expect("it disturbed");
            leave.wait();
        });
        for child in THREADS..MAIN {
            if self.is_at_work(child) {
                self.reap(child, 0);
            }
        }
    }
}

/// Whether this thread's handlers have to wait.
pub fn hold_signals(hold: bool) {
    // SAFETY: an empty set is filled, and given to the kernel.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        let how = if hold {
            libc::SIG_BLOCK
        } else {
            libc::SIG_UNBLOCK
        };
        assert_eq!(libc::pthread_sigmask(how, &set, std::ptr::null_mut()), 0);
    }
}

/// The CPUs that the calling thread may use.
pub fn own_cpus() -> Vec<usize> {
    let usable = core_affinity::get_core_ids().expect("CPUs");
    usable.iter().map(|cpu| cpu.id).collect()
}

/// Moves a thread (0: the calling one) to a CPU. One that has ended stays where it is.
pub fn move_to(tid: i32, cpu: usize) {
    let mut one = CpuSet::new();
    one.set(cpu).expect("the number of a CPU");
    let _ = sched_setaffinity(Pid::from_raw(tid), &one);
}

/// Joins the timeline; when it is told, logs one event from its first thread and a storm of them
/// from others.
pub fn logs_in_a_storm(given: &[String]) {
    let number = |i: usize| given[i].parse::<u64>().expect("a number");
    let crew = Crew::join(&given[0], &given[1], number(2) as i64, given[5] == "typed");
    say(rseq());
    hear();
    crew.log_many(crew.first + MAIN, 0..1);
    crew.storm(number(3), number(4));
    say("done");
    hear();
}
