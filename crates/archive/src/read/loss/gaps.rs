//! Finds the events of an archive right before which entries of the ring are missing.
//! A record counts them, or they were in a frame or a file that is gone.

use std::collections::HashMap;

use crate::format::record::LossRecord;

/// Entries of the ring that are missing right before an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gap {
    magic: u64,
    /// The lane and the number of the event behind it; `None` if it is before any of its ring.
    place: Option<(u64, u64)>,
    missed: u64,
    /// How many more are missing before this event, whichever it is.
    hole: u64,
}

impl Gap {
    /// The same with a hole of so many more entries.
    pub fn and_hole(self, entries: u64) -> Gap {
        Gap {
            hole: self.hole.saturating_add(entries),
            ..self
        }
    }

    /// How many entries are missing.
    pub fn missed(&self) -> u64 {
        self.missed.saturating_add(self.hole)
    }

    /// How many entries are missing before the event at this place, which is the first one behind
    /// the gap. If a record counts those before another event, only a hole is before this one.
    pub fn before(&self, magic: u64, lane: u64, number: u64) -> u64 {
        let is_there = self.place.is_none_or(|place| place == (lane, number));
        match is_there && magic == self.magic {
            true => self.missed(),
            false => self.hole,
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
    /// Notes the number of entries that a record says are missing before the next event: before
    /// that of its lane, or, without a lane, before whichever of its ring it is.
    pub fn take(&mut self, missed: &LossRecord) {
        let magic = missed.magic.unwrap_or(0);
        let known = self.next.filter(|next| next.magic == magic);
        let Some((lane, number, count)) = missed.gap() else {
            if let Some(count) = missed.count.filter(|count| *count > 0) {
                let own = Gap {
                    magic,
                    missed: count,
                    ..Gap::default()
                };
                self.next = Some(known.map_or(own, |known| known.and_hole(count)));
            }
            return;
        };
        // What is missing before whichever event it is, that remains.
        let remains = |known: Gap| match known.place {
            Some(_) => known.hole,
            None => known.missed(),
        };
        let mut gap = Gap {
            magic,
            place: Some((lane, number)),
            missed: count,
            hole: known.map_or(0, remains),
        };
        // The event after the last gap was not written, because the recorder was killed. The next
        // recorder continued there.
        let before = self.last.get(&(magic, lane));
        if let Some(before) =
            before.filter(|before| number.checked_sub(count) == before.place.map(|place| place.1))
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
