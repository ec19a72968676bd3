//! Any format with any values: the C library's text and ours.

use proptest::prelude::*;

use super::conformance::long_double;
use super::oracle::{Argument, Call, agree, compare};
use timeline::internal::Format;

/// Digits of widths and precisions that are not bounded.
const LONGEST_NUMBER: usize = 3;

/// A directive as the standards have it, with its arguments.
fn directive() -> impl Strategy<Value = (String, Vec<Argument>)> {
    let amount = prop_oneof![
        3 => Just((String::new(), None)),
        3 => (0..60_u32).prop_map(|width| (width.to_string(), None)),
        1 => (-60..60_i32).prop_map(|width| ("*".to_owned(), Some(width))),
    ];
    let precision = prop_oneof![
        Just((String::new(), None)),
        amount
            .clone()
            .prop_map(|(text, passed)| (format!(".{text}"), passed)),
    ];
    ("[-+ #0']{0,3}", amount, precision, value()).prop_map(
        |(flags, (width, passed_width), (precision, passed_precision), (conversion, value))| {
            // A width that is a constant may not look like a flag.
            let width = width.trim_start_matches('0');
            let passed = [passed_width, passed_precision].into_iter().flatten();
            let passed = passed.map(|number| Argument::Bits(number as u64));
            let arguments = passed.chain([value]).collect();
            (format!("%{flags}{width}{precision}{conversion}"), arguments)
        },
    )
}

/// A conversion with its length, and what it takes.
fn value() -> impl Strategy<Value = (String, Argument)> {
    prop_oneof![
        4 => ("(|hh|h|l|ll|j|z|t)[diouxX]", any_bits())
            .prop_map(|(c, bits)| (c, Argument::Bits(bits))),
        4 => ("l?[eEfFgGaA]", any_double()).prop_map(|(c, bits)| (c, Argument::Bits(bits))),
        3 => ("L[eEfFgGaA]", any_long_double()),
        1 => ("c|p", any_bits()).prop_map(|(c, bits)| (c, Argument::Bits(bits))),
        1 => ("lc|C", any::<char>())
            .prop_map(|(c, wide)| (c, Argument::Bits(u32::from(wide).into()))),
        2 => (Just("s".to_owned()), any_text()),
        2 => ("ls|S", prop::collection::vec(any::<char>(), 0..30))
            .prop_map(|(c, text)| {
                let text = text.into_iter().filter(|c| *c != '\0').collect();
                (c, Argument::Wide(text))
            }),
        1 => ("(|hh|h|l|ll|j|z|t)n", Just(Argument::Place)),
    ]
}

fn any_text() -> impl Strategy<Value = Argument> {
    prop::collection::vec(1..=255_u8, 0..80).prop_map(Argument::Text)
}

/// All magnitudes alike, and what is next to them.
fn any_bits() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32, any::<bool>()).prop_map(|(bits, shift, negative)| {
        let bits = bits >> shift;
        if negative { bits.wrapping_neg() } else { bits }
    })
}

/// Any bits, decimal fractions as people write them, and what lies between two of them.
fn any_double() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (any_bits(), -30..10_i32).prop_map(|(digits, exponent)| {
            let text = format!("{}e{exponent}", digits as i64);
            text.parse::<f64>().expect("a number").to_bits()
        }),
        (-2000..2000_i32, 0..20_i32)
            .prop_map(|(digits, places)| { (f64::from(digits) * 2_f64.powi(-places)).to_bits() }),
    ]
}

fn any_long_double() -> impl Strategy<Value = Argument> {
    let near_one = 16383 - 100..16383 + 100_u16;
    let exponent = prop_oneof![30 => near_one, 1 => any::<u16>()];
    // As the processor makes them: with the highest bit, and then no exponent of 0, or with
    // neither.
    (exponent, any::<u64>(), 0..64_u32).prop_map(|(exponent, digits, shift)| {
        long_double(exponent.max(1), (digits << shift) | 1 << 63)
    })
}

fn call() -> impl Strategy<Value = Call> {
    let literal = "([a-z ä€]|%%){0,4}";
    prop::collection::vec((literal, directive()), 0..8).prop_map(|parts| {
        let mut call = Call {
            format: String::new(),
            arguments: Vec::new(),
        };
        for (literal, (directive, arguments)) in parts {
            call.format += &literal;
            call.format += &directive;
            call.arguments.extend(arguments);
        }
        call
    })
}

/// Characters of formats in any order: most of that is refused, and the rest must agree.
fn senseless() -> impl Strategy<Value = Call> {
    let format = prop::collection::vec(
        prop_oneof![
            4 => Just("%".to_owned()),
            6 => "[-+ #0'.*123hlLjzt]",
            4 => "[diouxXcsSCpneEfFgGaA]",
            1 => "[$mb%yI ]",
        ],
        0..12,
    );
    let format = format.prop_map(|parts| parts.concat());
    (
        format,
        prop::collection::vec(
            (any_bits(), any_double(), any_text(), any_long_double()),
            16,
        ),
    )
        .prop_map(|(format, pool)| {
            let long = |c: char| !c.is_ascii_digit();
            let too_long = format
                .split(long)
                .any(|digits| digits.len() > LONGEST_NUMBER);
            let types = Format::parse(&format).types().unwrap_or_default();
            if too_long || types.len() > pool.len() {
                return Call {
                    format: String::new(),
                    arguments: Vec::new(),
                };
            }
            // Of the stars, a width comes before a precision; small for both.
            let arguments = types
                .iter()
                .zip(pool)
                .map(|(kind, (bits, double, text, long))| match *kind as u8 {
                    b'd' => Argument::Bits(double),
                    b'D' => long,
                    b's' | b'S' => text,
                    b'w' | b'W' => Argument::Wide(vec!['ä', '€', 'a']),
                    b'n' => Argument::Place,
                    b'i' => Argument::Bits((bits as i64 % 100) as u64),
                    b'u' => Argument::Bits(bits % 0xd800),
                    _ => Argument::Bits(bits),
                });
            let arguments = arguments.collect();
            if types.is_empty() {
                return Call {
                    format: format.replace('%', ""),
                    arguments,
                };
            }
            Call { format, arguments }
        })
}

proptest! {
    // Each case is a few hundred calls, and one run of the C program.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_call_agrees(calls in prop::collection::vec(call(), 1..200)) {
        if let Err(differences) = compare(&calls) {
            prop_assert!(false, "{}", differences);
        }
    }

    #[test]
    fn any_characters_that_are_taken_apart_agree(
        calls in prop::collection::vec(senseless(), 1..150),
    ) {
        if let Err(differences) = compare(&calls) {
            prop_assert!(false, "{}", differences);
        }
    }
}

/// Every exponent of a `double`, rounded to different places.
#[test]
fn every_exponent_agrees() {
    let mut calls = Vec::new();
    for exponent in 0..0x7ff_u64 {
        let digits = exponent.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12;
        for letter in ["e", "f", "g", "a"] {
            calls.push(Call {
                format: format!("%.{}{letter}", exponent % 23),
                arguments: vec![Argument::Bits(exponent << 52 | digits)],
            });
        }
    }
    agree(&calls);
}
