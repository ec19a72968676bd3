//! The course of the wall clock: for which ticks it shows which time.
//!
//! A *stretch* says how the wall clock runs over some ticks from a moment on. Whoever writes to a
//! timeline, or reads one that it may write to, compares the wall clock with the newest stretch now
//! and then, and adds another one if that has ended or does not fit any more. It never changes one
//! that is there. So the time of an event is fixed by the stretch in which it was logged, and is
//! the same for each reader at any time.
//!
//! A stretch that is added while the one before holds begins at the time that the former says, and
//! comes to the right time over its own length: so times never go back, and a slewing clock is
//! followed to some ten microseconds. If both differ by a millisecond, the clock was set: that is a
//! *step*, and the new stretch begins at the new time. It was not set if it is as far ahead of
//! CLOCK_MONOTONIC as before, which is slewed like it, and never set. Nobody knows when exactly the
//! clock was set. It was after the time at which somebody last saw the former stretch hold. What
//! was logged in between is shown by the clock as it was before.
//!
//! If nobody looked for longer than a stretch is sure, the clock ran evenly from the end of the
//! stretch to the begin of the next, unless that comparison says that it was set. Where the clocks
//! cannot be compared, it was set if it would need a rate that no clock has.
//!
//! **Why is a stretch not simply the way from one look at the clocks to the next?** Then the times
//! of the newest events would change with the next look: a recorder, a dump and a snapshot would
//! differ by some nanoseconds. And each look would have to be kept. A stretch that still fits needs
//! no other, so a few hundred of them last for hours.

use super::Interpolation;

/// How the wall clock runs over some ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// Its first ticks.
    pub from: u64,
    /// How many ticks it is sure of.
    pub ticks: u64,
    /// Nanoseconds since the epoch at `from`.
    pub unix: u64,
    /// Nanoseconds that pass in `ticks`.
    pub nanos: u64,
    /// Nanoseconds since the epoch at `from`, as the clocks were read.
    pub realtime: u64,
    /// The ticks at which the stretch before was last seen to hold.
    pub seen: u64,
    /// Nanoseconds by which the wall clock was ahead of CLOCK_MONOTONIC, in two's complement.
    pub offset: Option<u64>,
    /// The next ticket of a chunk when it was added.
    pub ticket: u64,
}

/// One look at the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReading {
    /// Ticks.
    pub ticks: u64,
    /// Nanoseconds since the epoch.
    pub realtime: u64,
    /// By how many of these it is ahead of CLOCK_MONOTONIC, in two's complement.
    pub offset: Option<u64>,
}

/// A moment at which the wall clock was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep {
    /// It was seen at these ticks, and times before them are those of the former clock.
    pub ticks: u64,
    /// It had not happened yet at these ticks.
    pub after_ticks: u64,
    /// Nanoseconds since the epoch at these.
    pub after: u64,
    /// Nanoseconds since the epoch at `ticks`, by the former clock.
    pub before: u64,
    /// The same by the clock that was set.
    pub unix: u64,
}

impl ClockStep {
    /// By how many nanoseconds the clock was set forward.
    pub fn nanos(&self) -> i64 {
        self.unix.wrapping_sub(self.before) as i64
    }
}

/// A clock that differs by so many nanoseconds was set.
const STEP: u64 = 1_000_000;
/// A clock that differs by so many is followed.
const TOLERANCE: u64 = 20_000;
/// The same where entries need more than half of all stretches that there is room for.
const ROUGH_TOLERANCE: u64 = 200_000;
/// A clock that is slewed usually changes its rate by no more than one part in so many.
const SLEWING: u64 = 512;
/// No clock is slewed by more than one part in so many.
const FASTEST_SLEWING: u64 = 8;
/// A machine is suspended for so many nanoseconds at least.
const SUSPENSION: u64 = 1_000_000_000;
/// A stretch is sure of so many times as many ticks as its rate was measured over.
const SURE: u64 = 8;
/// The shortest and the longest stretch, in nanoseconds.
const LENGTHS: [u64; 2] = [4_000_000, 512_000_000_000];
/// A stretch corrects an error over so many times as many nanoseconds.
const GENTLE: u64 = 32;

/// About how fast ticks pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TickRate(
    /// Ticks per second; 0 if they are not known.
    pub u64,
);

