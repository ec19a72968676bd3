//! An analyser, with what it wants.

use std::cell::Cell;
use std::sync::Arc;

use timeline::{Definition, Layout};

use crate::analyzer::Analyzer;
use crate::context::{EventContext, EventView, Route};
use crate::error::Result;
use crate::field::FieldSlot;
use crate::subscriptions::Subscriptions;

/// An analyser in a pass.
pub struct Seat<'a, A: ?Sized> {
    pub analyzer: &'a mut A,
    pub subscriptions: Arc<Subscriptions>,
    has_enough: Cell<bool>,
}

/// An analyser that may run on a thread of its own.
pub type Apart<'a> = dyn Analyzer + Send + 'a;

impl<'a, A: Analyzer + ?Sized> Seat<'a, A> {
    /// Asks the analyser what it wants.
    pub fn new(analyzer: &'a mut A) -> Seat<'a, A> {
        let mut subscriptions = Subscriptions::default();
        analyzer.begin(&mut subscriptions);
        Seat {
            analyzer,
            subscriptions: Arc::new(subscriptions),
            has_enough: Cell::new(false),
        }
    }

    /// Whether it wants nothing more.
    #[inline]
    pub fn has_enough(&self) -> bool {
        self.has_enough.get()
    }

    /// How the events of a definition come to the analyser, or those without one; `None` if they do
    /// not.
    pub fn route(&self, definition: Option<&'a Definition>, layout: &Layout) -> Option<Route<'a>> {
        let subscription = self.subscriptions.of(definition)?;
        let fields = self.subscriptions.fields().iter();
        let slots = fields.map(|field| match definition {
            Some(definition) => field.on(definition, layout),
            None => FieldSlot::Missing,
        });
        Some(Route {
            subscription,
            slots: slots.collect(),
        })
    }

    /// Gives it an event that it wants.
    #[inline]
    pub fn event<'e>(&mut self, view: &EventView<'e>, route: &Route<'e>) -> Result {
        self.analyzer.event(&EventContext {
            view,
            route,
            has_enough: &self.has_enough,
        })
    }
}

impl<'a> Seat<'a, Apart<'a>> {
    /// The same on the thread of all others.
    pub fn beside_others(self) -> Seat<'a, dyn Analyzer + 'a> {
        Seat {
            analyzer: self.analyzer,
            subscriptions: self.subscriptions,
            has_enough: self.has_enough,
        }
    }
}
