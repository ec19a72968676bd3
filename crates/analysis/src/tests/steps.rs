//! How an analysis ends: step by step, cancelled, with enough, or with an error.

use std::cell::Cell;

use timeline_reading::Log;
use timeline_search::Query;

use super::sample::{BookLine, Notebook, SampleEvent, log};
use crate::analyzer::AnalysisEnd;
use crate::session::{Analysis, AnalysisInput, StepOutcome};

/// More events than a step gives.
fn many() -> Log {
    let event = |time: u64| SampleEvent::new(0, 1_000 + time);
    log(&(0..10_000).map(event).collect::<Vec<_>>(), 7)
}

#[test]
fn steps_give_what_a_run_gives_and_end_once() {
    let log = many();
    let (mut stepped, mut run) = (Notebook::default(), Notebook::default());
    let mut analysis = Analysis::new(AnalysisInput::whole([&log])).with(&mut stepped);
    let mut steps = 0;
    while analysis.step().unwrap() == StepOutcome::More {
        steps += 1;
    }
    let end = StepOutcome::End(AnalysisEnd::Whole);
    assert_eq!(analysis.step().unwrap(), end);
    assert_eq!(analysis.step().unwrap(), end);
    drop(analysis);
    assert!(steps > 1);
    Analysis::new(AnalysisInput::whole([&log]))
        .with(&mut run)
        .run()
        .unwrap();
    assert_eq!(stepped.told, run.told);
    let ends = run
        .told
        .iter()
        .filter(|told| matches!(told, BookLine::End(_)));
    assert_eq!((ends.count(), run.events().len()), (1, 10_000));
}

#[test]
fn a_cancelled_analysis_ends_and_says_so() {
    let log = many();
    for is_apart in [false, true] {
        let looks = Cell::new(0);
        let is_cancelled = || looks.replace(looks.get() + 1) > 1;
        let mut book = Notebook::default();
        let analysis = Analysis::new(AnalysisInput::whole([&log]).unless(&is_cancelled));
        let analysis = match is_apart {
            true => analysis.with_apart(&mut book),
            false => analysis.with(&mut book),
        };
        assert_eq!(analysis.run().unwrap(), AnalysisEnd::Cancelled);
        assert!(book.events().len() < 10_000);
        assert_eq!(
            book.told.last(),
            Some(&BookLine::End(AnalysisEnd::Cancelled))
        );
    }
}

#[test]
fn who_has_enough_is_given_no_more_and_others_go_on() {
    let all_of_it = many();
    for is_apart in [false, true] {
        let few = || Notebook {
            enough: Some(5),
            ..Notebook::default()
        };
        let (mut one, mut all) = (few(), Notebook::default());
        let analysis = Analysis::new(AnalysisInput::whole([&all_of_it])).with(&mut all);
        let analysis = match is_apart {
            true => analysis.with_apart(&mut one),
            false => analysis.with(&mut one),
        };
        assert_eq!(analysis.run().unwrap(), AnalysisEnd::Whole);
        assert_eq!((one.events().len(), all.events().len()), (5, 10_000));

        let mut alone = few();
        let analysis = Analysis::new(AnalysisInput::whole([&all_of_it]));
        let analysis = match is_apart {
            true => analysis.with_apart(&mut alone),
            false => analysis.with(&mut alone),
        };
        assert_eq!(analysis.run().unwrap(), AnalysisEnd::Enough);
        assert_eq!(alone.events().len(), 5);
    }
    // Also if the log ends in the same step.
    let short = log(&[0, 1, 2].map(|time| SampleEvent::new(0, 1_000 + time)), 7);
    let mut first = Notebook {
        enough: Some(1),
        ..Notebook::default()
    };
    let analysis = Analysis::new(AnalysisInput::whole([&short])).with(&mut first);
    assert_eq!(analysis.run().unwrap(), AnalysisEnd::Enough);
    assert_eq!(first.events().len(), 1);
}

#[test]
fn an_error_of_an_analyser_is_that_of_the_analysis() {
    let log = many();
    for is_apart in [false, true] {
        let mut full = Notebook {
            fails_at: Some(3),
            ..Notebook::default()
        };
        let analysis = Analysis::new(AnalysisInput::whole([&log]));
        let analysis = match is_apart {
            true => analysis.with_apart(&mut full),
            false => analysis.with(&mut full),
        };
        let error = analysis.run().unwrap_err();
        assert_eq!(error.to_string(), "the notebook is full");
        assert_eq!(full.told.len(), 2);
    }
}

#[test]
fn without_analysers_nothing_is_read() {
    let log = many();
    let analysis = Analysis::new(AnalysisInput::whole([&log]));
    assert_eq!(analysis.run().unwrap(), AnalysisEnd::Enough);
}

#[test]
fn a_query_leaves_out_what_analysers_subscribe_to() {
    let log = many();
    let query = Query {
        since: Some(2_000),
        until: Some(2_010),
        ..Query::default()
    };
    let mut book = Notebook::of(&[("net", "*")]);
    let input = AnalysisInput::whole([&log]).query(&query);
    Analysis::new(input).with(&mut book).run().unwrap();
    assert_eq!(book.events().len(), 10);
}
