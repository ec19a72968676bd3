//! Decimals of few digits, as programs mostly print them: `%f` and `%g` without a long integer.
//!
//! `significand × 10^places` fits 128 bits, and its upper bits are the digits to show. They are
//! exact, and those that were dropped say how to round. [`Decimal`](super::decimal::Decimal) does
//! the same for all other numbers and formats.

use super::field::Spec;
use super::parse::{FloatForm, FloatStyle};

/// The most digits behind the point.
const MOST_PLACES: usize = 9;
const POWERS: [u64; MOST_PLACES + 2] = {
    let mut powers = [1; MOST_PLACES + 2];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};

/// A number that is not negative, rounded: `digits / 10^places`.
#[derive(Debug, Clone, Copy)]
pub struct Short {
    digits: u64,
    places: usize,
}

impl Short {
    /// Bytes of the longest: 20 digits and a point.
    pub const LONGEST: usize = 24;

    /// `significand × 2^exponent` as `%f` or `%g` shows it, if it is short.
    pub fn of(significand: u64, exponent: i32, style: FloatStyle, spec: &Spec) -> Option<Short> {
        let precision = spec.decimals();
        if spec.flags.alternate || precision > MOST_PLACES {
            return None;
        }
        match style.form {
            FloatForm::Fixed => Short::rounded(significand, exponent, precision),
            FloatForm::General => Short::general(significand, exponent, precision.max(1)),
            FloatForm::Exponent | FloatForm::Hex => None,
        }
    }

    /// Rounded to the nearest, or to the even one of two equally near.
    fn rounded(significand: u64, exponent: i32, places: usize) -> Option<Short> {
        let power = POWERS[places];
        let digits = match u32::try_from(-i64::from(exponent)) {
            Ok(shift @ 1..128) => {
                let product = u128::from(significand) * u128::from(power);
                let (kept, half) = (product >> shift, 1 << (shift - 1));
                let dropped = product - (kept << shift);
                let up = dropped > half || dropped == half && kept % 2 == 1;
                u64::try_from(kept + u128::from(up)).ok()?
            }
            Ok(0) => significand.checked_mul(power)?,
            // Too small for any digit: the product is below 2^94.
            Ok(_) => 0,
            Err(_) => return None,
        };
        Some(Short { digits, places })
    }

    /// With so many significant digits, without zeros behind them.
    fn general(significand: u64, exponent: i32, wanted: usize) -> Option<Short> {
        let one = |places| Short::rounded(significand, exponent, places);
        // Cut, not rounded: of 0.96, the first digit counts.
        let whole = match exponent {
            -63..=0 => significand >> -exponent,
            -127..=-64 => 0,
            _ => return None,
        };
        let places = match whole {
            0 => {
                let scaled = |power: &u64| u128::from(significand) * u128::from(*power);
                let first = POWERS[1..=4]
                    .iter()
                    .position(|power| scaled(power) >> -exponent > 0)?;
                wanted + first
            }
            _ => wanted.checked_sub(whole.ilog10() as usize + 1)?,
        };
        let mut short = (places <= MOST_PLACES).then(|| one(places))??;
        // Rounding made it longer.
        if short.digits >= POWERS[wanted] {
            return None;
        }
        while short.places > 0 && short.digits.is_multiple_of(10) {
            (short.digits, short.places) = (short.digits / 10, short.places - 1);
        }
        Some(short)
    }

    /// Writes it to the end of `room`.
    pub fn text(self, room: &mut [u8; Self::LONGEST]) -> &[u8] {
        let (mut digits, mut at, mut places) = (self.digits, room.len(), self.places);
        let mut put = |byte| {
            at -= 1;
            room[at] = byte;
        };
        let has_point = places > 0;
        while places > 0 {
            put(b'0' + (digits % 10) as u8);
            (digits, places) = (digits / 10, places - 1);
        }
        if has_point {
            put(b'.');
        }
        loop {
            put(b'0' + (digits % 10) as u8);
            digits /= 10;
            if digits == 0 {
                return &room[at..];
            }
        }
    }
}
