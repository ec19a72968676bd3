//! Tests the example programs.
//! It checks what they log, and what they do with a timeline that exists.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use timeline_archive::{ArchiveOutput, Form, Keeping, Recorder};

use crate::guide;
use crate::support::Name;
use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, CPP17, cc, cxx, limited, luajit, root, run, succeed};

#[test]
fn the_c_example_makes_a_timeline_and_joins_one() {
    let dir = TempDir::new().unwrap();
    let program = compile(cc(), C99, &["examples/c/demo.c"], Link::Shared, dir.path());
    let name = Name::new("c");
    let mut sums = Vec::new();
    let prev = format!("{}.prev", name.path());
    let mut used = None;
    for file in ["Cargo.toml", "Cargo.toml", "Cargo.lock"] {
        let output = succeed(
            limited(&program)
                .args([name.path(), "3", "2"])
                .arg(root().join(file)),
            "coreutils",
        );
        sums.push(String::from_utf8(output.stdout).unwrap());
        // The first two find nobody; the third finds a writer.
        let blocks = fs::metadata(root().join(file))
            .unwrap()
            .len()
            .div_ceil(4096);
        let at = timeline::Attached::open(name.path()).unwrap();
        let mut texts: Vec<String> = Vec::new();
        for event in at
            .events(timeline::Order::NewestFirst)
            .take(3 * (2 * blocks as usize + 1) + 1)
        {
            let mut text = String::new();
            at.definition(event.id)
                .unwrap()
                .render(&event.args, &mut text)
                .unwrap();
            texts.push(text);
        }
        assert_eq!(texts[0], "finished after rounds(3)");
        let count = |part: &str| texts.iter().filter(|text| text.contains(part)).count() as u64;
        assert_eq!(
            (
                count("finished round"),
                count("read block"),
                count("summed block")
            ),
            (3, 3 * blocks, 3 * blocks)
        );
        match sums.len() {
            1 => assert!(timeline::Attached::open(&prev).is_err()),
            // Not logged over, but kept; and the second run is all that is in the new one.
            2 => {
                let before = timeline::Attached::open(&prev).unwrap();
                assert_eq!(before.info().entries_written, texts.len() as u64);
                assert_eq!(at.info().entries_written, texts.len() as u64);
                used = Some((
                    timeline::Timeline::open(name.path()).unwrap(),
                    texts.len() as u64,
                ));
            }
            _ => {
                let (_, before) = used.as_ref().unwrap();
                assert_eq!(at.info().entries_written, before + texts.len() as u64);
            }
        }
    }
    assert_eq!(sums[0], sums[1]);
    assert_ne!(sums[0], sums[2]);

    let usage = run(&mut Command::new(&program), "coreutils");
    assert_eq!(usage.status.code(), Some(2));
    let nowhere = run(
        Command::new(&program).args(["/no/such/place/ring", "1"]),
        "coreutils",
    );
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/no/such/place/ring"));
}

#[test]
fn the_cpp_example_reads_what_it_wrote() {
    let dir = TempDir::new().unwrap();
    let program = compile(
        cxx(),
        CPP17,
        &["examples/cpp/demo.cpp"],
        Link::Shared,
        dir.path(),
    );
    let name = Name::new("cpp");
    let output = succeed(
        limited(&program).args([name.path(), "20000", "4"]),
        "coreutils",
    );
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("sorted 20000 numbers"), "{said}");
    assert!(said.contains("merged"), "{said}");
}

