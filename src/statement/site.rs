//! Call sites: remember the event of a statement for each timeline and priority.

use super::Arguments;
use super::arguments::List;
use super::message::with_types;
use crate::error::Result;
use crate::event::{EventId, FieldType, Priority};
use crate::sync::{AtomicU64, Ordering};
use crate::timeline::Timeline;

/// One statement, in static memory.
pub struct Site {
    category: &'static str,
    message: &'static str,
    place: (&'static str, u32),
    /// Its events for up to 8 pairs of a timeline and a priority: the timeline's number in 32 bits,
    /// the priority in 8, the event in 24. After a failure, [`FAILED`] is added to the priority,
    /// and the 24 bits count the runs since.
    events: [AtomicU64; 8],
}

/// No priority has this bit.
const FAILED: u64 = 0x80;
/// The bits of the event, or of the count of runs.
const LOWER: u64 = 0xff_ffff;
/// One of so many runs after a failure tries again.
const RETRY: u64 = 1024;

impl Site {
    /// A site that knows no event yet.
    pub const fn new(
        category: &'static str,
        message: &'static str,
        place: (&'static str, u32),
    ) -> Site {
        Site {
            category,
            message,
            place,
            events: [const { AtomicU64::new(0) }; 8],
        }
    }

    /// The event of this statement, if it is enabled. Defines it in the first run.
    #[inline(always)]
    pub fn event<A: List>(
        &self,
        timeline: &Timeline,
        priority: Priority,
        _: Arguments<A>,
    ) -> Option<EventId> {
        let (word, pair) = self.known(timeline, priority);
        // Relaxed: the word guards nothing but itself.
        let found = word.load(Ordering::Relaxed);
        let event = match found >> 24 == pair {
            true => EventId((found & LOWER) as u32),
            false => self.define(timeline, priority, A::types)?,
        };
        timeline.enabled(event).then_some(event)
    }

    /// The word for a timeline and a priority, and its upper bits if it holds their event.
    #[inline(always)]
    fn known(&self, timeline: &Timeline, priority: Priority) -> (&AtomicU64, u64) {
        let number = timeline.number();
        let index = number.wrapping_add(priority as u32) % 8;
        let pair = u64::from(number) << 8 | priority as u64;
        (&self.events[index as usize], pair)
    }

    #[cold]
    #[inline(never)]
    fn define(
        &self,
        timeline: &Timeline,
        priority: Priority,
        types: fn() -> Vec<FieldType<'static>>,
    ) -> Option<EventId> {
        let (word, pair) = self.known(timeline, priority);
        let failed = pair | FAILED;
        // Relaxed, here and below: the word guards nothing but itself.
        let order = Ordering::Relaxed;
        let runs = word.fetch_update(order, order, |found| {
            (found >> 24 == failed).then_some(found & !LOWER | (found + 1) & LOWER)
        });
        let too_early = runs.is_ok_and(|before| !(before + 1).is_multiple_of(RETRY));
        if !too_early {
            if let Ok(event) = self.define_now(timeline, priority, &types()) {
                word.store(pair << 24 | u64::from(event.0), order);
                return Some(event);
            }
            if let Err(before) = runs {
                // Unless another thread has defined it meanwhile.
                let _ = word.compare_exchange(before, failed << 24, order, order);
            }
        }
        timeline.dropped_undefined(priority);
        None
    }

    fn define_now(
        &self,
        timeline: &Timeline,
        priority: Priority,
        types: &[FieldType<'static>],
    ) -> Result<EventId> {
        let message = with_types(self.message, types);
        timeline.define_event(self.category, priority, &message, types, self.place)
    }
}
