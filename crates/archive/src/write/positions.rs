//! Remembers how far each lane of a ring is written, and how far the last frame said so.

/// Lanes below this are found without a search.
const FEW: u64 = 1 << 12;

/// Lanes, and the number of the next event of each.
#[derive(Default)]
pub struct Positions {
    all: Vec<(u64, u64)>,
    /// What was told of each of `all`.
    told: Vec<u64>,
    /// For each lane with a small number: its index in `all` plus 1, or 0 if it is not in `all`.
    lanes: Vec<u32>,
}

impl Positions {
    /// All lanes, in the order in which they were first noted.
    pub fn all(&self) -> &[(u64, u64)] {
        &self.all
    }

    /// Notes the number of the next event in a lane.
    #[inline]
    pub fn note(&mut self, lane: u64, next: u64) {
        match self.place(lane) {
            Some(place) => self.all[place].1 = next,
            None => self.note_other(lane, next),
        }
    }

    /// All that is noted so far counts as told: it stands in the file, or nothing before it is
    /// recorded.
    pub fn settle(&mut self) {
        self.told.clear();
        self.told.extend(self.all.iter().map(|(_, next)| *next));
    }

    /// The lanes that moved since they were told, and the number from which each did. They count as
    /// told from now on.
    pub fn tell(&mut self) -> Vec<(u64, u64)> {
        let moved = self.all.iter().zip(&self.told);
        let moved = moved.filter(|((_, next), told)| next != *told);
        let moved = moved.map(|((lane, _), told)| (*lane, *told)).collect();
        self.settle();
        moved
    }

    /// Whether a lane moved since that was told.
    pub fn is_untold(&self) -> bool {
        let mut all = self.all.iter().zip(&self.told);
        all.any(|((_, next), told)| next != told)
    }

    /// What was told of one lane, which now counts as told.
    pub fn tell_lane(&mut self, lane: u64) -> u64 {
        match self.place(lane) {
            Some(place) => std::mem::replace(&mut self.told[place], self.all[place].1),
            None => 0,
        }
    }

    /// Notes the number of the next event in a lane, which counts as told, if all before `number`
    /// is told. Returns whether it is.
    #[inline]
    pub fn note_told(&mut self, lane: u64, number: u64, next: u64) -> bool {
        let Some(place) = self.place(lane) else {
            if number == 0 {
                self.note_other(lane, next);
                self.tell_lane(lane);
            }
            return number == 0;
        };
        let is_told = self.told[place] >= number;
        if is_told {
            (self.all[place].1, self.told[place]) = (next, next);
        }
        is_told
    }

    /// Notes what was told of a lane.
    pub fn note_from(&mut self, lane: u64, from: u64) {
        if let Some(place) = self.place(lane) {
            self.told[place] = from;
        }
    }

    #[inline]
    fn place(&self, lane: u64) -> Option<usize> {
        if lane >= FEW {
            return self.all.iter().position(|(other, _)| *other == lane);
        }
        let known = self.lanes.get(lane as usize)?;
        (*known as usize).checked_sub(1)
    }

    #[cold]
    fn note_other(&mut self, lane: u64, next: u64) {
        self.all.push((lane, next));
        self.told.push(0);
        if lane < FEW {
            let lane = lane as usize;
            if self.lanes.len() <= lane {
                self.lanes.resize(lane + 1, 0);
            }
            self.lanes[lane] = self.all.len() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_lane_has_what_was_noted_last(
            notes in proptest::collection::vec(
                (prop_oneof![0..9u64, FEW - 2..FEW + 2, any::<u64>()], any::<u64>()),
                0..60,
            ),
        ) {
            let mut positions = Positions::default();
            let mut twin = HashMap::new();
            for (lane, next) in notes {
                positions.note(lane, next);
                twin.insert(lane, next);
            }
            prop_assert_eq!(positions.all().len(), twin.len());
            let all: HashMap<_, _> = positions.all().iter().copied().collect();
            prop_assert_eq!(&all, &twin);
            prop_assert_eq!(positions.is_untold(), twin.values().any(|next| *next > 0));
            let moved: HashMap<_, _> = positions.tell().into_iter().collect();
            prop_assert!(moved.values().all(|told| *told == 0));
            prop_assert!(twin.iter().all(|(lane, next)| moved.contains_key(lane) == (*next > 0)));
            prop_assert!(!positions.is_untold() && positions.tell().is_empty());
        }
    }
}
