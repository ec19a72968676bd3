//! A definition: what an event says, in all parts that are known of it.

use std::borrow::Cow;
use std::fmt;

use crate::event::definitions::event_id::EventId;
use crate::event::definitions::priority::Priority;
use crate::event::messages::printf::Format;
use crate::event::messages::syntax::Syntax;
use crate::event::messages::template::{self, TemplateField, fields, pieces, render};
use crate::event::messages::value_text::by_position;
use crate::event::names::glob::matches as matches_pattern;
use crate::event::names::name;
use crate::event::objects::object::Object;
use crate::event::payloads::payload::Layout;
use crate::event::values::value::Value;
use crate::event::values::word::WordType;

/// A definition of events. Only in an archive can parts of it be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its number in this timeline; [`EventId::NEVER`] if it is not known.
    pub id: EventId,
    /// The part of the program it belongs to; empty if it is not known.
    pub category: String,
    /// How much detail it is, if known.
    pub priority: Option<Priority>,
    /// The whole message: the first line is shown with its arguments, further lines explain it.
    pub message: String,
    /// Whether the message was lost. Then `<string 0x1a40?>` with the number of its string, or
    /// nothing, is shown instead, and the values are shown by position.
    pub is_lost: bool,
    /// Whether the category was lost. Then the number of its string stands in its place.
    pub is_category_lost: bool,
    /// Whether its events are [important](Attributes::important). In an archive this is not known:
    /// there the events say it.
    pub important: Option<bool>,
    /// How the message marks the places of values.
    pub syntax: Syntax,
    /// The file of the call site, if known.
    pub file: Option<String>,
    /// The line of the call site, if known.
    pub line: Option<u32>,
    /// Its channels, with `|` between: `itv|bbc`. It is logged only while all of them are on.
    pub channels: String,
    /// How its events stand in JSON, if an archive was made of that. Then the values have names,
    /// although the message is a format of printf.
    #[doc(hidden)]
    pub object: Option<Box<Object>>,
}

/// What a definition says besides category, priority and message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes<'a> {
    /// The channels of the event, with `|` between: `itv|bbc`. It is logged only while all of them
    /// are on. A channel is off until somebody switches it on, or from its definition on: `itv=on`.
    pub channels: &'a str,
    /// The events explain others: names of ids, a configuration. They are kept in a region of their
    /// own, which nothing overwrites, and readers get them first. When the region is full, further
    /// ones are dropped and counted:
    /// [`Timeline::dropped_important`](crate::Timeline::dropped_important).
    pub important: bool,
}

/// A text of a definition, cut to the longest length allowed.
pub fn bounded(text: &str) -> Cow<'_, str> {
    if text.len() <= Definition::LONGEST_TEXT {
        return text.into();
    }
    let mut end = Definition::LONGEST_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end]).into()
}

impl Definition {
    /// The most bytes of a category, a message or a file name. A longer text cannot be defined.
    /// Readers cut a longer one, as in a forged file, and end it with `…`.
    pub const LONGEST_TEXT: usize = 4096;

    /// A message with `$name` arguments, not important, without a known call site.
    pub fn new(
        id: EventId,
        category: impl Into<String>,
        priority: Priority,
        message: impl Into<String>,
    ) -> Definition {
        Definition {
            id,
            category: category.into(),
            priority: Some(priority),
            message: message.into(),
            is_lost: false,
            is_category_lost: false,
            important: Some(false),
            syntax: Syntax::Template,
            file: None,
            line: None,
            channels: String::new(),
            object: None,
        }
    }

    /// The first line of the message, as defined: `processed $tcp, $udp, and $other`.
    pub fn summary(&self) -> &str {
        template::first_line(&self.message)
    }

    /// The lines of the message behind the first, which explain the event. A format of printf has
    /// none.
    pub fn prose(&self) -> &str {
        match self.syntax {
            Syntax::Template => {
                self.message[self.summary().len()..].trim_start_matches(['\r', '\n'])
            }
            Syntax::Printf => "",
        }
    }

    /// The category as it is shown and filtered by: `?` if it has none, or none that is known, as
    /// the lines of a text log.
    pub fn shown_category(&self) -> &str {
        match &*self.category {
            "" => "?",
            category => category,
        }
    }

