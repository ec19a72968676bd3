//! Reads and writes the times of a log: seconds with decimals.

use super::error::Flaw;

const SECOND: i64 = 1_000_000_000;

/// The most seconds, before or since 1970: nanoseconds of these still fit.
const MOST: i64 = 9_000_000_000;

/// How much of a field an error shows.
const SHOWN: usize = 40;

/// Nanoseconds of a number of seconds: exact for plain decimals, of which nine are read.
pub fn parse(field: &'static str, text: &str) -> Result<i64, Flaw> {
    let nanos = decimal(text).or_else(|| scientific(text));
    nanos.ok_or_else(|| Flaw::Seconds {
        field,
        found: text.chars().take(SHOWN).collect(),
    })
}

fn decimal(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !plain(whole) || !plain(fraction) {
        return None;
    }
    let seconds = match whole {
        "" => 0,
        whole => whole
            .parse::<i64>()
            .ok()
            .filter(|&seconds| seconds <= MOST)?,
    };
    let mut nanos = 0;
    for place in 0..9 {
        let digit = fraction
            .as_bytes()
            .get(place)
            .map_or(0, |digit| digit - b'0');
        nanos = nanos * 10 + i64::from(digit);
    }
    let nanos = seconds * SECOND + nanos;
    Some(if negative { -nanos } else { nanos })
}

/// As Java writes small and large numbers: 1.5E9.
fn scientific(text: &str) -> Option<i64> {
    let seconds = text.parse::<f64>().ok()?;
    let fits = seconds.abs() <= MOST as f64; // Not for one that is no number.
    fits.then(|| (seconds * SECOND as f64).round() as i64)
}

/// Seconds with three decimals, rounded.
pub fn format(nanos: i64) -> String {
    let millis = (nanos.unsigned_abs() + 500_000) / 1_000_000;
    let sign = if nanos < 0 && millis > 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", millis / 1000, millis % 1000)
}

/// A number with so many decimals, rounded as Java does: half up, from its shortest digits.
pub fn fixed(number: f64, decimals: usize) -> String {
    let shortest = number.abs().to_string();
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    if fraction.len() <= decimals || !number.is_finite() {
        return format!("{number:.decimals$}");
    }
    let mut digits: Vec<u8> = whole.bytes().chain(fraction[..decimals].bytes()).collect();
    if fraction.as_bytes()[decimals] >= b'5' {
        let mut carry = true;
        for digit in digits.iter_mut().rev() {
            carry = *digit == b'9';
            *digit = if carry { b'0' } else { *digit + 1 };
            if !carry {
                break;
            }
        }
        if carry {
            digits.insert(0, b'1');
        }
    }
    let mut text: String = digits.iter().map(|&digit| char::from(digit)).collect();
    if decimals > 0 {
        text.insert(text.len() - decimals, '.');
    }
    if number < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds_are_read_exactly() {
        for (text, nanos) in [
            ("0", 0),
            ("1500000040.123", 1_500_000_040_123_000_000),
            ("1500000040.123456789123", 1_500_000_040_123_456_789),
            ("-0.5", -500_000_000),
            (".25", 250_000_000),
            ("7.", 7_000_000_000),
            ("+3", 3_000_000_000),
            ("1.5E9", 1_500_000_000_000_000_000),
            ("2e-3", 2_000_000),
        ] {
            assert_eq!(parse("a start", text), Ok(nanos), "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            "x",
            "1,5",
            "NaN",
            "inf",
            "1e300",
            "9999999999999",
            "1.x",
        ] {
            assert!(parse("a start", text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_rounded_half_up_from_their_shortest_digits() {
        for (number, decimals, text) in [
            (0.0045, 3, "0.005"),
            (0.0005, 3, "0.001"),
            (9.9995, 3, "10.000"),
            (-9.9995, 3, "-10.000"),
            (1.25, 1, "1.3"),
            (1.0, 3, "1.000"),
            (0.00449, 3, "0.004"),
            (1e18, 2, "1000000000000000000.00"),
            (2.5, 0, "3"),
        ] {
            assert_eq!(fixed(number, decimals), text, "{number}");
        }
    }

    proptest! {
        #[test]
        fn whole_milliseconds_come_back(millis in -9_000_000_000_000_i64..9_000_000_000_000) {
            let nanos = millis * 1_000_000;
            prop_assert_eq!(parse("a start", &format(nanos)), Ok(nanos));
        }

        #[test]
        fn any_text_is_a_number_or_an_error(text in ".{0,30}") {
            let _ = parse("a start", &text);
        }

        #[test]
        fn rounding_is_off_by_half_a_unit_at_most(number in -1e9_f64..1e9) {
            let rounded: f64 = fixed(number, 3).parse().unwrap();
            prop_assert!((rounded - number).abs() <= 0.000_500_1);
        }
    }
}
