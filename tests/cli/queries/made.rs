//! A program with random events, which threads with names and groups log.

use timeline::{Attached, Attributes, Event, Priority, Timeline, lay_out};

use crate::command::gettid;
use crate::languages;
use crate::languages::event::{Can, Field, Value, plain_types, value};
use crate::support::{Name, Random};

pub const CATEGORIES: [&str; 5] = ["net", "net.tcp", "größe", "a b", "disk"];
pub const PRIORITIES: [Priority; 7] = [
    Priority::Error,
    Priority::Warning,
    Priority::Info,
    Priority::Trace,
    Priority::App,
    Priority::Packet,
    Priority::Library,
];
/// Names of fields, some of which are words of expressions or numbers.
pub const NAMES: [&str; 12] = [
    "a", "b", "B_", "_c", "and", "or", "not", "true", "false", "0", "1", "9lives",
];
/// Types besides the plain ones, and of those, once more, the ones that are compared otherwise.
const KINDS: [&str; 16] = [
    "f32",
    "f64",
    "str",
    "time",
    "enum(red=1,green=2,größe=-3,rouge=1)",
    "enum( least = -9223372036854775808 , most=9223372036854775807)",
    "flags(r=1,w=2,x=0x4)",
    "flags(all=7, r=1,none=0,top=0x8000000000000000)",
    "i8[]",
    "u8[]",
    "i16[]",
    "u32[]",
    "i64[]",
    "u64[]",
    "f32[]",
    "f64[]",
];
/// Of a thread: its name and its group.
pub const THREADS: [(&str, &str); 4] = [
    ("main loop", ""),
    ("worker 1", "workers"),
    ("worker 2", "workers"),
    ("größe", "grüppe"),
];
const DEFINITIONS: u64 = 60;
const EVENTS: u64 = 240;

/// The values of an event, as a message or as a format of printf has them.
#[derive(Debug, Clone)]
pub enum Values {
    Typed(Vec<Field>),
    Printed(Vec<timeline::Value<'static>>),
}

/// An event that was logged.
#[derive(Debug, Clone)]
pub struct Logged {
    pub category: &'static str,
    pub priority: Priority,
    pub message: String,
    pub values: Values,
    /// Of [`THREADS`].
    pub thread: usize,
    pub tid: u32,
}

/// All events, by their numbers.
pub struct Made {
    pub events: Vec<Logged>,
}

/// A definition.
struct Defined {
    id: timeline::EventId,
    category: &'static str,
    priority: Priority,
    message: String,
    /// The names and types of the fields, or else the format of printf.
    fields: Option<Vec<(&'static str, &'static str)>>,
}

pub fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize]
}

/// Formats of printf, and what they take behind the number of the event.
pub const FORMATS: [(&str, &str); 3] = [
    ("%d %s, %.2f", "sf"),
    ("%d of %Lf: %s\n%llu", "Lsu"),
    ("%d %s %c %lld", "scd"),
];

fn define(random: &mut Random, tl: &Timeline, line: u32) -> Defined {
    let (category, priority) = (pick(random, &CATEGORIES), pick(random, &PRIORITIES));
    let attributes = Attributes {
        important: random.below(6) == 0,
        ..Attributes::default()
    };
    if random.below(6) == 0 {
        let message = pick(random, &FORMATS).0.to_owned();
        let place = ("main.c", line);
        let id = tl.define_printf(category, priority, &message, place, &attributes);
        return Defined {
            id: id.unwrap(),
            category,
            priority,
            message,
            fields: None,
        };
    }
    let count = match random.below(8) {
        0 => 8 + random.below(50),
        _ => random.below(7),
    };
    let kinds: Vec<&str> = plain_types().chain(KINDS).collect();
    let mut fields: Vec<_> = (0..count)
        .map(|_| (pick(random, &NAMES), pick(random, &kinds)))
        .collect();
    fields.insert(random.below(count + 1) as usize, ("number", "i64"));
    let mut message = pick(random, &["sent ", "größe ", ""]).to_owned() + &line.to_string();
    for (name, kind) in &fields {
        message += &format!(" ${name}:{kind}");
    }
    let id = tl.define_with(category, priority, &message, &attributes);
    Defined {
        id: id.unwrap(),
        category,
        priority,
        message,
        fields: Some(fields),
    }
}

/// Often one of few values, so that some are equal.
fn small(random: &mut Random, kind: &str) -> Option<Value> {
    let word = match kind {
        "f32" => pick(random, &[0.0, -0.0, 0.1, 1.5, 16_777_216.0, f32::NAN])
            .to_bits()
            .into(),
        "f64" => pick(
            random,
            &[0.0_f64, -0.0, 0.1, 1.5, 9_007_199_254_740_992.0, 1e300],
        )
        .to_bits(),
        "time" => pick(
            random,
            &[0, 1_700_000_000_000_000_000, 1_700_000_000_500_000_000],
        ),
        "str" | "wstr" | "istr" => {
            let text = pick(
                random,
                &["", "eth0", "eth", "red", "größe", "0", "a\"b\\c'd.e"],
            );
            return Some(Value::Text(Some(text.into())));
        }
        _ if kind.ends_with("[]") => return None,
        _ => pick(random, &[0, 1, 2, 3, u64::MAX]),
    };
    Some(Value::Word(word))
}