impl TickRate {
    /// About as many ticks as pass in these nanoseconds.
    pub fn ticks(self, nanos: u64) -> u64 {
        let ticks = u128::from(nanos) * u128::from(self.or_usual()) / 1_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    fn or_usual(self) -> u64 {
        match self.0 {
            0 => 1_000_000_000,
            known => known.min(1 << 40),
        }
    }

    /// Whether so many ticks can pass in so many nanoseconds.
    fn permits(self, ticks: u64, nanos: u64) -> bool {
        let (ticks, nanos) = (u128::from(ticks), u128::from(nanos));
        let [least, most] = match self.0 {
            // No invariant counter is slower, and none is faster.
            0 => [100_000_000, 10_000_000_000],
            known => [known - known / 8, known.saturating_add(known / 8)],
        };
        let is = |rate: u64| nanos * u128::from(rate);
        let ticks = ticks * 1_000_000_000;
        (is(least)..=is(most)).contains(&ticks)
    }

    /// How long before it begins a stretch is added at the latest: a reader that has looked at the
    /// stretches knows all that hold until then.
    pub fn lead(self) -> u64 {
        self.ticks(500_000)
    }
}

impl Stretch {
    /// Where it ends.
    pub fn end(&self) -> u64 {
        self.from.saturating_add(self.ticks)
    }

    /// The time where it ends.
    fn end_unix(&self) -> u64 {
        self.unix.saturating_add(self.nanos)
    }

    /// How many nanoseconds pass in these ticks, rounded down.
    fn nanos_in(&self, ticks: u64) -> u128 {
        u128::from(self.nanos) * u128::from(ticks) / u128::from(self.ticks.max(1))
    }

    /// Nanoseconds since the epoch, as if it went on without end.
    fn at(&self, ticks: u64) -> Option<u64> {
        let time = match ticks.checked_sub(self.from) {
            Some(since) => u128::from(self.unix) + self.nanos_in(since),
            None => u128::from(self.unix).checked_sub(self.nanos_in(self.from - ticks))?,
        };
        u64::try_from(time).ok()
    }

    /// The same for ticks from its first to some behind these.
    fn line(&self, ticks: u64) -> Option<Interpolation> {
        let since = ticks.checked_sub(self.from)?;
        let times = (since / self.ticks.max(1) + 1).checked_next_power_of_two()?;
        let end = self.from.checked_add(self.ticks.checked_mul(times)?)?;
        let unix = self.unix.checked_add(self.nanos.checked_mul(times)?)?;
        Interpolation::between((self.from, self.unix), (end, unix))
    }

    /// Whether it can be one of a clock with this rate.
    fn is_credible(&self, rate: TickRate) -> bool {
        self.from != 0
            && self.ticks != 0
            && self.ticks >> 62 == 0
            && self.from.checked_add(self.ticks).is_some()
            && self.unix.checked_add(self.nanos).is_some()
            && rate.permits(self.ticks, self.nanos)
    }

    /// Ticks at which the clocks were read when this was added, unless it was the first.
    fn earliest_look(&self, lead: u64) -> u64 {
        self.from.saturating_sub(lead)
    }

    /// Whether the clock still runs as this says, so that there is nothing to add.
    pub fn holds(&self, look: ClockReading, rate: TickRate) -> bool {
        self.holds_within(TOLERANCE, look, rate)
    }

    /// The same where another one would take the room of one that is needed, or soon would.
    pub fn holds_roughly(&self, look: ClockReading, rate: TickRate, is_full: bool) -> bool {
        match is_full {
            true => look.ticks < self.from || !self.differs_by(STEP, look),
            false => self.holds_within(ROUGH_TOLERANCE, look, rate),
        }
    }

    fn holds_within(&self, tolerance: u64, look: ClockReading, rate: TickRate) -> bool {
        let is_young = look.ticks.saturating_sub(self.from) < self.ticks / 4 * 3;
        look.ticks < self.from
            || (is_young
                && look.ticks.saturating_add(rate.lead()) < self.end()
                && !self.differs_by(tolerance, look))
    }

    fn differs_by(&self, tolerance: u64, look: ClockReading) -> bool {
        let differs = |time: u64| time.abs_diff(look.realtime) > tolerance;
        self.at(look.ticks).is_some_and(differs)
    }

    /// By how many nanoseconds the clock was set since this began, if that is known.
    fn set_until(&self, offset: Option<u64>) -> Option<i64> {
        let (before, after) = self.offset.zip(offset)?;
        Some(after.wrapping_sub(before) as i64)
    }

