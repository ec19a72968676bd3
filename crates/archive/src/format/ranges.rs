//! Defines the ranges of a block: its shapes, and between which values those of its events are.
//!
//! A record has them beside the compressed events, with a checksum of their own. So a reader that
//! looks for some values passes over the other blocks, and reads no more of these.

use std::ops::RangeInclusive;

use timeline::internal::ValueKind;

use crate::format::block::{MAX_ARGS, MAX_EVENTS, Shape};
use crate::format::varint::{NumberReader, put, put_difference, signed};

/// A block has no ranges if these take more than one byte for so many of its payload.
const SHARE: usize = 16;
/// The bytes of the checksum.
const SUM: usize = 4;
const TOP: u64 = 1 << 63;

/// A shape of a block, and the least and the greatest of each of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeRanges {
    /// The shape.
    pub shape: Shape,
    /// By position, as [`place`] says. `None` if nothing is known.
    pub values: Vec<Option<RangeInclusive<u64>>>,
}

/// Where an integer or a `double` with these bits is among all of its kind, in their order. `None`
/// for NaN. Texts are in the order of their lengths.
#[inline]
pub fn place(kind: ValueKind, bits: u64) -> Option<u64> {
    Some(match kind {
        ValueKind::Int => bits ^ TOP,
        ValueKind::Uint | ValueKind::Text => bits,
        ValueKind::Float if f64::from_bits(bits).is_nan() => return None,
        ValueKind::Float if bits & TOP == 0 => bits | TOP,
        ValueKind::Float => !bits,
        ValueKind::LongDouble => return None,
    })
}

/// The bits at a place.
pub fn bits(kind: ValueKind, place: u64) -> u64 {
    match kind {
        ValueKind::Int => place ^ TOP,
        ValueKind::Float if place & TOP == 0 => !place,
        ValueKind::Float => place ^ TOP,
        ValueKind::Uint | ValueKind::Text | ValueKind::LongDouble => place,
    }
}

impl Shape {
    /// The kinds of the values that stand in columns of their own.
    pub fn value_kinds(&self) -> impl Iterator<Item = ValueKind> {
        let integers = (0..self.args).map(|_| ValueKind::Int);
        self.kinds.iter().copied().chain(integers)
    }
}

/// Replaces the contents of `out`.
pub fn encode(shapes: &[ShapeRanges], out: &mut Vec<u8>) {
    out.clear();
    out.extend([0; SUM]);
    put(out, shapes.len() as u64);
    for ShapeRanges { shape, values } in shapes {
        shape.clone().encode(out);
        for (kind, range) in shape.value_kinds().zip(values) {
            encode_range(kind, range.as_ref(), out);
        }
    }
    let sum = crc32fast::hash(&out[SUM..]);
    out[..SUM].copy_from_slice(&sum.to_le_bytes());
}

fn encode_range(kind: ValueKind, range: Option<&RangeInclusive<u64>>, out: &mut Vec<u8>) {
    let (least, most) = match range {
        Some(range) => (bits(kind, *range.start()), bits(kind, *range.end())),
        None if kind == ValueKind::Float => [f64::NAN; 2].map(f64::to_bits).into(),
        None => (bits(kind, 0), bits(kind, u64::MAX)),
    };
    match kind {
        ValueKind::LongDouble => return,
        ValueKind::Float => {
            out.extend(least.to_le_bytes());
            out.extend(most.to_le_bytes());
            return;
        }
        ValueKind::Int => put_difference(out, least, 0),
        ValueKind::Uint | ValueKind::Text => put(out, least),
    }
    put(out, most.wrapping_sub(least));
}

/// The ranges, if they are small beside the payload.
pub fn worth<'a>(ranges: &'a [u8], payload: &[u8]) -> Option<&'a [u8]> {
    (ranges.len() <= most(payload.len())).then_some(ranges)
}

/// Most bytes of the ranges of a block with a payload of so many bytes.
pub fn most(payload: usize) -> usize {
    payload / SHARE
}

