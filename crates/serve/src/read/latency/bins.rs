//! Counts durations in little memory: what a column of a picture needs, exact to 1.6 %.

use timeline_latency::rank;

/// Bins of each octave, whose logarithm to base 2 is `BITS`.
const BITS: u32 = 6;
const OCTAVE: usize = 1 << BITS;
/// Bins of each row of a heat map.
const ROW: usize = 16;
/// Longer durations are counted as these 3 days, so that memory is bounded.
const MOST: u64 = 1 << 48;

/// The bin of a duration. Below an octave, each duration has its own.
fn bin_of(value: u64) -> usize {
    let value = value.min(MOST);
    let above = value.max(1).ilog2().saturating_sub(BITS);
    OCTAVE * above as usize + (value >> above) as usize
}

/// The shortest duration of a bin.
fn least_of(bin: usize) -> u64 {
    let above = (bin / OCTAVE).saturating_sub(1);
    ((bin - OCTAVE * above) as u64) << above
}

/// The shortest duration of a row of a heat map.
pub fn row_begin(row: usize) -> u64 {
    least_of(row * ROW)
}

/// Durations by how long they are.
#[derive(Debug, Clone, Default)]
pub struct Bins {
    /// The bin of the first count.
    first: usize,
    counts: Vec<u32>,
    pub count: u64,
    pub max: u64,
}

impl Bins {
    pub fn add(&mut self, value: u64) {
        let bin = bin_of(value);
        if self.counts.is_empty() {
            self.first = bin;
        }
        if bin < self.first {
            let more = self.first - bin;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bin;
        }
        let place = bin - self.first;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(1);
        self.count += 1;
        self.max = self.max.max(value);
    }

    /// How long at most so many percent of the durations are.
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = rank(self.count, percent);
        let mut passed = 0;
        for (place, count) in self.counts.iter().enumerate() {
            passed += u64::from(*count);
            if passed >= rank {
                let end = least_of(self.first + place + 1) - 1;
                return end.min(self.max);
            }
        }
        self.max
    }

    /// The rows that have durations, each with its number and how many it has.
    pub fn rows(&self) -> Vec<(usize, u64)> {
        let mut rows: Vec<(usize, u64)> = Vec::new();
        let counts = self.counts.iter().enumerate();
        for (place, count) in counts.filter(|(_, count)| **count > 0) {
            let row = (self.first + place) / ROW;
            match rows.last_mut() {
                Some((last, sum)) if *last == row => *sum += u64::from(*count),
                _ => rows.push((row, u64::from(*count))),
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations of all sizes.
    fn some() -> Vec<u64> {
        let around = |power: u32| {
            let power = 1_u64 << power;
            [power - 1, power, power + 1, power + power / 3]
        };
        let all = (0..48).flat_map(around).chain(0..200);
        all.collect()
    }

    #[test]
    fn each_duration_is_in_its_bin_and_row() {
        for value in some() {
            let bin = bin_of(value);
            assert!(
                (least_of(bin)..least_of(bin + 1)).contains(&value),
                "{value}"
            );
            let mut bins = Bins::default();
            bins.add(value);
            let (row, count) = bins.rows()[0];
            assert!(
                (row_begin(row)..row_begin(row + 1)).contains(&value),
                "{value}"
            );
            assert_eq!((count, bins.percentile(50.0), bins.max), (1, value, value));
        }
    }

    #[test]
    fn percentiles_are_those_of_sorting() {
        let mut bins = Bins::default();
        let mut all = some();
        all.iter().rev().for_each(|value| bins.add(*value));
        all.sort_unstable();
        for percent in 1..=100 {
            let rank = (percent * all.len()).div_ceil(100);
            let (exact, found) = (all[rank - 1], bins.percentile(percent as f64));
            let most = exact as f64 * (1.0 + 1.0 / OCTAVE as f64);
            assert!(
                found >= exact && found as f64 <= most,
                "{percent} %: {found}, not {exact}"
            );
        }
        let counted: u64 = bins.rows().iter().map(|(_, count)| count).sum();
        assert_eq!((counted, bins.count), (all.len() as u64, all.len() as u64));
    }
}
