//! Tests of stretches: steps, slewing, gaps, and what cannot be.

use proptest::prelude::*;

use super::*;

/// Three ticks to the nanosecond.
const RATE: TickRate = TickRate(3_000_000_000);
const SECOND: u64 = 1_000_000_000;
const HOUR: i64 = 3_600_000_000_000;
const START: u64 = 1_700_000_000 * SECOND;

/// A clock of which somebody says how fast it runs and when it is set.
struct Clock {
    now: u64,
    unix: i128,
    /// Nanoseconds in 2^-32 that it runs ahead in each nanosecond.
    ahead: i128,
    /// By how much it is ahead of CLOCK_MONOTONIC, if that can be read.
    offset: Option<u64>,
    truth: Vec<(u64, u64)>,
    all: Vec<Stretch>,
    seen: u64,
}

impl Clock {
    fn new() -> Clock {
        Clock::beside(None)
    }

    /// One that is ahead of CLOCK_MONOTONIC by so much, if that can be read.
    fn beside(offset: Option<u64>) -> Clock {
        let mut clock = Clock {
            now: 5 * SECOND,
            unix: i128::from(START) << 32,
            ahead: 0,
            offset,
            truth: Vec::new(),
            all: Vec::new(),
            seen: 0,
        };
        let before = clock.look();
        clock.pass(200_000);
        clock
            .all
            .extend(Stretch::first(Some(before), clock.look(), RATE));
        clock
    }

    fn unix(&self) -> u64 {
        (self.unix >> 32) as u64
    }

    fn look(&self) -> ClockReading {
        ClockReading {
            ticks: self.now,
            realtime: self.unix(),
            offset: self.offset,
        }
    }

    fn pass(&mut self, nanos: u64) {
        self.now += 3 * nanos;
        self.unix += (i128::from(nanos) << 32) + i128::from(nanos) * self.ahead;
    }

    fn set(&mut self, by: i64) {
        self.unix += i128::from(by) << 32;
        self.offset = self.offset.map(|offset| offset.wrapping_add(by as u64));
    }

    /// Logs an event.
    fn log(&mut self) {
        self.truth.push((self.now, self.unix()));
    }

    /// What a writer does at a refill.
    fn check(&mut self) {
        let last = *self.all.last().expect("a first one");
        match last.next(self.look(), self.seen, RATE) {
            Some(next) => self.all.push(next),
            None if self.now >= last.from && last.holds(self.look(), RATE) => self.seen = self.now,
            None => {}
        }
    }

    fn course(&self) -> Course {
        Course::new(RATE, self.all.clone())
    }

    /// The largest error of an event that does not lie between a step and where it was noticed.
    fn worst(&self) -> u64 {
        let course = self.course();
        let steps = course.steps();
        let is_sure = |ticks: &u64| {
            !steps
                .iter()
                .any(|s| (s.after_ticks..s.ticks).contains(ticks))
        };
        let sure = self.truth.iter().filter(|(ticks, _)| is_sure(ticks));
        let error = |(ticks, unix): &(u64, u64)| course.unix_nanos(*ticks).unwrap().abs_diff(*unix);
        sure.map(error).max().unwrap_or(0)
    }

    /// Logs for so many milliseconds, with a look at the clocks every two.
    fn run(&mut self, milliseconds: u64) {
        for _ in 0..milliseconds {
            self.pass(500_000);
            self.log();
            self.pass(500_000);
            if self.now.is_multiple_of(2) {
                self.check();
            }
        }
    }
}

#[test]
fn a_step_is_found_where_it_is() {
    for by in [HOUR, -HOUR, 20_000_000, -20_000_000] {
        let mut clock = Clock::new();
        clock.run(3_000);
        clock.set(by);
        clock.run(3_000);
        let steps = clock.course().steps();
        let [step] = steps[..] else {
            panic!("{steps:?}");
        };
        assert!(step.nanos().abs_diff(by) < 1_000, "{}", step.nanos());
        assert!(step.ticks - step.after_ticks < RATE.ticks(10_000_000));
        assert!(clock.worst() < 1_000, "{}", clock.worst());
    }
}

/// Between the look that adds a stretch and its first ticks, in which others look as well.
#[test]
fn a_step_right_behind_a_look_is_in_doubt_from_there_on() {
    for by in [HOUR, -HOUR, 20_000_000, -20_000_000] {
        for offset in [None, Some(START - HOUR as u64)] {
            let mut clock = Clock::beside(offset);
            clock.run(6);
            let count = clock.all.len();
            while clock.all.len() == count {
                clock.pass(100_000);
                clock.check();
            }
            clock.pass(50_000);
            clock.set(by);
            for _ in 0..4 {
                clock.pass(50_000);
                clock.log();
                clock.check();
            }
            clock.run(100);
            assert_eq!(clock.course().steps().len(), 1);
            assert!(clock.worst() < 1_000, "{by} {}", clock.worst());
        }
    }
}

