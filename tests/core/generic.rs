//! Tests that in generic code each set of types is an event of its own.

use std::cell::Cell;
use std::thread;

use timeline::{Argument, Event, Flags, Named, Priority, Timeline, async_span, event, span};

use crate::allocator::ALLOCATIONS;
use crate::statement::{shown, timeline};
use crate::support::{Name, attach};

const INFO: Priority = Priority::Info;

fn value<T: Argument>(tl: &Timeline, x: T) {
    event!(tl, INFO, "rust", "got {x}", x);
}

fn anonymous(tl: &Timeline, x: impl Argument) {
    event!(tl, INFO, "rust", "has {n} {x} {y}", n = 1, x, y = &&x);
}

fn list<T>(tl: &Timeline, x: &[T])
where
    [T]: Argument,
{
    let run = || event!(tl, INFO, "rust", "list {x}", x);
    run();
}

#[derive(Named)]
enum Color {
    Red,
}

#[derive(Named)]
enum Shape {
    Round,
}

trait Unit {
    type Value: Argument;

    fn value(&self) -> Self::Value;

    fn trace(&self, tl: &Timeline) {
        event!(
            tl,
            INFO,
            "rust",
            "unit {v} {kept}",
            v = self.value(),
            kept = Cell::new(7_u8)
        );
    }
}

impl Unit for Color {
    type Value = u32;

    fn value(&self) -> u32 {
        4
    }
}

impl Unit for Shape {
    type Value = &'static str;

    fn value(&self) -> &'static str {
        "a bee"
    }
}

struct Holder<T>(T);

impl<T: Argument + Copy> Holder<T> {
    fn spans(&self, tl: &Timeline) {
        let _span = span!(tl, INFO, "rust", "breath {x}", x = self.0);
        let _request = async_span!(tl, INFO, "rust", "request {id} {x}", id = 1, x = self.0);
    }
}

/// Names that a parameter decides about.
struct Bit<const N: usize>;

impl Named for Bit<1> {
    const NAMES: &'static str = "one=1";
}

impl Named for Bit<2> {
    const NAMES: &'static str = "two=1";
}

fn flags<const N: usize>(tl: &Timeline)
where
    Bit<N>: Named,
{
    event!(
        tl,
        INFO,
        "rust",
        "bits {bits}",
        bits = Flags::<Bit<N>>::new(1)
    );
}

#[test]
fn each_set_of_types_is_an_event_of_its_own() {
    let name = Name::new("generic");
    let tl = timeline(&name);
    let mut expected = Vec::new();
    for _ in 0..2 {
        value(&tl, 42_u32);
        value(&tl, "text");
        value(&tl, 2.5_f64);
        value(&tl, [1_u8, 2, 3]);
        value(&tl, Color::Red);
        value(&tl, Shape::Round);
        value(&tl, -1_i8);
        let shown = ["42", "text", "2.5", "[1, 2, 3]", "Red", "Round", "-1"];
        expected.extend(shown.map(|value| format!("got x({value})")));
        anonymous(&tl, true);
        anonymous(&tl, "text");
        list(&tl, &[-1_i8]);
        list(&tl, &[0.5_f32]);
        Color::Red.trace(&tl);
        Shape::Round.trace(&tl);
        flags::<1>(&tl);
        flags::<2>(&tl);
        let shown = [
            "has n(1) x(true) y(true)",
            "has n(1) x(text) y(text)",
            "list x([-1])",
            "list x([0.5])",
            "unit v(4) kept(7)",
            "unit v(a bee) kept(7)",
            "bits bits(one)",
            "bits bits(two)",
        ];
        expected.extend(shown.map(str::to_owned));
    }
    assert_eq!(shown(&attach(name.path())), expected);
}

#[test]
fn spans_of_each_type_are_shown_as_that_type() {
    let name = Name::new("generic");
    let tl = timeline(&name);
    for _ in 0..2 {
        Holder(7_u8).spans(&tl);
        Holder("text").spans(&tl);
        Holder(-0.5_f64).spans(&tl);
    }
    let attached = attach(name.path());
    assert_eq!(attached.definitions().count(), 3 * 4);
    for (number, value) in ["7", "text", "-0.5"].iter().cycle().take(6).enumerate() {
        let lines = &shown(&attached)[number * 4..];
        let expected = [
            format!("begin breath x({value})"),
            format!("start request id(1) x({value})"),
            format!("finish request id(1) x({value})"),
            format!("end breath x({value})"),
        ];
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.starts_with(&expected), "{line}: {expected}");
        }
    }
}

#[test]
fn the_first_runs_of_many_types_may_be_at_the_same_time() {
    let name = Name::new("generic");
    let tl = timeline(&name);
    let run = || {
        anonymous(&tl, 1_u8);
        anonymous(&tl, "text");
        anonymous(&tl, 0.5_f32);
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(run);
        }
    });
    run();
    let before = ALLOCATIONS.get();
    run();
    assert_eq!(ALLOCATIONS.get(), before);
    let mut lines = shown(&attach(name.path()));
    lines.sort();
    lines.dedup();
    let values = ["0.5", "1", "text"];
    assert_eq!(lines, values.map(|x| format!("has n(1) x({x}) y({x})")));
}

#[derive(Event)]
#[event(category = "rust")]
struct Bits<const N: usize>
where
    Bit<N>: Named,
{
    bits: Flags<Bit<N>>,
}

#[test]
fn a_constant_parameter_of_a_struct_decides_about_its_event() {
    let name = Name::new("generic");
    let tl = timeline(&name);
    for _ in 0..2 {
        let bits = Flags::new(1);
        Bits::<1> { bits }.log(&tl);
        let bits = Flags::new(1);
        Bits::<2> { bits }.log(&tl);
    }
    let expected = ["bits bits(one)", "bits bits(two)"].repeat(2);
    assert_eq!(shown(&attach(name.path())), expected);
}
