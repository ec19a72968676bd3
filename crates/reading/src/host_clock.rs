//! The clock of a machine, as it was compared with the clock of another one, the reference.
//!
//! A comparison says what the reference showed at a moment, and how exactly that is known. Between
//! two comparisons the clocks are taken to run evenly. One of them may have been set or steered
//! meanwhile, at any moment between: so the error grows with the distance from the nearer
//! comparison, up to all by which the difference of the clocks has moved. Before the first
//! comparison and behind the last one, each clock may run wrong by what Linux steers at most.

use std::sync::Arc;

use elsa::sync::FrozenVec;
use timeline::{ClockStep, Event};
use timeline_archive::ClockComparison;
use timeline_search::Query;

/// How much two clocks may diverge beyond the first and the last comparison, in millionths: 500
/// (MAXFREQ of Linux) each.
const BEYOND: u64 = 1_000;
/// How much they may diverge and come back between two comparisons, from the nearer one.
const BETWEEN: u64 = 10;
/// How closely the times of a ring follow the clock of its machine, in ns: docs/format.md.
pub const RING: u64 = 20_000;
/// The newest steps of a clock that are looked at.
const MOST_STEPS: usize = 256;

/// How the times of a log are compared with those of the others that it is merged with.
pub enum ClockRelation {
    /// They are those of the reference.
    Same,
    /// The clock of its machine was compared with the reference.
    Compared(Box<LogClock>),
    /// Nobody has compared them.
    Unknown,
}

/// The clock of a machine, compared with the reference. There is at least one comparison.
pub struct HostClock {
    /// By ticks.
    points: Vec<ComparedPoint>,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedPoint {
    ticks: u64,
    /// The time by this clock, as if it had always been as it was set last.
    unix: i128,
    reference: i128,
    error: u64,
}

/// The steps of a clock while a ring lived.
pub struct ClockSteps {
    /// The ticks, and by how much it was set forward.
    steps: Vec<(u64, i128)>,
    /// Whether a step forward may be the time for which the machine was suspended, because the
    /// clock of the ticks stood still meanwhile.
    may_be_suspension: bool,
}

/// The clock of the machine of a log.
pub struct LogClock {
    host: Arc<HostClock>,
    steps: ClockSteps,
    /// Least and most that is added to a time.
    reach: (i128, i128),
    /// Queries of which the times are those of this clock.
    queries: FrozenVec<Box<Query>>,
}

impl ClockSteps {
    /// Those of a ring whose ticks are of this clock.
    pub fn new(steps: &[ClockStep], clock: Option<&str>) -> ClockSteps {
        let newest = steps.len().saturating_sub(MOST_STEPS);
        let steps = steps[newest..].iter();
        ClockSteps {
            steps: steps
                .map(|step| (step.ticks, step.nanos().into()))
                .collect(),
            may_be_suspension: clock != Some("tsc"),
        }
    }

    /// A time by this clock, as if it had always been as it was set last.
    fn even(&self, ticks: u64, unix: u64) -> i128 {
        let later = self
            .steps
            .iter()
            .filter(|(at, _)| ticks != 0 && *at > ticks);
        i128::from(unix) + later.map(|(_, step)| step).sum::<i128>()
    }

