//! The types as which the values of fields are read.

use std::borrow::Cow;

use timeline::internal::{FieldStorage, Notation};
use timeline::{FieldType, Value};

/// A type as which a field can be read. That of the field must have no value that this one has not:
/// a `u16` is read as `u16`, `u32`, `u64`, `i32` or `i64`.
///
/// | type | fields |
/// |---|---|
/// | `u8` to `u64`, `i8` to `i64` | whole numbers that fit: sizes, addresses, times, enums too |
/// | `f32`, `f64` | `f32`; both |
/// | `bool`, `char` | those; a `char` that is none has no value |
/// | `str` | texts, as `Cow<str>`: what is no UTF-8 shows as `\u{fffd}` |
/// | `[u8]` to `[f64]` | arrays whose numbers fit, as [`ArrayValue`](crate::ArrayValue) |
/// | [`LabelValue`](crate::LabelValue) | enums and flags, with their names |
/// | `Value<'static>` | all, as they are stored |
///
/// It cannot be implemented elsewhere.
pub trait AnalysisValue: sealed::Sealed {
    /// What an event gives.
    type Of<'a>;

    /// Its name in errors.
    const NAME: &'static str;

    /// Whether all values of a field are values of this type.
    #[doc(hidden)]
    fn fits(kind: FieldType) -> bool;

    /// The value of a field that is one word.
    #[doc(hidden)]
    fn of_word<'a>(kind: FieldType<'a>, word: i64) -> Option<Self::Of<'a>>;

    /// A value as it is stored.
    #[doc(hidden)]
    #[inline]
    fn of_value<'a>(kind: FieldType<'a>, value: &Value<'a>) -> Option<Self::Of<'a>> {
        match value {
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => {
                Self::of_word(kind, kind.word(value))
            }
            // Only in a foreign archive: a value of another kind.
            _ => None,
        }
    }
}

pub mod sealed {
    //! Keeps others from implementing the trait.

    /// What only this crate implements.
    pub trait Sealed {}
}

impl sealed::Sealed for bool {}
impl AnalysisValue for bool {
    type Of<'a> = bool;
    const NAME: &'static str = "bool";

    fn fits(kind: FieldType) -> bool {
        kind.notation() == Notation::Bool
    }

    #[inline]
    fn of_word(_: FieldType, word: i64) -> Option<bool> {
        Some(word != 0)
    }
}

impl sealed::Sealed for char {}
impl AnalysisValue for char {
    type Of<'a> = char;
    const NAME: &'static str = "char";

    fn fits(kind: FieldType) -> bool {
        kind.notation() == Notation::Character
    }

    #[inline]
    fn of_word(kind: FieldType, word: i64) -> Option<char> {
        char::from_u32(kind.integer(word) as u32)
    }
}

impl sealed::Sealed for str {}
impl AnalysisValue for str {
    type Of<'a> = Cow<'a, str>;
    const NAME: &'static str = "str";

    fn fits(kind: FieldType) -> bool {
        kind.notation() == Notation::Text
    }

    fn of_word<'a>(_: FieldType<'a>, _: i64) -> Option<Cow<'a, str>> {
        None
    }

    #[inline]
    fn of_value<'a>(_: FieldType<'a>, value: &Value<'a>) -> Option<Cow<'a, str>> {
        match value {
            Value::Text { bytes, .. } => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        }
    }
}

impl sealed::Sealed for Value<'static> {}
impl AnalysisValue for Value<'static> {
    type Of<'a> = Value<'a>;
    const NAME: &'static str = "any value";

    fn fits(_: FieldType) -> bool {
        true
    }

    #[inline]
    fn of_word<'a>(kind: FieldType<'a>, word: i64) -> Option<Value<'a>> {
        let integer = kind.integer(word);
        Some(match kind.storage() {
            FieldStorage::Signed(_) => Value::Int(integer),
            FieldStorage::Unsigned(_) => Value::Uint(integer as u64),
            FieldStorage::F32 => Value::Float(f32::from_bits(integer as u32).into()),
            FieldStorage::F64 => Value::Float(f64::from_bits(integer as u64)),
            _ => return None,
        })
    }

    #[inline]
    fn of_value<'a>(_: FieldType<'a>, value: &Value<'a>) -> Option<Value<'a>> {
        Some(value.clone())
    }
}
