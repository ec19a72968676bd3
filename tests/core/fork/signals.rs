//! Tests signal handlers that log while their thread logs.
//! Each event is in the ring, or is counted as dropped.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use timeline::{EventId, Order, Timeline};

use crate::support::{Name, Process, Way, arguments, attach, checked, define, say};

static TIMELINE: AtomicPtr<Timeline> = AtomicPtr::new(std::ptr::null_mut());
static EVENT: AtomicU32 = AtomicU32::new(0);
static HANDLED: AtomicU64 = AtomicU64::new(0);

/// Stands for [`Way::Interned`].
const INTERNED: EventId = EventId(u32::MAX);

/// Who logs in a handler.
pub const HANDLER: i64 = 1_000_000;

/// Has [`log_one`] log to `timeline` from now on, which stays open until the process ends.
pub fn serve(timeline: &'static Timeline, way: Way) {
    let event = match way {
        Way::Plain(event) => event,
        Way::Typed => EventId::NEVER,
        Way::Interned => INTERNED,
    };
    EVENT.store(event.0, Ordering::SeqCst);
    TIMELINE.store((&raw const *timeline).cast_mut(), Ordering::SeqCst);
}

/// Logs one event, from a handler.
pub fn log_one() {
    // SAFETY: null, or a timeline that `serve` got for good.
    if let Some(timeline) = unsafe { TIMELINE.load(Ordering::SeqCst).as_ref() } {
        let number = HANDLED.fetch_add(1, Ordering::SeqCst);
        let way = match EventId(EVENT.load(Ordering::SeqCst)) {
            EventId::NEVER => Way::Typed,
            INTERNED => Way::Interned,
            event => Way::Plain(event),
        };
        way.log(timeline, HANDLER, number as i64);
    }
}

/// How many events handlers have logged, or tried to.
pub fn handled() -> u64 {
    HANDLED.load(Ordering::SeqCst)
}

extern "C" fn on_signal(_: libc::c_int) {
    log_one();
}

/// Has `handler` called on `signal`, as one of three arguments if `flags` say so.
pub fn install(signal: libc::c_int, handler: usize, flags: libc::c_int) {
    // SAFETY: the action is all zeros, which is valid, but for a handler of the right type and
    // flags.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags | libc::SA_RESTART;
        assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
    }
}

/// Threads log, come and go, while signals interrupt them as fast as another can send them.
pub fn logs_from_a_handler(given: &[String]) {
    let timeline: &'static Timeline =
        Box::leak(Box::new(Timeline::open(&given[0]).expect("joined")));
    let event = define(timeline);
    serve(timeline, Way::Plain(event));
    install(libc::SIGUSR1, on_signal as *const () as usize, 0);
    let mut logged = 0;
    for round in 0..60 {
        let (done, id) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                // SAFETY: pthread_self takes nothing and cannot fail.
                id.store(unsafe { libc::pthread_self() }, Ordering::SeqCst);
                let before = handled();
                for i in 0..1500 {
                    timeline.log(event, arguments(round, i));
                    if i % 50 == 0 {
                        // Between two calls, where nothing stands in the handler's way.
                        // SAFETY: raises a signal that is handled.
                        unsafe { libc::raise(libc::SIGUSR1) };
                    }
                }
                // On a busy machine all this may be over before the other thread sends its first.
                while handled() <= before + 30 {
                    std::thread::yield_now();
                }
                done.store(true, Ordering::SeqCst);
            });
            // Not without end: a thread that does nothing but handle signals would fill the ring.
            let mut left = 10_000;
            while left > 0 && !done.load(Ordering::SeqCst) {
                let target = id.load(Ordering::SeqCst);
                if target != 0 {
                    // SAFETY: the thread is joined only below.
                    unsafe { libc::pthread_kill(target, libc::SIGUSR1) };
                    left -= 1;
                }
            }
            writer.join().expect("it logged");
        });
        logged += 1500;
    }
    say(format!("{logged} {}", handled()));
}

#[test]
fn each_event_of_a_handler_is_in_the_ring_or_counted() {
    let name = Name::new("signal");
    let opener = Timeline::with_size(name.path(), 1 << 20, 2048).expect("created");
    define(&opener);
    let mut process = Process::start(logs_from_a_handler, &[name.path()]);
    let line = process.line();
    process.finish();
    let (logged, handled) = line.split_once(' ').expect("two numbers");
    let logged: u64 = logged.parse().expect("a number");
    let handled: u64 = handled.parse().expect("a number");
    let attached = attach(name.path());
    let dropped = attached.info().dropped;
    let (mut by_threads, mut by_handlers) = (0, 0);
    let mut last = std::collections::HashMap::new();
    for event in attached.events(Order::OldestFirst) {
        let (who, number) = checked(&event);
        if who == HANDLER {
            by_handlers += 1;
        } else {
            let before = last.insert(who, number).unwrap_or(-1);
            assert_eq!(number, before + 1, "thread {who} lost an event of its own");
            by_threads += 1;
        }
    }
    assert_eq!(by_threads, logged);
    assert_eq!(by_handlers + dropped.interrupted, handled);
    assert_eq!(dropped.total(), dropped.interrupted);
    // Those raised between two calls are never dropped; most others are sent at any moment.
    assert!(
        by_handlers >= 60 * 30 && handled > 60 * 30,
        "{by_handlers} of {handled}"
    );
    assert_eq!(attached.info().thread_lanes_in_use, 0, "lanes left behind");
}
