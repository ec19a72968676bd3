//! Payloads: what writers pack, what others may pack, and damage.

use proptest::prelude::*;
use timeline::Value;
use timeline::internal::values;

fn text(bytes: &[u8]) -> Value<'_> {
    Value::Text { bytes, cut: false }
}

fn cut(bytes: &[u8]) -> Value<'_> {
    Value::Text { bytes, cut: true }
}

/// The bytes as the format states them, written by hand.
#[test]
fn values_are_packed_as_stated() {
    let long = [b'x'; 300];
    let double = 1.5_f64.to_be_bytes();
    let mut extended = [0; 16];
    extended[..10].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]);
    for (value, expected) in [
        (
            Value::Int(-2),
            [&[0xd2][..], &(-2_i32).to_be_bytes()].concat(),
        ),
        (
            Value::Int(1 << 40),
            [&[0xd3][..], &(1_i64 << 40).to_be_bytes()].concat(),
        ),
        (Value::Uint(7), vec![0xce, 0, 0, 0, 7]),
        (Value::Uint(u64::MAX), [&[0xcf][..], &[0xff; 8]].concat()),
        (Value::Float(1.5), [&[0xcb][..], &double].concat()),
        (
            Value::LongDouble(extended),
            [&[0xd8, 2][..], &extended].concat(),
        ),
        (text(b"hey"), b"\xd9\x03hey".to_vec()),
        (text(&long), [&[0xda, 1, 44][..], &long].concat()),
        (cut(b"hey"), b"\xc8\x00\x03\x01hey".to_vec()),
        (Value::Nil, vec![0xc0]),
        (
            Value::Addresses(vec![0x10, 0x20]),
            [
                &[0xdc, 0, 2, 0xcf][..],
                &0x10_u64.to_be_bytes(),
                &[0xcf],
                &0x20_u64.to_be_bytes(),
            ]
            .concat(),
        ),
    ] {
        let mut packed = Vec::new();
        value.encode(&mut packed);
        assert_eq!(packed, expected, "{value:?}");
        assert_eq!(values(&packed).collect::<Vec<_>>(), [value]);
    }
}

#[test]
fn other_encodings_are_understood() {
    let mut extended = [0; 16];
    extended[9] = 0x40;
    let as_ext8 = [&[0xc7, 16, 2][..], &extended].concat();
    for (bytes, expected) in [
        (&[0x05][..], Value::Uint(5)),
        (&[0xff], Value::Int(-1)),
        (&[0xcc, 200], Value::Uint(200)),
        (&[0xcd, 1, 0], Value::Uint(256)),
        (&[0xd0, 0x80], Value::Int(-128)),
        (&[0xd1, 0x80, 0], Value::Int(-32768)),
        (&[0xc2], Value::Int(0)),
        (&[0xc3], Value::Int(1)),
        (&[0xca, 0x3f, 0xc0, 0, 0], Value::Float(1.5)),
        (b"\xa2ab", text(b"ab")),
        (b"\xdb\x00\x00\x00\x02ab", text(b"ab")),
        (b"\xc4\x02ab", text(b"ab")),
        (b"\xc5\x00\x02ab", text(b"ab")),
        (b"\xc6\x00\x00\x00\x02ab", text(b"ab")),
        (b"\xd4\x01a", cut(b"a")),
        (b"\xd5\x01ab", cut(b"ab")),
        (b"\xd6\x01abcd", cut(b"abcd")),
        (b"\xd7\x01abcdefgh", cut(b"abcdefgh")),
        (b"\xd8\x01abcdefghabcdefgh", cut(b"abcdefghabcdefgh")),
        (b"\xc7\x02\x01ab", cut(b"ab")),
        (b"\xc9\x00\x00\x00\x02\x01ab", cut(b"ab")),
        (&as_ext8, Value::LongDouble(extended)),
        (&[0x92, 0x01, 0xcc, 0x02], Value::Addresses(vec![1, 2])),
        (&[0xdd, 0, 0, 0, 1, 0xcd, 1, 0], Value::Addresses(vec![256])),
    ] {
        let decoded: Vec<_> = values(bytes).collect();
        assert_eq!(decoded, [expected], "{bytes:x?}");
        // And none of it if a byte is missing.
        assert_eq!(values(&bytes[..bytes.len() - 1]).count(), 0, "{bytes:x?}");
    }
}

