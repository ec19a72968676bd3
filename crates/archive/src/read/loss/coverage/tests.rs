//! Tests of what the frames of an archive cover, beside a naive twin.

use proptest::prelude::*;

use super::*;
use crate::format::varint::NumberReader;

/// What a frame says of a lane.
fn said() -> impl Strategy<Value = (u64, u64, u64)> {
    (0..3_u64, 0..40_u64, 0..9_u64).prop_map(|(lane, from, count)| (lane, from, from + count))
}

proptest! {
    /// The naive twin notes of each entry whether a frame has it.
    #[test]
    fn holes_are_what_no_frame_has(
        frames in prop::collection::vec(said(), 0..40),
        begins in prop::collection::vec((0..3_u64, 0..40_u64), 0..3),
        states in any::<bool>(),
        files in 1..4_usize,
    ) {
        let mut parts = vec![Coverage::default(); files];
        let mut has = [[false; 64]; 3];
        let (mut least, mut most) = ([u64::MAX; 3], [0; 3]);
        let mut twice = 0;
        for (at, (lane, from, next)) in frames.iter().enumerate() {
            parts[at % files].event(7, *lane, (*from, *next), at);
            let lane = *lane as usize;
            for number in *from..*next {
                twice += u64::from(std::mem::replace(&mut has[lane][number as usize], true));
            }
            least[lane] = least[lane].min(*from);
            most[lane] = most[lane].max(*next);
        }
        let positions: BTreeMap<u64, u64> = begins.into_iter().collect();
        let missed = LossRecord {
            magic: Some(7),
            count: Some(0),
            positions: positions.clone().into_iter().collect(),
            ..LossRecord::default()
        };
        if states {
            parts[0].missed(&missed, 0);
            for lane in 0..3 {
                let stated = positions.get(&lane);
                let lane = lane as usize;
                // A lane that is not named begins at 0, if it is anywhere.
                let is_there = most[lane] > 0 || least[lane] < u64::MAX;
                match stated {
                    Some(stated) => {
                        least[lane] = least[lane].min(*stated);
                        most[lane] = most[lane].max(*stated);
                    }
                    None if is_there => least[lane] = 0,
                    None => {}
                }
            }
        }
        let mut all = Coverage::default();
        for part in &parts {
            let mut bytes = Vec::new();
            part.encode(&mut bytes);
            let part = Coverage::decode(&mut NumberReader(&bytes), 1_000).unwrap();
            all.add_file(&part, 0);
        }
        let missing = (0..3).map(|lane| {
            let range = least[lane].min(most[lane])..most[lane];
            range.filter(|number| !has[lane][*number as usize]).count() as u64
        });
        let expected = if states { missing.sum() } else { 0 };
        let entries: u64 = all.holes().iter().map(|hole| hole.entries).sum();
        prop_assert_eq!(entries, expected);
        prop_assert!(!all.is_full() && all.repeated() == twice);
    }
}

#[test]
fn memory_is_bounded_and_nothing_is_said_beyond() {
    let mut coverage = Coverage::default();
    let begin = LossRecord {
        magic: Some(7),
        count: Some(0),
        ..LossRecord::default()
    };
    coverage.missed(&begin, 0);
    for number in (0..4 * MOST as u64).rev() {
        coverage.event(7, number % 3, (2 * number, 2 * number + 1), 0);
    }
    assert!(coverage.is_full() && coverage.holes().is_empty());
    assert!(coverage.pieces <= MOST);
}

/// A frame of some bytes may name a ring of its own, and a lane with any number.
#[test]
fn memory_is_bounded_by_frames_whatever_rings_and_lanes_they_name() {
    let mut all = Coverage::default();
    for magic in 0..2 * MOST_RINGS as u64 {
        all.event(magic, 4_095, (0, 1), 0);
        all.missed(
            &LossRecord {
                magic: Some(magic),
                ..LossRecord::default()
            },
            0,
        );
        assert_eq!(all.is_full(), magic >= MOST_RINGS as u64);
    }
    assert_eq!(
        (all.rings.len(), all.by_magic.len()),
        (MOST_RINGS, MOST_RINGS)
    );
    let few: usize = all.rings.iter().map(|ring| ring.few.capacity()).sum();
    assert_eq!(few, 0, "one lane of each ring, far from 0");

    // All lanes are found, in whatever order they come.
    let mut all = Coverage::default();
    let lanes = || (0..5_000_u64).map(|lane| lane * 7_919 % 5_000);
    for at in [0, 1] {
        for lane in lanes() {
            all.event(7, lane, (at, at + 1), 0);
        }
    }
    assert_eq!((all.rings[0].lanes.len(), all.repeated()), (5_000, 0));
    assert!(all.rings[0].few.len() > 4_000);
    assert!(lanes().all(|lane| all.rings[0].known(lane).is_some()));
}

#[test]
fn blocks_that_do_not_say_where_they_begin_prove_nothing() {
    let mut coverage = Coverage::default();
    let begin = LossRecord {
        magic: Some(7),
        count: Some(0),
        ..LossRecord::default()
    };
    coverage.missed(&begin, 0);
    let block = Block {
        magic: Some(7),
        count: Some(3),
        positions: vec![(1, 5)],
        ..Block::default()
    };
    coverage.block(&block, 9);
    assert_eq!(coverage.holes(), []);
    coverage.event(8, 1, (3, 4), 20);
    coverage.event(8, 1, (7, 8), 30);
    assert_eq!(
        coverage.holes(),
        [],
        "nor do single events without a beginning"
    );
    let from = vec![(1, 2)];
    let mut coverage = Coverage::default();
    coverage.missed(&begin, 0);
    assert_eq!(coverage.block(&Block { from, ..block }, 9), 2);
    assert_eq!(
        coverage.holes(),
        [Hole {
            place: 9,
            entries: 2
        }]
    );
}
