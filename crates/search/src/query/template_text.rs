//! Tells by a template which values a message must have if a text is in it.
//!
//! The text of the template is known, and of most values which characters they are shown by. So a
//! text can stand only at some places of the message: `tcp(10)` only where the template has an
//! argument whose name ends in `tcp`, and only if its value is 10.

use timeline::{Definition, Field, FieldType, Piece, Syntax, ValueKind, pieces};
use timeline_archive::ShapeValues;

use super::Needle;
use super::bounds::Numbers;

/// Most ways in which a text may stand in a message. If there are more, the message itself tells.
const MOST: usize = 64;

/// What texts say about the values of events that have them in the same form.
#[derive(Debug)]
pub enum TextPlan {
    /// No message has all texts.
    Never,
    /// Only the message itself tells.
    Ask,
    /// For each text, the ways in which it may be in the message. One of each must be true.
    If(Vec<Vec<Way>>),
}

/// Numbers that values must be, if a text stands at a place of the message.
type Way = Vec<Wanted>;

#[derive(Debug, Clone)]
pub struct Wanted {
    position: usize,
    numbers: Numbers,
    value: i128,
}

impl TextPlan {
    pub fn new(texts: &[Needle], definition: &Definition, values: &ShapeValues) -> TextPlan {
        let is_told = definition.syntax == Syntax::Template && !definition.is_lost;
        if !is_told || *values == ShapeValues::Payload {
            return TextPlan::Ask;
        }
        let parts = parts(definition, values);
        let mut all = Vec::new();
        for text in texts {
            match ways(&parts, text) {
                None => {}
                Some(ways) if ways.is_empty() => return TextPlan::Never,
                Some(ways) => all.push(ways),
            }
        }
        match all.is_empty() {
            true => TextPlan::Ask,
            false => TextPlan::If(all),
        }
    }

    /// The positions of the values that it asks for.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        let all = match self {
            TextPlan::If(all) => &all[..],
            _ => &[],
        };
        all.iter().flatten().flatten().map(|wanted| wanted.position)
    }

    /// Whether a message may have all texts. `raw` returns the bits of the value at a position.
    pub fn may_be(&self, raw: impl Fn(usize) -> Option<u64>) -> bool {
        let is = |wanted: &Wanted| {
            let value = raw(wanted.position).and_then(|raw| wanted.numbers.whole(raw));
            // Other bits are shown in a way of their own.
            value.is_none_or(|value| value == wanted.value)
        };
        match self {
            TextPlan::Never => false,
            TextPlan::Ask => true,
            TextPlan::If(all) => all
                .iter()
                .all(|ways| ways.iter().any(|way| way.iter().all(is))),
        }
    }
}

/// A part of a message.
enum Part<'t> {
    Text(&'t str),
    Value(Shown),
}

/// How a value is shown.
enum Shown {
    /// By any characters.
    AsAny,
    /// By these characters, and by no others.
    As(&'static [u8]),
    /// In base 10, with a sign if it is negative. The numbers are at a position.
    AsNumber(usize, Numbers),
}

/// The characters of whole numbers, and of a value that is missing.
const DIGITS: &[u8] = b"0123456789-?";
/// Those of 0x1f, 1.5, -2e-7, inf and nan.
const FLOAT: &[u8] = b"0123456789+-.eEinfaINFA?";
const HEX: &[u8] = b"0123456789abcdefxABCDEFX?";

impl Shown {
    fn of(field: &Field, position: usize, values: &ShapeValues) -> Shown {
        let kind = match values {
            ShapeValues::Words(count) if position < *count => Some(ValueKind::Int),
            ShapeValues::Kinds(kinds) => kinds.get(position).copied(),
            _ => None,
        };
        if matches!(kind, Some(ValueKind::Text | ValueKind::LongDouble)) {
            return Shown::AsAny;
        }
        match (field.kind, kind) {
            (
                FieldType::I8
                | FieldType::I16
                | FieldType::I32
                | FieldType::I64
                | FieldType::U8
                | FieldType::U16
                | FieldType::U32
                | FieldType::U64,
                kind,
            ) => match kind.and_then(|kind| Numbers::of(Some(field.kind), kind)) {
                Some(numbers) => Shown::AsNumber(position, numbers),
                None => Shown::As(DIGITS),
            },
            (FieldType::F32 | FieldType::F64, _) => Shown::As(FLOAT),
            (FieldType::Hex, _) => Shown::As(HEX),
            _ => Shown::AsAny,
        }
    }

    /// How many bytes a text begins with that this may be shown by.
    fn run(&self, text: &[u8]) -> usize {
        let all = match self {
            Shown::AsAny => return text.len(),
            Shown::As(all) => all,
            Shown::AsNumber(..) => DIGITS,
        };
        text.iter().take_while(|byte| all.contains(byte)).count()
    }

    /// What the value must be if it is shown by exactly this text.
    fn wanted(&self, shown: &[u8]) -> Exactly {
        let Shown::AsNumber(position, numbers) = self else {
            return Exactly::Perhaps;
        };
        let shown = std::str::from_utf8(shown).unwrap_or_default();
        // One that was cut off, because there are too many bytes before it.
        if shown == "?" {
            return Exactly::Perhaps;
        }
        match shown.parse::<i128>() {
            Ok(value) if value.to_string() == shown => Exactly::Only(Wanted {
                position: *position,
                numbers: *numbers,
                value,
            }),
            _ => Exactly::Never,
        }
    }
}

/// Which values are shown by exactly a text.
enum Exactly {
    Never,
    Perhaps,
    Only(Wanted),
}

/// The parts of messages. Each value stands between parentheses, by which no other value than a
/// text is shown.
fn parts<'t>(definition: &'t Definition, values: &ShapeValues) -> Vec<Part<'t>> {
    let (mut parts, mut position) = (Vec::new(), 0);
    for piece in pieces(definition.summary()) {
        match piece {
            Piece::Text(text) => parts.push(Part::Text(text)),
            Piece::Argument(field) => {
                let value = Part::Value(Shown::of(&field, position, values));
                parts.extend([
                    Part::Text(field.name),
                    Part::Text("("),
                    value,
                    Part::Text(")"),
                ]);
                position += 1;
            }
        }
    }
    parts
}

