//! The clock of a log's machine, as it was compared with the clock of another one, the reference.
//!
//! A comparison says what the reference showed at a moment, and how exactly that is known. Between
//! two comparisons the difference of the clocks is taken to change evenly, and behind the last one
//! to stay. What may be wrong with that is part of the error: a clock that the system steers runs
//! at most 500 ppm too fast or too slow (MAXFREQ of Linux), and one that was compared before and
//! after an event keeps its rate to 10 ppm meanwhile.

use elsa::sync::FrozenVec;
use timeline::{ClockStep, Event};
use timeline_archive::ClockComparison;
use timeline_search::Query;

/// How much a clock may go wrong beyond the first and the last comparison, in millionths.
const BEYOND: u64 = 500;
/// The same between two comparisons, from the nearer one.
const BETWEEN: u64 = 10;

/// How the times of a log are compared with those of the others that it is merged with.
pub enum ClockRelation {
    /// They are of one clock, or of the reference.
    Same,
    /// The clock of its machine was compared with the reference.
    Compared(Box<HostClock>),
    /// Nobody has compared them.
    Unknown,
}

/// The clock of a machine, compared with the reference. There is at least one comparison.
pub struct HostClock {
    /// By ticks.
    points: Vec<ComparedPoint>,
    /// When the clock was set: the ticks, and by how much.
    steps: Vec<(u64, i64)>,
    /// Least and most that is added to a time.
    reach: (i64, i64),
    /// Queries of which the times are those of this clock.
    queries: FrozenVec<Box<Query>>,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ComparedPoint {
    ticks: u64,
    /// The time by this clock, as if it had always been as it was set last.
    unix: i64,
    /// What is added to that.
    offset: i64,
    error: u64,
}

impl HostClock {
    /// Of a ring whose clock was set in these steps. `None` if no comparison can be used.
    pub fn new(comparisons: &[ClockComparison], steps: &[ClockStep]) -> Option<HostClock> {
        let steps = steps.iter().map(|step| (step.ticks, step.nanos()));
        let mut clock = HostClock {
            points: Vec::new(),
            steps: steps.collect(),
            reach: (0, 0),
            queries: FrozenVec::new(),
        };
        let points = comparisons.iter().filter_map(|one| clock.point(one));
        let mut points: Vec<_> = points.collect();
        points.sort_by_key(|point| point.ticks);
        for point in points {
            clock.add(point);
        }
        let offsets = clock.points.iter().map(|point| point.offset);
        let (least, most) = (offsets.clone().min()?, offsets.max()?);
        let (mut shift, mut shifts) = (0_i64, (0, 0));
        for (_, step) in clock.steps.iter().rev() {
            shift = shift.saturating_add(*step);
            shifts = (shift.min(shifts.0), shift.max(shifts.1));
        }
        clock.reach = (
            least.saturating_add(shifts.0),
            most.saturating_add(shifts.1),
        );
        Some(clock)
    }

    fn point(&self, one: &ClockComparison) -> Option<ComparedPoint> {
        let ticks = one.ticks?;
        let unix = self.even(ticks, one.unix_nanos?);
        let reference = i64::try_from(one.reference_nanos?).ok()?;
        Some(ComparedPoint {
            ticks,
            unix,
            offset: reference.checked_sub(unix)?,
            error: one.error?,
        })
    }

    /// Adds a point behind the others. Of two that are too close to tell a rate, the better one
    /// stays.
    fn add(&mut self, point: ComparedPoint) {
        if let Some(last) = self.points.last_mut() {
            let apart = point.unix.saturating_sub(last.unix);
            let errors = point.error.saturating_add(last.error);
            if apart <= 0 || (apart as u64) < errors.saturating_mul(10) {
                if point.error <= last.error {
                    *last = point;
                }
                return;
            }
        }
        self.points.push(point);
    }

    /// A time by this clock, as if it had always been as it was set last.
    fn even(&self, ticks: u64, unix: u64) -> i64 {
        let unix = i64::try_from(unix).unwrap_or(i64::MAX);
        let later = self
            .steps
            .iter()
            .filter(|(at, _)| ticks != 0 && *at > ticks);
        later.fold(unix, |unix, (_, step)| unix.saturating_add(*step))
    }

    /// The time of the reference at these ticks (0 if they are not known) and this time of this
    /// clock, and by how much that may be wrong in either direction. All in nanoseconds.
    pub fn reference_time(&self, ticks: u64, unix: u64) -> (u64, u64) {
        let unix = self.even(ticks, unix);
        let is_before = |point: &ComparedPoint| match ticks {
            0 => point.unix <= unix,
            _ => point.ticks <= ticks,
        };
        let behind = self.points.partition_point(is_before);
        let before = behind.checked_sub(1).map(|before| &self.points[before]);
        let (offset, error) = match (before, self.points.get(behind)) {
            (Some(first), Some(last)) => between(first, last, unix),
            (Some(only), None) | (None, Some(only)) => (
                only.offset,
                only.error.saturating_add(drift(unix, only.unix, BEYOND)),
            ),
            (None, None) => (0, u64::MAX),
        };
        let time = unix.saturating_add(offset).max(0);
        (time as u64, error)
    }

