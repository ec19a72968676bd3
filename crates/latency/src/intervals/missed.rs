//! Entries that were overwritten before they were read, and so are in no interval.

use std::fmt::{self, Display, Formatter};

use jiff::Timestamp;

/// How many entries were overwritten before they were read, and when: after the first time, up to
/// which all was read, and before the second one. Times are in nanoseconds since 1970.
///
/// # Example
/// ```
/// use timeline_latency::intervals::Missed;
/// let missed = Missed {
///     entries: 4096,
///     since: 1_500_000_000_000_000_000,
///     until: 1_500_000_002_500_000_000,
/// };
/// assert_eq!(
///     missed.to_string(),
///     "4,096 entries overwritten before they were read, \
///      between 2017-07-14T02:40:00.000Z and 2017-07-14T02:40:02.500Z"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missed {
    /// How many entries.
    pub entries: u64,
    /// Up to this time all was read.
    pub since: u64,
    /// They were overwritten by then.
    pub until: u64,
}

impl Display for Missed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let time = |nanos: u64| {
            let time = Timestamp::from_nanosecond(nanos.into());
            time.map_or_else(|_| nanos.to_string(), |time| format!("{time:.3}"))
        };
        let digits = self.entries.to_string();
        let mut count = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                count.push(',');
            }
            count.push(digit);
        }
        let (since, until) = (time(self.since), time(self.until));
        write!(
            f,
            "{count} entries overwritten before they were read, between {since} and {until}"
        )
    }
}
