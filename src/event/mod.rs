//! What an event is: its definition, its message with arguments, its priority.

mod module;
mod priority;
mod table;
mod template;

pub use module::Module;
pub use priority::{Level, Priority};
pub use table::{Definitions, EventId};
pub use template::argument_names;
pub(crate) use template::{Piece, first_line, pieces};

use std::fmt;

/// One event as it was defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its number in this timeline.
    pub id: EventId,
    /// What part of the program it belongs to.
    pub category: String,
    /// How much detail it is.
    pub priority: Priority,
    /// The whole message: the first line is shown with its arguments, further lines explain it.
    pub message: String,
}

impl Definition {
    /// The first line of the message, as defined: `processed $tcp, $udp, and $other`.
    pub fn summary(&self) -> &str {
        template::first_line(&self.message)
    }

    /// The names of the arguments, in order, without the `$`.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        argument_names(&self.message)
    }

    /// How many arguments the event has.
    pub fn argument_count(&self) -> usize {
        self.arguments().count()
    }

    /// Writes the first line with the arguments filled in: `processed tcp(10), udp(20), and other(3)`.
    ///
    /// # Example
    /// ```
    /// use timeline::{Definition, EventId, Priority};
    /// let event = Definition {
    ///     id: EventId(1),
    ///     category: "example".into(),
    ///     priority: Priority::Trace,
    ///     message: "processed $tcp, $udp, and $other".into(),
    /// };
    /// let mut text = String::new();
    /// event.render(&[10, 20, 3], &mut text)?;
    /// assert_eq!(text, "processed tcp(10), udp(20), and other(3)");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn render(&self, args: &[i64], out: &mut impl fmt::Write) -> fmt::Result {
        template::render(&self.message, args, out)
    }
}
