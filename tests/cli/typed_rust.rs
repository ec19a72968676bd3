//! Events with each type of Rust are shown alike everywhere: as a naive model shows them.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use timeline::{Bytes, Event, Flags, Hex, Named, Nanoseconds, Timeline, UnixTime, Wide};

use crate::support::{Name, Random};
use crate::typed::{check_everywhere, whole};

/// A field of each type.
#[derive(Event)]
#[event(category = "typed")]
struct All<'a, T, U> {
    a: i8,
    b: i16,
    c: i32,
    d: i64,
    e: isize,
    f: u8,
    g: u16,
    h: u32,
    i: u64,
    j: usize,
    k: f32,
    l: f64,
    m: bool,
    n: char,
    o: Duration,
    p: SystemTime,
    q: Bytes,
    r: *const u8,
    s: &'a str,
    t: T,
    u: Option<&'a str>,
    v: Vec<i8>,
    w: &'a [u64],
    x: [f32; 3],
    y: U,
    z: Nanoseconds,
    hex: Hex,
}

/// Numbers with names, some of them at the edges.
#[derive(Named, Debug, Clone, Copy)]
#[repr(i64)]
enum Color {
    Least = i64::MIN,
    Red = -1,
    Grün,
    r#Blue = 3 + 4,
    Most = i64::MAX,
}

#[derive(Named)]
#[repr(u64)]
enum Access {
    _Read = 1,
    _Write = 1 << 1,
    _Both = 3,
    _None = 0,
    _Top = 1 << 63,
}

/// With names that are given by hand.
struct ByHand;

impl Named for ByHand {
    const NAMES: &'static str = "body=4";
}

/// What has names, and wide texts.
#[derive(Event)]
#[event(category = "typed")]
struct More<'a> {
    color: Color,
    by: &'a Color,
    access: Flags<Access>,
    hand: Flags<ByHand>,
    utf16: Wide<'a, u16>,
    utf32: Wide<'a, u32>,
    wchar: Wide<'a, i32>,
    last: &'a str,
}

/// One of these, or another one.
fn pick<T: Copy>(random: &mut Random, edges: &[T], other: impl Fn(u64) -> T) -> T {
    match edges.get(random.below(edges.len() as u64 + 2) as usize) {
        Some(edge) => *edge,
        None => other(random.next()),
    }
}

macro_rules! integer {
    ($random:expr, $type:ty) => {
        pick($random, &[0, 1, <$type>::MIN, <$type>::MAX], |bits| {
            bits as $type
        })
    };
}

fn text(random: &mut Random) -> String {
    let letters = ['a', 'Z', ' ', 'ß', '€', '😀', '$', '(', '"', '\\'];
    let length = pick(random, &[0, 1, 7, 8, 9, 16], |bits| bits % 30);
    let letter = |_| letters[random.below(letters.len() as u64) as usize];
    (0..length).map(letter).collect()
}

/// A value as text, and in JSON.
fn integer(number: impl ToString) -> (String, Json) {
    let text = number.to_string();
    let json = whole(text.parse::<i128>().expect("a number"));
    (text, json)
}

fn float(number: impl Debug) -> (String, Json) {
    // `nan` and not `NaN`.
    let text = format!("{number:?}").to_lowercase();
    let json = match serde_json::from_str(&text) {
        Ok(number) => number,
        Err(_) => json!(text),
    };
    (text, json)
}

fn words(text: &str) -> (String, Json) {
    (text.to_owned(), json!(text))
}

fn list<T: Copy>(elements: &[T], show: impl Fn(T) -> (String, Json)) -> (String, Json) {
    let shown = elements.iter().map(|element| show(*element));
    let (texts, json): (Vec<_>, Vec<_>) = shown.unzip();
    (format!("[{}]", texts.join(", ")), json.into())
}

/// Logs an event; its message and arguments, by the model.
fn log(tl: &Timeline, random: &mut Random) -> (String, Json) {
    let [s, t, u] = [(); 3].map(|()| text(random));
    let count = random.below(20);
    let v = (0..count).map(|_| integer!(random, i8)).collect();
    let w: Vec<u64> = (0..count / 4).map(|_| integer!(random, u64)).collect();
    let floats = [0.0, -0.0, 1.5, f64::MIN, f64::MAX, f64::NAN, f64::INFINITY];
    let mut fraction = || pick(random, &floats, |bits| f64::from_bits(bits >> 2));
    let y = [fraction(), fraction()];
    let (k, l) = (fraction() as f32, fraction());
    let x = [fraction() as f32, 0.1, -2.5e-9];
    let o = pick(random, &[0, 1, i64::MAX as u64], |bits| bits >> 1);
    let p = pick(random, &[0, 1, 9_000_000_000], |bits| bits % 1_000_000_000);
    let letter = |bits| (b'a' + (bits % 26) as u8) as char;
    let event = All {
        a: integer!(random, i8),
        b: integer!(random, i16),
        c: integer!(random, i32),
        d: integer!(random, i64),
        e: integer!(random, isize),
        f: integer!(random, u8),
        g: integer!(random, u16),
        h: integer!(random, u32),
        i: integer!(random, u64),
        j: integer!(random, usize),
        k,
        l,
        m: random.below(2) == 0,
        n: pick(random, &['a', 'ß', '😀'], letter),
        o: Duration::from_nanos(o),
        p: UNIX_EPOCH + Duration::from_secs(p),
        q: Bytes(integer!(random, u64)),
        r: std::ptr::without_provenance(integer!(random, usize)),
        s: &s,
        t,
        u: (random.below(3) > 0).then_some(&*u),
        v,
        w: &w,
        x,
        y: &y[..],
        z: Nanoseconds(integer!(random, i64)),
        hex: Hex(integer!(random, u64)),
    };
    event.log(tl);
    model(&event)
}

