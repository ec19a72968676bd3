//! Exact decimal digits of a binary floating-point number.
//!
//! Each such number, `significand × 2^exponent`, has finitely many decimal digits, at most 16,445
//! for a `long double`. printf rounds after any of them, and the rounding depends on all the digits
//! after it, so all are computed. For an exponent `-k` they are the digits of the integer
//! `significand × 5^k`, with the point `k` digits from the right, since `2^-k = 5^k / 10^k`. For
//! another exponent they are those of `significand × 2^exponent` itself. So the algorithm only
//! multiplies a long integer by short ones. In limbs of nine decimal digits the result is easy to
//! print. Most numbers that programs print have few digits, and take a few dozen multiplications.

/// The limbs' base: the power of ten whose square, times four, still fits 64 bits.
const BASE: u64 = 1_000_000_000;
const DIGITS_OF_LIMB: usize = 9;
/// The highest powers to multiply by at once: below 2^32, so that a product and the carry fit 64
/// bits.
const FIVES: u32 = 13;
const TWOS: u32 = 31;

/// A number that is not negative, in decimal: 0.d₁d₂d₃… × 10^point.
#[derive(Debug)]
pub struct Decimal {
    /// The values of the digits. The first and the last are not 0; zero has no digits.
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// All digits of `significand × 2^exponent`.
    pub fn exact(significand: u64, exponent: i32) -> Decimal {
        if significand == 0 {
            return Decimal {
                digits: Vec::new(),
                point: 0,
            };
        }
        // Trailing factors of two would only add zeros at the end of the digits.
        let spare = significand.trailing_zeros();
        let significand = significand >> spare;
        let exponent = exponent + spare as i32;
        let mut limbs = vec![
            (significand % BASE) as u32,
            (significand / BASE % BASE) as u32,
            (significand / BASE / BASE) as u32,
        ];
        let (base, step): (u32, u32) = if exponent < 0 { (5, FIVES) } else { (2, TWOS) };
        let mut left = exponent.unsigned_abs();
        while left > 0 {
            let power = left.min(step);
            multiply(&mut limbs, base.pow(power));
            left -= power;
        }
        let mut decimal = Decimal::of_limbs(&limbs);
        decimal.point += i64::from(exponent.min(0));
        decimal
    }

    /// An integer in limbs, lowest first.
    fn of_limbs(limbs: &[u32]) -> Decimal {
        let mut digits = vec![0; limbs.len() * DIGITS_OF_LIMB];
        for (limb, digits) in limbs.iter().rev().zip(digits.chunks_mut(DIGITS_OF_LIMB)) {
            let mut limb = *limb;
            for digit in digits.iter_mut().rev() {
                *digit = (limb % 10) as u8;
                limb /= 10;
            }
        }
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..leading);
        let mut decimal = Decimal {
            point: digits.len() as i64,
            digits,
        };
        decimal.trim();
        decimal
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    /// Rounds to this many digits, to the nearest number, or to the even one of two equally near.
    ///
    /// If `keep` is 0 or negative, it rounds to the place before the first digit, or further left.
    pub fn round(&mut self, keep: i64) {
        if keep >= self.digits.len() as i64 {
            return;
        }
        let Ok(keep) = usize::try_from(keep) else {
            self.digits.clear();
            self.point = 0;
            return;
        };
        // The dropped digits end in one that is not 0, so they are exactly half if they are a
        // single 5.
        let up = match self.digits[keep] {
            5 if keep + 1 == self.digits.len() => keep > 0 && self.digits[keep - 1] % 2 == 1,
            first => first >= 5,
        };
        self.digits.truncate(keep);
        if up {
            self.add_one();
        }
        self.trim();
    }

    /// Adds one to the last digit.
    fn add_one(&mut self) {
        while self.digits.last() == Some(&9) {
            self.digits.pop();
        }
        match self.digits.last_mut() {
            Some(digit) => *digit += 1,
            None => {
                self.digits.push(1);
                self.point += 1;
            }
        }
    }

    /// How many digits there are.
    pub fn len(&self) -> usize {
        self.digits.len()
    }

    /// How many digits stand before the point. If negative, as many zeros follow the point.
    pub fn point(&self) -> i64 {
        self.point
    }

    /// The exponent of the first digit; 0 for zero.
    pub fn exponent(&self) -> i64 {
        if self.digits.is_empty() {
            0
        } else {
            self.point - 1
        }
    }

    /// Appends the digits from one place to before another as text; zeros where there are none.
    pub fn append(&self, from: i64, to: i64, out: &mut Vec<u8>) {
        let length = self.digits.len() as i64;
        let before = (to.min(0) - from).max(0);
        let behind = (to - from.max(length)).max(0);
        let inside =
            from.clamp(0, length) as usize..to.clamp(0, length).max(from.clamp(0, length)) as usize;
        super::field::fill(out, b'0', before as usize);
        out.extend(self.digits[inside].iter().map(|digit| b'0' + digit));
        super::field::fill(out, b'0', behind as usize);
    }
}

/// Multiplies a long integer in limbs, lowest first.
fn multiply(limbs: &mut Vec<u32>, by: u32) {
    let mut carry = 0;
    for limb in limbs.iter_mut() {
        let product = u64::from(*limb) * u64::from(by) + carry;
        *limb = (product % BASE) as u32;
        carry = product / BASE;
    }
    while carry > 0 {
        limbs.push((carry % BASE) as u32);
        carry /= BASE;
    }
}
