//! Texts of wide characters in statements.

use super::argument::Argument;
use super::payload::PayloadBuilder;
use crate::event::FieldType;

/// A text of wide characters, for [`event!`](crate::event!): UTF-16 of `u16`, or UTF-32 of `u32` or
/// `i32` (`wchar_t` of C).
///
/// It is logged in UTF-8, all of it, whether a character is NUL or not. What is no character shows
/// as U+FFFD.
///
/// # Example
/// ```
/// use timeline::{Attached, Priority, Timeline, Wide, event};
/// # let path = format!("/timeline-doc-wide-{}", std::process::id());
/// # let path = path.as_str();
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// let name: Vec<u16> = "größe".encode_utf16().collect();
/// event!(tl, Priority::Info, "fs", "opened {name}", name = Wide(&name));
///
/// let mut shown = Vec::new();
/// timeline::dump::write(&Attached::open(path)?, None, &mut shown)?;
/// assert!(String::from_utf8(shown)?.contains("opened name(größe)"));
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wide<'a, U>(pub &'a [U]);

/// What wide texts consist of.
pub trait CodeUnit: Copy {
    /// The most bytes that one takes in UTF-8.
    const MOST: usize;

    /// The characters of a text.
    fn characters(text: &[Self]) -> impl Iterator<Item = char>;
}

impl CodeUnit for u16 {
    // A character of four bytes has two units.
    const MOST: usize = 3;

    #[inline]
    fn characters(text: &[u16]) -> impl Iterator<Item = char> {
        let characters = char::decode_utf16(text.iter().copied());
        characters.map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

impl CodeUnit for u32 {
    const MOST: usize = 4;

    #[inline]
    fn characters(text: &[u32]) -> impl Iterator<Item = char> {
        text.iter().map(|unit| character(*unit))
    }
}

impl CodeUnit for i32 {
    const MOST: usize = 4;

    #[inline]
    fn characters(text: &[i32]) -> impl Iterator<Item = char> {
        text.iter().map(|unit| character(unit.cast_unsigned()))
    }
}

fn character(unit: u32) -> char {
    char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
}

impl<U: CodeUnit> Argument for Wide<'_, U> {
    const TYPE: FieldType<'static> = FieldType::Wstr;
    const IS_NUMBER: bool = false;

    /// As many as there may be.
    #[inline(always)]
    fn behind(&self) -> usize {
        self.0.len().saturating_mul(U::MOST).div_ceil(8)
    }

    #[inline]
    fn store(&self, payload: &mut PayloadBuilder) -> u64 {
        payload.characters(U::characters(self.0))
    }
}
