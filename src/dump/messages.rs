//! Makes the messages of events that are not filled into a template.
//! They have values of types other than whole numbers, or more than four, or their message is lost.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use crate::event::{
    Definition, EventId, Format, InlinedFunction, Layout, PerEvent, SourceLine, Syntax,
    TemplatePiece, by_position, pieces, render,
};
use crate::source::{Event, Frame, Source};

/// Makes texts of events. Formats are taken apart once for each definition.
pub struct Messages<'a> {
    source: &'a dyn Source,
    /// By the number of the event, of those seen.
    known: PerEvent<MessagePlan<'a>>,
    /// The message of a format of printf.
    bytes: Vec<u8>,
    /// Any other message.
    text: String,
}

/// A definition, taken apart.
struct MessagePlan<'a> {
    layout: Layout,
    message: Message<'a>,
}

enum Message<'a> {
    Format(Format),
    Template(Vec<TemplatePiece<'a>>),
}

impl<'a> MessagePlan<'a> {
    fn new(definition: &'a Definition) -> MessagePlan<'a> {
        match definition.syntax {
            Syntax::Printf => {
                let format = Format::parse(&definition.message);
                MessagePlan {
                    layout: Layout::of_format(&format),
                    message: Message::Format(format),
                }
            }
            Syntax::Template => MessagePlan {
                layout: Layout::of(definition),
                message: Message::Template(pieces(definition.summary()).collect()),
            },
        }
    }
}

impl<'a> Messages<'a> {
    /// For the events of `source`.
    pub fn new(source: &'a dyn Source) -> Messages<'a> {
        Messages {
            source,
            known: PerEvent::new(),
            bytes: Vec::new(),
            text: String::new(),
        }
    }

    /// The message of an event with its values: the first line of a template, or exactly what
    /// printf would write, with all its line breaks. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// A pointer among typed arguments is followed by its symbol, if that is known.
    ///
    /// If the definition is lost, the values stand in their order: `<string 0x1a40?>(10, "eth0")`,
    /// or `<event 5?>(10, 20, 3, 0)` with all four arguments of an entry of a ring.
    pub fn text(&mut self, event: &Event, definition: Option<&'a Definition>) -> Cow<'_, str> {
        self.text.clear();
        let Some(definition) = definition.filter(|definition| !definition.is_lost) else {
            // Writing to a String does not fail.
            let _ = lost(event, definition, &mut self.text);
            return self.text.as_str().into();
        };
        if self.known.get(event.id).is_none() {
            (self.known).insert(event.id, definition, MessagePlan::new(definition));
        }
        let known = self.known.get(event.id).expect("it is there by now");
        let values = event.values(&known.layout);
        match &known.message {
            Message::Format(format) => {
                self.bytes.clear();
                format.render(values, &mut self.bytes);
                // Faster than from_utf8_lossy, which looks at one byte at a time.
                match std::str::from_utf8(&self.bytes) {
                    Ok(text) => text.into(),
                    Err(_) => String::from_utf8_lossy(&self.bytes),
                }
            }
            Message::Template(pieces) => {
                let room = Cell::new(SYMBOLS);
                let symbol = |address| {
                    let symbol = symbol(self.source, event, address)?;
                    room.set(room.get().checked_sub(symbol.len())?);
                    Some(symbol)
                };
                let _ = render(pieces.iter().copied(), values, symbol, &mut self.text);
                self.text.as_str().into()
            }
        }
    }
}

/// What a pointer leads to, if its name is known: `main`, or `main+0x4`.
pub fn symbol(source: &dyn Source, event: &Event, address: u64) -> Option<String> {
    let found = source.pointee(event, address);
    let (name, start) = (found.name?, found.start?);
    let name = demangled(&name);
    Some(match address.checked_sub(start)? {
        0 => name.to_string(),
        offset => format!("{name}+{offset:#x}"),
    })
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

/// Bytes of the symbols in a message that are shown.
pub const SYMBOLS: usize = 32 << 10;
/// Bytes of the names in a call stack that are shown.
pub const STACK: usize = 256 << 10;

/// What is made of each frame of the call stack of an event, with the bytes that it takes. From the
/// first on for which there is no room, frames are addresses only: those before have very long
/// names.
fn fitting<'a, T: 'a>(
    source: &'a dyn Source,
    event: &'a Event,
    make: impl Fn(Frame) -> (usize, T) + 'a,
) -> impl Iterator<Item = T> + 'a {
    let mut room = Some(STACK);
    event.backtrace().iter().map(move |address| {
        let made = room.map(|room| (room, make(source.frame(event, *address))));
        let fits = made.and_then(|(room, (size, made))| Some((room.checked_sub(size)?, made)));
        room = fits.as_ref().map(|(left, _)| *left);
        fits.map_or_else(|| make(Frame::unknown(*address)).1, |(_, made)| made)
    })
}

/// The frames of the call stack of an event.
pub fn frames<'a>(source: &'a dyn Source, event: &'a Event) -> impl Iterator<Item = Frame> + 'a {
    fitting(source, event, |frame| (frame.length(), frame))
}

/// The same with each frame as people read it: the functions that were inlined there, innermost
/// first, and the function that they were inlined into.
pub fn calls<'a>(
    source: &'a dyn Source,
    event: &'a Event,
) -> impl Iterator<Item = (Frame, Vec<String>)> + 'a {
    fitting(source, event, |frame| {
        let inlined = frame.inlined.iter().map(ToString::to_string);
        let texts: Vec<String> = inlined.chain([frame.to_string()]).collect();
        let shown: usize = texts.iter().map(String::len).sum();
        (shown.max(frame.length()), (frame, texts))
    })
}

/// The call stack of an event, each function as people read it.
pub fn stack<'a>(source: &'a dyn Source, event: &'a Event) -> impl Iterator<Item = String> + 'a {
    calls(source, event).flat_map(|(_, texts)| texts)
}

#[cfg(feature = "symbols")]
use crate::symbols::demangled;

/// The name as it is: taking it apart is for the command.
#[cfg(not(feature = "symbols"))]
fn demangled(name: &str) -> &str {
    name
}

/// Where an address is, as people read it: `send+0x1c (/usr/lib/libnet.so)`, and behind that, if it
/// is known, ` at /src/net.c:120`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = |start: Option<u64>| self.address.checked_sub(start?);
        match (&self.name, offset(self.start)) {
            (Some(name), Some(offset)) => write!(f, "{}+{offset:#x}", demangled(name))?,
            _ => write!(f, "{:#x}", self.address)?,
        }
        match (&self.file, &self.name, offset(self.base)) {
            (Some(file), None, Some(offset)) => write!(f, " ({file}+{offset:#x})")?,
            (Some(file), ..) => write!(f, " ({file})")?,
            (None, ..) => {}
        }
        At(self.source.as_ref()).fmt(f)
    }
}

/// What was called there, as people read it: `copy (inlined) at /src/copy.h:12`.
impl fmt::Display for InlinedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_deref() {
            Some(name) => write!(f, "{}", demangled(name))?,
            None => f.write_str("?")?,
        }
        f.write_str(" (inlined)")?;
        At(self.source.as_ref()).fmt(f)
    }
}

/// A place in the source, if it is known: ` at /src/net.c:120`.
struct At<'a>(Option<&'a SourceLine>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(SourceLine { file, line }) => write!(f, " at {file}:{line}"),
            None => Ok(()),
        }
    }
}
