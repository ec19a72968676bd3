//! Formats and payloads that belong to nobody's call, values of the wrong kind, and none at all.

use proptest::prelude::*;
use timeline::Value;
use timeline::internal::{Format, values};

fn render(format: &str, values: &[Value]) -> String {
    let mut text = Vec::new();
    Format::parse(format).render(values.iter().cloned(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn text(bytes: &[u8]) -> Value<'_> {
    Value::Text { bytes, cut: false }
}

fn cut(bytes: &[u8]) -> Value<'_> {
    Value::Text { bytes, cut: true }
}

#[test]
fn what_is_not_there_shows_as_such() {
    assert_eq!(render("%d of %s", &[Value::Int(3)]), "3 of ?");
    assert_eq!(render("%5d|%-5s|%f", &[]), "?|?|?");
    assert_eq!(render("%*d", &[Value::Int(3)]), "?");
    assert_eq!(render("%.*s", &[]), "?");
    assert_eq!(render("%n", &[]), "");
    // And what is there too often, not at all.
    assert_eq!(render("%d", &[Value::Int(3), Value::Int(4)]), "3");
}

#[test]
fn a_value_of_another_kind_shows_as_what_it_is() {
    let mut one = [0; 16];
    one[7..10].copy_from_slice(&[0x80, 0xff, 0x3f]);
    let one = Value::LongDouble(one);
    let half = Value::Float(0.5);
    for (format, value, expected) in [
        ("%d", text(b"word"), "word"),
        ("%7.2x|", text(b"word"), "   word|"),
        ("%-7c|", text(b"word"), "word   |"),
        ("%p", text(b"word"), "word"),
        ("%.1f", text(b"word"), "word"),
        ("%lc", text(b"word"), "word"),
        ("%d", half.clone(), "0.5"),
        ("%.1s", half.clone(), "0.5"),
        ("%p", half.clone(), "0.5"),
        ("%5c|", half.clone(), "  0.5|"),
        ("%.2Lf", half, "0.50"),
        ("%.2f", one.clone(), "1.00"),
        ("%ld", one, "1"),
        ("%s", Value::Int(-3), "-3"),
        ("%5s|", Value::Uint(u64::MAX), "18446744073709551615|"),
        ("%f", Value::Int(-3), "-3"),
        ("%La", Value::Uint(3), "3"),
        ("%f", Value::Nil, "(null)"),
        ("%d", Value::Nil, "(null)"),
        // Integers are what the conversion makes of them, however they were packed.
        ("%d", Value::Uint(u64::MAX), "-1"),
        ("%hhu", Value::Int(-1), "255"),
        ("%lu", Value::Int(-1), "18446744073709551615"),
        ("%p", Value::Int(0x1000), "0x1000"),
    ] {
        assert_eq!(render(format, &[value]), expected, "{format}");
    }
    // A width that is no number is none.
    assert_eq!(render("%*d", &[text(b"wide"), Value::Int(3)]), "3");
    assert_eq!(render("%.*s", &[Value::Nil, text(b"word")]), "");
}

#[test]
fn a_call_stack_is_no_argument() {
    let stack = Value::Addresses(vec![0x1000, 0x2000]);
    assert_eq!(render("%d", &[stack.clone(), Value::Int(3)]), "3");
    assert_eq!(render("%d", &[stack]), "?");
}

#[test]
fn what_was_cut_is_marked() {
    assert_eq!(render("<%s>", &[cut(b"beginn")]), "<beginn…>");
    assert_eq!(render("<%.9s>", &[cut(b"beginn")]), "<beginn…>");
    // The precision ends it where it was cut, or before.
    assert_eq!(render("<%.6s>", &[cut(b"beginn")]), "<beginn>");
    assert_eq!(render("<%.5s>", &[cut(b"beginn")]), "<begin>");
    assert_eq!(render("<%12s>", &[cut(b"beginn")]), "<   beginn…>");
    assert_eq!(render("<%-12ls>", &[cut(b"beginn")]), "<beginn…   >");
    // No half characters; but what was no UTF-8 before stays as it is.
    assert_eq!(render("<%s>", &[cut(&"größe".as_bytes()[..3])]), "<gr…>");
    let mut latin = Vec::new();
    Format::parse("%s").render([cut(b"gr\xf6\xdfe")].into_iter(), &mut latin);
    assert_eq!(latin, b"gr\xf6\xdfe\xe2\x80\xa6");
}

#[test]
fn characters_that_unicode_does_not_know_are_replaced() {
    for code in [0xd800, 0xdfff, 0x11_0000, u32::MAX] {
        assert_eq!(
            render("<%5lc>", &[Value::Uint(code.into())]),
            "<  \u{fffd}>"
        );
    }
}

#[test]
fn widths_and_precisions_are_bounded() {
    let most = Format::LARGEST_FIELD as usize;
    let cut = most + "…".len();
    for whole in ["%4096d", "%-4096d", "%.4096d", "%04096d"] {
        let text = render(whole, &[Value::Int(3)]);
        assert!(text.len() == most && !text.contains('…'), "{whole}");
    }
    for format in [
        "%4097d",
        "%04097d",
        "%.4097d",
        "%-4097.4097d",
        "%2147483647d",
        "%99999999999999999999d",
        "%.2147483647d",
        "%-4294967297d",
    ] {
        let text = render(format, &[Value::Int(3)]);
        assert!(text.len() == cut && text.ends_with('…'), "{format}");
    }
    for whole in ["%.5000s", "%.5000f", "%.5000e", "%.5000g"] {
        let value = match whole.ends_with('s') {
            true => Value::Text {
                bytes: b"inf",
                cut: false,
            },
            false => Value::Float(f64::INFINITY),
        };
        assert_eq!(render(whole, &[value]), "inf", "{whole}");
    }
    assert_eq!(render("%.5000g", &[Value::Float(0.5)]), "0.5");
    for format in [
        "%.2147483647e",
        "%.2147483647f",
        "%#.2147483647g",
        "%.99999999999999a",
    ] {
        let text = render(format, &[Value::Float(1.5)]);
        assert!(text.ends_with('…'), "{format}");
        let length = text.len();
        assert!((cut..cut + 20).contains(&length), "{format}: {length}");
    }
    for width in [i32::MIN, i32::MIN + 1, -4097, 4097, i32::MAX] {
        let both = [Value::Int(width.into()), Value::Int(3)];
        assert_eq!(render("%*d", &both).len(), cut, "{width}");
    }
    let both = [Value::Int(i32::MAX.into()), Value::Int(3)];
    assert_eq!(render("%.*d", &both).len(), cut);
    let both = [Value::Int(i32::MIN.into()), Value::Int(3)];
    assert_eq!(render("%.*d", &both), "3");
}

/// Packed values, most of them whole.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        any::<i64>().prop_map(|value| packed(Value::Int(value))),
        any::<u64>().prop_map(|value| packed(Value::Uint(value))),
        any::<f64>().prop_map(|value| packed(Value::Float(value))),
        any::<[u8; 16]>().prop_map(|value| packed(Value::LongDouble(value))),
        (prop::collection::vec(any::<u8>(), 0..40), any::<bool>())
            .prop_map(|(bytes, cut)| packed(Value::Text { bytes: &bytes, cut })),
        Just(packed(Value::Nil)),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

fn packed(value: Value) -> Vec<u8> {
    let mut payload = Vec::new();
    value.encode(&mut payload);
    payload
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_format_and_no_payload_do_harm(
        format in prop_oneof!["([-+ #0'*.$0-9hlLjztqdiouxXcsSCpneEfFgGaAm%]|ä){0,60}", ".{0,40}"],
        payload in payload(),
    ) {
        let format = Format::parse(&format);
        let mut text = Vec::new();
        format.render(values(&payload), &mut text);
        // Numbers of a `long double`'s length, and beside them what was asked for.
        let field = 2 * Format::LARGEST_FIELD as usize + 5000;
        prop_assert!(text.len() <= payload.len() * 4 + 300 + Format::MOST_ARGUMENTS * field);
        if let Some(types) = format.types() {
            prop_assert!(types.len() <= Format::MOST_ARGUMENTS);
        }
    }
}
