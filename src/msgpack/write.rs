//! Writes msgpack: single values, and records of fields by number.

use rmp::Marker;
use rmp::encode;

use super::marker;
use super::read::whole_values;

/// Why writing into a vector is not checked further.
const INFALLIBLE: &str = "writing to a vector cannot fail";

/// An integer in its shortest encoding: a marker, and the first `size` of these bytes.
///
/// They are not put together here: whoever writes them one behind the other into its buffer reads
/// nothing back that it has just written.
#[derive(Debug, Clone, Copy)]
pub struct NumberBytes {
    /// The first byte.
    pub marker: u8,
    /// The bytes behind it, with some that do not count.
    pub rest: [u8; 8],
    /// How many of them count.
    pub size: usize,
}

impl NumberBytes {
    const fn alone(marker: u8) -> NumberBytes {
        NumberBytes {
            marker,
            rest: [0; 8],
            size: 0,
        }
    }
}

/// For a number of 0 to 8 bytes: its marker, and how many bytes are written. This is a table,
/// because the processor cannot predict jumps by the size of the next number.
const UNSIGNED: [(u8, u8); 9] = [
    (marker::UINT8, 1),
    (marker::UINT8, 1),
    (marker::UINT16, 2),
    (marker::UINT32, 4),
    (marker::UINT32, 4),
    (marker::UINT64, 8),
    (marker::UINT64, 8),
    (marker::UINT64, 8),
    (marker::UINT64, 8),
];

/// Packs an unsigned number as rmp's `write_uint` does, in a third of the time.
#[inline]
pub fn packed(value: u64) -> NumberBytes {
    if value <= 0x7f {
        return NumberBytes::alone(value as u8);
    }
    let (marker, size) = UNSIGNED[(71 - value.leading_zeros()) as usize / 8];
    NumberBytes {
        marker,
        rest: (value << (64 - 8 * u32::from(size))).to_be_bytes(),
        size: usize::from(size),
    }
}

/// Packs a signed number; those from 0 on become unsigned ones.
#[inline]
pub fn packed_signed(value: i64) -> NumberBytes {
    match u64::try_from(value) {
        Ok(value) => packed(value),
        Err(_) => packed_negative(value),
    }
}

fn packed_negative(value: i64) -> NumberBytes {
    let (marker, size) = match value {
        -0x20.. => return NumberBytes::alone(value as u8),
        -0x80.. => (marker::INT8, 1),
        -0x8000.. => (marker::INT16, 2),
        -0x8000_0000.. => (marker::INT32, 4),
        _ => (marker::INT64, 8),
    };
    NumberBytes {
        marker,
        rest: (value << (64 - 8 * size)).to_be_bytes(),
        size,
    }
}

/// How many items an array has, in 16 bits also where fewer do. A signal handler may call it.
#[inline]
pub const fn array16(count: u16) -> [u8; 3] {
    let [a, b] = count.to_be_bytes();
    [marker::ARRAY16, a, b]
}

/// A number, in 64 bits also where fewer do. A signal handler may call it.
#[inline]
pub const fn uint64(number: u64) -> [u8; 9] {
    let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
    [marker::UINT64, a, b, c, d, e, f, g, h]
}

/// Appends a marker, and the bytes that belong to it.
pub fn put(out: &mut Vec<u8>, marker: Marker, bytes: &[u8]) {
    out.push(marker.to_u8());
    out.extend_from_slice(bytes);
}

/// Appends a number. All bytes are copied, because a copy of fixed size is faster.
#[inline]
pub fn put_packed(out: &mut Vec<u8>, number: NumberBytes) {
    let behind = out.len() + 1 + number.size;
    let [a, b, c, d, e, f, g, h] = number.rest;
    out.extend_from_slice(&[number.marker, a, b, c, d, e, f, g, h]);
    out.truncate(behind);
}

/// The fields of a record, put together before it is known how many there are.
#[derive(Default)]
pub struct FieldWriter {
    body: Vec<u8>,
    count: u32,
}

/// The items of a list within a field; nothing where one is not known.
pub struct ListWriter<'a>(&'a mut Vec<u8>);

impl ListWriter<'_> {
    /// Text.
    pub fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => encode::write_str(self.0, text).expect(INFALLIBLE),
            None => encode::write_nil(self.0).expect(INFALLIBLE),
        }
    }

    /// An unsigned number.
    pub fn number(&mut self, number: Option<u64>) {
        match number {
            Some(number) => put_packed(self.0, packed(number)),
            None => encode::write_nil(self.0).expect(INFALLIBLE),
        }
    }
}

