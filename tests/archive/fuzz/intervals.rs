//! Makes interval logs, and histograms in them.

use timeline_latency::intervals::{HistogramShape, Interval, LogHeader, LogWriter};

const SECOND: u64 = 1_000_000_000;

/// Logs as they are written, and others as people may have them; names and bytes.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let start = Some(1_500_000_040 * SECOND);
    let base = Some(1_500_003_640 * SECOND);
    let plain = |log: Vec<u8>| [vec![0], log].concat();
    let java = |log: Vec<u8>| [vec![2], log].concat();
    let other = b"#[StartTime: 1E3]\r\n0.5 1 2.5 HISTFAAAACh4nJNpmSzMwMDAxAABzFCaEUoz2X+AMIA\n";
    vec![
        ("both-times", plain(log(start, base))),
        ("start-time", java(log(start, None))),
        ("base-time", java(log(None, base))),
        ("no-time", plain(log(None, None))),
        ("damaged", plain(other.to_vec())),
        ("histogram", histogram(3, 1 << 20, &[0xff, 0x03, 14, 3, 2])),
        ("many-digits", histogram(5, 1 << 12, &[2, 2, 2])),
        ("large", histogram(5, i64::MAX as u64, &[2])),
        ("v0", words(0x1c84_9388, &[3], &[0, 1, 0, 5])),
        ("v1", words(0x1c84_9381, &[32, 0, 3], &[0, 0, 7, 1])),
        ("floats", floats(&[2, 2, 0xff, 0x03, 14])),
    ]
}

fn log(start_time: Option<u64>, base_time: Option<u64>) -> Vec<u8> {
    let header = LogHeader {
        comments: vec!["a comment".into()],
        start_time,
        base_time,
    };
    let mut log = LogWriter::new(Vec::new(), &header).expect("memory");
    let origin = base_time.unwrap_or(0);
    for (number, tag) in [None, Some("a"), Some("ß=1")].into_iter().enumerate() {
        let mut histogram = HistogramShape::default().histogram().expect("a shape");
        for value in 0..number as u64 * 20 {
            histogram.record(value * value * 1_000).expect("it grows");
        }
        let interval = Interval {
            tag: tag.map(Into::into),
            start: origin + number as u64 * SECOND / 2,
            length: SECOND / 2,
            origin,
            histogram,
        };
        log.write(&interval).expect("an interval");
    }
    log.into_inner().expect("memory")
}

/// Those of an encoding whose counts are words of eight bytes; these fields stand before its lowest
/// and its highest value.
fn words(cookie: u32, fields: &[u32], counts: &[u64]) -> Vec<u8> {
    let mut bytes = [&[1][..], &cookie.to_be_bytes()].concat();
    fields
        .iter()
        .for_each(|field| bytes.extend(field.to_be_bytes()));
    for long in [1, 1 << 20, 1.0_f64.to_bits()] {
        bytes.extend(long.to_be_bytes());
    }
    counts
        .iter()
        .for_each(|count| bytes.extend(count.to_be_bytes()));
    bytes
}

/// Those of floating-point numbers.
fn floats(counts: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1];
    for word in [0x0c72_124e, 3, 0, 1 << 20] {
        bytes.extend(u32::to_be_bytes(word));
    }
    bytes.extend(&histogram(3, 1 << 20, counts)[1..]);
    bytes
}

/// The bytes that the base64 of a histogram stands for, not compressed.
fn histogram(digits: u32, high: u64, counts: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1];
    for word in [0x1c84_9313, counts.len() as u32, 0, digits] {
        bytes.extend(word.to_be_bytes());
    }
    for long in [1, high, 1.0_f64.to_bits()] {
        bytes.extend(long.to_be_bytes());
    }
    bytes.extend(counts);
    bytes
}
