//! Tests a handler that logs after every single machine instruction of a log call.
//! No place in the call is left to chance.

#[cfg(target_arch = "x86_64")]
use crate::support::{NO_RSEQ, Name, Process, Way, attach, checked, rseq};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{steps_through, trap};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::mem::offset_of;
    use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    use super::super::signals::{handled, install, log_one, serve};
    use crate::allocator::ALLOCATIONS;
    use crate::support::{Way, say, size};
    use timeline::internal::Record;
    use timeline::internal::layout::{Geometry, Header, records};
    use timeline::{Attached, Timeline};

    /// Instructions since stepping began, and the one after which the handler logs; 0 = after each.
    static STEP: AtomicU64 = AtomicU64::new(0);
    static AT: AtomicU64 = AtomicU64::new(0);

    /// The lanes' records, and how many there are.
    static LANES: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
    static COUNT: AtomicU64 = AtomicU64::new(0);
    /// The serial number of thread records: it rises with each thread that joins.
    static SERIAL: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
    /// Events committed through a lane without an owner.
    static STOLEN: AtomicU64 = AtomicU64::new(0);

    const TRAP: i64 = 0x100;
    const WORDS: usize = size_of::<records::Lane>() / 8;

    /// Maps the timeline's lanes for [`lanes`].
    fn look_at_lanes(path: &str) {
        let file = std::fs::File::open(format!("/dev/shm{path}")).expect("there");
        let map = memmap2::MmapOptions::new()
            .map_raw_read_only(&file)
            .expect("mapped");
        let bytes = std::fs::read(format!("/dev/shm{path}")).expect("read");
        let geometry = Geometry::load(&Header::of(&bytes)).expect("sound");
        // SAFETY: the region lies inside the file, as Geometry has checked.
        let lanes = unsafe { map.as_mut_ptr().add(geometry.lane().offset as usize) };
        // SAFETY: a field of the header.
        let serial = unsafe { map.as_mut_ptr().add(offset_of!(Header, thread_serial)) };
        std::mem::forget(map);
        SERIAL.store(serial.cast(), Ordering::SeqCst);
        LANES.store(lanes.cast(), Ordering::SeqCst);
        COUNT.store(geometry.lanes().into(), Ordering::SeqCst);
    }

    /// How many threads have joined.
    fn joined() -> u64 {
        // SAFETY: inside the mapping, which stays; others change it, hence volatile.
        unsafe { SERIAL.load(Ordering::SeqCst).cast_const().read_volatile() }
    }

    /// How many lanes have an owner, and the sum of all cursors, which rises with each commit.
    fn lanes() -> (u64, u64) {
        let first = LANES.load(Ordering::SeqCst).cast_const();
        let (mut owned, mut cursors) = (0, 0u64);
        for lane in 0..COUNT.load(Ordering::SeqCst) as usize {
            // SAFETY: records inside the mapping, which stays; others change them, hence volatile.
            let (cursor, owner) = unsafe {
                let record = first.add(lane * WORDS);
                (record.read_volatile(), record.add(1).read_volatile())
            };
            owned += u64::from(owner != 0);
            cursors = cursors.wrapping_add(cursor);
        }
        (owned, cursors)
    }

    extern "C" fn on_step(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let step = STEP.fetch_add(1, Ordering::SeqCst) + 1;
        let at = AT.load(Ordering::SeqCst);
        if at == 0 && lanes().0 == 1 {
            let before = (lanes().1, joined());
            log_one();
            // Only the main thread has a lane, and nobody joined to have one for a moment: so this
            // went into one that may be another's by now.
            let (owned, cursors) = lanes();
            let stolen = owned == 1 && cursors != before.0 && joined() == before.1;
            STOLEN.fetch_add(stolen.into(), Ordering::SeqCst);
        } else if at == 0 || step == at {
            log_one();
        }
        if at != 0 && step >= at {
            // SAFETY: the kernel passes the interrupted thread's context; clearing the trap flag in
            // it ends the stepping.
            unsafe {
                let context = context.cast::<libc::ucontext_t>();
                (*context).uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP;
            }
        }
    }

    /// Has the processor raise SIGTRAP after each instruction of this thread, or no more.
    #[inline(never)]
    pub fn trap(on: bool) {
        // SAFETY: sets or clears only the trap flag; what follows raises SIGTRAP, which is handled.
        unsafe {
            if on {
                core::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq");
            } else {
                core::arch::asm!("pushfq", "and qword ptr [rsp], -257", "popfq");
            }
        }
    }

    /// Runs `f` with the handler logging after instruction `at` of it, or after each; how many
    /// there were.
    fn stepped(at: u64, f: impl FnOnce()) -> u64 {
        STEP.store(0, Ordering::SeqCst);
        AT.store(at, Ordering::SeqCst);
        trap(true);
        f();
        trap(false);
        STEP.load(Ordering::SeqCst)
    }

    /// Which instructions of `count` are tried: of the first, where a thread is not marked as
    /// joining yet, each (in a debug build, each ninth), and as many of the others as a second
    /// allows. The first of them is another one in each run, so runs come to all of them.
    fn places(count: u64) -> impl Iterator<Item = u64> {
        let dense = 1400.min(count);
        let stride = (count * count / (90_000 * size())).max(1);
        let first = if count > 4000 { (9 / size()).max(1) } else { 1 };
        let begin = |stride| 1 + u64::from(std::process::id()) % stride;
        (begin(first)..=dense)
            .step_by(first as usize)
            .chain((dense + begin(stride)..=count).step_by(stride as usize))
    }

    extern "C" fn begin(_: *mut libc::c_void) {
        trap(true);
    }

    extern "C" fn end(_: *mut libc::c_void) {
        trap(false);
    }

    fn key(destructor: extern "C" fn(*mut libc::c_void)) -> libc::pthread_key_t {
        let mut key = 0;
        // SAFETY: `key` is a valid place for one, the destructor of the right type.
        let made = unsafe {
            libc::pthread_key_create(
                &mut key,
                Some(std::mem::transmute::<
                    extern "C" fn(*mut libc::c_void),
                    unsafe extern "C" fn(*mut libc::c_void),
                >(destructor)),
            )
        };
        assert_eq!(made, 0);
        key
    }

    fn set(key: libc::pthread_key_t) {
        // SAFETY: the key exists; its destructor never looks at the value.
        unsafe { libc::pthread_setspecific(key, std::ptr::dangling::<u8>().cast()) };
    }

    /// Joins a timeline and logs in each of the ways that `given` names, interrupted everywhere.
    pub fn steps_through(given: &[String]) {
        // Destructors of thread-specific values run in the order of their keys: one of ours before
        // the library's, which it makes when it is opened, one after.
        let before = key(begin);
        let timeline: &'static Timeline =
            Box::leak(Box::new(Timeline::open(&given[0]).expect("joined")));
        let way = Way::named(&given[2], timeline);
        way.log(timeline, 0, 0);
        let after = key(end);
        serve(timeline, way);
        install(
            libc::SIGTRAP,
            on_step as *const () as usize,
            libc::SA_SIGINFO,
        );
        let mut logged = 1;
        match given[1].as_str() {
            // Three chunks' worth of calls, so that refills are among them; fewer where they have
            // more instructions, each with an event of the handler.
            "each" => {
                let allocations = ALLOCATIONS.get();
                for i in 1..if given[2] == "plain" { 50 } else { 12 } {
                    stepped(0, || way.log(timeline, 0, i));
                    logged += 1;
                }
                assert_eq!(ALLOCATIONS.get(), allocations);
            }
            "first" => {
                let count = spawn(move || stepped(u64::MAX, || way.log(timeline, 1, 0)));
                logged += 1;
                for (who, at) in (2..).zip(places(count)) {
                    spawn(move || {
                        stepped(at, || way.log(timeline, who, 0));
                        way.log(timeline, who, 1);
                        0
                    });
                    logged += 2;
                }
            }
            "exit" => {
                let exit = move |who, at| {
                    spawn(move || {
                        way.log(timeline, who, 0);
                        STEP.store(0, Ordering::SeqCst);
                        AT.store(at, Ordering::SeqCst);
                        set(before);
                        set(after);
                        0
                    });
                    STEP.load(Ordering::SeqCst)
                };
                look_at_lanes(&given[0]);
                // After each instruction of one thread's end, and after single ones of many
                // others'.
                let count = exit(1, 0);
                logged += 1;
                for (who, at) in (2..).zip(places(count)) {
                    exit(who, at);
                    logged += 1;
                }
            }
            other => panic!("{other}?"),
        }
        let info = Attached::open(&given[0]).expect("attached").info();
        // Only the main thread is left. With rseq, it needs a lane of its own only once it is
        // stopped at every instruction of all attempts at the CPU's.
        let own = u32::from(!crate::support::rseq() || given[1] == "each");
        assert_eq!(info.thread_lanes_in_use, own, "lanes left behind");
        assert_eq!(
            STOLEN.load(Ordering::SeqCst),
            0,
            "events in lanes given back"
        );
        say(format!("{logged} {}", handled()));
    }

    fn spawn(f: impl FnOnce() -> u64 + Send + 'static) -> u64 {
        std::thread::spawn(f).join().expect("it logged")
    }
}

