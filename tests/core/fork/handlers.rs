//! Tests a handler that forks after any machine instruction of a log call.
//! The child does not write for its parent.

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::collections::HashMap;
    use std::io::{PipeReader, PipeWriter, Read, Write};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

    use super::super::stepping::trap;
    use super::super::{Fork, own_pid, reap};
    use crate::support::{Name, Process, arguments, attach, define, say};
    use timeline::{Event, Interned, Layout, Order, Timeline, Value};

    /// Instructions since stepping began, and the one after which the handler forks.
    static STEP: AtomicU64 = AtomicU64::new(0);
    static AT: AtomicU64 = AtomicU64::new(0);
    /// What the handler's fork returned; -1 = it has not forked.
    static FORKED: AtomicI32 = AtomicI32::new(-1);
    /// What the child waits for: until its parent has logged on.
    static GATE: OnceLock<(PipeReader, PipeWriter)> = OnceLock::new();

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
        let pid = super::super::fork_on(Fork::Raw);
        FORKED.store(pid, Ordering::SeqCst);
        if pid == 0 {
            // In the child, to wait is all that it does before it goes back into the call.
            crate::support::deadline();
            let mut gate = &GATE.get().expect("a pipe").0;
            gate.read_exact(&mut [0]).expect("the parent logged on");
        }
    }

    /// Logs once, with a fork after instruction `at` of the call; the child's pid, 0 in the child,
    /// or -1 if the call was shorter.
    fn log_with_fork(at: u64, log: impl FnOnce()) -> i32 {
        STEP.store(0, Ordering::SeqCst);
        AT.store(at, Ordering::SeqCst);
        FORKED.store(-1, Ordering::SeqCst);
        trap(true);
        log();
        trap(false);
        FORKED.load(Ordering::SeqCst)
    }

    /// The least of the instructions of three calls. Now and then a call has more to do, such as a
    /// look at the clock, and most places of that one are in no other.
    fn least_count(call: impl FnMut() -> u64) -> u64 {
        let counts = std::iter::repeat_with(call).take(3);
        counts.min().expect("three of them")
    }

    fn prepare() {
        GATE.get_or_init(|| std::io::pipe().expect("a pipe"));
        let handler = on_step as *const () as usize;
        super::super::signals::install(libc::SIGTRAP, handler, libc::SA_SIGINFO);
    }

    /// Lets a child go on with its call, to its end.
    fn release(child: i32) {
        let mut gate = &GATE.get().expect("a pipe").1;
        gate.write_all(&[0]).expect("the child waits");
        reap(child);
    }

    pub fn forks_in_handlers(given: &[String]) {
        let timeline = Timeline::open(&given[0]).expect("joined");
        let event = define(&timeline);
        let attached = attach(&given[0]);
        let chunk = i64::from(attached.info().chunk_entries);
        let more = if given[1] == "refill" { chunk - 1 } else { 4 };
        timeline.log(event, arguments(0, 0));
        let mut next = 1;
        while given[1] == "refill" && next < chunk {
            timeline.log(event, arguments(0, next));
            next += 1;
        }
        prepare();
        let log_on = |next: &mut i64| {
            (0..more).for_each(|i| timeline.log(event, arguments(0, *next + i)));
            *next += more;
        };
        let log = |number| timeline.log(event, arguments(0, number));
        let count = least_count(|| {
            log_with_fork(u64::MAX, || log(next));
            next += 1;
            let count = STEP.load(Ordering::SeqCst);
            log_on(&mut next);
            count
        });
        let (mut places, mut harmed, mut strays) = (0, 0, 0);
        // As many places as a few seconds allow: in an optimised build that is each of them.
        for at in (1..count).step_by((count / 150).max(1) as usize) {
            let first = next;
            let before = attached.info().entries_written;
            let child = log_with_fork(at, || log(first));
            if child == 0 {
                // SAFETY: ends the process, which has nothing to clean up.
                unsafe { libc::_exit(0) };
            }
            next += 1;
            log_on(&mut next);
            if child < 0 {
                // Shorter than it was: after harm in the last place, the chunk is not full where we
                // take it to be.
                continue;
            }
            release(child);
            let events: Vec<Event> = attached
                .events(Order::NewestFirst)
                .take(2 * more as usize + 8)
                .filter(|e| e.args[1] >= first)
                .collect();
            let numbers = |tid: u32| {
                let own = events.iter().filter(|e| e.tid == tid);
                let mut numbers: Vec<i64> = own.map(|e| e.args[1]).collect();
                numbers.sort_unstable();
                numbers
            };
            let (mine, its) = (numbers(own_pid()), numbers(child as u32));
            let others = events.len() - mine.len() - its.len();
            let written = attached.info().entries_written.wrapping_sub(before);
            let kept = mine == (first..next).collect::<Vec<_>>() && written == events.len() as u64;
            places += 1;
            harmed += u32::from(!kept);
            strays += u32::from(others > 0 || its.len() > 1);
        }
        say(format!("{places} {harmed} {strays}"));
    }

    #[derive(timeline::Event)]
    #[event(category = "core")]
    struct Called<'a> {
        number: i64,
        name: Interned<'a>,
    }

    fn name_of(number: i64) -> String {
        format!("the name of number {number}")
    }

    /// Logs a new text in each call, with a fork in it, and the same text again.
    pub fn forks_in_interning(given: &[String]) {
        let timeline = Timeline::open(&given[0]).expect("joined");
        Called::define(&timeline).expect("defined");
        let log = |number, name: &str| {
            let name = Interned(name);
            Called { number, name }.log(&timeline);
        };
        log(0, &name_of(0));
        prepare();
        let mut number = 0;
        let count = least_count(|| {
            number += 1;
            let name = name_of(number);
            log_with_fork(u64::MAX, || log(number, &name));
            log(number, &name);
            STEP.load(Ordering::SeqCst)
        });
        let mut forks = 0;
        for at in (1..count).step_by((count / 150).max(1) as usize) {
            number += 1;
            let name = name_of(number);
            let child = log_with_fork(at, || log(number, &name));
            if child == 0 {
                // SAFETY: ends the process, which has nothing to clean up.
                unsafe { libc::_exit(0) };
            }
            log(number, &name);
            // Takes the bytes behind, while the child stands where it was forked.
            number += 1;
            log(number, &name_of(number));
            if child > 0 {
                forks += 1;
                release(child);
            }
            log(number, &name_of(number));
        }
        say(format!("{number} {forks} {}", own_pid()));
    }

    #[test]
    fn a_child_that_a_handler_forks_while_a_text_is_interned_leaves_whole_texts() {
        let name = Name::new("fork-interned");
        let opener = Timeline::with_size(name.path(), 1 << 15, 4096).expect("created");
        let mut process = Process::start(forks_in_interning, &[name.path()]);
        let line = process.line();
        process.finish();
        let said: Vec<i64> = line
            .split(' ')
            .map(|n| n.parse().expect("a number"))
            .collect();
        let [last, forks, parent] = said[..] else {
            panic!("{line}");
        };
        assert!(forks > 20, "{line}");
        let attached = attach(name.path());
        let mut times = HashMap::new();
        for event in attached.events(Order::OldestFirst) {
            let definition = attached.definition(event.id).expect("defined");
            let payload = event.payload.as_ref().expect("a text");
            let layout = Layout::of(definition);
            let values: Vec<_> = layout.values(&payload.values).collect();
            let [Value::Int(number), Value::Text { bytes, cut: false }] = values[..] else {
                panic!("{values:?}");
            };
            assert_eq!(bytes, name_of(number).as_bytes());
            if i64::from(event.tid) == parent {
                *times.entry(number).or_insert(0) += 1;
            }
        }
        // A child that goes back into the append of its parent costs that an event: see above.
        let whole = (2..=last).filter(|number| times.get(number) == Some(&2));
        assert!(whole.count() as i64 * 20 >= (last - 1) * 19, "{times:?}");
        let info = attached.info();
        assert_eq!((info.interned, info.not_interned), (last as u32 + 1, 0));
        drop(opener);
    }

    /// Forks after each of some instructions of one log call each. A child that is forked after the
    /// one that asks whether it is one commits into the lane of its parent, which takes back what
    /// that logged since: in how many places the parent was harmed so, and in how many an event
    /// came from nowhere.
    fn places(how: &str) -> (u32, u32, u32) {
        let name = Name::new(how);
        let opener = Timeline::with_size(name.path(), 4096, 2048).expect("created");
        define(&opener);
        let mut process = Process::start(forks_in_handlers, &[name.path(), how]);
        let line = process.line();
        process.finish();
        let mut numbers = line.split(' ').map(|n| n.parse().expect("a number"));
        let mut next = || numbers.next().expect("three numbers");
        (next(), next(), next())
    }

    #[test]
    fn a_child_that_a_handler_forks_in_a_log_call_leaves_its_parents_lane_alone() {
        for how in ["each", "refill"] {
            let (places, harmed, strays) = places(how);
            assert!(places > 20, "{how}: {places}");
            // Two or three instructions, which in a build that is not optimised are more.
            assert!(
                harmed * 20 <= places,
                "{how}: after {harmed} of {places} instructions"
            );
            assert_eq!(strays, 0, "{how}: events of nobody");
        }
    }
}