    /// The stretch after this one, after a look at the clocks; `None` if this one still holds, or
    /// began only just now. `seen`: ticks at which it was last seen to hold.
    pub fn next(&self, look: ClockReading, seen: u64, rate: TickRate) -> Option<Stretch> {
        let age = look.ticks.checked_sub(self.from)?;
        if self.holds(look, rate) || age < rate.ticks(LENGTHS[0]) {
            return None;
        }
        let lead = rate.lead();
        let from = look.ticks.checked_add(lead)?;
        let realtime = look.realtime.checked_add(scaled(lead, self.pace())?)?;
        let (expected, is_step) = match from < self.end() {
            true => {
                let expected = self.at(from)?;
                let set = self.set_until(look.offset);
                let is_set = set.is_none_or(|set| set.unsigned_abs() >= STEP);
                match expected.abs_diff(realtime) >= STEP {
                    // It was slewed while nobody looked. Times do not go back for that.
                    true if !is_set => (expected.max(realtime), false),
                    differs => (expected, differs),
                }
            }
            false => {
                // Times do not go back for some nanoseconds.
                let (end, expected) = (self.behind_end(), realtime.max(self.end_unix()));
                let is_back = expected - realtime >= STEP;
                let is_set = end.is_set_before(from, expected, look.offset);
                (expected, is_back || is_set)
            }
        };
        let unix = if is_step { realtime } else { expected };
        let measured = self.measured(look, age, rate).filter(|_| !is_step);
        let (pace, length) = measured.unwrap_or((self.pace(), self.ticks));
        let error = i128::from(realtime) - i128::from(unix);
        let [shortest, longest] = LENGTHS;
        let gentle = (error.unsigned_abs() as u64).saturating_mul(GENTLE);
        let length = length.min(rate.ticks(longest));
        let length = length.max(rate.ticks(gentle.max(shortest)));
        let next = Stretch {
            from,
            ticks: length,
            unix,
            nanos: u64::try_from(i128::from(scaled(length, pace)?) + error).ok()?,
            realtime,
            seen: seen.clamp(self.earliest_look(lead), look.ticks),
            offset: look.offset,
            ticket: 0,
        };
        next.is_credible(rate).then_some(next)
    }

    /// How fast the clock ran since this began, and for how many ticks that is sure. A clock that
    /// was set by less than a step runs no faster.
    fn measured(&self, look: ClockReading, age: u64, rate: TickRate) -> Option<((u64, u64), u64)> {
        let set = self.set_until(look.offset).unwrap_or(0);
        let realtime = look.realtime.checked_add_signed(set.checked_neg()?)?;
        let nanos = realtime.checked_sub(self.realtime)?;
        let expected = scaled(age, self.pace())?;
        // The rate of the shortest was only guessed.
        let is_rough = self.ticks <= rate.ticks(LENGTHS[0]);
        let is_usual = nanos.abs_diff(expected) <= expected / SLEWING;
        let length = match is_rough || is_usual {
            true => age.saturating_mul(SURE),
            false => age,
        };
        rate.permits(age, nanos).then_some(((age, nanos), length))
    }

    /// Ticks, and how many nanoseconds pass in them, without what corrects an error.
    fn pace(&self) -> (u64, u64) {
        let error = i128::from(self.realtime) - i128::from(self.unix);
        let nanos = u64::try_from(i128::from(self.nanos) - error);
        (self.ticks, nanos.unwrap_or(self.nanos))
    }

    /// The same clock from where this ends.
    fn behind_end(&self) -> Stretch {
        Stretch {
            from: self.end(),
            unix: self.end_unix(),
            ..*self
        }
    }

    /// The first one of a timeline. `before`: a look at the clocks some time ago.
    pub fn first(
        before: Option<ClockReading>,
        look: ClockReading,
        rate: TickRate,
    ) -> Option<Stretch> {
        let since = before.and_then(|before| {
            let ticks = look.ticks.checked_sub(before.ticks)?;
            Some((ticks, look.realtime.checked_sub(before.realtime)?))
        });
        let long = since.filter(|(ticks, nanos)| *nanos >= 50_000 && rate.permits(*ticks, *nanos));
        let pace = match (long, rate.0) {
            (Some(since), _) => since,
            (None, 0) => return None,
            (None, known) => (known, 1_000_000_000),
        };
        let [least, most] = LENGTHS.map(|nanos| rate.ticks(nanos));
        let length = long.map_or(0, |(ticks, _)| ticks.saturating_mul(SURE));
        let length = length.clamp(least, most);
        let first = Stretch {
            from: look.ticks,
            ticks: length,
            unix: look.realtime,
            nanos: scaled(length, pace)?,
            realtime: look.realtime,
            seen: look.ticks,
            offset: look.offset,
            ticket: 0,
        };
        first.is_credible(rate).then_some(first)
    }

