//! Finds the values of a line in its message, by its format.
//!
//! The format of a line is text with `{name}` in the places of values. Where the message has the
//! value of that name, an event has it once. Where it has another text, as for `{seconds:n1}`, that
//! text is one more value of the event.

use timeline::internal::{BracePart, Format, ObjectValue, brace_parts};

use super::super::tokens::ByteRange;
use super::line::JsonLine;

/// What stands in a place of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageItem {
    /// The value with this number.
    Value(usize),
    /// The same in parentheses behind its name, as timeline writes it.
    Named(usize),
    /// A text of its own.
    Own(ByteRange),
}

/// A message, taken apart. Its memory is used again for the next line.
#[derive(Default)]
pub struct Message {
    /// The text of the format: each piece, and the name of the place behind it.
    text: String,
    pieces: Vec<(ByteRange, Option<ByteRange>)>,
    pub shown: Vec<MessageItem>,
    /// Whether the message is one text, because there is no format that it has.
    pub is_whole: bool,
}

impl Message {
    /// Takes the message of a line apart.
    pub fn read(&mut self, line: &JsonLine) {
        self.shown.clear();
        let format = line.format.map(|format| line.text(format));
        let is_cut = format.is_some_and(|format| self.cut(format).is_some());
        let is_found = match line.message {
            _ if !is_cut => false,
            Some(message) => self.find(line, message).is_some(),
            None => self.fill(line).is_some(),
        };
        self.is_whole = !is_found;
        if !is_found {
            self.shown.clear();
            self.shown
                .extend(line.message.or(line.format).map(MessageItem::Own));
        }
    }

    /// Appends what the message is, so that it is told from those of other definitions.
    pub fn put_key(&self, key: &mut Vec<u8>) {
        key.push(u8::from(self.is_whole));
        for shown in &self.shown {
            let (kind, value) = match shown {
                MessageItem::Value(value) => (0, *value),
                MessageItem::Named(value) => (1, *value),
                MessageItem::Own(_) => (2, 0),
            };
            key.push(kind);
            key.extend_from_slice(&(value as u32).to_le_bytes());
        }
    }

    /// The message as a format of printf.
    pub fn format(&self, line: &JsonLine) -> String {
        if self.is_whole {
            return "%s".into();
        }
        let mut format = String::new();
        let mut shown = self.shown.iter();
        for (piece, place) in &self.pieces {
            format += &self.at(*piece).replace('%', "%%");
            let Some(name) = place.map(|name| self.at(name)) else {
                continue;
            };
            let conversion = |value: &usize| match line.values[*value].kind {
                ObjectValue::Int => "%ld",
                ObjectValue::Uint => "%lu",
                _ => "%s",
            };
            match shown.next() {
                Some(MessageItem::Value(value)) => format += conversion(value),
                Some(MessageItem::Named(value)) => {
                    format += &format!("{name}({})", conversion(value))
                }
                _ => format += "%s",
            }
        }
        format
    }

    fn at(&self, (from, to): ByteRange) -> &str {
        &self.text[from as usize..to as usize]
    }

    /// Cuts a format into pieces. `None` if a brace is alone, or if printf has no such format.
    fn cut(&mut self, format: &str) -> Option<()> {
        self.text.clear();
        self.pieces.clear();
        let mut from = 0;
        if format.contains('\0') {
            return None;
        }
        for part in brace_parts(format) {
            match part? {
                BracePart::Text(text) => self.text += text,
                BracePart::Place(name) => {
                    let piece = (from, self.text.len() as u32);
                    self.text += name;
                    from = self.text.len() as u32;
                    self.pieces.push((piece, Some((piece.1, from))));
                }
            }
        }
        self.pieces.push(((from, self.text.len() as u32), None));
        (self.pieces.len() <= Format::MOST_ARGUMENTS).then_some(())
    }

    /// Finds each place of the format in the message.
    fn find(&mut self, line: &JsonLine, span: ByteRange) -> Option<()> {
        let message = line.text(span);
        let mut at = 0;
        for (number, (piece, place)) in self.pieces.iter().enumerate() {
            at += message[at..]
                .strip_prefix(self.at(*piece))
                .map(|_| self.at(*piece).len())?;
            let Some(name) = place else {
                return (at == message.len()).then_some(());
            };
            let name = self.at(*name);
            let (next, behind) = self.pieces[number + 1];
            let (next, is_last) = (self.at(next), behind.is_none());
            let rest = &message[at..];
            let ends = |rest: &str| match is_last {
                true => rest == next,
                false => rest.starts_with(next),
            };
            let value = line
                .named(name)
                .and_then(|value| Some((value, shown(line, value)?)));
            let known = value.and_then(|(value, text)| {
                if let Some(behind) = rest.strip_prefix(&*text)
                    && ends(behind)
                {
                    return Some((MessageItem::Value(value), text.len()));
                }
                let behind = rest.strip_prefix(name)?.strip_prefix('(')?;
                let behind = behind.strip_prefix(&*text)?.strip_prefix(')')?;
                let length = rest.len() - behind.len();
                ends(behind).then_some((MessageItem::Named(value), length))
            });
            let (shown, length) = match known {
                Some(known) => known,
                None => {
                    let length = match (is_last, next) {
                        (true, _) => rest.strip_suffix(next)?.len(),
                        (false, "") => return None,
                        (false, _) => rest.find(next)?,
                    };
                    let from = span.0 + at as u32;
                    (MessageItem::Own((from, from + length as u32)), length)
                }
            };
            self.shown.push(shown);
            at += length;
        }
        None
    }

    /// The values for the places of the format, if there is no message.
    fn fill(&mut self, line: &JsonLine) -> Option<()> {
        for (_, place) in &self.pieces {
            let Some(name) = place.map(|name| self.at(name)) else {
                return Some(());
            };
            let value = line.named(name)?;
            shown(line, value)?;
            self.shown.push(MessageItem::Value(value));
        }
        None
    }
}

/// The text of a value that a conversion of printf writes.
fn shown(line: &JsonLine, value: usize) -> Option<std::borrow::Cow<'_, str>> {
    let found = line.values[value];
    match found.kind {
        ObjectValue::Int => Some((line.number(value) as i64).to_string().into()),
        ObjectValue::Uint => Some(line.number(value).to_string().into()),
        ObjectValue::Text => Some(line.text(found.bytes).into()),
        ObjectValue::Float | ObjectValue::Bool | ObjectValue::Json => None,
    }
}