/// Everything that threads and handlers logged is there, or counted; and no lane is left behind.
#[cfg(target_arch = "x86_64")]
fn assert_accounted(how: &str, event: &str) {
    if rseq() {
        assert_accounted_with(how, event, &[]);
    }
    assert_accounted_with(how, event, &[NO_RSEQ]);
}

#[cfg(target_arch = "x86_64")]
fn assert_accounted_with(how: &str, event: &str, environment: &[(&str, &str)]) {
    let name = Name::new(how);
    let entries = if event == "plain" { 1 << 18 } else { 1 << 20 };
    let opener = timeline::Timeline::with_size(name.path(), entries, 2048).expect("created");
    Way::named(event, &opener);
    let mut process = Process::start_with(steps_through, &[name.path(), how, event], environment);
    let line = process.line();
    process.finish();
    let (logged, handled) = line.split_once(' ').expect("two numbers");
    let (logged, handled): (u64, u64) = (
        logged.parse().expect("a number"),
        handled.parse().expect("a number"),
    );
    let attached = attach(name.path());
    let info = attached.info();
    let (mut own, mut by_handler) = (0, 0);
    let mut last = std::collections::HashMap::new();
    let mut texts = std::collections::HashSet::new();
    for event in attached.events(timeline::Order::OldestFirst) {
        let (who, number) = checked(&event);
        // All texts but the empty one, as an event has it after its four numbers.
        let layout = timeline::Layout::of(attached.definition(event.id).expect("defined"));
        if let Some(timeline::Value::Text { bytes, .. }) = event.values(&layout).nth(4)
            && !bytes.is_empty()
        {
            texts.insert(bytes.to_vec());
        }
        if who == super::signals::HANDLER {
            by_handler += 1;
        } else {
            own += 1;
            let before = last.insert(who, number).unwrap_or(-1);
            assert_eq!(number, before + 1, "thread {who} lost an event of its own");
        }
    }
    assert!(handled > 0, "nothing was interrupted");
    assert_eq!(own, logged);
    let dropped = info.dropped;
    assert_eq!(by_handler + dropped.interrupted, handled, "{dropped:?}");
    if event == "plain" {
        let entries = info.entries_written + dropped.interrupted;
        assert_eq!(entries, logged + handled, "{dropped:?}");
    }
    assert_eq!(dropped.total(), dropped.interrupted);
    let stored = if event == "interned" { texts.len() } else { 0 };
    assert_eq!((info.interned as usize, info.not_interned), (stored, 0));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_interruption_after_any_instruction_of_a_log_call_is_accounted_for() {
    assert_accounted("each", "plain");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_interruption_after_any_instruction_of_a_first_event_is_accounted_for() {
    assert_accounted("first", "plain");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_interruption_after_any_instruction_of_a_threads_end_is_accounted_for() {
    assert_accounted("exit", "plain");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn interruptions_of_typed_events_are_accounted_for_and_allocate_nothing() {
    assert_accounted("each", "typed");
    assert_accounted("first", "typed");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn interruptions_of_interned_texts_are_accounted_for_and_store_each_once() {
    assert_accounted("each", "interned");
    assert_accounted("first", "interned");
}
