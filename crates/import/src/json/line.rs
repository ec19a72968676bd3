//! Takes a line of JSON apart: what lines have in common, and the values in which they differ.

use timeline::Priority;
use timeline::internal::ObjectValue;

use super::super::level::{of_number, of_word};
use super::super::tokens::ByteRange;
use super::scan::{JsonInput, number, unescape};
use timeline_reading::json::push_quoted;

/// Objects in the properties and around. Deeper ones are values as a whole.
const MOST_DEEP: usize = 8;
/// Longer texts are no levels.
const MOST_LEVEL: usize = 64;

/// A line that is taken apart. Its memory is used again for the next line.
#[derive(Default)]
pub struct JsonLine {
    /// The line as JSON without spaces. In the places of values it has `$` and their types.
    pub shape: String,
    /// In the order of the line.
    pub values: Vec<JsonValue>,
    /// The bytes of the values.
    pub bytes: Vec<u8>,
    pub message: Option<ByteRange>,
    pub format: Option<ByteRange>,
    pub level: Option<Priority>,
    /// The member beside the properties.
    pub category: Option<ByteRange>,
    /// The first texts of properties with these types: of channels and, where they have no other
    /// members, of files and lines.
    pub channel: Option<ByteRange>,
    pub file: Option<ByteRange>,
    pub file_line: Option<u64>,
    /// Whether a line feed ends the message, though not in this line.
    pub ends_line: bool,
    /// The values of these names.
    pub time: Option<usize>,
    pub id: Option<usize>,
    /// Which line of its event this is, and how many there are.
    pub index: Option<u64>,
    pub count: Option<u64>,
    has_properties: bool,
    /// Whether the properties are being read.
    is_inside: bool,
    has_level: bool,
}

/// A value of a line.
#[derive(Debug, Clone, Copy)]
pub struct JsonValue {
    pub kind: ObjectValue,
    /// Its place in the shape.
    pub at: usize,
    /// Its bytes; of a number the 64 bits, little-endian.
    pub bytes: ByteRange,
    /// The key of the text or number, or of the object that stands for it with a `$text`.
    key: ByteRange,
    pub is_property: bool,
}

/// Where a member of an object stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    Properties,
    Below,
}

impl JsonLine {
    /// Takes a line apart. Returns whether it is of the schema.
    pub fn read(&mut self, line: &[u8]) -> bool {
        if line.first() != Some(&b'{') {
            return false;
        }
        let (mut shape, mut bytes) = (String::new(), Vec::new());
        let mut values = Vec::new();
        std::mem::swap(&mut shape, &mut self.shape);
        std::mem::swap(&mut bytes, &mut self.bytes);
        std::mem::swap(&mut values, &mut self.values);
        shape.clear();
        bytes.clear();
        values.clear();
        *self = JsonLine {
            shape,
            bytes,
            values,
            ..JsonLine::default()
        };
        let Ok(text) = std::str::from_utf8(line) else {
            return false;
        };
        let mut input = JsonInput::new(text);
        let is_read = self.object(&mut input, Place::Top, (0, 0), 0).is_some();
        let is_event = self.message.is_some() || self.format.is_some() && self.has_properties;
        is_read && input.peek().is_none() && is_event
    }

    /// The bytes at a place.
    pub fn span(&self, (from, to): ByteRange) -> &[u8] {
        &self.bytes[from as usize..to as usize]
    }

    /// The text at a place. A text of JSON is UTF-8.
    pub fn text(&self, span: ByteRange) -> &str {
        std::str::from_utf8(self.span(span)).unwrap_or_default()
    }

    /// The value that a format means with a name: a property, or else a field beside them.
    pub fn named(&self, name: &str) -> Option<usize> {
        let is = |value: &JsonValue| !name.is_empty() && self.span(value.key) == name.as_bytes();
        let mut all = self.values.iter();
        let property = all.position(|value| value.is_property && is(value));
        property.or_else(|| self.values.iter().position(is))
    }

    fn since(&self, from: usize) -> ByteRange {
        (from as u32, self.bytes.len() as u32)
    }

