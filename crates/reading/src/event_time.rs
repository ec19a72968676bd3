//! When an event was logged.

use timeline::{Event, Source};

/// When an event was logged, as far as that is known.
///
/// # Example
/// ```
/// use timeline_reading::EventTime;
///
/// let older = EventTime { ticks: 100, ..EventTime::default() };
/// let event = EventTime { ticks: 350, ..EventTime::default() };
/// assert_eq!(event.cycles_since(older), Some(250));
/// assert_eq!(event.cycles_since(EventTime::default()), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventTime {
    /// Nanoseconds since 1970.
    pub unix_nanos: Option<u64>,
    /// Ticks of its clock; 0 if they are not known.
    pub ticks: u64,
    /// Whether the event is an important one.
    pub important: bool,
}

impl EventTime {
    /// The time of this event.
    pub fn of(source: &dyn Source, event: &Event) -> EventTime {
        EventTime {
            unix_nanos: source.time(event),
            ticks: event.ticks,
            important: event.important,
        }
    }

    /// Its ticks, without the time, which takes longer to find.
    pub fn of_ticks(event: &Event) -> EventTime {
        EventTime {
            unix_nanos: None,
            ticks: event.ticks,
            important: event.important,
        }
    }

    /// The ticks since an older event of the same clock. Between an important event and another one
    /// there are none, because they are not in one order.
    pub fn cycles_since(&self, older: EventTime) -> Option<u64> {
        let are_known = self.ticks != 0 && older.ticks != 0;
        (are_known && self.important == older.important)
            .then(|| self.ticks.saturating_sub(older.ticks))
    }
}
