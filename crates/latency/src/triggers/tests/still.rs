//! Tests what still holds of what has fired.

use timeline_search::Query;

use super::{BEGIN, END, FINISH, START, TICK, definitions, event};
use crate::triggers::{Condition, Firing, FiringValue, Triggers};

const MILLISECOND: u64 = 1_000_000;
const START_TIME: u64 = 1_000 * MILLISECOND;

/// A stream of events and looks at the clock, at so many milliseconds.
struct Stream<'a> {
    triggers: Triggers<'a>,
    fired: Vec<Firing>,
}

impl Stream<'_> {
    fn event(&mut self, id: u32, thread: u32, at: u64, key: i64) {
        let event = event(id, thread, START_TIME + at * MILLISECOND, key);
        self.triggers.add(&event, &mut |one| self.fired.push(one));
    }

    fn tick(&mut self, at: u64) {
        let now = START_TIME + at * MILLISECOND;
        self.triggers.tick(now, &mut |one| self.fired.push(one));
    }

    /// What the firing of this number is by then, in milliseconds; or its rate.
    fn still(&self, number: usize, at: u64) -> Option<f64> {
        let now = START_TIME + at * MILLISECOND;
        let still = self.triggers.still(&self.fired[number], now)?;
        assert_eq!(
            (still.time, still.condition),
            (now, self.fired[number].condition)
        );
        assert_eq!(
            (&still.name, still.begin),
            (&self.fired[number].name, self.fired[number].begin)
        );
        match still.seen {
            FiringValue::Nanoseconds(nanos) => Some(nanos as f64 / MILLISECOND as f64),
            FiringValue::PerSecond(rate) => Some(rate),
            FiringValue::Event => panic!("an event lasts"),
        }
    }
}

/// Has a stream with one condition.
fn watched(condition: &str, hold: u64, check: impl FnOnce(&mut Stream<'_>)) {
    let (source, all) = (definitions(), Query::default());
    let conditions = [Condition::parse(condition).expect(condition)];
    let triggers = Triggers::new(&conditions, &all, &source).holding(hold * MILLISECOND);
    let mut stream = Stream {
        triggers,
        fired: Vec::new(),
    };
    check(&mut stream);
}

#[test]
fn a_span_holds_as_long_as_it_is_open() {
    watched("span t.job > 1ms", 0, |stream| {
        stream.event(BEGIN, 1, 0, 0);
        stream.event(BEGIN, 2, 1, 0);
        stream.tick(5);
        assert_eq!(stream.fired.len(), 2);
        assert_eq!(
            [stream.still(0, 9), stream.still(1, 9)],
            [Some(9.0), Some(8.0)]
        );
        stream.event(END, 1, 10, 0);
        assert_eq!(
            [stream.still(0, 11), stream.still(1, 11)],
            [None, Some(10.0)]
        );
        // Another one of the same thread is another one.
        stream.event(BEGIN, 1, 12, 0);
        assert_eq!(stream.still(0, 13), None);
        stream.event(END, 1, 15, 0);
        assert_eq!(
            (stream.fired.len(), stream.still(2, 16)),
            (3, None),
            "it is over"
        );
    });
    watched(
        "span t.start_call..t.finish_call by id > 1ms",
        0,
        |stream| {
            stream.event(START, 1, 0, 7);
            stream.event(START, 1, 0, 8);
            stream.tick(3);
            assert_eq!(
                [stream.still(0, 4), stream.still(1, 4)],
                [Some(4.0), Some(4.0)]
            );
            let of_7 =
                usize::from(stream.fired[1].key == Some(timeline::internal::SpanKey::Number(7)));
            stream.event(FINISH, 2, 5, 7);
            assert_eq!(
                [stream.still(of_7, 6), stream.still(1 - of_7, 6)],
                [None, Some(6.0)]
            );
        },
    );
}

#[test]
fn what_lasts_holds_until_it_does_not() {
    watched("missing t.tick for 2ms", 1, |stream| {
        stream.event(TICK, 1, 0, 0);
        stream.tick(3);
        assert_eq!((stream.fired.len(), stream.still(0, 9)), (1, Some(9.0)));
        stream.event(TICK, 1, 10, 0);
        assert_eq!(stream.still(0, 12), None);
    });
    watched("rate(t.tick, 10ms) >= 200/s", 0, |stream| {
        stream.tick(0);
        (11..14).for_each(|at| stream.event(TICK, 1, at, 0));
        stream.tick(15);
        assert_eq!((stream.fired.len(), stream.still(0, 15)), (1, Some(300.0)));
        stream.tick(40);
        assert_eq!(stream.still(0, 40), None);
    });
    watched("event t.tick", 0, |stream| {
        stream.event(TICK, 1, 0, 0);
        assert_eq!((stream.fired.len(), stream.still(0, 0)), (1, None));
    });
}

/// Ends the stream, and goes on to the end of the last windows. Returns the end, in milliseconds.
fn end(stream: &mut Stream<'_>) -> u64 {
    let end = stream.triggers.end(&mut |one| stream.fired.push(one));
    stream
        .triggers
        .advance(end, &mut |one| stream.fired.push(one));
    (end - START_TIME) / MILLISECOND
}

#[test]
fn the_last_windows_are_judged_and_none_after_them() {
    for (condition, hold, times) in [
        ("rate(t.tick, 100ms) > 40/s", 0, &[110][..]),
        ("rate(t.tick, 100ms) > 50/s", 0, &[]),
        // Until the first of them leaves the window.
        ("rate(t.tick, 100ms) > 40/s", 90, &[200]),
        ("rate(t.tick, 100ms) > 40/s", 100, &[]),
        // Nobody knows what came next.
        ("rate(t.tick, 100ms) < 40/s", 0, &[]),
        ("missing t.tick for 50ms", 0, &[]),
        ("max(t.job, 100ms) > 3ms", 0, &[110]),
        ("p100(t.job, 100ms) >= 4ms", 0, &[110]),
        ("max(t.job, 100ms) > 4ms", 0, &[]),
    ] {
        watched(condition, hold, |stream| {
            stream.event(BEGIN, 1, 101, 0);
            for at in 101..=105 {
                stream.event(TICK, 1, at, 0);
            }
            stream.event(END, 1, 105, 0);
            assert!(stream.fired.is_empty(), "{condition}");
            let end = end(stream);
            let found = stream.fired.iter().map(|one| one.time - START_TIME);
            let found: Vec<u64> = found.map(|time| time / MILLISECOND).collect();
            assert_eq!(found, times, "{condition} {hold}");
            // Time goes on, and tells nothing.
            stream.tick(end + 1000);
            assert_eq!(stream.fired.len(), times.len(), "{condition} {hold}");
            for number in 0..times.len() {
                assert_eq!(stream.still(number, end + 1), None);
            }
        });
    }
}

#[test]
fn what_held_at_the_end_holds_in_the_last_windows_only() {
    watched("rate(t.tick, 100ms) > 10/s", 0, |stream| {
        stream.event(TICK, 1, 101, 0);
        stream.event(TICK, 1, 102, 0);
        let last = stream.triggers.end(&mut |_| {});
        assert_eq!((last - START_TIME) / MILLISECOND, 200);
        stream.tick(150);
        assert_eq!(stream.still(0, 150), Some(20.0));
        stream.tick(250);
        assert_eq!(stream.still(0, 200), Some(20.0));
        assert_eq!(stream.still(0, 201), None);
    });
}
