//! Units: the parts of an archive that are read at once.

use std::ops::Range;

use crate::read::loss::gaps::Gap;

/// Consecutive frames with events, and the ticks and times of the first and the last event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The range of the record of a block, or of whole frames of single events and of the records
    /// that these refer to.
    pub place: Range<usize>,
    /// How many bytes of the frame of a block are before the record; else 0.
    pub head: u8,
    /// Whether this is a block.
    pub block: bool,
    /// The number of events that the record promises.
    pub count: u64,
    pub ticks: (u64, u64),
    pub unix: (u64, u64),
    /// Whether these are important events. All or none are.
    pub important: bool,
    /// The gap before its first event.
    pub gap: Option<Gap>,
    /// The checksum of all of its bytes, as they were when its frames were found whole.
    pub sum: Option<u32>,
    /// Whether its bytes were not read when the archive was opened: an outline said what they are.
    pub passed: bool,
    /// The hint by which the kinds of all its records were found; all are events then.
    pub hint: Option<usize>,
    /// The digest of the frames of its file up to its end.
    pub digest: u64,
}

/// What is known of a unit before it is read: of a block, or of up to 4,096 single events that
/// stand together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitInfo {
    /// How many units are before it.
    pub number: usize,
    /// Its bytes in the archive; of several files, as if they were joined.
    pub place: Range<usize>,
    /// How many events it promises.
    pub count: u64,
    /// The least and the most ticks of its events; 0 stands for those that are not known.
    pub ticks: (u64, u64),
    /// The first and the last time of its events, in nanoseconds since 1970; 0 stands for those
    /// that are not known.
    pub unix: (u64, u64),
    /// Whether its events are important: all or none are.
    pub important: bool,
    /// Whether it is a block.
    pub block: bool,
    /// Whether entries are missing before an event of it.
    pub has_gap: bool,
    /// A digest of the frames of its file from the first to its last: of the place and the checksum
    /// of each. Another file has another one.
    pub digest: u64,
}

impl UnitInfo {
    /// The first and the last time of its events, in nanoseconds since 1970, if both are known.
    pub fn times(&self) -> Option<(u64, u64)> {
        let is_known = |time: u64| time > 0 && time < u64::MAX;
        let (first, last) = self.unix;
        (is_known(first) && is_known(last)).then_some((first, last))
    }

    /// Whether it may have events of these times, in nanoseconds since 1970. If its times are not
    /// known, it may.
    pub fn may_have(&self, times: &Range<u64>) -> bool {
        let (first, last) = self.unix;
        let are_known = first != 0 && last != 0;
        !are_known || (first < times.end && times.start <= last)
    }
}

impl Unit {
    /// The range of its frames.
    pub fn frames(&self) -> Range<usize> {
        self.place.start - usize::from(self.head)..self.place.end
    }

    pub fn info(&self, number: usize) -> UnitInfo {
        UnitInfo {
            number,
            place: self.place.clone(),
            count: self.count,
            ticks: self.ticks,
            unix: self.unix,
            important: self.important,
            block: self.block,
            has_gap: self.gap.is_some(),
            digest: self.digest,
        }
    }
}
