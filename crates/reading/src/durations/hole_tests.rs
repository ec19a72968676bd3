//! Tests that no span is made across a hole of an archive, whatever made it.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::sample::Index;
use timeline::dump::DumpDurations;
use timeline::internal::SpanKey;
use timeline::{Event, Order, Pairing, Priority, Source};
use timeline_archive::{Archive, Form, Preamble, RawEvent, Writer};
use timeline_latency::{Matcher, Measure, Measurement};
use timeline_search::Query;

use super::{DurationRequest, each_duration};

const MESSAGES: [&str; 5] = [
    "begin a $n",
    "end a $n",
    "start job $id $n",
    "finish job $id $n",
    "other $n",
];

/// What a program does next: its thread, what it logs, the lane, and whether a poll ends
/// there (1), and the block (2).
type Step = (u64, u8, u64, u8);

/// What is missing: bytes of the file that are overwritten, a record that says so, events that the
/// recorder did not get, or the rest of the run.
#[derive(Debug, Clone)]
enum Hole {
    Damage(Index),
    Cut(Index),
    Unknown(Index),
    Missed(Index, u8),
    Run(Index),
}

fn holes() -> impl Strategy<Value = Vec<Hole>> {
    let at = any::<Index>;
    let one = prop_oneof![
        3 => at().prop_map(Hole::Damage),
        1 => at().prop_map(Hole::Cut),
        1 => at().prop_map(Hole::Unknown),
        3 => (at(), 1_u8..40).prop_map(|(at, count)| Hole::Missed(at, count)),
        1 => at().prop_map(Hole::Run),
    ];
    prop::collection::vec(one, 0..3)
}

/// A span that there was: its name, its key, its begin and its end.
type Span = (String, i64, u64, u64);

/// A program, what it logged, and the spans that there were.
#[derive(Default)]
struct Program {
    /// Of each thread, when its open spans began. They have a number.
    open: [Vec<u64>; 3],
    /// When each job began.
    jobs: [Option<u64>; 3],
    time: u64,
    spans: HashSet<Span>,
}

impl Program {
    /// Does a step. Returns the message and the first value of the event.
    fn step(&mut self, (thread, what, ..): &Step) -> (usize, i64) {
        self.time += 3;
        let (time, thread) = (1_000_000 + self.time, *thread as usize);
        let job = usize::from(*what) % 3;
        match what {
            0..4 => {
                self.open[thread].push(time);
                (0, 0)
            }
            4..8 => match self.open[thread].pop() {
                Some(begin) => {
                    self.spans.insert(("a".into(), -1, begin, time));
                    (1, 0)
                }
                None => (4, 0),
            },
            8..11 if self.jobs[job].is_none() => {
                self.jobs[job] = Some(time);
                (2, job as i64)
            }
            11..14 => match self.jobs[job].take() {
                Some(begin) => {
                    self.spans.insert(("job".into(), job as i64, begin, time));
                    (3, job as i64)
                }
                None => (4, 0),
            },
            _ => (4, 0),
        }
    }
}

/// The writer of a run, which writes as a recorder does: poll by poll.
struct Run<'f> {
    writer: Writer<&'f mut Vec<u8>>,
    numbers: [u64; 2],
    missed: [u64; 2],
    /// The events of this poll, each with how many are missing before it.
    poll: Vec<(RawEvent, u64)>,
    has_lost: bool,
}

impl Run<'_> {
    fn log(&mut self, step: &Step, time: u64, (message, value): (usize, i64), is_lost: bool) {
        let lane = step.2 as usize;
        let number = self.numbers[lane];
        self.numbers[lane] += 1;
        if is_lost {
            self.missed[lane] += 1;
            self.has_lost = true;
            return;
        }
        let mut event = RawEvent {
            ticks: Some(time),
            unix_nanos: Some(1_000_000 + time),
            lane: Some(step.2),
            number: Some(number),
            args: vec![value, time as i64],
            ..RawEvent::default()
        };
        event.definition.category = Some(self.writer.string("t"));
        event.definition.format = Some(self.writer.string(MESSAGES[message]));
        event.definition.level = Some(Priority::Info as u64);
        event.thread.tid = Some(100 + step.0);
        event.thread.name = Some(self.writer.string("worker"));
        self.poll
            .push((event, std::mem::take(&mut self.missed[lane])));
    }

    fn end_poll(&mut self) {
        let told = self.poll.iter().rev().find(|(_, missed)| *missed > 0);
        let last = self.poll.last().and_then(|(event, _)| event.ticks);
        let until = match self.missed {
            [0, 0] => told.and_then(|(event, _)| event.ticks),
            _ => last.map(|last| last + 1),
        };
        // A poll that gave no event tells of no hole. The next one does.
        if self.has_lost && until.is_some() {
            self.has_lost = false;
            self.writer.missed(0, until, &[]).unwrap();
        }
        for (event, missed) in self.poll.drain(..) {
            if missed > 0 {
                self.writer.gap(&event, missed, 0).unwrap();
            }
            self.writer.event(&event).unwrap();
        }
    }
}