fn model(event: &All<String, &[f64]>) -> (String, Json) {
    let took = event.o.as_nanos() as i64;
    let since = event.p.duration_since(UNIX_EPOCH).expect("after it");
    let time = since.as_nanos() as i64;
    let place = event.r.addr();
    let fields = [
        integer(event.a),
        integer(event.b),
        integer(event.c),
        integer(event.d),
        integer(event.e),
        integer(event.f),
        integer(event.g),
        integer(event.h),
        integer(event.i),
        integer(event.j),
        float(event.k),
        float(event.l),
        (event.m.to_string(), json!(event.m)),
        (event.n.to_string(), json!(event.n)),
        (Nanoseconds(took).to_string(), whole(took)),
        (UnixTime(time).to_string(), whole(time)),
        (event.q.to_string(), whole(event.q.0)),
        (format!("{place:#x}"), whole(place as u64)),
        words(event.s),
        words(&event.t),
        event.u.map_or(("(null)".into(), Json::Null), words),
        list(&event.v, integer),
        list(event.w, integer),
        list(&event.x, float),
        list(event.y, float),
        (event.z.to_string(), whole(event.z.0)),
        (format!("{:#x}", event.hex.0), whole(event.hex.0)),
    ];
    let (mut message, mut args) = ("all".to_owned(), json!({}));
    let names = ('a'..='z').map(String::from);
    for (name, (text, value)) in names.chain(["hex".into()]).zip(fields) {
        message += &format!(" {name}({text})");
        args[name] = value;
    }
    (message, args)
}

/// Units of wide texts, some of which are no characters; now and then more than have room.
fn units(random: &mut Random) -> Vec<u32> {
    let edges = [
        0x61,
        0xdf,
        0x20ac,
        0xd83d,
        0xde00,
        0xffff,
        0x1f600,
        0x11_0000,
        u32::MAX,
    ];
    let length = pick(random, &[0, 1, 8, 9], |bits| bits % 40) * pick(random, &[1, 1, 60], |_| 1);
    let unit = |_| pick(random, &edges, |bits| 0x4e00 + (bits % 0x5000) as u32);
    (0..length).map(unit).collect()
}

/// So much of a text as has room, from which it is taken.
fn kept(text: &str, room: &mut usize) -> (String, Json) {
    let mut kept = String::new();
    for character in text.chars() {
        if kept.len() + character.len_utf8() > *room {
            *room = 0;
            return words(&(kept + "…"));
        }
        kept.push(character);
    }
    *room -= kept.len().next_multiple_of(8);
    words(&kept)
}

/// Logs an event of what has names and of wide texts; its message and arguments, by the model.
fn log_more(tl: &Timeline, random: &mut Random) -> (String, Json) {
    let colors = [
        Color::Least,
        Color::Red,
        Color::Grün,
        Color::r#Blue,
        Color::Most,
    ];
    let [color, by] = [(); 2].map(|()| pick(random, &colors, |_| Color::Red));
    let bits = integer!(random, u64) & pick(random, &[7, 1 << 63], |bits| bits);
    let (short, long) = (units(random), units(random));
    let utf16: Vec<u16> = short.iter().map(|unit| *unit as u16).collect();
    let wchar: Vec<i32> = long.iter().map(|unit| *unit as i32).collect();
    let last = text(random);
    let event = More {
        color,
        by: &by,
        access: Flags::new(bits),
        hand: Flags::new(bits),
        utf16: Wide(&utf16),
        utf32: Wide(&long),
        wchar: Wide(&wchar),
        last: &last,
    };
    event.log(tl);
    let named = |color: Color| words(&format!("{color:?}"));
    let access = [(1, "_Read"), (2, "_Write"), (3, "_Both"), (1 << 63, "_Top")];
    let wide: String = long
        .iter()
        .map(|unit| char::from_u32(*unit).unwrap_or('\u{fffd}'))
        .collect();
    let mut room = 1528 - 8 * 8;
    let fields = [
        ("color", named(color)),
        ("by", named(by)),
        ("access", flags(&access, bits)),
        ("hand", flags(&[(4, "body")], bits)),
        ("utf16", kept(&String::from_utf16_lossy(&utf16), &mut room)),
        ("utf32", kept(&wide, &mut room)),
        ("wchar", kept(&wide, &mut room)),
        ("last", kept(&last, &mut room)),
    ];
    let (mut message, mut args) = ("more".to_owned(), json!({}));
    for (name, (text, value)) in fields {
        message += &format!(" {name}({text})");
        args[name] = value;
    }
    (message, args)
}

fn flags(names: &[(u64, &str)], bits: u64) -> (String, Json) {
    let set = names.iter().filter(|(own, _)| bits & own == *own);
    let rest = set.clone().fold(bits, |rest, (own, _)| rest & !own);
    let mut texts: Vec<String> = set.clone().map(|(_, name)| (*name).to_owned()).collect();
    let mut json: Vec<Json> = set.map(|(_, name)| json!(name)).collect();
    if rest != 0 {
        texts.push(format!("{rest:#x}"));
        json.push(whole(rest));
    }
    match texts.is_empty() {
        true => ("0".to_owned(), json.into()),
        false => (texts.join("|"), json.into()),
    }
}

#[test]
fn events_of_rust_are_shown_alike_everywhere() {
    let name = Name::new("typed-rust");
    let tl = Timeline::with_size(name.path(), 65_536, 65_536).unwrap();
    let seed = u64::from(std::process::id());
    println!("the seed is {seed}");
    let mut random = Random(seed);
    let expected: Vec<_> = (0..200)
        .flat_map(|_| [log(&tl, &mut random), log_more(&tl, &mut random)])
        .collect();
    check_everywhere(&name, tl, &expected);
}
