//! Plans beside messages: none with a text is left out, and those are told that cannot have it.

use proptest::prelude::*;
use timeline::internal::{Format, ValueKind};
use timeline::{EventId, Layout, Priority, Value};
use timeline_archive::TimeForm;

use super::value_test::What;

use super::*;
use crate::Case;

fn definition(message: &str) -> Definition {
    Definition::new(EventId(1), "", Priority::Info, message)
}

fn value(kind: ValueKind, raw: u64) -> Value<'static> {
    match kind {
        ValueKind::Int => Value::Int(raw as i64),
        ValueKind::Uint => Value::Uint(raw),
        ValueKind::Float => Value::Float(f64::from_bits(raw)),
        ValueKind::LongDouble => Value::LongDouble([0; 16]),
        ValueKind::Text if raw.is_multiple_of(3) => Value::Nil,
        ValueKind::Text => Value::Text {
            bytes: if raw.is_multiple_of(2) {
                b"b(1) 7"
            } else {
                b""
            },
            cut: raw.is_multiple_of(5),
        },
    }
}

fn is_in(needle: &Needle, message: &str) -> bool {
    message.is_empty() && needle.is_in("") || message.lines().any(|line| needle.is_in(line))
}

/// Numbers of all sizes.
fn raw() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..12_u64,
        any::<u64>(),
        (0..6_u64).prop_map(|n| 0_u64.wrapping_sub(n))
    ]
}

const KINDS: [ValueKind; 5] = [
    ValueKind::Int,
    ValueKind::Uint,
    ValueKind::Float,
    ValueKind::LongDouble,
    ValueKind::Text,
];
const TYPES: [&str; 14] = [
    "", ":i8", ":u8", ":i32", ":u32", ":i64", ":u64", ":f32", ":f64", ":hex", ":bool", ":ns",
    ":ptr", ":str",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_message_with_a_text_is_left_out(
        texts in prop::collection::vec("[ab1 (){}AK\u{17f},.-]{0,3}", 4),
        names in prop::collection::vec("[ab]{1,2}[1_]?", 3),
        types in prop::collection::vec(prop::sample::select(&TYPES[..]), 3),
        values in prop::collection::vec((prop::sample::select(&KINDS[..]), raw()), 0..4),
        are_words: bool,
        from: prop::sample::Index,
        length in 0..12_usize,
        other in "[ab1(){}, ?-]{1,5}",
        insensitive: bool,
    ) {
        let fields = names.iter().zip(&types).map(|(name, kind)| format!("${name}{kind}"));
        let message: String = texts.iter().cloned().zip(fields.chain([String::new()]))
            .map(|(text, field)| text + &field).collect();
        let definition = definition(&message);
        let mut shown = String::new();
        let mut words = [0; 4];
        let form = match are_words {
            true => {
                let raw = values.iter().map(|(_, raw)| *raw as i64);
                words.iter_mut().zip(raw).for_each(|(word, raw)| *word = raw);
                definition.render(&words, &mut shown).unwrap();
                ShapeValues::Words(values.len())
            }
            false => {
                let all = values.iter().map(|(kind, raw)| value(*kind, *raw));
                definition.render_values(all, &mut shown).unwrap();
                ShapeValues::Kinds(values.iter().map(|(kind, _)| *kind).collect())
            }
        };
        let chars: Vec<char> = shown.chars().collect();
        let from = from.index(chars.len() + 1);
        let part: String = chars[from..].iter().take(length).collect();
        let case = if insensitive { Case::Insensitive } else { Case::Sensitive };
        let held = |column: TextColumn| {
            let value = values.get(column.position());
            value.map(|(_, raw)| EventValue::Raw(*raw))
        };
        for text in [part.clone(), part.to_uppercase(), other] {
            let needle = Needle::text(&text, case).unwrap();
            let plan = TextPlan::new(std::slice::from_ref(&needle), &definition, &form);
            if is_in(&needle, &shown) {
                prop_assert!(plan.may_be(held), "{text} {shown} {plan:?}");
            }
        }
    }
}

/// Bytes of texts that a program gave to printf.
const GIVEN: [&[u8]; 7] = [
    b"",
    b"b1 7",
    b"K\xc5\xbf ab",
    b"\xbfa",
    b"A7\xc5",
    b"\xff1",
    "gr\u{f6}\u{df}e \u{212a}".as_bytes(),
];

/// Times that a log has.
const TIMED: [&str; 3] = ["%Y-%m-%d %H:%M", "%b %e", "%k.%3f"];

/// A value of an event with a format of printf.
#[derive(Debug, Clone)]
enum TestValue {
    Number(ValueKind, u64),
    Text(Option<usize>, bool),
    Time(usize, u64),
}

fn given() -> impl Strategy<Value = TestValue> {
    let kinds = prop::sample::select(&KINDS[..4]);
    prop_oneof![
        3 => (kinds, raw()).prop_map(|(kind, raw)| TestValue::Number(kind, raw)),
        3 => (prop::option::weighted(0.9, 0..GIVEN.len()), prop::bool::weighted(0.1))
            .prop_map(|(text, cut)| TestValue::Text(text, cut)),
        1 => (0..TIMED.len(), 0..u64::MAX / 4).prop_map(|(form, time)| TestValue::Time(form, time)),
    ]
}

