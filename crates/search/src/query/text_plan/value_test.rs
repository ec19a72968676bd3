//! What a value must be if a text stands at a place of the message.

use std::io::Write as _;

use memchr::memmem;
use timeline::Value;
use timeline::internal::ValueKind;
use timeline_archive::{BlockColumns, TimeForm, ValueColumn};

use super::parts::TextColumn;
use crate::query::Needle;

/// A value of an event, and what it must be.
#[derive(Debug, Clone)]
pub struct ValueTest<'q> {
    pub told: TextColumn,
    pub what: What<'q>,
}

/// What a value must be.
#[derive(Debug, Clone)]
pub enum What<'q> {
    /// This number.
    Number(i128),
    /// An integer that is shown by these bits.
    Bits(u64),
    /// A value whose text is like this.
    Shown(How, Vec<u8>, &'q Needle),
}

/// How the text of a value is like another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum How {
    /// It has the whole needle.
    Has,
    Begins,
    Ends,
    Is,
}

/// Which values are shown by exactly a text.
pub enum Exactly<'q> {
    Never,
    Perhaps,
    Only(ValueTest<'q>),
}

/// A value of an event.
#[derive(Debug, Clone, Copy)]
pub enum EventValue<'v> {
    /// The bits of an integer.
    Raw(u64),
    /// A text, and whether some of it was cut off.
    Text(&'v [u8], bool),
    /// The time of the event, in nanoseconds since 1970.
    Time(&'v TimeForm, u64),
}

impl<'v> EventValue<'v> {
    /// The value in this row of a column.
    pub fn of(told: TextColumn, column: &ValueColumn<'v>, row: usize) -> Option<EventValue<'v>> {
        let raw = *column.raw().get(row)?;
        Some(match told {
            TextColumn::Number(..) | TextColumn::Integer(_) => EventValue::Raw(raw),
            TextColumn::Text(_) => match column.value(ValueKind::Text, raw)? {
                Value::Text { bytes, cut } => EventValue::Text(bytes, cut),
                _ => EventValue::Text(NULL, false),
            },
        })
    }
}

/// The bytes of the two letters beyond ASCII that have a small one in ASCII: the sign of Kelvin and
/// the long s. A value may have a part of one, and the next value the rest.
const OF_OTHERS: [u8; 5] = [0xe2, 0x84, 0xaa, 0xc5, 0xbf];

/// The text of a value that is `NULL`.
const NULL: &[u8] = b"(null)";

impl<'q> ValueTest<'q> {
    /// A value that is shown by a text like this one, in small letters if the needle is
    /// insensitive.
    pub fn like(told: TextColumn, how: How, text: &[u8], needle: &'q Needle) -> ValueTest<'q> {
        let what = What::Shown(how, text.to_vec(), needle);
        ValueTest { told, what }
    }

    /// A value that is shown by exactly this text.
    pub fn exactly(told: TextColumn, text: &[u8], needle: &'q Needle) -> Exactly<'q> {
        let only = |what| Exactly::Only(ValueTest { told, what });
        match told {
            TextColumn::Text(_) => Exactly::Only(ValueTest::like(told, How::Is, text, needle)),
            // One that was cut off, because there are too many bytes before it.
            _ if text == b"?" => Exactly::Perhaps,
            TextColumn::Number(..) => {
                let text = std::str::from_utf8(text).unwrap_or_default();
                let number = text.parse::<i128>().ok();
                let number = number.filter(|number| number.to_string() == text);
                number.map_or(Exactly::Never, |number| only(What::Number(number)))
            }
            TextColumn::Integer(value) => {
                let capital = || value.bits_of(&text.to_ascii_uppercase());
                let capital = || capital().filter(|_| needle.is_insensitive());
                let bits = value.bits_of(text).or_else(capital);
                bits.map_or(Exactly::Never, |bits| only(What::Bits(bits)))
            }
        }
    }

    /// How many bytes of a text ask for it.
    pub fn length(&self) -> usize {
        match &self.what {
            What::Number(number) => number.to_string().len(),
            What::Bits(bits) => bits.to_string().len(),
            What::Shown(_, text, _) => text.len(),
        }
    }

    /// Whether a value may be it. `buffer` is memory for its text.
    #[inline]
    pub fn is(&self, held: EventValue, buffer: &mut Vec<u8>) -> bool {
        match (&self.what, self.told, held) {
            (What::Number(wanted), TextColumn::Number(_, numbers), EventValue::Raw(raw)) => {
                // Other bits are shown in a way of their own.
                numbers.whole(raw).is_none_or(|value| value == *wanted)
            }
            (What::Bits(wanted), TextColumn::Integer(value), EventValue::Raw(raw)) => {
                value.bits(raw) == *wanted
            }
            (What::Shown(how, text, needle), _, held) => {
                self.is_shown((*how, text, needle), held, buffer)
            }
            _ => true,
        }
    }

    fn is_shown(
        &self,
        (how, text, needle): (How, &[u8], &Needle),
        held: EventValue,
        buffer: &mut Vec<u8>,
    ) -> bool {
        buffer.clear();
        let shown = match (self.told, held) {
            (TextColumn::Text(_), EventValue::Text(_, true)) => return true,
            (TextColumn::Text(_), EventValue::Text(bytes, false)) => bytes,
            (TextColumn::Text(_), EventValue::Time(form, time)) => {
                form.write(time, buffer);
                &buffer[..]
            }
            (TextColumn::Integer(value), EventValue::Raw(raw)) => {
                value.show(raw, buffer);
                &buffer[..]
            }
            (TextColumn::Number(_, numbers), EventValue::Raw(raw)) => {
                let Some(number) = numbers.whole(raw) else {
                    return true;
                };
                // Writing to a Vec does not fail.
                let _ = write!(buffer, "{number}");
                &buffer[..]
            }
            _ => return true,
        };
        let ends = match how {
            How::Has => return needle.is_in_bytes(shown),
            How::Begins => shown.get(..text.len()),
            How::Ends => (shown.len().checked_sub(text.len())).and_then(|from| shown.get(from..)),
            How::Is => (shown.len() == text.len()).then_some(shown),
        };
        match needle.is_insensitive() {
            true if shown.iter().any(|byte| OF_OTHERS.contains(byte)) => true,
            true => ends.is_some_and(|end| end.eq_ignore_ascii_case(text)),
            false => ends == Some(text),
        }
    }

    /// Whether any value of a shape may be it, as far as this is told without reading the column.
    pub fn may_be_in(&self, columns: &BlockColumns<'_>, shape: usize) -> bool {
        let (What::Shown(how, text, needle), TextColumn::Text(position)) = (&self.what, self.told)
        else {
            return true;
        };
        // A value for which there was no room is shown by that.
        if text.contains(&b'?') {
            return true;
        }
        if let Some(form) = columns.time_form(shape, position) {
            return may_have(form, text, needle);
        }
        let Some(bytes) = columns.column_bytes(shape, position) else {
            return true;
        };
        match (how, needle.is_insensitive()) {
            _ if memmem::find(NULL, text).is_some() => true,
            (How::Has, _) => needle.is_in_bytes(bytes) || needle.is_in_bytes(NULL),
            (_, true) => true,
            (_, false) => memmem::find(bytes, text).is_some(),
        }
    }
}

/// Whether times of a form may have all bytes of a text.
fn may_have(form: &TimeForm, text: &[u8], needle: &Needle) -> bool {
    let has = |byte: &u8| {
        let capital = byte.to_ascii_uppercase();
        form.may_have(*byte) || needle.is_insensitive() && form.may_have(capital)
    };
    // Letters beyond ASCII may have the same small letter.
    let is_other = needle.is_insensitive() && !form.text().is_ascii();
    is_other || text.iter().all(has)
}
