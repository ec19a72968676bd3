//! What readers show of an event, written in the plainest way from docs/format.md.

use std::fmt::Debug;

use serde_json::{Map, Value as Json, json};

use super::event::{Event, Field, Value};
use crate::typed::whole;

/// Bytes of a payload, in a ring of 65,536 entries.
pub const PAYLOAD: usize = 1528;

/// The message and the arguments in JSON.
pub fn shown(event: &Event) -> (String, Json) {
    let mut room = PAYLOAD - 8 * event.fields.len();
    let (mut message, mut args) = (String::new(), Map::new());
    for (text, field) in event.texts.iter().zip(&event.fields) {
        let (value, json) = field_shown(field, &mut room);
        message += &format!("{text}{}({value})", field.name);
        args.insert(field.name.clone(), json);
    }
    message += event.texts[event.fields.len()];
    (message, args.into())
}

/// What an event has of a value.
pub enum Kept<'a> {
    Word(u64),
    Null,
    /// The bytes, and whether there were more.
    Text(Vec<u8>, bool),
    /// The words of numbers, and whether there were more.
    Array(&'a [u64], bool),
}

pub fn kept<'a>(field: &'a Field, room: &mut usize) -> Kept<'a> {
    match &field.value {
        Value::Word(word) => Kept::Word(*word),
        Value::Text(None) | Value::Wide(None) | Value::Array(None) => Kept::Null,
        Value::Text(Some(text)) => {
            let kept = if text.len() <= *room {
                text.len()
            } else {
                cut(text, *room)
            };
            *room -= kept.next_multiple_of(8);
            Kept::Text(text[..kept].to_vec(), kept < text.len())
        }
        Value::Wide(Some(text)) => {
            let characters = text
                .iter()
                .map(|c| char::from_u32(*c).unwrap_or('\u{fffd}'));
            let (mut kept, mut whole) = (String::new(), true);
            for character in characters {
                whole = kept.len() + character.len_utf8() <= *room;
                if !whole {
                    break;
                }
                kept.push(character);
            }
            *room -= kept.len().next_multiple_of(8);
            Kept::Text(kept.into_bytes(), !whole)
        }
        Value::Array(Some(numbers)) => {
            let size = size(field.kind.trim_end_matches("[]"));
            let kept = numbers.len().min(*room / size);
            *room -= (kept * size).next_multiple_of(8);
            Kept::Array(&numbers[..kept], kept < numbers.len())
        }
    }
}

pub fn field_shown(field: &Field, room: &mut usize) -> (String, Json) {
    match kept(field, room) {
        Kept::Word(word) => scalar(&field.kind, word),
        Kept::Null => ("(null)".to_owned(), Json::Null),
        Kept::Text(text, is_cut) => text_shown(&text, is_cut),
        Kept::Array(numbers, is_cut) => array(field.kind.trim_end_matches("[]"), numbers, is_cut),
    }
}

/// The line that tests/c/values.c, tests/cpp/values.cpp and tests/lua/values.lua print of an event.
pub fn read(event: &Event) -> String {
    let mut room = PAYLOAD - 8 * event.fields.len();
    let value = |field| {
        let (value, is_cut) = match kept(field, &mut room) {
            Kept::Word(word) => (scalar_read(&field.kind, word), false),
            Kept::Null => ("null".to_owned(), false),
            Kept::Text(text, is_cut) => {
                let hex: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
                (format!("<{hex}>"), is_cut)
            }
            Kept::Array(numbers, is_cut) => {
                let element = field.kind.trim_end_matches("[]");
                let numbers = numbers.iter().map(|word| scalar_read(element, *word));
                let numbers: Vec<String> = numbers.collect();
                (format!("[{}]", numbers.join(",")), is_cut)
            }
        };
        format!(" {value}{}", if is_cut { "+" } else { "" })
    };
    event.fields.iter().map(value).collect()
}

/// A number in base 10, or the bits of one with a fraction.
fn scalar_read(kind: &str, word: u64) -> String {
    let fraction = |number: f64| match number.is_nan() {
        true => "nan".to_owned(),
        false => format!("{:016x}", number.to_bits()),
    };
    match kind {
        "f32" => fraction(f32::from_bits(word as u32).into()),
        "f64" => fraction(f64::from_bits(word)),
        "char" => (word as u32).to_string(),
        "hex" | "ptr" | "bytes" => word.to_string(),
        "ns" | "time" => (word as i64).to_string(),
        _ if kind.contains('(') => (word as i64).to_string(),
        _ => scalar(kind, word).0,
    }
}

/// A text is cut before the character that has no room, if it is one.
fn cut(text: &[u8], room: usize) -> usize {
    let continues = |at: usize| text[at] & 0xc0 == 0x80;
    let first = (0..=3)
        .map(|back| room.saturating_sub(back))
        .find(|at| !continues(*at));
    first.filter(|at| text[*at] >= 0xc0).unwrap_or(room)
}

fn text_shown(text: &[u8], is_cut: bool) -> (String, Json) {
    let text = String::from_utf8_lossy(text).into_owned() + if is_cut { "…" } else { "" };
    (text.clone(), text.into())
}

