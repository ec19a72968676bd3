//! Every conversion with every flag, width, precision and length of C99, for values at the edges.

use super::oracle::{Argument, Call, agree};

const INTEGER_LENGTHS: [&str; 8] = ["", "hh", "h", "l", "ll", "j", "z", "t"];

const INTEGERS: [u64; 25] = [
    0,
    1,
    7,
    8,
    9,
    10,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    99_999,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    // Of these an `int` sees the lower half only.
    0x1_0000_0000,
    0xdead_beef_0000_0001,
    1_000_000_000_000_000_000,
    i64::MAX as u64,
    i64::MIN as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// All combinations of flags, and the one that does nothing in the C locale.
fn flags() -> impl Iterator<Item = String> {
    let combinations = (0..32).map(|set| {
        let flags = "-+ #0".chars().enumerate();
        let chosen = flags.filter(|(bit, _)| set >> bit & 1 == 1);
        chosen.map(|(_, flag)| flag).collect()
    });
    combinations.chain(["'".into(), "0'+".into()])
}

/// Widths and precisions, constant and passed, each with the arguments that go before the value.
fn widths() -> impl Iterator<Item = (&'static str, Option<i32>)> {
    ["", "1", "5", "12", "40"]
        .map(|width| (width, None))
        .into_iter()
        .chain([0, 9, 30, -1, -9, -30].map(|width| ("*", Some(width))))
}

fn precisions() -> impl Iterator<Item = (&'static str, Option<i32>)> {
    ["", ".", ".0", ".1", ".2", ".5", ".6", ".17", ".30"]
        .map(|precision| (precision, None))
        .into_iter()
        .chain([0, 3, 20, -1, i32::MIN].map(|precision| (".*", Some(precision))))
}

fn number(value: i32) -> Argument {
    // What a register holds above an `int` is anything.
    Argument::Bits(u64::from(value as u32) | 0x5555_5555 << 32)
}

/// Each combination of flags, width and precision with some of the values, and each value with some
/// of them.
fn combinations(conversion: &str, values: &[Argument]) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut values = values.iter().cycle();
    for flags in flags() {
        for (width, passed_width) in widths() {
            for (precision, passed_precision) in precisions() {
                let passed = [passed_width, passed_precision].into_iter().flatten();
                let mut arguments: Vec<_> = passed.map(number).collect();
                arguments.extend(values.next().cloned());
                calls.push(Call {
                    format: format!("<%{flags}{width}{precision}{conversion}>"),
                    arguments,
                });
            }
        }
    }
    calls
}

fn bits(values: impl IntoIterator<Item = u64>) -> Vec<Argument> {
    values.into_iter().map(Argument::Bits).collect()
}

#[test]
fn integers() {
    for length in INTEGER_LENGTHS {
        for letter in ["d", "i", "u", "o", "x", "X"] {
            agree(&combinations(&format!("{length}{letter}"), &bits(INTEGERS)));
        }
    }
}

#[test]
fn each_integer_of_each_length() {
    let mut calls = Vec::new();
    for length in INTEGER_LENGTHS {
        for letter in [
            "d", "i", "u", "o", "x", "X", "#o", "#x", "+.0d", "#.0o", "08X",
        ] {
            let (flags, letter) = letter.split_at(letter.len() - 1);
            calls.extend(INTEGERS.map(|value| Call {
                format: format!("%{flags}{length}{letter}"),
                arguments: vec![Argument::Bits(value)],
            }));
        }
    }
    agree(&calls);
}

#[test]
fn pointers_and_characters() {
    agree(&combinations(
        "p",
        &bits([0, 1, 0x7fff_dead_beef, u64::MAX]),
    ));
    agree(&combinations(
        "c",
        &bits([0, b'a'.into(), 0xe4, 0x1_4100 + 66, u64::MAX]),
    ));
    let wide = ['a', '\0', '~', 'ä', 'ß', '€', '\u{fffd}', '𝄞', '\u{10ffff}'];
    for conversion in ["lc", "C"] {
        agree(&combinations(
            conversion,
            &bits(wide.map(|c| u32::from(c).into())),
        ));
    }
}

