//! Whether an event is wanted, decided in the plainest way from what the documents say.

use std::cmp::Ordering;

use timeline::Definition;

use super::made::{LONG, Logged, THREADS, Values};
use super::random::Asked;
use super::spelled::{Pattern, Side, Tree};
use crate::languages::event::Field;
use crate::languages::model::{self, Kept, PAYLOAD};

/// A value of an event.
#[derive(Debug, Clone)]
pub enum Seen {
    Int(i128),
    Single(f32),
    Double(f64),
    Bool(bool),
    Time(i128),
    /// A number, and its names.
    Named(i128, Vec<String>),
    /// The bytes, and whether there were more.
    Text(Vec<u8>, bool),
    /// The elements, and whether there were more.
    Array(Vec<Seen>, bool),
}

pub fn is_wanted(
    asked: &Asked,
    event: &Logged,
    definition: &Definition,
    core: u16,
    time: Option<u64>,
) -> bool {
    let like = |patterns: &[String], text: &str| patterns.iter().any(|one| is_like(one, text));
    let (thread, tid) = (THREADS[event.thread].0, event.tid.to_string());
    let is_core = |range: &std::ops::RangeInclusive<u32>| range.contains(&core.into());
    (asked.categories.is_empty() || like(&asked.categories, event.category))
        && (asked.events.is_empty() || like(&asked.events, &definition.name()))
        && asked
            .priorities
            .as_ref()
            .is_none_or(|range| range.contains(&event.priority))
        && (asked.threads.is_empty()
            || like(&asked.threads, thread)
            || asked.threads.contains(&tid))
        && (asked.pids.is_empty() || asked.pids.contains(&std::process::id()))
        && (asked.cores.is_empty() || core != 0xffff && asked.cores.iter().any(is_core))
        && asked.since.is_none_or(|since| since <= time.unwrap())
        && asked.until.is_none_or(|until| time.unwrap() < until)
        && asked.trees.iter().all(|tree| is_true(tree, event))
        && asked.text.as_ref().is_none_or(|text| has_text(event, text))
}

/// Whether a text is like a pattern.
fn is_like(pattern: &str, text: &str) -> bool {
    let mut rest = pattern.chars();
    let (begin, behind) = (rest.next(), rest.as_str());
    let behind_first = text.char_indices().nth(1).map_or(text.len(), |(at, _)| at);
    match begin {
        None => text.is_empty(),
        Some('*') => {
            let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            places.into_iter().any(|at| is_like(behind, &text[at..]))
        }
        Some(c) => {
            let is_same = c == '?' && !text.is_empty() || text.starts_with(c);
            is_same && is_like(behind, &text[behind_first..])
        }
    }
}

/// The text has no line break, so it is in one line if it is in the message.
fn has_text(event: &Logged, text: &str) -> bool {
    let message = message(event);
    match text.chars().any(char::is_uppercase) {
        true => message.contains(text),
        false => message.to_lowercase().contains(text),
    }
}

fn message(event: &Logged) -> String {
    match &event.values {
        Values::Typed(fields) => {
            let begin = event.message.split(" $").next().unwrap().to_owned();
            let shown = shown_values(event);
            let pairs = fields.iter().zip(shown);
            pairs.fold(begin, |message, (field, shown)| {
                format!("{message} {}({shown})", field.name)
            })
        }
        Values::Printed(values) => {
            let mut message = String::new();
            for (value, part) in values.iter().zip(event.message.split('%').skip(1)) {
                let conversion = part.find(['d', 's', 'f', 'u', 'c']).unwrap();
                message += &printed(&part[..=conversion], value);
                message += &part[conversion + 1..];
            }
            message
        }
    }
}

fn printed(conversion: &str, value: &timeline::Value) -> String {
    match (conversion, value) {
        ("c", timeline::Value::Int(value)) => char::from(*value as u8).to_string(),
        (".2f", timeline::Value::Float(value)) => format!("{value:.2}").to_lowercase(),
        ("Lf", _) => format!("{:.6}", long(value)),
        (_, timeline::Value::Nil) => "(null)".to_owned(),
        _ => shown_printed(value).unwrap(),
    }
}

