//! Tests that a span logs its end if, and only if, it has logged its begin.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use timeline::{
    Attributes, Error, Level, Order, Pairing, Priority, Rules, Timeline, async_span, event, span,
};

use crate::allocator::ALLOCATIONS;
use crate::statement::{shown, timeline};
use crate::support::{Name, attach};

const INFO: Priority = Priority::Info;

/// What a timeline has logged, without how long spans took.
fn logged(name: &Name) -> Vec<String> {
    let lines = shown(&attach(name.path())).into_iter();
    let event = |line: String| match line.rsplit_once(" took ") {
        Some((event, _)) => event.to_owned(),
        None => line,
    };
    lines.map(event).collect()
}

#[test]
fn a_defined_span_is_two_events_with_its_arguments() {
    let name = Name::new("span");
    let tl = timeline(&name);
    let breath = tl.define_span("rust", INFO, "breath $packets").unwrap();
    let begin = tl.define("rust", INFO, "begin breath $packets").unwrap();
    let end = tl.define("rust", INFO, "end breath $packets").unwrap();
    assert_eq!((breath.begin, breath.end), (begin, end));
    drop(tl.span(breath, [10]));
    {
        let mut span = tl.span(breath, [0]);
        span.set([17]);
        event!(tl, INFO, "rust", "in between");
    }
    let request = tl.define_async_span("rust", INFO, "job $id").unwrap();
    let mut span = tl.async_span(request, [7]);
    std::thread::scope(|scope| {
        scope.spawn(move || span.set([8]));
    });
    assert_eq!(
        logged(&name),
        [
            "begin breath packets(10)",
            "end breath packets(10)",
            "begin breath packets(0)",
            "in between",
            "end breath packets(17)",
            "start job id(7)",
            "finish job id(8)",
        ]
    );
}

#[test]
fn a_span_has_a_name_and_its_events_the_attributes() {
    let name = Name::new("span");
    let tl = timeline(&name);
    let with = |message, pairing| {
        let attributes = Attributes {
            channels: "itv=on",
            important: true,
        };
        tl.define_span_with("rust", INFO, message, pairing, &attributes)
    };
    for (message, pairing) in [("$n", Pairing::Thread), ("job", Pairing::Key)] {
        let refused = with(message, pairing).unwrap_err();
        assert!(matches!(refused, Error::BadText { .. }), "{refused}");
        assert!(refused.to_string().contains("which name the span"));
    }
    assert_eq!(attach(name.path()).definitions().count(), 0);
    let span = with("breath", Pairing::Thread).unwrap();
    let attached = attach(name.path());
    for (event, part) in [(span.begin, "begin breath"), (span.end, "end breath")] {
        let definition = attached.definition(event).unwrap();
        assert_eq!(definition.message, part);
        assert_eq!(definition.channels, "itv");
        assert_eq!(definition.important, Some(true));
        assert_eq!(definition.span_part().unwrap().span, "rust.breath");
    }
    drop(tl.span(span, []));
    tl.channel("itv", false).unwrap();
    drop(tl.span(span, []));
    let attached = attach(name.path());
    let important = attached.events(Order::OldestFirst);
    assert_eq!(important.filter(|event| event.important).count(), 2);
}

#[test]
fn a_statement_ends_its_span_where_its_scope_is_left() {
    let name = Name::new("span");
    let tl = timeline(&name);
    let leave = |how: &str| -> Option<()> {
        let _span = span!(&tl, INFO, "rust", "outer {how}", how);
        let _other = span!(
            &tl,
            INFO,
            "rust",
            "inner {a} {b} {c} {d} {e}",
            a = 1u8,
            b = 2,
            c = 3,
            d = 4,
            e = 0.5
        );
        if how == "returns" {
            return None;
        }
        assert_ne!(how, "panics", "on purpose");
        Some(())
    };
    leave("falls");
    leave("returns");
    assert!(catch_unwind(AssertUnwindSafe(|| leave("panics"))).is_err());
    let mut expected = Vec::new();
    for how in ["falls", "returns", "panics"] {
        for (outer, inner) in [("begin outer", "begin inner"), ("end outer", "end inner")] {
            let inner = format!("{inner} a(1) b(2) c(3) d(4) e(0.5)");
            expected.extend([format!("{outer} how({how})"), inner]);
        }
        let ends = expected.len() - 2;
        expected[ends..].reverse();
    }
    assert_eq!(logged(&name), expected);
}

