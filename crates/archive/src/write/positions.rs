//! Remembers how far each lane of a ring is written.

/// Lanes below this are found without a search.
const FEW: u64 = 1 << 12;

/// Lanes, and the number of the next event of each.
#[derive(Default)]
pub struct Positions {
    all: Vec<(u64, u64)>,
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
        let known = usize::try_from(lane).ok().and_then(|l| self.lanes.get(l));
        match known.and_then(|index| self.all.get_mut((*index as usize).wrapping_sub(1))) {
            Some(position) => position.1 = next,
            None => self.note_other(lane, next),
        }
    }

    #[cold]
    fn note_other(&mut self, lane: u64, next: u64) {
        if let Some(position) = self.all.iter_mut().find(|(l, _)| *l == lane) {
            position.1 = next;
            return;
        }
        self.all.push((lane, next));
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
            prop_assert_eq!(all, twin);
        }
    }
}
