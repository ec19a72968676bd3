//! Floating-point numbers: `%e`, `%f`, `%g`, `%a`, of `double` and of x86's `long double`.
//!
//! The C library's `snprintf` says what is right, and tests compare with it. It does not render
//! here: it would write the decimal point of the locale of whatever process dumps, and know no
//! `long double` of x86 on another processor.

use super::decimal::Decimal;
use super::field::{self, Spec};
use super::parse::{FloatForm, FloatStyle};
use super::short_decimal::Short;
use crate::event::values::value::Value;

/// A number with its sign apart.
#[derive(Debug, Clone, Copy)]
pub struct FloatDigits {
    negative: bool,
    magnitude: Magnitude,
}

#[derive(Debug, Clone, Copy)]
enum Magnitude {
    /// significand × 2^exponent. `hex_digits` of the significand's hexadecimal digits stand after
    /// the point.
    Finite {
        significand: u64,
        exponent: i32,
        hex_digits: u32,
    },
    Infinite,
    NotANumber,
}

impl FloatDigits {
    /// The number in a value, if it is a floating-point number.
    pub fn of(value: &Value) -> Option<FloatDigits> {
        match value {
            Value::Float(value) => Some(FloatDigits::of_double(*value)),
            Value::LongDouble(bytes) => Some(FloatDigits::of_long_double(bytes)),
            _ => None,
        }
    }

    fn of_double(value: f64) -> FloatDigits {
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let magnitude = match (bits >> 52) as i32 & 0x7ff {
            0x7ff if fraction == 0 => Magnitude::Infinite,
            0x7ff => Magnitude::NotANumber,
            exponent => Magnitude::Finite {
                significand: fraction | u64::from(exponent != 0) << 52,
                exponent: exponent.max(1) - 1023 - 52,
                hex_digits: 13,
            },
        };
        FloatDigits {
            negative: bits >> 63 == 1,
            magnitude,
        }
    }

    /// A number that the processor rejects as an operand is shown as NaN, like in glibc.
    fn of_long_double(bytes: &[u8; 16]) -> FloatDigits {
        let bits = u128::from_le_bytes(*bytes);
        let significand = bits as u64;
        let normal = significand >> 63 == 1;
        let magnitude = match (bits >> 64) as i32 & 0x7fff {
            0x7fff if significand == 1 << 63 => Magnitude::Infinite,
            0x7fff => Magnitude::NotANumber,
            exponent if exponent > 0 && !normal => Magnitude::NotANumber,
            exponent => Magnitude::Finite {
                significand,
                exponent: exponent.max(1) - 16383 - 63,
                hex_digits: 15,
            },
        };
        FloatDigits {
            negative: bits >> 79 & 1 == 1,
            magnitude,
        }
    }
}

/// Appends a number in a given style.
pub fn append(number: FloatDigits, style: FloatStyle, spec: &Spec, out: &mut Vec<u8>) {
    let sign = spec.sign(number.negative);
    let (significand, exponent, hex_digits) = match number.magnitude {
        Magnitude::Finite {
            significand,
            exponent,
            hex_digits,
        } => (significand, exponent, hex_digits),
        Magnitude::Infinite => return append_word(b"inf", sign, style, spec, out),
        Magnitude::NotANumber => return append_word(b"nan", sign, style, spec, out),
    };
    if let Some(short) = Short::of(significand, exponent, style, spec) {
        let (mut room, zero) = ([0; Short::LONGEST], spec.flags.zero);
        return field::append_number(sign, 0, short.text(&mut room), zero, spec, out);
    }
    let mut body = Vec::new();
    let mut prefix = sign.to_vec();
    if style.form == FloatForm::Hex {
        prefix.extend_from_slice(b"0x");
        hex(significand, exponent, hex_digits, spec, &mut body);
    } else {
        let decimal = Decimal::exact(significand, exponent);
        let precision = spec.decimals();
        let alternate = spec.flags.alternate;
        match style.form {
            FloatForm::Exponent => exponential(decimal, precision, alternate, &mut body),
            FloatForm::General => general(decimal, precision, alternate, &mut body),
            FloatForm::Fixed | FloatForm::Hex => fixed(decimal, precision, alternate, &mut body),
        }
    }
    if style.upper {
        prefix.make_ascii_uppercase();
        body.make_ascii_uppercase();
    }
    field::append_number(&prefix, 0, &body, spec.flags.zero, spec, out);
}

/// Infinities and NaN are not padded with zeros.
fn append_word(word: &[u8], sign: &[u8], style: FloatStyle, spec: &Spec, out: &mut Vec<u8>) {
    let mut text = [sign, word].concat();
    if style.upper {
        text.make_ascii_uppercase();
    }
    field::append(&text, spec, out);
}

/// Appends the digits of `%f`.
fn fixed(mut decimal: Decimal, precision: usize, alternate: bool, out: &mut Vec<u8>) {
    let precision = precision as i64;
    decimal.round(decimal.point() + precision);
    let point = decimal.point();
    if point > 0 {
        decimal.append(0, point, out);
    } else {
        out.push(b'0');
    }
    if precision > 0 || alternate {
        out.push(b'.');
    }
    decimal.append(point, point + precision, out);
}

fn exponential(mut decimal: Decimal, precision: usize, alternate: bool, out: &mut Vec<u8>) {
    let precision = precision as i64;
    decimal.round(precision + 1);
    decimal.append(0, 1, out);
    if precision > 0 || alternate {
        out.push(b'.');
    }
    decimal.append(1, 1 + precision, out);
    exponent(b'e', decimal.exponent(), 2, out);
}

