//! Finds the events of an archive right before which entries of the ring are missing.

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
    /// How many entries are missing.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How many entries are missing before the event at this place. It is 0 if the gap is before
    /// another event.
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
    /// The last gap of each lane, by magic and lane.
    last: HashMap<(u64, u64), Gap>,
    /// The gap before the next event.
    next: Option<Gap>,
}

impl Gaps {
    /// Notes the number of entries that a record says are missing before the next event.
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
        // The event after the last gap was not written, because the recorder was killed. The next
        // recorder continued there.
        let before = self.last.get(&(magic, lane));
        if let Some(before) =
            before.filter(|before| number.checked_sub(count) == Some(before.number))
        {
            gap.missed = gap.missed.saturating_add(before.missed);
        }
        self.last.insert((magic, lane), gap);
        self.next = Some(gap);
    }

    /// Takes the gap before the next event.
    pub fn next(&mut self) -> Option<Gap> {
        self.next.take()
    }

    /// Whether there is a gap before the next event.
    pub fn is_next(&self) -> bool {
        self.next.is_some()
    }
}