impl TestValue {
    fn kind(&self) -> ValueKind {
        match self {
            TestValue::Number(kind, _) => *kind,
            _ => ValueKind::Text,
        }
    }

    fn value<'v>(&self, form: &TimeForm, time: &'v mut Vec<u8>) -> Value<'v> {
        match self {
            TestValue::Number(kind, raw) => value(*kind, *raw),
            TestValue::Text(None, _) => Value::Nil,
            TestValue::Text(Some(text), cut) => Value::Text {
                bytes: GIVEN[*text],
                cut: *cut,
            },
            TestValue::Time(_, nanos) => {
                form.write(*nanos, time);
                Value::Text {
                    bytes: time,
                    cut: false,
                }
            }
        }
    }

    fn form(&self) -> TimeForm {
        let form = match self {
            TestValue::Time(form, _) => *form,
            _ => 0,
        };
        TimeForm::new(TIMED[form], 0).unwrap()
    }

    fn held<'v>(&self, form: &'v TimeForm) -> EventValue<'v> {
        match self {
            TestValue::Number(_, raw) => EventValue::Raw(*raw),
            TestValue::Text(None, _) => EventValue::Text(b"(null)", false),
            TestValue::Text(Some(text), cut) => EventValue::Text(GIVEN[*text], *cut),
            TestValue::Time(_, nanos) => EventValue::Time(form, *nanos),
        }
    }
}

/// Directives, most of which are shown as a whole number or a text is.
const DIRECTIVES: [&str; 26] = [
    "%d", "%d", "%u", "%ld", "%lu", "%x", "%04lx", "%lX", "%#X", "%s", "%s", "%s", "%5d", "%-3u",
    "%+d", "%hhu", "%03ld", "%o", "%.2s", "%6s", "%f", "%g", "%p", "%*d", "%c", "%n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_message_of_printf_with_a_text_is_left_out(
        texts in prop::collection::vec("[ab1 %AKs\u{17f}\u{f6},.-]{0,3}", 5),
        directives in prop::collection::vec(prop::sample::select(&DIRECTIVES[..]), 4),
        values in prop::collection::vec(given(), 0..6),
        from: prop::sample::Index,
        length in 0..12_usize,
        other in "[abk1?, 0x-]{1,5}",
        insensitive: bool,
    ) {
        let literals = texts.iter().map(|text| text.replace('%', "%%"));
        let directives = directives.iter().copied().chain([""]);
        let message: String = literals.zip(directives).map(|(text, one)| text + one).collect();
        let mut definition = definition(&message);
        definition.syntax = Syntax::Printf;
        let forms: Vec<_> = values.iter().map(TestValue::form).collect();
        let mut times = vec![Vec::new(); values.len()];
        let all = values.iter().zip(&forms).zip(&mut times);
        let all = all.map(|((given, form), time)| given.value(form, time));
        let mut bytes = Vec::new();
        let words = [0; 4];
        match values.is_empty() {
            true => {
                let layout = Layout::of(&definition);
                Format::parse(&message).render(layout.values_of_words(&words), &mut bytes);
            }
            false => Format::parse(&message).render(all, &mut bytes),
        }
        let shown = String::from_utf8_lossy(&bytes);
        let kinds = ShapeValues::Kinds(values.iter().map(TestValue::kind).collect());
        let chars: Vec<char> = shown.chars().collect();
        let from = from.index(chars.len() + 1);
        let part: String = chars[from..].iter().take(length).collect();
        let case = if insensitive { Case::Insensitive } else { Case::Sensitive };
        let held = |told: TextColumn| {
            let position = told.position();
            Some(values.get(position)?.held(&forms[position]))
        };
        let upper = part.to_ascii_uppercase();
        let folded = part.replace('\u{17f}', "s").replace('\u{212a}', "k");
        for text in [part, upper, folded, other] {
            let needle = Needle::text(&text, case).unwrap();
            let plan = TextPlan::new(std::slice::from_ref(&needle), &definition, &kinds);
            if is_in(&needle, &shown) {
                prop_assert!(plan.may_be(held), "{text} {shown} {plan:?}");
            }
        }
    }

    #[test]
    fn words_are_the_numbers_of_a_format(
        directives in prop::collection::vec(prop::sample::select(&DIRECTIVES[..9]), 4),
        values in prop::collection::vec(raw(), 0..5),
        from: prop::sample::Index,
        length in 0..9_usize,
    ) {
        let message = directives.join(" ");
        let mut definition = definition(&message);
        definition.syntax = Syntax::Printf;
        let mut words = [0; 4];
        words.iter_mut().zip(&values).for_each(|(word, raw)| *word = *raw as i64);
        let (layout, mut bytes) = (Layout::of(&definition), Vec::new());
        Format::parse(&message).render(layout.values_of_words(&words), &mut bytes);
        let shown = String::from_utf8_lossy(&bytes);
        let from = from.index(shown.len() + 1);
        let part: String = shown[from..].chars().take(length).collect();
        let needle = Needle::text(&part, Case::Sensitive).unwrap();
        let form = ShapeValues::Words(values.len());
        let plan = TextPlan::new(std::slice::from_ref(&needle), &definition, &form);
        let held = |told: TextColumn| values.get(told.position()).map(|raw| EventValue::Raw(*raw));
        prop_assert!(plan.may_be(held), "{part} {shown} {plan:?}");
    }
}

