//! Tells of statements whose events are never logged, because their definition was refused.

use super::Timeline;
use crate::event::{Attributes, Priority, Value, lay_out};

/// The category of what the library says of itself.
const CATEGORY: &str = "timeline";
/// The most bytes of one of its two texts.
const LONGEST: usize = 320;
const MESSAGE: &str = "statement at $place:str logs nothing: $why:str";

impl Timeline {
    /// Counts an event that was dropped because the definition of its call site was refused
    /// ([`DropCounts::refused`](crate::DropCounts::refused)), if the level or any rule may have it
    /// logged.
    /// Takes no lock and makes no system call; safe in signal handlers.
    pub fn dropped_refused(&self, priority: Priority) {
        if self.control.segment().definitions.may_allow(priority) {
            self.log.refused();
        }
    }

    /// Logs an event of priority error and the category `timeline`, which says that the statement
    /// in a line of a file logs nothing, and why. If that cannot be defined, nothing is logged.
    /// Waits for the lock like [`Timeline::define_printf`].
    pub fn tell_of_refused(&self, (file, line): (&str, u32), why: &str) {
        let here = (file!(), line!());
        let none = Attributes::default();
        let defined = (self.control).define_event(CATEGORY, Priority::Error, MESSAGE, here, &none);
        let Ok(event) = defined else {
            return;
        };
        let place = format!("{file}:{line}");
        let words = lay_out(&[text(&place), text(why)]);
        self.log_payload(event, &words, false);
    }
}

/// A text of which both have room in any event.
fn text(of: &str) -> Value<'_> {
    let mut end = of.len().min(LONGEST);
    while !of.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = &of.as_bytes()[..end];
    let cut = end < of.len();
    Value::Text { bytes, cut }
}