    /// Appends a text of JSON without its quotes.
    fn put_string(&mut self, (string, has_escapes): (&str, bool)) -> Option<ByteRange> {
        let from = self.bytes.len();
        match has_escapes {
            true => unescape(string, &mut self.bytes)?,
            false => self.bytes.extend_from_slice(string.as_bytes()),
        }
        Some(self.since(from))
    }

    fn object(
        &mut self,
        input: &mut JsonInput,
        place: Place,
        around: ByteRange,
        deep: usize,
    ) -> Option<()> {
        let mut separator = '{';
        let (mut kind, mut text, mut count) = (None, None, 0);
        input.peek();
        input.list(b'}', |input| {
            input.peek();
            let key = input.string()?;
            let key = self.put_string(key)?;
            input.take(b':')?;
            self.shape.push(separator);
            separator = ',';
            self.put_quoted(key);
            self.shape.push(':');
            count += 1;
            match (place, self.text(key)) {
                (Place::Top, _) => self.top(input, key)?,
                (Place::Properties, _) => self.value(input, key, 1)?,
                (Place::Below, "$type") if input.peek() == Some(b'"') => {
                    let text = input.string()?;
                    kind = Some(self.put_constant(text)?);
                }
                (Place::Below, "$text") => {
                    text = (input.peek() == Some(b'"')).then_some(self.values.len());
                    self.value(input, around, deep)?;
                }
                (Place::Below, _) => self.value(input, (0, 0), deep)?,
            }
            Some(())
        })?;
        if let (Some(kind), Some(text)) = (kind, text) {
            self.typed(kind, text, count == 2);
        }
        self.shape += if separator == '{' { "{}" } else { "}" };
        Some(())
    }

    fn put_quoted(&mut self, (from, to): ByteRange) {
        let text = std::str::from_utf8(&self.bytes[from as usize..to as usize]);
        push_quoted(text.unwrap_or_default(), &mut self.shape);
    }

    /// A text that is the same in all lines of an event.
    fn put_constant(&mut self, string: (&str, bool)) -> Option<ByteRange> {
        let text = self.put_string(string)?;
        self.put_quoted(text);
        Some(text)
    }

    /// A field beside the properties.
    fn top(&mut self, input: &mut JsonInput, key: ByteRange) -> Option<()> {
        let is_text = input.peek()? == b'"';
        let before = self.values.len();
        match self.text(key) {
            "message" if is_text => {
                let string = input.string()?;
                let text = self.put_string(string)?;
                self.shape += "$message";
                return self.message.replace(text).is_none().then_some(());
            }
            "format" if is_text => {
                let string = input.string()?;
                let text = self.put_constant(string)?;
                return self.format.replace(text).is_none().then_some(());
            }
            "level" => {
                let is_first = !std::mem::replace(&mut self.has_level, true);
                return is_first.then_some(()).and(self.level(input, key));
            }
            "properties" if input.peek() == Some(b'{') => {
                let is_first = !std::mem::replace(&mut self.has_properties, true);
                is_first.then_some(())?;
                self.is_inside = true;
                self.object(input, Place::Properties, (0, 0), 1)?;
                self.is_inside = false;
                return Some(());
            }
            "category" if is_text => {
                let string = input.string()?;
                self.category = Some(self.put_constant(string)?);
                return Some(());
            }
            "lineFeed" if input.peek() == Some(b't') && self.has_line() => {
                self.shape += input.word()?;
                self.ends_line = true;
                return Some(());
            }
            "priority" if is_text => match self.priority(input)? {
                true => return Some(()),
                false => self.value(input, key, 1)?,
            },
            _ => self.value(input, key, 1)?,
        }
        let found = (self.values.len() > before).then_some(before);
        let number = found.filter(|at| self.values[*at].kind == ObjectValue::Int);
        let number = number.and_then(|at| u64::try_from(self.number(at) as i64).ok());
        match self.text(key) {
            "time" => {
                return found.map_or(Some(()), |at| self.time.replace(at).is_none().then_some(()));
            }
            "timestamp" | "@timestamp" | "ts" if self.time.is_none() => self.time = found,
            "id" => self.id = found,
            "lineIndex" | "line" => self.index = number,
            "lineCount" => self.count = number,
            _ => {}
        }
        Some(())
    }

