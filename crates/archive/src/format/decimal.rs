//! Makes whole numbers of doubles that have few decimal places, and doubles of those.
//!
//! A double that was read from `12.25`, or computed as 1225 / 100, is the one nearest to 12.25.
//! So 1225 and the power 2 stand for it. This is the main idea of ALP (Afroozeh, Kuffo, Boncz:
//! "ALP: Adaptive Lossless floating-Point Compression", SIGMOD 2023).

/// The highest power of ten.
pub const MOST_POWER: usize = 15;

const POWERS: [f64; MOST_POWER + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// The double that a number stands for with this power.
#[inline]
pub fn double(number: i64, power: usize) -> f64 {
    number as f64 / POWERS[power]
}

/// The number that stands for exactly this double, down to the sign of zero. `None` if none does.
#[inline]
pub fn number(value: f64, power: usize) -> Option<i64> {
    /// A sum with it is rounded to a whole number, which is then the lowest bits of the sum.
    const ROUND: f64 = (3_u64 << 51) as f64;
    let sum = value * POWERS[power] + ROUND;
    let number = sum.to_bits().wrapping_sub(ROUND.to_bits()) as i64;
    // Of larger values, infinity and NaN, these bits are no such number. This finds them, and -0.
    (double(number, power).to_bits() == value.to_bits()).then_some(number)
}

/// The least power with which a number stands for this double.
pub fn power(value: f64) -> Option<usize> {
    (0..=MOST_POWER).find(|power| number(value, *power).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_decimal_places_are_few_digits() {
        let of = |value| power(value).map(|power| (number(value, power).unwrap(), power));
        assert_eq!(of(12.25), Some((1225, 2)));
        assert_eq!(of(0.1), Some((1, 1)));
        assert_eq!(of(-1e15), Some((-1_000_000_000_000_000, 0)));
        assert_eq!(of(0.0), Some((0, 0)));
        assert_eq!(of(1e-15), Some((1, 15)));
        let others = [
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::MIN_POSITIVE,
            1.0 / 3.0,
            1e16,
            f64::MAX,
        ];
        others
            .iter()
            .for_each(|value| assert_eq!(of(*value), None, "{value}"));
    }

    proptest! {
        #[test]
        fn a_number_stands_for_its_double(
            digits in -(1_i64 << 50)..1 << 50,
            bits: u64,
            power in 0..=MOST_POWER,
        ) {
            let text = format!("{digits}e-{power}");
            let value: f64 = text.parse().unwrap();
            let found = number(value, power);
            prop_assert_eq!(found.is_some(), (digits, value.to_bits()) != (0, 1 << 63), "{}", text);
            let any = f64::from_bits(bits);
            for value in [value, any] {
                if let Some(number) = number(value, power) {
                    prop_assert_eq!(double(number, power).to_bits(), value.to_bits());
                }
            }
        }
    }
}
