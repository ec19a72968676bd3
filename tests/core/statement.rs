//! Tests that statements log what a naive twin shows, and evaluate nothing while they are disabled.

use std::cell::Cell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use timeline::{Attached, Bytes, Level, Nanoseconds, Order, Priority, Timeline, dump, event, span};

use crate::allocator::ALLOCATIONS;
use crate::support::{Name, attach};

pub fn timeline(name: &Name) -> Timeline {
    Timeline::with_size(name.path(), 16_384, 65_536).expect("created")
}

/// The messages of all events, the oldest first.
pub fn shown(attached: &Attached) -> Vec<String> {
    let mut text = Vec::new();
    dump::write(attached, None, &mut text).expect("written");
    let text = String::from_utf8(text).expect("UTF-8");
    let lines = text.lines().skip(1);
    let mut lines: Vec<String> = lines
        .map(|line| {
            line.split_once("rust ")
                .expect("a category")
                .1
                .trim()
                .to_owned()
        })
        .collect();
    lines.reverse();
    lines
}

#[test]
fn each_type_is_shown_as_the_naive_twin_shows_it() {
    let name = Name::new("statement");
    let tl = timeline(&name);
    let mut expected = Vec::new();
    macro_rules! edges {
        ($($type:ty)*) => {$(
            for value in [<$type>::MIN, 0 as $type, 1 as $type, <$type>::MAX] {
                event!(tl, Priority::Info, "rust", "one {value}", value);
                expected.push(format!("one value({value})"));
                let list = [value, <$type>::MAX, <$type>::MIN];
                event!(&tl, Priority::Info, "rust", "{list}, {value}", list, value = &value);
                let [a, b, c] = list;
                expected.push(format!("list([{a}, {b}, {c}]), value({value})"));
            }
        )*};
    }
    edges!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    for value in [0.5_f32, -1.5] {
        let list = vec![value, 2.5];
        event!(
            tl,
            Priority::Info,
            "rust",
            "{value} {double} {list}",
            value,
            double = f64::from(value),
            list
        );
        expected.push(format!(
            "value({value}) double({value}) list([{value}, 2.5])"
        ));
    }
    for value in ["", "a", "seven b", "eight by", "nine byte", "größe"] {
        event!(
            tl,
            Priority::Info,
            "rust",
            "{value} {owned} {more} {yes}: {{}}",
            value,
            owned = value.to_owned(),
            more = Some(value),
            yes = !value.is_empty()
        );
        let yes = !value.is_empty();
        expected.push(format!(
            "value({value}) owned({value}) more({value}) yes({yes}): {{}}"
        ));
    }
    assert_eq!(shown(&attach(name.path())), expected);
}

#[test]
fn types_of_the_standard_library_are_shown_as_what_they_are() {
    let name = Name::new("statement");
    let tl = timeline(&name);
    let mut expected = Vec::new();
    event!(tl, Priority::Info, "rust", "{none}", none = None::<&str>);
    expected.push("none((null))".to_owned());
    let path = Path::new("/tmp/größe");
    let bytes = OsStr::from_bytes(b"no \xff UTF-8");
    let (list, nothing) = (Some(vec![1_u8, 2]), None::<PathBuf>);
    let shared: Arc<str> = "shared".into();
    event!(
        tl,
        Priority::Info,
        "rust",
        "{path} {bytes} {list} {nothing}",
        path,
        bytes,
        list,
        nothing
    );
    expected.push("path(/tmp/größe) bytes(no \u{fffd} UTF-8) list([1, 2]) nothing((null))".into());
    event!(
        tl,
        Priority::Info,
        "rust",
        "{shared} {boxed} {cow} {longest}",
        shared,
        boxed = Box::new(7_u16),
        cow = String::from_utf8_lossy(b"cow"),
        longest = Duration::MAX
    );
    let longest = Nanoseconds(i64::MAX);
    expected.push(format!(
        "shared(shared) boxed(7) cow(cow) longest({longest})"
    ));
    event!(
        tl,
        Priority::Info,
        "rust",
        "{c} {took} {at} {size} {place}",
        c = 'ß',
        took = Duration::from_micros(1500),
        at = UNIX_EPOCH + Duration::from_secs(1),
        size = Bytes(4096),
        place = std::ptr::without_provenance::<u8>(0x1f)
    );
    expected
        .push("c(ß) took(1.5ms) at(1970-01-01T00:00:01.000000000Z) size(4 KiB) place(0x1f)".into());
    event!(tl, Priority::Info, "rust", "nothing");
    expected.push("nothing".into());
    assert_eq!(shown(&attach(name.path())), expected);
}

#[test]
fn up_to_four_numbers_are_a_plain_entry() {
    let name = Name::new("statement");
    let tl = timeline(&name);
    event!(
        tl,
        Priority::Info,
        "rust",
        "{a} {b} {c} {d}",
        a = -1,
        b = 2u8,
        c = true,
        d = 4u64
    );
    event!(
        tl,
        Priority::Info,
        "rust",
        "{a} {b} {c} {d} {e}",
        a = 1,
        b = 2,
        c = 3,
        d = 4,
        e = 5
    );
    let attached = attach(name.path());
    let events: Vec<_> = attached.events(Order::OldestFirst).collect();
    assert!(events[0].payload.is_none());
    assert_eq!(events[0].args, [-1, 2, 1, 4]);
    assert_eq!(
        events[1].payload.as_ref().expect("a payload").values.len(),
        5 * 8
    );
}

