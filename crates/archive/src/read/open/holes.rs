//! The holes of an archive: times in which events are missing, of whatever lane.
//!
//! A gap of one lane is counted before the next event of that lane, by ../loss/gaps.rs. That is not
//! all. Damaged bytes may have been events and gaps of any lane, and a thread that went to another
//! CPU meanwhile has no event behind the gap. So a hole is told by its place in the file. A
//! recorder writes what happened first at first. So what is missing at a place was logged after all
//! of the unit before it, and before all of the unit behind it.

use std::ops::Range;

use timeline::Passage;

use crate::read::loss::breaks::{Break, BreakKind};
use crate::read::open::contents::Contents;
use crate::read::units::unit::Unit;

/// By what events are ordered: by ticks in one ring, and by time in several.
type Moment = (u64, u64);

const END: Moment = (u64::MAX, u64::MAX);

/// The holes of an archive, and the passages between them.
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
            what: BreakKind::Some,
        });
        let gaps = units.iter().enumerate();
        let gaps = gaps.filter(|(_, unit)| unit.gap.is_some() && !unit.important);
        let gaps = gaps.map(|(unit, _)| Break {
            unit,
            what: BreakKind::Gap,
        });
        let all = damaged.chain(gaps).chain(contents.breaks.iter().copied());
        let order = Order::of(units, has_one_ring);
        let all = all.filter_map(|one| order.inside(one));
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

    /// The passage of an event of these ticks and this time; 0 stands for one that is not known.
    #[inline]
    pub fn passage(&self, ticks: u64, time: u64) -> Passage {
        match self.inside.is_empty() {
            true => Passage::default(),
            false => self.find(self.moment(ticks, time)),
        }
    }

    fn moment(&self, ticks: u64, time: u64) -> Moment {
        (if self.has_one_ring { 0 } else { time }, ticks)
    }

    fn find(&self, moment: Moment) -> Passage {
        let passed = self.inside.partition_point(|hole| hole.end <= moment);
        match self.inside.get(passed) {
            Some(hole) if hole.contains(&moment) => Passage::HOLE,
            _ => Passage::new(passed as u32),
        }
    }

    /// The passage of what is appended to the archive.
    pub fn last(&self, units: &[Unit]) -> Passage {
        let last = units.iter().rev().find(|unit| !unit.important);
        let passage = last.map_or(Passage::default(), |unit| {
            self.passage(unit.ticks.1, unit.unix.1)
        });
        // What is appended behind a hole is in none.
        match passage == Passage::HOLE {
            true => Passage::new(self.inside.len() as u32),
            false => passage,
        }
    }
}

/// The units with events that have a place in time, in the order of the file.
struct Order<'a> {
    has_one_ring: bool,
    units: Vec<&'a Unit>,
    /// How many of these are before each unit of the archive.
    before: Vec<usize>,
    /// Of the units, as a tree of their pairs: the greatest first ticks, and the greatest last
    /// moment. So each hole is found in a few steps, however many there are.
    greatest: Vec<(u64, Moment)>,
}

