//! Writes the program of Lua that logs events.

use super::event::{Event, Field, Value};
use super::model::labels;

const HEAD: &str = r#"local timeline, ffi = require "timeline", require "ffi"
local tl = assert(timeline.open(arg[1]))
local bits = ffi.new "union { uint64_t bits; double f64; uint32_t half[2]; float f32[2]; }"
local function f64(word) bits.bits = word return bits.f64 end
local function f32(word) bits.half[0] = word return bits.f32[0] end
local nan, inf = 0 / 0, 1 / 0
"#;

/// A program that logs the events to the timeline whose name is its argument.
pub fn program(events: &[Event]) -> String {
    let mut program = HEAD.to_owned();
    for event in events {
        let message = event.message(|field| field.kind != "i64" || field.has_type);
        let values: Vec<String> = event.fields.iter().map(value).collect();
        program += &format!(
            "assert(timeline.define(tl, 'typed', 'info', {}))({})\n",
            literal(message.as_bytes()),
            values.join(", ")
        );
    }
    program
}

fn literal(text: &[u8]) -> String {
    let byte = |byte: &u8| match byte.is_ascii_alphanumeric() {
        true => char::from(*byte).to_string(),
        false => format!("\\{byte:03}"),
    };
    format!("\"{}\"", text.iter().map(byte).collect::<String>())
}

fn value(field: &Field) -> String {
    match &field.value {
        Value::Word(word) => number(&field.kind, *word, field.way),
        Value::Text(Some(text)) => literal(text),
        Value::Array(Some(words)) => array(field, words),
        _ => panic!("nothing that Lua has: {field:?}"),
    }
}

fn array(field: &Field, words: &[u64]) -> String {
    let element = field.kind.trim_end_matches("[]");
    let numbers = words
        .iter()
        .map(|word| number(element, *word, field.way >> 8));
    let table = format!("{{{}}}", numbers.collect::<Vec<_>>().join(", "));
    let of_c = match element {
        "f32" => "float".to_owned(),
        "f64" => "double".to_owned(),
        _ => element.replace('i', "int").replace('u', "uint") + "_t",
    };
    match field.way % 3 {
        0 => table,
        1 => format!("ffi.new('{of_c}[{}]', {table})", words.len()),
        _ => format!("ffi.new('{of_c}[?]', {}, {table})", words.len()),
    }
}

fn number(kind: &str, word: u64, way: u64) -> String {
    let is_fraction = |special: Option<&str>, convert: &str| match special {
        Some(special) => special.to_owned(),
        None => format!("{convert}({word:#x}ULL)"),
    };
    match kind {
        "f32" => is_fraction(special(f32::from_bits(word as u32).into()), "f32"),
        "f64" => is_fraction(special(f64::from_bits(word)), "f64"),
        "bool" if way.is_multiple_of(2) => (word != 0).to_string(),
        "char" if way.is_multiple_of(2) => match char::from_u32(word as u32) {
            Some(character) => literal(character.to_string().as_bytes()),
            None => integer(word, way),
        },
        _ if kind.contains('(') => {
            let all = labels(kind);
            match all.iter().find(|(_, own)| *own == word as i64) {
                Some((name, _)) if way.is_multiple_of(2) => literal(name.as_bytes()),
                _ => integer(word, way),
            }
        }
        // There, LuaJIT does not say what becomes of a number below 0.
        "u64" if word >> 63 != 0 => format!("{word:#x}ULL"),
        _ => integer(short(kind, word), way),
    }
}

/// The word of which only the low bits are left, as C would have it.
fn short(kind: &str, word: u64) -> u64 {
    match kind {
        "i8" => word as i8 as u64,
        "i16" => word as i16 as u64,
        "i32" => word as i32 as u64,
        "u8" => u64::from(word as u8),
        "u16" => u64::from(word as u16),
        "u32" => u64::from(word as u32),
        _ => word,
    }
}

/// LuaJIT changes the bits of a number that is none.
fn special(number: f64) -> Option<&'static str> {
    match number {
        _ if number.is_nan() => Some("nan"),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

fn integer(word: u64, way: u64) -> String {
    let signed = word as i64;
    match signed.unsigned_abs() < 1 << 53 && (way / 2).is_multiple_of(2) {
        true => signed.to_string(),
        false => format!("{word:#x}ULL"),
    }
}
