//! Definitions: an event's category, message with arguments, and priority.
//!
//! table.rs has the definitions of a timeline in shared memory and strings.rs their texts;
//! string_table.rs has the texts that are stored once, module.rs the objects that a process has
//! loaded, and per_event.rs is a table by the numbers of definitions.
//!
//! Messages: template.rs finds the arguments in them, braces.rs those in braces, as logs in JSON
//! have them, and printf/ those of printf, of which values.rs reads the values; span.rs tells the
//! part of an event in a span. field_table.rs is the table of the types of arguments: who needs to
//! know something of a type asks its row. field.rs names types and shows their values, units.rs
//! some of these; labels.rs has names of numbers, element.rs the types of the numbers of arrays.
//! statement.rs fits the types of a call to a message, and decimals.rs knows the messages whose
//! values are all whole numbers. object.rs has the JSON that an event was imported from,
//! object_value.rs the types of its values, properties.rs what its properties with a `$type` say.
//!
//! Payloads: word.rs has the types of their words, payload.rs says which words are which values,
//! columns.rs those of many payloads, and lay_out.rs makes the words.
//!
//! What is logged: priority.rs has priorities and levels, channels.rs channels, rules.rs the rules
//! for categories and names (glob.rs their patterns); switches.rs is what was asked for,
//! switching.rs brings events in line with it, and selection.rs is what a person selects when a
//! program starts. name.rs makes names of events, nearest.rs finds those that may have been meant,
//! unknown.rs tells of one that is nowhere. catalogue/ reads the events of a program from a text
//! file.
//!
//! **Why are arguments signed?** Results of calls, differences and errors are negative; Lua numbers
//! and C's `int` convert without a cast. An unsigned 64-bit number keeps its bits, and is shown as
//! signed above 2^63.

mod braces;
mod catalogue;
mod channels;
mod columns;
mod decimals;
mod element;
mod field;
mod field_table;
mod glob;
mod labels;
mod lay_out;
mod module;
mod name;
mod nearest;
mod object;
mod object_value;
mod payload;
mod per_event;
mod printf;
mod priority;
mod properties;
mod rules;
mod selection;
mod span;
mod statement;
mod string_table;
mod strings;
mod switches;
mod switching;
mod table;
mod template;
mod units;
mod unknown;
mod values;
mod word;

pub use braces::{BracePart, brace_parts};
pub use catalogue::{Catalogue, CatalogueEvent};
#[cfg(test)]
pub use channels::channels_of_event;
pub use channels::{Channel, Switch, channel_name};
pub use columns::ValueColumns;
pub(crate) use decimals::{MessagePart, Whole, parts};
pub use element::Element;
pub use field_table::{
    Collation, FIELD_TYPES, FieldDescriptor, FieldStorage, FieldType, JsonForm, Notation,
};
pub use glob::matches as matches_pattern;
pub use labels::Labels;
pub use lay_out::lay_out;
pub use module::{FileVersion, InlinedFunction, Module, SourceLine};
pub use nearest::nearest;
pub use object::{Object, ObjectPart};
pub use object_value::ObjectValue;
pub(crate) use payload::{CUT, NULL};
pub use payload::{Layout, Values};
pub use per_event::PerEvent;
pub use printf::{Format, FormatPart, FormatValue};
pub use priority::{Level, Priority};
pub use properties::{Property, SourcePlace};
pub use rules::Rules;
pub use selection::Selection;
pub use span::{Edge, Pairing, SpanKey, SpanPart};
pub use statement::typed_message;
pub(crate) use string_table::{bring_in, intern, words_of};
pub use table::{Definitions, EventId};
pub use template::{TemplateField, TemplatePiece, argument_names, checked_fields, fields, pieces};
pub(crate) use template::{first_line, render};
pub use units::{Bytes, Hex, Nanoseconds, UnixTime, short};
pub use unknown::Unknown;
pub use values::{Value, by_position, values};
pub use word::{ValueKind, ValueSink};

use std::borrow::Cow;
use std::fmt;

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

/// How a message marks the places of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Syntax {
    /// Each `$name` of its first line is an argument.
    #[default]
    Template,
    /// A format of printf: each `%` takes a value of the payload.
    Printf,
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
