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
    let difference = number.wrapping_sub(expected) as i64;
    put(out, (difference << 1 ^ difference >> 63) as u64);
}

/// Appends a number so many times.
pub fn repeat(out: &mut Vec<u8>, number: u64, times: usize) {
    match number {
        0..0x80 => out.resize(out.len() + times, number as u8),
        _ => (0..times).for_each(|_| put(out, number)),
    }
}

/// Appends a small difference so many times.
pub fn repeat_difference(out: &mut Vec<u8>, difference: u64, times: usize) {
    repeat(out, difference << 1, times);
}

/// Reads numbers that `put` wrote.
#[derive(Clone, Copy)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
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
        let number = self.get()?;
        let difference = (number >> 1) ^ (number & 1).wrapping_neg();
        Some(expected.wrapping_add(difference))
    }

    /// The next number, if it is not larger than `most`.
    pub fn count(&mut self, most: usize) -> Option<usize> {
        let count = usize::try_from(self.get()?).ok()?;
        (count <= most).then_some(count)
    }

    /// How many numbers are left.
    pub fn numbers_left(&self) -> usize {
        self.0.iter().filter(|byte| **byte < 0x80).count()
    }

    /// The numbers in the next `count` bytes.
    pub fn take(&mut self, count: u64) -> Option<Cursor<'a>> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(Cursor(taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_64_bits_are_refused() {
        let largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Cursor(&largest).get(), Some(u64::MAX));
        let mut beyond = largest;
        beyond[9] = 0x02;
        assert_eq!(Cursor(&beyond).get(), None);
        assert_eq!(Cursor(&[0x80; 20]).get(), None);
        assert_eq!(Cursor(&[0x80]).get(), None);
    }
}
