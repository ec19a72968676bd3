//! Lets one firing of a condition through, and holds others back for a while.

use std::collections::VecDeque;

use timeline_latency::{Firing, FiringValue};

/// Most firings of a condition that are held back at a time; of others, only the number is known.
const MOST_HELD: usize = 65_536;
/// So many are held before those that are over are looked for.
const FEW_HELD: usize = 256;

/// Counts firings, for each condition by itself.
pub struct Gates {
    /// In nanoseconds.
    cooldown: u64,
    most: Option<u64>,
    /// By the number of the condition.
    gates: Vec<Gate>,
}

/// Of one condition.
#[derive(Default)]
struct Gate {
    /// When a firing went through last.
    last: Option<u64>,
    fired: u64,
    ignored: u64,
    /// Since the last one that went through.
    ignored_since: u64,
    /// Those that may still hold when the cooldown is over, the oldest first.
    held: VecDeque<Firing>,
    /// How many were left when those that were over were last looked for.
    left: usize,
}

impl Gates {
    /// A gate for each condition, which closes for `cooldown` nanoseconds after each firing; all
    /// for good after `most` firings.
    pub fn new(conditions: usize, cooldown: u64, most: Option<u64>) -> Gates {
        Gates {
            cooldown,
            most,
            gates: (0..conditions).map(|_| Gate::default()).collect(),
        }
    }

    /// Whether a firing at this time, in nanoseconds, goes through: then how many of its condition
    /// were ignored since the one before.
    pub fn pass(&mut self, fired: &Firing, time: u64) -> Option<u64> {
        if self.are_closed() {
            return None;
        }
        let gate = &mut self.gates[fired.condition];
        let is_early = |last: u64| time.saturating_sub(last) < self.cooldown;
        if gate.last.is_some_and(is_early) {
            gate.hold(fired);
            return None;
        }
        gate.last = Some(time);
        gate.fired += 1;
        Some(std::mem::take(&mut gate.ignored_since))
    }

    /// What was held back and goes through at this time, one for each condition whose cooldown is
    /// over. `still` says what it is now, if it holds.
    pub fn due(&mut self, time: u64, still: impl Fn(&Firing) -> Option<Firing>) -> Vec<Firing> {
        let mut due = Vec::new();
        let most = self.most.map(|most| most.saturating_sub(self.fired()));
        for gate in &mut self.gates {
            gate.drop_over(&still);
            // What cannot go through any more stays among those that were ignored.
            if most.is_some_and(|most| due.len() as u64 >= most) {
                break;
            }
            let Some(end) = gate.last.map(|last| last.saturating_add(self.cooldown)) else {
                continue;
            };
            while time >= end
                && let Some(held) = gate.held.pop_front()
            {
                if let Some(now) = still(&held) {
                    // It was counted when it was held back.
                    gate.ignored = gate.ignored.saturating_sub(1);
                    gate.ignored_since = gate.ignored_since.saturating_sub(1);
                    due.push(now);
                    break;
                }
            }
        }
        due
    }

    /// When something that is held back may go through.
    pub fn next(&self) -> Option<u64> {
        let waiting = self.gates.iter().filter(|gate| !gate.held.is_empty());
        let ends = waiting.filter_map(|gate| gate.last);
        ends.map(|last| last.saturating_add(self.cooldown)).min()
    }

    /// Whether no more can go through.
    pub fn are_closed(&self) -> bool {
        self.most.is_some_and(|most| self.fired() >= most)
    }

    /// How many went through.
    pub fn fired(&self) -> u64 {
        self.gates.iter().map(|gate| gate.fired).sum()
    }

    /// How many of each condition were ignored.
    pub fn ignored(&self) -> impl Iterator<Item = u64> {
        self.gates.iter().map(|gate| gate.ignored)
    }
}

impl Gate {
    /// Drops what is over, before there is so much of it that no room is left for what is not. Each
    /// time, twice as much may have come as was left, so that little is looked at twice.
    fn drop_over(&mut self, still: &impl Fn(&Firing) -> Option<Firing>) {
        if self.held.len() >= FEW_HELD.max(2 * self.left) {
            self.held.retain(|held| still(held).is_some());
            self.left = self.held.len();
        }
    }