fn array(element: &str, numbers: &[u64], is_cut: bool) -> (String, Json) {
    let shown = numbers.iter().map(|word| scalar(element, *word));
    let (mut texts, mut json): (Vec<_>, Vec<_>) = shown.unzip();
    if is_cut || texts.len() > 64 {
        texts.truncate(64);
        texts.push("…".into());
    }
    if is_cut {
        json.push(json!("…"));
    }
    (format!("[{}]", texts.join(", ")), json.into())
}

fn size(element: &str) -> usize {
    match element {
        "i8" | "u8" => 1,
        "i16" | "u16" => 2,
        "i32" | "u32" | "f32" => 4,
        _ => 8,
    }
}

pub fn scalar(kind: &str, word: u64) -> (String, Json) {
    let signed = word as i64;
    match kind {
        "i8" => integer(word as i8),
        "i16" => integer(word as i16),
        "i32" => integer(word as i32),
        "i64" => integer(signed),
        "u8" => integer(word as u8),
        "u16" => integer(word as u16),
        "u32" => integer(word as u32),
        "u64" => integer(word),
        "f32" => fraction(f32::from_bits(word as u32)),
        "f64" => fraction(f64::from_bits(word)),
        "bool" => ((word != 0).to_string(), json!(word != 0)),
        "char" => {
            let found = char::from_u32(word as u32);
            let text = found.map_or(format!("\\x{:02x}", word as u8), String::from);
            (text.clone(), text.into())
        }
        "hex" | "ptr" => (format!("{word:#x}"), whole(word)),
        "ns" => (duration(signed), whole(signed)),
        "time" => (time(signed), whole(signed)),
        "bytes" => (bytes(word), whole(word)),
        _ if kind.starts_with("enum") => named(labels(kind), signed),
        _ => flags(labels(kind), word),
    }
}

fn integer(number: impl ToString) -> (String, Json) {
    let text = number.to_string();
    let json = whole(text.parse::<i128>().expect("a number"));
    (text, json)
}

fn fraction(number: impl Debug) -> (String, Json) {
    // `nan` and not `NaN`.
    let text = format!("{number:?}").to_lowercase();
    match serde_json::from_str(&text) {
        Ok(json) => (text, json),
        Err(_) => (text.clone(), text.into()),
    }
}

/// The names of an enum or of flags, with their numbers.
pub fn labels(kind: &str) -> Vec<(&str, i64)> {
    let (_, list) = kind.trim_end_matches(')').split_once('(').expect("a list");
    let label = |label: &str| {
        let (_, number) = label.split_once('=').expect("a number");
        match number.trim().strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).expect("digits") as i64,
            None => number.trim().parse().expect("digits"),
        }
    };
    let name = |label: &'_ str| label.find('=').expect("a name");
    list.split(',')
        .map(|own| (own[..name(own)].trim(), label(own)))
        .collect()
}

fn named(labels: Vec<(&str, i64)>, number: i64) -> (String, Json) {
    match labels.iter().find(|(_, own)| *own == number) {
        Some((name, _)) => ((*name).to_owned(), (*name).into()),
        None => (number.to_string(), whole(number)),
    }
}

fn flags(labels: Vec<(&str, i64)>, bits: u64) -> (String, Json) {
    let (mut texts, mut json, mut rest) = (Vec::new(), Vec::new(), bits);
    for (name, own) in labels.iter().map(|(name, own)| (*name, *own as u64)) {
        if own != 0 && bits & own == own {
            texts.push(name.to_owned());
            json.push(json!(name));
            rest &= !own;
        }
    }
    if rest != 0 {
        texts.push(format!("{rest:#x}"));
        json.push(whole(rest));
    }
    let text = if texts.is_empty() {
        "0".to_owned()
    } else {
        texts.join("|")
    };
    (text, json.into())
}

/// A number with so many digits behind the point, of which zeros at the end are left out.
fn decimal(whole: u64, fraction: u64, digits: usize) -> String {
    let text = format!("{whole}.{fraction:0digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn duration(nanos: i64) -> String {
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let text = match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => decimal(nanos / 1_000, nanos % 1_000, 3) + "µs",
        1_000_000..1_000_000_000 => decimal(nanos / 1_000_000, nanos % 1_000_000, 6) + "ms",
        _ => {
            let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
            let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
            let hours_shown = if hours > 0 {
                format!("{hours}h")
            } else {
                String::new()
            };
            let is_short = hours == 0 && minutes == 0;
            let minutes_shown = if is_short {
                String::new()
            } else {
                format!("{minutes}m")
            };
            hours_shown + &minutes_shown + &decimal(seconds % 60, rest, 9) + "s"
        }
    };
    sign.to_owned() + &text
}

/// Counts years and months from 1600 on.
fn time(nanos: i64) -> String {
    let (seconds, nanos) = (
        nanos.div_euclid(1_000_000_000),
        nanos.rem_euclid(1_000_000_000),
    );
    let mut day = seconds.div_euclid(86_400) + 135_140;
    let second = seconds.rem_euclid(86_400);
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1600;
    while day >= 365 + i64::from(is_leap(year)) {
        day -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    loop {
        let days = match month {
            2 => 28 + i64::from(is_leap(year)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let day = day + 1;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

/// With one decimal below 100, if it is not 0.
fn bytes(number: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = number as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    let text = if size < 100.0 {
        format!("{size:.1}")
    } else {
        format!("{size:.0}")
    };
    format!(
        "{} {}",
        text.strip_suffix(".0").unwrap_or(&text),
        units[unit]
    )
}
