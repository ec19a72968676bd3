//! The times of events in nanoseconds since 1970, without asking the source for each.

use timeline::{Event, Interpolation, Source};

/// When a duration began, and whether somebody was told that it lasts too long.
pub type Begun = (u64, bool);

/// So many bits have the ticks over which the newest events of a ring are on one line: less than a
/// millisecond.
const BITS: u32 = 20;

pub struct Times<'a> {
    source: &'a dyn Source,
    between: Option<Interpolation>,
    line: Option<Line>,
}

/// The times of events that are newer than any anchor of their ring.
#[derive(Clone, Copy)]
struct Line {
    from: u64,
    time: u64,
    /// Until 2^`BITS` ticks later.
    elapsed: u64,
}

impl<'a> Times<'a> {
    pub fn of(source: &'a dyn Source) -> Times<'a> {
        Times {
            source,
            between: None,
            line: None,
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
        let time = self.between.and_then(|it| it.unix_nanos(ticks));
        time.or_else(|| self.line?.time(ticks))
    }

    #[cold]
    fn ask(&mut self, event: &Event) -> Option<u64> {
        self.between = self.source.interpolation(event);
        let time = self.source.time(event)?;
        self.line = None;
        if self.between.is_none() {
            let later = Event {
                ticks: event.ticks.saturating_add(1 << BITS),
                payload: None,
                ..*event
            };
            let elapsed = self.source.time(&later).and_then(|it| it.checked_sub(time));
            // So that no product is too large.
            self.line = elapsed
                .filter(|it| it >> (63 - BITS) == 0)
                .map(|elapsed| Line {
                    from: event.ticks,
                    time,
                    elapsed,
                });
        }
        Some(time)
    }
}

impl Line {
    #[inline]
    fn time(&self, ticks: u64) -> Option<u64> {
        let since = ticks.wrapping_sub(self.from);
        (since >> BITS == 0).then(|| self.time + ((since * self.elapsed) >> BITS))
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
        // After the last anchor, which is of the attachment.
        for number in 0..10_000_u32 {
            event!(tl, Priority::Info, "engine", "tick {number}", number);
        }
        let mut times = Times::of(&at);
        let mut asked = 0;
        for event in at.events(Order::OldestFirst) {
            let (found, line) = (times.time(&event), times.line.map(|line| line.from));
            asked += u32::from(line == Some(event.ticks));
            let expected = at.unix_nanos(event.ticks).expect("a time");
            assert!(found.expect("a time").abs_diff(expected) <= 2);
        }
        assert!((1..5_000).contains(&asked), "{asked}");
    }
}
