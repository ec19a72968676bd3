//! Compares rings with naive twins, over random interleavings and sizes.
//! Both must hold the same events, and give them in the same order.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc;

use proptest::prelude::*;
use timeline::{DropCounts, Event, Follow, FollowFrom, Order, Timeline};

use crate::support::{
    Name, Random, arguments, attach, checked, cpus, define, in_process_without_rseq, naive, rseq,
    run_on,
};

/// The naive ring: chunks in a circle, taken in turn, but for those that lanes are just filling,
/// and those that they filled within the last quarter of a turn around.
struct Model {
    chunk: usize,
    chunks: Vec<Chunk>,
    /// The chunk that each lane fills.
    current: HashMap<usize, usize>,
    /// Chunks taken or passed over so far.
    turns: usize,
    /// All that was ever logged: who, and the how many-th of theirs.
    all: Vec<(i64, i64)>,
    /// Which part of a turn around chunks are spared for, after they were filled; 0: they are not.
    spared: usize,
}

/// A chunk of it.
#[derive(Clone, Default)]
struct Chunk {
    /// Which turn it was taken in.
    taken: Option<usize>,
    /// What it holds: of all that was logged the how many-th.
    holds: Vec<usize>,
}

impl Model {
    fn new(entries: u64) -> Model {
        let chunk = (entries / 1024).clamp(16, 1024) as usize;
        Model {
            chunk,
            chunks: vec![Chunk::default(); entries as usize / chunk],
            current: HashMap::new(),
            turns: 0,
            all: Vec::new(),
            spared: 4,
        }
    }

    fn log(&mut self, lane: usize, who: usize, number: i64) {
        let full = self
            .current
            .get(&lane)
            .is_none_or(|&at| self.chunks[at].holds.len() == self.chunk);
        if full {
            // Its own full chunk is passed over, too: it stays until the next one is there.
            while self.is_current(self.turns) || self.is_young(self.turns) {
                self.turns += 1;
            }
            let at = self.at(self.turns);
            let taken = Some(self.turns);
            self.chunks[at] = Chunk {
                taken,
                holds: Vec::new(),
            };
            self.current.insert(lane, at);
            self.turns += 1;
        }
        self.chunks[self.current[&lane]].holds.push(self.all.len());
        self.all.push((who as i64, number));
    }

    fn at(&self, turn: usize) -> usize {
        turn % self.chunks.len()
    }

    fn is_current(&self, turn: usize) -> bool {
        self.current.values().any(|&at| at == self.at(turn))
    }

    /// Whether its last one is newer than the first one of the chunk that was taken a quarter of a
    /// turn around ago, or of one of the three after that one, where this was passed over.
    fn is_young(&self, turn: usize) -> bool {
        let since = self.chunks.len().checked_div(self.spared);
        let Some(since) = since.and_then(|since| turn.checked_sub(since)) else {
            return false;
        };
        let mut then = (since..since + 4).map(|turn| (turn, &self.chunks[self.at(turn)]));
        let witness = then.find(|(turn, chunk)| chunk.taken == Some(*turn));
        let last = self.chunks[self.at(turn)].holds.last();
        witness.is_some_and(|(_, witness)| last > witness.holds.first())
    }

    fn held(&self) -> HashMap<i64, Vec<i64>> {
        let mut held: HashMap<i64, Vec<i64>> = HashMap::new();
        for at in self.chunks.iter().flat_map(|chunk| &chunk.holds) {
            let (who, number) = self.all[*at];
            held.entry(who).or_default().push(number);
        }
        held.values_mut()
            .for_each(|numbers| numbers.sort_unstable());
        held
    }
}

/// Of the newest events, how many are held before the first that is not, in the middle of many such
/// numbers: of so many lanes that log at random to a ring of this size whose chunks are spared for
/// that part of a turn around.
fn newest_held(entries: u64, lanes: u64, spared: usize) -> usize {
    let mut model = Model::new(entries);
    model.spared = spared;
    let mut random = Random(7);
    let mut found = Vec::new();
    for number in 0..entries * 24 {
        model.log(random.below(lanes) as usize, 0, number as i64);
        if number > entries * 6 && number % 61 == 0 {
            let held: HashSet<usize> = model
                .chunks
                .iter()
                .flat_map(|chunk| &chunk.holds)
                .copied()
                .collect();
            found.push(
                (0..model.all.len())
                    .rev()
                    .take_while(|at| held.contains(at))
                    .count(),
            );
        }
    }
    found.sort_unstable();
    found[found.len() / 2]
}

