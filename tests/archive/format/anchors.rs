//! Tests anchors of all kinds of clocks.
//! The independent reader and the library read the same times from them.

use std::fs;

use proptest::prelude::*;

use super::{assert_same, dumped, independent};
use crate::support::toolchain::root;

fn example() -> Vec<u8> {
    fs::read(root().join("tests/data/example.timeline")).unwrap()
}

/// The ticks of the first event.
fn first(example: &[u8]) -> u64 {
    u64::from_le_bytes(example[0x1f000..0x1f008].try_into().unwrap())
}

/// A timeline with another clock, rate and anchors: ticks, nanoseconds of the monotonic clock, and
/// nanoseconds since some day in 2023.
fn with_anchors(good: &[u8], clock: u32, rate: u64, anchors: &[[u64; 3]]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    bytes[0x44..0x48].copy_from_slice(&clock.to_le_bytes());
    bytes[0x150..0x158].copy_from_slice(&rate.to_le_bytes());
    bytes[0x14..0x18].fill(0);
    let sum = crc32fast::hash(&bytes[..0x800]);
    bytes[0x14..0x18].copy_from_slice(&sum.to_le_bytes());
    bytes[0x940..0xb40].fill(0);
    for (slot, [ticks, monotonic, time]) in anchors.iter().enumerate() {
        let time = 1_700_000_000_000_000_000 + time;
        let words = [slot as u64 + 1, *ticks, *monotonic, time].map(u64::to_le_bytes);
        bytes[0x940 + 32 * slot..][..32].copy_from_slice(&words.concat());
    }
    bytes
}

/// When the last event was, as both readers say.
fn told(timeline: &[u8]) -> Option<u64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("anchors.timeline");
    fs::write(&file, timeline).unwrap();
    let found = independent(&file);
    assert_same(&found, &dumped(&file));
    found[0]["unix_ns"].as_str()?.parse().ok()
}

/// Ticks and time from the first event on, of three to the nanosecond, and by how much the
/// monotonic clock is shifted; `None`: it is not known.
type Shifted = (u64, u64, Option<i64>);

/// When the last event was, with these anchors, if the processor has so many ticks a second; 0:
/// that is not known.
fn told_by(anchors: &[Shifted], rate: u64) -> Option<u64> {
    let good = example();
    let anchors = anchors.iter().map(|(ticks, time, shift)| {
        let monotonic = shift.map_or(0, |shift| (1_000 + time).checked_add_signed(shift).unwrap());
        [first(&good) + ticks, monotonic, *time]
    });
    let anchors: Vec<_> = anchors.collect();
    told(&with_anchors(&good, 1, rate, &anchors))
}

const SECOND: u64 = 1_000_000_000;

/// Anchors of clocks that cannot be compared, or that lie; both readers find the same times.
#[test]
fn anchors_of_other_clocks_are_read_alike_by_both() {
    let day = 86_400_000_000_000;
    let sets: [&[Shifted]; 6] = [
        &[(0, 0, Some(0)), (6 * SECOND, 2 * SECOND, Some(0))],
        &[
            (0, 0, Some(0)),
            (3, 1, Some(day)),
            (6 * SECOND, 2 * SECOND, Some(0)),
        ],
        &[(0, 0, Some(day)), (3 * SECOND, SECOND, Some(0))],
        &[(3 * SECOND, SECOND, None), (6 * SECOND, 2 * SECOND, None)],
        &[
            (3 * SECOND, SECOND, None),
            (6 * SECOND, 2 * SECOND, Some(5)),
            (9 * SECOND, 3 * SECOND, Some(5)),
        ],
        &[
            (6 * SECOND, 9 * SECOND, Some(0)),
            (9 * SECOND, 2 * SECOND, Some(0)),
        ],
    ];
    let seen = sets.map(|anchors| [0, 3_100_000_000].map(|rate| told_by(anchors, rate)));
    // The second event came 6,214 ticks after the first, and what no rate tells is not told.
    let right = Some(1_700_000_000_000_000_000 + 6214 / 3);
    assert_eq!(seen[0], [right; 2]);
    assert_eq!(seen[5], [None; 2], "{seen:?}");
}

/// The events lie before the anchors, and the clocks of the first and the last of them make any
/// rate of the longest span.
#[test]
fn rates_are_believed_alike_by_both() {
    let with_rate = |rate: u64| {
        let shift = (6 * SECOND * SECOND / rate) as i64 - 2 * SECOND as i64;
        [
            (3 * SECOND, SECOND, Some(0)),
            (6 * SECOND, 2 * SECOND, Some(0)),
            (9 * SECOND, 3 * SECOND, Some(shift)),
        ]
    };
    let right = told_by(&with_rate(3 * SECOND), 0);
    let known = [0, 3_100_000_000];
    // Whether they are believed of any processor, and of one of 3.1 GHz.
    for (rates, expected) in [
        (&[90, 11_000][..], [false, false]),
        (&[110, 2_900, 3_300, 9_000], [true, false]),
        (&[2_910, 3_290], [true, true]),
    ] {
        for rate in rates.iter().map(|mhz| mhz * 1_000_000) {
            let told = known.map(|known| told_by(&with_rate(rate), known));
            assert_eq!(told.map(|time| time != right), expected, "{rate}: {told:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(40)
    })]

    /// The same where ticks are the clock that namespaces shift, for any mixture of shifts and
    /// jumps of the wall clock.
    #[test]
    fn anchors_of_a_clock_that_is_shifted_are_read_alike_by_both(
        anchors in proptest::collection::vec((0..4_000u64, 0..6usize, 0..6usize, 0..3u64), 0..17),
    ) {
        let good = example();
        let first = first(&good);
        let mut taken = 0;
        let anchors = anchors.into_iter().map(|(passed, shift, jump, known)| {
            taken += passed;
            let ticks = first - 10_000 + taken + [0, 0, 0, 0, 5_000, 20_000][shift];
            [ticks, ticks * known.min(1), taken + [0, 0, 0, 0, 0, 9_000][jump]]
        });
        let anchors: Vec<_> = anchors.collect();
        told(&with_anchors(&good, 2, 1_000_000_000, &anchors));
    }
}
