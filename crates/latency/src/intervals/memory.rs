//! Bounds the memory of histograms that are kept beside each other.

use hdrhistogram::Histogram;

use super::error::{Error, Result};

/// The histograms that are kept beside each other may take so many bytes.
const MOST_BYTES: u64 = 1 << 30;

/// Counts the memory of the histograms that are kept beside each other.
#[derive(Debug, Clone)]
pub struct Memory {
    bytes: u64,
    most: u64,
    histograms: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            bytes: 0,
            most: MOST_BYTES,
            histograms: 0,
        }
    }
}

impl Memory {
    /// Counts one that is kept from now on.
    pub fn take(&mut self, histogram: &Histogram<u64>) -> Result<()> {
        self.histograms += 1;
        self.bytes += bytes(histogram);
        self.check()
    }

    /// Adds the durations of a histogram to those of one that is kept.
    pub fn add(&mut self, to: &mut Histogram<u64>, other: &Histogram<u64>) -> Result<()> {
        let before = bytes(to);
        to.auto(true);
        let added = to.add(other);
        self.bytes += bytes(to) - before;
        added.map_err(|error| Error::Unwritable {
            reason: error.to_string(),
        })?;
        self.check()
    }

    fn check(&self) -> Result<()> {
        match self.bytes > self.most {
            true => Err(Error::TooMuch {
                tags: self.histograms,
                most: self.most,
            }),
            false => Ok(()),
        }
    }
}

/// The memory of its counts.
fn bytes(histogram: &Histogram<u64>) -> u64 {
    8 * histogram.distinct_values() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::HistogramShape;

    #[test]
    fn histograms_that_take_too_much_together_are_an_error() {
        let exact = HistogramShape {
            digits: 5,
            highest: Some(1 << 30),
        };
        let histogram = exact.histogram().unwrap();
        let mut memory = Memory {
            most: 3 * bytes(&histogram),
            ..Memory::default()
        };
        for _ in 0..2 {
            memory.take(&histogram).unwrap();
        }
        let mut small = HistogramShape::default().histogram().unwrap();
        memory.take(&small).unwrap();
        let mut long = HistogramShape::default().histogram().unwrap();
        long.record(1_000_000).unwrap();
        memory.add(&mut small, &long).unwrap();
        assert_eq!(memory.bytes, 2 * bytes(&histogram) + bytes(&small));
        let error = memory.take(&histogram).unwrap_err();
        assert!(matches!(error, Error::TooMuch { tags: 4, .. }), "{error}");
    }
}
