//! Events of random fields, with values that are often the edges of their types.

use timeline::Element;
use timeline::internal::{FIELD_TYPES, FieldDescriptor};

use crate::support::Random;

/// What a program logs as one argument.
#[derive(Debug, Clone)]
pub enum Value {
    /// The word of a number: of a shorter type, the low bits count.
    Word(u64),
    /// A text; none is a pointer that is NULL.
    Text(Option<Vec<u8>>),
    /// A text of wide characters without NUL.
    Wide(Option<Vec<u32>>),
    /// The words of numbers; none is a pointer that is NULL.
    Array(Option<Vec<u64>>),
}

/// An argument.
#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    /// Its type, as a message names it.
    pub kind: String,
    /// Whether the message names it, where the language knows it otherwise.
    pub has_type: bool,
    pub value: Value,
    /// Which of several ways to write the value a language takes.
    pub way: u64,
}

/// An event.
#[derive(Debug)]
pub struct Event {
    pub fields: Vec<Field>,
    /// The text before each argument, and behind the last one.
    pub texts: Vec<&'static str>,
    pub way: u64,
}

impl Event {
    /// The message, in which `has_type` says whether the type of an argument is named.
    pub fn message(&self, has_type: impl Fn(&Field) -> bool) -> String {
        let mut message = String::new();
        for (text, field) in self.texts.iter().zip(&self.fields) {
            message += &format!("{text}${}", field.name);
            if has_type(field) {
                message += &format!(":{}", field.kind);
            }
        }
        message + self.texts[self.fields.len()] + "\nExplains it, without $this:u8."
    }
}

/// What a language can log.
pub struct Can {
    /// How many events are made.
    pub events: usize,
    /// Texts and arrays that are NULL.
    pub null: bool,
    /// Texts of wide characters.
    pub wide: bool,
}

/// The types of the numbers of arrays, which begin the table.
const NUMBERS: &[FieldDescriptor] = FIELD_TYPES.split_at(Element::ALL.len()).0;
/// Types with names of numbers.
const NAMED: [&str; 5] = [
    "enum(red=1,green=2,größe=-3)",
    "enum( least = -9223372036854775808 , most=9223372036854775807,next=0x7ffffffffffffffe)",
    "flags(r=1,w=2,x=0x4)",
    "flags(all=7, r=1,none=0,top=0x8000000000000000)",
    "enum(one=1)",
];
/// None begins with a character that would belong to a name or to a type.
const TEXTS: [&str; 9] = [
    " ",
    ", ",
    "; ",
    ": ",
    " größer als ",
    "/",
    "\"\\",
    " 5% of ",
    "$",
];

/// The types that are neither arrays nor have names of numbers.
pub fn plain_types() -> impl Iterator<Item = &'static str> {
    let is_plain =
        |row: &&FieldDescriptor| row.kind.labels().is_none() && row.kind.element().is_none();
    FIELD_TYPES.iter().filter(is_plain).map(|row| row.name)
}

fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize]
}

/// So many: few in most events, because compilers take long for many.
fn count(random: &mut Random) -> u64 {
    match random.below(12) {
        0 => random.below(65),
        1 => 64,
        2 | 3 => 5 + random.below(12),
        _ => random.below(6),
    }
}

pub fn event(random: &mut Random, can: &Can) -> Event {
    let count = count(random);
    let others = plain_types().skip(NUMBERS.len()).chain(NAMED);
    let others: Vec<&str> = others.collect();
    let mut texts = vec![pick(random, &["", "sent ", "größe ", "it: "])];
    let mut fields = Vec::new();
    // Most texts and arrays are short, or no event would have room for the last one.
    let long = random.below(3) == 0;
    for number in 0..count {
        let name = pick(random, &["a", "B_", "_c", "d9"]);
        let kind = match random.below(4) {
            0 => pick(random, NUMBERS).name.to_owned(),
            1 => format!("{}[]", pick(random, NUMBERS).name),
            _ => pick(random, &others).to_owned(),
        };
        fields.push(Field {
            name: format!("{name}{number}"),
            has_type: random.below(2) == 0,
            value: value(random, &kind, can, long),
            kind,
            way: random.next(),
        });
        texts.push(pick(random, &TEXTS));
    }
    let way = random.next();
    // A `$` at the end of the line is text.
    Event { fields, texts, way }
}

pub fn value(random: &mut Random, kind: &str, can: &Can, long: bool) -> Value {
    let is_null = can.null && random.below(8) == 0;
    if let Some(element) = kind.strip_suffix("[]") {
        let length = length(random, long);
        let numbers = (0..length).map(|_| word(random, element)).collect();
        return Value::Array((!is_null).then_some(numbers));
    }
    let is_text = matches!(kind, "str" | "istr" | "wstr");
    if can.wide && (kind == "wstr" || is_text && random.below(8) == 0) {
        let wide = (0..length(random, long)).map(|_| wide(random)).collect();
        return Value::Wide((!is_null).then_some(wide));
    }
    match is_text {
        true => Value::Text((!is_null).then(|| text(random, long))),
        false => Value::Word(word(random, kind)),
    }
}

