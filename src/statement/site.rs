//! Call sites: remember the event of a statement for each timeline and priority.

use std::sync::OnceLock;

use super::Arguments;
use super::message::with_types;
use super::types::Types;
use crate::error::Result;
use crate::event::{Attributes, EventId, FieldType, Priority};
use crate::ring::log::EnabledEvent;
use crate::sync::{AtomicU64, Ordering};
use crate::timeline::Timeline;

/// What the text of a statement says.
#[derive(Clone, Copy)]
pub struct Words {
    /// Its category.
    pub category: &'static str,
    /// Its message, without the types of arguments.
    pub message: &'static str,
    /// Its file and line.
    pub place: (&'static str, u32),
    /// Its channels, and whether its events are important.
    pub attributes: Attributes<'static>,
}

/// One statement, or one instantiation of it.
pub struct Site {
    words: Words,
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
    pub const fn new(words: Words) -> Site {
        Site {
            words,
            events: [const { AtomicU64::new(0) }; 8],
        }
    }

    /// The event of this statement, if it was defined.
    #[inline(always)]
    pub fn find(&self, timeline: &Timeline, priority: Priority) -> Option<EventId> {
        let (word, pair) = self.known(timeline, priority);
        // Relaxed: the word guards nothing but itself.
        let found = word.load(Ordering::Relaxed) ^ pair << 24;
        (found <= LOWER).then_some(EventId(found as u32))
    }

    /// The word for a timeline and a priority, and its upper bits if it holds their event.
    #[inline(always)]
    fn known(&self, timeline: &Timeline, priority: Priority) -> (&AtomicU64, u64) {
        let number = timeline.number();
        let index = number.wrapping_add(priority as u32) % 8;
        let pair = u64::from(number) << 8 | priority as u64;
        (&self.events[index as usize], pair)
    }

    /// Defines the event and remembers it.
    fn define_first(
        &self,
        timeline: &Timeline,
        priority: Priority,
        types: &[FieldType<'static>],
    ) -> Result<EventId> {
        let (word, pair) = self.known(timeline, priority);
        let event = self.define_now(timeline, priority, types)?;
        // Relaxed: the word guards nothing but itself.
        word.store(pair << 24 | u64::from(event.0), Ordering::Relaxed);
        Ok(event)
    }

    /// Defines the event, or counts it as dropped.
    #[cold]
    #[inline(never)]
    pub fn define(
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
        let Words {
            category,
            message,
            place,
            attributes,
        } = self.words;
        let message = with_types(message, types);
        timeline.define_event(category, priority, &message, types, place, &attributes)
    }
}

/// The sites of a statement, in static memory: one, or one for each of the types that it was run
/// with.
pub struct Sites {
    /// The [`Types::KEY`] of the first one; 0 if it is still free.
    key: AtomicU64,
    site: Site,
    next: OnceLock<Box<Sites>>,
}

impl Sites {
    /// Those of a statement that did not run yet.
    pub const fn new(words: Words) -> Sites {
        Sites {
            key: AtomicU64::new(0),
            site: Site::new(words),
            next: OnceLock::new(),
        }
    }

    /// The event of this statement, if it is enabled. Defines it in the first run.
    #[inline(always)]
    pub fn event<A: Types, F: Find>(
        &'static self,
        timeline: &Timeline,
        priority: Priority,
        _: Arguments<A, F>,
    ) -> Option<EnabledEvent> {
        let site = F::site::<A>(self);
        let event = match site.find(timeline, priority) {
            Some(event) => event,
            None => site.define(timeline, priority, A::types)?,
        };
        timeline.enabled_event(event)
    }

    /// Defines the event, so that the first run takes no lock.
    ///
    /// # Errors
    /// Those of [`Timeline::define_event`].
    pub fn define_first<A: Types, F: Find>(
        &'static self,
        timeline: &Timeline,
        priority: Priority,
        _: Arguments<A, F>,
    ) -> Result<EventId> {
        F::site::<A>(self).define_first(timeline, priority, &A::types())
    }

    /// The site for these types. Allocates and may wait when it is first called for them.
    #[inline(always)]
    fn of<A: Types>(&'static self) -> &'static Site {
        const { assert!(A::KEY != 0, "these types look like none") };
        // Relaxed: the key guards nothing but itself.
        match self.key.load(Ordering::Relaxed) == A::KEY {
            true => &self.site,
            false => self.find(A::KEY),
        }
    }

    #[inline(never)]
    fn find(&'static self, key: u64) -> &'static Site {
        let mut sites = self;
        while !sites.is_of(key) {
            let words = self.site.words;
            sites = sites.next.get_or_init(|| Box::new(Sites::new(words)));
        }
        &sites.site
    }

    /// Whether the first site is that of these types; it becomes theirs if it is free.
    fn is_of(&self, key: u64) -> bool {
        let order = Ordering::Relaxed;
        match self.key.load(order) {
            0 => match self.key.compare_exchange(0, key, order, order) {
                Ok(_) => true,
                Err(taken) => taken == key,
            },
            taken => taken == key,
        }
    }
}

/// How a statement finds its site.
pub trait Find {
    /// The site for these types.
    fn site<A: Types>(sites: &'static Sites) -> &'static Site;
}

/// The types are the same in each run.
pub struct One;

impl Find for One {
    #[inline(always)]
    fn site<A: Types>(sites: &'static Sites) -> &'static Site {
        &sites.site
    }
}

/// The types may be others in another run.
pub struct Each;

impl Find for Each {
    #[inline(always)]
    fn site<A: Types>(sites: &'static Sites) -> &'static Site {
        sites.of::<A>()
    }
}