/// Where most chunks are some slow lane's, the newest events are not worth less than without the
/// rule: they would be, if chunks were spared for half of a turn around.
#[test]
fn sparing_chunks_costs_many_lanes_nothing() {
    for (entries, lanes) in [
        (256, 8),
        (1024, 8),
        (1024, 24),
        (1024, 28),
        (1024, 32),
        (1024, 40),
    ] {
        let [without, with, half] = [0, 4, 2].map(|spared| newest_held(entries, lanes, spared));
        println!(
            "{lanes} lanes on {} chunks: {without} of {entries} without, {with} with it, {half} \
             with half",
            entries / 16
        );
        assert!(
            with * 20 >= without * 19,
            "{lanes} lanes on {entries}: {with} instead of {without}"
        );
    }
    assert!(
        newest_held(1024, 24, 2) * 4 < newest_held(1024, 24, 4) * 3,
        "half would do as well"
    );
}

/// The lane of a thread: its own, or that of the CPU on which it is made to run. The smallest ring
/// has two of CPUs.
fn lane_of(who: usize) -> usize {
    if rseq() && cpus() > 0 {
        who % cpus().min(2)
    } else {
        who
    }
}

#[test]
fn the_ring_holds_and_tells_what_its_naive_twins_do_without_restartable_sequences() {
    in_process_without_rseq("twin::the_ring_holds_and_tells_what_its_naive_twins_do");
}

/// A thread that logs when told how many, and says when it has.
struct Puppet {
    tell: mpsc::Sender<usize>,
    done: mpsc::Receiver<()>,
}

impl Puppet {
    fn log(&self, count: usize) {
        self.tell.send(count).expect("it listens");
        self.done.recv().expect("it logged");
    }
}

/// A lane that fills its chunk slowly keeps what it logged last, wherever the others are when the
/// chunk is full.
#[test]
fn what_a_quiet_thread_logged_last_is_not_overwritten_before_what_is_older() {
    if in_process_without_rseq(
        "twin::what_a_quiet_thread_logged_last_is_not_overwritten_before_what_is_older",
    ) {
        return;
    }
    const ENTRIES: u64 = 1 << 10;
    const CHUNK: usize = 16;
    const CHUNKS: usize = ENTRIES as usize / CHUNK;
    for between in 0..2 * CHUNKS {
        let name = Name::new("quiet");
        let timeline = Timeline::with_size(name.path(), ENTRIES, 2048).expect("created");
        let event = define(&timeline);
        std::thread::scope(|scope| {
            let puppet = |who| {
                let (tell, told) = mpsc::channel();
                let (say, done) = mpsc::channel();
                let timeline = &timeline;
                scope.spawn(move || {
                    for count in told {
                        for number in 0..count as i64 {
                            timeline.log(event, arguments(who, number));
                        }
                        say.send(()).expect("somebody listens");
                    }
                });
                Puppet { tell, done }
            };
            let (quiet, busy) = (puppet(0), puppet(1));
            quiet.log(CHUNK / 2);
            busy.log(between * CHUNK);
            quiet.log(CHUNK / 2);
            // Its chunk is closed by this, and another one is open.
            quiet.log(1);
            busy.log((CHUNKS / 4 - 3) * CHUNK);
        });
        let events: Vec<_> = attach(name.path()).events(Order::OldestFirst).collect();
        let of_quiet = events.iter().filter(|event| checked(event).0 == 0).count();
        assert_eq!(of_quiet, CHUNK + 1, "{between} chunks in between");
    }
}

/// The clock goes back, as that of a machine that was restored from a copy: what is from the future
/// goes in its turn.
#[test]
fn what_claims_to_be_from_the_future_is_overwritten_in_its_turn() {
    const ENTRIES: u64 = 1 << 10;
    const HOUR: u64 = 3600 * 3_000_000_000;
    // All entries; the last ones of chunks; the first ones, that look as if nothing was ever
    // written.
    let damages: [fn(u64, u64) -> u64; 3] = [
        |_, ticks| ticks + HOUR,
        |index, ticks| ticks + if index % 16 == 15 { HOUR } else { 0 },
        |index, ticks| if index % 16 == 0 { 0 } else { ticks },
    ];
    for damage in damages {
        let name = Name::new("future");
        let timeline = Timeline::with_size(name.path(), ENTRIES, 2048).expect("created");
        let event = define(&timeline);
        let mut numbers = 0..;
        let mut log = |count: u64| {
            (numbers.by_ref().take(count as usize))
                .for_each(|n| timeline.log(event, arguments(0, n)));
        };
        // The CPU changes, if the machine has several that this process may use.
        let last = cpus().checked_sub(1);
        last.iter().for_each(|_| run_on(0));
        log(3 * ENTRIES);
        naive::change_ticks(&name.file(), |index, ticks, _| damage(index, ticks));
        last.into_iter().for_each(run_on);
        // Lanes of up to eight CPUs have each a chunk that they are filling.
        log(ENTRIES + 32);
        let attached = attach(name.path());
        // Not `checked`: the first CPU keeps the chunk that it was filling, and the damage took
        // the time of entries in it.
        let old = attached.events(Order::OldestFirst).filter(|event| {
            assert_eq!(event.args, arguments(0, event.args[1]), "torn: {event:x?}");
            event.args[1] < 3 * ENTRIES as i64
        });
        assert!(old.count() < 128, "they stay");
        assert_eq!(attached.info().dropped, DropCounts::default());
    }
}

