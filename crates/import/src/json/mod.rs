//! Makes events of lines of JSON, as Horde and timeline write them.
//!
//! scan.rs reads JSON, line.rs takes a line apart, message.rs finds its values in its message, and
//! group.rs the lines of one event. Here lines get their definitions: a format of objects, which
//! says where in JSON the values of an event stand, and of which timeline_reading makes the
//! objects again.

mod group;
mod line;
mod message;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use timeline::Priority;
use timeline::internal::{Object, ObjectValue, ValueKind};
use timeline_archive::{OBJECT, RawDefinition};
use timeline_reading::json::push_quoted;

use super::definitions::PutString;
use super::tokens::ByteRange;
use line::JsonLine;
use message::{Message, MessageItem};

pub use group::{LineGroup, Member};

/// The number of what events have in common.
pub type ObjectId = u32;

/// Most definitions of JSON of an import. Further lines remain lines of text.
const MOST: usize = 4096;
/// So many of them say the file and line of their events, which are values as well.
const MOST_WITH_PLACE: usize = 2048;
/// Most bytes of a format of objects: no reader cuts it.
const MOST_FORMAT: usize = 4096;
/// Most values of an event, so that no reader cuts them.
const MOST_VALUES: usize = 256;

/// How the values of one place are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueStorage {
    /// 64 bits each.
    Numbers(ValueKind),
    Texts,
    /// The time of the event, in the form with this number.
    Time(u32),
}

/// What events have in common.
pub struct KnownObject {
    format: String,
    pub priority: Option<Priority>,
    category: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    /// How the values are kept, by position.
    pub kept: Vec<ValueStorage>,
    /// Where they are from.
    sources: Vec<Source>,
    definition: Option<RawDefinition>,
}

/// Where a value of an event is from: a line of the event, and in there one of its values, or one
/// of the texts in its message.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Value(usize, usize),
    Own(usize, usize),
}

/// What the events of an import have in common.
#[derive(Default)]
pub struct JsonObjects {
    all: Vec<KnownObject>,
    by_key: HashMap<Box<[u8]>, ObjectId>,
    key: Vec<u8>,
    messages: Vec<Message>,
}

impl JsonObjects {
    pub fn get(&self, id: ObjectId) -> &KnownObject {
        &self.all[id as usize]
    }

    /// What the event of these lines has in common with others. `form` is that of its time. `None`
    /// if it cannot be an event.
    pub fn of(&mut self, lines: &[Member], form: Option<u32>) -> Option<ObjectId> {
        self.messages.resize_with(lines.len(), Message::default);
        self.key.clear();
        self.key
            .extend_from_slice(&form.unwrap_or(u32::MAX).to_le_bytes());
        for (line, message) in lines.iter().zip(&mut self.messages) {
            message.read(&line.json);
            self.key.extend_from_slice(line.json.shape.as_bytes());
            // No byte of UTF-8.
            self.key.push(0xff);
            message.put_key(&mut self.key);
            self.key.push(0xff);
        }
        // Values that are the same in all events of a definition.
        let first = &lines.first()?.json;
        let with_place = place(first).filter(|_| self.all.len() < MOST_WITH_PLACE);
        let file = with_place.map(|(file, _)| first.text(file));
        for text in [category(lines), file] {
            self.key.extend_from_slice(text.unwrap_or("").as_bytes());
            self.key.push(if text.is_some() { 0xff } else { 0xfe });
        }
        let line = with_place.map_or(0, |(_, line)| line);
        self.key.extend_from_slice(&line.to_le_bytes());
        if let Some(id) = self.by_key.get(&self.key[..]) {
            return Some(*id);
        }
        let known = self.define(lines, form, with_place)?;
        let id = self.all.len() as ObjectId;
        self.all.push(known);
        self.by_key.insert(self.key.as_slice().into(), id);
        Some(id)
    }

    #[cold]
    fn define(
        &self,
        lines: &[Member],
        form: Option<u32>,
        with_place: Option<(ByteRange, u64)>,
    ) -> Option<KnownObject> {
        if self.all.len() >= MOST {
            return None;
        }
        let sources = self.sources(lines);
        let first = &lines.first()?.json;
        let formats: Vec<_> = (lines.iter().zip(&self.messages))
            .map(|(line, message)| message.format(&line.json))
            .collect();
        let ends_line = lines.last().is_some_and(|line| line.json.ends_line);
        let end = if ends_line { "\n" } else { "" };
        let mut format = String::new();
        push_quoted(&(formats.join("\n") + end), &mut format);
        for (number, line) in lines.iter().enumerate() {
            if number > 0 {
                format.push('\n');
            }
            put_object(&line.json, number, &sources, &mut format);
        }
        let kept = sources.iter().map(|source| match source {
            Source::Own(..) => ValueStorage::Texts,
            Source::Value(line, value) => {
                let json = &lines[*line].json;
                kept(json, *value, form)
            }
        });
        let is_short = format.len() <= MOST_FORMAT && sources.len() <= MOST_VALUES;
        // What was made of a line is read again before any event relies on it.
        Object::parse(&format).filter(|_| is_short)?;
        let text = |span: Option<ByteRange>| span.map(|span| first.text(span).to_owned());
        Some(KnownObject {
            priority: first.level,
            category: category(lines).map(str::to_owned),
            file: text(with_place.map(|(file, _)| file)),
            line: with_place.map(|(_, line)| line),
            kept: kept.collect(),
            format,
            sources,
            definition: None,
        })
    }

