//! The types that a statement logs: which type each is in the message, and its word.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::payload::PayloadBuilder;
use crate::event::{Bytes, Element, FieldType, Hex, Nanoseconds, UnixTime};

/// A type that [`event!`](crate::event!) logs.
///
/// | of Rust | in the message |
/// |---|---|
/// | `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `bool`, `char` | the same |
/// | `isize`, `usize` | `i64`, `u64` |
/// | `str`, `String` | `str` |
/// | `Path`, `OsStr` and those that own one (what is no UTF-8 is replaced) | `str` |
/// | [`Interned`] | `istr` |
/// | `[T]`, `[T; N]`, `Vec<T>` of integers, `f32` or `f64` | `i8[]` and so on |
/// | `Duration`, [`Nanoseconds`]; more than 292 years are shown as these | `ns` |
/// | `SystemTime`, [`UnixTime`] | `time` |
/// | [`Bytes`] | `bytes` |
/// | [`Hex`] | `hex` |
/// | `*const T`, `*mut T` | `ptr` |
/// | an enum that derives [`Named`](crate::Named) | `enum(Red=0,Green=1)` |
/// | [`Flags`](crate::Flags) | `flags(Read=1,Write=2)` |
/// | [`Wide`](crate::Wide) | `wstr` |
/// | `Cell<T>` of one of these that is `Copy`; `Box`, `Rc`, `Arc` and `Cow` of one | that of `T` |
/// | `Option<T>` of a text or an array (`None` shows as `(null)`) | that of `T` |
///
/// So are references to these. No other type can become one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument of an event",
    note = "log a number, `bool`, `char`, text, path, array, `Duration`, `SystemTime` or pointer, \
            `x.to_string()` of what can be shown, or let the enum derive `timeline::Named`"
)]
pub trait Argument {
    /// Its type in the message.
    #[doc(hidden)]
    const TYPE: FieldType<'static>;
    /// Whether its word is all of it.
    #[doc(hidden)]
    const IS_NUMBER: bool = true;
    /// Whether it is a text to be interned.
    #[doc(hidden)]
    const IS_INTERNED: bool = false;

    /// How many words stand behind those of all arguments.
    #[doc(hidden)]
    #[inline(always)]
    fn behind(&self) -> usize {
        0
    }

    /// Stores what stands behind its word; returns its word.
    #[doc(hidden)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64;
}

/// A text of a small vocabulary, for [`event!`](crate::event!): names of things, no free text.
///
/// It is stored in the timeline once, and each event has its place. It is copied like any other
/// text if it has more than 256 bytes, or if there is no room left for such texts; the latter is
/// counted ([`Info::not_interned`](crate::Info::not_interned)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interned<'a>(pub &'a str);

/// A number that arrays have.
pub trait Number: Copy {
    /// Its type.
    const ELEMENT: Element;

    /// Its bits, in the low ones of a word.
    fn word(self) -> u64;
}

macro_rules! numbers {
    ($($type:ty, $element:ident, $number:ident => $word:expr;)*) => {$(
        impl Number for $type {
            const ELEMENT: Element = Element::$element;

            #[inline(always)]
            fn word(self) -> u64 {
                let $number = self;
                $word
            }
        }
    )*};
}

numbers! {
    i8, I8, number => number as u64;
    i16, I16, number => number as u64;
    i32, I32, number => number as u64;
    i64, I64, number => number as u64;
    isize, I64, number => number as u64;
    u8, U8, number => number.into();
    u16, U16, number => number.into();
    u32, U32, number => number.into();
    u64, U64, number => number;
    usize, U64, number => number as u64;
    f32, F32, number => number.to_bits().into();
    f64, F64, number => number.to_bits();
}

macro_rules! arguments {
    ($($type:ty, $field:ident, $value:ident => $word:expr;)*) => {$(
        impl Argument for $type {
            const TYPE: FieldType<'static> = FieldType::$field;

            #[inline(always)]
            fn store(&self, _: &mut PayloadBuilder) -> u64 {
                let $value = *self;
                $word
            }
        }
    )*};
}

arguments! {
    i8, I8, number => number.word();
    i16, I16, number => number.word();
    i32, I32, number => number.word();
    i64, I64, number => number.word();
    isize, I64, number => number.word();
    u8, U8, number => number.word();
    u16, U16, number => number.word();
    u32, U32, number => number.word();
    u64, U64, number => number.word();
    usize, U64, number => number.word();
    f32, F32, number => number.word();
    f64, F64, number => number.word();
    bool, Bool, value => value.into();
    char, Char, value => u32::from(value).into();
    Duration, Ns, time => nanoseconds(time) as u64;
    SystemTime, Time, time => since_1970(time) as u64;
    Nanoseconds, Ns, time => time.0 as u64;
    UnixTime, Time, time => time.0 as u64;
    Hex, Hex, number => number.0;
    Bytes, Bytes, size => size.0;
}

/// As many as fit.
fn nanoseconds(time: Duration) -> i64 {
    time.as_nanos().try_into().unwrap_or(i64::MAX)
}

