//! Logs that grow: timelines, archives that are recorded, and bytes that come.

use std::collections::VecDeque;
use std::io::{self, Read};

use proptest::prelude::*;
use timeline::{Attached, FollowFrom, Priority, Timeline};
use timeline_archive::{ArchiveOutput, Form, Keeping, Recorder};
use timeline_latency::Lack;
use timeline_reading::{Extent, Log};

use super::sample::{BookLine, NAMES, Notebook, SampleEvent, bytes, log};
use crate::analyzer::AnalysisEnd;
use crate::session::{Analysis, AnalysisInput, StepOutcome};

/// Gives these pieces, one for each read. Between them it has nothing for now.
struct Pieces {
    pieces: VecDeque<Vec<u8>>,
    has_paused: bool,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.has_paused = !self.has_paused;
        if self.has_paused {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let piece = self.pieces.pop_front().unwrap_or_default();
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

/// What is told of bytes that come in these pieces.
fn told(pieces: &[&[u8]], patterns: &[(&str, &str)]) -> Vec<BookLine> {
    let pieces = Pieces {
        pieces: pieces
            .iter()
            .filter(|one| !one.is_empty())
            .map(|one| one.to_vec())
            .collect(),
        has_paused: false,
    };
    let log = Log::incoming("-".as_ref());
    let follow = log.follow_bytes(pieces).unwrap();
    let mut book = Notebook::of(patterns);
    let mut analysis = Analysis::new(AnalysisInput::followed([(&log, follow)])).with(&mut book);
    while !matches!(analysis.step().unwrap(), StepOutcome::End(_)) {}
    drop(analysis);
    book.told
}

fn sample() -> Vec<SampleEvent> {
    let event = |number: usize| SampleEvent {
        ends_block: number.is_multiple_of(3),
        important: number == 4,
        missed: if number == 5 { 2 } else { 0 },
        ..SampleEvent::new(number % NAMES.len(), 1_000 + number as u64)
    };
    (0..12).map(event).collect()
}

/// What is told of the same bytes as a file, as far as it does not depend on the pieces: an
/// important event comes when it comes.
fn whole(patterns: &[(&str, &str)]) -> Vec<BookLine> {
    let mut book = Notebook::of(patterns);
    let log = log(&sample(), 7);
    Analysis::new(AnalysisInput::whole([&log]))
        .with(&mut book)
        .run()
        .unwrap();
    sorted(book.told)
}

/// By time. Losses come behind the events.
fn sorted(mut told: Vec<BookLine>) -> Vec<BookLine> {
    let mut last = 0;
    told.sort_by_cached_key(|one| match one {
        BookLine::Event(_, number, ..) => {
            last = *number;
            (0, *number, 1)
        }
        // Before the event behind it.
        BookLine::Gap(..) => (0, 5, 0),
        BookLine::Loss(..) => (1, 0, 0),
        BookLine::End(_) => (2, 0, 0),
    });
    told
}

#[test]
fn bytes_that_are_cut_at_any_place_are_the_same_events() {
    let file = bytes(&sample(), 7);
    for patterns in [&[][..], &[("net", "*")]] {
        let expected = whole(patterns);
        for cut in 0..=file.len() {
            let (one, other) = file.split_at(cut);
            assert_eq!(
                sorted(told(&[one, other], patterns)),
                expected,
                "cut at {cut}"
            );
        }
        let each: Vec<&[u8]> = file.chunks(1).collect();
        assert_eq!(sorted(told(&each, patterns)), expected);
    }
}

#[test]
fn a_frame_of_which_the_end_does_not_come_is_counted() {
    let file = bytes(&sample(), 7);
    let known: Vec<usize> = (0..file.len())
        .map(|length| {
            let told = told(&[&file[..length]], &[]);
            let damaged: u64 = told
                .iter()
                .map(|one| match one {
                    BookLine::Loss(0, Lack::Damaged(bytes)) => *bytes,
                    _ => 0,
                })
                .sum();
            assert_eq!(told.last(), Some(&BookLine::End(AnalysisEnd::Whole)));
            damaged as usize
        })
        .collect();
    // A frame begins where nothing is damaged; each byte behind that is one more.
    for (length, damaged) in known.iter().enumerate().skip(1) {
        assert!(
            *damaged == 0 || *damaged == known[length - 1] + 1,
            "{length}"
        );
    }
    assert!(known.iter().filter(|damaged| **damaged == 0).count() > 10);
    assert!(*known.last().unwrap() > 0);
}

#[test]
fn events_that_come_to_a_timeline_are_given_until_it_is_enough() {
    let path = format!("/timeline-test-analysis-growth-{}", std::process::id());
    let timeline = Timeline::with_size(&path, 1024, 1 << 16).unwrap();
    let got = timeline
        .define("net", Priority::Info, "got $number:u64")
        .unwrap();
    timeline.log(got, [1]);
    let log = Log::open(path.as_ref(), Extent::Whole).unwrap();
    timeline::unlink(&path).unwrap();
    let input = AnalysisInput::growth([&log], FollowFrom::Oldest).unwrap();
    let mut book = Notebook {
        enough: Some(3),
        ..Notebook::default()
    };
    let mut analysis = Analysis::new(input).with(&mut book);
    while analysis.step().unwrap() == StepOutcome::More {}
    for number in [2, 3, 4] {
        timeline.log(got, [number]);
    }
    assert_eq!(analysis.run().unwrap(), AnalysisEnd::Enough);
    let numbers: Vec<u64> = book
        .events()
        .iter()
        .map(|told| match told {
            BookLine::Event(_, number, ..) => *number,
            _ => unreachable!("only events"),
        })
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(book.told.last(), Some(&BookLine::End(AnalysisEnd::Enough)));
}

#[test]
fn what_a_ring_overwrites_is_told_where_it_is() {
    let path = format!("/timeline-test-analysis-lost-{}", std::process::id());
    let timeline = Timeline::with_size(&path, 1024, 1 << 16).unwrap();
    let got = timeline
        .define("net", Priority::Info, "got $number:u64")
        .unwrap();
    let log = Log::open(path.as_ref(), Extent::Whole).unwrap();
    timeline::unlink(&path).unwrap();
    let input = AnalysisInput::growth([&log], FollowFrom::Start).unwrap();
    let mut book = Notebook::default();
    let mut analysis = Analysis::new(input).with(&mut book);
    for number in 0..10_000 {
        timeline.log(got, [number]);
    }
    while analysis.step().unwrap() == StepOutcome::More {}
    drop(analysis);
    let lost: u64 = book
        .told
        .iter()
        .map(|told| match told {
            BookLine::Loss(0, Lack::Unread(entries)) => *entries,
            _ => 0,
        })
        .sum();
    let given = book.events().len() as u64;
    assert!(lost > 0 && given > 0);
    assert_eq!(lost + given, 10_000);
    let gap = book
        .told
        .iter()
        .position(|told| matches!(told, BookLine::Gap(0, 1..)));
    let first = book
        .told
        .iter()
        .position(|told| matches!(told, BookLine::Event(..)));
    assert!(gap.unwrap() < first.unwrap());
}

#[test]
fn an_archive_is_followed_while_it_is_recorded() {
    let path = format!("/timeline-test-analysis-recorded-{}", std::process::id());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flight.tla");
    let timeline = Timeline::with_size(&path, 1024, 1 << 16).unwrap();
    let got = timeline
        .define("net", Priority::Info, "got $number:u64")
        .unwrap();
    let at = Attached::open(&path).unwrap();
    timeline::unlink(&path).unwrap();
    let mut output = ArchiveOutput::open(&file, Keeping::default()).unwrap();
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
    recorder.flush();

    let log = Log::open(&file, Extent::Whole).unwrap();
    let input = AnalysisInput::growth([&log], FollowFrom::Now).unwrap();
    let mut book = Notebook::default();
    let mut analysis = Analysis::new(input).with(&mut book);
    for number in 0..100 {
        timeline.log(got, [number]);
    }
    while recorder.step() {}
    recorder.flush();
    while analysis.step().unwrap() == StepOutcome::More {}
    recorder.finish();
    drop(output);
    assert_eq!(analysis.run().unwrap(), AnalysisEnd::Whole);
    assert_eq!(book.events().len(), 100);
}

proptest! {
    #[test]
    fn two_streams_of_bytes_are_one_of_events(
        one in 0usize..1_000,
        other in 0usize..1_000,
    ) {
        let files = [bytes(&sample(), 7), bytes(&sample(), 8)];
        let logs = [Log::incoming("a".as_ref()), Log::incoming("b".as_ref())];
        let follows = logs.iter().zip(&files).zip([one, other]).map(|((log, file), cut)| {
            let (begin, end) = file.split_at(cut.min(file.len()));
            (log, log.follow_bytes(begin.chain(end)).unwrap())
        });
        let mut book = Notebook::default();
        let analysis = Analysis::new(AnalysisInput::followed(follows)).with(&mut book);
        prop_assert_eq!(analysis.run().unwrap(), AnalysisEnd::Whole);
        for log in 0..2 {
            let of_log = book.told.iter().filter_map(|told| match told {
                BookLine::Event(of, number, ..) if *of == log => Some(*number),
                _ => None,
            });
            let mut numbers: Vec<u64> = of_log.collect();
            numbers.sort_unstable();
            prop_assert_eq!(numbers, (0..12).collect::<Vec<u64>>());
        }
    }
}
