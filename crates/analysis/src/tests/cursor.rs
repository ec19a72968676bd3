//! A cursor gives what an analyser is given.

use proptest::prelude::*;
use std::cell::Cell;
use timeline::{FollowFrom, Priority, Timeline};
use timeline_reading::{Extent, Log};

use super::sample::{BookLine, NAMES, Notebook, SampleEvent, log};
use crate::analyzer::{AnalysisEnd, Analyzer};
use crate::session::{Analysis, AnalysisCursor, AnalysisInput, CursorItem};
use crate::subscriptions::Subscriptions;

/// What an analyser with these patterns wants.
fn wanted(patterns: &[(&str, &str)]) -> Subscriptions {
    let mut wanted = Subscriptions::default();
    Notebook::of(patterns).begin(&mut wanted);
    wanted
}

/// What a cursor gives, until nothing is new or it ends.
fn walk(cursor: &mut AnalysisCursor) -> Vec<BookLine> {
    let mut told = Vec::new();
    loop {
        told.push(match cursor.advance().unwrap() {
            CursorItem::Event(loan) => {
                let event = loan.context();
                let number = event.event().args[0] as u64;
                let time = event.time().unwrap_or(0);
                let subscription = event.subscription().0;
                BookLine::Event(event.log_number(), number, time, subscription)
            }
            CursorItem::Gap(gap) => BookLine::Gap(gap.log, gap.entries),
            CursorItem::Loss(log, what) => BookLine::Loss(log, what),
            CursorItem::Idle => return told,
            CursorItem::End(end) => {
                told.push(BookLine::End(end));
                return told;
            }
        });
    }
}

fn event() -> impl Strategy<Value = SampleEvent> {
    let definition = 0..NAMES.len();
    let missed = prop_oneof![4 => Just(0), 1 => 1u64..9];
    (definition, missed, any::<bool>(), 0u8..8).prop_map(
        |(definition, missed, ends_block, important)| SampleEvent {
            missed,
            ends_block,
            important: important == 0,
            ..SampleEvent::new(definition, 0)
        },
    )
}

proptest! {
    #[test]
    fn it_gives_what_an_analyser_is_given(
        mut events in prop::collection::vec(event(), 0..60),
        others in prop::collection::vec(event(), 0..9),
        is_some: bool,
    ) {
        let patterns = [("net", "*"), ("*", "*.got")];
        let patterns = if is_some { &patterns[..] } else { &[] };
        for (time, event) in (1_000..).zip(&mut events) {
            event.time = time;
        }
        let logs = [log(&events, 7), log(&others, 8)];
        let logs = &logs[..if others.is_empty() { 1 } else { 2 }];
        let mut book = Notebook::of(patterns);
        Analysis::new(AnalysisInput::whole(logs)).with(&mut book).run().unwrap();
        let mut cursor = AnalysisCursor::new(AnalysisInput::whole(logs), wanted(patterns));
        prop_assert_eq!(walk(&mut cursor), book.told);
        // It has ended for good.
        let end = [BookLine::End(AnalysisEnd::Whole)];
        prop_assert_eq!(&walk(&mut cursor)[..], &end[..]);
    }
}

#[test]
fn it_is_idle_until_something_comes_and_ends_when_it_is_cancelled_or_has_enough() {
    let path = format!("/timeline-test-analysis-cursor-{}", std::process::id());
    let timeline = Timeline::with_size(&path, 1024, 1 << 16).unwrap();
    let message = "got $number:u64 of $host:str";
    let got = timeline.define("net", Priority::Info, message).unwrap();
    let log = Log::open(path.as_ref(), Extent::Whole).unwrap();
    timeline::unlink(&path).unwrap();
    let is_over = Cell::new(false);
    let is_cancelled = || is_over.get();
    let input = || {
        let input = AnalysisInput::growth([&log], FollowFrom::Now).unwrap();
        input.unless(&is_cancelled)
    };
    let mut subscriptions = Subscriptions::default();
    subscriptions.events("net", "net.*");
    let (number, host) = (
        subscriptions.field::<u64>("number"),
        subscriptions.field::<str>("host"),
    );
    let mut cursor = AnalysisCursor::new(input(), subscriptions);
    assert_eq!(walk(&mut cursor), []);
    let host_of = |bytes| timeline::Value::Text { bytes, cut: false };
    let values = [timeline::Value::Uint(3), host_of(b"eth0")];
    timeline.log_payload(got, &timeline::lay_out(&values), false);
    match cursor.advance().unwrap() {
        CursorItem::Event(loan) => {
            let event = loan.context();
            assert_eq!(event.get(number).unwrap(), Some(3));
            assert_eq!(event.get(host).unwrap().as_deref(), Some("eth0"));
            assert_eq!(event.message(), "got number(3) of host(eth0)");
            assert_eq!(event.field_type(host).unwrap().to_string(), "str");
        }
        _ => panic!("an event has come"),
    }
    assert_eq!(walk(&mut cursor), []);
    is_over.set(true);
    assert_eq!(walk(&mut cursor), [BookLine::End(AnalysisEnd::Cancelled)]);

    is_over.set(false);
    let mut cursor = AnalysisCursor::new(input(), wanted(&[]));
    assert_eq!(walk(&mut cursor), []);
    timeline.log_payload(got, &timeline::lay_out(&values), false);
    match cursor.advance().unwrap() {
        CursorItem::Event(loan) => loan.context().enough(),
        _ => panic!("an event has come"),
    }
    assert_eq!(walk(&mut cursor), [BookLine::End(AnalysisEnd::Enough)]);
}
