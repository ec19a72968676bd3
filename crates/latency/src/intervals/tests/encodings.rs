//! Tests that histograms of all encodings are read.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;

use super::*;

/// The counts of a histogram of three digits from 1 to 3,600,000,000.
const HIGH: u64 = 3_600_000_000;
const DIGITS: u32 = 3;

fn words(counts: &[u64], word: usize) -> Vec<u8> {
    let bytes = counts.iter().map(|count| count.to_be_bytes());
    bytes.flat_map(|bytes| bytes[8 - word..].to_vec()).collect()
}

/// V0 as HdrHistogram 1 wrote it.
fn v0(counts: &[u64], word: usize) -> Vec<u8> {
    let cookie = 0x1c84_9308 | (word as u32) << 4;
    let mut bytes = [cookie.to_be_bytes(), DIGITS.to_be_bytes()].concat();
    for long in [1, HIGH, counts.iter().sum()] {
        bytes.extend(long.to_be_bytes());
    }
    bytes.extend(words(counts, word));
    bytes
}

/// V1 as HdrHistogram wrote it from 2.0 to 2.1.7.
fn v1(counts: &[u64], word: usize) -> Vec<u8> {
    let words = words(counts, word);
    let mut bytes = Vec::new();
    for field in [
        0x1c84_9301 | (word as u32) << 4,
        words.len() as u32,
        0,
        DIGITS,
    ] {
        bytes.extend(field.to_be_bytes());
    }
    for long in [1, HIGH, 1.0_f64.to_bits()] {
        bytes.extend(long.to_be_bytes());
    }
    bytes.extend(words);
    bytes
}

/// The same, deflated.
fn deflated(flat: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(flat).unwrap();
    let packed = packed.finish().unwrap();
    let cookie = u32::from_be_bytes(*flat.first_chunk().unwrap()) + 1;
    [
        &cookie.to_be_bytes()[..],
        &(packed.len() as u32).to_be_bytes(),
        &packed,
    ]
    .concat()
}

fn line(bytes: &[u8]) -> String {
    format!("1.0,1.0,1.0,{}\n", STANDARD.encode(bytes))
}

fn only(bytes: &[u8]) -> hdrhistogram::Histogram<u64> {
    let log = line(bytes);
    read(log.as_bytes(), ReaderOptions::default())
        .remove(0)
        .histogram
}

/// The counts of this histogram, as words have them.
fn counts_of(histogram: &hdrhistogram::Histogram<u64>) -> Vec<u64> {
    let of_values = histogram.iter_all().map(|bucket| bucket.count_at_value());
    let mut counts: Vec<u64> = of_values.collect();
    counts.resize(histogram.distinct_values(), 0);
    counts
}

proptest! {
    #[test]
    fn all_versions_say_the_same(
        values in prop::collection::vec((0..=HIGH, 1_u64..9_000), 0..40),
        word in prop::sample::select(vec![2, 4, 8]),
        is_cut in any::<bool>(),
    ) {
        let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, HIGH, 3).unwrap();
        for (value, count) in values {
            // Words of two bytes have no more.
            let free = 32_767 - histogram.count_at(value);
            histogram.record_n(value, count.min(free)).unwrap();
        }
        let mut counts = counts_of(&histogram);
        if is_cut {
            while counts.last() == Some(&0) {
                counts.pop();
            }
        }
        for flat in [v0(&counts, word), v1(&counts, word)] {
            for bytes in [deflated(&flat), flat] {
                let found = only(&bytes);
                prop_assert!(found == histogram);
                prop_assert_eq!(found.high(), HIGH);
            }
        }
    }

    #[test]
    fn no_change_makes_the_reader_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        version in 0..2,
        length in 0_usize..130,
        is_deflated in any::<bool>(),
    ) {
        let counts: Vec<u64> = (0..12).collect();
        let mut flat = if version == 0 { v0(&counts, 8) } else { v1(&counts, 4) };
        flat.truncate(length.max(4));
        for (place, byte) in changes {
            let at = place.index(flat.len());
            flat[at] = byte;
        }
        let bytes = if is_deflated { deflated(&flat) } else { flat };
        let options = ReaderOptions { most_histogram: 1 << 18, ..ReaderOptions::default() };
        let _ = LogReader::new(line(&bytes).as_bytes(), options).count();
    }
}