impl FieldWriter {
    fn key(&mut self, field: u8) -> &mut Vec<u8> {
        self.body.push(field);
        self.count += 1;
        &mut self.body
    }

    fn array(&mut self, field: u8, count: usize) -> &mut Vec<u8> {
        let body = self.key(field);
        encode::write_array_len(body, count as u32).expect(INFALLIBLE);
        body
    }

    /// An unsigned number, if there is one.
    pub fn number(&mut self, field: u8, value: Option<u64>) {
        if let Some(value) = value {
            put_packed(self.key(field), packed(value));
        }
    }

    /// Unsigned numbers, if there are any.
    pub fn numbers(&mut self, field: u8, values: &[u64]) {
        if !values.is_empty() {
            let body = self.array(field, values.len());
            values
                .iter()
                .for_each(|value| put_packed(body, packed(*value)));
        }
    }

    /// Signed numbers, if there are any.
    pub fn integers(&mut self, field: u8, values: &[i64]) {
        if !values.is_empty() {
            let body = self.array(field, values.len());
            values
                .iter()
                .for_each(|value| put_packed(body, packed_signed(*value)));
        }
    }

    /// Values that are msgpack already, if there are any, up to the first that is not whole.
    pub fn values(&mut self, field: u8, values: &[u8]) {
        let (count, values) = whole_values(values);
        if count > 0 {
            self.array(field, count as usize).extend_from_slice(values);
        }
    }

    /// Pairs of unsigned numbers, if there are any.
    pub fn pairs(&mut self, field: u8, pairs: &[(u64, u64)]) {
        if !pairs.is_empty() {
            let body = self.array(field, pairs.len());
            for (a, b) in pairs {
                encode::write_array_len(body, 2).expect(INFALLIBLE);
                put_packed(body, packed(*a));
                put_packed(body, packed(*b));
            }
        }
    }

    /// A list of lists of three items, if there are any.
    pub fn lists<T>(&mut self, field: u8, all: &[T], mut list: impl FnMut(&T, &mut ListWriter)) {
        if !all.is_empty() {
            let body = self.array(field, all.len());
            for one in all {
                encode::write_array_len(body, 3).expect(INFALLIBLE);
                list(one, &mut ListWriter(body));
            }
        }
    }

    /// Texts, if there are any.
    pub fn texts(&mut self, field: u8, texts: &[&str]) {
        if !texts.is_empty() {
            let body = self.array(field, texts.len());
            for text in texts {
                encode::write_str(body, text).expect(INFALLIBLE);
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msgpack::Unpacker;

    #[test]
    fn numbers_are_packed_as_rmp_packs_them() {
        let powers = (0..64).map(|bit| 1u64 << bit);
        for value in powers.flat_map(|power| [power - 1, power, power | 1, !power]) {
            let (mut unsigned, mut signed) = (Vec::new(), Vec::new());
            encode::write_uint(&mut unsigned, value).unwrap();
            encode::write_sint(&mut signed, value as i64).unwrap();
            let mut fields = FieldWriter::default();
            fields.number(9, Some(value));
            fields.integers(10, &[value as i64]);
            let expected = [&[9], &unsigned[..], &[10, 0x91], &signed].concat();
            assert_eq!(fields.body, expected, "{value:#x}");
        }
    }

    #[test]
    fn what_has_a_fixed_size_is_read_again() {
        let bytes = [&array16(0x0102)[..], &uint64(3), &uint64(u64::MAX)].concat();
        let mut input = Unpacker(&bytes);
        assert_eq!(input.array16(), Some(0x0102));
        assert_eq!((input.uint64(), input.uint64()), (Some(3), Some(u64::MAX)));
        // The same values in another encoding are not taken.
        assert_eq!(Unpacker(&[0x92, 1, 2]).array16(), None);
        assert_eq!(Unpacker(&[0xce, 0, 0, 0, 1, 1, 1, 1, 1]).uint64(), None);
    }

    #[test]
    fn values_are_written_as_far_as_they_are_whole() {
        let values = [0xd2, 0, 0, 0, 7, 0x91, 0xc0, 0xd9, 3, b'a'];
        let (mut fields, mut out) = (FieldWriter::default(), Vec::new());
        fields.values(10, &values);
        fields.values(11, &[0xd9]);
        fields.finish(1, &mut out);
        assert_eq!(out, [&[1, 0x81, 10, 0x92], &values[..7]].concat());
    }
}
