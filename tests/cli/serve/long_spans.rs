//! Spans of hours, and those that have not ended, are served wherever they can be seen.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;

use serde_json::Value;
use timeline_archive::{Form, RawEvent, Writer};

use super::http::{Served, quoted};
use crate::command::*;
use crate::support::Random;

const SECOND: u64 = 1_000_000_000;
const START: u64 = 1_700_000_000 * SECOND;
const THREADS: u64 = 3;
/// Longer ones are long.
const LONGEST: u64 = 10 * SECOND;

/// A span that was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    begin: u64,
    /// `None` if it has not ended.
    end: Option<u64>,
    depth: u64,
    /// The thread, if it is known in which one it ends.
    thread: Option<u64>,
    has_key: bool,
}

/// Writes spans as a program logs them, one event after the other, and remembers them.
struct Program {
    random: Random,
    now: u64,
    /// The begins of what is open in each thread, with the numbers of their names.
    open: Vec<Vec<(u64, u64)>>,
    keys: BTreeMap<u64, u64>,
    spans: Vec<Span>,
}

impl Program {
    fn new(seed: u64) -> Program {
        Program {
            random: Random(seed),
            now: START,
            open: vec![Vec::new(); THREADS as usize],
            keys: BTreeMap::new(),
            spans: Vec::new(),
        }
    }

    /// The bytes of an archive with so many further events.
    fn write(&mut self, count: usize) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Blocks);
        for _ in 0..count {
            let (thread, message, value) = self.step();
            let mut event = RawEvent {
                unix_nanos: Some(self.now),
                ticks: Some(self.now),
                core: Some(thread),
                ..RawEvent::default()
            };
            event.definition.category = Some(writer.string("job"));
            event.definition.format = Some(writer.string(&message));
            event.definition.level = Some(5);
            event.thread.tid = Some(100 + thread);
            event.thread.name = Some(writer.string("worker"));
            event.args.push(value as i64);
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        file
    }

    /// What is logged next: the thread, the message and its value.
    fn step(&mut self) -> (u64, String, u64) {
        // Mostly less than a second, and now and then a minute.
        let pauses = [SECOND / 20, SECOND, SECOND, 60 * SECOND];
        let pause = pauses[self.random.below(100).saturating_sub(96) as usize];
        self.now += 1 + self.random.below(pause);
        let (now, thread) = (self.now, self.random.below(THREADS));
        let open = &mut self.open[thread as usize];
        match self.random.below(10) {
            // Few are deep, so that some last long.
            0..4 if open.len() < 4 => {
                let name = self.random.below(3);
                open.push((now, name));
                (thread, format!("begin part{name} $n"), name)
            }
            0..8 if open.len() > usize::from(self.random.below(20) > 0) => {
                let (begin, name) = open.pop().unwrap();
                self.spans.push(Span {
                    begin,
                    end: Some(now),
                    depth: open.len() as u64,
                    thread: Some(thread),
                    has_key: false,
                });
                (thread, format!("end part{name} $n"), name)
            }
            8 if self.keys.len() < 5 => {
                self.keys.insert(now, now);
                (thread, "start request $id".into(), now)
            }
            _ if !self.keys.is_empty() => {
                let place = self.random.below(self.keys.len() as u64) as usize;
                let key = *self.keys.keys().nth(place).unwrap();
                let begin = self.keys.remove(&key).unwrap();
                self.spans.push(Span {
                    begin,
                    end: Some(now),
                    depth: 0,
                    thread: Some(thread),
                    has_key: true,
                });
                (thread, "finish request $id".into(), key)
            }
            _ => (thread, "other $n".into(), 0),
        }
    }

    /// All spans, and those that are open.
    fn all(&self) -> Vec<Span> {
        let threads = self.open.iter().zip(0..);
        let open = threads.flat_map(|(open, thread)| {
            open.iter().zip(0..).map(move |((begin, _), depth)| Span {
                begin: *begin,
                end: None,
                depth,
                thread: Some(thread),
                has_key: false,
            })
        });
        self.spans.iter().cloned().chain(open).collect()
    }

    /// Those that a range of time shows, of the long ones or of the others.
    fn seen(&self, (from, to): (u64, u64), is_long: bool, by_core: bool) -> Vec<Span> {
        let long = |span: &Span| span.end.is_none_or(|end| end - span.begin > LONGEST);
        let all = self.all().into_iter();
        let all = all.filter(|span| span.begin < to && span.end.unwrap_or(self.now) >= from);
        let mut seen: Vec<Span> = all.filter(|span| long(span) == is_long).collect();
        for span in seen.iter_mut().filter(|span| span.end.is_none() && by_core) {
            span.thread = None;
        }
        seen.sort();
        seen
    }
}