#[test]
fn the_c_example_that_aborts_has_said_where() {
    let dir = TempDir::new().unwrap();
    let sources = ["examples/c/printf.c"];
    let program = compile(cc(), C99, &sources, Link::Shared, dir.path());
    let (name, input) = (Name::new("printf"), dir.path().join("input"));
    fs::write(&input, "alice 12.50\nbob\ncarol -3.25\n").unwrap();
    let ours = |input: &Path| {
        let mut command = limited(&program);
        command.arg(name.path()).stdin(File::open(input).unwrap());
        command
    };
    assert_eq!(succeed(&mut ours(&input), "coreutils").stdout, b"9.25\n");
    fs::write(&input, "alice 12.50\ndave 1O\n").unwrap();
    assert!(run(&mut ours(&input), "coreutils").status.code().is_none());

    let at = timeline::Attached::open(name.path()).unwrap();
    let mut dumped = Vec::new();
    timeline::dump::write(&at, None, &mut dumped).unwrap();
    let dumped = String::from_utf8(dumped).unwrap();
    let expected = [
        "accounts no amount: \"1O\", bad from byte 1 on",
        "    at amount_of+",
        "    at book+",
        "    at main+",
        "accounts line 2: of dave",
        "accounts line 1: alice    sum      12.50",
        "accounts line 1: of alice",
    ];
    let mut rest = &dumped[..];
    for part in expected {
        let Some((_, after)) = rest.split_once(part) else {
            panic!("no {part:?} where it is expected in\n{dumped}");
        };
        rest = after;
    }
}

/// What an example of an analyser says, less how long the longest block was used.
fn pairing(command: &mut Command) -> Vec<String> {
    let said = String::from_utf8(succeed(command, "coreutils").stdout).unwrap();
    let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
    assert!(lines.remove(2).starts_with("the longest was used for "));
    lines
}

/// A timeline of allocations of one thread, which another one frees, and what is left of it in an
/// archive that was recorded too late.
fn allocations(folder: &Path) -> [PathBuf; 2] {
    let [ring, archive] = ["ring", "flight.tla"].map(|name| folder.join(name));
    let path = ring.to_str().unwrap();
    let tl = timeline::Timeline::with_size(path, 1024, 1 << 16).unwrap();
    let define = |message| tl.define("mem", timeline::Priority::Info, message).unwrap();
    let alloc = define("alloc $size:u64 at $address:ptr");
    let free = define("free $address:ptr");
    for round in 0..30 {
        let addresses = || (0..40).map(|block| 0x1000 + 64 * block);
        addresses().for_each(|address| tl.log(alloc, [round, address]));
        let free_some = |address| {
            if address % 7 != round % 7 {
                tl.log(free, [address]);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| addresses().for_each(free_some));
        });
    }
    let at = timeline::Attached::open(path).unwrap();
    let mut output = ArchiveOutput::open(&archive, Keeping::default()).unwrap();
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
    while recorder.step() {}
    recorder.finish();
    [ring, archive]
}

#[test]
fn the_examples_of_an_analyser_pair_allocations_with_frees_of_another_thread() {
    let dir = TempDir::new().unwrap();
    let source = fs::read_to_string(root().join("examples/rust/allocations.rs")).unwrap();
    let mut in_rust = guide::rust(&source, dir.path(), guide::crates_of_analysis());
    let sources = &["examples/c/allocations.c"];
    let in_c = compile(cc(), C99, sources, Link::Analysis, dir.path());
    for said in [pairing(&mut in_rust), pairing(&mut limited(&in_c))] {
        let expected = [
            "900 blocks of 57600 bytes were freed",
            "900 of them by another thread",
            "100 blocks of 6400 bytes are still in use",
            "0 lack their other half",
        ];
        assert_eq!(said, expected);
    }
    for path in allocations(dir.path()) {
        let mut in_rust = limited(dir.path().join("piece"));
        let expected = pairing(in_rust.arg(&path));
        assert!(!expected[0].starts_with("0 ") && !expected[3].starts_with("0 "));
        assert_eq!(pairing(limited(&in_c).arg(&path)), expected);
        let mut in_lua = luajit();
        in_lua.arg(root().join("examples/lua/allocations.lua"));
        assert_eq!(pairing(in_lua.arg(&path)), expected);
    }
}
