//! Tests that no bytes make the reader panic, or take more memory than allowed.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;

use super::*;

/// A header as a histogram has it, each field of which may be another.
#[derive(Clone, Copy)]
struct Header {
    cookie: u32,
    bytes: u32,
    offset: u32,
    digits: u32,
    low: u64,
    high: u64,
    ratio: f64,
}

const USUAL: Header = Header {
    cookie: 0x1c84_9313,
    bytes: 1,
    offset: 0,
    digits: 3,
    low: 1,
    high: 3_600_000_000_000,
    ratio: 1.0,
};

/// The line of an interval with this histogram.
fn line(header: Header, counts: &[u8]) -> String {
    let mut flat = Vec::new();
    flat.extend(header.cookie.to_be_bytes());
    flat.extend(header.bytes.to_be_bytes());
    flat.extend(header.offset.to_be_bytes());
    flat.extend(header.digits.to_be_bytes());
    flat.extend(header.low.to_be_bytes());
    flat.extend(header.high.to_be_bytes());
    flat.extend(header.ratio.to_be_bytes());
    flat.extend(counts);
    packed(&flat)
}

fn packed(flat: &[u8]) -> String {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(flat).unwrap();
    let packed = packed.finish().unwrap();
    let mut bytes = 0x1c84_9314_u32.to_be_bytes().to_vec();
    bytes.extend((packed.len() as u32).to_be_bytes());
    bytes.extend(packed);
    format!("1.0,1.0,1.0,{}\n", STANDARD.encode(bytes))
}

/// What is wrong with the only line of a log.
fn flaw(line: &str, options: ReaderOptions) -> Flaw {
    let read = LogReader::new(line.as_bytes(), options).next();
    match read {
        Some(Err(Error::Line { number: 1, flaw })) => flaw,
        other => panic!("{other:?}"),
    }
}