fn length(random: &mut Random, long: bool) -> u64 {
    match random.below(if long { 6 } else { 4 }) {
        0 => pick(random, &[0, 1, 7, 8, 9, 16, 63, 64, 65]),
        1..=3 => random.below(24),
        _ => random.below(1_700),
    }
}

/// By the beginning of a type: words that are edges, or near one.
const EDGES: &[(&str, &[u64])] = &[
    (
        "f32",
        &[
            0,
            1,
            1 << 31,
            0x7f80 << 16,
            0xff80 << 16,
            0x7fc0 << 16,
            0xffc0 << 16,
            0x7f7f_ffff,
        ],
    ),
    (
        "f64",
        &[
            0,
            1,
            1 << 63,
            0x7ff0 << 48,
            0xfff0 << 48,
            0x7ff8 << 48,
            0xfff8 << 48,
        ],
    ),
    ("f64", &[0x7fef_ffff_ffff_ffff, 0x3fb9_9999_9999_999a]),
    ("bool", &[0, 1]),
    // Code points, none, and a byte of C.
    (
        "char",
        &[
            0,
            9,
            0x41,
            0xe9,
            0x20ac,
            0x1f600,
            0x10_ffff,
            0xd800,
            0x11_0000,
            -23_i64 as u64,
        ],
    ),
    (
        "ns",
        &[
            0,
            999,
            1_000,
            60_000_000_000,
            3_600_000_000_000,
            999_999_999,
            1 << 63,
        ],
    ),
    (
        "time",
        &[
            0,
            u64::MAX,
            951_782_400_000_000_000,
            1 << 63,
            i64::MAX as u64,
        ],
    ),
    (
        "bytes",
        &[0, 1023, 1024, 1536, 102_399, 1 << 40, 1 << 60, u64::MAX],
    ),
    ("enum", &[0, 1, 2, -3_i64 as u64, i64::MAX as u64, 1 << 63]),
    ("flags", &[0, 1, 3, 7, 0xf, 1 << 63, u64::MAX]),
    (
        "",
        &[
            0,
            1,
            0x7f,
            0x80,
            0x7fff,
            0x8000,
            0x7fff_ffff,
            1 << 31,
            1 << 32,
        ],
    ),
    ("", &[i64::MAX as u64, 1 << 63, u64::MAX]),
];

fn word(random: &mut Random, kind: &str) -> u64 {
    let any = random.next() >> random.below(64);
    let begin = EDGES.iter().find(|(own, _)| kind.starts_with(own));
    let named = EDGES
        .iter()
        .filter(|(own, _)| Some(*own) == begin.map(|(own, _)| *own));
    let edges: Vec<u64> = named.flat_map(|(_, all)| *all).copied().collect();
    match random.below(4) {
        0 if kind == "f32" => (any as u32).into(),
        0 if kind == "char" => 0x4e00 + any % 0x5000,
        0 => any,
        _ => pick(random, &edges),
    }
}

fn text(random: &mut Random, long: bool) -> Vec<u8> {
    let pieces: [&[u8]; 18] = [
        b"a",
        b"Z9",
        b" ",
        b"",
        b"\"",
        b"\\",
        b"%s$x:",
        b"\n",
        b"\r",
        b"\t",
        b"\x1b",
        b"\x7f",
        b"\0",
        "ß".as_bytes(),
        "€".as_bytes(),
        "😀".as_bytes(),
        "\u{202e}".as_bytes(),
        b"\xe2\x82",
    ];
    let bytes = [b"\xff", b"\x80", b"\xc3", b"\xf0"];
    let is_sound = random.below(4) > 0;
    let length = length(random, long) as usize;
    let mut text = Vec::new();
    while text.len() < length {
        match random.below(if is_sound { 12 } else { 14 }) {
            0..=5 => text.push(b'b' + random.below(20) as u8),
            6..=11 => text.extend(pieces[random.below(if is_sound { 17 } else { 18 }) as usize]),
            _ => text.extend(pick(random, &bytes)),
        }
    }
    text
}

fn wide(random: &mut Random) -> u32 {
    match random.below(6) {
        0 => pick(random, &[1, 9, 10, 0x7f, 0x80, 0xffff, 0x1f600, 0x10_ffff]),
        1 => pick(random, &[0xd800, 0xdfff, 0x11_0000, u32::MAX, 0x7fff_ffff]),
        2 => random.below(0x5000) as u32 + 0x4e00,
        _ => b'a' as u32 + random.below(26) as u32,
    }
}
