//! What is in no interval: it was overwritten before it was read, or an archive lacks it.

use std::fmt::{self, Display, Formatter};

use jiff::Timestamp;

use crate::lack::Lack;

/// What is missing, and when: after the first time, up to which all was read, and before the second
/// one. Times are in nanoseconds since 1970.
///
/// # Example
/// ```
/// use timeline_latency::{Lack, intervals::IntervalLoss};
/// let missed = IntervalLoss {
///     what: Lack::Unread(4096),
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
pub struct IntervalLoss {
    /// What is missing.
    pub what: Lack,
    /// Up to this time all was read.
    pub since: u64,
    /// It was missing by then.
    pub until: u64,
}

impl Display for IntervalLoss {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let time = |nanos: u64| {
            let time = Timestamp::from_nanosecond(nanos.into());
            time.map_or_else(|_| nanos.to_string(), |time| format!("{time:.3}"))
        };
        let IntervalLoss { what, since, until } = *self;
        let (since, until) = (time(since), time(until));
        write!(f, "{what}, between {since} and {until}")
    }
}
