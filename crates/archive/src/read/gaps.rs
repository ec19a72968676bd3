//! The events of an archive right before which entries of the ring are missing.

use std::collections::HashMap;

use crate::format::record::Missed;

/// Entries of the ring that are missing right before an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    magic: u64,
    lane: u64,
    number: u64,
    missed: u64,
}

impl Gap {
    /// How many entries are missing before the event of this place: none if it is another one.
    pub fn before(&self, magic: u64, lane: u64, number: u64) -> u64 {
        match (magic, lane, number) == (self.magic, self.lane, self.number) {
            true => self.missed,
            false => 0,
        }
    }
}

/// Finds gaps in records, in the order of the file.
#[derive(Clone, Default)]
pub struct Gaps {
    /// By magic and lane.
    last: HashMap<(u64, u64), Gap>,
    /// Before the event that comes next.
    next: Option<Gap>,
}

impl Gaps {
    /// Notes how many entries a record says are missing before the event behind it.
    pub fn take(&mut self, missed: &Missed) {
        let (Some((lane, number, count)), magic) = (missed.gap(), missed.magic.unwrap_or(0)) else {
            return;
        };
        let mut gap = Gap {
            magic,
            lane,
            number,
            missed: count,
        };
        // The event behind the last gap was not written, since its recorder was killed: the next
        // recorder went on there.
        let before = self.last.get(&(magic, lane));
        if let Some(before) =
            before.filter(|before| number.checked_sub(count) == Some(before.number))
        {
            gap.missed = gap.missed.saturating_add(before.missed);
        }
        self.last.insert((magic, lane), gap);
        self.next = Some(gap);
    }

    /// The gap before the event that comes now.
    pub fn next(&mut self) -> Option<Gap> {
        self.next.take()
    }

    /// Whether something is missing before the event that comes next.
    pub fn is_next(&self) -> bool {
        self.next.is_some()
    }
}
