//! The parts of the messages of a definition, and by which bytes values are shown in them.

use std::borrow::Cow;

use timeline::internal::{
    Format, FormatPart, FormatValue, Notation, TemplatePiece, ValueKind, pieces,
};
use timeline::{Definition, Syntax, TemplateField};
use timeline_archive::ShapeValues;

use crate::query::bounds::NumericDomain;

/// A part of a message.
pub enum TextPart<'t> {
    Text(Cow<'t, [u8]>),
    Value(Box<ValueText>),
}

/// How a value is shown.
pub struct ValueText {
    /// By these bytes, and by no others.
    pub bytes: ByteSet,
    /// If its column tells its text.
    pub told: Option<TextColumn>,
}

/// A value whose column tells the text by which it is shown.
#[derive(Debug, Clone, Copy)]
pub enum TextColumn {
    /// The value at a position, in base 10, with a sign if it is negative.
    Number(usize, NumericDomain),
    /// An integer, as a format of printf shows it.
    Integer(FormatValue),
    /// The text at a position, as it is.
    Text(usize),
}

impl TextColumn {
    /// The position of the value.
    pub fn position(&self) -> usize {
        match self {
            TextColumn::Number(position, _) | TextColumn::Text(position) => *position,
            TextColumn::Integer(value) => value.position(),
        }
    }
}

/// A set of bytes.
#[derive(Debug, Clone, Copy)]
pub struct ByteSet([bool; 256]);

impl ByteSet {
    fn of(is_in: impl Fn(u8) -> bool) -> ByteSet {
        ByteSet(std::array::from_fn(|byte| is_in(byte as u8)))
    }

    fn list(bytes: &[u8]) -> ByteSet {
        ByteSet::of(|byte| bytes.contains(&byte))
    }

    pub fn all() -> ByteSet {
        ByteSet::of(|_| true)
    }

    /// How many bytes a text begins with that are in the set.
    pub fn run(&self, text: &[u8]) -> usize {
        let is_in = |byte: &&u8| self.0[usize::from(**byte)];
        text.iter().take_while(is_in).count()
    }

    /// With the small letters of its capital ones.
    pub fn folded(&self) -> ByteSet {
        ByteSet::of(|byte| {
            let of = |byte: u8| self.0[usize::from(byte)];
            of(byte) || of(byte.to_ascii_uppercase())
        })
    }
}

/// The characters of whole numbers, and of a value that is missing.
const DIGITS: &[u8] = b"0123456789-?";
/// Those of 0x1f, 1.5, -2e-7, inf and nan.
const FLOAT: &[u8] = b"0123456789+-.eEinfaINFA?";
const HEX: &[u8] = b"0123456789abcdefxABCDEFX?";

impl ValueText {
    fn as_any() -> ValueText {
        ValueText {
            bytes: ByteSet::all(),
            told: None,
        }
    }

    fn by(bytes: ByteSet) -> ValueText {
        ValueText { bytes, told: None }
    }

    /// How a template shows the value of a field.
    fn of_field(field: &TemplateField, position: usize, values: &ShapeValues) -> ValueText {
        let kind = match values {
            ShapeValues::Words(count) if position < *count => Some(ValueKind::Int),
            ShapeValues::Kinds(kinds) => kinds.get(position).copied(),
            _ => None,
        };
        if matches!(kind, Some(ValueKind::Text | ValueKind::LongDouble)) {
            return ValueText::as_any();
        }
        match field.kind.notation() {
            Notation::Number if field.kind.storage().is_integer() => {
                let numbers = kind.and_then(|kind| NumericDomain::of(Some(field.kind), kind));
                ValueText {
                    bytes: ByteSet::list(DIGITS),
                    told: numbers.map(|numbers| TextColumn::Number(position, numbers)),
                }
            }
            Notation::Number => ValueText::by(ByteSet::list(FLOAT)),
            Notation::Base16 => ValueText::by(ByteSet::list(HEX)),
            _ => ValueText::as_any(),
        }
    }

    /// How a format of printf shows a value of this kind. Of a value that is not shown because
    /// there are too many bytes before it, there is a `?`.
    fn of_format(value: FormatValue, kind: ValueKind) -> ValueText {
        let told = match kind {
            _ if value.is_plain_text(kind) => Some(TextColumn::Text(value.position())),
            _ if value.is_integer(kind) => Some(TextColumn::Integer(value)),
            _ => None,
        };
        ValueText {
            bytes: ByteSet::of(|byte| byte == b'?' || value.may_have(kind, byte)),
            told,
        }
    }
}

/// The parts of the messages of a definition whose events have values in this form. `None` if only
/// the messages tell.
pub fn parts<'t>(definition: &'t Definition, values: &ShapeValues) -> Option<Vec<TextPart<'t>>> {
    if definition.is_lost || *values == ShapeValues::Payload {
        return None;
    }
    match definition.syntax {
        Syntax::Template => Some(of_template(definition, values)),
        Syntax::Printf => of_format(&definition.message, values),
    }
}

/// Each value stands between parentheses, by which no other value than a text is shown.
fn of_template<'t>(definition: &'t Definition, values: &ShapeValues) -> Vec<TextPart<'t>> {
    let (mut parts, mut position) = (Vec::new(), 0);
    let literal = |text: &'t str| TextPart::Text(text.as_bytes().into());
    for piece in pieces(definition.summary()) {
        match piece {
            TemplatePiece::Text(text) => parts.push(literal(text)),
            TemplatePiece::Argument(field) => {
                let value =
                    TextPart::Value(Box::new(ValueText::of_field(&field, position, values)));
                parts.extend([literal(field.name), literal("("), value, literal(")")]);
                position += 1;
            }
        }
    }
    parts
}

fn of_format(message: &str, values: &ShapeValues) -> Option<Vec<TextPart<'static>>> {
    let format = Format::parse(message);
    // Those of events without a payload are words, and as many as an entry of a ring has. These are
    // the values only if no text or `long double` is among them.
    let are_words = |format: &Format| {
        let types = format.types().unwrap_or_default();
        types.iter().all(|of| b"iulU".contains(&(*of as u8)))
    };
    let kind: &dyn Fn(usize) -> Option<ValueKind> = match values {
        ShapeValues::Kinds(kinds) if !kinds.is_empty() => &|position| kinds.get(position).copied(),
        ShapeValues::Words(count) if are_words(&format) => {
            &|position| (position < *count).then_some(ValueKind::Int)
        }
        _ => &|_| None,
    };
    let part = |part| match part {
        FormatPart::Text(text) => TextPart::Text(text.as_bytes().to_vec().into()),
        FormatPart::Value(value) => TextPart::Value(Box::new(match kind(value.position()) {
            Some(kind) => ValueText::of_format(value, kind),
            None => ValueText::as_any(),
        })),
    };
    Some(format.parts()?.into_iter().map(part).collect())
}