#[test]
fn words_that_cannot_be_are_refused() {
    let flaw = |bytes: &[u8]| {
        let line = line(bytes);
        let read = LogReader::new(line.as_bytes(), ReaderOptions::default()).next();
        read.unwrap().unwrap_err().to_string()
    };
    let counts = [1, 2, u64::MAX];
    assert!(flaw(&v0(&counts[..2], 8)[..45]).contains("a count is cut off"));
    assert!(flaw(&v1(&counts, 8)).contains("at byte 16: a count is negative"));
    assert!(flaw(&v1(&[1, 1 << 62, 1 << 62], 8)).contains("more than 63 bits"));
    assert!(flaw(&v1(&counts[..2], 8)[..50]).contains("expected 16 bytes of a histogram, got 10"));
    assert!(flaw(&v0(&counts[..2], 8)[..20]).contains("expected 32 bytes of a histogram, got 20"));
    let (mut wide, mut none) = (v1(&[1], 8), v1(&[1], 8));
    wide[3] = 0x61;
    none[3] = 0x01;
    assert!(flaw(&wide).contains("1c849361") && flaw(&none).contains("1c849301"));
    // More than the highest value has no place, and is not expanded.
    let many = vec![1; 100_000];
    assert!(flaw(&deflated(&v0(&many, 8))).contains("beyond the highest value"));
    assert!(flaw(&deflated(&v1(&many, 8))).contains("says 800000 bytes of counts"));
}

/// The histogram of floating-point numbers whose 1 stands for `ratio`.
fn floats(values: &[u64], ratio: f64) -> Vec<u8> {
    use hdrhistogram::serialization::{Serializer, V2Serializer};
    let mut whole = Vec::new();
    V2Serializer::new()
        .serialize(&histogram(values), &mut whole)
        .unwrap();
    whole[32..40].copy_from_slice(&ratio.to_be_bytes());
    let mut bytes = [0x0c72_124f_u32, DIGITS].map(u32::to_be_bytes).concat();
    bytes.extend(1_000_000_u64.to_be_bytes());
    bytes.extend(deflated(&whole));
    bytes
}

#[test]
fn histograms_of_floating_point_numbers_are_read_in_their_unit() {
    let read = |values: &[u64], ratio: f64, unit: f64| {
        let options = ReaderOptions {
            float_unit: unit,
            ..ReaderOptions::default()
        };
        let log = line(&floats(values, ratio));
        let mut reader = LogReader::new(log.as_bytes(), options);
        match reader.next().unwrap() {
            Ok(LogEntry::Interval(one)) => Ok((counts(&one.histogram), reader.guesses())),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    };
    let of = |rounded| Guesses {
        floats: 1,
        rounded,
        ..Guesses::default()
    };
    // 0.5 and 2 milliseconds, by 1024 parts.
    let (part, milli) = (1.0 / 1024.0, 1e6);
    let (half, two) = (500_000, 2_000_000);
    let found = read(&[512, 2_048], part, milli).unwrap();
    let near = |value: u64, found: u64| found.abs_diff(value) <= value / 1_000;
    assert!(
        near(half, found.0[0].0) && near(two, found.0[1].0),
        "{found:?}"
    );
    assert_eq!(found.1, of(0));
    // As nanoseconds, they are rounded, which is told.
    assert_eq!(
        read(&[512, 2_048], part, 1.0).unwrap(),
        (vec![(1, 1), (2, 1)], of(1))
    );
    assert_eq!(
        read(&[0, 7], 1.0, 1.0).unwrap(),
        (vec![(0, 1), (7, 1)], of(0))
    );
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e16] {
        let error = read(&[1_000], ratio, 1.0).unwrap_err();
        assert!(
            error.contains("nanoseconds for each of its numbers"),
            "{error}"
        );
    }
}
