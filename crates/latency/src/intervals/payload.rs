//! Encodes histograms as a log has them, and decodes what anybody may have written.
//!
//! The bytes are checked before the decoder of `hdrhistogram` gets them (encoding.rs), because it
//! allocates what a header says, and adds what counts say.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use super::encoding::{self, EncodedHistogram};
use super::error::Flaw;
use super::shape::HIGHEST;

/// The base64 of a histogram.
pub fn encode(
    histogram: &Histogram<u64>,
    serializer: &mut V2DeflateSerializer,
) -> Result<String, String> {
    let mut bytes = Vec::new();
    let written = serializer.serialize(histogram, &mut bytes);
    written.map_err(|error| error.to_string())?;
    Ok(STANDARD.encode(bytes))
}

/// What numbers a histogram was of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    Whole,
    /// Of which whole nanoseconds say as much.
    Floats,
    /// Of which some have digits that whole nanoseconds do not have.
    Rounded,
}

/// The histogram of this base64, and what numbers it was of; for floating-point ones, 1 is `unit`
/// nanoseconds. It takes at most so many bytes of memory, and while it is read three times as many.
pub fn decode(text: &str, unit: f64, most: u64) -> Result<(Histogram<u64>, NumberKind), Flaw> {
    let bytes = STANDARD.decode(text).map_err(|error| Flaw::Base64 {
        reason: error.to_string(),
    })?;
    let encoded = EncodedHistogram::read(&bytes, most)?;
    let mut histogram = Deserializer::new()
        .deserialize::<u64, _>(&mut &encoded.flat()[..])
        .map_err(undecoded)?;
    histogram.auto(true);
    match encoded.ratio {
        None => Ok((histogram, NumberKind::Whole)),
        Some(ratio) => scaled(&histogram, ratio * unit, most),
    }
}

fn undecoded(error: impl std::fmt::Display) -> Flaw {
    Flaw::Encoding {
        found: error.to_string(),
    }
}

/// The same in nanoseconds, where 1 is so many.
fn scaled(
    histogram: &Histogram<u64>,
    nanos: f64,
    most: u64,
) -> Result<(Histogram<u64>, NumberKind), Flaw> {
    let longest = histogram.max() as f64 * nanos;
    if !(nanos > 0.0 && longest < HIGHEST as f64) {
        return Err(Flaw::Header {
            field: "nanoseconds for each of its numbers",
            found: nanos.to_string(),
            expected: "more than 0, and none that is longer than 292 years",
        });
    }
    let (digits, longest) = (histogram.sigfig(), (longest as u64).max(2));
    let buckets = encoding::buckets(1, longest, digits.into()).unwrap_or(u64::MAX / 8);
    encoding::check_memory(buckets, most)?;
    let mut scaled = Histogram::new_with_bounds(1, longest, digits).map_err(undecoded)?;
    scaled.auto(true);
    let (mut numbers, unsure) = (NumberKind::Floats, 0.1_f64.powi(digits.into()));
    for bucket in histogram.iter_recorded() {
        let value = histogram.median_equivalent(bucket.value_iterated_to()) as f64 * nanos;
        if (value - value.round()).abs() > value * unsure {
            numbers = NumberKind::Rounded;
        }
        let recorded = scaled.record_n(value.round() as u64, bucket.count_at_value());
        recorded.map_err(undecoded)?;
    }
    Ok((scaled, numbers))
}
