//! Compares values of events with one another and with those of an expression.

use std::cmp::Ordering;
use std::fmt::Write;

use timeline::internal::{Collation, FieldStorage, Notation};
use timeline::{Element, FieldType, Value};

use super::condition::{Literal, Operator};

/// A value, as it is compared.
pub enum Comparand<'a> {
    Integer(i128),
    Float(f64),
    /// Of a field with fewer digits.
    Single(f32),
    /// Of an expression, where people write the digits that they see.
    Decimal(f64),
    Bool(bool),
    Text(TextPrefix<'a>),
    /// A text of an expression that is a time as well.
    Dated(TextPrefix<'a>, u64),
    /// A time, in nanoseconds since 1970.
    Time(i128),
    /// A number, and the names it goes by.
    Named(i128, Vec<String>),
    Array(Element, TextPrefix<'a>),
}

/// The bytes of a text or an array, and whether there were more.
#[derive(Clone, Copy)]
pub struct TextPrefix<'a> {
    bytes: &'a [u8],
    cut: bool,
}

impl<'a> Comparand<'a> {
    /// The value of a field, of which only the position may be known. `None` for `NULL`.
    pub fn of(kind: Option<FieldType>, value: &'a Value) -> Option<Comparand<'a>> {
        let storage = kind.map(FieldType::storage);
        Some(match (kind, value) {
            (_, Value::Text { bytes, cut }) => {
                let text = TextPrefix { bytes, cut: *cut };
                match kind.and_then(FieldType::element) {
                    Some(element) => Comparand::Array(element, text),
                    None => Comparand::Text(text),
                }
            }
            (_, Value::Float(value)) if storage == Some(FieldStorage::F32) => {
                Comparand::Single(*value as f32)
            }
            (_, Value::Float(value)) => Comparand::Float(*value),
            (_, Value::LongDouble(bytes)) => Comparand::Float(double(bytes)),
            (Some(kind), Value::Int(_) | Value::Uint(_)) => of_word(kind, kind.word(value)),
            (None, Value::Int(value)) => Comparand::Integer((*value).into()),
            (None, Value::Uint(value)) => Comparand::Integer((*value).into()),
            (_, Value::Nil | Value::Addresses(_)) => return None,
        })
    }

    /// A value in an expression.
    pub fn literal(literal: &'a Literal) -> Comparand<'a> {
        match literal {
            Literal::Integer(value) => Comparand::Integer(*value),
            Literal::Float(value) => Comparand::Decimal(*value),
            Literal::Bool(value) => Comparand::Bool(*value),
            Literal::Text(text, time) => {
                let bytes = text.as_bytes();
                let text = TextPrefix { bytes, cut: false };
                time.map_or(Comparand::Text(text), |time| Comparand::Dated(text, time))
            }
        }
    }

    fn text(&self) -> Option<TextPrefix<'a>> {
        match self {
            Comparand::Text(text) | Comparand::Dated(text, _) => Some(*text),
            _ => None,
        }
    }

    /// Whether it is neither false, nor 0, nor empty.
    pub fn holds(&self) -> bool {
        match self {
            Comparand::Integer(value) | Comparand::Time(value) | Comparand::Named(value, _) => {
                *value != 0
            }
            Comparand::Float(value) | Comparand::Decimal(value) => *value != 0.0,
            Comparand::Single(value) => *value != 0.0,
            Comparand::Bool(value) => *value,
            // One that was cut had something.
            Comparand::Text(kept) | Comparand::Dated(kept, _) | Comparand::Array(_, kept) => {
                kept.cut || !kept.bytes.is_empty()
            }
        }
    }
}

/// The value in a word, as the type understands it.
fn of_word(kind: FieldType, word: i64) -> Comparand<'static> {
    let integer = kind.integer(word);
    let number = match kind.storage() {
        FieldStorage::Unsigned(_) => i128::from(integer as u64),
        _ if kind.notation() == Notation::Names => i128::from(integer as u64),
        _ => i128::from(integer),
    };
    match (kind.descriptor().collation, kind.storage()) {
        (Collation::Bool, _) => Comparand::Bool(integer != 0),
        (Collation::Time, _) => Comparand::Time(number),
        (Collation::Name, _) => Comparand::Named(number, kind.names(word)),
        (_, FieldStorage::F32) => Comparand::Single(f32::from_bits(integer as u32)),
        (_, FieldStorage::F64) => Comparand::Float(f64::from_bits(integer as u64)),
        _ => Comparand::Integer(number),
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

/// Whether the comparison of two values is true. Of an array, one element is enough, unless it is
/// compared with another array.
pub fn compare(left: &Comparand, how: Operator, right: &Comparand) -> bool {
    match (left, right) {
        (Comparand::Array(..), Comparand::Array(..)) => {}
        (Comparand::Array(element, kept), _) => {
            return elements(*element, kept.bytes).any(|left| compare(&left, how, right));
        }
        (_, Comparand::Array(element, kept)) => {
            return elements(*element, kept.bytes).any(|right| compare(left, how, &right));
        }
        _ => {}
    }
    let name = match (left, right) {
        (Comparand::Named(_, names), other) | (other, Comparand::Named(_, names)) => {
            other.text().map(|text| (names, text))
        }
        _ => None,
    };
    if let Some((names, text)) = name {
        let is_one = !text.cut && names.iter().any(|name| name.as_bytes() == text.bytes);
        return match how {
            Operator::Equal => is_one,
            Operator::Unequal => !is_one,
            _ => false,
        };
    }
    order(left, right).is_some_and(|order| how.accepts(order))
}

fn elements(element: Element, bytes: &[u8]) -> impl Iterator<Item = Comparand<'static>> {
    element
        .words(bytes)
        .map(move |word| of_word(element.field(), word))
}

/// Which of two values is greater; `None` if they cannot be compared.
fn order(left: &Comparand, right: &Comparand) -> Option<Ordering> {
    match (left, right) {
        (Comparand::Time(left), Comparand::Dated(_, right)) => {
            return Some(left.cmp(&(*right).into()));
        }
        (Comparand::Dated(_, left), Comparand::Time(right)) => {
            return Some(i128::from(*left).cmp(right));
        }
        (Comparand::Single(left), Comparand::Decimal(right)) => {
            return f64::from(*left).partial_cmp(&single(*right));
        }
        (Comparand::Decimal(left), Comparand::Single(right)) => {
            return single(*left).partial_cmp(&f64::from(*right));
        }
        (Comparand::Array(left, ours), Comparand::Array(right, theirs)) => {
            return arrays((*left, *ours), (*right, *theirs));
        }
        _ => {}
    }
    if let (Some(left), Some(right)) = (left.text(), right.text()) {
        return texts(left, right);
    }
    match (number(left)?, number(right)?) {
        (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
        (Number::Integer(left), Number::Float(right)) => mixed(left, right),
        (Number::Float(left), Number::Integer(right)) => mixed(right, left).map(Ordering::reverse),
    }
}

/// The nearest `f32`, unless there is none: `0.1` in an expression is what is shown as `0.1`.
fn single(decimal: f64) -> f64 {
    match decimal as f32 {
        0.0 => decimal,
        nearest if nearest.is_finite() => nearest.into(),
        _ => decimal,
    }
}

fn texts(left: TextPrefix, right: TextPrefix) -> Option<Ordering> {
    let both = left.bytes.len().min(right.bytes.len());
    match left.bytes[..both].cmp(&right.bytes[..both]) {
        Ordering::Equal => by_length((left.bytes.len(), left.cut), (right.bytes.len(), right.cut)),
        order => Some(order),
    }
}

/// By the first elements that differ, as texts are.
fn arrays(
    (left, ours): (Element, TextPrefix),
    (right, theirs): (Element, TextPrefix),
) -> Option<Ordering> {
    for (left, right) in elements(left, ours.bytes).zip(elements(right, theirs.bytes)) {
        match order(&left, &right)? {
            Ordering::Equal => {}
            order => return Some(order),
        }
    }
    let count = |element: Element, kept: TextPrefix| (kept.bytes.len() / element.size(), kept.cut);
    by_length(count(left, ours), count(right, theirs))
}

/// Which of two is greater that are equal as far as the shorter one goes, each of a length and
/// perhaps cut there. What was cut off is not known, but something was.
fn by_length(
    (left, is_cut): (usize, bool),
    (right, is_other_cut): (usize, bool),
) -> Option<Ordering> {
    match (left.cmp(&right), is_cut, is_other_cut) {
        (Ordering::Equal, true, false) => Some(Ordering::Greater),
        (Ordering::Equal, false, true) => Some(Ordering::Less),
        (Ordering::Equal, true, true) | (Ordering::Less, true, _) => None,
        (Ordering::Greater, _, true) => None,
        (order, ..) => Some(order),
    }
}

enum Number {
    Integer(i128),
    Float(f64),
}

fn number(value: &Comparand) -> Option<Number> {
    match value {
        Comparand::Integer(value) | Comparand::Time(value) | Comparand::Named(value, _) => {
            Some(Number::Integer(*value))
        }
        Comparand::Float(value) | Comparand::Decimal(value) => Some(Number::Float(*value)),
        Comparand::Single(value) => Some(Number::Float((*value).into())),
        Comparand::Bool(value) => Some(Number::Integer((*value).into())),
        Comparand::Text(_) | Comparand::Dated(..) | Comparand::Array(..) => None,
    }
}

/// Compares exactly. A whole number of 64 bits has more digits than a `double`.
fn mixed(integer: i128, float: f64) -> Option<Ordering> {
    /// The first `double` beyond all `i128`.
    const BEYOND: f64 = 2.0 * (1_u128 << 126) as f64;
    match float {
        float if float.is_nan() => None,
        float if float >= BEYOND => Some(Ordering::Less),
        float if float < -BEYOND => Some(Ordering::Greater),
        float => {
            let whole = float.trunc();
            let fraction = 0.0.partial_cmp(&(float - whole))?;
            Some(integer.cmp(&(whole as i128)).then(fraction))
        }
    }
}

impl Operator {
    pub fn accepts(self, order: Ordering) -> bool {
        match self {
            Operator::Equal => order.is_eq(),
            Operator::Unequal => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::AtMost => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::AtLeast => order.is_ge(),
        }
    }
}

/// Writes a value as it is shown in a message.
pub fn show(kind: Option<FieldType>, value: &Value, out: &mut String) {
    // Writing to a String does not fail.
    let _ = match (kind, value) {
        (Some(kind), value) => kind.write_value(value, out),
        (None, Value::Text { bytes, cut }) => {
            let text = String::from_utf8_lossy(bytes);
            write!(out, "{text}{}", if *cut { "…" } else { "" })
        }
        (None, value) => write!(out, "{value}"),
    };
}