    /// Where the values are from, by position: first those of the message, in its order, then the
    /// properties, and then all others.
    fn sources(&self, lines: &[Member]) -> Vec<Source> {
        let mut sources = Vec::new();
        for (line, message) in self.messages.iter().enumerate().take(lines.len()) {
            sources.extend(
                message
                    .shown
                    .iter()
                    .enumerate()
                    .map(|(place, shown)| match shown {
                        MessageItem::Value(value) | MessageItem::Named(value) => {
                            Source::Value(line, *value)
                        }
                        MessageItem::Own(_) => Source::Own(line, place),
                    }),
            );
        }
        for are_properties in [true, false] {
            for (number, line) in lines.iter().enumerate() {
                for (place, value) in line.json.values.iter().enumerate() {
                    let source = Source::Value(number, place);
                    if value.is_property == are_properties && !sources.contains(&source) {
                        sources.push(source);
                    }
                }
            }
        }
        sources
    }

    /// The bytes of the values of an event, for which [`JsonObjects::of`] was just called.
    pub fn values<'a>(
        &'a self,
        id: ObjectId,
        lines: &'a [Member],
    ) -> impl Iterator<Item = &'a [u8]> {
        let sources = self.get(id).sources.iter();
        sources.map(move |source| match source {
            Source::Value(line, value) => {
                let json = &lines[*line].json;
                json.span(json.values[*value].bytes)
            }
            Source::Own(line, place) => match self.messages[*line].shown[*place] {
                MessageItem::Own(span) => lines[*line].json.span(span),
                _ => &[],
            },
        })
    }

    /// The definition, whose number is `number` if it is new.
    pub fn definition(
        &mut self,
        id: ObjectId,
        number: impl FnOnce() -> u64,
        put: PutString,
    ) -> RawDefinition {
        let known = &mut self.all[id as usize];
        let definition = known.definition.get_or_insert_with(|| RawDefinition {
            format: Some(put(&known.format)),
            level: known.priority.map(|priority| priority as u64),
            event: Some(number()),
            syntax: Some(OBJECT),
            category: known.category.as_deref().map(&mut *put),
            file: known.file.as_deref().map(put),
            line: known.line,
            ..RawDefinition::default()
        });
        definition.clone()
    }
}

/// The category of an event: the text of the first property with the type of channels, or else the
/// first field of its own.
fn category(lines: &[Member]) -> Option<&str> {
    let all = || lines.iter().map(|line| &line.json);
    let channel = all().find_map(|json| Some(json.text(json.channel?)));
    channel.or_else(|| all().find_map(|json| Some(json.text(json.category?))))
}

/// File and line of a statement, as timeline writes them: both, and nothing more.
fn place(json: &JsonLine) -> Option<(ByteRange, u64)> {
    Some((json.file?, json.file_line?))
}

fn kept(json: &JsonLine, value: usize, form: Option<u32>) -> ValueStorage {
    match (json.values[value].kind, form) {
        (ObjectValue::Text, Some(form)) if json.time == Some(value) => ValueStorage::Time(form),
        (ObjectValue::Text | ObjectValue::Json, _) => ValueStorage::Texts,
        (ObjectValue::Int, _) => ValueStorage::Numbers(ValueKind::Int),
        (ObjectValue::Uint | ObjectValue::Bool, _) => ValueStorage::Numbers(ValueKind::Uint),
        (ObjectValue::Float, _) => ValueStorage::Numbers(ValueKind::Float),
    }
}

/// Appends the format of the object of a line, in which values stand by position.
fn put_object(json: &JsonLine, line: usize, sources: &[Source], format: &mut String) {
    let mut at = 0;
    for (number, value) in json.values.iter().enumerate() {
        let source = Source::Value(line, number);
        let position = sources.iter().position(|other| *other == source);
        // The shape has `$` and the type.
        *format += &json.shape[at..=value.at];
        *format += &format!("{}:", position.unwrap_or(0));
        at = value.at + 1;
    }
    *format += &json.shape[at..];
}
