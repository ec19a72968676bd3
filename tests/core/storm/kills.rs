//! Kills processes with SIGKILL, and replaces them, while they log under the storm.
//! A reader follows all the while.

use std::collections::HashMap;
use std::fs::File;
use std::hint::spin_loop;
use std::io::Error;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use timeline::{Attached, Event, Follow, FollowFrom, Timeline};

use super::load::{CHILDREN, Counts, Crew, HANDLER, SLOTS, THREADS};
use crate::kill::assert_readable;
use crate::support::{
    Name, Process, Random, arguments, attach, checked, deadline, define, hear, naive, say, size,
};

const PROCESSES: i64 = 4;
/// Kills between two moments at which nobody is left and the books are checked.
const KILLS: u64 = 25;
const ROUNDS: u64 = 8;
/// Events of a forked child before it ends by itself.
const BY_CHILD: u64 = 300;

/// Logs until it is killed, from threads whose children log too.
fn log_for_ever(path: &str, counts: &str, process: i64) {
    let crew = Crew::join(path, counts, process, false);
    std::thread::scope(|scope| {
        for member in 0..THREADS {
            scope.spawn(move || {
                crew.enter(member);
                for number in 0u64.. {
                    let child = THREADS + member;
                    if number % 1024 == 0 && member < CHILDREN && !crew.is_at_work(child) {
                        crew.fork(child, |who| {
                            (0..BY_CHILD).for_each(|_| crew.log_counted(who));
                        });
                    }
                    crew.log_counted(crew.first + member);
                }
            });
        }
        crew.disturb(&AtomicBool::new(false));
    });
}

/// Forks a process that logs; it leads a group of its own, to which its children belong.
fn start(path: &str, counts: &str, process: i64) -> libc::pid_t {
    // SAFETY: the calling process is one thread, so the child may do anything.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", Error::last_os_error());
    if pid == 0 {
        // SAFETY: numbers only. It is killed when its parent is gone.
        unsafe {
            libc::setpgid(0, 0);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        deadline();
        let run = || log_for_ever(path, counts, process);
        let _ = std::panic::catch_unwind(run);
        // SAFETY: ends the process, at once: its parent sees that it was not the kill.
        unsafe { libc::_exit(1) };
    }
    // SAFETY: as above; whoever comes second finds it done.
    unsafe { libc::setpgid(pid, pid) };
    pid
}

/// Kills a process with its children. None of them runs a further instruction of ours, but they
/// take their time to end.
fn kill(pid: libc::pid_t) {
    // SAFETY: a group that `start` made, of a process that nobody has waited for.
    let killed = unsafe { libc::kill(-pid, libc::SIGKILL) };
    assert_eq!(killed, 0, "kill: {}", Error::last_os_error());
}

/// Waits for one that has ended, be it a child that its parent's end has left to us; `None` when
/// there is none.
fn reap(flags: libc::c_int) -> Option<libc::pid_t> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for one.
    let pid = unsafe { libc::waitpid(-1, &mut status, flags) };
    let killed = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL;
    assert!(
        killed || status == 0,
        "a writer ended by itself: {status:#x}"
    );
    (pid > 0).then_some(pid)
}

/// Keeps processes logging; kills one at a random moment and starts another, again and again.
pub fn kills_at_random(given: &[String]) {
    let (path, counts) = (&given[0], &given[1]);
    // SAFETY: numbers only. The children of the killed become ours, to be waited for.
    let adopts = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    assert_eq!(adopts, 0, "prctl: {}", Error::last_os_error());
    let file = File::open(format!("/dev/shm{path}")).expect("there");
    let mut random = Random(std::process::id().into());
    for _ in 0..ROUNDS * size() {
        hear();
        deadline();
        let start = |process| start(path, counts, process);
        let (mut living, mut dying): (Vec<_>, Vec<_>) =
            ((0..PROCESSES).map(start).collect(), Vec::new());
        for kills in 1..=KILLS {
            // A random way further: nobody may have begun, or all wrap the ring. Without leaving
            // the CPU, which the writers would not give back soon.
            let most = 1 << random.below(15);
            let until = naive::next_ticket(&file) + random.below(most);
            while naive::next_ticket(&file) < until {
                spin_loop();
            }
            (0..random.below(3000)).for_each(|_| spin_loop());
            let victim = random.below(PROCESSES as u64) as usize;
            kill(living[victim]);
            dying.push(living[victim]);
            let wait = |dying: &Vec<_>| {
                if dying.len() > PROCESSES as usize {
                    0
                } else {
                    libc::WNOHANG
                }
            };
            while let Some(pid) = reap(wait(&dying)) {
                dying.retain(|&p| p != pid);
            }
            if kills < KILLS {
                living[victim] = start(victim as i64);
            } else {
                living.remove(victim);
            }
        }
        living.into_iter().for_each(kill);
        while reap(0).is_some() {}
        say("dead");
    }
}

/// What a follower was given so far.
struct Followed<'a> {
    follow: Follow<'a>,
    came: u64,
    missed: u64,
    /// The numbers that came, for each who: bits.
    seen: HashMap<i64, Vec<u64>>,
    fresh: Vec<Event>,
}

