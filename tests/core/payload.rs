//! Tests that events of several entries are whole whenever they are read.
//! This holds in any ring, beside short events, and after a kill.

use std::collections::HashMap;

use proptest::prelude::*;
use timeline::{
    Attached, Encoding, Event, EventId, FollowFrom, Order, Payload, Priority, Timeline,
};

use crate::support::{Name, Process, Random, attach, in_process_without_rseq};

/// A payload that a torn one would not be: as long as its number says, and filled from it.
fn payload(number: u64, most: usize) -> Vec<u64> {
    let mut words = vec![0; most];
    let length = fill(number, &mut words);
    words.truncate(length);
    words
}

/// Makes a payload in the beginning of these words; its length. Allocates nothing.
fn fill(number: u64, words: &mut [u64]) -> usize {
    let length = Random(number).below(words.len() as u64 + 1).max(1) as usize;
    words[0] = number;
    let mut random = Random(number ^ 1);
    words[1..length].fill_with(|| random.next());
    length
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The number that a payload was made from; fails on a torn one.
fn checked(event: &Event, most: usize) -> u64 {
    let values = &event.payload.as_ref().expect("a payload").values;
    let head = values.first_chunk().expect("a number");
    let number = u64::from_le_bytes(*head);
    assert_eq!(*values, bytes(&payload(number, most)), "torn: {event:x?}");
    number
}

fn define(timeline: &Timeline) -> EventId {
    timeline
        .define_printf(
            "core",
            Priority::Info,
            "%s",
            ("file.c", 7),
            &Default::default(),
        )
        .expect("defined")
}

/// What is to come out: the number of a short event, or the payload of a long one.
#[derive(Debug, Clone, PartialEq)]
enum Logged {
    Short(i64),
    Long(Vec<u8>),
}

fn logged(event: &Event) -> Logged {
    match &event.payload {
        None => Logged::Short(event.args[0]),
        Some(payload) => {
            assert_eq!(payload.backtrace, [0; 0]);
            Logged::Long(payload.values.clone())
        }
    }
}

/// Logs short events where a length is 0, and long ones of one word less else; reads them in every
/// way.
fn every_way(lengths: &[usize]) -> Result<(), TestCaseError> {
    let name = Name::new("payload");
    let timeline = Timeline::with_size(name.path(), 16_384, 4096).expect("created");
    let short = timeline
        .define("core", Priority::Info, "short $n")
        .expect("defined");
    let long = define(&timeline);
    let attached = attach(name.path());
    let mut follow = attached.follow(FollowFrom::Start);
    let most = timeline.payload_capacity();
    prop_assert_eq!(most, 5 + 15 * 6);
    let mut told = Vec::new();
    let mut polled = Vec::new();
    for (number, length) in lengths.iter().enumerate() {
        match length.checked_sub(1) {
            None => {
                timeline.log(short, [number as i64]);
                told.push(Logged::Short(number as i64));
            }
            Some(length) => {
                let words = vec![number as u64; length];
                timeline.log_payload(long, &words, false);
                told.push(Logged::Long(bytes(&words[..length.min(most)])));
            }
        }
        if number % 7 == 0 {
            prop_assert_eq!(follow.poll(&mut polled), 0);
        }
    }
    let mut placed = Vec::new();
    let mut again = attached.follow(FollowFrom::Start);
    while {
        let before = placed.len();
        prop_assert_eq!(again.poll_placed(), 0);
        placed.extend(std::iter::from_fn(|| again.next_placed()));
        placed.len() > before
    } {}
    prop_assert_eq!(follow.poll(&mut polled), 0);
    let all =
        |events: &mut dyn Iterator<Item = Event>| events.map(|e| logged(&e)).collect::<Vec<_>>();
    prop_assert_eq!(&all(&mut attached.events(Order::OldestFirst)), &told);
    prop_assert_eq!(&all(&mut polled.into_iter()), &told);
    let mut newest = all(&mut attached.events(Order::NewestFirst));
    newest.reverse();
    prop_assert_eq!(&newest, &told);
    let mut last: HashMap<u32, u64> = HashMap::new();
    for one in &placed {
        let before = last.insert(one.lane, one.next).unwrap_or(0);
        prop_assert!(before <= one.number && one.number < one.next && one.missed == 0);
        prop_assert!(one.number - before < 16, "more than padding between");
    }
    prop_assert_eq!(&all(&mut placed.into_iter().map(|one| one.event)), &told);
    // The newest few begin at an event, wherever that begins in its chunk.
    let mut some = Vec::new();
    let few = told.len().min(3);
    attached.follow(FollowFrom::Newest(few)).poll(&mut some);
    prop_assert!(all(&mut some.into_iter()).ends_with(&told[told.len() - few..]));
    let file = tempfile::NamedTempFile::new().expect("a file");
    attached.save(file.path()).expect("saved");
    let saved = Attached::open(file.path()).expect("a snapshot");
    prop_assert_eq!(&all(&mut saved.events(Order::OldestFirst)), &told);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_lengths_come_back(
        lengths in prop::collection::vec(
            prop_oneof![Just(0_usize), 1..110_usize, 92..100_usize],
            0..600,
        ),
    ) {
        every_way(&lengths)?;
    }
}

#[test]
fn any_lengths_come_back_from_lanes_of_threads() {
    if in_process_without_rseq("payload::any_lengths_come_back_from_lanes_of_threads") {
        return;
    }
    let mut random = Random(5);
    for _ in 0..20 {
        let count = random.below(500);
        let lengths: Vec<_> = (0..count).map(|_| random.below(120) as usize).collect();
        every_way(&lengths).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn what_is_laid_down_in_the_ring_is_what_the_documents_say() {
    let name = Name::new("payload-bytes");
    let timeline = Timeline::with_size(name.path(), 256, 4096).expect("created");
    let event = define(&timeline);
    // One return address, and a text of forty bytes.
    let mut words = vec![1, 0x1000, 40];
    words.extend([u64::from_le_bytes([b'x'; 8]); 5]);
    timeline.log_payload(event, &words, true);
    let attached = attach(name.path());
    let read: Vec<Event> = attached.events(Order::OldestFirst).collect();
    let payload = Payload {
        values: bytes(&words[2..]),
        encoding: Encoding::Words,
        backtrace: vec![0x1000],
    };
    assert_eq!(read[0].payload.as_deref(), Some(&payload));
    let entries = crate::support::naive::entries(&name.file());
    let heads: Vec<_> = entries
        .iter()
        .map(|e| (e.event, e.slots, e.flags))
        .collect();
    // Three words of the payload are in the last entry.
    assert_eq!(heads, [(event.0, 2, 3 | 3 << 4), (0, 0, 1)]);
    assert_eq!(entries[0].ticks, entries[1].ticks);
    let definition = attached.definition(event).expect("defined");
    assert_eq!(
        (definition.file.as_deref(), definition.line),
        (Some("file.c"), Some(7))
    );
}

/// Logs long events from several threads until it is killed.
fn writer(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define(&timeline);
    let most = timeline.payload_capacity();
    let first: u64 = given[1].parse().expect("a number");
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let timeline = &timeline;
            scope.spawn(move || {
                for i in 0.. {
                    timeline.log_payload(
                        event,
                        &payload(first << 32 | thread << 28 | i, most),
                        false,
                    );
                }
            });
        }
    });
}

