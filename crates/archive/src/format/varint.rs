//! Encodes the numbers that blocks are made of as varints.
//! A small number takes one byte. A difference is small whether it is positive or negative.

/// Appends a number with seven bits in each byte, the lowest bits first. The highest bit of a byte
/// says that more bytes follow.
#[inline]
pub fn put(out: &mut Vec<u8>, number: u64) {
    if number < 0x80 {
        out.push(number as u8);
    } else if number < 0x4000 {
        out.extend_from_slice(&[number as u8 | 0x80, (number >> 7) as u8]);
    } else {
        put_long(out, number);
    }
}

#[inline(never)]
fn put_long(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the difference of two numbers. Small differences of either sign become small numbers.
#[inline]
pub fn put_difference(out: &mut Vec<u8>, number: u64, expected: u64) {
    put(out, encoded(number.wrapping_sub(expected)));
}

/// The number that stands for a difference.
#[inline]
fn encoded(difference: u64) -> u64 {
    let difference = difference as i64;
    (difference << 1 ^ difference >> 63) as u64
}

/// How many bytes `put_difference` appends.
pub fn length_of_difference(number: u64, expected: u64) -> usize {
    let bits = u64::BITS - encoded(number.wrapping_sub(expected)).leading_zeros();
    bits.div_ceil(7).max(1) as usize
}

/// Appends a number so many times.
#[inline]
pub fn repeat(out: &mut Vec<u8>, number: u64, times: usize) {
    match times {
        0 => {}
        1 => put(out, number),
        _ => repeat_often(out, number, times),
    }
}

fn repeat_often(out: &mut Vec<u8>, number: u64, times: usize) {
    match number {
        0..0x80 => out.resize(out.len() + times, number as u8),
        _ => (0..times).for_each(|_| put(out, number)),
    }
}

/// Appends a small difference so many times.
#[inline]
pub fn repeat_difference(out: &mut Vec<u8>, difference: u64, times: usize) {
    repeat(out, difference << 1, times);
}

/// Numbers of one byte that are read at once, the highest bits of their bytes, and the lowest.
pub const WORD: usize = 8;
/// The most bytes of a number.
pub const MOST_NUMBER: usize = WORD + 2;
const HIGH: u64 = 0x8080_8080_8080_8080;
const LOW: u64 = 0x0101_0101_0101_0101;

/// The difference that a number stands for.
#[inline]
pub fn signed(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

/// The sum of the differences in eight bytes.
#[inline]
fn sum_of_differences(word: u64) -> u64 {
    /// Makes differences from -64 on numbers from 0 on.
    const BIAS: u64 = 0x40;
    if word == 0 {
        return 0;
    }
    let negative = (word & LOW) * 0x7f;
    let biased = (word >> 1 & !HIGH) ^ negative ^ (BIAS * LOW);
    let pairs = (biased & 0x00ff_00ff_00ff_00ff) + (biased >> 8 & 0x00ff_00ff_00ff_00ff);
    let sum = pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48;
    sum.wrapping_sub(BIAS * WORD as u64)
}

/// Reads numbers that `put` wrote.
#[derive(Clone, Copy)]
pub struct NumberReader<'a>(pub &'a [u8]);

impl<'a> NumberReader<'a> {
    /// The next number.
    #[inline]
    pub fn get(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        if first < 0x80 {
            self.0 = rest;
            return Some(first.into());
        }
        self.get_long()
    }

    fn get_long(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// The next number, which is written as the difference to its expected value.
    #[inline]
    pub fn difference(&mut self, expected: u64) -> Option<u64> {
        Some(expected.wrapping_add(signed(self.get()?)))
    }

    /// The next number, if it is not larger than `most`.
    pub fn count(&mut self, most: usize) -> Option<usize> {
        let count = usize::try_from(self.get()?).ok()?;
        (count <= most).then_some(count)
    }

    /// Passes each of the next `count` numbers to `each`.
    #[inline]
    pub fn each(&mut self, count: usize, mut each: impl FnMut(u64)) -> Option<()> {
        let mut left = count;
        while left > 0 {
            if left >= WORD
                && let Some(word) = self.word()
                && word & HIGH == 0
            {
                word.to_le_bytes()
                    .iter()
                    .for_each(|byte| each((*byte).into()));
                self.0 = &self.0[WORD..];
                left -= WORD;
                continue;
            }
            // They may be of several bytes for a while.
            for _ in 0..left.min(WORD) {
                each(self.get_any()?);
            }
            left -= left.min(WORD);
        }
        Some(())
    }

    /// Passes over the next `count` numbers. Returns whether all are below `limit`.
    pub fn are_below(&mut self, count: usize, limit: u64) -> Option<bool> {
        let (mut left, mut are_below) = (count, true);
        // Added to a byte, it reaches the highest bit where the byte reaches the limit.
        let rest = (0x80 - limit.min(0x80)) * LOW;
        while left >= WORD
            && let Some(word) = self.word()
            && word & HIGH == 0
        {
            are_below &= (word + rest) & HIGH == 0;
            self.0 = &self.0[WORD..];
            left -= WORD;
        }
        self.each(left, |number| are_below &= number < limit)?;
        Some(are_below)
    }

    /// Passes over the next `count` numbers.
    pub fn skip(&mut self, count: usize) -> Option<()> {
        self.each(count, |_| {})
    }

    /// The last of `count` numbers, each of which is written as the difference to the one before;
    /// the first to `expected`.
    pub fn last_difference(&mut self, count: usize, expected: u64) -> Option<u64> {
        let (mut left, mut last) = (count, expected);
        while left > 0 {
            if left >= WORD
                && let Some(word) = self.word()
                && word & HIGH == 0
            {
                last = last.wrapping_add(sum_of_differences(word));
                self.0 = &self.0[WORD..];
                left -= WORD;
                continue;
            }
            for _ in 0..left.min(WORD) {
                last = last.wrapping_add(signed(self.get_any()?));
            }
            left -= left.min(WORD);
        }
        Some(last)
    }

    /// The next eight bytes.
    #[inline]
    pub fn word(&self) -> Option<u64> {
        self.0.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The next number, which is of several bytes as likely as of one.
    #[inline]
    pub fn get_any(&mut self) -> Option<u64> {
        let ends = !self.word().unwrap_or(u64::MAX) & HIGH;
        if ends == 0 {
            return self.get();
        }
        let last = ends.trailing_zeros();
        // Seven bits of each byte up to the last, side by side: in pairs, in fours, in all eight.
        let bits = self.word()? & u64::MAX >> (u64::BITS - 1 - last) & !HIGH;
        let bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) >> 1;
        let bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) >> 2;
        let bits = bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) >> 4;
        self.0 = &self.0[last as usize / 8 + 1..];
        Some(bits)
    }

    /// How many numbers are left.
    pub fn numbers_left(&self) -> usize {
        self.0.iter().filter(|byte| **byte < 0x80).count()
    }

    /// The numbers in the next `count` bytes.
    pub fn take(&mut self, count: u64) -> Option<NumberReader<'a>> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(NumberReader(taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![8 => 0_u64..128, 2 => 0_u64..40_000, 1 => any::<u64>()]
    }

    proptest! {
        #[test]
        fn many_numbers_at_once_are_those_one_by_one(
            numbers in prop::collection::vec(number(), 0..100),
            of_one_byte in prop::collection::vec(0_u64..128, 0..60),
            expected: u64,
            limit in number(),
            behind: bool,
        ) {
            let numbers = [of_one_byte.clone(), numbers, of_one_byte].concat();
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put(&mut bytes, *number));
            let count = numbers.len();
            if behind {
                bytes.push(0x80);
            }
            let start = NumberReader(&bytes);
            let end = |cursor: NumberReader| cursor.0.len() == usize::from(behind);

            let (mut cursor, mut each) = (start, Vec::new());
            prop_assert_eq!(cursor.each(count, |number| each.push(number)), Some(()));
            prop_assert!(each == numbers && end(cursor));
            prop_assert_eq!(cursor.each(1, |_| {}), None);

            let mut cursor = start;
            prop_assert_eq!(cursor.skip(count), Some(()));
            prop_assert!(end(cursor) && cursor.skip(1).is_none());

            let mut cursor = start;
            let are_below = numbers.iter().all(|number| *number < limit);
            prop_assert_eq!(cursor.are_below(count, limit), Some(are_below));
            prop_assert!(end(cursor) && cursor.are_below(1, limit).is_none());

            let (mut cursor, mut one_by_one) = (start, start);
            let differences = numbers.iter();
            let last =
                differences.fold(expected, |last, _| one_by_one.difference(last).unwrap());
            prop_assert_eq!(cursor.last_difference(count, expected), Some(last));
            prop_assert!(end(cursor) && cursor.last_difference(1, 0).is_none());
        }

        #[test]
        fn a_difference_takes_as_many_bytes_as_told(
            number: u64,
            expected: u64,
            shift in 0_u32..64,
        ) {
            let number = expected.wrapping_add(number >> shift);
            let mut bytes = Vec::new();
            put_difference(&mut bytes, number, expected);
            prop_assert_eq!(bytes.len(), length_of_difference(number, expected));
        }

        #[test]
        fn damaged_numbers_are_those_one_by_one(
            bytes in prop::collection::vec(
                prop_oneof![0_u8..=1, 0x7f_u8..=0x81, any::<u8>()], 0..60),
            count in 0_usize..60,
        ) {
            let mut one_by_one = NumberReader(&bytes);
            let numbers: Option<Vec<_>> = (0..count).map(|_| one_by_one.get()).collect();
            let (mut cursor, mut each) = (NumberReader(&bytes), Vec::new());
            let done = cursor.each(count, |number| each.push(number));
            prop_assert_eq!(done.is_some(), numbers.is_some());
            prop_assert_eq!(NumberReader(&bytes).skip(count), done);
            if let Some(numbers) = numbers {
                prop_assert!(each == numbers && cursor.0 == one_by_one.0);
            }
        }
    }

    #[test]
    fn numbers_beyond_64_bits_are_refused() {
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(NumberReader(&largest).get(), Some(u64::MAX));
        let mut beyond = largest;
        beyond[9] = 0x02;
        assert_eq!(NumberReader(&beyond).get(), None);
        assert_eq!(NumberReader(&[0x80; 20]).get(), None);
        assert_eq!(NumberReader(&[0x80]).get(), None);
    }
}
