//! Compares values of events with one another and with those of an expression.

use std::cmp::Ordering;
use std::fmt::Write;

use timeline::{Element, FieldType, Value};

use super::condition::{Comparison, Literal};

/// A value, as it is compared.
pub enum Known<'a> {
    Integer(i128),
    Float(f64),
    Bool(bool),
    /// A text, and the time it is, if it is one.
    Text(&'a [u8], Option<u64>),
    /// A time, in nanoseconds since 1970.
    Time(i128),
    /// A number, and the names it goes by.
    Named(i128, Vec<String>),
    Array(Element, &'a [u8]),
}

impl<'a> Known<'a> {
    /// The value of a field, of which only the position may be known. `None` for `NULL`.
    pub fn of(kind: Option<FieldType>, value: &'a Value) -> Option<Known<'a>> {
        Some(match (kind, value) {
            (Some(FieldType::Array(element)), Value::Text { bytes, .. }) => {
                Known::Array(element, bytes)
            }
            (_, Value::Text { bytes, .. }) => Known::Text(bytes, None),
            (_, Value::Float(value)) => Known::Float(*value),
            (_, Value::LongDouble(bytes)) => Known::Float(double(bytes)),
            (Some(kind), Value::Int(_) | Value::Uint(_)) => of_word(kind, kind.word(value)),
            (None, Value::Int(value)) => Known::Integer((*value).into()),
            (None, Value::Uint(value)) => Known::Integer((*value).into()),
            (_, Value::Nil | Value::Addresses(_)) => return None,
        })
    }

    /// A value in an expression.
    pub fn literal(literal: &'a Literal) -> Known<'a> {
        match literal {
            Literal::Integer(value) => Known::Integer(*value),
            Literal::Float(value) => Known::Float(*value),
            Literal::Bool(value) => Known::Bool(*value),
            Literal::Text(text, time) => Known::Text(text.as_bytes(), *time),
        }
    }

    /// Whether it is neither false, nor 0, nor empty.
    pub fn holds(&self) -> bool {
        match self {
            Known::Integer(value) | Known::Time(value) | Known::Named(value, _) => *value != 0,
            Known::Float(value) => *value != 0.0,
            Known::Bool(value) => *value,
            Known::Text(bytes, _) | Known::Array(_, bytes) => !bytes.is_empty(),
        }
    }
}

/// The value in a word, as the type understands it.
fn of_word(kind: FieldType, word: i64) -> Known<'static> {
    let integer = kind.integer(word);
    let unsigned = i128::from(integer as u64);
    match kind {
        FieldType::U64 | FieldType::Hex | FieldType::Ptr | FieldType::Bytes => {
            Known::Integer(unsigned)
        }
        FieldType::F32 => Known::Float(f32::from_bits(integer as u32).into()),
        FieldType::F64 => Known::Float(f64::from_bits(integer as u64)),
        FieldType::Bool => Known::Bool(integer != 0),
        FieldType::Time => Known::Time(integer.into()),
        FieldType::Enum(labels) => {
            let names = labels.name(integer).map(str::to_owned);
            Known::Named(integer.into(), names.into_iter().collect())
        }
        FieldType::Flags(labels) => {
            let (names, _) = labels.names(integer as u64);
            Known::Named(unsigned, names.into_iter().map(str::to_owned).collect())
        }
        FieldType::Char => {
            let mut name = String::new();
            // Writing to a String does not fail.
            let _ = kind.write(word, &mut name);
            Known::Named(integer.into(), vec![name])
        }
        _ => Known::Integer(integer.into()),
    }
}

/// The nearest `double` of a `long double` in x86's memory format.
fn double(bytes: &[u8; 16]) -> f64 {
    let part = |range: std::ops::Range<usize>| {
        let bytes = bytes[range].iter().rev();
        bytes.fold(0_u64, |all, byte| all << 8 | u64::from(*byte))
    };
    let (significand, exponent) = (part(0..8), part(8..10));
    let sign = if exponent >> 15 == 0 { 1.0 } else { -1.0 };
    match exponent & 0x7fff {
        // The integer bit is on top.
        0x7fff if significand << 1 == 0 => sign * f64::INFINITY,
        0x7fff => f64::NAN,
        exponent => {
            // In two steps, because a power of two may be beyond a `double` where the product is
            // not.
            let power = exponent as i32 - 16383 - 63;
            let (half, rest) = (power / 2, power - power / 2);
            sign * significand as f64 * 2_f64.powi(half) * 2_f64.powi(rest)
        }
    }
}

/// Whether the comparison of two values is true. Of an array, one element is enough.
pub fn compare(left: &Known, how: Comparison, right: &Known) -> bool {
    match (left, right) {
        (Known::Array(element, bytes), _) => {
            elements(*element, bytes).any(|left| compare(&left, how, right))
        }
        (_, Known::Array(element, bytes)) => {
            elements(*element, bytes).any(|right| compare(left, how, &right))
        }
        (Known::Named(_, names), Known::Text(text, _))
        | (Known::Text(text, _), Known::Named(_, names)) => {
            let is_one = names.iter().any(|name| name.as_bytes() == *text);
            match how {
                Comparison::Equal => is_one,
                Comparison::Unequal => !is_one,
                _ => false,
            }
        }
        _ => order(left, right).is_some_and(|order| how.accepts(order)),
    }
}

fn elements(element: Element, bytes: &[u8]) -> impl Iterator<Item = Known<'static>> {
    element
        .words(bytes)
        .map(move |word| of_word(element.field(), word))
}

/// Which of two values is greater; `None` if they cannot be compared.
fn order(left: &Known, right: &Known) -> Option<Ordering> {
    match (left, right) {
        (Known::Text(left, _), Known::Text(right, _)) => return Some(left.cmp(right)),
        (Known::Time(left), Known::Text(_, right)) => return Some(left.cmp(&(*right)?.into())),
        (Known::Text(_, left), Known::Time(right)) => return Some(i128::from((*left)?).cmp(right)),
        _ => {}
    }
    match (number(left)?, number(right)?) {
        (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
        (Number::Integer(left), Number::Float(right)) => mixed(left, right),
        (Number::Float(left), Number::Integer(right)) => mixed(right, left).map(Ordering::reverse),
    }
}

enum Number {
    Integer(i128),
    Float(f64),
}

fn number(value: &Known) -> Option<Number> {
    match value {
        Known::Integer(value) | Known::Time(value) | Known::Named(value, _) => {
            Some(Number::Integer(*value))
        }
        Known::Float(value) => Some(Number::Float(*value)),
        Known::Bool(value) => Some(Number::Integer((*value).into())),
        Known::Text(..) | Known::Array(..) => None,
    }
}

/// Compares exactly. A whole number of 64 bits has more digits than a `double`.
fn mixed(integer: i128, float: f64) -> Option<Ordering> {
    let whole = float.trunc();
    // Beyond i128 the cast gives its end, which no integer of an event reaches.
    let order = integer.cmp(&(whole as i128));
    let fraction = 0.0.partial_cmp(&(float - whole));
    match (float.is_finite(), order) {
        _ if float.is_nan() => None,
        (true, Ordering::Equal) => fraction,
        _ => Some(order),
    }
}

impl Comparison {
    fn accepts(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

/// Writes a value as it is shown in a message.
pub fn show(kind: Option<FieldType>, value: &Value, out: &mut String) {
    // Writing to a String does not fail.
    let _ = match (kind, value) {
        (Some(kind), value) => kind.write_value(value, out),
        (None, Value::Text { bytes, .. }) => out.write_str(&String::from_utf8_lossy(bytes)),
        (None, value) => write!(out, "{value}"),
    };
}
