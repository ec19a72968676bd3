//! A table with an entry for each definition of events.

use crate::event::definitions::definition::Definition;
use crate::event::definitions::event_id::EventId;

/// What a reader keeps for each definition, found by the number of an event.
///
/// Only defined events make it longer: a damaged event may have any number.
///
/// # Example
/// ```
/// use timeline::{Definition, EventId, Priority};
/// use timeline::internal::PerEvent;
/// let id = EventId(2);
/// let definition = Definition::new(id, "net", Priority::Info, "sent $bytes");
/// let mut names = PerEvent::new();
/// names.insert(id, &definition, definition.name());
/// assert_eq!(names.get(id).map(String::as_str), Some("net.sent"));
/// assert_eq!(names.get(EventId(u32::MAX)), None);
/// ```
#[derive(Debug, Clone)]
pub struct PerEvent<T>(Vec<Option<T>>);

impl<T> PerEvent<T> {
    /// With nothing in it.
    pub const fn new() -> PerEvent<T> {
        PerEvent(Vec::new())
    }

    /// The entry of events with this number, if there is one.
    #[inline]
    pub fn get(&self, id: EventId) -> Option<&T> {
        self.0.get(id.0 as usize)?.as_ref()
    }

    /// The same, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: EventId) -> Option<&mut T> {
        self.0.get_mut(id.0 as usize)?.as_mut()
    }

    /// Puts in the entry of events with this number, which have this definition.
    pub fn insert(&mut self, id: EventId, _: &Definition, entry: T) -> &T {
        let place = id.0 as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place].insert(entry)
    }

    /// The numbers that have an entry, in order.
    pub fn ids(&self) -> impl Iterator<Item = EventId> {
        self.iter().map(|(id, _)| id)
    }

    /// The numbers that have an entry, and these, in order.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, &T)> {
        let entries = (0..).zip(&self.0);
        entries.filter_map(|(id, entry)| Some((EventId(id), entry.as_ref()?)))
    }
}

impl<T> Default for PerEvent<T> {
    fn default() -> PerEvent<T> {
        PerEvent::new()
    }
}
