//! A value of the payload of an event, and values in msgpack.
//!
//! Readers accept any bytes. Each encoding of an integer, a text or a floating-point number is
//! understood, lengths are checked against the bytes that there are, and bytes without a meaning
//! end the values.

use crate::msgpack::{
    Head, Marker, NumberBytes, Unpacker, array16, marker, put, put_packed, uint64,
};

/// The msgpack extension type of a text that was cut.
const CUT_TEXT: i8 = 1;
/// The msgpack extension type of a `long double`.
const LONG_DOUBLE: i8 = 2;

/// One value of a payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A signed integer. The conversion says how many of its bits count.
    Int(i64),
    /// An unsigned integer or an address.
    Uint(u64),
    /// A `double`.
    Float(f64),
    /// A `long double` in x86's memory format, little-endian: 64 bits of significand with an
    /// explicit integer bit, 15 of exponent, the sign, and 6 unused bytes.
    LongDouble([u8; 16]),
    /// The bytes of a string, in any encoding. A wide string is in UTF-8.
    Text {
        /// The bytes that were kept, without the NUL.
        bytes: &'a [u8],
        /// Whether the writer had no room for all of it.
        cut: bool,
    },
    /// A string that was `NULL`.
    Nil,
    /// Return addresses of a call stack, innermost first.
    Addresses(Vec<u64>),
}

impl Value<'_> {
    /// Appends the value in the encoding that writers use.
    ///
    /// An integer that fits has the encoding of `int` or `unsigned int`, a larger one that of 64
    /// bits. Lengths have 16 bits: a longer text is cut and marked as cut, addresses beyond that
    /// are left out.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Value::Int(value) => encode_int(*value, out),
            Value::Uint(value) => encode_uint(*value, out),
            Value::Float(value) => encode_float(*value, out),
            Value::LongDouble(bytes) => encode_long_double(bytes, out),
            Value::Text { bytes, cut } => encode_text(bytes, *cut, out),
            Value::Nil => encode_nil(out),
            Value::Addresses(addresses) => {
                let count = u16::try_from(addresses.len()).unwrap_or(u16::MAX);
                out.extend(array16(count));
                for address in &addresses[..count.into()] {
                    out.extend(uint64(*address));
                }
            }
        }
    }
}

/// Takes the values of an event one by one, without any [`Value`] in between: one is
/// put together from parts, and a copy of it would wait for them.
pub trait ValueSink {
    /// A signed integer.
    fn int(&mut self, value: i64);
    /// An unsigned integer or an address.
    fn uint(&mut self, value: u64);
    /// A `double`.
    fn float(&mut self, value: f64);
    /// A `long double`, as in memory.
    fn long_double(&mut self, bytes: &[u8; 16]);
    /// The bytes of a text or an array, and whether some were cut off.
    fn text(&mut self, bytes: &[u8], cut: bool);
    /// A text that was `NULL`.
    fn nil(&mut self);
}

/// Appends values as msgpack.
impl ValueSink for Vec<u8> {
    #[inline]
    fn int(&mut self, value: i64) {
        encode_int(value, self);
    }
    #[inline]
    fn uint(&mut self, value: u64) {
        encode_uint(value, self);
    }
    #[inline]
    fn float(&mut self, value: f64) {
        encode_float(value, self);
    }
    fn long_double(&mut self, bytes: &[u8; 16]) {
        encode_long_double(bytes, self);
    }
    #[inline]
    fn text(&mut self, bytes: &[u8], cut: bool) {
        encode_text(bytes, cut, self);
    }
    fn nil(&mut self) {
        encode_nil(self);
    }
}

#[inline]
fn encode_int(value: i64, out: &mut Vec<u8>) {
    let is_small = i32::try_from(value).is_ok();
    put_32_or_64(value as u64, is_small, (marker::INT32, marker::INT64), out);
}

#[inline]
fn encode_uint(value: u64, out: &mut Vec<u8>) {
    let is_small = u32::try_from(value).is_ok();
    put_32_or_64(value, is_small, (marker::UINT32, marker::UINT64), out);
}

/// Appends an integer in 32 bits if it is small, and else in 64.
#[inline]
fn put_32_or_64(value: u64, is_small: bool, (small, large): (u8, u8), out: &mut Vec<u8>) {
    let (marker, rest, size) = match is_small {
        true => (small, value << 32, 4),
        false => (large, value, 8),
    };
    let rest = rest.to_be_bytes();
    put_packed(out, NumberBytes { marker, rest, size });
}

#[inline]
fn encode_float(value: f64, out: &mut Vec<u8>) {
    let (marker, rest) = (Marker::F64.to_u8(), value.to_be_bytes());
    let size = rest.len();
    put_packed(out, NumberBytes { marker, rest, size });
}

fn encode_long_double(bytes: &[u8; 16], out: &mut Vec<u8>) {
    put(out, Marker::FixExt16, &LONG_DOUBLE.to_be_bytes());
    out.extend_from_slice(bytes);
}

fn encode_nil(out: &mut Vec<u8>) {
    put(out, Marker::Null, &[]);
}

/// Lengths have 16 bits: see [`Value::encode`].
fn encode_text(bytes: &[u8], cut: bool, out: &mut Vec<u8>) {
    let kept = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    if cut || usize::from(kept) < bytes.len() {
        put(out, Marker::Ext16, &kept.to_be_bytes());
        out.extend_from_slice(&CUT_TEXT.to_be_bytes());
    } else if let Ok(length) = u8::try_from(kept) {
        put(out, Marker::Str8, &[length]);
    } else {
        put(out, Marker::Str16, &kept.to_be_bytes());
    }
    out.extend_from_slice(&bytes[..kept.into()]);
}

/// The next value; `None` at the end and at damage.
pub(crate) fn value<'a>(input: &mut Unpacker<'a>) -> Option<Value<'a>> {
    Some(match input.head()? {
        Head::Uint(value) => Value::Uint(value),
        Head::Int(value) => Value::Int(value),
        Head::Bool(value) => Value::Int(value.into()),
        Head::Float(value) => Value::Float(value),
        Head::Nil => Value::Nil,
        Head::Bytes(bytes) => Value::Text { bytes, cut: false },
        Head::Extension(CUT_TEXT, bytes) => Value::Text { bytes, cut: true },
        Head::Extension(LONG_DOUBLE, bytes) => Value::LongDouble(bytes.try_into().ok()?),
        Head::Array(count) => addresses(count, input)?,
        Head::Extension(..) | Head::Map(_) => return None,
    })
}

fn addresses<'a>(count: u32, input: &mut Unpacker<'a>) -> Option<Value<'a>> {
    // Each takes a byte at least, so no more is reserved than eight times what is there.
    let mut addresses = Vec::with_capacity((count as usize).min(input.0.len()));
    for _ in 0..count {
        let Head::Uint(address) = input.head()? else {
            return None;
        };
        addresses.push(address);
    }
    Some(Value::Addresses(addresses))
}
