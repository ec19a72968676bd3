//! Tests that no span is made across a hole.
//! A ring overwrites what was not read, its program goes from CPU to CPU, an archive is damaged.
//!
//! Both events of a span have its number, so a span of two numbers was made up.

use std::fs;

use timeline::dump::DumpDurations;
use timeline::{Attached, Event, FollowFrom, Order, Priority, Source, Timeline, event};
use timeline_archive::Archive;
use timeline_latency::{Matcher, Measure};

use super::*;
use crate::support::{cpus, run_on, size};

/// Numbers that look random.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % most
    }
}

/// A program that is always in a span, or between two.
struct Program<'t> {
    tl: &'t Timeline,
    number: u64,
    is_in_span: bool,
}

impl Program<'_> {
    fn log(&mut self, count: u64, cpu: usize) {
        run_on(cpu);
        for _ in 0..count {
            let number = self.number;
            match self.is_in_span {
                false => event!(self.tl, Priority::Info, "t", "begin work {number}", number),
                true => event!(self.tl, Priority::Info, "t", "end work {number}", number),
            }
            self.number += u64::from(self.is_in_span);
            self.is_in_span = !self.is_in_span;
        }
    }
}

/// Fails if a span is made of two numbers. Counts the others.
struct Check<'a> {
    source: &'a dyn Source,
    matcher: Matcher<'a>,
    begun: Option<i64>,
    count: u64,
}

static SPANS: std::sync::LazyLock<[Measure; 1]> =
    std::sync::LazyLock::new(|| [Measure::Spans("*".into())]);

fn number_of(source: &dyn Source, event: &Event, word: &str) -> Option<i64> {
    let definition = source.definition(event.id)?;
    definition
        .message
        .starts_with(word)
        .then_some(event.args[0])
}

impl<'a> Check<'a> {
    fn of(source: &'a dyn Source) -> Check<'a> {
        Check {
            source,
            matcher: Matcher::new(&*SPANS, source),
            begun: None,
            count: 0,
        }
    }

    fn take(&mut self, events: impl IntoIterator<Item = Event>, whose: &str) {
        for event in events {
            let (begun, end) = (self.begun, number_of(self.source, &event, "end"));
            self.matcher.add(&event, |_| {
                assert_eq!(begun, end, "{whose}");
                self.count += 1;
            });
            self.begun = number_of(self.source, &event, "begin").or(self.begun);
        }
    }
}

/// Fails if a span that is found newest first is of two numbers.
fn newest_first(source: &dyn Source, events: impl Iterator<Item = Event>, whose: &str) -> u64 {
    let (mut count, mut ended) = (0, None);
    for event in DumpDurations::new(source, events) {
        if event.duration.is_some() {
            ended = number_of(source, &event, "end");
            count += 1;
        } else if number_of(source, &event, "end").is_some() {
            ended = None;
        } else if let Some(begun) = number_of(source, &event, "begin") {
            assert!(ended.is_none_or(|ended| ended == begun), "{whose}");
            ended = None;
        }
    }
    count
}

fn of_archive(archive: &Archive, whose: &str) -> u64 {
    let mut oldest = Check::of(archive);
    oldest.take(archive.events_by_time(Order::OldestFirst), whose);
    newest_first(archive, archive.events_by_time(Order::NewestFirst), whose);
    oldest.count
}

#[test]
fn no_span_is_made_across_what_was_overwritten_or_damaged() {
    let lanes = cpus().min(2) as u64;
    let directory = tempfile::tempdir().unwrap();
    let mut counts = [0; 4];
    for round in 0..8 * size() {
        let mut chance = Chance(round);
        let name = Name::new(&format!("holes-{round}"));
        let tl = name.create(1024);
        let mut program = Program {
            tl: &tl,
            number: 0,
            is_in_span: false,
        };
        let at = Attached::open(name.path()).unwrap();
        let froms = [FollowFrom::Now, FollowFrom::Oldest, FollowFrom::Start];
        let mut followers: Vec<_> = froms.map(|from| (at.follow(from), Check::of(&at))).into();
        for _ in 0..30 {
            let most = [40, 400, 1_500][chance.below(3) as usize];
            program.log(chance.below(most), chance.below(lanes) as usize);
            for (follow, check) in &mut followers {
                if chance.below(3) == 0 {
                    let mut events = Vec::new();
                    follow.poll(&mut events);
                    check.take(events, &format!("followed in round {round}"));
                }
            }
        }
        counts[0] += followers.iter().map(|(_, check)| check.count).sum::<u64>();
        let mut ring = Check::of(&at);
        ring.take(at.events(Order::OldestFirst), &format!("ring {round}"));
        counts[1] += ring.count;
        counts[2] += newest_first(&at, at.events(Order::NewestFirst), &format!("ring {round}"));
        let file = directory.path().join(format!("{round}.tla"));
        let path = file.to_str().unwrap();
        let still = snapshot(&name, directory.path());
        succeed(&["record", "--once", &still, "-o", path, "--fsync", "never"]);
        let bytes = fs::read(&file).unwrap();
        counts[3] += of_archive(&Archive::from_bytes(bytes.clone()), "archive");
        for _ in 0..10 {
            let mut damaged = bytes.clone();
            let place = chance.below(bytes.len() as u64) as usize;
            damaged
                .iter_mut()
                .skip(place)
                .take(8)
                .for_each(|byte| *byte ^= 0xa5);
            of_archive(&Archive::from_bytes(damaged), &format!("damage at {place}"));
        }
    }
    // There were spans to be found at all.
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}