/// The spans of an answer. Without their depths where those of an answer are not all known.
fn spans(answer: &Value, from: u64, last: u64) -> Vec<Span> {
    let mut all = Vec::new();
    for row in answer["rows"].as_array().unwrap() {
        let by_tid = row["tid"].as_u64().and_then(|tid| tid.checked_sub(100));
        let thread = row["core"].as_u64().or(by_tid);
        for span in row["spans"].as_array().unwrap() {
            let [begin, end, depth, flags] = [1, 2, 3, 4].map(|at| span[at].as_i64().unwrap());
            let [begin, end] = [begin, end].map(|time| from.checked_add_signed(time).unwrap());
            assert!(flags & 2 == 0 || end == last, "{span}");
            all.push(Span {
                begin,
                end: (flags & 2 == 0).then_some(end),
                depth: depth as u64,
                thread,
                has_key: flags & 1 != 0,
            });
        }
    }
    all.sort();
    all
}

fn flat(mut spans: Vec<Span>) -> Vec<Span> {
    spans.iter_mut().for_each(|span| span.depth = 0);
    spans.sort();
    spans
}

fn check(served: &Served, log: &str, program: &Program, range: (u64, u64), by: &str) {
    let (from, to) = range;
    let asked = format!("{log}/spans?by={by}&from={from}&to={to}&limit=20000");
    let ordinary = spans(&served.json(&asked), from, program.now);
    // What it lies in may have begun long before.
    assert_eq!(
        flat(ordinary),
        flat(program.seen(range, false, by == "core")),
        "{asked}"
    );
    let answer = served.json(&format!("{asked}&long=true"));
    assert_eq!(
        spans(&answer, from, program.now),
        program.seen(range, true, by == "core"),
        "{asked}"
    );
    assert_eq!(answer["behind"], false);
    let names = answer["names"].as_array().unwrap();
    assert!(names.iter().any(|name| name == "job.part0"), "{names:?}");
}

#[test]
fn spans_of_hours_are_those_that_were_written() {
    let seed = crate::queries::seed();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hours.tla");
    let mut program = Program::new(seed);
    fs::write(&path, program.write(20_000)).unwrap();
    let path = path.display().to_string();
    let served = Served::begin(&[&path]);
    let log = format!("/api/logs/{}", quoted(&path));
    let long = program.seen((0, u64::MAX), true, false);
    assert!(long.iter().any(|span| span.end.is_none()), "{}", long.len());
    assert!(long.iter().any(|span| span.has_key), "{}", long.len());
    let mut random = Random(seed);
    for _ in 0..8 {
        let from = START + random.below(program.now - START);
        let width = [1, SECOND, program.now - START][random.below(3) as usize];
        let range = (from, from + 1 + random.below(width));
        for by in ["thread", "core"] {
            check(&served, &log, &program, range, by);
        }
    }
    // The longest are listed, and the others counted.
    let asked = format!("{log}/spans?from={START}&to={}&long=true", program.now + 1);
    let answer = served.json(&asked);
    assert_eq!(answer["elsewhere"], false);
    let all = spans(&answer, START, program.now).len() as u64;
    let begun = served.json(&format!(
        "{log}/spans?from={START}&to={}&long=true",
        START + 1
    ));
    assert_eq!(begun["elsewhere"], true);
    let few = served.json(&format!("{asked}&limit=3"));
    assert_eq!(spans(&few, START, program.now).len(), 3);
    assert_eq!(few["more"], all - 3);
    let least = 30 * SECOND;
    let longer = served.json(&format!("{asked}&min={least}"));
    let shorter = longer["short"].as_u64().unwrap();
    let listed = spans(&longer, START, program.now);
    assert!(shorter > 0 && shorter + listed.len() as u64 == all);
    let is_longer = |span: &Span| span.end.unwrap_or(program.now) - span.begin >= least;
    assert!(!listed.is_empty() && listed.iter().all(is_longer));
    // Filters are about the events that end spans.
    let of_one = served.json(&format!("{asked}&core=1"));
    let mut wanted = program.seen((0, u64::MAX), true, false);
    wanted.retain(|span| span.thread == Some(1) && span.end.is_some());
    assert_eq!(spans(&of_one, START, program.now), wanted);
}

#[test]
fn long_spans_of_a_growing_archive_come() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grows.tla");
    let mut program = Program::new(7);
    fs::write(&path, program.write(3_000)).unwrap();
    let shown = path.display().to_string();
    let served = Served::begin(&[&shown]);
    let log = format!("/api/logs/{}", quoted(&shown));
    for _ in 0..3 {
        let range = (START, program.now + 1);
        check(&served, &log, &program, range, "thread");
        let mut file: File = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&program.write(2_000)).unwrap();
        let asked = format!(
            "{log}/spans?from={START}&to={}&limit=20000&long=true",
            program.now + 1
        );
        // Not at once: all of the log has to be read.
        eventually("the spans that are new", || {
            let answer = served.json(&asked);
            let is_new = answer["behind"] == false;
            is_new && last_end(&answer) == program.now - START
        });
    }
}

/// When the last span of an answer ends, since its beginning.
fn last_end(answer: &Value) -> u64 {
    let rows = answer["rows"].as_array().unwrap().iter();
    let spans = rows.flat_map(|row| row["spans"].as_array().unwrap());
    let ends = spans.map(|span| span[2].as_u64().unwrap());
    ends.max().unwrap_or(0)
}