/// What is said about messages with values in this form: each way in which a text may be in them.
fn said(definition: &Definition, text: &str, case: Case, form: &ShapeValues) -> Vec<String> {
    let needle = Needle::text(text, case).unwrap();
    let wanted = |wanted: &ValueTest| {
        let position = wanted.told.position();
        match &wanted.what {
            What::Number(number) => format!("{position}={number}"),
            What::Bits(bits) => format!("{position}={bits}"),
            What::Shown(how, text, _) => {
                format!("{position} {how:?} {}", String::from_utf8_lossy(text))
            }
        }
    };
    let way = |way: &Way| way.iter().map(wanted).collect::<Vec<_>>().join(", ");
    match TextPlan::new(std::slice::from_ref(&needle), definition, form) {
        TextPlan::If(all) => all[0].iter().map(way).collect(),
        TextPlan::Never => vec![],
        TextPlan::Ask => vec!["?".to_owned()],
    }
}

#[test]
fn values_are_told_by_the_text() {
    let definition = definition("processed $tcp, $udp:u8, and $other");
    let ways = |text| said(&definition, text, Case::Smart, &ShapeValues::Words(4));
    assert_eq!(ways("tcp(10)"), ["0=10"]);
    assert_eq!(ways("p(10)"), ["0=10", "1=10"]);
    assert_eq!(ways("5), udp(-7), and other(3)"), ["1=-7, 0 Ends 5, 2=3"]);
    assert_eq!(ways("tcp(1"), ["0 Begins 1"]);
    assert_eq!(ways("-"), ["0 Has -", "1 Has -", "2 Has -"]);
    for absent in [
        "TCP(10)",
        "tcp(010)",
        "tcp (10)",
        "other(3) ",
        "timeout",
        "udp(x)",
        "0x1",
    ] {
        assert_eq!(ways(absent), [""; 0], "{absent}");
    }
    for anywhere in ["", "processed", "and", "(", "tcp(?)"] {
        assert_eq!(ways(anywhere), ["?"], "{anywhere}");
    }
}

#[test]
fn values_of_formats_are_told_by_the_text() {
    let mut definition = definition("%s INFO port %d on %s is %02lx%%");
    definition.syntax = Syntax::Printf;
    use ValueKind::{Int, Text, Uint};
    let form = ShapeValues::Kinds(vec![Text, Int, Text, Uint]);
    let ways = |text| said(&definition, text, Case::Sensitive, &form);
    let whole = |text: &str| [0, 2].map(|position| format!("{position} Has {text}"));
    let [first, last] = whole("port 22 on");
    assert_eq!(ways("port 22 on"), [&first[..], "1=22", &last]);
    let [first, last] = whole("on eth0 is 0a%");
    let other = ["2 Begins eth0 is 0a%", "2 Is eth0, 3=10"];
    let ends = "2 Ends on eth0, 3=10";
    assert_eq!(
        ways("on eth0 is 0a%"),
        [&first[..], other[0], other[1], &last, ends]
    );
    let [first, last] = whole("07 INFO port -");
    assert_eq!(
        ways("07 INFO port -"),
        [&first[..], "0 Ends 07, 1 Begins -", &last]
    );
    // Not as they are shown.
    for absent in [
        "port 022 on",
        "port 5000000000 on",
        "is 0A%",
        "is a%",
        "is 00a%",
    ] {
        assert_eq!(ways(absent), whole(absent), "{absent}");
    }
    let small = |text| said(&definition, text, Case::Insensitive, &form);
    assert!(small("IS 0A%").contains(&"3=10".to_owned()));
    for asked in ["", "port", " is ", "gr\u{f6}\u{df}e\u{2026}"] {
        assert_eq!(ways(asked), ["?"], "{asked}");
    }
}

#[test]
fn only_values_that_are_shown_so_are_told() {
    let needle = [Needle::text("a(7) b(8)", Case::Sensitive).unwrap()];
    let plan = TextPlan::new(&needle, &definition("$a:u8 $b"), &ShapeValues::Words(4));
    let is = |a: u64, b: u64| {
        plan.may_be(|told| [a, b].get(told.position()).copied().map(EventValue::Raw))
    };
    assert!(is(7, 8));
    assert!(!is(7, 9) && !is(6, 8));
    // A word of eight bits is shown without the others.
    assert!(is(0x107, 8));
}