/// Reads what [`encode`] wrote. `None` if it is damaged.
pub fn decode(bytes: &[u8]) -> Option<Vec<ShapeRanges>> {
    let (sum, bytes) = bytes.split_first_chunk()?;
    if crc32fast::hash(bytes) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut input = NumberReader(bytes);
    let count = input.count(MAX_EVENTS)?;
    let mut shapes = Vec::new();
    for _ in 0..count {
        let shape = Shape::decode(&mut input)?;
        if shape.args > MAX_ARGS as u64 {
            return None;
        }
        let kinds = shape.value_kinds();
        let values = kinds.map(|kind| decode_range(kind, &mut input));
        shapes.push(ShapeRanges {
            values: values.collect::<Option<_>>()?,
            shape,
        });
    }
    Some(shapes)
}

#[allow(clippy::option_option, reason = "damaged, or nothing is known")]
fn decode_range(kind: ValueKind, input: &mut NumberReader) -> Option<Option<RangeInclusive<u64>>> {
    let double = |input: &mut NumberReader| {
        let (bytes, _) = input.take(8)?.0.as_chunks();
        Some(u64::from_le_bytes(bytes[0]))
    };
    let (least, most) = match kind {
        ValueKind::LongDouble => return Some(None),
        ValueKind::Float => (double(input)?, double(input)?),
        ValueKind::Int | ValueKind::Uint | ValueKind::Text => {
            let least = match kind {
                ValueKind::Int => signed(input.get()?),
                _ => input.get()?,
            };
            (least, least.wrapping_add(input.get()?))
        }
    };
    let range = place(kind, least).zip(place(kind, most));
    let range = range.filter(|(least, most)| least <= most);
    Some(range.map(|(least, most)| least..=most))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [ValueKind; 5] = [
        ValueKind::Int,
        ValueKind::Uint,
        ValueKind::Float,
        ValueKind::LongDouble,
        ValueKind::Text,
    ];

    /// The kind and two places of a value, and whether they are known.
    type Made = (ValueKind, u64, u64, bool);

    fn values() -> impl Strategy<Value = Vec<Made>> {
        let number = || prop_oneof![any::<u64>(), 0..9_u64, Just(TOP), Just(u64::MAX)];
        let kind = prop::sample::select(&KINDS[..]);
        prop::collection::vec((kind, number(), number(), any::<bool>()), 0..9)
    }

    /// A range as it is read: integers and texts of which nothing is known may be any.
    fn range((kind, a, b, is_known): &Made, is_read: bool) -> Option<RangeInclusive<u64>> {
        let is_nan = |place| super::place(*kind, bits(*kind, place)).is_none();
        match kind {
            ValueKind::Float if !is_known || is_nan(*a) || is_nan(*b) => None,
            ValueKind::LongDouble => None,
            _ if !is_known => is_read.then_some(0..=u64::MAX),
            _ => Some(*a.min(b)..=*a.max(b)),
        }
    }

    fn shapes(made: &[Vec<Made>], is_read: bool) -> Vec<ShapeRanges> {
        let shape = |values: &Vec<Made>| ShapeRanges {
            shape: Shape {
                kinds: values.iter().map(|(kind, ..)| *kind).collect(),
                ..Shape::default()
            },
            values: values.iter().map(|made| range(made, is_read)).collect(),
        };
        made.iter().map(shape).collect()
    }

    proptest! {
        #[test]
        fn ranges_come_back(
            made in prop::collection::vec(values(), 0..5),
            at: prop::sample::Index,
        ) {
            let mut bytes = Vec::new();
            encode(&shapes(&made, false), &mut bytes);
            prop_assert_eq!(decode(&bytes), Some(shapes(&made, true)));
            let at = at.index(bytes.len());
            bytes[at] ^= 0x10;
            prop_assert_eq!(decode(&bytes), None);
        }

        #[test]
        fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let sum = crc32fast::hash(&bytes).to_le_bytes();
            let ranges = decode(&[&sum[..], &bytes].concat());
            for of in ranges.into_iter().flatten() {
                prop_assert_eq!(of.values.len(), of.shape.value_kinds().count());
            }
        }

        #[test]
        fn places_are_in_the_order_of_numbers(a: u64, b: u64) {
            let order = |kind| place(kind, a).cmp(&place(kind, b));
            prop_assert_eq!(order(ValueKind::Int), (a as i64).cmp(&(b as i64)));
            prop_assert_eq!(order(ValueKind::Uint), a.cmp(&b));
            let doubles = [a, b].map(f64::from_bits);
            if !doubles.iter().any(|double| double.is_nan()) {
                prop_assert_eq!(order(ValueKind::Float), doubles[0].total_cmp(&doubles[1]));
            }
        }
    }
}
