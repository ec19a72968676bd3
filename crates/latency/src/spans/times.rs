//! The times of events in nanoseconds since 1970, without asking the source for each.

use timeline::{Event, Interpolation, Source};

/// When a duration began, and whether somebody was told that it lasts too long.
pub type Begun = (u64, bool);

pub struct SpanTimes<'a> {
    source: &'a dyn Source,
    between: Option<Interpolation>,
}

impl<'a> SpanTimes<'a> {
    pub fn of(source: &'a dyn Source) -> SpanTimes<'a> {
        SpanTimes {
            source,
            between: None,
        }
    }

    #[inline]
    pub fn time(&mut self, event: &Event) -> Option<u64> {
        if let Some(time) = event.time {
            return Some(time.get());
        }
        self.at(event.ticks).or_else(|| self.ask(event))
    }

    /// The time of an event of the ring that was logged at these ticks, if those of events before
    /// tell it.
    #[inline]
    pub fn at(&self, ticks: u64) -> Option<u64> {
        self.between.and_then(|it| it.unix_nanos(ticks))
    }

    #[cold]
    fn ask(&mut self, event: &Event) -> Option<u64> {
        self.between = self.source.interpolation(event);
        self.source.time(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeline::{Attached, Order, Priority, Timeline, event};

    #[test]
    fn times_of_new_events_are_those_of_the_source() {
        let path = format!("/timeline-test-times-{}", std::process::id());
        let tl = Timeline::with_size(&path, 16384, 16384).expect("created");
        let at = Attached::open(&path).expect("attached");
        timeline::unlink(&path).expect("removed");
        for number in 0..10_000_u32 {
            event!(tl, Priority::Info, "engine", "tick {number}", number);
        }
        let mut times = SpanTimes::of(&at);
        let mut asked = 0;
        for event in at.events(Order::OldestFirst) {
            asked += u32::from(times.at(event.ticks).is_none());
            let expected = at.unix_nanos(event.ticks).expect("a time");
            assert_eq!(times.time(&event), Some(expected));
        }
        assert!((1..100).contains(&asked), "{asked}");
    }
}
