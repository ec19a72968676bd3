//! An event as an analyser is given it, with all that is known of it.

use std::cell::{Cell, OnceCell};

use timeline::{Definition, Event, FieldType, Layout, Thread, ThreadRef, Value};
use timeline_archive::Preamble;
use timeline_reading::{Holder, Log};

use crate::error::{Error, Result};
use crate::field::{AnalysisValue, FieldHandle, FieldSlot};
use crate::subscriptions::Subscription;

/// What all analysers see of an event.
pub struct EventView<'e> {
    pub event: &'e Event,
    /// The number of its log.
    pub number: usize,
    pub log: &'e Log,
    pub origin: &'e LogOrigin,
    pub messages: &'e dyn MessageMaker,
    pub definition: Option<&'e Definition>,
    pub name: &'e str,
    pub layout: &'e Layout,
    /// Its values, once somebody asked for one that is not a word of it.
    pub values: OnceCell<Box<[Value<'e>]>>,
}

/// Makes the messages of events.
pub trait MessageMaker {
    fn message(&self, event: &Event) -> String;
}

/// Where the events of a timeline come from. Those of an archive say it themselves.
#[derive(Debug, Default)]
pub struct LogOrigin {
    pub host: Option<String>,
    pub boot_id: Option<String>,
    pub clock: Option<String>,
}

/// What one analyser knows of the events of a definition.
pub struct Route<'a> {
    pub subscription: Subscription,
    pub slots: Box<[FieldSlot<'a>]>,
}

/// The next event that an analyser wants.
pub struct EventContext<'v, 'e> {
    pub(crate) view: &'v EventView<'e>,
    pub(crate) route: &'v Route<'e>,
    pub(crate) has_enough: &'v Cell<bool>,
}

/// A clock: ticks of one clock can be compared, on whatever threads and in whatever logs they were
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockKey<'e> {
    /// The kernel's boot id: it is another one on each machine, and after each start of it.
    pub boot_id: &'e str,
    /// Which of the machine's clocks it is.
    pub clock: &'e str,
}

/// A thread, for what an analyser keeps of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadPlace {
    /// The number of its log.
    pub log: usize,
    /// What its log knows it by.
    pub thread: ThreadRef,
    /// The kernel's id, by which threads are told apart that the log has forgotten.
    pub tid: u32,
}

impl<'e> EventContext<'_, 'e> {
    /// The value of a field; `None` if events of this definition have no such field, or this event
    /// has no value in it (`NULL`, or a damaged payload). Takes the same time wherever the field
    /// is; the first of an event whose values are no words walks over all of them.
    ///
    /// # Errors
    /// `FieldType` if the field has another type than the handle.
    #[inline]
    pub fn get<T: AnalysisValue + ?Sized>(
        &self,
        field: FieldHandle<T>,
    ) -> Result<Option<T::Of<'e>>> {
        let place = match self.route.slots.get(field.place) {
            Some(FieldSlot::Place(place)) => *place,
            Some(FieldSlot::Missing) | None => return Ok(None),
            Some(FieldSlot::OtherType(field, has, asked)) => {
                return Err(Error::FieldType {
                    event: self.view.name.to_owned(),
                    field: field.clone(),
                    has: has.clone(),
                    asked,
                });
            }
        };
        let event = self.view.event;
        if place.is_word && event.payload.is_none() {
            let word = event.args.get(place.position);
            return Ok(word.and_then(|word| T::of_word(place.kind, *word)));
        }
        let value = self.values().get(place.position);
        Ok(value.and_then(|value| T::of_value(place.kind, value)))
    }

    /// The type of a field, if events of this definition have it; `None` too if it is not that of
    /// the handle.
    pub fn field_type<T: AnalysisValue + ?Sized>(
        &self,
        field: FieldHandle<T>,
    ) -> Option<FieldType<'e>> {
        match self.route.slots.get(field.place) {
            Some(FieldSlot::Place(place)) => Some(place.kind),
            _ => None,
        }
    }

    /// All values, as they are stored.
    pub fn values(&self) -> &[Value<'e>] {
        let view = self.view;
        let read = || view.event.values(view.layout).collect();
        view.values.get_or_init(read)
    }

    /// The event.
    pub fn event(&self) -> &'e Event {
        self.view.event
    }

    /// What it means; `None` if nobody knows.
    pub fn definition(&self) -> Option<&'e Definition> {
        self.view.definition
    }

    /// How its values are laid out: [`Event::values`] walks over them.
    pub fn layout(&self) -> &'e Layout {
        self.view.layout
    }

    /// The name of the event, such as `net.got_packet`; empty if it has no definition.
    pub fn name(&self) -> &'e str {
        self.view.name
    }

    /// Its message, with the values in their places: what `timeline dump` shows of it. Takes longer
    /// than all else.
    pub fn message(&self) -> String {
        self.view.messages.message(self.view.event)
    }

    /// The first subscription of the analyser that wants it.
    pub fn subscription(&self) -> Subscription {
        self.route.subscription
    }

    /// The number of its log among those that are analysed.
    pub fn log_number(&self) -> usize {
        self.view.number
    }

    /// Its log.
    pub fn log(&self) -> &'e Log {
        self.view.log
    }

    /// When it was logged, in nanoseconds since 1970, if that is known.
    #[inline]
    pub fn time(&self) -> Option<u64> {
        let event = self.view.event;
        match event.time {
            Some(time) => Some(time.get()),
            None => self.view.log.source().time(event),
        }
    }

    /// The ticks of its [clock](EventContext::clock), if they are known.
    pub fn ticks(&self) -> Option<u64> {
        Some(self.view.event.ticks).filter(|ticks| *ticks != 0)
    }

    /// The clock of its ticks, if that is known.
    pub fn clock(&self) -> Option<ClockKey<'e>> {
        let (boot_id, clock) = match self.program() {
            Some(program) => (&program.boot_id, &program.clock),
            None => (&self.view.origin.boot_id, &self.view.origin.clock),
        };
        Some(ClockKey {
            boot_id: boot_id.as_deref()?,
            clock: clock.as_deref()?,
        })
    }

    /// The thread that logged it, with its process, if that is known. Asks the log each time.
    pub fn thread(&self) -> Option<Thread> {
        self.view.log.source().thread(self.view.event)
    }

    /// The same thread, to keep something by it: costs nothing.
    #[inline]
    pub fn thread_place(&self) -> ThreadPlace {
        ThreadPlace {
            log: self.view.number,
            thread: self.view.event.thread,
            tid: self.view.event.tid,
        }
    }

    /// The name of the machine, if that is known: of a snapshot it is not.
    pub fn host(&self) -> Option<&'e str> {
        match self.view.log.holder() {
            Holder::Ring(_) => self.view.origin.host.as_deref(),
            Holder::Archive(_) => self.program()?.host.as_deref(),
        }
    }

    /// What an archive says of the program that logged it.
    pub fn program(&self) -> Option<&'e Preamble> {
        self.view.log.archive()?.program(self.view.event.thread)
    }

    /// The analyser wants no more events. When none of all wants any, the analysis ends.
    pub fn enough(&self) {
        self.has_enough.set(true);
    }
}