    /// The name of the event: its category, and the words of its message up to the first argument.
    /// An event that was imported from JSON has that of its `format` there, so that an export and
    /// an import keep the names of events.
    ///
    /// # Example
    /// ```
    /// use timeline::{Definition, EventId, Priority};
    /// let name = |message| Definition::new(EventId(1), "net", Priority::Info, message).name();
    /// assert_eq!(name("got packet $len"), "net.got_packet");
    /// assert_eq!(name("sent: $len bytes to $host"), "net.sent");
    /// assert_eq!(name("$len bytes"), "net.len_bytes");
    /// ```
    ///
    /// Of what was lost in a damaged archive nobody knows that part of the name: `net.?`, `?.?`.
    pub fn name(&self) -> String {
        let known = || {
            let format = self.object.as_ref().and_then(|object| object.template());
            format
                .and_then(|format| name::name_of_format(&self.category, format))
                .unwrap_or_else(|| name::event_name(&self.category, &self.message, self.syntax))
        };
        match (self.is_category_lost, self.is_lost) {
            (false, false) => known(),
            (false, true) => format!("{}.?", name::category_name(&self.category)),
            (true, true) => "?.?".into(),
            (true, false) => {
                let name = name::event_name("", &self.message, self.syntax);
                let words = name.rsplit_once('.').map_or("?", |(_, words)| words);
                format!("?.{words}")
            }
        }
    }

    /// Whether its name is known, and meets this pattern. One of which a part was lost meets none.
    pub fn is_named(&self, pattern: &str) -> bool {
        self.has_name() && matches_pattern(pattern, &self.name())
    }

    /// Whether no part of its name was lost.
    pub fn has_name(&self) -> bool {
        !self.is_category_lost && !self.is_lost
    }

    /// Whether its category meets this pattern, as it is shown. One that was lost meets none.
    pub fn is_of_category(&self, pattern: &str) -> bool {
        self.has_category() && matches_pattern(pattern, self.shown_category())
    }

    /// Whether its category was not lost. A line of text has none, which is no loss.
    pub fn has_category(&self) -> bool {
        let is_lost = self.is_category_lost || (self.is_lost && self.category.is_empty());
        !is_lost
    }

    /// The arguments, in order, with their types. A format of printf has none, unless there are
    /// objects that name them, and a lost message has none.
    pub fn fields(&self) -> impl Iterator<Item = TemplateField<'_>> {
        let message = match self.syntax {
            Syntax::Template if !self.is_lost => &self.message,
            _ => "",
        };
        let object = self.object.iter().filter(|_| !self.is_lost);
        fields(message).chain(object.flat_map(|object| object.fields()))
    }

    /// The names of the arguments, in order, without the `$`.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.fields().map(|field| field.name)
    }

    /// The position of a field, by its name, or by its number from 0 on where it has none.
    #[doc(hidden)]
    pub fn position(&self, field: &str) -> Option<usize> {
        let named = self.arguments().position(|name| name == field);
        named.or_else(|| field.parse().ok())
    }

    /// How many arguments the event has.
    pub fn argument_count(&self) -> usize {
        self.arguments().count()
    }

    /// Writes the first line with the arguments filled in: `processed tcp(10), udp(20), and
    /// other(3)`. If the message was lost, writes the arguments by position: `<string 0x1a40?>(10,
    /// 20, 3)`.
    ///
    /// # Example
    /// ```
    /// use timeline::{Definition, EventId, Priority};
    /// let message = "processed $tcp, $udp, and $other";
    /// let event = Definition::new(EventId(1), "example", Priority::Trace, message);
    /// let mut text = String::new();
    /// event.render(&[10, 20, 3], &mut text)?;
    /// assert_eq!(text, "processed tcp(10), udp(20), and other(3)");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn render(&self, args: &[i64], out: &mut impl fmt::Write) -> fmt::Result {
        self.render_values(Layout::of(self).values_of_words(args), out)
    }

    /// Like [`Definition::render`], with values of any type. Pointers have no symbols.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn render_values<'a>(
        &self,
        values: impl Iterator<Item = Value<'a>>,
        out: &mut impl fmt::Write,
    ) -> fmt::Result {
        match self.is_lost {
            true => {
                out.write_str(&self.message)?;
                by_position(values, out)
            }
            false => render(pieces(self.summary()), values, |_| None, out),
        }
    }
}

impl Layout {
    /// The layout of a definition. If the message was lost, each word is a signed integer.
    pub fn of(definition: &Definition) -> Layout {
        match definition.syntax {
            _ if definition.is_lost => Layout::unknown(),
            Syntax::Template => {
                let types = definition
                    .fields()
                    .map(|field| WordType::of_field(field.kind));
                Layout::of_types(types.collect())
            }
            Syntax::Printf => Layout::of_format(&Format::parse(&definition.message)),
        }
    }
}
