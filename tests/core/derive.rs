//! Tests that structs are logged as events, and that statements of any length show all values.

use std::time::Duration;

use proptest::prelude::*;
use timeline::{Bytes, Event, Order, Priority, Timeline, event};

use crate::allocator::ALLOCATIONS;
use crate::statement::{shown, timeline};
use crate::support::{Name, attach};

/// A packet left the machine.
///
/// It went to one host.
#[derive(Event)]
#[event(
    category = "rust",
    priority = Warning,
    message = "sent {host}, {size} bytes, {host}",
    channels = "net|packets=on"
)]
pub struct Sent<'a> {
    pub size: Bytes,
    pub host: &'a str,
    #[event(skip)]
    #[allow(dead_code, reason = "it is not logged")]
    pub note: Vec<String>,
}

#[derive(Event)]
#[event(category = "rust")]
struct HTTPRequest<T, const N: usize>
where
    T: Copy,
{
    value: T,
    list: [u16; N],
    r#type: Option<&'static str>,
}

#[derive(Event)]
#[event(category = "rust", important)]
struct Started;

#[derive(Event)]
#[event(category = "rust")]
struct Six {
    a: i8,
    b: u64,
    c: f32,
    d: bool,
    e: char,
    f: Duration,
}

#[test]
fn structs_are_shown_as_the_naive_twin_shows_them() {
    let name = Name::new("derive");
    let tl = timeline(&name);
    tl.channel("net", true).expect("switched");
    let mut expected = Vec::new();
    for host in ["", "eth0", "größe"] {
        let size = Bytes(1024 * host.len() as u64);
        let note = vec!["no event".into()];
        Sent { size, host, note }.log(&tl);
        let size = match host.len() {
            0 => "0 B".to_owned(),
            length => format!("{length} KiB"),
        };
        expected.push(format!(
            "sent host({host}), size({size}) bytes, host({host})"
        ));
    }
    for _ in 0..2 {
        // Each set of types is an event of its own.
        let r#type = None;
        let list = [1, 2];
        HTTPRequest {
            value: -1_i8,
            list,
            r#type,
        }
        .log(&tl);
        HTTPRequest {
            value: 255_u8,
            list,
            r#type,
        }
        .log(&tl);
        HTTPRequest {
            value: "text",
            list: [],
            r#type: Some("a"),
        }
        .log(&tl);
        expected.extend(
            [
                "value(-1) list([1, 2]) type((null))",
                "value(255) list([1, 2]) type((null))",
                "value(text) list([]) type(a)",
            ]
            .map(|values| format!("http request {values}")),
        );
    }
    let f = Duration::from_micros(1);
    Six {
        a: -128,
        b: u64::MAX,
        c: -0.5,
        d: true,
        e: 'ß',
        f,
    }
    .log(&tl);
    expected.push(format!(
        "six a(-128) b({}) c(-0.5) d(true) e(ß) f(1µs)",
        u64::MAX
    ));
    assert_eq!(shown(&attach(name.path())), expected);
}

#[test]
fn a_definition_says_all_that_the_struct_says() {
    let name = Name::new("derive");
    let tl = timeline(&name);
    let sent = Sent::define(&tl).expect("defined");
    let started = Started::define(&tl).expect("defined");
    assert!(!tl.enabled(sent) && tl.enabled(started));
    let line = line!() + 1;
    event!(important: true, channels: "on=on", tl, Priority::Info, "rust", "statement");
    Started.log(&tl);
    let attached = attach(name.path());
    let definitions: Vec<_> = attached.definitions().collect();
    let [first, second, third] = definitions[..] else {
        panic!("one definition each");
    };
    assert_eq!(first.id, sent);
    assert_eq!(first.priority, Some(Priority::Warning));
    assert_eq!(
        first.message,
        "sent $host:str, $size:bytes bytes, $host:str\nA packet left the machine.\n\nIt went to \
         one host."
    );
    assert_eq!(first.channels, "net|packets");
    assert_eq!([&*second.category, &*second.message], ["rust", "started"]);
    assert_eq!(second.priority, Some(Priority::Info));
    for definition in [first, second, third] {
        assert_eq!(definition.file.as_deref(), Some(file!()));
    }
    assert_eq!([third.line, Some(line)], [Some(line), third.line]);
    assert_eq!(third.channels, "on");
    let events: Vec<_> = attached.events(Order::OldestFirst).collect();
    let ids = [events[0].id, events[1].id];
    assert_eq!(ids, [third.id, started]);
    assert!(events.iter().all(|event| event.important));
}

