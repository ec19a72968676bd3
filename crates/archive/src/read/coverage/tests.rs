//! Tests of what the frames of an archive cover, beside a naive twin.

use proptest::prelude::*;

use super::*;
use crate::format::varint::Cursor;

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
        let missed = Missed {
            magic: Some(7),
            count: Some(0),
            positions: positions.clone().into_iter().collect(),
            ..Missed::default()
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
            let part = Coverage::decode(&mut Cursor(&bytes), 1_000).unwrap();
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
    let begin = Missed {
        magic: Some(7),
        count: Some(0),
        ..Missed::default()
    };
    coverage.missed(&begin, 0);
    for number in (0..4 * MOST as u64).rev() {
        coverage.event(7, number % 3, (2 * number, 2 * number + 1), 0);
    }
    assert!(coverage.is_full() && coverage.holes().is_empty());
    assert!(coverage.pieces <= MOST);
}

#[test]
fn blocks_that_do_not_say_where_they_begin_prove_nothing() {
    let mut coverage = Coverage::default();
    let begin = Missed {
        magic: Some(7),
        count: Some(0),
        ..Missed::default()
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