/// Appends the digits of `%g`. C99's rule, with P digits and the exponent X that `%e` would show:
/// like `%f` if P > X ≥ -4, otherwise like `%e`. Trailing zeros are removed, unless the flag asks
/// for them. In one case glibc removes them all the same: when only rounding raises X to P, as for
/// `%#.2g` of 99.5, which is `1.e+02`.
fn general(mut decimal: Decimal, precision: usize, alternate: bool, out: &mut Vec<u8>) {
    let wanted = precision.max(1) as i64;
    let lifted_from = decimal.exponent();
    decimal.round(wanted);
    let exponent = decimal.exponent();
    let lifted = exponent == wanted && lifted_from < wanted;
    let digits = if alternate && !lifted {
        wanted
    } else {
        decimal.len().max(1) as i64
    };
    if (-4..wanted).contains(&exponent) {
        let behind = (digits - 1 - exponent).max(0);
        fixed(decimal, behind as usize, alternate, out);
    } else {
        exponential(decimal, (digits - 1) as usize, alternate, out);
    }
}

/// Appends the digits of `%a`. The digit before the point is 1 or 0 for a `double`, and the highest
/// four bits of a `long double`.
fn hex(mut significand: u64, mut power: i32, digits: u32, spec: &Spec, out: &mut Vec<u8>) {
    // The exponent that is shown belongs to the digit before the point.
    power += 4 * digits as i32;
    if significand == 0 {
        power = 0;
    }
    let (shown, precision) = match spec.precision {
        None => {
            let zeros = (significand.trailing_zeros() / 4).min(digits);
            (digits - zeros, (digits - zeros) as usize)
        }
        Some(precision) => (digits.min(precision as u32), precision),
    };
    let dropped = 4 * (digits - shown);
    // 128 bits, because rounding up may add a digit to those of a `long double`.
    let mut kept = u128::from(significand) >> dropped;
    let rest = u128::from(significand) - (kept << dropped);
    let half = (1 << dropped) >> 1;
    if rest > half || (rest == half && dropped > 0 && kept % 2 == 1) {
        kept += 1;
    }
    if kept >> (4 * shown) > 0xf {
        kept >>= 4;
        power += 4;
    }
    significand = kept as u64;

    let nibble = |value: u64| b"0123456789abcdef"[(value & 0xf) as usize];
    out.push(nibble(significand >> (4 * shown)));
    if precision > 0 || spec.flags.alternate {
        out.push(b'.');
    }
    out.extend((0..shown).rev().map(|at| nibble(significand >> (4 * at))));
    field::fill(out, b'0', precision - shown as usize);
    exponent(b'p', power.into(), 1, out);
}

fn exponent(letter: u8, exponent: i64, digits: usize, out: &mut Vec<u8>) {
    out.push(letter);
    let style = super::parse::IntegerStyle::Signed;
    let mut spec = Spec {
        precision: Some(digits),
        ..Spec::default()
    };
    spec.flags.plus = true;
    super::integer::append(
        exponent as u64,
        super::parse::IntegerSize::Long,
        style,
        &spec,
        out,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both ways; whether there are two.
    fn agree(significand: u64, exponent: i32, form: FloatForm, precision: usize) -> bool {
        let style = FloatStyle { form, upper: false };
        let spec = Spec {
            precision: Some(precision),
            ..Spec::default()
        };
        let Some(short) = Short::of(significand, exponent, style, &spec) else {
            return false;
        };
        let mut exact = Vec::new();
        let decimal = Decimal::exact(significand, exponent);
        match form {
            FloatForm::General => general(decimal, precision, false, &mut exact),
            _ => fixed(decimal, precision, false, &mut exact),
        }
        let exact = String::from_utf8(exact).expect("digits");
        let mut room = [0; Short::LONGEST];
        let short = String::from_utf8_lossy(short.text(&mut room)).into_owned();
        assert_eq!(short, exact, "{significand} * 2^{exponent}, {precision}");
        true
    }

    #[test]
    fn numbers_as_programs_print_them_are_short() {
        for value in [
            0.0, 1.0, 0.5, 2.5, 99.5, 999_999.5, 0.096, 0.000_123, 428_571.29, 1e15,
        ] {
            let bits = f64::to_bits(value);
            let significand = bits & ((1 << 52) - 1) | u64::from(bits != 0) << 52;
            let exponent = (bits >> 52).max(1) as i32 - 1075;
            for precision in [0, 1, 2, 6] {
                let is_short = agree(significand, exponent, FloatForm::Fixed, precision);
                assert!(is_short || value == 1e15, "{value} {precision}");
            }
            let is_short = agree(significand, exponent, FloatForm::General, 6);
            assert!(
                is_short || [0.0, 999_999.5, 1e15].contains(&value),
                "{value}"
            );
        }
    }

    proptest! {
        #[test]
        fn short_decimals_agree_with_exact_ones(
            significand: u64,
            shift in 0..64u32,
            exponent in -140..5i32,
            precision in 0..12usize,
        ) {
            for form in [FloatForm::Fixed, FloatForm::General] {
                agree(significand >> shift, exponent, form, precision);
            }
        }

        #[test]
        fn halves_go_to_the_even_digit(number in 0..4_000_000u64, exponent in -12..=0) {
            for precision in 0..4 {
                agree(number, exponent, FloatForm::Fixed, precision);
                agree(number, exponent, FloatForm::General, precision);
            }
        }
    }
}