/// Writes the events of a program, without those that are missing. Returns the file, and the spans.
fn written(steps: &[Step], holes: &[Hole], form: Form) -> (Vec<u8>, HashSet<Span>) {
    let place = |at: &Index| at.index(steps.len().max(1));
    let mut program = Program::default();
    let (mut file, mut magic) = (Vec::new(), 0);
    let mut steps = steps.iter().enumerate().peekable();
    while steps.peek().is_some() {
        magic += 1;
        let mut part = Vec::new();
        let mut run = Run {
            writer: Writer::new(&mut part, magic, form),
            numbers: [0; 2],
            missed: [0; 2],
            poll: Vec::new(),
            has_lost: false,
        };
        run.writer.preamble(&Preamble {
            magic: Some(magic),
            ..Preamble::default()
        });
        for (at, step) in steps.by_ref() {
            let logged = program.step(step);
            let is_lost = |hole: &Hole| match hole {
                Hole::Missed(from, count) => {
                    (0..usize::from(*count)).any(|i| place(from) + i == at)
                }
                _ => false,
            };
            run.log(step, program.time, logged, holes.iter().any(is_lost));
            let is_here = |hole: &Hole| matches!(hole, Hole::Unknown(from) if place(from) == at);
            if holes.iter().any(is_here) {
                run.end_poll();
                run.writer.missed(5, None, &[]).unwrap();
            }
            if step.3 > 0 {
                run.end_poll();
            }
            if step.3 > 1 {
                run.writer.flush().unwrap();
            }
            if holes
                .iter()
                .any(|hole| matches!(hole, Hole::Run(from) if place(from) == at))
            {
                break;
            }
        }
        run.end_poll();
        run.writer.flush().unwrap();
        drop(run);
        for hole in holes {
            if let Hole::Cut(at) = hole {
                part.truncate(part.len() - at.index(part.len().min(200)));
            }
        }
        file.extend(part);
        // The next run knows nothing of what is open.
        (program.open, program.jobs) = Default::default();
    }
    for hole in holes {
        if let Hole::Damage(at) = hole {
            let at = at.index(file.len().max(1));
            let bytes = file.iter_mut().skip(at).take(8);
            bytes.for_each(|byte| *byte ^= 0x5a);
        }
    }
    (file, program.spans)
}

/// The name without the category, which may be in damaged bytes.
fn name(span: &str) -> String {
    span.rsplit('.').next().unwrap_or(span).to_owned()
}

fn key(key: Option<&SpanKey>) -> i64 {
    match key {
        None => -1,
        Some(SpanKey::Number(number)) => *number as i64,
        Some(other) => panic!("{other:?}"),
    }
}

fn of(matcher: &Matcher, found: &[Measurement]) -> Vec<Span> {
    let span = |found: &Measurement| {
        let name = name(&matcher.series()[found.series].name);
        (name, key(found.key.as_ref()), found.begin, found.end)
    };
    found.iter().map(span).collect()
}

fn oldest_first(archive: &Archive) -> Vec<Span> {
    let spans = [Measure::Spans("*".into())];
    let (mut matcher, mut all) = (Matcher::new(&spans, archive), Vec::new());
    for event in archive.events_by_time(Order::OldestFirst) {
        matcher.add(&event, |found| all.push(found));
    }
    of(&matcher, &all)
}

fn by_columns(archive: &Archive) -> Vec<Span> {
    let (spans, query) = ([Measure::Spans("*".into())], Query::default());
    let (mut matcher, mut all) = (Matcher::new(&spans, archive), Vec::new());
    each_duration(
        archive,
        &mut matcher,
        &DurationRequest::new(&query),
        &mut |_, found| {
            all.push(found);
        },
    );
    of(&matcher, &all)
}

fn newest_first(archive: &Archive) -> Vec<Span> {
    let events = archive.events_by_time(Order::NewestFirst);
    let span = |event: Event| {
        let (duration, end) = (event.duration?, archive.time(&event)?);
        let part = archive.definition(event.id)?.span_part()?;
        let key = if part.pairing == Pairing::Key {
            event.args[0]
        } else {
            -1
        };
        Some((name(&part.span), key, end - duration, end))
    };
    DumpDurations::new(archive, events)
        .filter_map(span)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_span_is_made_across_a_hole_and_none_is_lost_elsewhere(
        steps in prop::collection::vec((0_u64..3, 0_u8..16, 0_u64..2, 0_u8..12), 1..200),
        holes in holes(),
        is_plain: bool,
    ) {
        let step = |(thread, what, lane, end): (u64, u8, u64, u8)| {
            (thread, what, lane, end.saturating_sub(9))
        };
        let steps: Vec<Step> = steps.into_iter().map(step).collect();
        let form = if is_plain { Form::Plain } else { Form::Blocks };
        let (file, expected) = written(&steps, &holes, form);
        let archive = Archive::from_bytes(file);
        let times: HashSet<u64> = archive.events_by_time(Order::OldestFirst)
            .filter(|event| {
                let definition = archive.definition(event.id);
                definition.is_some_and(|definition| definition.span_part().is_some())
            })
            .map(|event| event.time.map_or(0, u64::from))
            .collect();
        let passage = |time: u64| archive.passage(time - 1_000_000, time);
        let is_whole = |(_, _, begin, end): &&Span| {
            [begin, end].iter().all(|time| times.contains(time))
                && passage(*end).goes_on(passage(*begin))
        };
        let whole: HashSet<&Span> = expected.iter().filter(is_whole).collect();
        for found in [oldest_first(&archive), by_columns(&archive), newest_first(&archive)] {
            for span in &found {
                prop_assert!(expected.contains(span), "{span:?} was not there");
            }
            let found: HashSet<&Span> = found.iter().collect();
            prop_assert_eq!(&found, &whole);
        }
        if holes.is_empty() {
            prop_assert_eq!(whole.len(), expected.len());
        }
    }
}