#[test]
fn strings() {
    let long = vec![b'y'; 300];
    let texts = [
        &b""[..],
        b"a",
        b"hello",
        b"h\xe4ll\xf6",
        "ä€𝄞".as_bytes(),
        &long,
    ];
    let mut values: Vec<_> = texts.map(|text| Argument::Text(text.to_vec())).into();
    values.push(Argument::Bits(0));
    agree(&combinations("s", &values));

    let texts = ["", "a", "hello", "ä€𝄞", "€€€€€€€€€€", "aäa€a𝄞a\u{10ffff}"];
    let mut values: Vec<_> = texts
        .map(|text| Argument::Wide(text.chars().collect()))
        .into();
    values.push(Argument::Bits(0));
    for conversion in ["ls", "S"] {
        agree(&combinations(conversion, &values));
    }
}

#[test]
fn stored_counts_show_nothing() {
    let mut calls = Vec::new();
    for length in INTEGER_LENGTHS {
        calls.push(Call {
            format: format!("a%{length}nb%d"),
            arguments: vec![Argument::Place, Argument::Bits(3)],
        });
    }
    agree(&calls);
}

fn doubles() -> Vec<Argument> {
    let mut values = vec![
        0.0,
        1.0,
        1.5,
        2.5,
        0.5,
        0.25,
        0.125,
        0.1,
        0.2,
        0.3,
        1.0 / 3.0,
        9.5,
        9.995,
        9.9999995,
        99.5,
        999_999.5,
        0.0001,
        0.00001,
        0.000_099_999_95,
        123_456.0,
        1_234_567.0,
        1e5,
        1e6,
        1e15,
        1e16,
        1e17,
        1e21,
        1e22,
        1e23,
        1e100,
        1.797e308,
        1e-100,
        6.02e23,
        4.35,
        1.005,
        1.45,
        2.675,
        1.055,
        8.5,
        1e-310,
        0.999_999_999_999_999_9,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        f64::INFINITY,
        f64::NAN,
        5e-324,
        4_503_599_627_370_497.5,
        std::f64::consts::PI,
        1.937_5,
        1.968_75,
        1.031_25,
        1.999_999_999,
    ];
    values.extend([
        f64::from_bits(0x000f_ffff_ffff_ffff),
        f64::from_bits(0x0008_0000_0000_0000),
        f64::from_bits(0x000f_8000_0000_0000),
        f64::from_bits(0x3fff_ffff_ffff_ffff),
        f64::from_bits(0x7ff0_0000_0000_0001),
    ]);
    let negative: Vec<_> = values.iter().map(|value| -value).collect();
    values.extend(negative);
    bits(values.into_iter().map(f64::to_bits))
}

/// Some of these the processor takes for no number. Those of thousands of digits take their time;
/// of them, a few.
fn long_doubles() -> Vec<Argument> {
    const EXPONENTS: [u16; 14] = [
        16000, 16319, 16368, 16382, 16383, 16384, 16386, 16390, 16446, 16447, 16448, 16600, 17000,
        32767,
    ];
    const SIGNIFICANDS: [u64; 12] = [
        0,
        1,
        1 << 62,
        1 << 63,
        1 << 63 | 1,
        0xa000_0000_0000_0000,
        0xc90f_daa2_2168_c235,
        0xf800_0000_0000_0000,
        0xff80_0000_0000_0000,
        0xfffc_0000_0000_0000,
        0x8888_8888_8888_8888,
        u64::MAX,
    ];
    let extreme = [
        (0, 0),
        (0, 1),
        (0, 1 << 62),
        (0, u64::MAX >> 1),
        (1, 1 << 63),
        (1, u64::MAX),
        (2, 0xc90f_daa2_2168_c235),
        (32766, 1 << 63),
        (32766, u64::MAX),
    ];
    let numbers = EXPONENTS.map(|exponent| SIGNIFICANDS.map(|digits| (exponent, digits)));
    let numbers = numbers.into_iter().flatten().chain(extreme);
    // One number of three is negative.
    let signs = [0, 0, 0x8000].into_iter().cycle();
    let numbers = numbers.zip(signs);
    numbers
        .map(|((exponent, digits), sign)| long_double(exponent | sign, digits))
        .collect()
}

