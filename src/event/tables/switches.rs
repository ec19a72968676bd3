//! What was asked for in the header of a timeline: the level, a sampler's boost, and rules.
//!
//! There are two copies of the rules, each with its level. A change writes the one that is not in
//! force, and then puts it in force by one store. So a process that is killed meanwhile leaves the
//! former rules and the former level, or the later ones.
//!
//! The fields of a copy are Relaxed, between the orderings of its serial: see `set_rules` and
//! `in_force`. So is what the define lock guards: the serials, for who changes something, and the
//! boost, a number by itself.

use std::sync::Arc;

use crate::event::control::rules::{Rules, Verdict, verdicts};
use crate::event::definitions::priority::{Level, Priority};
use crate::layout::Header;
use crate::layout::header::RULES;
use crate::shm::{Mapping, store_bytes};
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// How often rules are read again if they change meanwhile.
const ATTEMPTS: u32 = 16;

/// One of the two copies of the rules.
#[derive(Clone, Copy)]
enum Side {
    Even,
    Odd,
}

impl Side {
    /// The one that is in force after so many changes.
    fn of(serial: u64) -> Side {
        match serial % 2 {
            0 => Side::Even,
            _ => Side::Odd,
        }
    }
}

/// What was asked for in one timeline.
#[derive(Clone)]
pub struct Switches {
    map: Arc<Mapping>,
}

impl Switches {
    /// The most bytes of the rules, without the level. A NUL ends them, for readers who take the
    /// level behind them for their last byte.
    pub const LONGEST: usize = RULES - 1;

    /// The switches of a mapping whose geometry was checked.
    pub fn new(map: &Arc<Mapping>) -> Switches {
        let map = Arc::clone(map);
        Switches { map }
    }

    fn level_in(&self, field: fn(&Header) -> &AtomicU32) -> Level {
        Level::from_field(self.map.header().field(field).load(Ordering::Relaxed))
    }

    /// The level that was asked for.
    pub fn level(&self) -> Level {
        self.in_force(|side| self.level_of(side))
    }

    /// The level that a sampler asks for at the moment; none otherwise.
    pub fn boost(&self) -> Level {
        self.level_in(|header| &header.boost)
    }

    /// Whether an event of that priority is logged, if rules say this of it.
    pub fn allows(&self, verdict: Verdict, priority: Priority) -> bool {
        verdict.allows(priority, self.level(), self.boost())
    }

    /// Whether some event of that priority may be logged. Allocates nothing: signal handlers ask.
    pub fn may_allow(&self, priority: Priority) -> bool {
        let bytes = self.in_force(|side| self.text_of(side));
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let (level, boost) = (self.level(), self.boost());
        let allows = |verdict: Verdict| verdict.allows(priority, level, boost);
        allows(Verdict::Default) || verdicts(text).any(allows)
    }

    /// The rules that were asked for, with the level.
    pub fn rules(&self) -> Rules {
        let (level, bytes) = self.in_force(|side| (self.level_of(side), self.text_of(side)));
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Rules::stored(level, &String::from_utf8_lossy(text))
    }

    /// What is read of the copy that is in force.
    fn in_force<T>(&self, read: impl Fn(Side) -> T) -> T {
        let serial = self.map.header().field(|header| &header.rules_serial);
        let mut attempts = 0..ATTEMPTS;
        loop {
            // Acquire, pairs with the Release in `set_rules`: this copy was written before.
            let before = serial.load(Ordering::Acquire);
            let found = read(Side::of(before));
            // Pairs with the fence in `set_rules`: if a byte was of a later change, so is the
            // serial.
            fence(Ordering::Acquire);
            if serial.load(Ordering::Relaxed) == before || attempts.next().is_none() {
                return found;
            }
        }
    }

    fn text_of(&self, side: Side) -> [u8; RULES] {
        let header = self.map.header();
        match side {
            Side::Even => header.field(|header| &header.rules_even).bytes(),
            Side::Odd => header.field(|header| &header.rules_odd).bytes(),
        }
    }

    fn level_of(&self, side: Side) -> Level {
        let header = self.map.header();
        let field = match side {
            Side::Even => header.field(|header| &header.level_even),
            Side::Odd => header.field(|header| &header.level_odd),
        };
        let level = field.load(Ordering::Relaxed).checked_sub(1);
        match level.and_then(Level::from_u8) {
            Some(level) => level,
            // A new timeline, a snapshot, or a writer of before there were such fields.
            None => self.level_in(|header| &header.level),
        }
    }

    /// Keeps rules, which are not longer than `LONGEST`. The caller holds the define lock.
    pub fn set_rules(&self, rules: &Rules) {
        self.begin();
        let header = self.map.header().shared();
        let serial = header.rules_serial.load(Ordering::Relaxed).wrapping_add(1);
        // Release, pairs with the fence in `in_force`: whoever sees a byte of this copy sees that
        // the other one was put in force before.
        fence(Ordering::Release);
        let (copy, level) = match Side::of(serial) {
            Side::Even => (&header.rules_even, &header.level_even),
            Side::Odd => (&header.rules_odd, &header.level_odd),
        };
        let mut bytes = [0; RULES];
        let text = rules.text();
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        store_bytes(copy, &bytes);
        let number = rules.level().map_or(0, |level| level.get() + 1);
        level.store(number, Ordering::Relaxed);
        // Release, pairs with the Acquire in `in_force`: publishes this copy.
        header.rules_serial.store(serial, Ordering::Release);
    }

    /// Stores the level in force where all programs look that read no rules. The caller holds the
    /// define lock.
    pub fn show_level(&self) {
        let level = self.level();
        let field = &self.map.header().shared().level;
        // Release, pairs with the fence in `in_force`: whoever sees it sees what was put in force
        // before.
        field.store(level.get().into(), Ordering::Release);
    }

    /// Sets the sampler's level. The caller holds the define lock.
    pub fn set_boost(&self, boost: Level) {
        self.begin();
        let field = &self.map.header().shared().boost;
        field.store(boost.get().into(), Ordering::Relaxed);
    }

    /// Records that not all events follow what was asked for. The caller holds the define lock.
    pub fn begin(&self) {
        let header = self.map.header().shared();
        let serial = header.rules_serial.load(Ordering::Relaxed);
        header.rules_applied.store(!serial, Ordering::Relaxed);
    }

    /// Whether all events follow what was asked for. They do not if a process was killed while it
    /// changed that.
    pub fn are_applied(&self) -> bool {
        let number = |field: fn(&Header) -> &AtomicU64| {
            self.map.header().field(field).load(Ordering::Relaxed)
        };
        number(|header| &header.rules_serial) == number(|header| &header.rules_applied)
    }

    /// Records that all events follow what was asked for. The caller holds the define lock.
    pub fn applied(&self) {
        let header = self.map.header().shared();
        let serial = header.rules_serial.load(Ordering::Relaxed);
        header.rules_applied.store(serial, Ordering::Relaxed);
    }
}
