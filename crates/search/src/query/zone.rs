//! Finds the local time zone.

use std::fs;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The time zone of the user: that of the environment variable `TZ`, or that of `/etc/localtime`.
/// UTC if neither says one.
///
/// # Example
/// ```
/// use jiff::{Timestamp, tz::TimeZone};
/// let noon: Timestamp = "2026-11-23T12:00:00Z".parse()?;
/// let local = timeline_search::local_zone().to_offset(noon);
/// assert_eq!(local, TimeZone::system().to_offset(noon));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn local_zone() -> TimeZone {
    // `TimeZone::system` reads all folders of the zoneinfo database to find the name of the zone,
    // which takes a millisecond. Nothing here shows that name.
    if timeline::internal::variable("TZ").is_some() {
        return TimeZone::system();
    }
    let rules = fs::read("/etc/localtime").ok();
    let zone = rules.and_then(|rules| TimeZone::tzif("local", &rules).ok());
    zone.unwrap_or(TimeZone::UTC)
}

/// The present time in the local time zone.
///
/// # Example
/// ```
/// let today = timeline_search::moment("today", &timeline_search::local_now())?;
/// assert!(today <= timeline_search::moment("now", &timeline_search::local_now())?);
/// # Ok::<(), timeline_search::Error>(())
/// ```
pub fn local_now() -> Zoned {
    Timestamp::now().to_zoned(local_zone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_times_are_those_of_the_system() {
        let (local, system) = (local_zone(), TimeZone::system());
        // Two a day, so that changes to summer time and back are among them.
        for half_day in 0..130 * 730 {
            let time = Timestamp::from_second(half_day * 43_200).unwrap();
            assert_eq!(local.to_offset(time), system.to_offset(time), "{time}");
        }
        assert_eq!(local_now().offset(), Zoned::now().offset());
    }
}
