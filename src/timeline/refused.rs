//! Tells of statements whose events are never logged, because their definition was refused.

use super::Timeline;
use crate::event::{Attributes, Priority, Value, lay_out};

/// The category of what the library says of itself.
const CATEGORY: &str = "timeline";
/// The longest text of its two.
const LONGEST: usize = 320;
const MESSAGE: &str = "statement at $place:str logs nothing: $why:str";

impl Timeline {
    /// Counts an event that was dropped because the definition of its call site was refused
    /// ([`Dropped::refused`](crate::Dropped::refused)), if the level or any rule may have it
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
        // What is beyond an event's room, which small rings have less of, would be cut in a word.
        let why = &why[..why.floor_char_boundary(LONGEST)];
        let place = &place[..place.floor_char_boundary(LONGEST)];
        let texts = [place.as_bytes(), why.as_bytes()];
        let words = lay_out(&texts.map(|bytes| Value::Text { bytes, cut: false }));
        self.log_payload(event, &words, false);
    }
}
