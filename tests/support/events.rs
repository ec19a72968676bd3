//! Events that can be checked.

use timeline::{Attached, Event, EventId, Priority, Timeline};

/// The event that all these tests log: who, the how many-th, and two words that only they give.
pub fn define(timeline: &Timeline) -> EventId {
    timeline
        .define("core", Priority::Info, "step $who $number $mixed $turned")
        .expect("defined")
}

/// Arguments that a torn entry would not have.
pub fn arguments(who: i64, number: i64) -> [i64; 4] {
    let mixed = who
        .wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)
        .wrapping_add(number)
        .wrapping_mul(0x2545_f491_4f6c_dd1d);
    [who, number, mixed, (who ^ !number).rotate_left(17)]
}

/// Who logged this event and the how many-th of theirs it is; fails on a torn one.
pub fn checked(event: &Event) -> (i64, i64) {
    let [who, number, ..] = event.args;
    assert_eq!(event.args, arguments(who, number), "torn: {event:x?}");
    assert!(
        event.ticks != 0 && event.tid != 0 && event.id.0 != 0,
        "half an entry: {event:x?}"
    );
    (who, number)
}

/// Attaches, or says why not.
pub fn attach(path: &str) -> Attached {
    Attached::open(path).unwrap_or_else(|e| panic!("{e}"))
}

/// Numbers that differ from run to run only in where the machine is interrupted.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