    /// Counts one, and keeps it if it may hold longer than the cooldown.
    fn hold(&mut self, fired: &Firing) {
        self.ignored += 1;
        self.ignored_since += 1;
        match (fired.seen, fired.begin, fired.end) {
            // An event, and a span that has ended, are over.
            (FiringValue::Event, ..) | (_, _, Some(_)) => {}
            (_, Some(_), None) if self.held.len() == MOST_HELD => {}
            (_, Some(_), None) => self.held.push_back(fired.clone()),
            // A condition that lasts is one thing.
            (_, None, None) => self.held = [fired.clone()].into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fired(condition: usize, seen: FiringValue, begin: Option<u64>) -> Firing {
        Firing {
            condition,
            time: 0,
            name: String::new(),
            seen,
            begin,
            end: None,
            thread: None,
            key: None,
        }
    }

    #[test]
    fn one_goes_through_and_others_are_counted() {
        let event = |condition| fired(condition, FiringValue::Event, None);
        let mut gates = Gates::new(1, 10, Some(3));
        let passed = [5, 6, 14, 15, 3, 40, 99].map(|time| gates.pass(&event(0), time));
        let expected = [Some(0), None, None, Some(2), None, Some(1), None];
        assert_eq!(passed, expected);
        assert_eq!((gates.fired(), gates.ignored().sum()), (3, 3_u64));
        assert!(gates.are_closed());
        assert_eq!(gates.next(), None);
        let mut open = Gates::new(1, 0, None);
        assert_eq!(
            [1, 1].map(|time| open.pass(&event(0), time)),
            [Some(0), Some(0)]
        );
        // Of several conditions, each has its own cooldown.
        let mut gates = Gates::new(3, 10, None);
        let passed = [(0, 1), (0, 2), (1, 3), (2, 4), (1, 5)];
        let passed = passed.map(|(condition, time)| gates.pass(&event(condition), time));
        assert_eq!(passed, [Some(0), None, Some(0), Some(0), None]);
        assert_eq!(gates.ignored().collect::<Vec<_>>(), [1, 1, 0]);
    }

    #[test]
    fn what_still_holds_goes_through_when_the_cooldown_is_over() {
        let lasting = |rate| fired(0, FiringValue::PerSecond(rate), None);
        let open = |begin| fired(1, FiringValue::Nanoseconds(7), Some(begin));
        let mut gates = Gates::new(2, 10, None);
        assert_eq!(gates.pass(&lasting(1.0), 100), Some(0));
        assert_eq!(gates.pass(&open(1), 102), Some(0));
        for one in [lasting(2.0), lasting(3.0), open(2), open(3), open(4)] {
            assert_eq!(gates.pass(&one, 105), None);
        }
        assert_eq!(gates.next(), Some(110));
        let same = |held: &Firing| Some(held.clone());
        assert_eq!(gates.due(109, same), []);
        // Only the last of what is one thing.
        assert_eq!(gates.due(111, same), [lasting(3.0)]);
        assert_eq!(gates.pass(&lasting(3.0), 111), Some(1));
        assert_eq!(gates.next(), Some(112));
        // Of open spans, the first that is still open; the others wait for the next time.
        let not_2 = |held: &Firing| (held.begin != Some(2)).then(|| held.clone());
        assert_eq!(gates.due(112, not_2), [open(3)]);
        assert_eq!(gates.pass(&open(3), 112), Some(2));
        assert_eq!(gates.due(121, same), []);
        assert_eq!(gates.due(122, same), [open(4)]);
        assert_eq!(gates.pass(&open(4), 122), Some(0));
        assert_eq!((gates.next(), gates.fired()), (None, 5));
        assert_eq!(gates.ignored().collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn what_is_over_leaves_room_for_what_still_holds() {
        let open = |begin| fired(0, FiringValue::Nanoseconds(7), Some(begin));
        let mut gates = Gates::new(1, 10, None);
        assert_eq!(gates.pass(&open(0), 100), Some(0));
        let hangs = MOST_HELD as u64 + 100;
        for number in 1..=hangs {
            assert_eq!(gates.pass(&open(number), 101), None);
            let is_it = |held: &Firing| (held.begin == Some(number)).then(|| held.clone());
            assert_eq!(gates.due(101, is_it), []);
            assert!(gates.gates[0].held.len() <= FEW_HELD);
        }
        let hang = |held: &Firing| (held.begin == Some(hangs)).then(|| held.clone());
        assert_eq!(gates.due(110, hang), [open(hangs)]);
        assert_eq!(gates.pass(&open(hangs), 110), Some(hangs - 1));
    }

    #[test]
    fn what_comes_when_it_is_enough_stays_among_the_ignored() {
        let lasting = |condition| fired(condition, FiringValue::PerSecond(1.0), None);
        let mut gates = Gates::new(2, 10, Some(3));
        for (condition, time, passed) in [(0, 1, true), (1, 2, true), (0, 3, false), (1, 4, false)]
        {
            assert_eq!(gates.pass(&lasting(condition), time).is_some(), passed);
        }
        let due = gates.due(20, |held| Some(held.clone()));
        assert_eq!(due, [lasting(0)]);
        assert_eq!(gates.pass(&due[0], 20), Some(0));
        assert_eq!((gates.fired(), gates.are_closed()), (3, true));
        assert_eq!(gates.ignored().collect::<Vec<_>>(), [0, 1]);
    }
}
