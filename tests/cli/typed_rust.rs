//! Events with each type of Rust are shown alike everywhere: as a naive model shows them.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use timeline::{Bytes, Event, Hex, Nanoseconds, Timeline, UnixTime};

use crate::support::{Name, Random};
use crate::typed::check_everywhere;

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
    let json = serde_json::from_str(&text).expect("a number");
    (text, json)
}

fn float(number: impl Debug) -> (String, Json) {
    let text = format!("{number:?}");
    let json = match serde_json::from_str(&text) {
        Ok(number) => number,
        Err(_) => json!(text.to_lowercase()),
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
        (Nanoseconds(took).to_string(), json!(took)),
        (UnixTime(time).to_string(), json!(time)),
        (event.q.to_string(), json!(event.q.0)),
        (format!("{place:#x}"), json!(place)),
        words(event.s),
        words(&event.t),
        event.u.map_or(("(null)".into(), Json::Null), words),
        list(&event.v, integer),
        list(event.w, integer),
        list(&event.x, float),
        list(event.y, float),
        (event.z.to_string(), json!(event.z.0)),
        (format!("{:#x}", event.hex.0), json!(event.hex.0)),
    ];
    let (mut message, mut args) = ("all".to_owned(), json!({}));
    let names = ('a'..='z').map(String::from);
    for (name, (text, value)) in names.chain(["hex".into()]).zip(fields) {
        message += &format!(" {name}({text})");
        args[name] = value;
    }
    (message, args)
}

#[test]
fn events_of_rust_are_shown_alike_everywhere() {
    let name = Name::new("typed-rust");
    let tl = Timeline::with_size(name.path(), 65_536, 65_536).unwrap();
    let seed = u64::from(std::process::id());
    println!("the seed is {seed}");
    let mut random = Random(seed);
    let expected: Vec<_> = (0..200).map(|_| log(&tl, &mut random)).collect();
    check_everywhere(&name, tl, &expected);
}
