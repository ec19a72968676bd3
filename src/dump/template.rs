//! Texts with places for numbers: taken apart once for each definition, filled in for each event.

use std::borrow::Cow;

use crate::event::{Piece, first_line, pieces};
use crate::layout::MAX_ARGUMENTS;

/// Bytes that are stored at once. Most pieces of messages fit.
pub(super) const BLOCK: usize = 32;

/// A text with places for an event's arguments, to be filled in by
/// [`Text::fill`](super::Text::fill).
///
/// # Example
/// ```
/// use timeline::dump::{Template, Text};
/// let mut template = Template::new();
/// template.message("processed $tcp, $udp", |text| text.into());
/// let mut text = Text::new();
/// text.fill(&template, &[10, -20, 0, 0]);
/// assert_eq!(text.as_bytes(), b"processed tcp(10), udp(-20)");
/// ```
#[derive(Default)]
pub struct Template {
    pub(super) parts: Vec<Part>,
    /// Whether a value stands in several places.
    pub(super) repeats: bool,
}

/// A few bytes, and the value that stands behind them.
pub(super) struct Part {
    pub(super) text: [u8; BLOCK],
    pub(super) length: usize,
    /// `MAX_ARGUMENTS` for none.
    pub(super) value: usize,
}

impl Part {
    const EMPTY: Part = Part {
        text: [0; BLOCK],
        length: 0,
        value: MAX_ARGUMENTS,
    };

    fn is_open(&self) -> bool {
        self.value == MAX_ARGUMENTS && self.length < BLOCK
    }
}

impl Template {
    /// No text yet.
    pub fn new() -> Template {
        Template::default()
    }

    /// The last part, or a new one when nothing can be appended to that.
    fn open(&mut self) -> &mut Part {
        let last = self.parts.pop_if(|part| part.is_open());
        self.parts.push(last.unwrap_or(Part::EMPTY));
        let place = self.parts.len() - 1;
        &mut self.parts[place]
    }

    /// Appends `text`.
    pub fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    pub(super) fn push_bytes(&mut self, mut rest: &[u8]) {
        while !rest.is_empty() {
            let part = self.open();
            let (now, later) = rest.split_at(rest.len().min(BLOCK - part.length));
            part.text[part.length..][..now.len()].copy_from_slice(now);
            part.length += now.len();
            rest = later;
        }
    }

    /// Appends a place for the argument of this number, counted from 0. There are four.
    ///
    /// # Panics
    /// If there is no such argument.
    pub fn value(&mut self, argument: usize) {
        assert!(argument < MAX_ARGUMENTS, "an event has four arguments");
        self.repeats |= self.parts.iter().any(|part| part.value == argument);
        self.open().value = argument;
    }

    /// Appends the first line of a message whose arguments have no types, each as `name(value)`,
    /// and the words between the values as `show` has them. An argument that an event has no value
    /// for shows as `name(?)`.
    pub fn message(&mut self, message: &str, show: impl Fn(&str) -> Cow<'_, str>) {
        let mut arguments = 0..MAX_ARGUMENTS;
        for piece in pieces(first_line(message)) {
            match piece {
                Piece::Text(text) => self.push(&show(text)),
                Piece::Argument(field) => {
                    self.push(field.name);
                    self.push("(");
                    match arguments.next() {
                        Some(argument) => self.value(argument),
                        None => self.push("?"),
                    }
                    self.push(")");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;
    use crate::event::{Definition, EventId, Priority};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn filling_in_agrees_with_rendering(
            message in "([a$_ 1é\u{1b}]|text of some length){0,24}(\n\\PC{0,9})?",
            args: [i64; MAX_ARGUMENTS],
        ) {
            let definition = Definition::new(EventId(1), "", Priority::Info, message);
            let mut plain = String::new();
            definition.render(&args, &mut plain).expect("a String takes everything");
            let mut template = Template::new();
            template.message(&definition.message, |text| text.into());
            for (argument, value) in args.iter().enumerate() {
                plain += &format!(" again {value}");
                template.push(" again ");
                template.value(argument);
            }
            let mut text = Text::new();
            text.fill(&template, &args);
            prop_assert_eq!(text.as_bytes(), plain.as_bytes());
        }
    }
}