fn typed(random: &mut Random, fields: &[(&str, &str)], number: u64) -> Values {
    let can = Can {
        events: 0,
        null: true,
        wide: false,
    };
    let long = random.below(6) == 0;
    let value = |(name, kind): &(&str, &str)| {
        let value = match (*name, random.below(2)) {
            ("number", _) => Value::Word(number),
            (_, 0) => small(random, kind).unwrap_or_else(|| value(random, kind, &can, long)),
            _ => value(random, kind, &can, long),
        };
        Field {
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
            has_type: true,
            value,
            way: 0,
        }
    };
    Values::Typed(fields.iter().map(value).collect())
}

fn printed(random: &mut Random, format: &str, number: u64) -> Values {
    use timeline::Value::{Float, Int, LongDouble, Nil, Text, Uint};
    let (_, conversions) = FORMATS.iter().find(|(own, _)| *own == format).unwrap();
    let texts: [&[u8]; 5] = [b"eth0", b"", b"0", b"\xff\xfe", b"a\nb"];
    let mut value = |conversion| match conversion {
        'f' => Float(pick(random, &[0.1, -0.0, 1e300, f64::NAN])),
        'L' => LongDouble(pick(random, &LONG).0),
        'u' => Uint(pick(random, &[0, 1, u64::MAX, 1 << 63])),
        'd' => Int(pick(random, &[0, -1, i64::MIN, i64::MAX])),
        'c' => Int(pick(random, &[65, 0, 98])),
        _ if random.below(4) == 0 => Nil,
        _ => Text {
            bytes: pick(random, &texts),
            cut: random.below(4) == 0,
        },
    };
    let number = Int(number as i64);
    let values = conversions.chars().map(&mut value);
    Values::Printed([number].into_iter().chain(values).collect())
}

/// Numbers in the memory format of x86, and what they are.
pub const LONG: [([u8; 16], f64); 5] = [
    ([0; 16], 0.0),
    (long(0, 0x8000), -0.0),
    (long(1 << 63, 0x3fff), 1.0),
    (long(0xc000 << 48, 0xc000), -3.0),
    (long(1 << 63, 0x7fff), f64::INFINITY),
];

const fn long(significand: u64, exponent: u16) -> [u8; 16] {
    let (low, high) = (significand.to_le_bytes(), exponent.to_le_bytes());
    let mut bytes = [0; 16];
    let mut at = 0;
    while at < 8 {
        bytes[at] = low[at];
        at += 1;
    }
    (bytes[8], bytes[9]) = (high[0], high[1]);
    bytes
}

fn event(random: &mut Random, of: &Defined, number: u64, thread: usize) -> Logged {
    let values = match &of.fields {
        Some(fields) => typed(random, fields, number),
        None => printed(random, &of.message, number),
    };
    Logged {
        category: of.category,
        priority: of.priority,
        message: of.message.clone(),
        values,
        thread,
        tid: gettid(),
    }
}

fn log(tl: &Timeline, of: &Defined, logged: &Logged, way: u64) {
    match &logged.values {
        Values::Typed(fields) => languages::log(tl, of.id, fields, way),
        Values::Printed(values) => tl.log_payload(of.id, &lay_out(values), false),
    }
}

impl Made {
    /// Logs all events, thread by thread.
    pub fn log(random: &mut Random, name: &Name) -> Made {
        let tl = Timeline::with_size(name.path(), 65_536, 1 << 20).unwrap();
        let definitions: Vec<_> = (0..DEFINITIONS)
            .map(|line| define(random, &tl, line as u32))
            .collect();
        let mut events = Vec::new();
        for (thread, (own, group)) in THREADS.iter().enumerate() {
            let (tl, events, random) = (&tl, &mut events, &mut *random);
            let definitions = &definitions;
            let work = move || {
                tl.thread(*own, *group).unwrap();
                for _ in 0..EVENTS / THREADS.len() as u64 {
                    let of = &definitions[random.below(DEFINITIONS) as usize];
                    let logged = event(random, of, events.len() as u64, thread);
                    log(tl, of, &logged, random.next());
                    events.push(logged);
                }
            };
            std::thread::scope(|scope| scope.spawn(work).join()).unwrap();
        }
        Made { events }
    }

    /// Times between the last event of a thread and the first of the next, between which a thread
    /// was begun. All places have these events on the same side, though their clocks are
    /// nanoseconds apart.
    pub fn quiet_moments(&self, at: &Attached, events: &[(usize, Event)]) -> Vec<u64> {
        let times = |thread: usize| {
            let own = events
                .iter()
                .filter(move |(number, _)| self.events[*number].thread == thread);
            own.map(|(_, event)| at.unix_nanos(event.ticks).unwrap())
        };
        (1..THREADS.len())
            .map(|next| {
                let (last, first) = (times(next - 1).max(), times(next).min());
                let (last, first) = (last.unwrap(), first.unwrap());
                assert!(last < first);
                last + (first - last) / 2
            })
            .collect()
    }
}
