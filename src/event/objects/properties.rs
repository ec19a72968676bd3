//! Properties of imported events that have a `$type`, and the place in a source that they name.

use crate::event::values::value::Value;

/// A property with a `$type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// The name of its `$text`, as a field.
    pub name: String,
    /// The `$type`: `SourceFile`, `Channel`.
    pub kind: String,
    /// Its members that are values, with their positions.
    members: Vec<(String, usize)>,
}

impl Property {
    /// One of which nothing but its name is known yet.
    pub(super) fn new(name: String) -> Property {
        Property {
            name,
            kind: String::new(),
            members: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, key: &str, position: usize) {
        self.members.push((key.into(), position));
    }

    /// Whether it has a type, and values.
    pub(super) fn is_typed(&self) -> bool {
        !self.kind.is_empty() && !self.members.is_empty()
    }

    /// The position of the value of a member, such as `$text`.
    pub fn position(&self, member: &str) -> Option<usize> {
        let found = self.members.iter().find(|(key, _)| key == member);
        found.map(|(_, position)| *position)
    }

    fn text(&self, member: &str, values: &[Value]) -> Option<String> {
        match values.get(self.position(member)?)? {
            Value::Text { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// A number, or the text of one.
    fn number(&self, member: &str, values: &[Value]) -> Option<u32> {
        match values.get(self.position(member)?)? {
            Value::Int(number) => (*number).try_into().ok(),
            Value::Uint(number) => (*number).try_into().ok(),
            Value::Text { bytes, cut: false } => std::str::from_utf8(bytes).ok()?.parse().ok(),
            _ => None,
        }
    }
}

/// A place in a source, as far as the properties of an event name one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourcePlace {
    /// The `file` of the first `SourceFile`; without one, its text.
    pub file: Option<String>,
    /// Its `depotPath`: where version control has it.
    pub depot_path: Option<String>,
    /// Its `line`; without one, the text of the first `LineNumber`.
    pub line: Option<u32>,
    /// The text of the first `ColumnNumber`.
    pub column: Option<u32>,
}

impl SourcePlace {
    /// The place that an event with these properties and values names.
    pub fn of(properties: &[Property], values: &[Value]) -> SourcePlace {
        let first = |kind: &str| properties.iter().find(|one| one.kind == kind);
        let number = |kind| first(kind)?.number("$text", values);
        let file = first("SourceFile");
        let text = |member| file?.text(member, values);
        SourcePlace {
            file: text("file").or_else(|| text("$text")),
            depot_path: text("depotPath"),
            line: file
                .and_then(|file| file.number("line", values))
                .or_else(|| number("LineNumber")),
            column: number("ColumnNumber"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::objects::object::Object;

    #[test]
    fn types_decide_and_not_names() {
        let text = concat!(
            r#""a"{"message":$message,"file":{"$type":"SourceFile","$text":$9:str},"properties":{"#,
            r#""x":{"$type":"SourceFile","$text":$0:str,"depotPath":$1:str,"line":$2:i64},"#,
            r#""y":{"z":{"$text":$3:str,"$type":"LineNumber"}},"file":$4:str,"#,
            r#""c":{"$type":"ColumnNumber","$text":$5:str}}}"#,
        );
        let object = Object::parse(text).expect("a format");
        let found = object.properties();
        let all: Vec<_> = found.iter().map(|one| (&*one.name, &*one.kind)).collect();
        let expected = [
            ("x", "SourceFile"),
            ("y.z", "LineNumber"),
            ("c", "ColumnNumber"),
        ];
        assert_eq!(all, expected);
        let text = |text: &'static str| Value::Text {
            bytes: text.as_bytes(),
            cut: false,
        };
        let mut values = vec![text("a.c"), text("//d/a.c"), Value::Int(7), text("8")];
        values.extend([text("other.c"), text("30")]);
        let place = SourcePlace {
            file: Some("a.c".into()),
            depot_path: Some("//d/a.c".into()),
            line: Some(7),
            column: Some(30),
        };
        assert_eq!(SourcePlace::of(found, &values), place);
        // What is no number of a line is none.
        values[2] = Value::Int(-7);
        assert_eq!(SourcePlace::of(found, &values).line, Some(8));
        assert_eq!(SourcePlace::of(found, &[]), SourcePlace::default());
    }
}
