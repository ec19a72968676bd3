//! Formats of objects: which values of an event stand where in JSON, for events that came from it.
//!
//! Such a format is a format of printf in quotes, and behind it one object, or several, one a line.
//! In an object, `$message` and `$3:i64` stand for the message and the value of a position.
//! docs/archive.md states the whole syntax.

use std::collections::HashSet;

use crate::event::messages::template::TemplateField;
use crate::event::objects::object_value::ObjectValue;
use crate::event::objects::properties::Property;
use crate::event::values::field_table::FieldType;

/// Objects in objects. Deeper formats are damaged.
const MOST_DEEP: usize = 16;
/// Positions of values are lower.
const MOST_VALUES: usize = 1024;

/// How the events of a definition stand in JSON.
///
/// # Example
/// ```
/// use timeline::internal::Object;
/// let text = r#""got %ld"{"message":$message,"properties":{"bytes":$0:i64}}"#;
/// let object = Object::parse(text).expect("a format of objects");
/// assert_eq!(object.format(), "got %ld");
/// assert_eq!(object.fields().next().map(|field| field.name), Some("bytes"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    format: String,
    /// See [`Object::template`].
    template: Option<String>,
    parts: Vec<ObjectPart>,
    /// By position.
    names: Vec<(String, FieldType<'static>)>,
    properties: Vec<Property>,
    lines: usize,
    ends_line: bool,
}

/// A part of the text of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectPart {
    /// JSON as it is.
    Text(String),
    /// The message, or its line of this number if each has an object of its own.
    Message(Option<usize>),
    /// The value of a position.
    Value(usize, ObjectValue),
    /// The end of an object.
    End,
}

impl Object {
    /// A format of objects. `None` if it is damaged.
    pub fn parse(text: &str) -> Option<Object> {
        let mut parser = Parser {
            rest: text,
            text: String::new(),
            path: Vec::new(),
            open: Vec::new(),
            templates: Vec::new(),
            names: Vec::new(),
            object: Object {
                format: String::new(),
                template: None,
                parts: Vec::new(),
                names: Vec::new(),
                properties: Vec::new(),
                lines: 0,
                ends_line: false,
            },
        };
        parser.object.format = parser.string()?;
        loop {
            parser.object.ends_line = false;
            parser.value(0)?;
            parser.put_text();
            parser.object.parts.push(ObjectPart::End);
            parser.object.lines += 1;
            if parser.rest.is_empty() {
                break;
            }
            parser.sign('\n')?;
        }
        let mut object = parser.object;
        object.names = names(parser.names);
        let have_all = parser.templates.len() == object.lines;
        object.template = have_all.then(|| parser.templates.join("\n"));
        if object.lines > 1 || object.ends_line {
            let mut line = 0;
            for part in &mut object.parts {
                match part {
                    ObjectPart::Message(of) => *of = Some(line),
                    ObjectPart::End => line += 1,
                    _ => {}
                }
            }
        }
        Some(object)
    }

    /// The message, as a format of printf.
    pub fn format(&self) -> &str {
        &self.format
    }

    /// The `format` that stands in the object, with `{name}` in the places of values; of several
    /// objects, those of all, one a line. `None` if one has none.
    pub fn template(&self) -> Option<&str> {
        self.template.as_deref()
    }

    /// The text of all objects.
    pub fn parts(&self) -> &[ObjectPart] {
        &self.parts
    }

    /// The properties that have a `$type`, those of each line in their order.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Whether a line feed ends the message, which stands in no line of it: the last object has
    /// `"lineFeed":true`.
    pub fn ends_line(&self) -> bool {
        self.ends_line
    }

    /// The names of the values by position. One that stands only in the message has its position as
    /// its name, with a number behind it if a value has that name: `0_2`.
    pub fn fields(&self) -> impl Iterator<Item = TemplateField<'_>> {
        self.names.iter().map(|(name, kind)| TemplateField {
            name,
            kind: *kind,
            has_type: true,
        })
    }
}

/// Reads a format from left to right.
struct Parser<'a> {
    rest: &'a str,
    /// JSON that is no part yet.
    text: String,
    /// The keys of the objects around.
    path: Vec<String>,
    /// The objects around, of which those with a `$type` are properties.
    open: Vec<Property>,
    /// The formats of the objects, as they stand there.
    templates: Vec<String>,
    /// The names by position, of the values that have one.
    names: Vec<Option<(String, FieldType<'static>)>>,
    object: Object,
}

