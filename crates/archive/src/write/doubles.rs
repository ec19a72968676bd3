//! Finds integers that stand for doubles, if their differences take fewer bytes than the doubles.

use crate::format::decimal;
use crate::format::storage::ColumnEncoding;
use crate::format::varint::{length_of_difference, put_difference};
use timeline::internal::ValueKind;

/// So many neighbours are compared to choose.
const SAMPLE: usize = 64;
/// The bytes of a double.
const DOUBLE: usize = 8;

/// Stores the doubles of a shape with values of these kinds, each of which has a column for itself.
/// Returns how. `memory` is used again.
pub fn store(
    kinds: &[ValueKind],
    columns: &mut [Vec<u8>],
    memory: &mut Vec<u8>,
) -> Vec<ColumnEncoding> {
    let places = kinds.iter().zip(columns);
    let stored = places.map(|(kind, column)| match kind {
        ValueKind::Float => store_column(column, memory),
        _ => ColumnEncoding::ByKind,
    });
    stored.collect()
}

fn store_column(column: &mut Vec<u8>, memory: &mut Vec<u8>) -> ColumnEncoding {
    let (doubles, _) = column.as_chunks();
    let Some(stored) = encode(doubles, memory) else {
        return ColumnEncoding::ByKind;
    };
    std::mem::swap(column, memory);
    stored
}

/// How to store doubles of these bytes in fewer. Replaces the contents of `out` by what is stored.
///
/// A sample of neighbours says which way is tried first. All doubles say whether it is possible.
fn encode(doubles: &[[u8; DOUBLE]], out: &mut Vec<u8>) -> Option<ColumnEncoding> {
    let step = (doubles.len() / SAMPLE).max(1);
    let pairs = doubles.windows(2).step_by(step);
    let pairs = pairs.map(|pair| [bits(&pair[0]), bits(&pair[1])]);
    let (size, count) = (size(pairs.clone()), pairs.len());
    let decimals = decimals(pairs).filter(|(_, length)| *length < DOUBLE * count);
    let put_decimals = |out: &mut Vec<u8>| put_decimals(doubles, decimals?.0, out);
    match decimals {
        Some((_, length)) if length <= size * count => {
            put_decimals(out).or_else(|| put_bits(doubles, out))
        }
        _ if size < DOUBLE => put_bits(doubles, out).or_else(|| put_decimals(out)),
        _ => None,
    }
}

fn bits(double: &[u8; DOUBLE]) -> u64 {
    u64::from_le_bytes(*double)
}

/// The bytes that each of the differences fits into.
fn size(pairs: impl Iterator<Item = [u64; 2]>) -> usize {
    let differences = pairs.map(|[before, after]| after.wrapping_sub(before) as i64);
    let bits = differences.fold(0, |bits, each| bits | (each ^ each >> 63) as u64);
    // And one for the sign.
    (u64::BITS - bits.leading_zeros() + 1).div_ceil(8) as usize
}

/// The power with which numbers stand for all of these, and how many bytes their differences take.
fn decimals(pairs: impl Iterator<Item = [u64; 2]> + Clone) -> Option<(usize, usize)> {
    let mut powers = pairs
        .clone()
        .flatten()
        .map(|bits| decimal::power(f64::from_bits(bits)));
    let power = powers.try_fold(0, |most, power| Some(most.max(power?)))?;
    let number = |bits| decimal::number(f64::from_bits(bits), power);
    let lengths = pairs.map(|[before, after]| {
        let (before, after) = (number(before)?, number(after)?);
        Some(length_of_difference(after as u64, before as u64))
    });
    Some((power, lengths.sum::<Option<usize>>()?))
}

/// Replaces the contents of `out` by the numbers that stand for the doubles with this power, or
/// with a higher one: some may have more decimal places than those that were looked at. `None` if
/// there is none, or if they take no fewer bytes.
fn put_decimals(
    doubles: &[[u8; DOUBLE]],
    mut power: usize,
    out: &mut Vec<u8>,
) -> Option<ColumnEncoding> {
    while let Err(other) = put_numbers(doubles, power, out) {
        power = decimal::power(other).filter(|more| *more > power)?;
    }
    (out.len() < DOUBLE * doubles.len()).then_some(ColumnEncoding::Decimal(power))
}

