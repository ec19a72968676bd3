//! Any event from C, C++, Lua and Rust is shown everywhere, and read back, as a naive model says.

mod c;
pub mod event;
mod lua;
pub mod model;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use timeline::statement::PayloadBuilder;
use timeline::{EventId, Priority, Timeline};

use self::event::{Can, Event, Field, Value, event};
use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, CPP17, cc, cxx, limited, luajit, printed, root};
use crate::support::{Name, Random};
use crate::typed::check_everywhere;

/// Logs random events by `log`, which gets a name and a folder, and compares what is shown.
fn events_are_shown_as_the_model_shows_them(can: &Can, log: impl Fn(&[Event], &str, &Path)) {
    let seed = match std::env::var("TIMELINE_TEST_SEED") {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => u64::from(std::process::id()),
    };
    eprintln!("TIMELINE_TEST_SEED={seed} does the same again");
    let mut random = Random(seed);
    let events: Vec<Event> = (0..can.events).map(|_| event(&mut random, can)).collect();
    let expected: Vec<_> = events.iter().map(model::shown).collect();
    let name = Name::new("languages");
    let tl = Timeline::with_size(name.path(), 65_536, 1 << 20).unwrap();
    let folder = tempfile::tempdir().unwrap();
    log(&events, name.path(), folder.path());
    readers_give_what_the_model_says(&events, name.path());
    check_everywhere(&name, tl, &expected);
}

/// The readers of C and C++, which all of these tests share.
fn readers() -> &'static [PathBuf; 2] {
    static READERS: OnceLock<[PathBuf; 2]> = OnceLock::new();
    READERS.get_or_init(|| {
        // Another run of this test may execute the same files.
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = tempfile::tempdir_in(place).unwrap();
        let compiled = |compiler, flags: &[&str], source: &str| {
            let flags = [flags, &["-O0", "-g0"]].concat();
            let program = compile(compiler, &flags, &[source], Link::Shared, folder.path());
            let reader = place.join(source.replace('/', "-"));
            std::fs::rename(program, &reader).unwrap();
            reader
        };
        [
            compiled(cc(), C99, "tests/c/values.c"),
            compiled(cxx(), CPP17, "tests/cpp/values.cpp"),
        ]
    })
}

/// The readers of C, C++ and Lua give the values as numbers, texts and arrays.
fn readers_give_what_the_model_says(events: &[Event], path: &str) {
    let expected: Vec<String> = events.iter().map(model::read).collect();
    let [c, cpp] = readers().each_ref();
    let said = [
        printed(limited(c).arg(path), "coreutils"),
        printed(limited(cpp).arg(path), "coreutils"),
        printed(
            luajit().arg(root().join("tests/lua/values.lua")).arg(path),
            "luajit",
        ),
    ];
    for (said, language) in said.iter().zip(["C", "C++", "Lua"]) {
        let found: Vec<&str> = said.lines().collect();
        for ((found, wanted), event) in found.iter().zip(&expected).zip(events) {
            assert_eq!(found, wanted, "{language}: {event:.300?}");
        }
        assert_eq!(found.len(), expected.len(), "{language}");
    }
}

/// Compiles and runs a program.
fn run(compiler: Command, flags: &[&str], program: &str, path: &str, folder: &Path) {
    let extension = if flags[0].contains("++") { "cpp" } else { "c" };
    let source = folder.join("program").with_extension(extension);
    std::fs::write(&source, program).unwrap();
    let source = source.to_str().unwrap();
    let program = compile(compiler, flags, &[source], Link::Shared, folder);
    printed(limited(program).arg(path), "coreutils");
}

#[test]
fn any_event_of_c_is_shown_as_the_model_shows_it() {
    let can = Can {
        events: 16,
        null: true,
        wide: true,
    };
    events_are_shown_as_the_model_shows_them(&can, |events, path, folder| {
        let flags = [C99, &["-O0", "-g0"]].concat();
        run(cc(), &flags, &c::c(events), path, folder);
    });
}

#[test]
fn any_event_of_cpp_is_shown_as_the_model_shows_it() {
    let can = Can {
        events: 16,
        null: true,
        wide: true,
    };
    events_are_shown_as_the_model_shows_them(&can, |events, path, folder| {
        let flags = [CPP17, &["-std=c++20", "-O0", "-g0"]].concat();
        run(cxx(), &flags, &c::cpp(events), path, folder);
    });
}

#[test]
fn any_event_of_lua_is_shown_as_the_model_shows_it() {
    let can = Can {
        events: 100,
        null: false,
        wide: false,
    };
    events_are_shown_as_the_model_shows_them(&can, |events, path, folder| {
        let script = folder.join("program.lua");
        std::fs::write(&script, lua::program(events)).unwrap();
        printed(luajit().arg(script).arg(path), "luajit");
    });
}

#[test]
fn any_event_of_rust_is_shown_as_the_model_shows_it() {
    let can = Can {
        events: 100,
        null: true,
        wide: false,
    };
    events_are_shown_as_the_model_shows_them(&can, |events, path, _| {
        let tl = Timeline::open(path).unwrap();
        for event in events {
            let message = event.message(|field| field.kind != "i64" || field.has_type);
            let id = tl.define("typed", Priority::Info, &message).unwrap();
            log(&tl, id, &event.fields, event.way);
        }
    });
}

/// As a statement of Rust logs it, whose types are known to the compiler.
pub fn log(tl: &Timeline, id: EventId, fields: &[Field], way: u64) {
    let mut words = vec![0; tl.payload_capacity()];
    let mut payload = PayloadBuilder::new(&mut words, fields.len());
    for (at, field) in fields.iter().enumerate() {
        let word = match &field.value {
            Value::Word(word) => *word,
            Value::Text(Some(text)) => payload.bytes(text),
            Value::Array(Some(numbers)) => {
                let bits = field.kind.trim_matches(|c: char| !c.is_ascii_digit());
                let size = bits.parse::<usize>().unwrap() / 8;
                payload.numbers(numbers.len(), size, |index| numbers[index])
            }
            _ => payload.nothing(),
        };
        payload.put(at, word);
    }
    let end = payload.end();
    let is_plain = fields.len() <= 4
        && fields
            .iter()
            .all(|field| matches!(field.value, Value::Word(_)));
    match is_plain && way.is_multiple_of(2) {
        true => tl.log(id, std::array::from_fn::<i64, 4, _>(|at| words[at] as i64)),
        false => tl.log_payload(id, &words[..end], false),
    }
}
