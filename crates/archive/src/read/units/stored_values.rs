//! Reads values that are stored as their shapes state: those of imported lines, and doubles.

use timeline::Value;
use timeline::internal::ValueKind;

use crate::format::block::{MAX_EVENTS, Shape};
use crate::format::decimal;
use crate::format::storage::{ColumnEncoding, ENTRY, MOST_REPEATED, difference, first_double};
use crate::format::varint::NumberReader;

/// What was read of a block before a value, and is needed to read it.
#[derive(Default)]
pub struct StoredValues<'a> {
    /// The dictionaries of each shape, from its first event on.
    shapes: Vec<Option<Vec<Dictionary<'a>>>>,
    /// The bytes that dictionaries and times gave.
    repeated: usize,
    /// Memory for the text of a time.
    time: Vec<u8>,
}

/// The values that a column has several times.
#[derive(Default)]
struct Dictionary<'a> {
    texts: Vec<&'a [u8]>,
    integers: Vec<u64>,
}

impl<'a> StoredValues<'a> {
    /// Appends the values of the next event of a shape, which has this time. `before` is the
    /// integers of the event before it. Returns `None` if the block is damaged.
    pub fn next_event(
        &mut self,
        (number, shape): (usize, &Shape),
        columns: &mut [NumberReader<'a>],
        before: &mut Vec<i64>,
        unix_nanos: Option<u64>,
        payload: &mut Vec<u8>,
    ) -> Option<()> {
        let columns = self.begin((number, shape), columns, before)?;
        let dictionaries = self.shapes[number].as_deref().unwrap_or_default();
        let places = shape.kinds.iter().zip(&shape.stored).zip(dictionaries);
        for (((kind, stored), dictionary), (column, before)) in
            places.zip(columns.iter_mut().zip(before))
        {
            let is_text = *kind == ValueKind::Text;
            match stored {
                ColumnEncoding::Time(form) => {
                    self.time.clear();
                    form.write(unix_nanos.unwrap_or(0), &mut self.time);
                    self.repeated += self.time.len();
                    text(&self.time).encode(payload);
                }
                ColumnEncoding::Dictionary if is_text => {
                    let bytes = dictionary.texts.get(column.count(MAX_EVENTS)?)?;
                    self.repeated += bytes.len();
                    text(bytes).encode(payload);
                }
                ColumnEncoding::Fixed(size) if is_text => {
                    text(column.take(*size as u64)?.0).encode(payload);
                }
                ColumnEncoding::Number => integer(*kind, column.get()?).encode(payload),
                ColumnEncoding::Dictionary => {
                    let value = dictionary.integers.get(column.count(MAX_EVENTS)?)?;
                    integer(*kind, *value).encode(payload);
                }
                ColumnEncoding::Fixed(size) => {
                    let (taken, mut bytes) = (column.take(*size as u64)?.0, [0; 8]);
                    bytes.get_mut(..*size)?.copy_from_slice(taken);
                    integer(*kind, u64::from_le_bytes(bytes)).encode(payload);
                }
                ColumnEncoding::Difference(size) => {
                    *before = before.wrapping_add(difference(*size, column)? as i64);
                    Value::Float(f64::from_bits(*before as u64)).encode(payload);
                }
                ColumnEncoding::Decimal(power) => {
                    *before = column.difference(*before as u64)? as i64;
                    Value::Float(decimal::double(*before, *power)).encode(payload);
                }
                ColumnEncoding::ByKind => by_kind(*kind, column, before)?.encode(payload),
            }
        }
        (self.repeated <= MOST_REPEATED).then_some(())
    }

    /// Passes over the values of so many events of a shape, the texts of whose times all have one
    /// length.
    pub fn skip(
        &mut self,
        (number, shape): (usize, &Shape),
        count: usize,
        columns: &mut [NumberReader<'a>],
        before: &mut Vec<i64>,
    ) -> Option<()> {
        let columns = self.begin((number, shape), columns, before)?;
        let dictionaries = self.shapes[number].as_deref().unwrap_or_default();
        let places = shape.kinds.iter().zip(&shape.stored).zip(dictionaries);
        for (((kind, stored), dictionary), (column, before)) in
            places.zip(columns.iter_mut().zip(before))
        {
            let is_text = *kind == ValueKind::Text;
            match stored {
                ColumnEncoding::Time(form) => {
                    self.time.clear();
                    form.write(0, &mut self.time);
                    self.repeated = self.repeated.saturating_add(count * self.time.len());
                }
                ColumnEncoding::Dictionary if is_text => {
                    for _ in 0..count {
                        let text = dictionary.texts.get(column.count(MAX_EVENTS)?)?;
                        self.repeated += text.len();
                    }
                }
                ColumnEncoding::Dictionary => {
                    for _ in 0..count {
                        dictionary.integers.get(column.count(MAX_EVENTS)?)?;
                    }
                }
                ColumnEncoding::Fixed(size) => drop(column.take((size * count) as u64)?),
                ColumnEncoding::Number => column.skip(count)?,
                ColumnEncoding::Difference(size) => {
                    for _ in 0..count {
                        *before = before.wrapping_add(difference(*size, column)? as i64);
                    }
                }
                ColumnEncoding::Decimal(_) => {
                    *before = column.last_difference(count, *before as u64)? as i64;
                }
                ColumnEncoding::ByKind => skip_by_kind(*kind, count, column, before)?,
            }
        }
        (self.repeated <= MOST_REPEATED).then_some(())
    }

    /// The columns of a shape, behind its dictionaries.
    fn begin<'c>(
        &mut self,
        (number, shape): (usize, &Shape),
        columns: &'c mut [NumberReader<'a>],
        before: &mut Vec<i64>,
    ) -> Option<&'c mut [NumberReader<'a>]> {
        let columns = columns.get_mut(shape.first..)?;
        let columns = columns.get_mut(..shape.kinds.len())?;
        before.resize(shape.kinds.len(), 0);
        if self.shapes.len() <= number {
            self.shapes.resize_with(number + 1, || None);
        }
        if self.shapes[number].is_none() {
            let dictionaries = self.dictionaries(shape, columns)?;
            let places = shape.stored.iter().zip(&mut *columns).zip(&mut *before);
            for ((stored, column), before) in places {
                if let ColumnEncoding::Difference(_) = stored {
                    *before = first_double(column)? as i64;
                }
            }
            self.shapes[number] = Some(dictionaries);
        }
        Some(columns)
    }

    /// Reads the dictionaries of a shape, which stand before its first values.
    fn dictionaries(
        &mut self,
        shape: &Shape,
        columns: &mut [NumberReader<'a>],
    ) -> Option<Vec<Dictionary<'a>>> {
        let mut dictionaries = Vec::new();
        for ((kind, stored), column) in shape.kinds.iter().zip(&shape.stored).zip(columns) {
            let mut dictionary = Dictionary::default();
            if *stored == ColumnEncoding::Dictionary {
                for _ in 0..column.count(MAX_EVENTS)? {
                    match kind {
                        ValueKind::Text => {
                            let length = column.get()?;
                            dictionary.texts.push(column.take(length)?.0);
                        }
                        _ => dictionary.integers.push(column.get()?),
                    }
                }
                self.repeated += ENTRY * (dictionary.texts.len() + dictionary.integers.len());
            }
            dictionaries.push(dictionary);
        }
        (self.repeated <= MOST_REPEATED).then_some(dictionaries)
    }
}

