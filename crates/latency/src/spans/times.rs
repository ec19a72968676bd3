//! The times of events in nanoseconds since 1970, without asking the source for each.

use timeline::{Event, Interpolation, Source};

/// When a duration began, and whether somebody was told that it lasts too long.
pub type Begun = (u64, bool);

pub struct Times<'a> {
    source: &'a dyn Source,
    between: Option<Interpolation>,
}

impl<'a> Times<'a> {
    pub fn of(source: &'a dyn Source) -> Times<'a> {
        Times {
            source,
            between: None,
        }
    }

    #[inline]
    pub fn time(&mut self, event: &Event) -> Option<u64> {
        if let Some(time) = event.time {
            return Some(time.get());
        }
        let time = self.between.and_then(|it| it.unix_nanos(event.ticks));
        time.or_else(|| {
            self.between = self.source.interpolation(event);
            self.source.time(event)
        })
    }
}