#[test]
fn kills_leave_whole_events_only() {
    let name = Name::new("payload-kill");
    let opener = Timeline::with_size(name.path(), 1024, 4096).expect("created");
    define(&opener);
    let most = opener.payload_capacity();
    let attached = attach(name.path());
    let file = std::fs::File::open(name.file()).expect("there");
    let mut follow = attached.follow(FollowFrom::Oldest);
    let mut random = Random(std::process::id().into());
    let (mut events, mut seen) = (Vec::new(), 0);
    for round in 0..100_u64 {
        let mut child = Process::start(writer, &[name.path(), &round.to_string()]);
        let until = crate::support::naive::next_ticket(&file) + random.below(40);
        while crate::support::naive::next_ticket(&file) < until {
            events.clear();
            follow.poll(&mut events);
            for event in &events {
                checked(event, most);
            }
            seen += events.len();
        }
        child.kill();
        let mut last: HashMap<u64, u64> = HashMap::new();
        for event in attached.events(Order::OldestFirst) {
            let number = checked(&event, most);
            let before = last.insert(number >> 28, number);
            assert!(before < Some(number), "out of order: {before:?}, {number}");
        }
    }
    assert!(seen > 1000, "followed {seen} events only");
}

/// Words of the payload of events that are interrupted: up to three entries.
#[cfg(target_arch = "x86_64")]
const SHORT: usize = 13;

/// A handler that interrupts calls that log long events, and logs such events itself.
#[cfg(target_arch = "x86_64")]
mod interrupted {
    use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

    use super::*;