#[test]
fn what_was_defined_before_is_logged_without_allocations() {
    let name = Name::new("derive");
    let tl = timeline(&name);
    // The thread's own first event.
    event!(tl, Priority::Info, "rust", "first");
    let six = Six {
        a: 1,
        b: 2,
        c: 3.0,
        d: true,
        e: 'e',
        f: Duration::ZERO,
    };
    let text = HTTPRequest {
        value: "text",
        list: [7; 90],
        r#type: Some("a"),
    };
    Six::define(&tl).expect("defined");
    HTTPRequest::<&str, 90>::define(&tl).expect("defined");
    let before = ALLOCATIONS.get();
    six.log(&tl);
    text.log(&tl);
    assert_eq!(ALLOCATIONS.get(), before);
    assert_eq!(shown(&attach(name.path())).len(), 3);
}

/// The bound of one field is no bound of the others.
#[derive(Event)]
#[event(category = "rust")]
struct Twice<'a> {
    own: u8,
    other: &'a u8,
}

const SITE: usize = 2;
const NAMES: u8 = 3;

#[derive(Event)]
#[event(category = "rust")]
struct Own {
    list: [u8; SITE],
    #[event(skip)]
    _other: [u8; NAMES as usize],
}

#[test]
fn types_of_fields_mean_what_they_mean_elsewhere() {
    let name = Name::new("derive");
    let tl = timeline(&name);
    let _other = [0; 3];
    Own {
        list: [1, 2],
        _other,
    }
    .log(&tl);
    let other = &2;
    Twice { own: 1, other }.log(&tl);
    let expected = ["own list([1, 2])", "twice own(1) other(2)"];
    assert_eq!(shown(&attach(name.path())), expected);
}

#[test]
fn types_that_are_shown_alike_are_one_event_that_one_define_prepares() {
    let name = Name::new("derive");
    let tl = timeline(&name);
    event!(tl, Priority::Info, "rust", "first");
    let number = 7_u16;
    let (list, r#type) = ([1, 2, 3], Some("a"));
    let log = |value: &u16| {
        HTTPRequest {
            value,
            list,
            r#type,
        }
        .log(&tl);
    };
    HTTPRequest::<u16, 3>::define(&tl).expect("defined");
    let before = ALLOCATIONS.get();
    log(&number);
    assert_eq!(ALLOCATIONS.get(), before);
    assert_eq!(attach(name.path()).definitions().count(), 2);
}

fn log(tl: &Timeline, texts: &[String], list: &[u32]) {
    let [first, second, third] = texts else {
        unreachable!("three texts");
    };
    event!(
        tl,
        Priority::Info,
        "rust",
        "{first} {second} {list} {third}",
        first,
        second,
        list,
        third = third.as_str()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Around each of the sizes that a payload under construction may have.
    #[test]
    fn payloads_of_any_length_have_all_values_or_are_cut(
        texts in prop::collection::vec("[a-zé€]{0,400}|[a-z]{0,30}", 3),
        list in prop::collection::vec(any::<u32>(), 0..150),
    ) {
        let name = Name::new("derive");
        let tl = Timeline::with_size(name.path(), 65_536, 65_536).expect("created");
        log(&tl, &texts, &list);
        let attached = attach(name.path());
        let event = attached.events(Order::NewestFirst).next().expect("an event");
        let found = event.payload.expect("a payload").values;
        prop_assert_eq!(found, naive(&texts, &list, tl.payload_capacity()));
    }
}

/// The payload, as docs/format.md says.
fn naive(texts: &[String], list: &[u32], capacity: usize) -> Vec<u8> {
    let cut = |length: usize, whole: usize| length as u64 | u64::from(length < whole) << 63;
    let (mut words, mut data) = (Vec::new(), Vec::new());
    let mut text = |text: &str| {
        let mut length = text.len().min((capacity - 4) * 8 - data.len());
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        words.push(cut(length, text.len()));
        data.extend(&text.as_bytes()[..length]);
        data.resize(data.len().next_multiple_of(8), 0);
    };
    text(&texts[0]);
    text(&texts[1]);
    let count = list.len().min(((capacity - 4) * 8 - data.len()) / 4);
    words.push(cut(count, list.len()));
    data.extend(list[..count].iter().flat_map(|number| number.to_le_bytes()));
    data.resize(data.len().next_multiple_of(8), 0);
    let mut last = &texts[2][..];
    let room = (capacity - 4) * 8 - data.len();
    while last.len() > room {
        last = &last[..last.char_indices().next_back().expect("a character").0];
    }
    words.push(cut(last.len(), texts[2].len()));
    data.extend(last.as_bytes());
    data.resize(data.len().next_multiple_of(8), 0);
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    words.chain(data).collect()
}
