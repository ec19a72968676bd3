//! msgpack, as far as records need it: fields of a map by number, and values that are skipped.
//!
//! Reading takes whatever stands there: a value of another type than expected counts as absent,
//! lengths are only believed as far as there are bytes, and nesting is counted instead of followed.

use rmp::Marker;
use rmp::encode;

/// Why writing into a vector is not checked further.
const INFALLIBLE: &str = "writing to a vector cannot fail";

/// The fields of a record, put together before it is known how many there are.
#[derive(Default)]
pub struct Fields {
    body: Vec<u8>,
    count: u32,
}

impl Fields {
    #[inline]
    fn key(&mut self, field: u8) -> &mut Vec<u8> {
        self.body.push(field);
        self.count += 1;
        &mut self.body
    }

    /// An unsigned number, if there is one.
    #[inline]
    pub fn number(&mut self, field: u8, value: Option<u64>) {
        if let Some(value) = value {
            let (bytes, size) = packed(value);
            let mut both = [field; 10];
            both[1..].copy_from_slice(&bytes);
            self.body.extend_from_slice(&both);
            self.body.truncate(self.body.len() - (bytes.len() - size));
            self.count += 1;
        }
    }

    /// Unsigned numbers, if there are any.
    #[inline]
    pub fn numbers(&mut self, field: u8, values: &[u64]) {
        if values.is_empty() {
            return;
        }
        let body = self.key(field);
        put_array(body, values.len());
        for value in values {
            put_unsigned(body, *value);
        }
    }

    /// Signed numbers, if there are any.
    #[inline]
    pub fn integers(&mut self, field: u8, values: &[i64]) {
        if values.is_empty() {
            return;
        }
        let body = self.key(field);
        put_array(body, values.len());
        for value in values {
            match u64::try_from(*value) {
                Ok(value) => put_unsigned(body, value),
                Err(_) => encode::write_sint(body, *value)
                    .map(drop)
                    .expect(INFALLIBLE),
            }
        }
    }

    /// Values that are msgpack already, if there are any, up to the first that is not whole.
    pub fn values(&mut self, field: u8, values: &[u8]) {
        let (count, values) = whole_values(values);
        if count > 0 {
            let body = self.key(field);
            encode::write_array_len(body, count).expect(INFALLIBLE);
            body.extend_from_slice(values);
        }
    }

    /// Pairs of unsigned numbers, if there are any.
    pub fn pairs(&mut self, field: u8, pairs: &[(u64, u64)]) {
        if pairs.is_empty() {
            return;
        }
        let body = self.key(field);
        encode::write_array_len(body, pairs.len() as u32).expect(INFALLIBLE);
        for (a, b) in pairs {
            encode::write_array_len(body, 2).expect(INFALLIBLE);
            encode::write_uint(body, *a).expect(INFALLIBLE);
            encode::write_uint(body, *b).expect(INFALLIBLE);
        }
    }

    /// Text, if there is some.
    pub fn text(&mut self, field: u8, text: Option<&str>) {
        if let Some(text) = text {
            encode::write_str(self.key(field), text).expect(INFALLIBLE);
        }
    }

    /// Bytes, if there are some.
    pub fn bytes(&mut self, field: u8, bytes: Option<&[u8]>) {
        if let Some(bytes) = bytes {
            encode::write_bin(self.key(field), bytes).expect(INFALLIBLE);
        }
    }

    /// Appends the record, and is empty again.
    pub fn finish(&mut self, tag: u8, out: &mut Vec<u8>) {
        encode::write_pfix(out, tag).expect(INFALLIBLE);
        encode::write_map_len(out, self.count).expect(INFALLIBLE);
        out.append(&mut self.body);
        self.count = 0;
    }
}

/// An unsigned number as msgpack, and how many of these bytes are it.
///
/// The result of rmp's `write_uint`, in a third of the time: all nine bytes are copied, and the
/// surplus is taken back, without a branch for each size or a second look for room.
#[inline]
pub(crate) fn packed(value: u64) -> ([u8; 9], usize) {
    // The markers are uint8 to uint64; rmp's own are found by a call.
    let (marker, size) = match (71 - value.leading_zeros()) / 8 {
        0 | 1 if value <= 0x7f => return ([value as u8, 0, 0, 0, 0, 0, 0, 0, 0], 1),
        1 => (0xcc, 1),
        2 => (0xcd, 2),
        3 | 4 => (0xce, 4),
        _ => (0xcf, 8),
    };
    let mut bytes = [0; 9];
    bytes[0] = marker;
    bytes[1..].copy_from_slice(&(value << (64 - 8 * size)).to_be_bytes());
    (bytes, 1 + size)
}

