//! Archives with an index: searches give what they give without one.

use std::fs;
use std::path::Path;

use timeline::{Priority, event};

use crate::command::*;
use crate::support::{Name, Random};

/// Events of a program, some with several lines: more than fit in a page.
const EVENTS: u64 = 4000;

/// An archive of one file.
fn archive(name: &Name, directory: &Path) -> String {
    let tl = name.create(16384);
    let none = timeline::Attributes::default();
    let lines = tl.define_printf(
        "c",
        Priority::Info,
        "first %d\nsecond %x",
        ("m.c", 1),
        &none,
    );
    let lines = lines.unwrap();
    let mut random = Random(7);
    for number in 0..EVENTS {
        let id = format!("{:012x}", random.next() >> 16);
        event!(
            tl,
            Priority::Info,
            "net",
            "request {number} of {id}",
            number,
            id
        );
        if number % 97 == 0 {
            tl.log_payload(lines, &[number, number], false);
        }
        if number % 1000 == 0 {
            event!(important: true, tl, Priority::Error, "net", "part {number} begins", number);
        }
    }
    let file = snapshot(name, directory);
    let path = directory.join("flight.tla").display().to_string();
    succeed(&["record", &file, "-o", &path, "--fsync", "never"]);
    path
}

/// Every way to search gives the same with and without the index.
fn same_searches(path: &str) {
    let dumped = succeed(&["dump", path, "-n", "2000", "--json"]).json();
    let message = |event: &serde_json::Value| event["message"].as_str().unwrap().to_owned();
    let id = message(dumped.last().unwrap());
    let id = id
        .rsplit('(')
        .next()
        .unwrap()
        .trim_end_matches(')')
        .to_owned();
    assert_eq!(id.len(), 12);
    for wanted in [
        &id,
        &id[1..],
        &id[..7],
        "second 61",
        "begins",
        "000000000000",
        "number(12",
    ] {
        for options in [
            &[][..],
            &["-n"],
            &["-r"],
            &["-r", "-n"],
            &["-c"],
            &["--json"],
            &["--json", "-r"],
            &["-C", "2"],
            &["-n", "-B", "600", "-A", "1"],
            &["-n", "-r", "-A", "3"],
            &["-m", "2", "-n"],
            &["-E", "-n"],
            &["-n", "--category", "c"],
            &["-C", "1", "--priority", "info"],
        ] {
            let words = [&["search", path, wanted], options].concat();
            let naive = [&words[..], &["--no-index"]].concat();
            let (found, expected) = (run(&words), run(&naive));
            assert_eq!(found.stdout, expected.stdout, "{words:?}");
            assert_eq!(found.code, expected.code, "{words:?}");
        }
    }
}

#[test]
fn searches_give_the_same_with_and_without_an_index() {
    let (name, directory) = (Name::new("indexed"), tempfile::tempdir().unwrap());
    let path = archive(&name, directory.path());
    let beside = format!("{path}.idx");
    let before = succeed(&["search", &path, "-c", "second"]).stdout;
    assert!(
        !Path::new(&beside).exists(),
        "a small archive needs no index"
    );
    let made = succeed(&["index", &path]).stdout;
    assert!(made.starts_with("4,084 lines, "), "{made}");
    assert_eq!(succeed(&["search", &path, "-c", "second"]).stdout, before);
    assert_eq!(succeed(&["index", &path]).stdout, made);
    same_searches(&path);
    // What is damaged is made again.
    let mut bytes = fs::read(&beside).unwrap();
    let whole = bytes.clone();
    for at in (16..bytes.len()).step_by(131) {
        bytes[at] ^= 0x10;
    }
    fs::write(&beside, bytes).unwrap();
    assert_eq!(succeed(&["search", &path, "-c", "second"]).stdout, before);
    succeed(&["index", &path]);
    // Meanwhile, it may have got an outline of the archive, too.
    assert!(fs::read(&beside).unwrap().starts_with(&whole));
}

#[test]
fn a_dump_begins_at_any_line() {
    let (name, directory) = (Name::new("indexed-line"), tempfile::tempdir().unwrap());
    let path = archive(&name, directory.path());
    let naive = succeed(&["search", "--no-index", &path, "", "--json", "--whole"]).json();
    let lines = |words: &[&str]| -> Vec<String> {
        let found = succeed(words).json();
        let messages = found
            .iter()
            .map(|event| event["message"].as_str().unwrap().to_owned());
        messages.collect()
    };
    for is_indexed in [false, true] {
        if is_indexed {
            succeed(&["index", &path]);
        }
        for first in [0, 3, 4, 5, 6, 7, 100, 2000, 4087, 4088] {
            // The event that has this line.
            let number = |event: &serde_json::Value, field: &str| event[field].as_u64().unwrap();
            let has =
                |event: &&serde_json::Value| number(event, "line") + number(event, "lines") > first;
            for category in [None, Some("c")] {
                let message =
                    |event: &serde_json::Value| event["message"].as_str().unwrap().to_owned();
                // The only messages of that category.
                let is_first = |event: &serde_json::Value| message(event).starts_with("first ");
                let wanted = |event: &&serde_json::Value| {
                    has(event) && (category.is_none() || is_first(event))
                };
                let expected: Vec<_> = naive.iter().filter(wanted).map(message).collect();
                for count in [1, 3, 700, 10_000] {
                    let (from, most) = (first.to_string(), count.to_string());
                    let words = ["dump", &path, "--line", &from, "-n", &most, "--json"];
                    let filter = category.map_or(vec![], |category| vec!["--category", category]);
                    let expected = &expected[..count.min(expected.len())];
                    assert_eq!(
                        lines(&[&words[..], &filter].concat()),
                        expected,
                        "{words:?}"
                    );
                }
            }
        }
    }
    let (name, ring) = (name.path(), "5");
    let of_ring = lines(&["dump", name, "--line", ring, "-n", "2", "--json"]);
    assert_eq!(
        of_ring,
        lines(&["dump", &path, "--line", ring, "-n", "2", "--json"])
    );
}