    /// What the last comparison says: what is added to a time, and by how much that may be wrong.
    pub fn last(&self) -> Option<(i64, u64)> {
        let last = self.points.last()?;
        Some((last.offset, last.error))
    }

    /// Gives an event the time of the reference. Returns by how much that may be wrong; `None` if
    /// the event has no time.
    pub fn correct(&self, event: &mut Event) -> Option<u64> {
        let (time, error) = self.reference_time(event.ticks, event.time?.get());
        event.time = time.max(1).try_into().ok();
        Some(error)
    }

    /// A query whose times are those of the reference, for events with the times of this clock.
    /// Some of these events may be a little outside.
    pub fn locally<'a>(&'a self, query: &'a Query) -> &'a Query {
        let (least, most) = self.reach;
        self.queries.push_get(Box::new(Query {
            since: query.since.map(|since| less(since, most)),
            until: query.until.map(|until| less(until, least)),
            ..query.clone()
        }))
    }
}

/// The difference at a time between two points, and by how much it may be wrong.
fn between(first: &ComparedPoint, last: &ComparedPoint, unix: i64) -> (i64, u64) {
    let whole = last.unix.saturating_sub(first.unix).max(1);
    let since = unix.saturating_sub(first.unix).clamp(0, whole);
    let moved = i128::from(last.offset) - i128::from(first.offset);
    let errors = first.error.saturating_add(last.error);
    let nearer = match since <= whole / 2 {
        true => first,
        false => last,
    };
    let likely = errors.saturating_add(millionths(whole as u64, BEYOND));
    let moves = moved.unsigned_abs();
    if moves > u128::from(likely) {
        // One of the clocks was set in between, and nobody knows when.
        let moves = u64::try_from(moves).unwrap_or(u64::MAX);
        return (nearer.offset, nearer.error.saturating_add(moves));
    }
    let part = moved * i128::from(since) / i128::from(whole);
    let error = first.error.max(last.error);
    let error = error.saturating_add(drift(unix, nearer.unix, BETWEEN));
    (first.offset.saturating_add(part as i64), error)
}

/// How far a clock may drift from one time to another.
fn drift(one: i64, other: i64, rate: u64) -> u64 {
    millionths(one.abs_diff(other), rate)
}

fn millionths(nanos: u64, rate: u64) -> u64 {
    let share = u128::from(nanos) * u128::from(rate) / 1_000_000;
    u64::try_from(share).unwrap_or(u64::MAX)
}

/// A time less a difference of either sign.
fn less(time: u64, difference: i64) -> u64 {
    match difference >= 0 {
        true => time.saturating_sub(difference.unsigned_abs()),
        false => time.saturating_add(difference.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;
    /// Any moment: 2025.
    const NOW: u64 = 1_750_000_000 * SECOND;

    /// With a tick for each nanosecond.
    fn comparison(unix: u64, offset: i64, error: u64) -> ClockComparison {
        ClockComparison {
            ticks: Some(unix - NOW),
            unix_nanos: Some(unix),
            reference_nanos: Some(unix.checked_add_signed(offset).unwrap()),
            error: Some(error),
            ..ClockComparison::default()
        }
    }

    fn at(clock: &HostClock, unix: u64) -> (i64, u64) {
        let (time, error) = clock.reference_time(unix - NOW, unix);
        (time as i64 - unix as i64, error)
    }

    #[test]
    fn the_difference_changes_evenly_between_comparisons_and_stays_beyond() {
        let [first, last] = [NOW + 10 * SECOND, NOW + 20 * SECOND];
        let all = [
            comparison(first, 1_000_000, 50_000),
            comparison(last, 1_100_000, 80_000),
        ];
        let clock = HostClock::new(&all, &[]).unwrap();
        assert_eq!(at(&clock, first), (1_000_000, 80_000));
        assert_eq!(at(&clock, NOW + 15 * SECOND), (1_050_000, 80_000 + 50_000));
        assert_eq!(at(&clock, last), (1_100_000, 80_000));
        assert_eq!(
            at(&clock, NOW + 22 * SECOND),
            (1_100_000, 80_000 + 1_000_000)
        );
        assert_eq!(
            at(&clock, NOW + 8 * SECOND),
            (1_000_000, 50_000 + 1_000_000)
        );
        // Without ticks, by the time.
        let (time, _) = clock.reference_time(0, NOW + 15 * SECOND);
        assert_eq!(time, NOW + 15 * SECOND + 1_050_000);
    }

    #[test]
    fn a_clock_that_was_set_at_an_unknown_time_is_as_wrong_as_it_was_set() {
        let [first, last] = [NOW + 10 * SECOND, NOW + 20 * SECOND];
        let all = [
            comparison(first, 0, 1_000),
            comparison(last, 3_600 * SECOND as i64, 1_000),
        ];
        let clock = HostClock::new(&all, &[]).unwrap();
        let (offset, error) = at(&clock, NOW + 14 * SECOND);
        assert_eq!((offset, error), (0, 1_000 + 3_600 * SECOND));
        assert_eq!(at(&clock, NOW + 16 * SECOND).0, 3_600 * SECOND as i64);
    }

    /// An hour ahead until it was set back, which the ring has noticed.
    #[test]
    fn a_step_of_the_clock_moves_nothing() {
        let hour = 3_600 * SECOND;
        let step = ClockStep {
            ticks: 5 * SECOND,
            after_ticks: 5 * SECOND,
            after: NOW + 5 * SECOND + hour,
            before: NOW + 5 * SECOND + hour,
            unix: NOW + 5 * SECOND,
        };
        let all = [comparison(NOW + 10 * SECOND, 7, 1_000)];
        let clock = HostClock::new(&all, &[step]).unwrap();
        let (time, _) = clock.reference_time(4 * SECOND, NOW + 4 * SECOND + hour);
        assert_eq!(time, NOW + 4 * SECOND + 7);
        let (time, _) = clock.reference_time(6 * SECOND, NOW + 6 * SECOND);
        assert_eq!(time, NOW + 6 * SECOND + 7);
        let query = Query {
            since: Some(NOW + 4 * SECOND),
            until: Some(NOW + 6 * SECOND),
            ..Query::default()
        };
        let own = clock.locally(&query);
        assert!(own.since <= Some(NOW + 4 * SECOND - 7));
        assert!(own.until >= Some(NOW + 6 * SECOND + hour - 7));
    }

    #[test]
    fn nothing_is_known_without_a_whole_comparison() {
        let mut one = comparison(NOW, 5, 5);
        one.error = None;
        assert!(HostClock::new(&[one], &[]).is_none());
        assert!(HostClock::new(&[], &[]).is_none());
    }

    proptest! {
        /// A true clock, compared at some times with some delay, is found again within the error.
        #[test]
        fn the_true_time_is_within_the_error(
            offset in -1_000_000_000_000_i64..1_000_000_000_000,
            rate in -400_i64..400,
            comparisons in prop::collection::vec(
                (1..10_000_u64, 0..1_000_000_u64, -100..=100_i64), 1..20,
            ),
            times in prop::collection::vec(0..200_000_u64, 1..50),
        ) {
            // A reference that runs `rate` millionths faster.
            let truth = |unix: u64| {
                let since = (unix - NOW) as i64;
                unix as i64 + offset + (i128::from(since) * i128::from(rate) / 1_000_000) as i64
            };
            let (mut at, mut all) = (NOW, Vec::new());
            for (millis, error, share) in comparisons {
                at += millis * 1_000_000;
                let wrong = error as i64 * share / 100;
                all.push(ClockComparison {
                    reference_nanos: Some((truth(at) + wrong) as u64),
                    ..comparison(at, 0, error)
                });
            }
            let clock = HostClock::new(&all, &[]).unwrap();
            let mut last = 0;
            let mut times = times;
            times.sort_unstable();
            for millis in times {
                let unix = NOW + millis * 1_000_000;
                let (time, error) = clock.reference_time(unix - NOW, unix);
                prop_assert!((time as i64).abs_diff(truth(unix)) <= error, "{time} {error}");
                prop_assert!(time >= last, "an order is kept");
                last = time;
                let query = Query { since: Some(time), until: Some(time + 1), ..Query::default() };
                let own = clock.locally(&query);
                prop_assert!(own.since.unwrap() <= unix && unix < own.until.unwrap());
            }
        }

        #[test]
        fn any_numbers_are_taken(
            numbers in prop::collection::vec(any::<[Option<u64>; 4]>(), 0..6),
            steps in prop::collection::vec(any::<[u64; 3]>(), 0..4),
            ticks: u64,
            unix: u64,
        ) {
            let all: Vec<_> = numbers.iter().map(|[ticks, unix, reference, error]| ClockComparison {
                ticks: *ticks,
                unix_nanos: *unix,
                reference_nanos: *reference,
                error: *error,
                ..ClockComparison::default()
            }).collect();
            let steps: Vec<_> = steps.iter().map(|[ticks, before, unix]| ClockStep {
                ticks: *ticks,
                after_ticks: *ticks,
                after: *before,
                before: *before,
                unix: *unix,
            }).collect();
            if let Some(clock) = HostClock::new(&all, &steps) {
                clock.reference_time(ticks, unix);
                let query = Query { since: Some(unix), until: Some(ticks), ..Query::default() };
                clock.locally(&query);
            }
        }
    }
}
