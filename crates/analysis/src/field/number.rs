//! Fields that are numbers.

use timeline::FieldType;
use timeline::internal::{FieldStorage, Notation};

use super::value::{AnalysisValue, sealed::Sealed};

/// A number as which a field, or the elements of an array, can be read.
pub trait NumberValue: AnalysisValue + Copy {
    /// The name of an array of these.
    #[doc(hidden)]
    const ARRAY: &'static str;

    /// The number in a word of a type that fits.
    #[doc(hidden)]
    fn of_number(kind: FieldType, word: i64) -> Self;
}

/// Whether all whole numbers of a type fit into these.
fn has_room(kind: FieldType, is_signed: bool, bits: u32) -> bool {
    if kind.notation() == Notation::Bool {
        return false;
    }
    match kind.storage() {
        FieldStorage::Signed(of_field) => is_signed && of_field <= bits,
        FieldStorage::Unsigned(of_field) => of_field <= bits - u32::from(is_signed),
        _ => false,
    }
}

macro_rules! number {
    ($name:ident, $array:literal, $fits:expr, $of_word:expr) => {
        impl Sealed for $name {}
        impl AnalysisValue for $name {
            type Of<'a> = $name;
            const NAME: &'static str = stringify!($name);

            fn fits(kind: FieldType) -> bool {
                $fits(kind)
            }

            #[inline]
            fn of_word(kind: FieldType, word: i64) -> Option<$name> {
                Some($name::of_number(kind, word))
            }
        }

        impl NumberValue for $name {
            const ARRAY: &'static str = $array;

            #[inline]
            fn of_number(kind: FieldType, word: i64) -> $name {
                $of_word(kind, word)
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $array:literal, $is_signed:literal) => {
        number!(
            $name,
            $array,
            |kind| has_room(kind, $is_signed, $name::BITS),
            |kind: FieldType, word| kind.integer(word) as $name
        );
    };
}

integer!(i8, "[i8]", true);
integer!(i16, "[i16]", true);
integer!(i32, "[i32]", true);
integer!(i64, "[i64]", true);
integer!(u8, "[u8]", false);
integer!(u16, "[u16]", false);
integer!(u32, "[u32]", false);
integer!(u64, "[u64]", false);

number!(
    f32,
    "[f32]",
    |kind: FieldType| kind.storage() == FieldStorage::F32,
    |_, word| f32::from_bits(word as u32)
);
number!(
    f64,
    "[f64]",
    |kind: FieldType| matches!(kind.storage(), FieldStorage::F32 | FieldStorage::F64),
    |kind: FieldType, word| match kind.storage() {
        FieldStorage::F32 => f32::from_bits(word as u32).into(),
        _ => f64::from_bits(word as u64),
    }
);
