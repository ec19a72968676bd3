//! The holes of an archive: times in which events are missing, of whatever lane.
//!
//! A gap of one lane is counted before the next event of that lane, by gaps.rs. That is not all.
//! Damaged bytes may have been events and gaps of any lane, and a thread that went to another CPU
//! meanwhile has no event behind the gap. So a hole is told by its place in the file. A recorder
//! writes what happened first at first. So what is missing at a place was logged after all of the
//! unit before it, and before all of the unit behind it.

use std::ops::Range;

use timeline::Stretch;

use crate::read::breaks::{Break, Missing};
use crate::read::contents::Contents;
use crate::read::unit::Unit;

/// By what events are ordered: by ticks in one ring, and by time in several.
type Moment = (u64, u64);

const END: Moment = (u64::MAX, u64::MAX);

/// The holes of an archive, and the stretches between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holes {
    has_one_ring: bool,
    /// The moments inside each, sorted. They do not overlap.
    inside: Vec<Range<Moment>>,
}

impl Holes {
    pub fn of(contents: &Contents) -> Holes {
        let has_one_ring = contents.magics().len() < 2;
        let units = &contents.units;
        let damaged = contents.damage.iter().map(|place| Break {
            unit: units.partition_point(|unit| unit.place.start < place.start),
            what: Missing::Some,
        });
        let gaps = units.iter().enumerate();
        let gaps = gaps.filter(|(_, unit)| unit.gap.is_some() && !unit.important);
        let gaps = gaps.map(|(unit, _)| Break {
            unit,
            what: Missing::Gap,
        });
        let all = damaged.chain(gaps).chain(contents.breaks.iter().copied());
        let all = all.filter_map(|one| inside(units, has_one_ring, one));
        let mut all: Vec<_> = all.collect();
        all.sort_unstable_by_key(|hole| (hole.start, hole.end));
        all.dedup_by(|next, before| {
            let overlap = next.start < before.end || *next == *before;
            before.end = if overlap {
                before.end.max(next.end)
            } else {
                before.end
            };
            overlap
        });
        Holes {
            has_one_ring,
            inside: all,
        }
    }

    /// The stretch of an event of these ticks and this time; 0 stands for one that is not known.
    #[inline]
    pub fn stretch(&self, ticks: u64, time: u64) -> Stretch {
        match self.inside.is_empty() {
            true => Stretch::default(),
            false => self.find(self.moment(ticks, time)),
        }
    }

    fn moment(&self, ticks: u64, time: u64) -> Moment {
        (if self.has_one_ring { 0 } else { time }, ticks)
    }

    fn find(&self, moment: Moment) -> Stretch {
        let passed = self.inside.partition_point(|hole| hole.end <= moment);
        match self.inside.get(passed) {
            Some(hole) if hole.contains(&moment) => Stretch::HOLE,
            _ => Stretch::new(passed as u32),
        }
    }

    /// The stretch of what is appended to the archive.
    pub fn last(&self, units: &[Unit]) -> Stretch {
        let last = units.iter().rev().find(|unit| !unit.important);
        let stretch = last.map_or(Stretch::default(), |unit| {
            self.stretch(unit.ticks.1, unit.unix.1)
        });
        // What is appended behind a hole is in none.
        match stretch == Stretch::HOLE {
            true => Stretch::new(self.inside.len() as u32),
            false => stretch,
        }
    }
}

/// The moments inside of a hole; `None` if nothing is missing there.
fn inside(units: &[Unit], has_one_ring: bool, one: Break) -> Option<Range<Moment>> {
    let first = |unit: &Unit| match has_one_ring {
        true => (0, unit.ticks.0),
        false => (unit.unix.0, 0),
    };
    let last = |unit: &Unit| match has_one_ring {
        true => (0, unit.ticks.1),
        false => (unit.unix.1, u64::MAX),
    };
    let is_of_time = |unit: &&Unit| !unit.important;
    let (before, behind) = units.split_at(one.unit.min(units.len()));
    let before = before.iter().rev().find(is_of_time).map(last);
    let next = behind.iter().find(is_of_time);
    let mut end = next.map_or(END, first);
    match one.what {
        Missing::Unit => return next.map(|unit| first(unit)..following(last(unit))),
        Missing::Run => {
            // At the beginning and at the end nothing is to be told apart.
            let before = before?;
            if next.is_none() || end < before {
                return None;
            }
        }
        Missing::Until(ticks) => {
            let until = match has_one_ring {
                true => (0, ticks),
                false => {
                    let behind = behind.iter().filter(is_of_time);
                    let inside = behind.take_while(|unit| unit.ticks.0 < ticks);
                    inside.map(last).max().unwrap_or(end)
                }
            };
            end = end.max(until);
        }
        Missing::Some | Missing::Gap => {}
    }
    let start = before.map_or((0, 0), following);
    // Where the order of the file is another one, what is missing may be anywhere in between.
    match before {
        Some(before) if before >= end && one.what == Missing::Gap => Some(end..end),
        Some(before) if before >= end => Some(end..following(before)),
        _ => Some(start..end),
    }
}

fn following((first, second): Moment) -> Moment {
    match second.checked_add(1) {
        Some(second) => (first, second),
        None => first.checked_add(1).map_or(END, |first| (first, 0)),
    }
}
