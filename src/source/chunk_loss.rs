//! Counts the entries of each lane that were overwritten before a follower began.

use crate::ring::reader::Chunk;

/// The entries that were gone already: of each lane, those after the first one still there.
#[derive(Default)]
pub struct ChunkLoss {
    /// Lanes, and the numbers from and to, sorted. The ranges of a lane do not overlap.
    ranges: Vec<(u32, u64, u64)>,
}

impl ChunkLoss {
    /// The gaps between these chunks and after the last chunk of each lane. `chunks` are sorted by
    /// lane, and then by age. `logged` says how many entries each lane logged.
    pub fn between(chunks: &[Chunk], logged: &[Option<u64>]) -> ChunkLoss {
        let mut ranges = Vec::new();
        for of_lane in chunks.chunk_by(|a, b| a.lane == b.lane) {
            let lane = of_lane[0].lane;
            let gaps = of_lane
                .windows(2)
                .map(|pair| (lane, pair[0].end(), pair[1].before));
            let end = of_lane.last().map_or(0, Chunk::end);
            let behind = (lane, end, logged[lane as usize].unwrap_or(0));
            let gaps = gaps.chain([behind]);
            ranges.extend(gaps.filter(|(_, from, to)| from < to));
        }
        ChunkLoss { ranges }
    }

    /// How many of all lanes were gone.
    pub fn all(&self) -> u64 {
        let counts = self.ranges.iter().map(|(_, begin, end)| end - begin);
        counts.fold(0, u64::saturating_add)
    }

    /// How many of a lane's entries from number `from` to number `to` were gone.
    pub fn count(&self, lane: u32, from: u64, to: u64) -> u64 {
        let first = |(of, _, end): &(u32, u64, u64)| (*of, *end) <= (lane, from);
        let ranges = &self.ranges[self.ranges.partition_point(first)..];
        let of_lane = ranges
            .iter()
            .take_while(|(of, begin, _)| *of == lane && *begin < to);
        let shared = |(_, begin, end): &(u32, u64, u64)| to.min(*end) - from.max(*begin);
        of_lane.map(shared).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn as_many_are_gone_as_are_in_no_chunk(
            places in proptest::collection::vec((0..4u32, 0..40u64, 1..8u32), 0..20),
            logged in proptest::collection::vec(proptest::option::of(0..60u64), 4),
            lane in 0..4u32, from in 0..60u64, more in 0..60u64,
        ) {
            let chunk = |&(lane, before, count): &(u32, u64, u32)| Chunk {
                chunk: 0,
                ticket: 1,
                count,
                lane,
                before,
                open: false,
            };
            let mut chunks: Vec<Chunk> = places.iter().map(chunk).collect();
            chunks.sort_unstable_by_key(|chunk| (chunk.lane, chunk.before));
            let gone = ChunkLoss::between(&chunks, &logged);
            // Compares number by number, except in damaged memory, where chunks overlap.
            let of_lane: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.lane == lane).collect();
            let is_gone = |number: &u64| {
                let begins = of_lane.first().is_some_and(|chunk| chunk.before <= *number);
                let covers = |chunk: &&Chunk| (chunk.before..chunk.end()).contains(number);
                let end = of_lane.last().map_or(0, |chunk| chunk.before);
                let end = end.max(logged[lane as usize].unwrap_or(0));
                begins && *number < end && !of_lane.iter().any(covers)
            };
            let expected = (from..from + more).filter(is_gone).count() as u64;
            let found = gone.count(lane, from, from + more);
            let overlap = of_lane.windows(2).any(|pair| pair[0].end() > pair[1].before);
            prop_assert!(found == expected || overlap, "{found} and not {expected}");
            let all = gone.ranges.iter().filter(|range| range.0 == lane);
            let naive = |(_, begin, end): &(u32, u64, u64)| {
                (from + more).min(*end).saturating_sub(from.max(*begin))
            };
            prop_assert_eq!(found, all.map(naive).sum::<u64>());
            let of_each = (0..4).map(|lane| gone.count(lane, 0, u64::MAX));
            prop_assert!(gone.all() == of_each.sum::<u64>() || overlap);
        }
    }
}