    /// Whether a clock that ran as this says until `from` has been set before it showed that time.
    ///
    /// CLOCK_MONOTONIC is slewed like the wall clock, but never set. It stands still while the
    /// machine is suspended, for seconds at least; ticks may go on, and then the clock comes to the
    /// time that they say.
    fn is_set_before(&self, ticks: u64, unix: u64, offset: Option<u64>) -> bool {
        let Some(found) = unix.checked_sub(self.unix) else {
            return true;
        };
        let expected = self.nanos_in(ticks.saturating_sub(self.from)) as i128;
        let by = i128::from(found) - expected;
        let room = |slewing: u64| i128::from(STEP) + expected / i128::from(slewing);
        match self.set_until(offset).map(i128::from) {
            None => by.abs() > room(SLEWING),
            Some(set) => match set {
                set if set.abs() < STEP.into() => by.abs() > room(FASTEST_SLEWING),
                set => set < SUSPENSION.into() || (by - set).abs() < by.abs(),
            },
        }
    }
}

/// So many ticks in nanoseconds, where `pace` says how many nanoseconds pass in some ticks.
fn scaled(ticks: u64, (of, nanos): (u64, u64)) -> Option<u64> {
    let product = u128::from(ticks) * u128::from(nanos);
    u64::try_from(product / u128::from(of.max(1))).ok()
}

/// How the wall clock ran.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// By their first ticks.
    stretches: Vec<Stretch>,
    /// How many ticks before its first ones a stretch is added at the latest.
    lead: u64,
}

/// The time behind the end of a stretch.
enum Between {
    /// The clock ran evenly until this moment.
    Even(Interpolation),
    /// It was set, and went on at this rate until then.
    Set(Stretch),
}

impl Course {
    /// Takes stretches in the order in which they were added. What no clock can do is left out.
    pub fn new(rate: TickRate, mut stretches: Vec<Stretch>) -> Course {
        let mut last = 0;
        stretches.retain(|stretch| {
            let counts = stretch.from > last && stretch.is_credible(rate);
            last = if counts { stretch.from } else { last };
            counts
        });
        let lead = rate.lead();
        Course { stretches, lead }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// The newest stretch.
    pub fn last(&self) -> Option<&Stretch> {
        self.stretches.last()
    }

    /// All, by their first ticks.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    fn around(&self, ticks: u64) -> (Option<&Stretch>, Option<&Stretch>) {
        let after = self.stretches.partition_point(|it| it.from <= ticks);
        let before = after.checked_sub(1).and_then(|at| self.stretches.get(at));
        (before, self.stretches.get(after))
    }

    /// Nanoseconds since the epoch at `ticks`, rounded down.
    pub fn unix_nanos(&self, ticks: u64) -> Option<u64> {
        match self.around(ticks) {
            (Some(here), Some(next)) if here.end() <= ticks => match between(here, next) {
                Between::Even(even) => even.unix_nanos(ticks),
                Between::Set(on) => on.at(ticks),
            },
            (Some(here), _) => here.at(ticks),
            (None, next) => next?.at(ticks),
        }
    }

    /// The times around `ticks`, if they are not before all stretches.
    pub fn interpolation(&self, ticks: u64) -> Option<Interpolation> {
        let (here, next) = self.around(ticks);
        let (here, next) = match (here?, next) {
            (here, Some(next)) if here.end() <= ticks => match between(here, next) {
                Between::Even(even) => return Some(even),
                Between::Set(on) => (on, Some(next)),
            },
            (here, next) => (*here, next),
        };
        let line = here.line(ticks)?;
        Some(next.map_or(line, |next| line.until(next.from)))
    }

    /// Where the clock was set, in order.
    pub fn steps(&self) -> Vec<ClockStep> {
        let pairs = self.stretches.windows(2);
        let step = |pair: &[Stretch]| {
            let (here, next) = (&pair[0], &pair[1]);
            let before = match next.from <= here.end() {
                true => here.at(next.from)?,
                false => match between(here, next) {
                    Between::Even(_) => return None,
                    Between::Set(on) => on.at(next.from)?,
                },
            };
            let set = here.set_until(next.offset);
            let is_step = before.abs_diff(next.unix) >= STEP / 2
                && set.is_none_or(|set| set.unsigned_abs() >= STEP / 2);
            // The clock may have been set between a look and the first ticks of what it added.
            let earliest = here.earliest_look(self.lead);
            let after_ticks = next.seen.clamp(earliest, next.from - 1);
            is_step.then_some(ClockStep {
                ticks: next.from,
                after_ticks,
                after: self.unix_nanos(after_ticks)?,
                before,
                unix: next.unix,
            })
        };
        pairs.filter_map(step).collect()
    }
}

/// What was between the end of a stretch and the begin of the next.
fn between(here: &Stretch, next: &Stretch) -> Between {
    let end = here.behind_end();
    let even = (!end.is_set_before(next.from, next.unix, next.offset))
        .then(|| Interpolation::between((end.from, end.unix), (next.from, next.unix)));
    match even.flatten() {
        Some(even) => Between::Even(even),
        None => Between::Set(Stretch {
            ticks: next.ticks,
            nanos: next.nanos,
            ..end
        }),
    }
}

#[cfg(test)]
mod tests;