impl Followed<'_> {
    /// Whether anything was new. All that comes is whole, was never there before, and in each poll
    /// in order.
    fn poll(&mut self) -> bool {
        self.fresh.clear();
        let lost = self.follow.poll(&mut self.fresh);
        self.missed += lost;
        self.came += self.fresh.len() as u64;
        let mut last: HashMap<i64, i64> = HashMap::new();
        for event in &self.fresh {
            let (who, number) = checked(event);
            let before = last.insert(who, number).unwrap_or(-1);
            assert!(before < number, "{who}: {number} after {before}");
            let seen = self.seen.entry(who).or_default();
            let (word, bit) = (number as usize / 64, number % 64);
            if seen.len() <= word {
                seen.resize(word + 1, 0);
            }
            assert_eq!(seen[word] >> bit & 1, 0, "{who}: {number} comes twice");
            seen[word] |= 1 << bit;
        }
        lost != 0 || !self.fresh.is_empty()
    }
}

/// Nobody writes: what followers and readers say adds up to what writers say.
fn assert_exact(attached: &Attached, counts: &Counts, followed: &Followed, kills: u64) {
    let info = attached.info();
    assert_eq!(followed.missed, followed.follow.missed());
    assert_eq!(
        followed.came + followed.missed,
        info.entries_written,
        "after {kills} kills: came {}, missed {}",
        followed.came,
        followed.missed
    );
    let whos = 0..PROCESSES * SLOTS;
    let sum = |word: fn(&Counts, i64) -> &std::sync::atomic::AtomicU64| -> u64 {
        let words = whos.clone().map(|who| word(counts, who));
        words.map(|w| w.load(Ordering::Relaxed)).sum()
    };
    let (begun, returned) = (sum(Counts::begun), sum(Counts::returned));
    let dropped = info.dropped;
    assert_eq!(dropped.total(), dropped.interrupted, "{dropped:?}");
    let there = info.entries_written + dropped.interrupted;
    assert!(
        (returned..=begun).contains(&there),
        "after {kills} kills: {returned} calls returned and {begun} began, \
         but {there} are accounted for"
    );
    // A thread that was killed leaves one call that never returned, and its handler another.
    let open = (kills + PROCESSES as u64) * 2 * (THREADS + CHILDREN) as u64;
    assert!(
        begun - returned <= open,
        "{} calls are open",
        begun - returned
    );
}

/// Had the lanes of the dead not come back, some thread would find none: as many as there are lanes
/// log at once, and leave them.
fn assert_lanes_came_back(opener: &Timeline, attached: &Attached) {
    let (event, before) = (define(opener), attached.info());
    let together = Barrier::new(before.thread_lanes as usize);
    let log = |thread| {
        opener.log(event, arguments(-1 - thread, 0));
        together.wait();
    };
    std::thread::scope(|scope| {
        let log = &log;
        let lanes = 0..i64::from(before.thread_lanes);
        let threads: Vec<_> = lanes.map(|t| scope.spawn(move || log(t))).collect();
        // Joined one by one: the scope itself does not wait for what threads do after their
        // closure.
        for thread in threads {
            thread.join().expect("logged");
        }
    });
    let info = attached.info();
    assert_eq!(info.dropped, before.dropped);
    assert_eq!(info.thread_lanes_in_use, 0, "all threads have ended");
    let left = info.writers.iter().filter(|w| w.alive).count();
    assert_eq!(left, 1, "writers that live");
}

#[test]
fn kills_under_the_storm_tear_and_leak_nothing_and_every_loss_is_counted() {
    let name = Name::new("kills");
    // Stays through all of it, and never logs.
    let opener = Timeline::with_size(name.path(), 1 << 12, 4096).expect("created");
    define(&opener);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("counts");
    let counts = Counts::create(Path::new(&file), PROCESSES);
    let file = file.to_str().expect("a plain name");
    let attached = attach(name.path());
    let mut followed = Followed {
        follow: attached.follow(FollowFrom::Start),
        came: 0,
        missed: 0,
        seen: HashMap::new(),
        fresh: Vec::new(),
    };
    let mut killer = Process::start(kills_at_random, &[name.path(), file]);
    for round in 1..=ROUNDS * size() {
        killer.tell();
        let dead = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let line = killer.line();
                dead.store(true, Ordering::Release);
                line
            });
            loop {
                // Looked at first: what comes after is the last of it.
                let ended = dead.load(Ordering::Acquire) || waits.is_finished();
                if !followed.poll() && ended {
                    break;
                }
            }
            assert_eq!(waits.join().expect("a line"), "dead");
        });
        assert_exact(
            &attached,
            &counts,
            &followed,
            round * (KILLS + PROCESSES as u64 - 1),
        );
        assert_readable(name.path(), &name.file(), round as usize, 1);
    }
    killer.finish();
    let (came, missed) = (followed.came, followed.missed);
    assert!(came > 0 && missed > 0, "came {came}, missed {missed}");
    let handled = |who: &i64| who % SLOTS >= HANDLER;
    let children = |who: &i64| who % HANDLER >= THREADS;
    assert!(followed.seen.keys().any(handled), "no handler has logged");
    assert!(followed.seen.keys().any(children), "no child has logged");
    assert_lanes_came_back(&opener, &attached);
    eprintln!(
        "came {came}, missed {missed}, dropped {:?}",
        attached.info().dropped
    );
}