/// Replaces the contents of `out` by the numbers that stand for the doubles with this power.
///
/// # Errors
/// The first double for which none stands.
fn put_numbers(doubles: &[[u8; DOUBLE]], power: usize, out: &mut Vec<u8>) -> Result<(), f64> {
    out.clear();
    let mut before = 0;
    for double in doubles.iter().map(|bytes| f64::from_le_bytes(*bytes)) {
        let number = decimal::number(double, power).ok_or(double)? as u64;
        put_difference(out, number, before);
        before = number;
    }
    Ok(())
}

/// Replaces the contents of `out` by the first double, and the differences of the bits of all.
/// `None` if they take no fewer bytes.
fn put_bits(doubles: &[[u8; DOUBLE]], out: &mut Vec<u8>) -> Option<ColumnEncoding> {
    let first = doubles.first()?;
    let pairs = doubles
        .windows(2)
        .map(|pair| [bits(&pair[0]), bits(&pair[1])]);
    let size = size(pairs);
    let length = DOUBLE + doubles.len() * size;
    if length >= DOUBLE * doubles.len() {
        return None;
    }
    out.clear();
    out.extend_from_slice(first);
    out.resize(length + DOUBLE, 0);
    let (mut rest, mut before) = (&mut out[DOUBLE..], bits(first));
    for double in doubles {
        let difference = bits(double).wrapping_sub(before);
        rest[..DOUBLE].copy_from_slice(&difference.to_le_bytes());
        (rest, before) = (&mut rest[size..], bits(double));
    }
    out.truncate(length);
    Some(ColumnEncoding::Difference(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(doubles: impl IntoIterator<Item = f64>) -> ColumnEncoding {
        let mut columns = [doubles.into_iter().flat_map(f64::to_le_bytes).collect()];
        store(&[ValueKind::Float], &mut columns, &mut vec![7]).remove(0)
    }

    #[test]
    fn doubles_are_stored_in_the_way_that_suits_them() {
        let mixed = |i: i32| f64::from(i.wrapping_mul(0x9e37_79b1u32 as i32) >> 8);
        let many = 0..1000;
        assert_eq!(
            stored(many.clone().map(f64::from)),
            ColumnEncoding::Decimal(0)
        );
        assert_eq!(
            stored(many.clone().map(|i| mixed(i) / 100.0)),
            ColumnEncoding::Decimal(2)
        );
        assert_eq!(
            stored(many.clone().map(|i| 1e5 + f64::from(i) / 7.0)),
            ColumnEncoding::Difference(5)
        );
        assert_eq!(
            stored(many.map(|i| (mixed(i) / 1e6).exp())),
            ColumnEncoding::ByKind
        );
        assert_eq!(stored([1.5]), ColumnEncoding::ByKind);
        assert_eq!(stored([]), ColumnEncoding::ByKind);
    }

    #[test]
    fn one_that_was_not_looked_at_may_need_another_way() {
        let with = |other, of: fn(f64) -> f64| {
            let doubles = (0..1000).map(|i| if i == 333 { other } else { of(f64::from(i)) });
            stored(doubles)
        };
        let tenths = |i| i / 10.0;
        assert_eq!(with(1.5, tenths), ColumnEncoding::Decimal(1));
        assert_eq!(with(0.125, tenths), ColumnEncoding::Decimal(3));
        assert_eq!(with(f64::NAN, tenths), ColumnEncoding::ByKind);
        // The number of that would be too large.
        assert_eq!(with(1e40, tenths), ColumnEncoding::ByKind);
        // Of a constant, decimals and differences take the same until another value comes.
        let constant = |_| 100.25;
        assert_eq!(with(100.25, constant), ColumnEncoding::Decimal(2));
        assert_eq!(with(-7.125, constant), ColumnEncoding::Decimal(3));
        assert_eq!(with(304.0 / 3.0, constant), ColumnEncoding::Difference(6));
        assert_eq!(with(-1.0 / 3.0, constant), ColumnEncoding::ByKind);
        // Those that were looked at are nearer to one another than all.
        assert_eq!(with(-1.5, |i| 1e15 + i / 8.0), ColumnEncoding::ByKind);
        assert_eq!(with(-1.5, |i| 7.0 + i / 3.0), ColumnEncoding::ByKind);
    }
}