/// Gives a name to the values that have none.
fn names(given: Vec<Option<(String, FieldType<'static>)>>) -> Vec<(String, FieldType<'static>)> {
    let mut taken: HashSet<String> = (given.iter().flatten())
        .map(|(name, _)| name.clone())
        .collect();
    let named = given.into_iter().enumerate().map(|(position, given)| {
        given.unwrap_or_else(|| {
            let (mut name, mut number) = (position.to_string(), 1);
            while !taken.insert(name.clone()) {
                number += 1;
                name = format!("{position}_{number}");
            }
            (name, ObjectValue::Text.field())
        })
    });
    named.collect()
}

impl Parser<'_> {
    fn sign(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    fn put_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.object.parts.push(ObjectPart::Text(text));
        }
    }

    /// Takes a string with its quotes as JSON, and returns its text.
    fn quoted(&mut self) -> Option<String> {
        let before = self.rest;
        let string = self.string()?;
        self.text += &before[..before.len() - self.rest.len()];
        Some(string)
    }

    /// The text of a string.
    fn string(&mut self) -> Option<String> {
        let mut chars = self.rest.strip_prefix('"')?.chars();
        let mut text = String::new();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => text.push(match chars.next()? {
                    c @ ('"' | '\\' | '/') => c,
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'u' => {
                        let (c, rest) = escaped(chars.as_str())?;
                        chars = rest.chars();
                        c
                    }
                    _ => return None,
                }),
                c if c < ' ' => return None,
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }

    fn value(&mut self, deep: usize) -> Option<()> {
        match self.rest.chars().next()? {
            '{' if deep < MOST_DEEP => self.members(deep),
            '"' if deep > 0 => self.quoted().map(|_| ()),
            '$' if deep > 0 => self.place(),
            _ if deep > 0 => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.text += word;
                self.rest = rest;
                (end > 0).then_some(())
            }
            _ => None,
        }
    }

    fn members(&mut self, deep: usize) -> Option<()> {
        self.sign('{')?;
        self.text.push('{');
        self.open.push(Property::new(self.name()));
        if !self.rest.starts_with('}') {
            loop {
                let key = self.quoted()?;
                self.sign(':')?;
                self.text.push(':');
                if key == "$type" && self.rest.starts_with('"') {
                    let kind = self.quoted()?;
                    self.open.last_mut()?.kind = kind;
                } else if key == "format" && deep == 0 && self.rest.starts_with('"') {
                    let template = self.quoted()?;
                    self.templates.push(template);
                } else {
                    if key == "lineFeed" && deep == 0 {
                        self.object.ends_line = self.rest.starts_with("true");
                    }
                    self.path.push(key);
                    self.value(deep + 1)?;
                    self.path.pop();
                }
                if self.sign(',').is_none() {
                    break;
                }
                self.text.push(',');
            }
        }
        self.sign('}')?;
        self.text.push('}');
        let is_inside = self.path.len() > 1 && self.path[0] == "properties";
        if let Some(property) = self.open.pop().filter(|one| is_inside && one.is_typed()) {
            self.object.properties.push(property);
        }
        Some(())
    }

    /// A place for the message or a value.
    fn place(&mut self) -> Option<()> {
        self.put_text();
        self.sign('$')?;
        if let Some(rest) = self.rest.strip_prefix("message") {
            self.rest = rest;
            self.object.parts.push(ObjectPart::Message(None));
            return Some(());
        }
        let (position, rest) = self.rest.split_once(':')?;
        let position: usize = position.parse().ok().filter(|at| *at < MOST_VALUES)?;
        let mut all = ObjectValue::ALL.iter();
        let found = |(kind, name): &(ObjectValue, &str)| Some((*kind, rest.strip_prefix(*name)?));
        let (kind, rest) = all.find_map(found)?;
        self.rest = rest;
        self.object.parts.push(ObjectPart::Value(position, kind));
        if let (Some(open), Some(key)) = (self.open.last_mut(), self.path.last()) {
            open.push(key, position);
        }
        let name = (self.name(), kind.field());
        if self.names.len() <= position {
            self.names.resize(position + 1, None);
        }
        self.names[position] = Some(name);
        Some(())
    }

    /// The name of a value: the keys around it, of which those that all have are left out.
    fn name(&self) -> String {
        let mut keys = &self.path[..];
        if let [first, rest @ ..] = keys
            && first == "properties"
            && !rest.is_empty()
        {
            keys = rest;
        }
        if let [before @ .., last] = keys
            && last == "$text"
            && !before.is_empty()
        {
            keys = before;
        }
        keys.join(".")
    }
}