fn long(value: &timeline::Value) -> f64 {
    let known = LONG
        .iter()
        .find(|(bytes, _)| *value == timeline::Value::LongDouble(*bytes));
    known.unwrap().1
}

/// All values as they are shown; of `NULL` something that none is.
pub fn shown_values(event: &Logged) -> Vec<String> {
    match &event.values {
        Values::Typed(fields) => {
            let mut room = PAYLOAD - 8 * fields.len();
            let shown = fields
                .iter()
                .map(|field| model::field_shown(field, &mut room).0);
            shown.collect()
        }
        Values::Printed(values) => {
            let shown = values
                .iter()
                .map(|value| shown_printed(value).unwrap_or_default());
            shown.collect()
        }
    }
}

fn shown_printed(value: &timeline::Value) -> Option<String> {
    Some(match value {
        timeline::Value::Int(value) => value.to_string(),
        timeline::Value::Uint(value) => value.to_string(),
        timeline::Value::Float(value) => format!("{value:?}").to_lowercase(),
        timeline::Value::LongDouble(_) => long(value).to_string(),
        timeline::Value::Text { bytes, cut } => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text + if *cut { "…" } else { "" }
        }
        _ => return None,
    })
}

/// The place of a field: that of the first of the name, or else the one whose number it is.
fn place(event: &Logged, name: &str) -> Option<usize> {
    let named = match &event.values {
        Values::Typed(fields) => fields.iter().position(|field| field.name == name),
        Values::Printed(_) => None,
    };
    named.or_else(|| name.parse().ok())
}

/// The value of a field.
pub fn value(event: &Logged, name: &str) -> Option<Seen> {
    let place = place(event, name)?;
    match &event.values {
        Values::Typed(fields) => {
            let mut room = PAYLOAD - 8 * fields.len();
            let mut values = fields.iter().map(|field| seen(field, &mut room));
            values.nth(place)?
        }
        Values::Printed(values) => Some(match values.get(place)? {
            timeline::Value::Int(value) => Seen::Int((*value).into()),
            timeline::Value::Uint(value) => Seen::Int((*value).into()),
            timeline::Value::Float(value) => Seen::Double(*value),
            value @ timeline::Value::LongDouble(_) => Seen::Double(long(value)),
            timeline::Value::Text { bytes, cut } => Seen::Text(bytes.to_vec(), *cut),
            _ => return None,
        }),
    }
}

fn seen(field: &Field, room: &mut usize) -> Option<Seen> {
    Some(match model::kept(field, room) {
        Kept::Null => return None,
        Kept::Word(word) => scalar(&field.kind, word),
        Kept::Text(bytes, is_cut) => Seen::Text(bytes, is_cut),
        Kept::Array(words, is_cut) => {
            let element = field.kind.trim_end_matches("[]");
            let numbers = words.iter().map(|word| scalar(element, *word));
            Seen::Array(numbers.collect(), is_cut)
        }
    })
}

fn scalar(kind: &str, word: u64) -> Seen {
    let signed = i128::from(word as i64);
    match kind {
        "f32" => Seen::Single(f32::from_bits(word as u32)),
        "f64" => Seen::Double(f64::from_bits(word)),
        "bool" => Seen::Bool(word != 0),
        "time" => Seen::Time(signed),
        "ns" => Seen::Int(signed),
        "hex" | "ptr" | "bytes" => Seen::Int(word.into()),
        "char" => {
            let (name, _) = model::scalar(kind, word);
            Seen::Named((word as u32).into(), vec![name])
        }
        _ if kind.starts_with("enum") => {
            let labels = model::labels(kind).into_iter();
            let own = labels.filter(|(_, number)| i128::from(*number) == signed);
            Seen::Named(signed, own.map(|(name, _)| name.to_owned()).collect())
        }
        _ if kind.starts_with("flags") => {
            let labels = model::labels(kind).into_iter();
            let set = labels.filter(|(_, bits)| *bits != 0 && word & *bits as u64 == *bits as u64);
            Seen::Named(word.into(), set.map(|(name, _)| name.to_owned()).collect())
        }
        _ => Seen::Int(model::scalar(kind, word).0.parse().unwrap()),
    }
}