    /// By how much a time may be wrong if a step between these ticks was a suspension.
    fn doubt(&self, one: u64, other: u64) -> u64 {
        let (first, last) = (one.min(other), one.max(other));
        let between = self.steps.iter().filter(|(at, step)| {
            self.may_be_suspension && (first..last).contains(&at.saturating_sub(1)) && *step > 0
        });
        let all: i128 = between.map(|(_, step)| step).sum();
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

impl ComparedPoint {
    /// A comparison, if all of it is there.
    pub fn new(one: &ClockComparison, steps: &ClockSteps) -> Option<ComparedPoint> {
        let ticks = one.ticks?;
        let point = ComparedPoint {
            ticks,
            unix: steps.even(ticks, one.unix_nanos?),
            reference: one.reference_nanos?.into(),
            error: one.error?,
        };
        // Clocks that show another century are no clocks.
        let is_time = |nanos: i128| (0..1 << 62).contains(&nanos);
        (is_time(point.unix) && is_time(point.reference)).then_some(point)
    }

    /// What is added to a time of this clock.
    fn offset(&self) -> i128 {
        self.reference - self.unix
    }
}

impl HostClock {
    /// With these comparisons, of all rings of the machine. `None` if there are none.
    pub fn new(mut points: Vec<ComparedPoint>) -> Option<HostClock> {
        points.sort_by_key(|point| (point.ticks, point.error));
        let mut clock = HostClock { points: Vec::new() };
        points.into_iter().for_each(|point| clock.add(point));
        (!clock.points.is_empty()).then_some(clock)
    }

    /// Adds a point behind the others. Of two that agree, and are too close to tell a rate, the
    /// better one stays.
    fn add(&mut self, point: ComparedPoint) {
        if let Some(last) = self.points.last_mut() {
            let apart = (point.unix - last.unix).unsigned_abs();
            let errors = u128::from(point.error) + u128::from(last.error);
            let moved = (point.offset() - last.offset()).unsigned_abs();
            if point.ticks == last.ticks || (apart < 10 * errors && moved <= errors) {
                if point.error < last.error {
                    *last = point;
                }
                return;
            }
        }
        self.points.push(point);
    }

    /// By how much the two clocks moved between two comparisons at most, if that is more than they
    /// can drift and the comparisons can be wrong: one of them was set.
    fn jump(&self) -> Option<u64> {
        let jumps = self.points.windows(2).filter_map(|pair| {
            let (first, last) = (&pair[0], &pair[1]);
            let moved = (last.offset() - first.offset()).unsigned_abs();
            let drift = millionths((last.unix - first.unix).unsigned_abs(), BEYOND);
            let errors = first.error.saturating_add(last.error);
            (moved > errors.saturating_add(drift).into()).then_some(moved)
        });
        jumps
            .max()
            .map(|moved| u64::try_from(moved).unwrap_or(u64::MAX))
    }

    /// The time of the reference at these ticks (0 if they are not known) and at this even time of
    /// the clock, and by how much that may be wrong in either direction.
    fn reference_time(&self, ticks: u64, unix: i128, steps: &ClockSteps) -> (i128, u64) {
        let is_before = |point: &ComparedPoint| match ticks {
            0 => point.unix <= unix,
            _ => point.ticks <= ticks,
        };
        let behind = self.points.partition_point(is_before);
        let before = behind.checked_sub(1).map(|before| &self.points[before]);
        match (before, self.points.get(behind)) {
            (Some(first), Some(last)) => between(first, last, unix),
            (Some(only), None) | (None, Some(only)) => {
                let drift = millionths((unix - only.unix).unsigned_abs(), BEYOND);
                let doubt = steps.doubt(ticks, only.ticks);
                let error = only.error.saturating_add(drift).saturating_add(doubt);
                (only.offset() + unix, error)
            }
            (None, None) => (unix, u64::MAX),
        }
    }
}

/// The time of the reference at an even time between two points, and by how much it may be wrong.
fn between(first: &ComparedPoint, last: &ComparedPoint, unix: i128) -> (i128, u64) {
    let whole = (last.unix - first.unix).max(1);
    let since = (unix - first.unix).clamp(0, whole);
    let (nearer, farther) = (since.min(whole - since), since.max(whole - since));
    let moved = last.offset() - first.offset();
    let time = unix + first.offset() + moved * since / whole;
    let moved = moved.unsigned_abs().saturating_mul(farther.unsigned_abs()) / whole.unsigned_abs();
    let error = first.error.max(last.error);
    let error = error.saturating_add(u64::try_from(moved).unwrap_or(u64::MAX));
    let drift = millionths(nearer.unsigned_abs(), BETWEEN);
    (time, error.saturating_add(drift))
}

fn millionths(nanos: u128, rate: u64) -> u64 {
    let share = nanos.saturating_mul(rate.into()) / 1_000_000;
    u64::try_from(share).unwrap_or(u64::MAX)
}

impl LogClock {
    /// That of a log whose ring saw these steps.
    pub fn new(host: Arc<HostClock>, steps: ClockSteps) -> LogClock {
        let offsets = host.points.iter().map(ComparedPoint::offset);
        let (least, most) = (offsets.clone().min(), offsets.max());
        let (mut shift, mut shifts) = (0, (0, 0));
        for (_, step) in steps.steps.iter().rev() {
            shift += step;
            shifts = (shift.min(shifts.0), shift.max(shifts.1));
        }
        let reach = (least.unwrap_or(0) + shifts.0, most.unwrap_or(0) + shifts.1);
        LogClock {
            host,
            steps,
            reach,
            queries: FrozenVec::new(),
        }
    }

    /// What the last comparison says: what is added to a time, and by how much that may be wrong.
    pub fn last(&self) -> Option<(i64, u64)> {
        let last = self.host.points.last()?;
        Some((i64::try_from(last.offset()).ok()?, last.error))
    }

    /// By how much one of the clocks was set meanwhile, as far as that can be seen.
    pub fn jump(&self) -> Option<u64> {
        self.host.jump()
    }

    /// The time of the reference at these ticks (0 if they are not known) and this time of the log,
    /// and by how much that may be wrong in either direction. All in nanoseconds.
    fn reference_time(&self, ticks: u64, unix: u64) -> (u64, u64) {
        let even = self.steps.even(ticks, unix);
        let (time, error) = self.host.reference_time(ticks, even, &self.steps);
        match u64::try_from(time) {
            Ok(time) if time > 0 => (time, error.saturating_add(RING)),
            // It cannot be shown, so nothing is known.
            _ => (unix, u64::MAX),
        }
    }

    /// Gives an event the time of the reference. Returns its error; `None` if it has no time.
    pub fn correct(&self, event: &mut Event) -> Option<u64> {
        let (time, error) = self.reference_time(event.ticks, event.time?.get());
        event.time = time.try_into().ok();
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

/// A time less a difference of either sign.
fn less(time: u64, difference: i128) -> u64 {
    let time = i128::from(time) - difference;
    time.clamp(0, u64::MAX.into()) as u64
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

    fn log_clock(all: &[ClockComparison], steps: &[ClockStep]) -> Option<LogClock> {
        let steps = ClockSteps::new(steps, Some("tsc"));
        let points = all.iter().filter_map(|one| ComparedPoint::new(one, &steps));
        let host = HostClock::new(points.collect())?;
        Some(LogClock::new(Arc::new(host), steps))
    }

    /// What is added to a time, and the error without that of the ring.
    fn at(clock: &LogClock, unix: u64) -> (i64, u64) {
        let (time, error) = clock.reference_time(unix - NOW, unix);
        (time as i64 - unix as i64, error - RING)
    }

    #[test]
    fn the_difference_changes_evenly_between_comparisons_and_stays_beyond() {
        let [first, last] = [NOW + 10 * SECOND, NOW + 20 * SECOND];
        let all = [
            comparison(first, 1_000_000, 50_000),
            comparison(last, 1_100_000, 80_000),
        ];
        let clock = log_clock(&all, &[]).unwrap();
        // It may have moved right behind the first one, or right before the last one.
        assert_eq!(at(&clock, first), (1_000_000, 80_000 + 100_000));
        assert_eq!(
            at(&clock, NOW + 15 * SECOND),
            (1_050_000, 80_000 + 50_000 + 50_000)
        );
        assert_eq!(at(&clock, last), (1_100_000, 80_000));
        assert_eq!(
            at(&clock, NOW + 22 * SECOND),
            (1_100_000, 80_000 + 2_000_000)
        );
        assert_eq!(
            at(&clock, NOW + 8 * SECOND),
            (1_000_000, 50_000 + 2_000_000)
        );
        // Without ticks, by the time.
        let (time, _) = clock.reference_time(0, NOW + 15 * SECOND);
        assert_eq!(time, NOW + 15 * SECOND + 1_050_000);
    }

    #[test]
    fn a_clock_that_was_set_between_two_comparisons_may_be_as_wrong_as_it_was_set() {
        let [first, last] = [NOW + 10 * SECOND, NOW + 20 * SECOND];
        let hour = 3_600 * SECOND as i64;
        let all = [comparison(first, 0, 1_000), comparison(last, hour, 1_000)];
        let clock = log_clock(&all, &[]).unwrap();
        for since in 0..10 {
            let (offset, error) = at(&clock, first + since * SECOND);
            let truths = [0, hour];
            assert!(
                truths.iter().all(|truth| offset.abs_diff(*truth) <= error),
                "{since}"
            );
        }
        // An answer that took long, and says the same, hides nothing.
        let all = [
            comparison(first, 0, 50),
            comparison(first + SECOND, hour, 2 * SECOND),
        ];
        let clock = log_clock(&all, &[]).unwrap();
        assert!(at(&clock, first + 2 * SECOND).0 == hour);
    }

    #[test]
    fn what_may_have_been_a_suspension_makes_earlier_times_doubtful() {
        let hours = 8 * 3_600 * SECOND;
        let step = ClockStep {
            ticks: 5 * SECOND,
            after_ticks: 5 * SECOND,
            after: NOW + 5 * SECOND,
            before: NOW + 5 * SECOND,
            unix: NOW + 5 * SECOND + hours,
        };
        let all = [comparison(NOW + 10 * SECOND + hours, 0, 50)];
        let all = [ClockComparison {
            ticks: Some(10 * SECOND),
            ..all[0].clone()
        }];
        let steps = ClockSteps::new(&[step], Some("monotonic_raw"));
        let points = all
            .iter()
            .filter_map(|one| ComparedPoint::new(one, &steps))
            .collect();
        let clock = LogClock::new(Arc::new(HostClock::new(points).unwrap()), steps);
        let (_, error) = clock.reference_time(2 * SECOND, NOW + 2 * SECOND);
        assert!(error >= hours, "{error}");
        let (_, error) = clock.reference_time(6 * SECOND, NOW + 6 * SECOND + hours);
        assert!(error < SECOND, "{error}");
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
        let clock = log_clock(&all, &[step]).unwrap();
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
        assert!(log_clock(&[one], &[]).is_none());
        assert!(log_clock(&[], &[]).is_none());
    }

    proptest! {
        /// A true clock, compared at some times with some delay, is found again within the error.
        /// Also if it was set between two comparisons.
        #[test]
        fn the_true_time_is_within_the_error(
            offset in -1_000_000_000_000_i64..1_000_000_000_000,
            rate in -400_i64..400,
            comparisons in prop::collection::vec(
                (1..10_000_u64, 0..1_000_000_u64, -100..=100_i64), 1..20,
            ),
            times in prop::collection::vec(0..200_000_u64, 1..50),
            step in prop_oneof![Just(0), -5_000_000_000..5_000_000_000_i64],
            set in 0..100_000_u64,
        ) {
            let (rate, set) = (if step == 0 { rate } else { rate / 400 }, NOW + set * 1_000_000);
            // A reference that runs `rate` millionths faster, and is set at `set`. A step that a
            // drift undoes until the next comparison cannot be seen.
            let truth = |unix: u64| {
                let since = (unix - NOW) as i64;
                let drift = i128::from(since) * i128::from(rate) / 1_000_000;
                let step = if unix >= set { step } else { 0 };
                unix as i64 + offset + drift as i64 + step
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
            let clock = log_clock(&all, &[]).unwrap();
            let mut last = 0;
            let mut times = times;
            times.sort_unstable();
            for millis in times {
                let unix = NOW + millis * 1_000_000;
                let (time, error) = clock.reference_time(unix - NOW, unix);
                // Nobody can know what happened before the first and behind the last one.
                let ends = [NOW + all[0].ticks.unwrap(), at];
                if step == 0 || (ends[0]..=ends[1]).contains(&unix) {
                    prop_assert!((time as i64).abs_diff(truth(unix)) <= error, "{time} {error}");
                }
                prop_assert!(step < 0 || time >= last, "an order is kept");
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
            if let Some(clock) = log_clock(&all, &steps) {
                clock.reference_time(ticks, unix);
                let query = Query { since: Some(unix), until: Some(ticks), ..Query::default() };
                clock.locally(&query);
            }
        }
    }
}
