//! Every interleaving of the chunk protocol on a tiny ring, under loom's memory model.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release --test loom`. Two lanes, four chunks of
//! one or two entries; entries carry (lane, number) in every word, so that a torn one shows.
#![cfg(loom)]
#![allow(missing_docs)]

use loom::sync::Arc;
use loom::thread;
use timeline::internal::layout::words::Entry;
use timeline::internal::ring::important::{self, ImportantRegion};
use timeline::internal::ring::{Storage, reader, writer};
use timeline::internal::sync::{AtomicU64, Ordering, fence};

/// What is deliberately wrong with a ring.
trait Fault: Send + Sync + 'static {
    const COMMIT: Ordering = Ordering::Release;
    fn fence_taken() {
        fence(Ordering::Release);
    }
}

struct Sound;
impl Fault for Sound {}

struct RelaxedCommit;
impl Fault for RelaxedCommit {
    const COMMIT: Ordering = Ordering::Relaxed;
}

struct NoFenceAfterTaking;
impl Fault for NoFenceAfterTaking {
    fn fence_taken() {}
}

/// The words an entry really has here; the rest of the eight mirror the last, to keep the model
/// small.
const WORDS: usize = 2;

struct Tiny<F> {
    next_ticket: AtomicU64,
    cursors: Vec<AtomicU64>,
    states: Vec<AtomicU64>,
    before: Vec<AtomicU64>,
    lanes: Vec<AtomicU64>,
    opened: Vec<AtomicU64>,
    words: Vec<AtomicU64>,
    size: u32,
    fault: std::marker::PhantomData<F>,
}

impl<F: Fault> Tiny<F> {
    fn new(lanes: u32, chunks: u32, size: u32) -> Arc<Self> {
        let zeros = |n: u32| (0..n).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let ring = Tiny {
            next_ticket: AtomicU64::new(0),
            cursors: zeros(lanes),
            states: zeros(chunks),
            before: zeros(chunks),
            lanes: zeros(chunks),
            opened: zeros(chunks),
            words: zeros(chunks * size * WORDS as u32),
            size,
            fault: std::marker::PhantomData::<F>,
        };
        let (ticket, cursor) = writer::initial(&ring);
        ring.next_ticket.store(ticket, Ordering::Relaxed);
        for lane in &ring.cursors {
            lane.store(cursor, Ordering::Relaxed);
        }
        Arc::new(ring)
    }
}

impl<F: Fault> Storage for Tiny<F> {
    const COMMIT: Ordering = F::COMMIT;
    type Word<'a>
        = &'a AtomicU64
    where
        F: 'a;
    fn fence_taken(&self) {
        F::fence_taken();
    }
    fn chunk_entries(&self) -> u32 {
        self.size
    }
    fn chunks(&self) -> u32 {
        self.states.len() as u32
    }
    fn lanes(&self) -> u32 {
        self.cursors.len() as u32
    }
    fn next_ticket(&self) -> &AtomicU64 {
        &self.next_ticket
    }
    fn cursor(&self, lane: u32) -> &AtomicU64 {
        &self.cursors[lane as usize]
    }
    fn state(&self, chunk: u32) -> &AtomicU64 {
        &self.states[chunk as usize]
    }
    fn before(&self, chunk: u32) -> &AtomicU64 {
        &self.before[chunk as usize]
    }
    fn chunk_lane(&self, chunk: u32) -> &AtomicU64 {
        &self.lanes[chunk as usize]
    }
    fn opened(&self, chunk: u32) -> &AtomicU64 {
        &self.opened[chunk as usize]
    }
    fn word(&self, chunk: u32, index: u32, word: usize) -> &AtomicU64 {
        let entry = (chunk * self.size + index) as usize;
        &self.words[entry * WORDS + word.min(WORDS - 1)]
    }
}

/// The value that event `number` of `lane` has in every word: lanes and numbers from 1, so never 0.
fn value(lane: u32, number: u64) -> u64 {
    u64::from(lane + 1) << 32 | number
}

fn write<F: Fault>(ring: &Tiny<F>, lane: u32, number: u64) {
    // There are more chunks than lanes, but loom lets a thread see old states for as long as
    // nothing forces new ones on it: then no chunk looks free, and the event would be dropped and
    // counted.
    while writer::append(ring, lane, 1, |ring, chunk, index| {
        for word in 0..WORDS {
            let place = ring.word(chunk, index, word);
            place.store(value(lane, number), Ordering::Relaxed);
        }
        true
    })
    .is_err()
    {
        thread::yield_now();
    }
}