#[test]
fn many_steps_are_found() {
    let mut clock = Clock::new();
    for by in [
        50_000_000,
        -30_000_000,
        3_000_000,
        SECOND as i64,
        -(SECOND as i64),
    ] {
        clock.run(20);
        clock.set(by);
    }
    clock.run(100);
    assert_eq!(clock.course().steps().len(), 5);
    assert!(clock.worst() < 1_000, "{}", clock.worst());
}

#[test]
fn a_slewing_clock_is_followed_without_steps_and_never_goes_back() {
    let mut clock = Clock::new();
    for parts_per_million in [0, 500, -500, 20, 80_000, 0] {
        clock.ahead = (parts_per_million << 32) / 1_000_000;
        clock.run(5_000);
    }
    assert!(clock.course().steps().is_empty());
    assert!(clock.worst() < 800_000, "{}", clock.worst());
    let course = clock.course();
    let times = clock
        .truth
        .iter()
        .map(|(ticks, _)| course.unix_nanos(*ticks).unwrap());
    assert!(times.is_sorted());
    assert!(clock.all.len() < 100, "{}", clock.all.len());
}

#[test]
fn a_steady_clock_needs_few_stretches() {
    let mut clock = Clock::new();
    clock.ahead = (30 << 32) / 1_000_000;
    for _ in 0..3_600 {
        clock.pass(SECOND);
        clock.log();
        clock.check();
    }
    assert!(clock.all.len() < 100, "{}", clock.all.len());
    assert!(clock.worst() < 40_000, "{}", clock.worst());
}

#[test]
fn what_nobody_looked_at_is_between_what_is_known() {
    // For hours, the clock runs fast by a little, and then it is not set.
    let mut clock = Clock::new();
    clock.ahead = (100 << 32) / 1_000_000;
    for _ in 0..300 {
        clock.pass(60 * SECOND);
        clock.log();
    }
    clock.check();
    assert!(clock.course().steps().is_empty());
    assert!(clock.worst() < 1_000_000, "{}", clock.worst());
    // It is set somewhere in hours.
    let known = clock.truth.len();
    for minute in 0..100 {
        clock.pass(60 * SECOND);
        clock.log();
        if minute == 50 {
            clock.set(HOUR);
        }
    }
    clock.check();
    let course = clock.course();
    let [step] = course.steps()[..] else {
        panic!("{:?}", course.steps());
    };
    assert!(step.nanos().abs_diff(HOUR) < SECOND);
    // What is behind the stretches that are known is shown by the clock as it was.
    for (ticks, unix) in &clock.truth[known..known + 50] {
        let error = course.unix_nanos(*ticks).unwrap().abs_diff(*unix);
        assert!(error < SECOND, "{error}");
    }
}

/// CLOCK_MONOTONIC tells a small step from a clock that runs a little fast or slow for long.
#[test]
fn a_small_step_in_a_long_time_is_one() {
    for by in [7_000_000, -7_000_000, 2 * SECOND as i64] {
        for parts_per_million in [0_i64, 1, -1, 20, -20, 300, -300] {
            let drift = parts_per_million.unsigned_abs() * 6_000_000;
            let is_clear =
                drift < by.unsigned_abs() / if by.unsigned_abs() < SECOND { 1 } else { 2 };
            let mut clock = Clock::beside(Some(START - HOUR as u64));
            clock.run(3_000);
            clock.ahead = (i128::from(parts_per_million) << 32) / 1_000_000;
            for minute in 0..100 {
                clock.pass(60 * SECOND);
                clock.log();
                if minute == 49 && is_clear {
                    clock.set(by);
                }
            }
            clock.check();
            clock.run(100);
            let course = clock.course();
            let steps = course.steps();
            assert_eq!(steps.len(), usize::from(is_clear), "{by} {steps:?}");
            for step in steps {
                assert!(step.nanos().abs_diff(by) <= drift + 1_000, "{by} {step:?}");
            }
        }
    }
}

/// A machine that is suspended: CLOCK_MONOTONIC stands still, and the wall clock is set to what it
/// would be. If ticks go on, nothing has happened.
#[test]
fn a_suspended_machine_is_no_step_if_ticks_go_on() {
    let mut clock = Clock::beside(Some(START - HOUR as u64));
    clock.run(3_000);
    clock.pass(HOUR as u64);
    clock.offset = clock.offset.map(|offset| offset + HOUR as u64);
    clock.run(3_000);
    assert!(clock.course().steps().is_empty());
    assert!(clock.worst() < 1_000_000, "{}", clock.worst());
}

