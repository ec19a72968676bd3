//! Arguments that are made of others: paths, what there may be, and what is owned elsewhere.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::argument::{Argument, Interned, Number};
use super::payload::PayloadBuilder;
use crate::event::FieldType;

/// A text or an array: of these a message has a mark for one that there is not.
#[diagnostic::on_unimplemented(
    message = "`Option<{Self}>` is no argument of an event",
    note = "of a text or an array it is one; numbers have no mark for `None`: log \
            `x.unwrap_or_default()`, and `x.is_some()` beside it"
)]
pub trait MayBeMissing: Argument {}

impl MayBeMissing for str {}
impl MayBeMissing for String {}
impl MayBeMissing for Interned<'_> {}
impl MayBeMissing for OsStr {}
impl MayBeMissing for OsString {}
impl MayBeMissing for Path {}
impl MayBeMissing for PathBuf {}
impl<T: Number> MayBeMissing for [T] {}
impl<T: Number, const N: usize> MayBeMissing for [T; N] {}
impl<T: Number> MayBeMissing for Vec<T> {}
impl<T: MayBeMissing + ?Sized> MayBeMissing for &T {}
impl<T: MayBeMissing + ?Sized> MayBeMissing for Box<T> {}
impl<T: MayBeMissing + ?Sized> MayBeMissing for Rc<T> {}
impl<T: MayBeMissing + ?Sized> MayBeMissing for Arc<T> {}
impl<T: MayBeMissing + ToOwned + ?Sized> MayBeMissing for Cow<'_, T> {}

impl<T: MayBeMissing> Argument for Option<T> {
    const TYPE: FieldType<'static> = T::TYPE;
    const IS_NUMBER: bool = false;
    const IS_INTERNED: bool = T::IS_INTERNED;

    #[inline(always)]
    fn behind(&self) -> usize {
        self.as_ref().map_or(0, Argument::behind)
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        match self {
            Some(value) => value.store(payload),
            None => payload.nothing(),
        }
    }
}

/// Its bytes, which readers show as those of a text: what is no UTF-8 is replaced.
impl Argument for OsStr {
    const TYPE: FieldType<'static> = FieldType::Str;
    const IS_NUMBER: bool = false;

    #[inline(always)]
    fn behind(&self) -> usize {
        self.len().div_ceil(8)
    }

    #[inline(always)]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        payload.bytes(self.as_bytes())
    }
}

/// The value behind a type that leads to it.
macro_rules! behind {
    ($([$($of:tt)*] $type:ty, $inner:ty;)*) => {$(
        impl<$($of)*> Argument for $type {
            const TYPE: FieldType<'static> = <$inner>::TYPE;
            const IS_NUMBER: bool = <$inner>::IS_NUMBER;
            const IS_INTERNED: bool = <$inner>::IS_INTERNED;

            #[inline(always)]
            fn behind(&self) -> usize {
                AsRef::<$inner>::as_ref(self).behind()
            }

            #[inline(always)]
            fn store(&self, payload: &mut PayloadBuilder) -> u64 {
                AsRef::<$inner>::as_ref(self).store(payload)
            }
        }
    )*};
}

behind! {
    [] OsString, OsStr;
    [] Path, OsStr;
    [] PathBuf, OsStr;
    [T: Argument + ?Sized] Box<T>, T;
    [T: Argument + ?Sized] Rc<T>, T;
    [T: Argument + ?Sized] Arc<T>, T;
    [T: Argument + ToOwned + ?Sized] Cow<'_, T>, T;
}