/// Reads a chunk by the rule; checks that what it gives is whole, of one lane, and in its place.
fn check<F: Fault>(ring: &Tiny<F>, chunk: u32) -> Vec<u64> {
    let Some(seen) = reader::inspect(ring, chunk) else {
        return Vec::new();
    };
    let mut entries = Vec::new();
    if reader::copy(ring, &seen, 0, &mut entries).is_err() {
        assert!(entries.is_empty());
        return Vec::new();
    }
    assert_eq!(entries.len() as u32, seen.count);
    let mut values = Vec::new();
    for (i, Entry(words)) in entries.iter().enumerate() {
        let number = seen.before + i as u64 + 1;
        assert!(
            words.iter().all(|w| *w == value(seen.lane, number)),
            "entry {i} of {seen:?} reads {words:x?}"
        );
        values.push(words[0]);
    }
    values
}

fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// Runs the writers, then a reader, then looks at what is left, in every order.
///
/// The reader is a thread and the last one: loom finds other orders of two accesses from the later
/// one back, and forgets a thread's load once another thread has loaded the same word before
/// changing it.
fn race<F: Fault>(ring: &Arc<Tiny<F>>, writers: Vec<(u32, u64, u64)>, chunk: u32) {
    let mut threads: Vec<_> = writers
        .into_iter()
        .map(|(lane, first, last)| {
            let ring = ring.clone();
            thread::spawn(move || {
                for number in first..=last {
                    write(&*ring, lane, number);
                }
            })
        })
        .collect();
    let reader = ring.clone();
    threads.push(thread::spawn(move || {
        check(&*reader, chunk);
    }));
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Two writers race for tickets and wrap the ring while a reader looks at a chunk.
fn two_writers_and_a_reader<F: Fault>() {
    model(2, || {
        let ring = Tiny::<F>::new(2, 4, 1);
        race(&ring, vec![(0, 1, 2), (1, 1, 2)], 0);
        settled(&*ring, [2, 2]);
    });
}

/// A single writer overwrites a chunk of two entries under a reader's eyes.
fn overwritten_while_read<F: Fault>() {
    model(3, || {
        let ring = Tiny::<F>::new(1, 2, 2);
        write(&*ring, 0, 1);
        write(&*ring, 0, 2);
        race(&ring, vec![(0, 3, 5)], 0);
        settled(&*ring, [5]);
    });
}

/// A reader looks at a chunk while its entries are being committed.
fn read_while_written<F: Fault>() {
    model(3, || {
        let ring = Tiny::<F>::new(1, 2, 2);
        race(&ring, vec![(0, 1, 2)], 0);
        settled(&*ring, [2]);
    });
}

/// With the writers gone: what is there is whole, and each lane's newest event is among it.
fn settled<F: Fault, const N: usize>(ring: &Tiny<F>, last: [u64; N]) {
    let mut values: Vec<u64> = (0..ring.chunks()).flat_map(|c| check(ring, c)).collect();
    let all = values.len();
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), all, "an event stands in the ring twice");
    for (lane, last) in (0..).zip(last) {
        assert!(
            values.contains(&value(lane, last)),
            "the last event of lane {lane} is not there: {values:x?}"
        );
        assert_eq!(reader::look(ring, &[lane])[0].count, Some(last));
    }
}

#[test]
fn writers_that_wrap_the_ring_never_show_a_torn_event() {
    two_writers_and_a_reader::<Sound>();
}

#[test]
fn an_event_is_seen_whole_or_not_at_all() {
    read_while_written::<Sound>();
}

#[test]
fn a_chunk_overwritten_while_it_is_read_is_not_given_out() {
    overwritten_while_read::<Sound>();
}

