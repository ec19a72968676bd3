//! Finds a moment among stamps with no events of two lanes close around it.

use super::EARLY;

/// The last stamp from `least` to `most` with events of two lanes before and after it at least
/// [`EARLY`] apart, or else the one with them farthest apart. `events`: stamps and lanes, sorted.
pub fn widest_gap(events: &[(u64, u32)], least: u64, most: u64) -> Option<u64> {
    let mut found: Option<(u64, u64)> = None;
    // The first later event of another lane than that of the next event.
    let mut other: Option<(u64, u32)> = None;
    for (at, event) in events.iter().enumerate().rev() {
        let next = events.get(at + 1);
        if let Some(next) = next {
            let after = events.get(at + 2);
            if after.is_some_and(|after| after.1 != next.1) {
                other = after.copied();
            }
        }
        if event.0 < least {
            break;
        }
        if event.0 > most || next.is_some_and(|next| next.0 == event.0) {
            continue;
        }
        let gap = match next {
            None => u64::MAX,
            Some(next) if next.1 != event.1 => next.0 - event.0,
            Some(next) => {
                let behind = other.map_or(u64::MAX, |other| other.0 - event.0);
                let mut before = events[..at]
                    .iter()
                    .rev()
                    .take_while(|e| next.0 - e.0 < EARLY);
                let before = before.find(|e| e.1 != next.1);
                behind.min(before.map_or(u64::MAX, |before| next.0 - before.0))
            }
        };
        if found.is_none_or(|(widest, _)| gap > widest) {
            found = Some((gap, event.0));
        }
        if gap >= EARLY {
            break;
        }
    }
    // Nothing was logged in between, so the moment of the first look will do.
    let first = (least <= most).then_some(least);
    found.map(|(_, stamp)| stamp).or(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_widest_gap_is_that_of_the_naive_twin(
            mut events in proptest::collection::vec((0..6000u64, 0..4u32), 0..40),
            least in 0..3000u64,
            most in 0..6000u64,
        ) {
            events.sort_unstable();
            let gap = |moment: u64| {
                let pairs = events
                    .iter()
                    .flat_map(|one| events.iter().map(move |other| (one, other)));
                let around = pairs.filter(|(one, other)| {
                    one.0 <= moment && moment < other.0 && one.1 != other.1
                });
                around.map(|(one, other)| other.0 - one.0).min().unwrap_or(u64::MAX).min(EARLY)
            };
            let moments = events
                .iter()
                .map(|event| event.0)
                .filter(|stamp| (least..=most).contains(stamp));
            let expected = moments
                .max_by_key(|moment| gap(*moment))
                .or((least <= most).then_some(least));
            let found = widest_gap(&events, least, most);
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                prop_assert_eq!((gap(found), found), (gap(expected), expected));
            }
        }
    }
}