fn since_1970(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => nanoseconds(after),
        Err(before) => -nanoseconds(before.duration()),
    }
}

impl<T> Argument for *const T {
    const TYPE: FieldType<'static> = FieldType::Ptr;

    #[inline(always)]
    fn store(&self, _: &mut PayloadBuilder) -> u64 {
        self.addr() as u64
    }
}

impl<T> Argument for *mut T {
    const TYPE: FieldType<'static> = FieldType::Ptr;

    #[inline(always)]
    fn store(&self, _: &mut PayloadBuilder) -> u64 {
        self.addr() as u64
    }
}

impl Argument for str {
    const TYPE: FieldType<'static> = FieldType::Str;
    const IS_NUMBER: bool = false;

    #[inline(always)]
    fn behind(&self) -> usize {
        self.len().div_ceil(8)
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        payload.text(self)
    }
}

impl Argument for String {
    const TYPE: FieldType<'static> = FieldType::Str;
    const IS_NUMBER: bool = false;

    #[inline(always)]
    fn behind(&self) -> usize {
        self.as_str().behind()
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        payload.text(self)
    }
}

impl Argument for Interned<'_> {
    const TYPE: FieldType<'static> = FieldType::Istr;
    const IS_NUMBER: bool = false;
    const IS_INTERNED: bool = true;

    /// As many as it takes if it is copied.
    #[inline(always)]
    fn behind(&self) -> usize {
        self.0.behind()
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        payload.interned(self.0)
    }
}

impl<T: Number> Argument for [T] {
    const TYPE: FieldType<'static> = FieldType::Array(T::ELEMENT);
    const IS_NUMBER: bool = false;

    #[inline(always)]
    fn behind(&self) -> usize {
        size_of_val(self).div_ceil(8)
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        payload.numbers(self.len(), size_of::<T>(), |index| self[index].word())
    }
}

impl<T: Number, const N: usize> Argument for [T; N] {
    const TYPE: FieldType<'static> = <[T]>::TYPE;
    const IS_NUMBER: bool = false;

    #[inline(always)]
    fn behind(&self) -> usize {
        self[..].behind()
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        self[..].store(payload)
    }
}

impl<T: Number> Argument for Vec<T> {
    const TYPE: FieldType<'static> = <[T]>::TYPE;
    const IS_NUMBER: bool = false;

    #[inline(always)]
    fn behind(&self) -> usize {
        self[..].behind()
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        self[..].store(payload)
    }
}

/// The value that it has when the event is logged.
impl<T: Argument + Copy> Argument for Cell<T> {
    const TYPE: FieldType<'static> = T::TYPE;
    const IS_NUMBER: bool = T::IS_NUMBER;
    const IS_INTERNED: bool = T::IS_INTERNED;

    #[inline(always)]
    fn behind(&self) -> usize {
        self.get().behind()
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        self.get().store(payload)
    }
}

impl<T: Argument + ?Sized> Argument for &T {
    const TYPE: FieldType<'static> = T::TYPE;
    const IS_NUMBER: bool = T::IS_NUMBER;
    const IS_INTERNED: bool = T::IS_INTERNED;

    #[inline(always)]
    fn behind(&self) -> usize {
        (**self).behind()
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        (**self).store(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FIELD_TYPES;
    use crate::statement::{Flags, Named, Wide};
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::path::Path;

    struct Access;

    impl Named for Access {
        const NAMES: &'static str = "r=1";
    }

    /// What implements `Argument`, by its name.
    fn types() -> Vec<(&'static str, FieldType<'static>)> {
        macro_rules! named {
            ($($type:ty)*) => {
                vec![$((stringify!($type), <$type as Argument>::TYPE)),*]
            };
        }
        let mut all = named! {
            i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 bool char Hex Duration Nanoseconds
            SystemTime UnixTime Bytes str String Path OsStr
        };
        all.extend([
            ("*const T", <*const u8>::TYPE),
            ("*mut T", <*mut u8>::TYPE),
            ("Named", crate::statement::enum_of::<Access>()),
            ("Flags", Flags::<Access>::TYPE),
            ("Wide", Wide::<u16>::TYPE),
            ("Interned", Interned::TYPE),
            ("[T]", <[u8]>::TYPE),
            ("[T; N]", <[u8; 4]>::TYPE),
            ("Vec<T>", Vec::<u8>::TYPE),
        ]);
        all
    }

    #[test]
    fn rust_has_the_types_of_the_table() {
        let mut count = 0;
        for row in &FIELD_TYPES {
            let own = types()
                .into_iter()
                .filter(|(_, kind)| kind.descriptor() == row);
            let own: BTreeSet<&str> = own.map(|(name, _)| name).collect();
            assert_eq!(own, row.rust.split(", ").collect(), "{}", row.name);
            count += own.len();
        }
        assert_eq!(count, types().len());
    }

    /// The types of elements are those of single numbers.
    #[test]
    fn elements_are_fields() {
        macro_rules! same {
            ($($type:ty)*) => {
                $(assert_eq!(<$type as Number>::ELEMENT.field(), <$type as Argument>::TYPE);)*
            };
        }
        same!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
    }
}