/// The same of a signed number; those from 0 on are as unsigned ones.
#[inline]
pub(crate) fn packed_signed(value: i64) -> ([u8; 9], usize) {
    match u64::try_from(value) {
        Ok(value) => packed(value),
        Err(_) => packed_negative(value),
    }
}

fn packed_negative(value: i64) -> ([u8; 9], usize) {
    let mut bytes = [0; 9];
    let mut rest = &mut bytes[..];
    encode::write_sint(&mut rest, value).expect(INFALLIBLE);
    let left = rest.len();
    (bytes, 9 - left)
}

#[inline]
fn put_unsigned(out: &mut Vec<u8>, value: u64) {
    let (bytes, size) = packed(value);
    out.extend_from_slice(&bytes);
    out.truncate(out.len() - (bytes.len() - size));
}

/// The head of an array of so many values; most events have a few.
#[inline]
fn put_array(out: &mut Vec<u8>, count: usize) {
    match count {
        0..=15 => out.push(0x90 | count as u8),
        _ => {
            encode::write_array_len(out, count as u32).expect(INFALLIBLE);
        }
    }
}

/// How many whole values stand at the beginning of these bytes, and the bytes of them.
pub fn whole_values(bytes: &[u8]) -> (u32, &[u8]) {
    let mut input = Input(bytes);
    let (mut count, mut rest) = (0, bytes.len());
    while rest > 0 && count < u32::MAX && input.skip().is_some() {
        count += 1;
        rest = input.0.len();
    }
    (count, &bytes[..bytes.len() - rest])
}

/// Whether these values are all integers, which are then in `integers`.
pub fn all_integers(values: &[u8], integers: &mut Vec<i64>) -> bool {
    let mut input = Input(values);
    integers.clear();
    while !input.0.is_empty() {
        let Some(Value::Integer(n)) = input.value() else {
            integers.clear();
            return false;
        };
        integers.push(n as i64);
    }
    true
}

/// The head of a value: what it is, with what stands in it.
#[derive(Debug, PartialEq)]
enum Value<'a> {
    Integer(i128),
    Bytes(&'a [u8]),
    Array(u32),
    Map(u32),
    Other,
}