fn is_true(tree: &Tree, event: &Logged) -> bool {
    match tree {
        Tree::All(parts) => !parts.iter().any(|part| !is_true(part, event)),
        Tree::Any(parts) => parts.iter().any(|part| is_true(part, event)),
        Tree::Not(part) => !is_true(part, event),
        Tree::Bare(name) => match value(event, name) {
            None => false,
            Some(Seen::Int(number) | Seen::Time(number) | Seen::Named(number, _)) => number != 0,
            Some(Seen::Single(number)) => number != 0.0,
            Some(Seen::Double(number)) => number != 0.0,
            Some(Seen::Bool(value)) => value,
            Some(Seen::Text(bytes, is_cut)) => is_cut || !bytes.is_empty(),
            Some(Seen::Array(numbers, is_cut)) => is_cut || !numbers.is_empty(),
        },
        Tree::Match(name, pattern, expected) => {
            // NULL has no text.
            let there = place(event, name).filter(|_| value(event, name).is_some());
            there.is_some_and(|place| has(&shown_values(event)[place], pattern) == *expected)
        }
        Tree::Compare(left, sign, right) => match (known(event, left), known(event, right)) {
            (Some(one), Some(other)) => compare(&one, sign, &other),
            _ => false,
        },
    }
}

fn has(text: &str, pattern: &Pattern) -> bool {
    match (pattern.at_begin, pattern.at_end) {
        (true, true) => text == pattern.text,
        (true, false) => text.starts_with(&pattern.text),
        (false, true) => text.ends_with(&pattern.text),
        (false, false) => text.contains(&pattern.text),
    }
}

/// A side of a comparison: a value, or what an expression gives.
enum Known<'a> {
    Value(Seen),
    Given(&'a Side),
}

fn known<'a>(event: &Logged, side: &'a Side) -> Option<Known<'a>> {
    match side {
        Side::Field(name) => value(event, name).map(Known::Value),
        given => Some(Known::Given(given)),
    }
}

fn compare(left: &Known, sign: &str, right: &Known) -> bool {
    if let Known::Value(Seen::Array(numbers, _)) = left
        && !matches!(right, Known::Value(Seen::Array(..)))
    {
        let mut numbers = numbers.iter().cloned().map(Known::Value);
        return numbers.any(|number| compare(&number, sign, right));
    }
    if let Known::Value(Seen::Array(numbers, _)) = right
        && !matches!(left, Known::Value(Seen::Array(..)))
    {
        let mut numbers = numbers.iter().cloned().map(Known::Value);
        return numbers.any(|number| compare(left, sign, &number));
    }
    for (one, other) in [(left, right), (right, left)] {
        if let (Known::Value(Seen::Named(_, names)), Some((text, is_cut))) = (one, text(other)) {
            let is_one = !is_cut && names.iter().any(|name| name.as_bytes() == text);
            return sign == "==" && is_one || sign == "!=" && !is_one;
        }
    }
    let Some(order) = order(left, right) else {
        return false;
    };
    match sign {
        "==" => order == Ordering::Equal,
        "!=" => order != Ordering::Equal,
        "<" => order == Ordering::Less,
        "<=" => order != Ordering::Greater,
        ">" => order == Ordering::Greater,
        _ => order != Ordering::Less,
    }
}

fn text<'a>(known: &'a Known) -> Option<(&'a [u8], bool)> {
    match known {
        Known::Value(Seen::Text(bytes, is_cut)) => Some((bytes, *is_cut)),
        Known::Given(Side::Text(text, _)) => Some((text.as_bytes(), false)),
        _ => None,
    }
}