/// The ways in which a text may be in a message; none if it cannot. `None` if it may be whatever
/// the values are, or if only the message tells.
fn ways(parts: &[Part], needle: &Needle) -> Option<Vec<Way>> {
    let text = needle.as_text()?;
    let is_ascii = |part: &Part| matches!(part, Part::Text(text) if !text.is_ascii());
    if needle.is_insensitive() && (!text.is_ascii() || parts.iter().any(is_ascii)) {
        // Letters beyond ASCII may have the same small letter.
        return None;
    }
    let mut search = Search {
        parts,
        insensitive: needle.is_insensitive(),
        ways: Vec::new(),
    };
    let text = text.as_bytes();
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Text(from) => {
                (0..from.len()).for_each(|at| search.from((number, at), text));
            }
            // It begins within the value, or with it.
            Part::Value(shown) => search.from((number + 1, 0), &text[shown.run(text)..]),
        }
        let is_any = search.ways.iter().any(Vec::is_empty);
        if is_any || search.ways.len() > MOST {
            return None;
        }
    }
    match text.is_empty() {
        true => None,
        false => Some(search.ways),
    }
}

/// Looks for a text in the parts of a message.
struct Search<'p> {
    parts: &'p [Part<'p>],
    insensitive: bool,
    ways: Vec<Way>,
}

impl Search<'_> {
    /// Adds the way in which the rest of a text stands at a place of a part, if there is one.
    fn from(&mut self, (number, mut at): (usize, usize), mut rest: &[u8]) {
        let mut way = Way::new();
        for part in self.parts.get(number..).unwrap_or_default() {
            if rest.is_empty() {
                break;
            }
            match part {
                Part::Text(text) => {
                    let text = &text.as_bytes()[at..];
                    let count = text.len().min(rest.len());
                    if !self.is_same(&text[..count], &rest[..count]) {
                        return;
                    }
                    (rest, at) = (&rest[count..], 0);
                }
                Part::Value(shown) => {
                    let run = shown.run(rest);
                    if run < rest.len() {
                        match shown.wanted(&rest[..run]) {
                            Exactly::Never => return,
                            Exactly::Perhaps => {}
                            Exactly::Only(wanted) => way.push(wanted),
                        }
                    }
                    rest = &rest[run..];
                }
            }
        }
        if rest.is_empty() {
            self.ways.push(way);
        }
    }

    fn is_same(&self, left: &[u8], right: &[u8]) -> bool {
        match self.insensitive {
            true => left.eq_ignore_ascii_case(right),
            false => left == right,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use timeline::{EventId, Priority, Value};

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
            let raw = |position: usize| values.get(position).map(|(_, raw)| *raw);
            for text in [part.clone(), part.to_uppercase(), other] {
                let needle = Needle::text(&text, case).unwrap();
                let plan = TextPlan::new(std::slice::from_ref(&needle), &definition, &form);
                if is_in(&needle, &shown) {
                    prop_assert!(plan.may_be(raw), "{text} {shown} {plan:?}");
                }
            }
        }
    }

    /// What is said about messages of four words.
    fn said(message: &str, text: &str, case: Case) -> TextPlan {
        let needle = Needle::text(text, case).unwrap();
        TextPlan::new(&[needle], &definition(message), &ShapeValues::Words(4))
    }

    #[test]
    fn values_are_told_by_the_text() {
        let message = "processed $tcp, $udp:u8, and $other";
        let ways = |text| match said(message, text, Case::Smart) {
            TextPlan::If(all) => {
                let way = |way: &Way| -> Vec<(usize, i128)> {
                    way.iter()
                        .map(|wanted| (wanted.position, wanted.value))
                        .collect()
                };
                all[0].iter().map(way).collect::<Vec<_>>()
            }
            TextPlan::Never => vec![],
            TextPlan::Ask => vec![vec![]],
        };
        assert_eq!(ways("tcp(10)"), [[(0, 10)]]);
        assert_eq!(ways("p(10)"), [[(0, 10)], [(1, 10)]]);
        assert_eq!(ways("5), udp(-7), and other(3)"), [vec![(1, -7), (2, 3)]]);
        // Nobody knows what follows, or stands before.
        for absent in [
            "TCP(10)",
            "tcp(010)",
            "tcp (10)",
            "other(3) ",
            "timeout",
            "udp(x)",
            "0x1",
        ] {
            assert_eq!(ways(absent), Vec::<Vec<_>>::new(), "{absent}");
        }
        for anywhere in ["", "processed", "1", "and", "(", "-", "tcp(1", "tcp(?)"] {
            assert_eq!(ways(anywhere), [vec![]], "{anywhere}");
        }
    }

    #[test]
    fn only_values_that_are_shown_so_are_told() {
        let plan = said("$a:u8 $b", "a(7) b(8)", Case::Sensitive);
        let is = |a: u64, b: u64| plan.may_be(|position| [a, b].get(position).copied());
        assert!(is(7, 8));
        assert!(!is(7, 9) && !is(6, 8));
        // A word of eight bits is shown without the others.
        assert!(is(0x107, 8));
    }
}
