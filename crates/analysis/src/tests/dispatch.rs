//! Each analyser is given exactly what it wants, in order, as a naive reading finds it.

use proptest::prelude::*;
use timeline_reading::Log;

use super::sample::{BookLine, NAMES, Notebook, SampleEvent, log};
use crate::session::{Analysis, AnalysisInput, StepOutcome};

/// Whether a text meets a pattern: tries everything.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|taken| is_like(rest, &text[taken..])),
        [one, rest @ ..] => {
            !text.is_empty() && (*one == b'?' || *one == text[0]) && is_like(rest, &text[1..])
        }
    }
}

/// The first of the patterns that wants the events of a definition.
fn wanting(patterns: &[(String, String)], definition: usize) -> Option<usize> {
    if patterns.is_empty() {
        return Some(0);
    }
    let name = NAMES[definition];
    let category = name.split('.').next().unwrap();
    patterns.iter().position(|(of_category, of_name)| {
        is_like(of_category.as_bytes(), category.as_bytes())
            && is_like(of_name.as_bytes(), name.as_bytes())
    })
}

/// What somebody wants of these logs: the important events of all, and then the others, by time,
/// and at the same time by their log.
fn naive(logs: &[Vec<SampleEvent>], patterns: &[(String, String)]) -> Vec<BookLine> {
    let mut rows = Vec::new();
    for (log, events) in logs.iter().enumerate() {
        for (number, event) in events.iter().enumerate() {
            if let Some(subscription) = wanting(patterns, event.definition) {
                let told = BookLine::Event(log, number as u64, event.time, subscription);
                rows.push(((!event.important, event.time, log, number), told));
            }
        }
    }
    rows.sort_by_key(|(key, _)| *key);
    rows.into_iter().map(|(_, told)| told).collect()
}

fn events() -> impl Strategy<Value = Vec<SampleEvent>> {
    let event = (
        0..NAMES.len(),
        0u64..3,
        prop::bool::weighted(0.1),
        any::<bool>(),
    );
    prop::collection::vec(event, 0..40).prop_map(|events| {
        let mut time = 1_000;
        let event = |(definition, later, important, ends_block)| {
            time += later;
            SampleEvent {
                important,
                ends_block,
                ..SampleEvent::new(definition, time)
            }
        };
        events.into_iter().map(event).collect()
    })
}

fn patterns() -> impl Strategy<Value = Vec<(String, String)>> {
    let category = prop::sample::select(vec!["*", "net", "n*", "disk", "?isk", "none"]);
    let name = prop::sample::select(vec!["*", "*.got", "net.*", "*_host", "disk.sync", "?.got"]);
    let pair = (category, name).prop_map(|(one, other)| (one.to_owned(), other.to_owned()));
    prop::collection::vec(pair, 0..3)
}

proptest! {
    #[test]
    fn analysers_are_given_what_a_naive_reading_finds(
        logs in prop::collection::vec(events(), 1..4),
        wishes in prop::collection::vec((patterns(), any::<bool>()), 1..4),
        is_stepped: bool,
    ) {
        let opened: Vec<Log> = (1..).zip(&logs).map(|(magic, events)| log(events, magic)).collect();
        let book = |(patterns, _): &(Vec<_>, bool)| Notebook {
            patterns: patterns.clone(),
            ..Notebook::default()
        };
        let mut books: Vec<Notebook> = wishes.iter().map(book).collect();
        let mut analysis = Analysis::new(AnalysisInput::whole(&opened));
        for (book, (_, is_apart)) in books.iter_mut().zip(&wishes) {
            analysis = match is_apart {
                true => analysis.with_apart(book),
                false => analysis.with(book),
            };
        }
        match is_stepped {
            true => {
                while !matches!(analysis.step().unwrap(), StepOutcome::End(_)) {}
                drop(analysis);
            }
            false => {
                analysis.run().unwrap();
            }
        }
        for (book, (patterns, _)) in books.iter().zip(&wishes) {
            prop_assert_eq!(book.events(), naive(&logs, patterns), "{:?}", patterns);
        }
    }
}