/// A poll takes a part of what is there.
fn catch_up(follow: &mut Follow, followed: &mut Vec<Event>) {
    let mut before = None;
    while before != Some((followed.len(), follow.missed())) {
        before = Some((followed.len(), follow.missed()));
        follow.poll(followed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(60)
    })]

    #[test]
    fn the_ring_holds_and_tells_what_its_naive_twins_do(
        exponent in 8..13u32,
        threads in 1..6usize,
        turns in prop::collection::vec((0..6usize, 1..120usize), 1..60),
    ) {
        let entries = 1 << exponent;
        let name = Name::new("twin");
        let timeline = Timeline::with_size(name.path(), entries, 2048).expect("created");
        let event = define(&timeline);
        let attached = attach(name.path());
        let mut follow = attached.follow(FollowFrom::Oldest);
        let mut followed = Vec::new();
        let mut model = Model::new(entries);
        let mut written = 0;
        std::thread::scope(|scope| {
            let puppets: Vec<Puppet> = (0..threads)
                .map(|who| {
                    let (tell, told) = mpsc::channel();
                    let (say, done) = mpsc::channel();
                    let timeline = &timeline;
                    scope.spawn(move || {
                        if rseq() && cpus() > 0 {
                            run_on(lane_of(who));
                        }
                        let mut number = 0;
                        for count in told {
                            for _ in 0..count {
                                timeline.log(event, arguments(who as i64, number));
                                number += 1;
                            }
                            say.send(()).expect("somebody listens");
                        }
                    });
                    Puppet { tell, done }
                })
                .collect();
            let mut numbers = vec![0; threads];
            for (turn, (who, count)) in turns.iter().enumerate() {
                let who = who % threads;
                puppets[who].log(*count);
                for _ in 0..*count {
                    model.log(lane_of(who), who, numbers[who]);
                    numbers[who] += 1;
                }
                written += *count as u64;
                if turn % 3 == 0 {
                    catch_up(&mut follow, &mut followed);
                    assert_eq!(followed.len() as u64 + follow.missed(), written);
                }
            }
        });
        catch_up(&mut follow, &mut followed);
        prop_assert_eq!(followed.len() as u64 + follow.missed(), written);
        prop_assert!(followed.windows(2).all(|w| w[0].ticks <= w[1].ticks));

        let plain = naive::entries(&name.file());
        let told: Vec<_> = attached.events(Order::OldestFirst).collect();
        let mut back: Vec<_> = attached.events(Order::NewestFirst).collect();
        back.reverse();
        prop_assert_eq!(&told, &back);
        prop_assert!(told.iter().map(|e| (e.ticks, e.tid, e.id.0, e.args))
            .eq(plain.iter().map(|f| (f.ticks, f.tid, f.event, f.args))));
        let mut held: HashMap<i64, Vec<i64>> = HashMap::new();
        for event in &told {
            let (who, number) = checked(event);
            held.entry(who).or_default().push(number);
        }
        // On a lane of a CPU, a refill that is interrupted takes a ticket, and perhaps a chunk,
        // with it. That may happen at any time, and is told by the tickets.
        let file = std::fs::File::open(name.file()).expect("there");
        let interrupted =
            naive::next_ticket(&file) - (1 << exponent) / model.chunk as u64 - model.turns as u64;
        prop_assert!(interrupted == 0 || rseq(), "{interrupted} tickets lost");
        if interrupted == 0 {
            prop_assert_eq!(&held, &model.held());
        }
        // Whoever logged them, and however long it took their lanes to fill a chunk. Each lane may
        // have one that it is filling, one that is spared, and one that was passed over before.
        let newest = (entries as usize / 4)
            .saturating_sub(3 * threads * model.chunk + 16 * interrupted as usize);
        for (who, number) in model.all.iter().rev().take(newest) {
            prop_assert!(held.get(who).is_some_and(|held| held.contains(number)), "{number} of \
             {who} is gone");
        }
        let info = attached.info();
        prop_assert_eq!(info.entries_written, written);
        prop_assert_eq!(info.entries_held, told.len() as u64);

        // A snapshot holds the same, and so does a snapshot of that.
        let folder = tempfile::tempdir().expect("a folder");
        let first = folder.path().join("first");
        let second = folder.path().join("second");
        let saved = timeline.save(&first).expect("saved");
        prop_assert_eq!((saved.events, saved.overwritten), (told.len() as u64, 0));
        attach(first.to_str().expect("plain")).save(&second).expect("saved");
        for file in [&first, &second] {
            let snapshot = attach(file.to_str().expect("plain"));
            prop_assert!(snapshot.events(Order::OldestFirst).eq(told.iter().cloned()));
            prop_assert_eq!(snapshot.info().entries_written, written);
            prop_assert_eq!(&naive::entries(file), &plain);
        }
    }
}
