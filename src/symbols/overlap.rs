//! Finds addresses that two files claim. A call stack does not say which was loaded at its time.

/// Pieces of addresses with more than one claimant, in order.
#[derive(Debug, Default)]
pub struct Overlaps {
    pieces: Vec<(u64, u64)>,
}

impl Overlaps {
    /// Takes claims: claimant, first address, and the address after the last. Several claims of one
    /// claimant to an address count once.
    pub fn new<C: Ord + Copy>(mut claims: Vec<(C, u64, u64)>) -> Overlaps {
        claims.sort_unstable();
        let mut open: Option<(C, u64, u64)> = None;
        let mut bounds = Vec::with_capacity(2 * claims.len());
        for claim in claims {
            match &mut open {
                Some((claimant, _, end)) if *claimant == claim.0 && claim.1 <= *end => {
                    *end = claim.2.max(*end)
                }
                _ => bounds.extend(open.replace(claim).map(ends)),
            }
        }
        bounds.extend(open.map(ends));
        let mut bounds: Vec<(u64, i32)> = bounds.into_iter().flatten().collect();
        // An end sorts before a start at the same address.
        bounds.sort_unstable();

        let mut overlaps = Overlaps::default();
        let (mut claimants, mut since) = (0, 0);
        for (at, change) in bounds {
            let before = claimants;
            claimants += change;
            if before < 2 && claimants >= 2 {
                since = at;
            } else if before >= 2 && claimants < 2 && since < at {
                overlaps.pieces.push((since, at));
            }
        }
        overlaps
    }

    /// Whether `address` has more than one claimant.
    pub fn holds(&self, address: u64) -> bool {
        let behind = self.pieces.partition_point(|(start, _)| *start <= address);
        let piece = behind.checked_sub(1).and_then(|at| self.pieces.get(at));
        piece.is_some_and(|(_, end)| address < *end)
    }
}

/// The ends of a claim: the start adds a claimant, the end removes one. An empty claim does
/// neither.
fn ends<C>((_, start, end): (C, u64, u64)) -> [(u64, i32); 2] {
    match start < end {
        true => [(start, 1), (end, -1)],
        false => [(start, 0); 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_address_is_disputed_where_two_claim_it(
            claims in prop::collection::vec((0..3u8, 0..24u64, 0..24u64), 0..12),
        ) {
            let overlaps = Overlaps::new(claims.clone());
            for address in 0..25 {
                let holds = |(_, start, end): &&(u8, u64, u64)| (*start..*end).contains(&address);
                let claimants = claims.iter().filter(holds).map(|claim| claim.0);
                let mut claimants: Vec<u8> = claimants.collect();
                claimants.sort_unstable();
                claimants.dedup();
                prop_assert_eq!(overlaps.holds(address), claimants.len() > 1, "{}", address);
            }
        }
    }
}