#[test]
fn one_statement_logs_to_several_timelines_and_priorities() {
    let names = [Name::new("statement"), Name::new("statement")];
    let both = [timeline(&names[0]), timeline(&names[1])];
    // Other numbers for the events of the second one.
    both[1]
        .define("other", Priority::Info, "first")
        .expect("defined");
    for n in 0..100_i32 {
        for tl in &both {
            for priority in [Priority::Error, Priority::Library] {
                event!(tl, priority, "rust", "number {n}", n);
            }
        }
    }
    let expected: Vec<_> = (0..100)
        .flat_map(|n| [format!("number n({n})"), format!("number n({n})")])
        .collect();
    for name in &names {
        assert_eq!(shown(&attach(name.path())), expected);
    }
}

#[test]
fn what_does_not_fit_is_cut_between_characters() {
    let name = Name::new("statement");
    let tl = timeline(&name);
    let long = "€".repeat(2000);
    let numbers = [7_u32; 2000];
    event!(
        tl,
        Priority::Info,
        "rust",
        "a {x} {first} {second} {list}",
        x = 1_u8,
        first = &long[..300],
        second = long,
        list = numbers
    );
    let attached = attach(name.path());
    let event = attached
        .events(Order::NewestFirst)
        .next()
        .expect("an event");
    let values = event.payload.expect("a payload").values;
    assert_eq!(values.len(), tl.payload_capacity() * 8);
    let word = |at: usize| u64::from_le_bytes(*values[at * 8..].first_chunk().expect("a word"));
    let room = values.len() as u64 - 4 * 8 - 304;
    assert_ne!(room % 3, 0, "a character is to be where the room ends");
    assert_eq!([word(1), word(2)], [300, (room / 3 * 3) | (1 << 63)]);
    assert_eq!(word(3), 1 << 63);
    assert!(shown(&attached)[0].contains("€…"));
}

#[test]
fn a_disabled_statement_evaluates_nothing_and_a_later_one_allocates_nothing() {
    let name = Name::new("statement");
    let tl = timeline(&name);
    let evaluated = Cell::new(0);
    let text = String::from("text");
    let run = |n: u64| {
        event!(
            tl,
            Priority::Info,
            "rust",
            "{n} {text} {list}",
            n,
            text = text.as_str(),
            list = {
                evaluated.set(evaluated.get() + 1);
                [n; 20]
            }
        );
    };
    tl.priority(Level::from(Priority::Error)).expect("set");
    run(1);
    run(2);
    assert_eq!(evaluated.get(), 0);
    tl.priority(Level::ALL).expect("set");
    run(3);
    let before = ALLOCATIONS.get();
    run(4);
    assert_eq!((evaluated.get(), ALLOCATIONS.get()), (2, before));
}

#[test]
fn events_of_a_statement_that_cannot_be_defined_are_counted() {
    let name = Name::new("statement");
    let tl = Timeline::with_size(name.path(), 1024, 1024).expect("created");
    let fill = |n| tl.define("rust", Priority::Info, &format!("fill {n}"));
    assert!((0..1000).any(|n| fill(n).is_err()));
    let undefined = || attach(name.path()).info().dropped.undefined;
    for _ in 0..2500 {
        event!(tl, Priority::Info, "rust", "too late");
    }
    assert_eq!(undefined(), 2500);
}

#[test]
fn expressions_mean_what_they_mean_elsewhere() {
    const COUNT: u32 = 4711;
    static SITE: u32 = 12;
    fn words(x: u32) -> u32 {
        x * 2
    }
    #[allow(
        non_upper_case_globals,
        reason = "as a variable in a statement might be named"
    )]
    static timeline: u8 = 1;
    #[allow(
        non_upper_case_globals,
        reason = "as a variable in a statement might be named"
    )]
    const event: u8 = 2;

    let name = Name::new("statement");
    let tl = Timeline::with_size(name.path(), 1024, 65_536).expect("created");
    event!(
        tl,
        Priority::Info,
        "rust",
        "{n} {site} {f}",
        n = COUNT,
        site = SITE,
        f = words(3)
    );
    event!(
        tl,
        Priority::Info,
        "rust",
        "{a} {b}",
        a = timeline,
        b = event
    );
    drop(span!(
        tl,
        Priority::Info,
        "rust",
        "s {n} {site} {f}",
        n = COUNT,
        site = SITE,
        f = words(3)
    ));
    let shown = shown(&attach(name.path()));
    assert_eq!(shown[..2], ["n(4711) site(12) f(6)", "a(1) b(2)"]);
    assert_eq!(shown[2], "begin s n(4711) site(12) f(6)");
    assert!(shown[3].starts_with("end s n(4711) site(12) f(6)"));
}

#[test]
fn arguments_and_the_timeline_may_be_any_expression_or_name() {
    let name = Name::new("statement");
    let tl = std::sync::Arc::new(Timeline::with_size(name.path(), 1024, 65_536).expect("created"));
    let prepared = Cell::new(0);
    let prepare = || prepared.set(prepared.get() + 1);
    let r#type = 4;
    event!(tl, Priority::Info, "rust", "{type}", r#type);
    event!(&&tl, Priority::Info, "rust", "{type}", r#type = 7);
    event!(
        {
            prepare();
            &tl
        },
        Priority::Info,
        "rust",
        "{match} {x}",
        match = prepared.get(),
        x = if r#type == 4 { "four" } else { return }
    );
    let span = span!(
        {
            prepare();
            &*tl
        },
        Priority::Info,
        "rust",
        "s {type}",
        r#type
    );
    std::mem::forget(span);
    let expected = ["type(4)", "type(7)", "match(1) x(four)", "begin s type(4)"];
    assert_eq!(shown(&attach(name.path())), expected);
}
