//! Tests that a statement keeps every timeline and priority that it has met.
//! Later runs allocate nothing, also in the handler of a signal.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use timeline::{Order, Priority, Timeline, event, span};

use crate::allocator::ALLOCATIONS;
use crate::support::{Name, Process, attach};

/// As many as a process may have open.
const MOST: usize = 64;
const PRIORITIES: [Priority; 7] = [
    Priority::Error,
    Priority::Warning,
    Priority::Info,
    Priority::Trace,
    Priority::App,
    Priority::Packet,
    Priority::Library,
];
/// Events of one call of `say`: a span has two.
const EVENTS: usize = 3;

fn say(tl: &Timeline, priority: Priority, number: usize) {
    event!(tl, priority, "known", "number {number}", number);
    let _span = span!(tl, priority, "known", "span {number}", number);
}

fn say_all(all: &[Timeline]) {
    for (number, tl) in all.iter().enumerate() {
        for priority in PRIORITIES {
            say(tl, priority, number);
        }
    }
}

/// How often this thread has allocated meanwhile.
fn allocations(f: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

fn opened(path: &str, count: usize) -> Vec<Timeline> {
    let mut all = vec![Timeline::with_size(path, 16_384, 65_536).expect("created")];
    all.extend((1..count).map(|_| Timeline::open(path).expect("opened")));
    all
}

static ALL: AtomicPtr<Vec<Timeline>> = AtomicPtr::new(std::ptr::null_mut());
static ALLOCATED: AtomicUsize = AtomicUsize::new(usize::MAX);

extern "C" fn on_signal(_: libc::c_int) {
    // SAFETY: set below, before the signal is raised, and alive until after it.
    let all = unsafe { &*ALL.load(Ordering::Relaxed) };
    ALLOCATED.store(allocations(|| say_all(all)), Ordering::Relaxed);
}

fn opens_as_many_as_there_may_be(arguments: &[String]) {
    let mut all = opened(&arguments[0], MOST);
    say_all(&all);
    assert_eq!(allocations(|| say_all(&all)), 0);
    ALL.store(&raw mut all, Ordering::Relaxed);
    let handler = on_signal as extern "C" fn(libc::c_int);
    // SAFETY: the handler does only what this test is about.
    unsafe {
        libc::signal(libc::SIGUSR1, handler as libc::sighandler_t);
        libc::raise(libc::SIGUSR1);
    }
    assert_eq!(ALLOCATED.load(Ordering::Relaxed), 0);
}

#[test]
fn as_many_timelines_as_there_may_be_at_all_priorities() {
    let name = Name::new("known");
    Process::start(opens_as_many_as_there_may_be, &[name.path()]).finish();
    let attached = attach(name.path());
    assert_eq!(attached.info().dropped.total(), 0);
    let events = attached.events(Order::OldestFirst).count();
    assert_eq!(events, 3 * EVENTS * MOST * PRIORITIES.len());
}

#[test]
fn two_timelines_take_nothing_from_each_other() {
    let names = [Name::new("known"), Name::new("known")];
    let both = names
        .each_ref()
        .map(|name| opened(name.path(), 1).remove(0));
    let turn = |number| {
        for tl in &both {
            say(tl, Priority::Info, number);
            say(tl, Priority::Warning, number);
        }
    };
    turn(0);
    assert_eq!(allocations(|| (1..1000).for_each(turn)), 0);
}

#[test]
fn timelines_that_come_and_go_take_nothing_from_one_that_stays() {
    let name = Name::new("known");
    let stays = opened(name.path(), 1).remove(0);
    for number in 0..1000 {
        let comes = Timeline::open(name.path()).expect("opened");
        say(&stays, Priority::Warning, number);
        say(&comes, Priority::Info, number);
        let later = || {
            say(&stays, Priority::Warning, number);
            say(&comes, Priority::Info, number);
        };
        assert_eq!(allocations(later), 0);
    }
}

#[test]
fn threads_that_meet_all_at_once_know_all_afterwards() {
    const THREADS: usize = 4;
    let name = Name::new("known");
    let all = opened(name.path(), 8);
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                barrier.wait();
                say_all(&all);
                barrier.wait();
                assert_eq!(allocations(|| say_all(black_box(&all))), 0);
            });
        }
    });
    assert_eq!(attach(name.path()).info().dropped.total(), 0);
}

/// A full table stays full: events are counted, and none of them tries to define it again.
#[test]
fn a_full_table_is_not_asked_again() {
    let name = Name::new("known");
    let tl = Timeline::with_size(name.path(), 1024, 1024).expect("created");
    let fill = |n| tl.define("known", Priority::Info, &format!("fill {n}"));
    assert!((0..1000).any(|n| fill(n).is_err()));
    let say = || event!(tl, Priority::Info, "known", "too late to be defined");
    say();
    assert_eq!(allocations(|| (0..3000).for_each(|_| say())), 0);
    assert_eq!(attach(name.path()).info().dropped.undefined, 3001);
}
