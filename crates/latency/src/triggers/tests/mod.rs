//! Tests conditions: how they are read, and that they are met when a naive model says so.
//!
//! read.rs tests how they are read, streams.rs when they are met, beside the naive model.rs;
//! entries.rs the same of entries, and still.rs what still holds.

mod entries;
mod model;
mod read;
mod still;
mod streams;

use timeline::Event;
use timeline_search::Query;

use super::{Condition, Firing, Triggers};
use crate::testing::TestDefinitions;
pub use crate::testing::event;

/// The events of all tests, by their numbers.
pub const BEGIN: u32 = 0;
pub const END: u32 = 1;
pub const START: u32 = 2;
pub const FINISH: u32 = 3;
pub const TICK: u32 = 4;
const MESSAGES: [&str; 5] = [
    "begin job $n",
    "end job $n",
    "start call $id",
    "finish call $id",
    "tick $n",
];

/// Their definitions.
pub fn definitions() -> TestDefinitions {
    TestDefinitions::of(&MESSAGES)
}

/// An event, or a look at the clock.
#[derive(Debug, Clone)]
pub enum TestStep {
    Event(Event),
    Tick(u64),
}

/// What a condition fires at these steps.
pub fn fired(condition: &str, hold: u64, wanted: &Query, steps: &[TestStep]) -> Vec<Firing> {
    let (source, conditions) = (
        definitions(),
        [Condition::parse(condition).expect(condition)],
    );
    let mut triggers = Triggers::new(&conditions, wanted, &source).holding(hold);
    let mut all = Vec::new();
    for step in steps {
        let mut tell = |one: Firing| all.push(one);
        match step {
            TestStep::Event(event) => triggers.add(event, &mut tell),
            TestStep::Tick(now) => triggers.tick(*now, &mut tell),
        }
    }
    all
}

#[test]
fn a_gap_before_an_event_without_a_time_is_a_gap() {
    let second = 1_000_000_000;
    let steps = |missed: u64| {
        let unknown = Event {
            missed,
            ..event(TICK, 1, 0, 0)
        };
        [
            TestStep::Event(event(BEGIN, 1, second, 1)),
            TestStep::Event(unknown),
            TestStep::Event(event(END, 1, 3 * second, 1)),
        ]
    };
    let all = Query::default();
    // What began is still open, or nobody knows.
    assert_eq!(fired("span t.job > 1s", 0, &all, &steps(0)).len(), 1);
    assert_eq!(fired("span t.job > 1s", 0, &all, &steps(7)).len(), 0);
}
