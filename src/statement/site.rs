//! Call sites: remember the event of a statement for each timeline and priority.

use std::sync::OnceLock;

use super::Arguments;
use super::message::with_types;
use super::types::Types;
use crate::error::Result;
use crate::event::{Attributes, EventId, FieldType, Priority};
use crate::ring::log::EnabledEvent;
use crate::ring::statement_events::{DefinitionFailure, Lookup, StatementEvents};
use crate::sync::{AtomicU64, Ordering};
use crate::timeline::Timeline;

/// What the text of a statement says.
#[derive(Clone, Copy)]
pub struct StatementText {
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
    words: StatementText,
    known: StatementEvents,
}

impl Site {
    /// A site that knows no event yet.
    pub const fn new(words: StatementText) -> Site {
        Site {
            words,
            known: StatementEvents::new(),
        }
    }

    /// The event of this statement, if it is that of the timeline and priority that it met first.
    #[inline(always)]
    pub fn first(&self, timeline: &Timeline, priority: Priority) -> Option<EventId> {
        self.known.first(timeline.number(), priority)
    }

    /// Defines the event and remembers it.
    fn define_first(
        &self,
        timeline: &Timeline,
        priority: Priority,
        types: &[FieldType<'static>],
    ) -> Result<EventId> {
        let event = self.define_now(timeline, priority, types)?;
        timeline.remember(&self.known, priority, Ok(event));
        Ok(event)
    }

    /// Whether it knows the event.
    pub fn knows(&self, timeline: &Timeline, priority: Priority) -> bool {
        timeline.knows(&self.known, priority)
    }

    /// The event, which is defined if it is not; counted as dropped if that fails.
    #[cold]
    #[inline(never)]
    pub fn find(
        &self,
        timeline: &Timeline,
        priority: Priority,
        types: fn() -> Vec<FieldType<'static>>,
    ) -> Option<EventId> {
        match timeline.look(&self.known, priority) {
            Lookup::Event(event) => Some(event),
            Lookup::Lost | Lookup::Refused => None,
            Lookup::Nothing | Lookup::Again => {
                let defined = self.define_now(timeline, priority, &types());
                let known = defined.as_ref().copied().map_err(DefinitionFailure::from);
                timeline.remember(&self.known, priority, known);
                if let (Err(why), Err(DefinitionFailure::Wrong)) = (&defined, known) {
                    timeline.tell_of_refused(self.words.place, &why.to_string());
                }
                defined.ok()
            }
        }
    }

    fn define_now(
        &self,
        timeline: &Timeline,
        priority: Priority,
        types: &[FieldType<'static>],
    ) -> Result<EventId> {
        let StatementText {
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
    pub const fn new(words: StatementText) -> Sites {
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
        let event = match site.first(timeline, priority) {
            Some(event) => event,
            None => site.find(timeline, priority, A::types)?,
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
        // Relaxed: the key guards nothing but itself; a site has orderings of its own.
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
