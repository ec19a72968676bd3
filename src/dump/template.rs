//! Texts with places for numbers: taken apart once for each definition, filled in for each event.

use std::borrow::Cow;

use crate::event::{self, Definition, Whole, parts};
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
/// # use timeline::{Definition, EventId, Priority};
/// let definition = Definition::new(EventId(1), "", Priority::Info, "processed $tcp, $udp:u8");
/// assert!(template.message(&definition, |text| text.into()));
/// let mut text = Text::new();
/// text.fill(&template, &[10, -20, 0, 0]);
/// assert_eq!(text.as_bytes(), b"processed tcp(10), udp(236)");
/// ```
#[derive(Default)]
pub struct Template {
    pub(super) parts: Vec<TemplatePart>,
    /// Whether a value stands in several places.
    pub(super) repeats: bool,
}

/// A few bytes, and the value that stands behind them.
pub(super) struct TemplatePart {
    pub(super) text: [u8; BLOCK],
    pub(super) length: usize,
    /// `MAX_ARGUMENTS` for none.
    pub(super) value: usize,
    /// How the value is a number.
    pub(super) whole: Whole,
}

impl TemplatePart {
    const EMPTY: TemplatePart = TemplatePart {
        text: [0; BLOCK],
        length: 0,
        value: MAX_ARGUMENTS,
        whole: Whole::WORD,
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
    fn open(&mut self) -> &mut TemplatePart {
        let last = self.parts.pop_if(|part| part.is_open());
        self.parts.push(last.unwrap_or(TemplatePart::EMPTY));
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

    /// Appends a place for the argument of this number, counted from 0, as a signed number. There
    /// are four.
    ///
    /// # Panics
    /// If there is no such argument.
    pub fn value(&mut self, argument: usize) {
        self.number(argument, Whole::WORD);
    }

    fn number(&mut self, argument: usize, whole: Whole) {
        assert!(argument < MAX_ARGUMENTS, "an event has four arguments");
        self.repeats |= self.parts.iter().any(|part| part.value == argument);
        let part = self.open();
        (part.value, part.whole) = (argument, whole);
    }

    /// Appends the message of events without a payload, and the words between the values as `show`
    /// has them. Returns false, and appends nothing, unless all values are whole numbers in base
    /// 10. An argument that an event has no word for shows as `name(?)`.
    pub fn message(
        &mut self,
        definition: &Definition,
        show: impl Fn(&str) -> Cow<'_, str>,
    ) -> bool {
        let Some(parts) = parts(definition) else {
            return false;
        };
        let mut arguments = 0..MAX_ARGUMENTS;
        for part in parts {
            match part {
                event::MessagePart::Text(text) => self.push(&show(&text)),
                event::MessagePart::Number(whole) => match arguments.next() {
                    Some(argument) => self.number(argument, whole),
                    None => self.push("?"),
                },
            }
        }
        true
    }

    /// Appends places for the values of the message, each behind the text that `before` returns
    /// for its place.
    pub fn values(&mut self, definition: &Definition, before: impl Fn(usize) -> String) {
        let numbers = parts(definition).into_iter().flatten();
        let numbers = numbers.filter_map(|part| match part {
            event::MessagePart::Number(whole) => Some(whole),
            event::MessagePart::Text(_) => None,
        });
        for (argument, whole) in numbers.take(MAX_ARGUMENTS).enumerate() {
            self.push(&before(argument));
            self.number(argument, whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;
    use crate::event::{EventId, Format, Layout, Priority, Syntax};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn filling_in_agrees_with_rendering(
            line in "([a$_ 1é\u{1b}]|\\$[ab]:[iu](8|16|32|64)|text of some length){0,24}",
            more in "(\n\\PC{0,9})?",
            args: [i64; MAX_ARGUMENTS],
        ) {
            let definition = Definition::new(EventId(1), "", Priority::Info, line + &more);
            let mut plain = String::new();
            definition.render(&args, &mut plain).expect("a String takes everything");
            let mut template = Template::new();
            prop_assert!(template.message(&definition, |text| text.into()));
            for (argument, value) in args.iter().enumerate() {
                plain += &format!(" again {value}");
                template.push(" again ");
                template.value(argument);
            }
            let mut text = Text::new();
            text.fill(&template, &args);
            prop_assert_eq!(text.as_bytes(), plain.as_bytes());
        }

        #[test]
        fn formats_agree_with_rendering(
            parts in prop::collection::vec("[a\né]{0,3}(%%|%l?[diu])?", 0..5),
            args: [i64; MAX_ARGUMENTS],
        ) {
            let mut definition = Definition::new(EventId(1), "", Priority::Info, parts.concat());
            definition.syntax = Syntax::Printf;
            let (format, layout) = (Format::parse(&definition.message), Layout::of(&definition));
            let mut plain = Vec::new();
            format.render(layout.values_of_words(&args), &mut plain);
            let mut template = Template::new();
            if template.message(&definition, |text| text.into()) {
                let mut text = Text::new();
                text.fill(&template, &args);
                prop_assert_eq!(text.as_bytes(), plain);
            } else {
                prop_assert!(definition.message.matches('%').count() > MAX_ARGUMENTS);
            }
        }
    }
}
