//! An analyser, with what it wants.

use crate::analyzer::Analyzer;
use crate::context::{EventContext, EventView, Route};
use crate::error::Result;
use crate::subscriptions::Subscriptions;

use super::wish::SeatWish;

/// An analyser in a pass.
pub struct Seat<'a, A: ?Sized> {
    pub analyzer: &'a mut A,
    pub wish: SeatWish,
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
            wish: SeatWish::new(subscriptions),
        }
    }

    /// Whether it wants nothing more.
    #[inline]
    pub fn has_enough(&self) -> bool {
        self.wish.has_enough.get()
    }

    /// Gives it an event that it wants.
    #[inline]
    pub fn event<'e>(&mut self, view: &EventView<'e>, route: &Route<'e>) -> Result {
        self.analyzer.event(&EventContext {
            view,
            route,
            has_enough: &self.wish.has_enough,
        })
    }
}

impl<'a> Seat<'a, Apart<'a>> {
    /// The same on the thread of all others.
    pub fn beside_others(self) -> Seat<'a, dyn Analyzer + 'a> {
        Seat {
            analyzer: self.analyzer,
            wish: self.wish,
        }
    }
}