/// By less than a step, in a moment. It is no clock that runs fast or slow.
#[test]
fn a_clock_that_is_set_by_little_runs_no_faster() {
    for by in [-900_000, 900_000, -990_000] {
        for milliseconds in [12, 1_000] {
            let mut clock = Clock::beside(Some(START - HOUR as u64));
            clock.run(milliseconds);
            clock.set(by);
            clock.run(2);
            for _ in 0..10 {
                clock.pass(700_000_000);
                clock.log();
            }
            clock.check();
            assert!(clock.worst() < 1_000_000, "{by} {}", clock.worst());
        }
    }
}

/// Slewing ends while nobody looks: nothing was set.
#[test]
fn the_end_of_slewing_is_no_step() {
    for parts_per_million in [500, -500] {
        let mut clock = Clock::beside(Some(START - HOUR as u64));
        clock.ahead = (parts_per_million << 32) / 1_000_000;
        clock.run(12_000);
        clock.ahead = 0;
        clock.pass(30 * SECOND);
        clock.run(1_000);
        assert!(clock.course().steps().is_empty());
        let course = clock.course();
        let times = clock.truth.iter();
        let times = times.map(|(ticks, _)| course.unix_nanos(*ticks).unwrap());
        assert!(times.is_sorted());
        let (ticks, unix) = clock.truth.last().unwrap();
        assert!(course.unix_nanos(*ticks).unwrap().abs_diff(*unix) < 100_000);
    }
}

#[test]
fn what_is_known_once_stays() {
    let mut clock = Clock::new();
    let mut told = Vec::new();
    for by in [0, SECOND as i64, 0, -(SECOND as i64), 0] {
        clock.set(by);
        clock.ahead += (40 << 32) / 1_000_000;
        clock.run(700);
        // Later looks change nothing that lies before the lead of one that is added now.
        let course = clock.course();
        let events = &clock.truth[told.len()..];
        told.extend(events.iter().map(|(ticks, _)| course.unix_nanos(*ticks)));
        let all = clock
            .truth
            .iter()
            .map(|(ticks, _)| course.unix_nanos(*ticks));
        assert!(all.eq(told.iter().copied()));
    }
}

fn any_stretch() -> impl Strategy<Value = Stretch> {
    let word = || {
        prop_oneof![
            any::<u64>(),
            0..100_u64,
            (0..64_u32).prop_map(|bits| u64::MAX >> bits),
            START..START + 100 * SECOND,
        ]
    };
    let words = (word(), word(), word(), word(), word(), word());
    let of = |((a, b, c, d, e, f), offset)| Stretch {
        from: a,
        ticks: b,
        unix: c,
        nanos: d,
        realtime: e,
        seen: f,
        offset,
        ticket: 0,
    };
    (words, prop::option::of(word())).prop_map(of)
}

proptest! {
    /// Whatever stands in a file that is damaged.
    #[test]
    fn nothing_overflows(
        all in prop::collection::vec(any_stretch(), 0..8),
        rate in prop_oneof![Just(0), any::<u64>(), 100_000_000..10_000_000_000_u64],
        ticks in prop::collection::vec(any::<u64>(), 20),
        realtime in any::<u64>(),
        offset in any::<Option<u64>>(),
    ) {
        let rate = TickRate(rate);
        let course = Course::new(rate, all.clone());
        let near = all.iter().flat_map(|s| [s.from, s.from.wrapping_sub(1), s.end(), s.end() - 1]);
        for ticks in ticks.into_iter().chain(near) {
            let time = course.unix_nanos(ticks);
            if let Some(line) = course.interpolation(ticks) {
                prop_assert_eq!(line.unix_nanos(ticks), time);
            }
            for stretch in &all {
                let next = stretch.next(ClockReading { ticks, realtime, offset }, realtime, rate);
                prop_assert!(next.is_none_or(|next| next.is_credible(rate)));
            }
            Stretch::first(None, ClockReading { ticks, realtime, offset }, rate);
        }
        course.steps();
    }

    /// An interpolation tells the same times as the course, up to where it ends.
    #[test]
    fn interpolations_are_the_course(
        passed in prop::collection::vec((0..40_u64, -9..9_i64, -500..500_i128), 1..30),
        parts in prop::collection::vec(any::<u64>(), 40),
    ) {
        let mut clock = Clock::new();
        for (milliseconds, set, ahead) in passed {
            clock.ahead = (ahead << 32) / 1_000_000;
            clock.pass(milliseconds * milliseconds * milliseconds * 1_000_000);
            clock.set(set.pow(5) * 1_000_000);
            clock.check();
        }
        let course = clock.course();
        let all = parts.into_iter().map(|part| 4 * SECOND + part % (clock.now - 3 * SECOND));
        for ticks in all {
            if let Some(line) = course.interpolation(ticks) {
                for ticks in [ticks, line.ticks().start, line.ticks().end - 1] {
                    prop_assert_eq!(line.unix_nanos(ticks), course.unix_nanos(ticks));
                }
                prop_assert_eq!(line.unix_nanos(line.ticks().end), None);
            }
        }
    }
}
