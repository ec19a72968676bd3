//! Gaps are told where they are, and losses with their amounts.

use timeline_archive::Archive;
use timeline_latency::Lack;
use timeline_reading::Log;

use super::sample::{BookLine, Notebook, SampleEvent, bytes, log};
use crate::analyzer::AnalysisEnd;
use crate::session::{Analysis, AnalysisInput};

fn told(log: &Log, patterns: &[(&str, &str)]) -> Vec<BookLine> {
    let mut book = Notebook::of(patterns);
    let analysis = Analysis::new(AnalysisInput::whole([log])).with(&mut book);
    analysis.run().unwrap();
    book.told
}

/// Three events, of which the second one is behind a gap.
fn with_gap() -> [SampleEvent; 3] {
    [
        SampleEvent::new(0, 1_000),
        SampleEvent {
            missed: 5,
            ..SampleEvent::new(3, 2_000)
        },
        SampleEvent::new(0, 3_000),
    ]
}

#[test]
fn a_gap_is_told_before_the_event_behind_it() {
    let log = log(&with_gap(), 7);
    let loss = BookLine::Loss(0, Lack::Unrecorded(5));
    let end = BookLine::End(AnalysisEnd::Whole);
    let all = [
        BookLine::Event(0, 0, 1_000, 0),
        BookLine::Gap(0, 5),
        BookLine::Event(0, 1, 2_000, 0),
        BookLine::Event(0, 2, 3_000, 0),
        loss.clone(),
        end.clone(),
    ];
    assert_eq!(told(&log, &[]), all);
    // Also if the event behind it is not wanted.
    let some = [
        BookLine::Event(0, 0, 1_000, 0),
        BookLine::Gap(0, 5),
        BookLine::Event(0, 2, 3_000, 0),
        loss,
        end,
    ];
    assert_eq!(told(&log, &[("net", "*")]), some);
}

#[test]
fn a_gap_stands_between_the_events_around_damaged_bytes() {
    let (one, other) = (SampleEvent::new(0, 1_000), SampleEvent::new(0, 2_000));
    let split = |event| SampleEvent {
        ends_block: true,
        ..event
    };
    let file = bytes(&[split(one), split(other)], 7);
    // Behind the first block.
    let first = bytes(&[split(one)], 7).len();
    let damaged = [&file[..first], b"no frame", &file[first..]].concat();
    let log = Log::of_archive("x.tla".as_ref(), Archive::from_bytes(damaged));
    let told = told(&log, &[]);
    assert_eq!(
        told,
        [
            BookLine::Event(0, 0, 1_000, 0),
            BookLine::Gap(0, 0),
            BookLine::Event(0, 1, 2_000, 0),
            BookLine::Loss(0, Lack::Damaged(8)),
            BookLine::End(AnalysisEnd::Whole),
        ]
    );
}

#[test]
fn losses_are_those_of_their_logs() {
    let logs = [log(&[SampleEvent::new(0, 1_000)], 7), log(&with_gap(), 8)];
    let mut book = Notebook::default();
    let analysis = Analysis::new(AnalysisInput::whole(&logs)).with(&mut book);
    analysis.run().unwrap();
    let is_loss = |told: &&BookLine| matches!(told, BookLine::Gap(..) | BookLine::Loss(..));
    let losses: Vec<_> = book.told.iter().filter(is_loss).cloned().collect();
    assert_eq!(
        losses,
        [BookLine::Gap(1, 5), BookLine::Loss(1, Lack::Unrecorded(5))]
    );
}
