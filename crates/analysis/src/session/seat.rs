//! An analyser, with what it wants.

use std::cell::Cell;
use std::sync::Arc;

use timeline::internal::PerEvent;
use timeline::{Definition, EventId, Layout};

use crate::analyzer::Analyzer;
use crate::context::{EventContext, EventView, Route};
use crate::error::Result;
use crate::field::FieldSlot;
use crate::subscriptions::Subscriptions;

/// An analyser in a pass.
pub struct Seat<'a, A: ?Sized> {
    pub analyzer: &'a mut A,
    pub subscriptions: Arc<Subscriptions>,
    routes: Vec<LogRoutes<'a>>,
    has_enough: Cell<bool>,
}

/// An analyser that may run on a thread of its own.
pub type Apart<'a> = dyn Analyzer + Send + 'a;

/// How the events of a log come to an analyser: the inner option is empty if they do not.
#[derive(Default)]
struct LogRoutes<'a> {
    of_definitions: PerEvent<Option<Route<'a>>>,
    /// Of events without a definition.
    undefined: Option<Option<Route<'a>>>,
}

impl<'a, A: Analyzer + ?Sized> Seat<'a, A> {
    /// Asks the analyser what it wants.
    pub fn new(analyzer: &'a mut A) -> Seat<'a, A> {
        let mut subscriptions = Subscriptions::default();
        analyzer.begin(&mut subscriptions);
        Seat {
            analyzer,
            subscriptions: Arc::new(subscriptions),
            routes: Vec::new(),
            has_enough: Cell::new(false),
        }
    }

    /// Whether it wants nothing more.
    pub fn has_enough(&self) -> bool {
        self.has_enough.get()
    }

    /// Gives it an event, if it wants it. `definition` is that of the log.
    #[inline]
    pub fn event<'e>(&mut self, view: &EventView<'e>, definition: Option<&'a Definition>) -> Result
    where
        'a: 'e,
    {
        if self.routes.len() <= view.number {
            self.routes.resize_with(view.number + 1, LogRoutes::default);
        }
        let routes = &mut self.routes[view.number];
        let route = match definition {
            Some(definition) => {
                let id = view.event.id;
                if routes.of_definitions.get(id).is_none() {
                    learn(routes, &self.subscriptions, (id, definition), view.layout);
                }
                routes.of_definitions.get(id).and_then(Option::as_ref)
            }
            None => {
                let undefined = || {
                    let subscription = self.subscriptions.of(None)?;
                    let missing = |_: &_| FieldSlot::Missing;
                    let slots = self.subscriptions.fields().iter().map(missing).collect();
                    Some(Route {
                        subscription,
                        slots,
                    })
                };
                routes.undefined.get_or_insert_with(undefined).as_ref()
            }
        };
        match route {
            Some(route) => self.analyzer.event(&EventContext {
                view,
                route,
                has_enough: &self.has_enough,
            }),
            None => Ok(()),
        }
    }
}

impl<'a> Seat<'a, Apart<'a>> {
    /// The same on the thread of all others.
    pub fn beside_others(self) -> Seat<'a, dyn Analyzer + 'a> {
        Seat {
            analyzer: self.analyzer,
            subscriptions: self.subscriptions,
            routes: self.routes,
            has_enough: self.has_enough,
        }
    }
}

#[cold]
fn learn<'a>(
    routes: &mut LogRoutes<'a>,
    subscriptions: &Subscriptions,
    (id, definition): (EventId, &'a Definition),
    layout: &Layout,
) {
    let route = subscriptions.of(Some(definition)).map(|subscription| {
        let fields = subscriptions.fields().iter();
        Route {
            subscription,
            slots: fields.map(|field| field.on(definition, layout)).collect(),
        }
    });
    routes.of_definitions.insert(id, definition, route);
}