/// A writer is killed after each of the steps of a refill; its lane's next owner goes on, beside
/// another writer and a reader.
#[test]
fn a_lane_goes_on_after_its_owner_was_killed_in_a_refill() {
    use timeline::internal::layout::words::{ChunkState, Cursor};
    for steps in 0..3 {
        model(1, move || {
            let ring = Tiny::<Sound>::new(2, 4, 1);
            write(&*ring, 0, 1);
            // What writer::refill does, up to the kill.
            let full = Cursor(ring.cursor(0).load(Ordering::Relaxed));
            let ticket = ring.next_ticket().fetch_add(1, Ordering::Relaxed);
            let fresh = ring.chunk_of(ticket);
            if steps >= 1 {
                ring.state(fresh)
                    .store(ChunkState::open(ticket, 0).0, Ordering::Release);
                ring.before(fresh).store(1, Ordering::Relaxed);
                ring.chunk_lane(fresh).store(0, Ordering::Relaxed);
                ring.opened(fresh).store(ticket, Ordering::Release);
            }
            if steps >= 2 {
                ring.state(ring.chunk_of(full.ticket()))
                    .store(ChunkState::closed(full.ticket(), 1).0, Ordering::Release);
            }
            race(&ring, vec![(0, 2, 3), (1, 1, 2)], fresh);
            settled(&*ring, [3, 2]);
        });
    }
}

/// Two entries that are one event.
fn write_pair<F: Fault>(ring: &Tiny<F>, lane: u32, first: u64) {
    let written = writer::append(ring, lane, 2, |ring, chunk, index| {
        for (entry, number) in [first, first + 1].into_iter().enumerate() {
            for word in 0..WORDS {
                let place = ring.word(chunk, index + entry as u32, word);
                place.store(value(lane, number), Ordering::Relaxed);
            }
        }
        true
    });
    assert_eq!(written, Ok(()));
}

/// A reader looks at a chunk while events of two entries are committed, and overwritten by others.
#[test]
fn an_event_of_several_entries_is_seen_whole_or_not_at_all() {
    model(2, || {
        let ring = Tiny::<Sound>::new(1, 2, 4);
        write_pair(&*ring, 0, 1);
        let writer = ring.clone();
        let writer = thread::spawn(move || {
            (3..=9)
                .step_by(2)
                .for_each(|first| write_pair(&*writer, 0, first));
        });
        let reader = ring.clone();
        let reader = thread::spawn(move || {
            let values = check(&*reader, 0);
            assert_eq!(values.len() % 2, 0, "half an event: {values:x?}");
        });
        writer.join().unwrap();
        reader.join().unwrap();
        settled(&*ring, [10]);
    });
}

/// An append to the lane of a CPU. Whoever holds the CPU is in a section, alone; it looks around
/// and works out what to install without holding it, as one does who may be preempted.
fn write_on_cpu<F: Fault>(ring: &Tiny<F>, cpu: &loom::sync::Mutex<()>, lane: u32, number: u64) {
    use timeline::internal::layout::words::Cursor;
    loop {
        let full = {
            let _section = cpu.lock().unwrap();
            let cursor = Cursor(ring.cursor(lane).load(Ordering::Relaxed));
            if cursor.count() < ring.chunk_entries() {
                let chunk = ring.chunk_of(cursor.ticket());
                for word in 0..WORDS {
                    let place = ring.word(chunk, cursor.count(), word);
                    place.store(value(lane, number), Ordering::Relaxed);
                }
                ring.cursor(lane).store(cursor.0 + 1, Ordering::Release);
                return;
            }
            cursor
        };
        let refilled = writer::refill(ring, lane, full, |ring, fresh| {
            let _section = cpu.lock().unwrap();
            match ring.cursor(lane).load(Ordering::Relaxed) == full.0 {
                true => writer::install(ring, fresh),
                false => writer::InstallResult::Aborted,
            }
        });
        if refilled.is_err() {
            thread::yield_now();
        }
    }
}

/// Two threads on one CPU fill its lane in turns, beside a reader: each may find what the other
/// installed between any two of its sections.
#[test]
fn a_lane_of_a_cpu_changes_hands_between_any_two_sections() {
    model(2, || {
        let ring = Tiny::<Sound>::new(1, 4, 1);
        let cpu = Arc::new(loom::sync::Mutex::new(()));
        let threads: Vec<_> = [1, 2]
            .into_iter()
            .map(|number| {
                let (ring, cpu) = (ring.clone(), cpu.clone());
                thread::spawn(move || write_on_cpu(&*ring, &cpu, 0, number))
            })
            .collect();
        let reader = ring.clone();
        let reader = thread::spawn(move || {
            let seen = reader::inspect(&*reader, 0);
            assert!(seen.is_none_or(|seen| seen.count <= 1 && seen.before < 2));
        });
        for thread in threads {
            thread.join().unwrap();
        }
        reader.join().unwrap();
        let mut events: Vec<u64> = Vec::new();
        for chunk in 0..ring.chunks() {
            if let Some(seen) = reader::inspect(&*ring, chunk) {
                let mut entries = Vec::new();
                reader::copy(&*ring, &seen, 0, &mut entries).unwrap();
                events.extend(entries.iter().map(|Entry(words)| words[0]));
            }
        }
        events.sort_unstable();
        assert_eq!(events, [value(0, 1), value(0, 2)]);
        assert_eq!(reader::look(&*ring, &[0])[0].count, Some(2));
    });
}