#[test]
fn a_span_that_is_leaked_does_not_end_and_one_that_is_moved_ends_once() {
    let name = Name::new("span");
    let tl = timeline(&name);
    std::mem::forget(span!(tl, INFO, "rust", "leaked"));
    let kept = {
        let begun = span!(tl, INFO, "rust", "moved {n}", n = 1);
        Some(Box::new(begun))
    };
    event!(tl, INFO, "rust", "in between");
    drop(kept);
    let job = async_span!(tl, INFO, "rust", "job {id} {what}", id = 7, what = "text");
    std::thread::scope(|scope| {
        scope.spawn(move || drop(job));
    });
    assert_eq!(
        logged(&name),
        [
            "begin leaked",
            "begin moved n(1)",
            "in between",
            "end moved n(1)",
            "start job id(7) what(text)",
            "finish job id(7) what(text)",
        ]
    );
}

#[test]
fn the_end_has_what_a_cell_holds_then_and_what_was_moved_into_it() {
    let name = Name::new("span");
    let tl = timeline(&name);
    let (packets, state) = (Cell::new(0_u16), Cell::new("idle"));
    {
        let owned = String::from("moved");
        let _span = span!(
            tl,
            INFO,
            "rust",
            "work {packets} {state} {owned}",
            packets = &packets,
            state = &state,
            owned
        );
        packets.set(17);
        state.set("busy");
    }
    assert_eq!(
        logged(&name),
        [
            "begin work packets(0) state(idle) owned(moved)",
            "end work packets(17) state(busy) owned(moved)",
        ]
    );
}

#[test]
fn there_is_no_end_without_a_begin_and_a_disabled_span_evaluates_nothing() {
    let name = Name::new("span");
    let tl = timeline(&name);
    let defined = tl.define_span("rust", INFO, "defined").unwrap();
    let evaluated = Cell::new(0);
    let levels = |begin: Level, end: Level| {
        tl.priority(begin).unwrap();
        let _spans = (
            tl.span(defined, []),
            tl.async_span(defined, []),
            span!(
                tl,
                INFO,
                "rust",
                "stated {n}",
                n = {
                    evaluated.set(evaluated.get() + 1);
                    1
                }
            ),
        );
        tl.priority(end).unwrap();
    };
    let off = Level::from(Priority::Error);
    levels(off, Level::ALL);
    assert_eq!((logged(&name).len(), evaluated.get()), (0, 0));
    levels(Level::ALL, off);
    let begun = ["begin defined", "begin defined", "begin stated n(1)"];
    assert_eq!(
        (logged(&name), evaluated.get()),
        (begun.map(str::to_owned).into(), 1)
    );
    levels(Level::ALL, Level::ALL);
    assert_eq!((logged(&name).len(), evaluated.get()), (3 + 6, 2));
    let rules: Rules = "all,-rust.begin_*".parse().unwrap();
    tl.switch(&rules).unwrap();
    let spans = (
        tl.span(defined, []),
        span!(tl, INFO, "rust", "stated again"),
    );
    drop(spans);
    assert_eq!(logged(&name).len(), 9);
}

#[test]
fn both_events_are_defined_by_the_first_run_and_later_ones_allocate_nothing() {
    let name = Name::new("span");
    let tl = timeline(&name);
    let run = |text: &str| {
        let _span = span!(channels: "itv", tl, INFO, "rust", "work {text} {n}", text, n = 7);
    };
    run("off");
    let defined = attach(name.path());
    let mut names: Vec<_> = defined.definitions().map(|one| one.name()).collect();
    names.sort();
    assert_eq!(names, ["rust.begin_work", "rust.end_work"]);
    assert_eq!(logged(&name).len(), 0);
    tl.channel("itv", true).unwrap();
    let before = ALLOCATIONS.get();
    run("on");
    assert_eq!(ALLOCATIONS.get(), before);
    assert_eq!(
        logged(&name),
        ["begin work text(on) n(7)", "end work text(on) n(7)"]
    );
}

#[test]
fn the_events_of_a_span_that_cannot_be_defined_are_counted() {
    let name = Name::new("span");
    let tl = Timeline::with_size(name.path(), 1024, 1024).expect("created");
    let run = || {
        let _span = span!(tl, INFO, "rust", "late");
    };
    let fill = |n| tl.define("rust", INFO, &format!("fill {n}"));
    assert!((0..1000).any(|n| fill(n).is_err()));
    for _ in 0..10 {
        run();
    }
    let dropped = attach(name.path()).info().dropped.undefined;
    assert_eq!(dropped, 2 * 10);
    assert!(
        attach(name.path())
            .events(Order::OldestFirst)
            .next()
            .is_none()
    );
}