#[test]
fn each_file_of_a_directory_has_an_index_which_goes_with_it() {
    let (name, directory) = (Name::new("indexed-many"), tempfile::tempdir().unwrap());
    let path = archive(&name, directory.path());
    let folder = directory.path().join("flights/");
    let folder = folder.to_str().unwrap();
    let record = |more: &[&str]| {
        let words = [
            "record",
            name.path(),
            "-o",
            folder,
            "--once",
            "--fsync",
            "never",
        ];
        succeed(&[&words[..], &["--rotate-size", "64K"], more].concat());
    };
    drop(path);
    record(&[]);
    let files = |ending: &str| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.ends_with(ending)).collect();
        names.sort();
        names
    };
    assert!(files(".tla").len() > 1);
    succeed(&["index", folder]);
    assert_eq!(files(".idx").len(), files(".tla").len());
    same_searches(folder);
    // A recorder that removes a file removes its index.
    let tl = name.create(16384);
    for number in 0..EVENTS {
        let id = format!("{:012x}", number * number);
        event!(
            tl,
            Priority::Info,
            "net",
            "request {number} of {id}",
            number,
            id
        );
    }
    drop(tl);
    record(&["--keep-size", "64K"]);
    let kept: Vec<String> = files(".tla")
        .iter()
        .map(|file| format!("{file}.idx"))
        .collect();
    assert!(
        files(".idx").iter().all(|index| kept.contains(index)),
        "{:?}",
        files(".idx")
    );
    assert!(files(".idx").len() < files(".tla").len() + 1);
}

#[test]
fn a_ring_has_no_index() {
    let name = Name::new("indexed-ring");
    name.create(256);
    let said = fail(&["index", name.path()]);
    assert!(said.contains("only archives have an index"), "{said}");
    let ran = run(&["index", "-"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("- has no index"), "{ran:?}");
}

#[test]
fn where_no_index_can_be_written_a_terminal_says_why() {
    let (name, directory) = (Name::new("indexed-foreign"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 17);
    // More bytes than are searched without an index anyway.
    for number in 0..6000_u32 {
        let text = number.to_string().repeat(250);
        event!(tl, Priority::Info, "net", "said {text}", text);
    }
    let file = snapshot(&name, directory.path());
    let path = directory.path().join("flight.tla").display().to_string();
    succeed(&["record", &file, "-o", &path, "--plain", "--fsync", "never"]);
    assert!(fs::metadata(&path).unwrap().len() > 5 << 20);
    let beside = format!("{path}.idx");
    fs::write(&beside, "my diary").unwrap();
    let reason = format!("cannot write {beside}: there is a file that is no index; remove it");
    let said = fail(&["index", &path]);
    assert!(said.contains(&reason), "{said}");

    let on_terminal = |options: &str| {
        let program = env!("CARGO_BIN_EXE_timeline");
        let line = format!("{program} search {path} 5999 -c {options}");
        // `script`, of util-linux, runs a command on a terminal of its own.
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]);
        script
            .env("TIMELINE_PAGER", "")
            .stdin(std::process::Stdio::null());
        let output = script.output().unwrap();
        anstream::adapter::strip_str(&String::from_utf8(output.stdout).unwrap()).to_string()
    };
    let shown = on_terminal("");
    assert!(
        shown.contains(&format!("searching without an index: {reason}")),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert_eq!(on_terminal("--no-index").lines().count(), 1);
    // Programs do not need to know, and a directory is in its way as well.
    let quiet = succeed(&["search", &path, "5999", "-c"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("1\n", ""));
    assert_eq!(fs::read(&beside).unwrap(), b"my diary");
    fs::remove_file(&beside).unwrap();
    fs::create_dir(&beside).unwrap();
    let said = fail(&["index", &path]);
    assert!(said.contains("Is a directory"), "{said}");
    fs::remove_dir(&beside).unwrap();
    assert!(on_terminal("").ends_with("1\r\n"));
    assert!(fs::metadata(&beside).unwrap().is_file());
}