/// The next value of a column, which is stored by its kind. `before` is the integer of the previous
/// event of its shape.
#[inline]
pub fn by_kind<'a>(
    kind: ValueKind,
    column: &mut NumberReader<'a>,
    before: &mut i64,
) -> Option<Value<'a>> {
    Some(match kind {
        ValueKind::Int => {
            *before = column.difference(*before as u64)? as i64;
            Value::Int(*before)
        }
        ValueKind::Uint => {
            *before = column.difference(*before as u64)? as i64;
            Value::Uint(*before as u64)
        }
        ValueKind::Float => {
            let (bytes, _) = column.take(8)?.0.as_chunks();
            Value::Float(f64::from_le_bytes(bytes[0]))
        }
        ValueKind::LongDouble => {
            let (bytes, _) = column.take(16)?.0.as_chunks();
            Value::LongDouble(bytes[0])
        }
        ValueKind::Text => match column.get()?.checked_sub(1) {
            None => Value::Nil,
            Some(number) => Value::Text {
                bytes: column.take(number >> 1)?.0,
                cut: number & 1 == 1,
            },
        },
    })
}

/// Passes over the values of one column that are stored by their kind. `before` is the integer of
/// the event before.
pub fn skip_by_kind(
    kind: ValueKind,
    count: usize,
    column: &mut NumberReader,
    before: &mut i64,
) -> Option<()> {
    match kind {
        ValueKind::Int | ValueKind::Uint => {
            *before = column.last_difference(count, *before as u64)? as i64;
        }
        ValueKind::Float => drop(column.take(8 * count as u64)?),
        ValueKind::LongDouble => drop(column.take(16 * count as u64)?),
        ValueKind::Text => {
            for _ in 0..count {
                if let Some(number) = column.get()?.checked_sub(1) {
                    column.take(number >> 1)?;
                }
            }
        }
    }
    Some(())
}

fn text(bytes: &[u8]) -> Value<'_> {
    Value::Text { bytes, cut: false }
}

fn integer(kind: ValueKind, value: u64) -> Value<'static> {
    match kind {
        ValueKind::Int => Value::Int(value as i64),
        _ => Value::Uint(value),
    }
}
