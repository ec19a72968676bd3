//! Makes the messages of events whose values are in a payload.
//! These are those of printf, any with more than four values, and those that were lost.

use std::borrow::Cow;
use std::fmt;

use crate::event::{Definition, EventId, Format, Layout, Syntax, by_position};
use crate::source::{Event, Frame, Source};

/// Makes texts of events. Formats are taken apart once for each definition.
#[derive(Default)]
pub struct Messages {
    /// By the number of the event, of those seen.
    known: Vec<Option<Known>>,
    bytes: Vec<u8>,
}

/// A definition, taken apart.
struct Known {
    layout: Layout,
    /// Of those of printf.
    format: Option<Format>,
}

impl Known {
    fn new(definition: &Definition) -> Known {
        let format = match definition.syntax {
            Syntax::Printf => Some(Format::parse(&definition.message)),
            Syntax::Template => None,
        };
        Known {
            layout: match &format {
                Some(format) => Layout::of_format(format),
                None => Layout::of(definition),
            },
            format,
        }
    }
}

impl Messages {
    /// None seen yet.
    pub fn new() -> Messages {
        Messages::default()
    }

    /// Writes the message of an event with its values: the first line of a template, or exactly
    /// what printf would write, with all its line breaks. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// If the definition is lost, the values stand in their order: `<string 0x1a40?>(10, "eth0")`,
    /// or `<event 5?>(10, 20, 3, 0)` with all four arguments of an entry of a ring.
    ///
    /// # Errors
    /// Only those of `out`.
    pub fn write(
        &mut self,
        event: &Event,
        definition: Option<&Definition>,
        out: &mut impl fmt::Write,
    ) -> fmt::Result {
        let Some(definition) = definition.filter(|definition| !definition.is_lost) else {
            return lost(event, definition, out);
        };
        let known = known(&mut self.known, event.id, definition);
        let values = event.values(&known.layout);
        match &known.format {
            Some(format) => {
                self.bytes.clear();
                format.render(values, &mut self.bytes);
                out.write_str(&String::from_utf8_lossy(&self.bytes))
            }
            None => definition.render_values(values, out),
        }
    }
}

fn known<'a>(all: &'a mut Vec<Option<Known>>, id: EventId, means: &Definition) -> &'a Known {
    let place = id.0 as usize;
    if all.len() <= place {
        all.resize_with(place + 1, || None);
    }
    all[place].get_or_insert_with(|| Known::new(means))
}

/// Which message it was, as far as that is known, and all values.
fn lost(event: &Event, definition: Option<&Definition>, out: &mut impl fmt::Write) -> fmt::Result {
    match definition {
        Some(definition) if !definition.message.is_empty() => out.write_str(&definition.message)?,
        Some(definition) if definition.id == EventId::NEVER => out.write_str("<event ?>")?,
        _ => {
            let id = definition.map_or(event.id, |definition| definition.id);
            write!(out, "<event {}?>", id.0)?;
        }
    }
    by_position(event.values(&Layout::unknown()), out)
}

/// The message as one line of a table: a line break shows as `\n` or `\r`, as formats spell it.
///
/// # Example
/// ```
/// use timeline::dump::one_line;
/// assert_eq!(one_line("sent\r\n"), r"sent\r\n");
/// ```
pub fn one_line(message: &str) -> Cow<'_, str> {
    match message.contains(['\n', '\r']) {
        true => message.replace('\n', "\\n").replace('\r', "\\r").into(),
        false => message.into(),
    }
}

/// Bytes of the names in a call stack that are shown.
pub const STACK: usize = 256 << 10;

/// The call stack of an event, each frame as people read it. From the first on for whose names
/// there is no room, frames have none: those before have very long ones.
pub fn stack<'a>(source: &'a dyn Source, event: &'a Event) -> impl Iterator<Item = String> + 'a {
    let mut room = Some(STACK);
    event.backtrace().iter().map(move |address| {
        let named = room.map(|room| (room, source.frame(event, *address).to_string()));
        let fits = named.and_then(|(room, text)| Some((room.checked_sub(text.len())?, text)));
        room = fits.as_ref().map(|(left, _)| *left);
        fits.map_or_else(|| Frame::unknown(*address).to_string(), |(_, text)| text)
    })
}

#[cfg(feature = "symbols")]
use crate::symbols::demangled;

/// The name as it is: taking it apart is for the command.
#[cfg(not(feature = "symbols"))]
fn demangled(name: &str) -> &str {
    name
}

/// Where an address is, as people read it: `send+0x1c (/usr/lib/libnet.so)`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = |start: Option<u64>| self.address.checked_sub(start?);
        match (&self.name, offset(self.start)) {
            (Some(name), Some(offset)) => write!(f, "{}+{offset:#x}", demangled(name))?,
            _ => write!(f, "{:#x}", self.address)?,
        }
        match (&self.file, &self.name, offset(self.base)) {
            (Some(file), None, Some(offset)) => write!(f, " ({file}+{offset:#x})"),
            (Some(file), ..) => write!(f, " ({file})"),
            (None, ..) => Ok(()),
        }
    }
}