/// A count as a histogram has it.
fn varint(count: i64) -> Vec<u8> {
    let mut rest = (count << 1 ^ count >> 63) as u64;
    let mut bytes = Vec::new();
    while bytes.len() < 8 && rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

#[test]
fn a_usual_header_is_read() {
    let counts = [varint(-500), varint(7)].concat();
    // Writers in JavaScript say that the counts are shifted by one and stand for other numbers.
    for (offset, ratio) in [(0, 1.0), (1, f64::from_bits(1))] {
        let header = Header {
            bytes: counts.len() as u32,
            offset,
            ratio,
            ..USUAL
        };
        let log = line(header, &counts);
        let found = read(log.as_bytes(), ReaderOptions::default());
        assert_eq!(super::counts(&found[0].histogram), [(500, 7)]);
    }
}

#[test]
fn headers_that_cannot_be_are_refused_before_they_cost_anything() {
    for (header, said) in [
        (
            Header { digits: 6, ..USUAL },
            "says 6 significant digits, expected 0 to 5",
        ),
        (Header { low: 0, ..USUAL }, "says 0 as its lowest value"),
        (
            Header {
                low: u64::MAX,
                ..USUAL
            },
            "as its lowest value",
        ),
        (Header { high: 1, ..USUAL }, "says 1 as its highest value"),
        (
            Header {
                high: u64::MAX,
                ..USUAL
            },
            "as its highest value",
        ),
        (
            Header {
                bytes: u32::MAX,
                ..USUAL
            },
            "bytes of counts",
        ),
        (
            Header {
                bytes: 100,
                ..USUAL
            },
            "expected 100 bytes of a histogram, got 1",
        ),
        (
            Header {
                cookie: 0x1c84_9311,
                ..USUAL
            },
            "1c849311",
        ),
        (
            Header {
                cookie: 0x0c72_124e,
                ..USUAL
            },
            "0c72124e",
        ),
        (Header { cookie: 7, ..USUAL }, "00000007"),
    ] {
        let flaw = flaw(&line(header, &[0]), ReaderOptions::default()).to_string();
        assert!(flaw.contains(said), "{flaw}");
    }
}

#[test]
fn histograms_beyond_the_limit_are_refused() {
    let header = Header {
        digits: 5,
        high: HIGHEST,
        ..USUAL
    };
    let options = ReaderOptions {
        most_histogram: 1 << 20,
        ..ReaderOptions::default()
    };
    let refused = flaw(&line(header, &[0]), options);
    assert!(
        matches!(
            refused,
            Flaw::TooLarge {
                bytes: 48_234_496..,
                most: 1_048_576
            }
        ),
        "{refused:?}"
    );
    assert_eq!(
        read(line(header, &[0]).as_bytes(), ReaderOptions::default()).len(),
        1
    );
}

#[test]
fn a_bomb_is_not_expanded() {
    // A GiB of nothing would be a MiB of the file; this is a hundredth of it.
    let bomb = vec![0; 10 << 20];
    let header = Header {
        bytes: 10 << 20,
        ..USUAL
    };
    let refused = flaw(&line(header, &bomb), ReaderOptions::default());
    assert!(
        matches!(
            refused,
            Flaw::Header {
                field: "bytes of counts",
                ..
            }
        ),
        "{refused:?}"
    );
    // What comes behind the counts is not looked at.
    let found = read(line(USUAL, &bomb).as_bytes(), ReaderOptions::default());
    assert!(found[0].histogram.is_empty());
}

#[test]
fn counts_that_cannot_be_are_refused() {
    for (counts, said) in [
        (varint(i64::MIN), "beyond the highest value"),
        (
            [varint(i64::MIN), varint(i64::MIN)].concat(),
            "beyond the highest value",
        ),
        (varint(-1_000_000), "beyond the highest value"),
        (
            [varint(i64::MAX), varint(1)].concat(),
            "more than 63 bits can count",
        ),
        (vec![0x80], "a count is cut off"),
        (vec![0xff; 8], "a count is cut off"),
    ] {
        let header = Header {
            bytes: counts.len() as u32,
            ..USUAL
        };
        let flaw = flaw(&line(header, &counts), ReaderOptions::default()).to_string();
        assert!(flaw.contains(said), "{counts:x?}: {flaw}");
    }
    let most = varint(i64::MAX);
    let header = Header {
        bytes: most.len() as u32,
        ..USUAL
    };
    let found = read(line(header, &most).as_bytes(), ReaderOptions::default());
    assert_eq!(found[0].histogram.len(), HIGHEST);
    assert_eq!(SummaryRow::from(&found[0].histogram).count, HIGHEST);
}

#[test]
fn damaged_lines_are_reported_with_their_numbers_and_passed_over() {
    let whole = String::from_utf8(log(
        &LogHeader::default(),
        &[interval(Some("a"), 1, 1, &[5])],
    ));
    let whole = whole.unwrap();
    let good = whole.lines().last().unwrap();
    let cut = &good[..good.len() - 8];
    let log = format!(
        "{good}\nnonsense\n# comment\n{cut}\n{}\n1,2,3,!\n{good}",
        "x".repeat(600)
    );
    let options = ReaderOptions {
        skip_damaged: true,
        most_line: 500,
        ..ReaderOptions::default()
    };
    let mut reader = LogReader::new(log.as_bytes(), options.clone());
    let entries = reader.by_ref().map(|entry| entry.unwrap());
    assert_eq!(
        entries
            .filter(|entry| matches!(entry, LogEntry::Interval(_)))
            .count(),
        2
    );
    assert_eq!(reader.damaged(), 4);
    let numbers: Vec<_> = reader
        .flaws()
        .iter()
        .map(|damaged| damaged.number)
        .collect();
    assert_eq!(numbers, [2, 4, 5, 6]);
    let flaws = reader.flaws();
    assert_eq!(flaws[0].flaw, Flaw::Fields { found: 1 });
    assert_eq!(flaws[2].flaw, Flaw::TooLong { most: 500 });
    assert!(matches!(flaws[3].flaw, Flaw::Base64 { .. }));

    // Without that, each is an error, behind which reading goes on.
    let strict = ReaderOptions {
        skip_damaged: false,
        ..options
    };
    let intervals = LogReader::new(log.as_bytes(), strict).intervals();
    let found: Vec<_> = intervals
        .map(|one| one.map_err(|error| error.to_string()))
        .collect();
    assert_eq!(found.len(), 6);
    assert!(found[0].is_ok() && found[5].is_ok());
    assert!(
        found[1]
            .as_ref()
            .unwrap_err()
            .starts_with("line 2: expected a start")
    );

    let many = "x\n".repeat(MOST_FLAWS + 7);
    let options = ReaderOptions {
        skip_damaged: true,
        ..ReaderOptions::default()
    };
    let mut reader = LogReader::new(many.as_bytes(), options);
    assert!(reader.next().is_none());
    assert_eq!(reader.damaged(), MOST_FLAWS as u64 + 7);
    assert_eq!(reader.flaws().len(), MOST_FLAWS);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = LogReader::new(&bytes[..], ReaderOptions::default()).count();
    }

    #[test]
    fn nor_does_a_log_with_changes(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        java in any::<bool>(),
    ) {
        let header = LogHeader {
            start_time: Some(1_500_000_040 * SECOND),
            base_time: Some(1_500_003_640 * SECOND),
            ..LogHeader::default()
        };
        let start = 1_500_003_640 * SECOND;
        let mut log = log(&header, &[
            interval(Some("a"), start, 1, &[5, 900, 77_777]),
            interval(None, start + SECOND, 1, &[123_456_789]),
        ]);
        for (place, byte) in changes {
            let at = place.index(log.len());
            log[at] = byte;
        }
        let rules = if java { TimeRules::Java } else { TimeRules::Plain };
        let options = ReaderOptions { rules, most_histogram: 1 << 20, ..ReaderOptions::default() };
        for entry in LogReader::new(&log[..], options) {
            if let Ok(LogEntry::Interval(interval)) = entry {
                let _ = (SummaryRow::from(&interval.histogram), interval.end(), interval.offset());
            }
        }
    }

    #[test]
    fn nor_does_any_histogram_in_a_valid_shell(
        flat in prop::collection::vec(any::<u8>(), 0..60),
        counts in prop::collection::vec(any::<u8>(), 0..40),
        digits in 0_u32..7,
        low in prop::sample::select(
            vec![1, 2, 1000, (1 << 53) - 1, (1 << 54) - 1, 1 << 61, 1 << 62],
        ),
        high in 0..=64_u32,
    ) {
        let _ = LogReader::new(packed(&flat).as_bytes(), ReaderOptions::default()).count();
        let header = Header {
            bytes: counts.len() as u32,
            digits,
            low,
            high: 1_u64.checked_shl(high).unwrap_or(u64::MAX),
            ..USUAL
        };
        let line = line(header, &counts);
        let options = ReaderOptions { most_histogram: 1 << 18, ..ReaderOptions::default() };
        for entry in LogReader::new(line.as_bytes(), options) {
            if let Ok(LogEntry::Interval(interval)) = entry {
                let histogram = &interval.histogram;
                let row = SummaryRow::from(histogram);
                let _ = (spark_line(histogram, (1, 1 << 40), 8), corrected(histogram, 1_000));
                let mut text = Vec::new();
                Distribution::default().write(histogram, &mut text).unwrap();
                prop_assert!(row.min <= row.max);
            }
        }
    }
}
