//! The sizes that a creator tries, from the largest.
//!
//! **Does a program get the same size when it starts again?** It leaves its timeline, which is kept
//! as `NAME.prev`, and whatever is there takes space that the next start does not find free. So a
//! creator that asks for no size takes no more than a third of what there is: for itself, for the
//! one that it will leave behind, and for the one before that, which is there until it is replaced,
//! and for as long as anybody reads it. What these two take already is counted as theirs. And where
//! the last start had such a size, the next has it, too, if there is room for it alone: what others
//! took meanwhile does not matter, and the oldest of the three is removed for it.

use super::former;
use crate::error::{Error, Result};
use crate::layout::{self, DEFAULT_ENTRIES, Geometry};
use crate::segment;
use crate::shm::{Demand, LockFile, Name, Shortage, Trust};

/// The fewest entries of a timeline whose creator asked for no number of entries.
const LEAST_DEFAULT: u64 = 1 << 16;

/// The size, mode and group of a timeline, and the owners that its creator trusts.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The number of entries, if the creator asked for one.
    pub entries: Option<u64>,
    /// Bytes of the string table.
    pub strings: u64,
    /// The number of entries for important events, if the creator asked for one.
    pub important: Option<u32>,
    /// Its permission bits.
    pub mode: u32,
    /// The group it is given to.
    pub group: Option<u32>,
    /// Trusted owners: their timeline at the name may be kept as `NAME.prev`.
    pub trust: Trust,
}

/// The sizes to try until there is room: the one that was asked for, or the default and then half
/// as many entries each time.
pub struct Sizes {
    all: Vec<Geometry>,
    /// Which of them is tried.
    at: usize,
    /// Whether its creator asked for it.
    is_asked: bool,
    /// Why those before it did not fit.
    shortage: Option<Shortage>,
    kept: FormerSizes,
}

/// One size to try.
#[derive(Debug, Clone, Copy)]
pub struct SizeCandidate {
    /// The size.
    pub geometry: Geometry,
    /// Why it is not the default.
    pub reduced: Option<Shortage>,
    /// The memory that it may take.
    pub demand: Demand,
    /// Bytes that must be free besides it.
    pub beside: u64,
}

impl Sizes {
    /// Those of a plan. An error if it asks for what cannot be.
    pub fn of(plan: &Plan) -> Result<Sizes> {
        check(plan)?;
        let halves = std::iter::successors(Some(DEFAULT_ENTRIES), |n| Some(n / 2));
        let entries = match plan.entries {
            Some(entries) => vec![entries],
            None => halves.take_while(|n| *n >= LEAST_DEFAULT).collect(),
        };
        let geometry = |entries| match plan.important {
            Some(important) => Geometry::with_important(entries, plan.strings, important),
            None => Geometry::new(entries, plan.strings),
        };
        Ok(Sizes {
            all: entries.into_iter().map(geometry).collect(),
            at: 0,
            is_asked: plan.entries.is_some(),
            shortage: None,
            kept: FormerSizes::default(),
        })
    }

    /// Begins with the largest one, or again.
    ///
    /// The timelines that are kept are at `name` and beside it. What is at `name`, if anything, has
    /// no writer, and is locked.
    pub fn begin(&mut self, name: &Name, trust: &Trust, corpse: Option<&LockFile>) {
        self.kept = FormerSizes::of(name, trust, corpse);
        // Those that were found too large once are so if they would be larger than the last one.
        let most = match self.shortage {
            Some(_) => self.kept.entries.unwrap_or(u64::MAX),
            None => u64::MAX,
        };
        let fits = |size: &Geometry| size.entries <= most;
        self.at = self.all.iter().position(fits).unwrap_or(self.last());
        self.shortage = self.shortage.filter(|_| self.at > 0);
    }

    /// The one to try now.
    pub fn now(&self) -> SizeCandidate {
        let geometry = self.all[self.at];
        let (demand, beside) = match (self.is_asked, self.at == self.last()) {
            (true, _) => (Demand::Asked, 0),
            (false, true) => (Demand::Least, 0),
            (false, false) => (Demand::Default, self.kept.beside(&geometry)),
        };
        SizeCandidate {
            geometry,
            reduced: self.shortage,
            demand,
            beside,
        }
    }

    /// Whether the oldest timeline should make room for this one, before a smaller one is tried.
    pub fn is_worth_the_oldest(&self) -> bool {
        self.at == self.last() || self.kept.entries == Some(self.all[self.at].entries)
    }

    /// Goes on to a smaller one; whether there is one.
    pub fn less(&mut self, shortage: Shortage) -> bool {
        let is_last = self.at == self.last();
        if !is_last {
            self.at += 1;
            self.shortage = Some(shortage);
        }
        !is_last
    }

    fn last(&self) -> usize {
        self.all.len() - 1
    }
}

/// The timelines of earlier starts.
#[derive(Debug, Default)]
struct FormerSizes {
    /// The number of entries of the last one, if its creator asked for none.
    entries: Option<u64>,
    /// The bytes that they take.
    bytes: u64,
}

impl FormerSizes {
    fn of(name: &Name, trust: &Trust, corpse: Option<&LockFile>) -> FormerSizes {
        let last = corpse.and_then(|lock| segment::read_header(name.given(), lock.file()).ok());
        let entries = last.and_then(|(geometry, facts)| {
            let is_default = facts.reduced || geometry.entries == DEFAULT_ENTRIES;
            is_default.then_some(geometry.entries)
        });
        let last = corpse.map_or(0, |lock| former::taken(lock.file()));
        FormerSizes {
            entries,
            bytes: last.saturating_add(former::replaceable_bytes(name, trust)),
        }
    }

    /// Bytes that must be free besides a new timeline of that size: for itself when it is kept, and
    /// for the one before.
    fn beside(&self, geometry: &Geometry) -> u64 {
        match self.entries {
            Some(entries) if entries == geometry.entries => 0,
            _ => (2 * geometry.total).saturating_sub(self.bytes),
        }
    }
}

fn check(plan: &Plan) -> Result<()> {
    let bounds = layout::MIN_ENTRIES..=layout::MAX_ENTRIES;
    if let Some(found) = plan
        .entries
        .filter(|n| !n.is_power_of_two() || !bounds.contains(n))
    {
        return Err(Error::BadSize {
            what: "the number of entries",
            expected: "a power of two from 256 to 2^30",
            found,
        });
    }
    let strings = plan.strings;
    if !(layout::MIN_STRING_TABLE..=layout::MAX_STRING_TABLE).contains(&strings) {
        return Err(Error::BadSize {
            what: "the size of the string table",
            expected: "1024 to 2^31 bytes",
            found: strings,
        });
    }
    let most = layout::MAX_IMPORTANT_ENTRIES;
    match plan.important.filter(|n| !(1..=most).contains(n)) {
        Some(found) => Err(Error::BadSize {
            what: "the number of entries for important events",
            expected: "1 to 65536",
            found: found.into(),
        }),
        None => Ok(()),
    }
}