/// A record as it is read: `None` from its functions means that it is not msgpack.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self, size: usize) -> Option<u64> {
        let bytes = self.take(size)?;
        Some(bytes.iter().fold(0, |word, b| word << 8 | u64::from(*b)))
    }

    fn length(&mut self, size: usize) -> Option<usize> {
        self.word(size).map(|length| length as usize)
    }

    fn value(&mut self) -> Option<Value<'a>> {
        use Marker::*;
        let marker = Marker::from_u8(self.word(1)? as u8);
        Some(match marker {
            FixPos(n) => Value::Integer(n.into()),
            FixNeg(n) => Value::Integer(n.into()),
            U8 => Value::Integer(self.word(1)?.into()),
            U16 => Value::Integer(self.word(2)?.into()),
            U32 => Value::Integer(self.word(4)?.into()),
            U64 => Value::Integer(self.word(8)?.into()),
            I8 => Value::Integer((self.word(1)? as i8).into()),
            I16 => Value::Integer((self.word(2)? as i16).into()),
            I32 => Value::Integer((self.word(4)? as i32).into()),
            I64 => Value::Integer((self.word(8)? as i64).into()),
            FixStr(n) => Value::Bytes(self.take(n.into())?),
            Str8 | Bin8 => self.sized(1, 0)?,
            Str16 | Bin16 => self.sized(2, 0)?,
            Str32 | Bin32 => self.sized(4, 0)?,
            FixArray(n) => Value::Array(n.into()),
            Array16 => Value::Array(self.word(2)? as u32),
            Array32 => Value::Array(self.word(4)? as u32),
            FixMap(n) => Value::Map(n.into()),
            Map16 => Value::Map(self.word(2)? as u32),
            Map32 => Value::Map(self.word(4)? as u32),
            Null | True | False => Value::Other,
            F32 => self.other(4)?,
            F64 => self.other(8)?,
            FixExt1 => self.other(2)?,
            FixExt2 => self.other(3)?,
            FixExt4 => self.other(5)?,
            FixExt8 => self.other(9)?,
            FixExt16 => self.other(17)?,
            Ext8 => self.sized(1, 1).map(|_| Value::Other)?,
            Ext16 => self.sized(2, 1).map(|_| Value::Other)?,
            Ext32 => self.sized(4, 1).map(|_| Value::Other)?,
            Reserved => return None,
        })
    }

    fn sized(&mut self, size: usize, more: usize) -> Option<Value<'a>> {
        let length = self.length(size)?.checked_add(more)?;
        self.take(length).map(Value::Bytes)
    }

    fn other(&mut self, size: usize) -> Option<Value<'a>> {
        self.take(size).map(|_| Value::Other)
    }

    /// Passes over what belongs to a value whose head was just read.
    fn skip_rest(&mut self, head: &Value) -> Option<()> {
        let inside = |value: &Value| match value {
            Value::Array(n) => u64::from(*n),
            Value::Map(n) => 2 * u64::from(*n),
            _ => 0,
        };
        let mut left = inside(head);
        while left > 0 {
            // Each value takes a byte at least, so this ends with the bytes, however many were
            // promised.
            left = (left - 1).checked_add(inside(&self.value()?))?;
        }
        Some(())
    }

    /// The tag of a record, and how many fields follow.
    pub fn head(&mut self) -> Option<(i128, u32)> {
        let (Value::Integer(tag), Value::Map(fields)) = (self.value()?, self.value()?) else {
            return None;
        };
        Some((tag, fields))
    }

    /// The number of the next field. One that is no small number belongs to nobody.
    pub fn key(&mut self) -> Option<u8> {
        let head = self.value()?;
        self.skip_rest(&head)?;
        Some(match head {
            Value::Integer(key) => u8::try_from(key).unwrap_or(u8::MAX),
            _ => u8::MAX,
        })
    }

    /// Passes over a value.
    pub fn skip(&mut self) -> Option<()> {
        let head = self.value()?;
        self.skip_rest(&head)
    }

    fn integer(&mut self) -> Option<Option<i128>> {
        let head = self.value()?;
        self.skip_rest(&head)?;
        Some(match head {
            Value::Integer(n) => Some(n),
            _ => None,
        })
    }

    /// An unsigned number; nothing if it is something else.
    pub fn number(&mut self) -> Option<Option<u64>> {
        let integer = self.integer()?;
        Some(integer.and_then(|n| u64::try_from(n).ok()))
    }

    /// Bytes or text as they stand there; nothing if it is something else.
    pub fn bytes(&mut self) -> Option<Option<&'a [u8]>> {
        let head = self.value()?;
        self.skip_rest(&head)?;
        Some(match head {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        })
    }

    /// Text, made valid where it is not.
    pub fn text(&mut self) -> Option<Option<String>> {
        let bytes = self.bytes()?;
        Some(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    /// The items of an array; none if it is something else.
    fn items<T>(&mut self, mut item: impl FnMut(&mut Input<'a>) -> Option<T>) -> Option<Vec<T>> {
        let head = self.value()?;
        let Value::Array(count) = head else {
            self.skip_rest(&head)?;
            return Some(Vec::new());
        };
        let mut items = Vec::with_capacity((count as usize).min(self.0.len()).min(64));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// Unsigned numbers; what is none counts as 0, for the sake of the others' places.
    pub fn numbers(&mut self) -> Option<Vec<u64>> {
        self.items(|input| input.number().map(Option::unwrap_or_default))
    }

    /// The items of an array as they stand there, and in `integers` what they are, if all are
    /// integers; unsigned ones beyond the range of signed ones wrap. None of either, if it is
    /// something else.
    pub fn arguments(&mut self, integers: &mut Vec<i64>) -> Option<&'a [u8]> {
        integers.clear();
        let head = self.value()?;
        let Value::Array(count) = head else {
            self.skip_rest(&head)?;
            return Some(&[]);
        };
        let items = self.0;
        let mut others = false;
        for _ in 0..count {
            match self.value()? {
                Value::Integer(n) if !others => integers.push(n as i64),
                Value::Integer(_) => {}
                other => {
                    self.skip_rest(&other)?;
                    others = true;
                }
            }
        }
        if others {
            integers.clear();
        }
        Some(&items[..items.len() - self.0.len()])
    }

    /// Pairs of unsigned numbers.
    pub fn pairs(&mut self) -> Option<Vec<(u64, u64)>> {
        let mut pairs = Vec::new();
        self.items(|input| {
            if let [a, b] = input.numbers()?[..] {
                pairs.push((a, b));
            }
            Some(())
        })?;
        Some(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_numbers_are_packed_as_rmp_packs_them() {
        let powers = (0..64).map(|bit| 1u64 << bit);
        for value in powers.flat_map(|power| [power - 1, power, power | 1, !power]) {
            let mut expected = Vec::new();
            encode::write_uint(&mut expected, value).unwrap();
            let (bytes, size) = packed(value);
            assert_eq!(bytes[..size], expected, "{value:#x}");
            let mut fields = Fields::default();
            fields.number(9, Some(value));
            fields.integers(10, &[value as i64]);
            let signed = [&[9], &expected[..], &[10, 0x91]].concat();
            assert!(fields.body.starts_with(&signed), "{value:#x}");
            let mut input = Input(&fields.body[signed.len()..]);
            assert_eq!(input.value(), Some(Value::Integer((value as i64).into())));
            assert!(input.0.is_empty(), "{value:#x}");
        }
    }

    #[test]
    fn any_value_is_passed_over_whole() {
        let values: [&[u8]; 14] = [
            &[0x07],
            &[0xe0],
            &[0xc0],
            &[0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xd9, 2, b'a', b'b'],
            &[0xc5, 0, 1, 9],
            &[0x92, 1, 0x91, 2],
            &[0x81, 0xa1, b'k', 0x80],
            &[0xdc, 0, 2, 1, 2],
            &[0xde, 0, 1, 1, 2],
            &[0xd4, 5, 6],
            &[0xd8, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0xc7, 1, 5, 6],
            &[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0],
        ];
        for value in values {
            let bytes = [value, &[42]].concat();
            let mut input = Input(&bytes);
            assert_eq!(input.skip(), Some(()), "{value:02x?}");
            assert_eq!(input.number(), Some(Some(42)), "{value:02x?}");
            for cut in 0..value.len() {
                assert_eq!(
                    Input(&value[..cut]).skip(),
                    None,
                    "{value:02x?} cut at {cut}"
                );
            }
        }
        assert_eq!(Input(&[0xc1]).skip(), None);
    }

    #[test]
    fn deep_nesting_and_promises_do_no_harm() {
        let deep = vec![0x91; 1 << 20];
        assert_eq!(Input(&deep).skip(), None);
        let promise = [0xdd, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Input(&promise).skip(), None);
        assert_eq!(Input(&promise).numbers(), None);
        assert_eq!(Input(&[0xc6, 0xff, 0xff, 0xff, 0xff, 1]).bytes(), None);
    }

    #[test]
    fn arguments_are_integers_or_whatever_stands_there() {
        let mut integers = vec![9];
        let mut read = |bytes: &[u8]| {
            let mut input = Input(bytes);
            let items = input.arguments(&mut integers).map(<[u8]>::to_vec);
            (items, integers.clone(), input.0.len())
        };
        let both = [0x92, 5, 0xd0, 0x80, 42];
        assert_eq!(read(&both), (Some(both[1..4].to_vec()), vec![5, -128], 1));
        let mixed = [0x93, 5, 0x91, 0xc0, 0xa1, b'x', 42];
        assert_eq!(read(&mixed), (Some(mixed[1..6].to_vec()), vec![], 1));
        assert_eq!(read(&[0xa1, b'x', 42]), (Some(vec![]), vec![], 1));
        assert_eq!(read(&[0x92, 5]).0, None);
    }

    #[test]
    fn values_are_written_as_far_as_they_are_whole() {
        let values = [0xd2, 0, 0, 0, 7, 0x91, 0xc0, 0xd9, 3, b'a'];
        assert_eq!(whole_values(&values), (2, &values[..7]));
        assert_eq!(whole_values(&[0xc1, 1]), (0, &[][..]));
        let (mut fields, mut out) = (Fields::default(), Vec::new());
        fields.values(10, &values);
        fields.values(11, &[0xd9]);
        fields.finish(1, &mut out);
        assert_eq!(out, [&[1, 0x81, 10, 0x92], &values[..7]].concat());
    }
}