/// The character of an escape, whose `\\u` was read, and what follows it.
fn escaped(text: &str) -> Option<(char, &str)> {
    let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
    let mut units = vec![unit(text)?];
    let mut rest = &text[4..];
    if units[0] & 0xfc00 == 0xd800 {
        rest = rest.strip_prefix("\\u")?;
        units.push(unit(rest)?);
        rest = &rest[4..];
    }
    let text = String::from_utf16(&units).ok()?;
    Some((text.chars().next()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_have_the_names_of_their_keys() {
        let text = concat!(
            r#""%s of %ld: \"%s\"\n\u0001"{"time":$3:str,"message":$message,"properties":{"#,
            r#""n":$1:i64,"user":{"$type":"User","$text":$2:str,"id":$4:u64},"ok":$5:bool}}"#,
        );
        let object = Object::parse(text).expect("a format");
        assert_eq!(object.format(), "%s of %ld: \"%s\"\n\u{1}");
        let fields: Vec<_> = object.fields().map(|f| (f.name, f.kind)).collect();
        assert_eq!(
            fields,
            [
                ("0", FieldType::Str),
                ("n", FieldType::I64),
                ("user", FieldType::Str),
                ("time", FieldType::Str),
                ("user.id", FieldType::U64),
                ("ok", FieldType::Bool),
            ]
        );
        assert_eq!(object.parts()[0], ObjectPart::Text("{\"time\":".into()));
        assert_eq!(object.parts()[1], ObjectPart::Value(3, ObjectValue::Text));
        assert_eq!(object.parts()[3], ObjectPart::Message(None));
        assert_eq!(object.parts().last(), Some(&ObjectPart::End));
    }

    #[test]
    fn a_format_in_the_object_is_its_template() {
        let template = |text: &str| {
            let object = Object::parse(&format!("\"a\"{text}")).expect("a format");
            object.template().map(str::to_owned)
        };
        let one = r#"{"format":"a \"{b}\"","properties":{"format":"no"}}"#;
        assert_eq!(template(one).as_deref(), Some("a \"{b}\""));
        let two = "{\"format\":\"a\"}\n{\"format\":\"b\"}";
        assert_eq!(template(two).as_deref(), Some("a\nb"));
        assert_eq!(template("{\"format\":\"a\"}\n{\"x\":1}"), None);
        assert_eq!(template("{\"format\":$0:i64}"), None);
    }

    #[test]
    fn each_of_several_objects_has_its_line() {
        let object = Object::parse("\"a\\nb\"{\"m\":$message}\n{\"m\":$message}").unwrap();
        let lines: Vec<_> = (object.parts().iter())
            .filter_map(|part| match part {
                ObjectPart::Message(line) => Some(*line),
                _ => None,
            })
            .collect();
        assert_eq!(lines, [Some(0), Some(1)]);
    }

    #[test]
    fn what_stands_only_in_the_message_takes_no_name_of_a_value() {
        let text =
            r#""%s %s%s"{"message":$message,"0":$3:i64,"properties":{"0_2":$4:i64,"2":$2:str}}"#;
        let object = Object::parse(text).expect("a format");
        let names: Vec<_> = object.fields().map(|field| field.name).collect();
        assert_eq!(names, ["0_3", "1", "2", "0", "0_2"]);
    }

    #[test]
    fn a_line_feed_ends_the_message_of_an_object_that_says_so() {
        let part = |text: &str| {
            let object = Object::parse(&format!("\"a\\n\"{text}")).expect("a format");
            let parts = object.parts().iter();
            let mut lines = parts.filter_map(|part| match part {
                ObjectPart::Message(line) => Some(*line),
                _ => None,
            });
            (object.ends_line(), lines.next().flatten())
        };
        assert_eq!(part(r#"{"m":$message,"lineFeed":true}"#), (true, Some(0)));
        assert_eq!(part(r#"{"m":$message,"lineFeed":false}"#), (false, None));
        let inside = r#"{"m":$message,"properties":{"lineFeed":true}}"#;
        assert_eq!(part(inside), (false, None));
        let first = "{\"m\":$message,\"lineFeed\":true}\n{\"m\":$message}";
        assert_eq!(part(first), (false, Some(0)));
    }

    #[test]
    fn escapes_stand_for_their_characters() {
        let format = |text| Object::parse(&format!("{text}{{}}")).map(|o| o.format().to_owned());
        let escapes = r#""\\\"\/\b\f\n\r\t\u00e9\ud83d\ude00""#;
        assert_eq!(format(escapes).as_deref(), Some("\\\"/\u{8}\u{c}\n\r\té😀"));
        assert_eq!(format(r#""\ud83d""#), None);
        assert_eq!(format(r#""\ud83d\u0041""#), None);
    }

    #[test]
    fn damaged_formats_are_refused() {
        let deep = |n: usize| format!("\"\"{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
        assert!(Object::parse(&deep(MOST_DEEP)).is_some());
        assert!(Object::parse(&deep(MOST_DEEP + 1)).is_none());
        for text in [
            "",
            "\"\"",
            "{}",
            "\"a{}",
            "\"a\"1",
            "\"a\"\"b\"",
            "\"a\"{\"b\":}",
            "\"a\"{\"b\":$}",
            "\"a\"{\"b\":$0}",
            "\"a\"{\"b\":$0:int}",
            "\"a\"{\"b\":$1024:i64}",
            "\"a\"{\"b\":[1]}",
            "\"a\"{\"b\":1,}",
            "\"a\"{\"b\":1}x",
            "\"a\"{\"b\":1}\n",
            "\"\\ud800\"{}",
            "\"\\u12",
        ] {
            assert_eq!(Object::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\"?[%\"{}:,$a0-9\\\\\nué]{0,40}") {
            let _ = Object::parse(&text);
        }
    }
}
