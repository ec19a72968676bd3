//! Whether a statement logs the same types in each run, or has type parameters that decide.
//!
//! All instantiations of a generic function share the statics in it. So a statement there needs a
//! site for each set of types. Any other has one, which it uses without a comparison.

use std::cell::Cell;
use std::ops::Deref;
use std::time::{Duration, SystemTime};

use super::argument::{Interned, Number};
use super::arguments::Arguments;
use super::named::Flags;
use super::site::{Each, One};
use super::types::OwnedList;
use super::wide::Wide;
use crate::event::{Bytes, Hex, Nanoseconds, UnixTime};

/// An argument whose type in the message is known where the statement stands. Nobody knows that of
/// a type parameter, whatever bounds it has: no public trait implies this one. So it chooses.
#[diagnostic::on_unimplemented(note = "state the type of each argument before the statement")]
pub trait Fixed {}

impl Fixed for () {}
impl<A: Fixed, L: Fixed> Fixed for (A, L) {}
impl<A: Fixed, L: Fixed> Fixed for OwnedList<A, L> {}

macro_rules! fixed {
    ($($type:ty)*) => {$(
        impl Fixed for $type {}
    )*};
}

fixed! {
    i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 bool char str String Option<&str>
    Interned<'_> Duration SystemTime Nanoseconds UnixTime Hex Bytes
}

impl<T: Fixed + ?Sized> Fixed for &T {}
impl<T: Fixed> Fixed for Cell<T> {}
impl<T> Fixed for *const T {}
impl<T> Fixed for *mut T {}
impl<T: Fixed + Number> Fixed for [T] {}
impl<T: Fixed + Number, const N: usize> Fixed for [T; N] {}
impl<T: Fixed + Number> Fixed for Vec<T> {}
// Only with names of an enum that derives them: for names by hand, a parameter may have decided.
impl<N: Fixed> Fixed for Flags<N> {}
impl<U> Fixed for Wide<'_, U> {}

// A call of `how` means the first of these functions for lists that are fixed, and the second one
// for all others, because the compiler looks for functions of what a value derefs to only then.

impl<A: Fixed, F> Arguments<A, F> {
    /// How the statement finds its site.
    #[inline(always)]
    pub fn how(self) -> One {
        One
    }
}

impl Perhaps {
    /// How the statement finds its site.
    #[inline(always)]
    pub fn how(&self) -> Each {
        Each
    }
}

/// Arguments that may have other types in another run.
pub struct Perhaps;

impl<A, F> Deref for Arguments<A, F> {
    type Target = Perhaps;

    #[inline(always)]
    fn deref(&self) -> &Perhaps {
        &Perhaps
    }
}