impl<'a> Order<'a> {
    fn of(units: &'a [Unit], has_one_ring: bool) -> Order<'a> {
        let mut order = Order {
            has_one_ring,
            units: Vec::new(),
            before: Vec::with_capacity(units.len()),
            greatest: Vec::new(),
        };
        for unit in units {
            order.before.push(order.units.len());
            if !unit.important {
                order.units.push(unit);
            }
        }
        let leaves = order.units.len().next_power_of_two();
        let mut tree = vec![(0, (0, 0)); 2 * leaves];
        for (leaf, unit) in tree[leaves..].iter_mut().zip(&order.units) {
            *leaf = (unit.ticks.0, order.last(unit));
        }
        for node in (1..leaves).rev() {
            tree[node] = both(tree[2 * node], tree[2 * node + 1]);
        }
        order.greatest = tree;
        order
    }

    fn first(&self, unit: &Unit) -> Moment {
        match self.has_one_ring {
            true => (0, unit.ticks.0),
            false => (unit.unix.0, 0),
        }
    }

    fn last(&self, unit: &Unit) -> Moment {
        match self.has_one_ring {
            true => (0, unit.ticks.1),
            false => (unit.unix.1, u64::MAX),
        }
    }

    /// The greatest last moment of the units from this one on that begin before these ticks, up to
    /// the first one that does not.
    fn last_before(&self, from: usize, ticks: u64) -> Option<Moment> {
        let leaves = self.greatest.len() / 2;
        let (mut node, mut found) = (leaves + from, None);
        if from >= self.units.len() {
            return None;
        }
        loop {
            let (begins, last) = self.greatest[node];
            if begins < ticks {
                // All of this node is inside: on to the next one, which is as large or larger.
                found = found.max(Some(last));
                node += 1;
                if node.is_power_of_two() {
                    return found;
                }
                while node.is_multiple_of(2) {
                    node /= 2;
                }
            } else if node >= leaves {
                return found;
            } else {
                node *= 2;
            }
        }
    }

    /// The moments inside of a hole; `None` if nothing is missing there.
    fn inside(&self, one: Break) -> Option<Range<Moment>> {
        let at = self.before.get(one.unit).copied();
        let at = at.unwrap_or(self.units.len());
        let before = at.checked_sub(1).map(|at| self.last(self.units[at]));
        let next = self.units.get(at);
        let mut end = next.map_or(END, |unit| self.first(unit));
        match one.what {
            BreakKind::Unit => {
                return next.map(|unit| self.first(unit)..following(self.last(unit)));
            }
            BreakKind::Run => {
                // At the beginning and at the end nothing is to be told apart.
                let before = before?;
                if next.is_none() || end < before {
                    return None;
                }
            }
            BreakKind::Until(ticks) => {
                let until = match self.has_one_ring {
                    true => (0, ticks),
                    false => self.last_before(at, ticks).unwrap_or(end),
                };
                end = end.max(until);
            }
            BreakKind::Some | BreakKind::Gap => {}
        }
        let start = before.map_or((0, 0), following);
        // Where the order of the file is another one, what is missing may be anywhere in between.
        match before {
            Some(before) if before >= end && one.what == BreakKind::Gap => Some(end..end),
            Some(before) if before >= end => Some(end..following(before)),
            _ => Some(start..end),
        }
    }
}

fn both(one: (u64, Moment), other: (u64, Moment)) -> (u64, Moment) {
    (one.0.max(other.0), one.1.max(other.1))
}

fn following((first, second): Moment) -> Moment {
    match second.checked_add(1) {
        Some(second) => (first, second),
        None => first.checked_add(1).map_or(END, |first| (first, 0)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit(ticks: (u64, u64), unix: (u64, u64), important: bool) -> Unit {
        Unit {
            place: 0..0,
            head: 0,
            block: false,
            count: 1,
            ticks,
            unix,
            important,
            gap: None,
            sum: None,
            passed: false,
            hint: None,
            digest: 0,
        }
    }

    proptest! {
        #[test]
        fn what_is_before_some_ticks_is_found_as_if_units_were_read_one_by_one(
            units in prop::collection::vec((0..20_u64, 0..20_u64, 0..20_u64, any::<bool>()), 0..40),
            from in 0..42_usize,
            ticks in 0..22_u64,
        ) {
            let units = units.iter().map(|(ticks, unix, last, important)| {
                unit((*ticks, *ticks), (*unix, *unix + last), *important)
            });
            let units: Vec<Unit> = units.collect();
            let order = Order::of(&units, false);
            let behind = order.units.iter().skip(from);
            let inside = behind.take_while(|unit| unit.ticks.0 < ticks);
            let expected = inside.map(|unit| order.last(unit)).max();
            prop_assert_eq!(order.last_before(from, ticks), expected);
            for (number, before) in order.before.iter().enumerate() {
                let count = units[..number].iter().filter(|unit| !unit.important).count();
                prop_assert_eq!(*before, count);
            }
        }
    }
}
