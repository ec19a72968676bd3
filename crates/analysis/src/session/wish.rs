//! What is wanted of the events of a pass.

use std::cell::Cell;
use std::sync::Arc;

use timeline::{Definition, Layout};

use crate::context::Route;
use crate::field::FieldSlot;
use crate::subscriptions::Subscriptions;

/// What somebody wants of the events, and whether that is still so.
pub struct SeatWish {
    pub subscriptions: Arc<Subscriptions>,
    pub has_enough: Cell<bool>,
}

impl SeatWish {
    pub fn new(subscriptions: Subscriptions) -> SeatWish {
        SeatWish {
            subscriptions: Arc::new(subscriptions),
            has_enough: Cell::new(false),
        }
    }

    /// How the events of a definition come, or those without one; `None` if they are not wanted.
    pub fn route<'a>(
        &self,
        definition: Option<&'a Definition>,
        layout: &Layout,
    ) -> Option<Route<'a>> {
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
}
