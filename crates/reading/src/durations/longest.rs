//! Keeps the longest of many durations.

use std::cmp::Reverse;

/// The longest; of equal ones, those that came first. It uses memory for twice as many as it keeps.
///
/// # Example
/// ```
/// use timeline_reading::Longest;
///
/// let mut longest = Longest::new(2);
/// for (nanoseconds, of) in [(5, "a"), (9, "b"), (7, "c")] {
///     longest.add(nanoseconds, of);
/// }
/// assert_eq!(longest.count, 3);
/// assert_eq!(longest.into_sorted().collect::<Vec<_>>(), ["b", "c"]);
/// ```
pub struct Longest<T> {
    most: usize,
    kept: Vec<(u64, T)>,
    /// How many came.
    pub count: u64,
}

impl<T> Longest<T> {
    /// Keeps so many at most.
    pub fn new(most: usize) -> Longest<T> {
        Longest {
            most,
            kept: Vec::new(),
            count: 0,
        }
    }

    /// Takes the next one.
    pub fn add(&mut self, value: u64, of: T) {
        self.count += 1;
        self.kept.push((value, of));
        if self.kept.len() >= self.most.saturating_mul(2).saturating_add(16) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        self.kept.sort_by_key(|(value, _)| Reverse(*value));
        self.kept.truncate(self.most);
    }

    /// The longest first.
    pub fn into_sorted(mut self) -> impl Iterator<Item = T> {
        self.shrink();
        self.kept.into_iter().map(|(_, of)| of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_are_those_that_sorting_finds() {
        for most in [0, 1, 7, 40, 2_000] {
            let mut longest = Longest::new(most);
            let values = (0..1_000_u64).map(|number| number * 7_919 % 101);
            let mut all: Vec<(u64, u64)> = values.zip(0..).collect();
            all.iter().for_each(|one| longest.add(one.0, *one));
            all.sort_by_key(|(value, number)| (Reverse(*value), *number));
            all.truncate(most);
            assert_eq!(longest.count, 1_000);
            assert_eq!(longest.into_sorted().collect::<Vec<_>>(), all);
        }
    }
}