    /// Whether a message was read that is one line.
    pub fn has_line(&self) -> bool {
        self.message
            .is_some_and(|message| !self.span(message).contains(&b'\n'))
    }

    /// The 64 bits of a number.
    pub fn number(&self, value: usize) -> u64 {
        let bytes = self.span(self.values[value].bytes).first_chunk();
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn level(&mut self, input: &mut JsonInput, key: ByteRange) -> Option<()> {
        let mut ahead = *input;
        match ahead.peek()? {
            b'"' => {
                let string = ahead.string()?;
                if string.0.len() > MOST_LEVEL {
                    return self.value(input, key, 1);
                }
                *input = ahead;
                let text = self.put_constant(string)?;
                self.level = of_word(self.span(text));
            }
            b'0'..=b'9' => {
                let number = ahead.number()?;
                let Ok(known) = number.parse().map(of_number) else {
                    return self.value(input, key, 1);
                };
                *input = ahead;
                self.shape += number;
                self.level = known;
            }
            _ => return self.value(input, key, 1),
        }
        Some(())
    }

    /// Notes a property with this type and text, which are all that it has, or not. Its name says
    /// nothing.
    fn typed(&mut self, kind: ByteRange, text: usize, are_all: bool) {
        let Some(value) = self.values.get(text).filter(|value| value.is_property) else {
            return;
        };
        if value.kind != ObjectValue::Text {
            return;
        }
        let text = value.bytes;
        match self.text(kind) {
            "Channel" => self.channel = self.channel.or(Some(text)),
            "SourceFile" if are_all => self.file = self.file.or(Some(text)),
            "LineNumber" if are_all && self.file_line.is_none() => {
                self.file_line = self.text(text).parse().ok();
            }
            _ => {}
        }
    }

    /// Takes the priority that tells more than the level before it. Returns whether it does; then
    /// all of an event have it.
    fn priority(&mut self, input: &mut JsonInput) -> Option<bool> {
        let mut ahead = *input;
        let string = ahead.string()?;
        let told = match (self.level, string.0) {
            (Some(Priority::Trace), "app") => Priority::App,
            (Some(Priority::Packet), "packet") => Priority::Packet,
            (Some(Priority::Packet), "library") => Priority::Library,
            _ => return Some(false),
        };
        *input = ahead;
        self.put_constant(string)?;
        self.level = Some(told);
        Some(true)
    }

    /// A value of any type. In a format, it is known by `name`.
    fn value(&mut self, input: &mut JsonInput, name: ByteRange, deep: usize) -> Option<()> {
        let from = self.bytes.len();
        let kind = match input.peek()? {
            b'{' if deep < MOST_DEEP => {
                return self.object(input, Place::Below, name, deep + 1);
            }
            b'"' => {
                let begin = input.at;
                let string = input.string()?;
                match self.put_string(string) {
                    Some(_) => ObjectValue::Text,
                    None => {
                        self.bytes.truncate(from);
                        self.bytes
                            .extend_from_slice(&input.text.as_bytes()[begin..input.at]);
                        ObjectValue::Json
                    }
                }
            }
            b'{' | b'[' => {
                self.bytes.extend_from_slice(input.any()?.as_bytes());
                ObjectValue::Json
            }
            b'-' | b'0'..=b'9' => {
                let text = input.number()?;
                let (kind, bits) = number(text);
                match kind {
                    ObjectValue::Json => self.bytes.extend_from_slice(text.as_bytes()),
                    _ => self.bytes.extend_from_slice(&bits.to_le_bytes()),
                }
                kind
            }
            _ => match input.word()? {
                "null" => {
                    self.shape += "null";
                    return Some(());
                }
                word => {
                    let bits = u64::from(word == "true");
                    self.bytes.extend_from_slice(&bits.to_le_bytes());
                    ObjectValue::Bool
                }
            },
        };
        self.values.push(JsonValue {
            kind,
            at: self.shape.len(),
            bytes: self.since(from),
            key: name,
            is_property: self.is_inside,
        });
        self.shape.push('$');
        self.shape += kind.name();
        Some(())
    }
}
