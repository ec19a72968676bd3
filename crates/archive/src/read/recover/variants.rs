//! Makes of a text of a program what the library makes of it.
//! A message gets types of its arguments, and words of a span; channels get the order of the ring.

use std::sync::OnceLock;

use timeline::{Definition, EventId, FieldType, Layout, Priority, ValueKind, fields};

use super::wanted::{Kinds, Wanted};

/// The words in front of the messages of a span, as `timeline` defines them.
const SPANS: [&str; 4] = ["begin", "end", "start", "finish"];
/// Most variants of one text.
const MOST: u64 = 1 << 18;
/// Most channels of a statement whose orders are tried.
const MOST_CHANNELS: usize = 5;

/// Tries what the library makes of a text, but for spans.
pub fn try_all(text: &str, wanted: &mut Wanted, budget: &mut u64) {
    with_types(text, wanted, budget);
    if wanted.channels {
        channels(text, wanted);
    }
}

/// Tries the messages of a span with this text.
pub fn try_spans(text: &str, wanted: &mut Wanted, budget: &mut u64) {
    if wanted.kinds.is_empty() {
        return;
    }
    for word in SPANS {
        let message = format!("{word} {text}");
        wanted.try_text(&message);
        with_types(&message, wanted, budget);
    }
}

/// A type that a statement may have for an argument, as a message names it behind the argument.
struct Choice {
    kind: Option<ValueKind>,
    /// Whether it is a number: a word of a plain event, whose kind nobody knows.
    is_number: bool,
    text: String,
}

/// All of them, the frequent ones first.
fn choices() -> &'static [Choice] {
    static CHOICES: OnceLock<Vec<Choice>> = OnceLock::new();
    CHOICES.get_or_init(|| {
        use FieldType::{Bool, Char, F32, F64, I8, I16, I32, I64, Istr, Ptr};
        use FieldType::{Str, U8, U16, U32, U64, Wstr};
        let plain = [
            I64, I32, U32, U64, Str, F64, Ptr, Bool, U8, U16, I16, I8, F32, Char, Wstr, Istr,
        ];
        let plain = plain.into_iter().map(|kind| match kind {
            I64 => String::new(),
            kind => format!(":{kind}"),
        });
        let numbers = [
            "u8", "i8", "u32", "i32", "u64", "i64", "f64", "f32", "u16", "i16",
        ];
        let arrays = numbers.into_iter().map(|element| format!(":{element}[]"));
        let choice = |text: String| {
            let message = format!("$a{text}");
            let definition = Definition::new(EventId(1), "a", Priority::Info, message);
            let kind = Layout::of(&definition).kinds().next();
            Choice {
                kind,
                is_number: !matches!(kind, None | Some(ValueKind::Text | ValueKind::LongDouble)),
                text,
            }
        };
        plain.chain(arrays).map(choice).collect()
    })
}

/// Tries a message with every type for each argument that has none, as far as the values of events
/// allow it.
fn with_types(message: &str, wanted: &mut Wanted, budget: &mut u64) {
    if wanted.kinds.is_empty() || !message.contains('$') {
        return;
    }
    let all: Vec<_> = fields(message).collect();
    let begin = message.as_ptr() as usize;
    let end_of = |name: &str| name.as_ptr() as usize - begin + name.len();
    let places = all
        .iter()
        .map(|field| (!field.has_type).then(|| end_of(field.name)));
    let places: Vec<Option<usize>> = places.collect();
    if places.iter().all(Option::is_none) {
        return;
    }
    let fitting: Vec<Kinds> = wanted
        .kinds
        .iter()
        .filter(|kinds| kinds.len() == places.len())
        .cloned()
        .collect();
    for kinds in fitting {
        let untyped = places.iter().zip(&kinds);
        let untyped = untyped.filter_map(|(place, kind)| Some(((*place)?, kind)));
        let options: Vec<(usize, Vec<&str>)> = untyped
            .map(|(place, kind)| {
                let fits = |choice: &&Choice| match kind {
                    Some(kind) => choice.kind == Some(*kind),
                    None => choice.is_number,
                };
                let texts = choices().iter().filter(fits);
                (place, texts.map(|choice| choice.text.as_str()).collect())
            })
            .collect();
        each_combination(message, &options, wanted, budget);
    }
}

fn each_combination(
    message: &str,
    options: &[(usize, Vec<&str>)],
    wanted: &mut Wanted,
    budget: &mut u64,
) {
    let (mut chosen, mut text) = (vec![0; options.len()], String::new());
    for _ in 0..MOST.min(*budget) {
        *budget -= 1;
        text.clear();
        let mut at = 0;
        for ((place, texts), choice) in options.iter().zip(&chosen) {
            let Some(kind) = texts.get(*choice) else {
                return;
            };
            text.push_str(&message[at..*place]);
            text.push_str(kind);
            at = *place;
        }
        text.push_str(&message[at..]);
        wanted.try_text(&text);
        let next = options
            .iter()
            .zip(&mut chosen)
            .find_map(|((_, texts), choice)| {
                *choice += 1;
                if *choice < texts.len() {
                    return Some(());
                }
                *choice = 0;
                None
            });
        if next.is_none() {
            return;
        }
    }
}

/// Tries the channels of a statement, `a|b=on`, in each order and without what is switched.
fn channels(text: &str, wanted: &mut Wanted) {
    let names = text.split('|');
    let names: Vec<&str> = names
        .map(|name| name.strip_suffix("=on").unwrap_or(name))
        .collect();
    let is_name = |name: &&str| {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        (1..=32).contains(&name.len()) && name.chars().all(is_good)
    };
    if names.len() <= MOST_CHANNELS && names.iter().all(is_name) {
        orders(&names, &mut Vec::new(), wanted);
    }
}

fn orders<'a>(left: &[&'a str], chosen: &mut Vec<&'a str>, wanted: &mut Wanted) {
    if left.is_empty() {
        return wanted.try_text(&chosen.join("|"));
    }
    for at in 0..left.len() {
        let mut left = left.to_vec();
        chosen.push(left.remove(at));
        orders(&left, chosen, wanted);
        chosen.pop();
    }
}
