//! Fields that are arrays of numbers.

use std::marker::PhantomData;

use timeline::{Element, FieldType, Value};

use super::number::NumberValue;
use super::value::{AnalysisValue, sealed::Sealed};

/// The numbers of an array.
#[derive(Debug, Clone, Copy)]
pub struct ArrayValue<'a, T> {
    element: Element,
    bytes: &'a [u8],
    /// Whether the program had no room for all of them.
    pub is_cut: bool,
    number: PhantomData<T>,
}

impl<'a, T: NumberValue> ArrayValue<'a, T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.element.words(self.bytes).len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'a, T> {
        let kind = self.element.field();
        let words = self.element.words(self.bytes);
        words.map(move |word| T::of_number(kind, word))
    }
}

impl<T: NumberValue> Sealed for [T] {}
impl<T: NumberValue> AnalysisValue for [T] {
    type Of<'a> = ArrayValue<'a, T>;
    const NAME: &'static str = T::ARRAY;

    fn fits(kind: FieldType) -> bool {
        kind.element()
            .is_some_and(|element| T::fits(element.field()))
    }

    fn of_word<'a>(_: FieldType<'a>, _: i64) -> Option<ArrayValue<'a, T>> {
        None
    }

    #[inline]
    fn of_value<'a>(kind: FieldType<'a>, value: &Value<'a>) -> Option<ArrayValue<'a, T>> {
        match value {
            Value::Text { bytes, cut } => Some(ArrayValue {
                element: kind.element()?,
                bytes,
                is_cut: *cut,
                number: PhantomData,
            }),
            _ => None,
        }
    }
}