fn order(left: &Known, right: &Known) -> Option<Ordering> {
    match (left, right) {
        (Known::Value(Seen::Time(time)), Known::Given(Side::Text(_, moment))) => {
            return Some(time.cmp(&i128::from((*moment)?)));
        }
        (Known::Given(Side::Text(_, moment)), Known::Value(Seen::Time(time))) => {
            return Some(i128::from((*moment)?).cmp(time));
        }
        (Known::Value(Seen::Array(one, is_cut)), Known::Value(Seen::Array(other, is_other))) => {
            return list((one, *is_cut), (other, *is_other), |one, other| {
                order(&Known::Value(one.clone()), &Known::Value(other.clone()))
            });
        }
        _ => {}
    }
    if let (Some((one, is_cut)), Some((other, is_other))) = (text(left), text(right)) {
        return list((one, is_cut), (other, is_other), |a, b| Some(a.cmp(b)));
    }
    let is_single = |known: &Known| matches!(known, Known::Value(Seen::Single(_)));
    let is_either = is_single(left) || is_single(right);
    exact(&number(left, is_either)?, &number(right, is_either)?)
}

/// Of two lists: by the first two that differ, or else the longer one is greater, if its end and
/// that of the other are known. What was cut off is more than nothing.
fn list<T>(
    (one, is_cut): (&[T], bool),
    (other, is_other_cut): (&[T], bool),
    order: impl Fn(&T, &T) -> Option<Ordering>,
) -> Option<Ordering> {
    let mut place = 0;
    loop {
        match (one.get(place), other.get(place)) {
            (Some(a), Some(b)) => match order(a, b)? {
                Ordering::Equal => place += 1,
                differ => return Some(differ),
            },
            (None, None) if !is_cut && !is_other_cut => return Some(Ordering::Equal),
            (_, None) if !is_other_cut => return Some(Ordering::Greater),
            (None, _) if !is_cut => return Some(Ordering::Less),
            _ => return None,
        }
    }
}

enum Number {
    Int(i128),
    Float(f64),
}

/// Numbers of expressions with a fraction have the digits of the field.
fn number(known: &Known, is_single: bool) -> Option<Number> {
    Some(match known {
        Known::Value(Seen::Int(number) | Seen::Time(number) | Seen::Named(number, _)) => {
            Number::Int(*number)
        }
        Known::Given(Side::Int(number)) => Number::Int(*number),
        Known::Value(Seen::Bool(value)) => Number::Int((*value).into()),
        Known::Given(Side::Bool(value)) => Number::Int((*value).into()),
        Known::Value(Seen::Single(number)) => Number::Float((*number).into()),
        Known::Value(Seen::Double(number)) => Number::Float(*number),
        Known::Given(Side::Float(number)) => {
            let single = format!("{number:?}").parse::<f32>().unwrap();
            let is_there = is_single && single.is_finite() && single != 0.0;
            Number::Float(if is_there { single.into() } else { *number })
        }
        _ => return None,
    })
}

fn exact(one: &Number, other: &Number) -> Option<Ordering> {
    match (one, other) {
        (Number::Int(one), Number::Int(other)) => Some(one.cmp(other)),
        (Number::Float(one), Number::Float(other)) => one.partial_cmp(other),
        (Number::Int(one), Number::Float(other)) => digits(*one, *other),
        (Number::Float(one), Number::Int(other)) => digits(*other, *one).map(Ordering::reverse),
    }
}

/// By all digits of both.
fn digits(number: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.is_infinite() || (number < 0) != (float < 0.0) {
        let least = if float == 0.0 {
            number
        } else {
            -(float.signum() as i128)
        };
        return Some(least.cmp(&0));
    }
    let text = format!("{:.1074}", float.abs());
    let (whole, fraction) = text.split_once('.').unwrap();
    let amount = number.unsigned_abs().to_string();
    let by_length = amount.len().cmp(&whole.len());
    let rest = match fraction.trim_matches('0') {
        "" => Ordering::Equal,
        _ => Ordering::Less,
    };
    let order = by_length.then(amount.as_str().cmp(whole)).then(rest);
    Some(if number < 0 { order.reverse() } else { order })
}