#[test]
fn what_is_of_no_known_kind_ends_the_values() {
    for bytes in [
        &[0x80][..],                        // a map
        &[0xde, 0, 0],                      // another
        &[0xc1],                            // reserved
        &[0xd4, 5, 0],                      // an extension of someone else's
        &[0xd8, 1],                         // cut short
        &[0xd4, 2, 0],                      // a long double of one byte
        &[0x91, 0xa1, b'a'],                // an array of texts
        &[0x91, 0x91, 0x01],                // of arrays
        &[0xdb, 0xff, 0xff, 0xff, 0xff, 1], // longer than anything
        &[0xc6, 0xff, 0xff, 0xff, 0xff, 1],
        &[0xc9, 0xff, 0xff, 0xff, 0xff, 1, 1],
        &[0xdd, 0xff, 0xff, 0xff, 0xff, 1],
    ] {
        let with_others = [&[0x01], bytes, &[0x02, 0x03, 0x04]].concat();
        let decoded: Vec<_> = values(&with_others).collect();
        assert_eq!(decoded, [Value::Uint(1)], "{bytes:x?}");
    }
}

#[test]
fn what_is_too_long_for_its_length_is_cut() {
    let long = vec![b'x'; 70_000];
    let mut packed = Vec::new();
    text(&long).encode(&mut packed);
    Value::Addresses(vec![7; 70_000]).encode(&mut packed);
    text(&long[..65_535]).encode(&mut packed);

    let decoded: Vec<_> = values(&packed).collect();

    let whole = &long[..65_535];
    assert_eq!(
        decoded,
        [cut(whole), Value::Addresses(vec![7; 65_535]), text(whole)]
    );
}

fn value() -> impl Strategy<Value = Packed> {
    let bytes = prop::collection::vec(any::<u8>(), 0..400);
    prop_oneof![
        any::<i64>().prop_map(Packed::Int),
        any::<i32>().prop_map(|value| Packed::Int(value.into())),
        any::<u64>().prop_map(Packed::Uint),
        any::<u16>().prop_map(|value| Packed::Uint(value.into())),
        any::<f64>().prop_map(Packed::Float),
        any::<[u8; 16]>().prop_map(Packed::LongDouble),
        (bytes, any::<bool>()).prop_map(|(bytes, cut)| Packed::Text(bytes, cut)),
        Just(Packed::Nil),
        prop::collection::vec(any::<u64>(), 0..20).prop_map(Packed::Addresses),
    ]
}

/// A value that owns its bytes.
#[derive(Debug, Clone)]
enum Packed {
    Int(i64),
    Uint(u64),
    Float(f64),
    LongDouble([u8; 16]),
    Text(Vec<u8>, bool),
    Nil,
    Addresses(Vec<u64>),
}

impl Packed {
    fn value(&self) -> Value<'_> {
        match self {
            Packed::Int(value) => Value::Int(*value),
            Packed::Uint(value) => Value::Uint(*value),
            Packed::Float(value) => Value::Float(*value),
            Packed::LongDouble(bytes) => Value::LongDouble(*bytes),
            Packed::Text(bytes, cut) => Value::Text { bytes, cut: *cut },
            Packed::Nil => Value::Nil,
            Packed::Addresses(addresses) => Value::Addresses(addresses.clone()),
        }
    }
}

proptest! {
    #[test]
    fn what_is_packed_comes_out(
        packed in prop::collection::vec(value(), 0..20),
        cut_at in any::<prop::sample::Index>(),
    ) {
        let expected: Vec<_> = packed.iter().map(Packed::value).collect();
        let mut payload = Vec::new();
        let mut ends = vec![];
        for value in &expected {
            value.encode(&mut payload);
            ends.push(payload.len());
        }
        let decoded: Vec<_> = values(&payload).collect();
        prop_assert_eq!(&decoded, &expected);

        // Cut anywhere, those before come whole.
        let at = cut_at.index(payload.len() + 1);
        let whole = ends.iter().filter(|end| **end <= at).count();
        let decoded: Vec<_> = values(&payload[..at]).collect();
        prop_assert_eq!(&decoded[..], &expected[..whole]);
    }
}