    static TIMELINE: AtomicPtr<Timeline> = AtomicPtr::new(std::ptr::null_mut());
    static EVENT: AtomicU32 = AtomicU32::new(0);
    static HANDLED: AtomicU64 = AtomicU64::new(0);
    /// Numbers of the handler's events are above.
    pub const HANDLER: u64 = 1 << 60;

    extern "C" fn handler(_: libc::c_int) {
        // SAFETY: stored before the first signal, and never freed.
        let timeline = unsafe { &*TIMELINE.load(Ordering::Relaxed) };
        let number = HANDLER + HANDLED.fetch_add(1, Ordering::Relaxed);
        let event = EventId(EVENT.load(Ordering::Relaxed));
        let mut words = [0; SHORT];
        let length = fill(number, &mut words);
        timeline.log_payload(event, &words[..length], false);
    }

    /// Logs with the trap flag set: SIGTRAP comes after each instruction.
    fn log_stepped(timeline: &Timeline, event: EventId, words: &[u64]) {
        // SAFETY: sets only the trap flag; what follows raises SIGTRAP, which is handled.
        unsafe { core::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
        timeline.log_payload(event, words, false);
        // SAFETY: as above, and clears it.
        unsafe { core::arch::asm!("pushfq", "and qword ptr [rsp], -257", "popfq") };
    }

    /// Sends this process SIGALRM so often; never if 0.
    fn alarm(microseconds: i64) {
        let time = libc::timeval {
            tv_sec: 0,
            tv_usec: microseconds,
        };
        let timer = libc::itimerval {
            it_interval: time,
            it_value: time,
        };
        // SAFETY: a valid timer; SIGALRM is handled.
        let set = unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
        assert_eq!(set, 0);
    }

    pub fn run(given: &[String]) {
        let timeline = Box::leak(Box::new(Timeline::open(&given[0]).expect("joined")));
        let event = define(timeline);
        TIMELINE.store(timeline, Ordering::Relaxed);
        EVENT.store(event.0, Ordering::Relaxed);
        timeline.log_payload(event, &payload(0, SHORT), false);
        for signal in [libc::SIGTRAP, libc::SIGALRM] {
            // SAFETY: a handler of the right type, which only logs.
            let before = unsafe { libc::signal(signal, handler as *const () as usize) };
            assert_ne!(before, libc::SIG_ERR);
        }
        let mut logged = 1;
        if given[1] == "stepped" {
            for number in 1..6 {
                log_stepped(timeline, event, &payload(number, SHORT));
            }
            logged += 5;
        } else {
            alarm(50);
            // Not more than the ring keeps, on a machine that is slow to deliver signals.
            while HANDLED.load(Ordering::Relaxed) < 3000 && logged < 300_000 {
                timeline.log_payload(event, &payload(logged % 5000, SHORT), false);
                logged += 1;
            }
            alarm(0);
        }
        crate::support::say(format!("{logged} {}", HANDLED.load(Ordering::Relaxed)));
    }
}

#[cfg(target_arch = "x86_64")]
fn interruptee(given: &[String]) {
    interrupted::run(given);
}

#[cfg(target_arch = "x86_64")]
fn assert_accounted(way: &str) {
    let name = Name::new("payload-handler");
    let opener = Timeline::with_size(name.path(), 1 << 20, 4096).expect("created");
    define(&opener);
    let attached = attach(name.path());
    let mut follow = attached.follow(FollowFrom::Start);
    let mut process = Process::start(interruptee, &[name.path(), way]);
    let line = process.line();
    process.finish();
    let (logged, handled) = line.split_once(' ').expect("two numbers");
    let (logged, handled): (u64, u64) =
        (logged.parse().expect("one"), handled.parse().expect("one"));
    assert!(handled > 100, "interrupted {handled} times");
    let (mut events, mut missed) = (Vec::new(), 0);
    loop {
        let before = events.len();
        missed += follow.poll(&mut events);
        if events.len() == before {
            break;
        }
    }
    assert_eq!(missed, 0, "too much for the ring");
    let (mut own, mut of_handler) = (0, 0);
    for event in events {
        match checked(&event, SHORT) {
            number if number >= interrupted::HANDLER => of_handler += 1,
            number => {
                assert_eq!(number, own % 5000, "in order, and each");
                own += 1;
            }
        }
    }
    assert_eq!(own, logged);
    let dropped = attached.info().dropped;
    assert_eq!(of_handler + dropped.interrupted, handled);
    assert_eq!(dropped.total(), dropped.interrupted);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_interruption_after_any_instruction_leaves_whole_events() {
    assert_accounted("stepped");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn interruptions_at_any_time_leave_whole_events() {
    assert_accounted("alarmed");
}