#[test]
#[should_panic(expected = "reads")]
fn the_model_notices_a_commit_that_orders_nothing() {
    read_while_written::<RelaxedCommit>();
}

#[test]
#[should_panic(expected = "reads")]
fn the_model_notices_a_missing_fence_after_taking_a_chunk() {
    overwritten_while_read::<NoFenceAfterTaking>();
}

/// The region of important events.
struct Kept<F> {
    taken: AtomicU64,
    words: Vec<AtomicU64>,
    fault: std::marker::PhantomData<F>,
}

impl<F: Fault> Kept<F> {
    fn new(capacity: usize) -> Arc<Self> {
        let words = (0..capacity * WORDS).map(|_| AtomicU64::new(0));
        Arc::new(Kept {
            taken: AtomicU64::new(0),
            words: words.collect(),
            fault: std::marker::PhantomData::<F>,
        })
    }
}

impl<F: Fault> ImportantRegion for Kept<F> {
    const COMMIT: Ordering = F::COMMIT;
    type Word<'a>
        = &'a AtomicU64
    where
        F: 'a;
    fn capacity(&self) -> u32 {
        (self.words.len() / WORDS) as u32
    }
    fn taken(&self) -> &AtomicU64 {
        &self.taken
    }
    fn word(&self, index: u32, word: usize) -> &AtomicU64 {
        &self.words[index as usize * WORDS + word.min(WORDS - 1)]
    }
}

/// Logs an event of so many entries; whether there was room.
fn keep<F: Fault>(region: &Kept<F>, lane: u32, entries: u32) -> bool {
    let Some(first) = important::take(region, entries) else {
        return false;
    };
    let value = value(lane, 1);
    for index in first..first + entries {
        for word in usize::from(index == first)..WORDS {
            region.word(index, word).store(value, Ordering::Relaxed);
        }
    }
    important::commit(region, first, value);
    true
}

/// The first words of the events that a reader finds; each must be whole.
fn kept<F: Fault>(region: &Kept<F>, entries: u32) -> Vec<u64> {
    let mut found = Vec::new();
    for index in 0..important::taken(region) {
        // The entries behind the first of an event are none of their own here.
        if let Some(first) = important::entry(region, index).filter(|_| index % entries == 0) {
            for index in index..(index + entries).min(region.capacity()) {
                let Entry(words) = region.copy(index);
                assert!(words == first.0, "entry {index} reads {words:x?}");
            }
            found.push(first.0[0]);
        }
    }
    found
}

/// Two writers, each with one event of so many entries, beside a reader.
fn keep_while_read<F: Fault>(capacity: usize, entries: u32, expected: usize) {
    model(2, move || {
        let region = Kept::<F>::new(capacity);
        let writers = [0, 1].map(|lane| {
            let region = region.clone();
            thread::spawn(move || keep(&*region, lane, entries))
        });
        let reader = region.clone();
        let reader = thread::spawn(move || kept(&*reader, entries));
        let done = writers.map(|writer| usize::from(writer.join().unwrap()));
        let seen = reader.join().unwrap();
        let left = kept(&*region, entries);
        assert_eq!((done[0] + done[1], left.len()), (expected, expected));
        assert!(seen.iter().all(|event| left.contains(event)));
    });
}

#[test]
fn an_important_event_is_seen_whole_or_not_at_all_and_stays() {
    keep_while_read::<Sound>(4, 2, 2);
}

#[test]
fn of_important_events_no_more_are_kept_than_have_room() {
    keep_while_read::<Sound>(3, 2, 1);
}

#[test]
#[should_panic(expected = "reads")]
fn the_model_notices_a_commit_of_an_important_event_that_orders_nothing() {
    keep_while_read::<RelaxedCommit>(2, 1, 2);
}