pub fn long_double(sign_and_exponent: u16, significand: u64) -> Argument {
    let bits = u128::from(sign_and_exponent) << 64 | u128::from(significand);
    Argument::LongDouble(bits.to_le_bytes())
}

#[test]
fn floating_point() {
    for letter in ["e", "E", "f", "F", "g", "G", "a", "A"] {
        agree(&combinations(letter, &doubles()));
        agree(&combinations(&format!("l{letter}"), &doubles()));
        // With numbers of thousands of digits among them, fewer.
        let calls = combinations(&format!("L{letter}"), &long_doubles());
        let calls: Vec<_> = calls.into_iter().step_by(5).collect();
        agree(&calls);
    }
}

#[test]
fn each_floating_point_number_with_each_precision() {
    let mut calls = Vec::new();
    for letter in ["e", "f", "g", "#g", "a", "A"] {
        let (flags, letter) = letter.split_at(letter.len() - 1);
        for precision in (0..20)
            .chain([40, 400])
            .map(|precision| format!(".{precision}"))
            .chain(["".into()])
        {
            calls.extend(doubles().into_iter().map(|value| Call {
                format: format!("%{flags}{precision}{letter}"),
                arguments: vec![value],
            }));
        }
        for precision in ["", ".0", ".1", ".3", ".14", ".15", ".16", ".21"] {
            calls.extend(long_doubles().into_iter().map(|value| Call {
                format: format!("%{flags}{precision}L{letter}"),
                arguments: vec![value],
            }));
        }
    }
    agree(&calls);
}

/// All digits, the point at each place, and each place rounded to.
#[test]
fn numbers_are_exact_to_the_last_digit() {
    let mut calls = Vec::new();
    for value in [5e-324, f64::MAX, 0.1, 2.225_073_858_507_201e-308, 1e23] {
        for precision in (0..1100).step_by(7) {
            for letter in ["e", "f", "g"] {
                calls.push(Call {
                    format: format!("%.{precision}{letter}"),
                    arguments: vec![Argument::Bits(f64::to_bits(value))],
                });
            }
        }
    }
    for (high, low) in [(0, 1), (0x7ffe, u64::MAX), (16383 - 300, u64::MAX)] {
        for format in ["%.4096Le", "%.4096Lf", "%.4096Lg", "%4096.4095Lf"] {
            calls.push(Call {
                format: format.into(),
                arguments: vec![long_double(high, low)],
            });
        }
    }
    agree(&calls);
}

#[test]
fn texts_between_and_around() {
    let formats = [
        "",
        "plain",
        "100%%",
        "%%%%",
        "%%%d%%%%%s%%",
        "größe %d: %s.\n",
        "%d%s%%d",
    ];
    let arguments = |format: &str| {
        let taken = format.replace("%%", "");
        let conversions = taken.matches('%').count();
        let both = [Argument::Bits(42), Argument::Text(b"text".to_vec())];
        both.into_iter().take(conversions).collect()
    };
    let calls = formats.map(|format| Call {
        format: format.into(),
        arguments: arguments(format),
    });
    agree(&calls);
}

/// Sixteen numbers of each kind in turns: what is taken goes to the conversion that it belongs to.
#[test]
fn many_arguments_go_where_they_belong() {
    let mut call = Call {
        format: String::new(),
        arguments: Vec::new(),
    };
    for turn in 0..8_u8 {
        call.format += "%d %Lg %s %g|";
        call.arguments.extend([
            Argument::Bits(turn.into()),
            long_double(16383 + u16::from(turn), 0xc000_0000_0000_0000),
            Argument::Text(vec![b'a' + turn]),
            Argument::Bits(f64::from(turn).to_bits()),
        ]);
    }
    agree(&[call]);
}
