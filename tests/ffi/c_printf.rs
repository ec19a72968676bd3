//! Tests that what C and C++ programs log by printf is read as snprintf writes it.
//! Every way of reading is tested.

use std::fmt::Debug;
use std::fs;
use std::hint::spin_loop;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use timeline::internal::Format;
use timeline::{Attached, Event, Layout, Order, Source as _};

use crate::pointers::{logged_stacks, stacks};
use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{C99, CPP17, cc, clang, cxx, limited, root, run, succeed};

/// A program of tests/c, built and run; the folder that it worked in.
fn passes(compiler: Command, flags: &[&str], source: &str, how: Link) -> TempDir {
    let dir = TempDir::new().unwrap();
    let flags = [C99, flags].concat();
    let file = format!("tests/c/{source}.c");
    let program = compile(compiler, &flags, &[&file], how, dir.path());
    let said = execute(&program, dir.path(), &[]);
    assert!(said.ends_with(&format!("{source}: ok\n")), "{said}");
    dir
}

/// Shows the first that differs.
fn assert_same<T: PartialEq + Debug>(found: &[T], wanted: &[T]) {
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found, wanted);
    }
    assert_eq!(found.len(), wanted.len());
}

fn text_of(at: &Attached, event: &Event) -> Vec<u8> {
    let definition = at.definition(event.id).expect("a definition");
    let mut text = Vec::new();
    let layout = Layout::of(definition);
    Format::parse(&definition.message).render(event.values(&layout), &mut text);
    text
}

/// The texts that a program wrote, each behind its length.
fn expected(file: &Path) -> Vec<Vec<u8>> {
    let all = fs::read(file).unwrap();
    let mut rest = &all[..];
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b' ').unwrap();
        let length: usize = std::str::from_utf8(&rest[..end]).unwrap().parse().unwrap();
        texts.push(rest[end + 1..][..length].to_vec());
        rest = &rest[end + 1 + length..];
    }
    texts
}

fn timeline_command(arguments: &[&str], path: &Path) -> Command {
    let mut command = limited(env!("CARGO_BIN_EXE_timeline"));
    command.args(arguments).arg(path);
    command
}

fn message(line: &str) -> String {
    let row: Value = serde_json::from_str(line).unwrap();
    assert!(row["file"].as_str().unwrap().ends_with("tests/c/printf.c"));
    assert!(row["line"].as_u64().unwrap() > 0);
    row["message"].as_str().unwrap().to_owned()
}

#[test]
fn each_conversion_is_read_as_snprintf_writes_it() {
    let dir = passes(cc(), &[], "printf", Link::Shared);
    let ring = dir.path().join("ring");
    let expected = expected(&dir.path().join("expected"));
    assert!(expected.len() > 300, "{}", expected.len());

    let at = Attached::open(&ring).unwrap();
    let events: Vec<Event> = at.events(Order::OldestFirst).collect();
    let read: Vec<Vec<u8>> = events.iter().map(|event| text_of(&at, event)).collect();
    assert_same(&read, &expected);

    let lossy = |text: &Vec<u8>| String::from_utf8_lossy(text).into_owned();
    let texts: Vec<String> = expected.iter().map(lossy).collect();
    let dumped = succeed(
        &mut timeline_command(&["dump", "--json"], &ring),
        "coreutils",
    );
    let dumped = String::from_utf8(dumped.stdout).unwrap();
    let mut messages: Vec<String> = dumped.lines().map(message).collect();
    messages.reverse();
    assert_same(&messages, &texts);

    let mut tail = timeline_command(&["tail", "--json", "-n", "100000"], &ring);
    let mut tail = tail.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    let messages: Vec<String> = lines
        .take(texts.len())
        .map(|line| message(&line.unwrap()))
        .collect();
    end(tail);
    assert_same(&messages, &texts);

    // For people, what controls a terminal is shown as `?`.
    let dumped = succeed(&mut timeline_command(&["dump"], &ring), "coreutils");
    let dumped = String::from_utf8(dumped.stdout).unwrap();
    for text in texts.iter().filter(|text| !text.contains(char::is_control)) {
        assert!(dumped.contains(text.trim_end()), "{text:?} is not there");
    }
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_same_by_other_compilers_and_standards() {
    for standard in ["-std=c11", "-std=c2x"] {
        passes(
            cc(),
            &[standard, "-O2", "-Wformat=2"],
            "printf",
            Link::Static,
        );
        if let Some(clang) = clang("clang") {
            passes(
                clang,
                &[standard, "-O1", "-Wformat=2", "-Wno-format-pedantic"],
                "printf",
                Link::Shared,
            );
        }
    }
}

/// GNU C for page sizes, barriers and the like; the header itself is for C99.
pub const GNU: &[&str] = &["-std=gnu99", "-Wformat=2"];

pub fn by_both(source: &str) {
    passes(cc(), GNU, source, Link::Shared);
    if let Some(clang) = clang("clang") {
        passes(clang, &[GNU, &["-O2"]].concat(), source, Link::Static);
    }
}

#[test]
fn what_has_no_room_is_cut_and_nothing_is_read_beyond_its_end() {
    by_both("printf_limits");
}

/// A program may choose how its assembly is written: the header has some.
#[cfg(target_arch = "x86_64")]
#[test]
fn texts_are_found_by_assembly_of_either_dialect() {
    let intel = [GNU, &["-O2", "-masm=intel"]].concat();
    passes(cc(), &intel, "printf_limits", Link::Shared);
    if let Some(clang) = clang("clang") {
        passes(clang, &intel, "printf_limits", Link::Shared);
    }
}

#[test]
fn statements_threads_handlers_and_children() {
    by_both("printf_sites");
}

/// What printf_later.c says of itself: how many events were lost, its child, and the child's.
fn left_later(dir: &Path) -> [u32; 3] {
    let said = fs::read_to_string(dir.join("lost")).unwrap();
    let numbers = said.split(' ').map(|number| number.parse().unwrap());
    numbers.collect::<Vec<_>>().try_into().unwrap()
}

/// What printf_later.c leaves: how many events were lost, and that the objects of its children were
/// told of.
fn found_later(dir: &Path) {
    let ring = dir.join("ring");
    let [lost, child, grandchild] = left_later(dir);
    let at = Attached::open(&ring).unwrap();
    let dropped = at.info().dropped;
    assert_eq!(
        (dropped.undefined, dropped.total()),
        (lost.into(), lost.into())
    );
    for pid in [child, grandchild] {
        assert!(at.modules().any(|module| module.pid == pid), "{pid}");
    }
    let info = succeed(
        &mut timeline_command(&["info", "--json"], &ring),
        "coreutils",
    );
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["dropped"]["undefined"], lost);
    let info = succeed(&mut timeline_command(&["info"], &ring), "coreutils");
    let info = String::from_utf8(info.stdout).unwrap();
    let said = "by statements that could not be defined at that time";
    assert!(info.contains(said), "{info}");
}

#[test]
fn statements_that_cannot_be_defined_at_first_log_later() {
    let dir = passes(cc(), GNU, "printf_later", Link::Shared);
    found_later(dir.path());
    // Compilers of C++ take the same source for theirs.
    for compiler in [Some(cxx()), clang("clang++")].into_iter().flatten() {
        let dir = TempDir::new().unwrap();
        let flags = ["-std=gnu++17", "-Wall", "-Wextra", "-O2", "-pthread"];
        let source = ["tests/c/printf_later.c"];
        let program = compile(compiler, &flags, &source, Link::Static, dir.path());
        let said = execute(&program, dir.path(), &[]);
        assert_eq!(said, "printf_later: ok\n");
        found_later(dir.path());
    }
}

/// Compiled so that a walk over the stack ends there.
const NO_UNWIND_TABLES: &[&str] = &["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"];

#[test]
fn what_may_be_a_handler_tries_nothing_again() {
    let dir = TempDir::new().unwrap();
    let flags = [C99, GNU, &["-O2"], NO_UNWIND_TABLES].concat();
    let source = ["tests/c/printf_later.c"];
    let program = compile(cc(), &flags, &source, Link::Shared, dir.path());
    let said = execute(&program, dir.path(), &["unread"]);
    assert_eq!(said, "printf_later: ok\n");
    let [lost, child, _] = left_later(dir.path());
    let at = Attached::open(dir.path().join("ring")).unwrap();
    assert_eq!(at.info().dropped.undefined, u64::from(lost));
    assert!(at.modules().all(|module| module.pid != child));
    assert!(at.modules().count() > 0);
}

#[test]
fn rings_and_priorities_of_cpp() {
    for (number, standard) in ["-std=c++17", "-std=c++20"].into_iter().enumerate() {
        let how = [Link::Shared, Link::Static][number];
        for compiler in [Some(cxx()), clang("clang++")].into_iter().flatten() {
            let dir = TempDir::new().unwrap();
            let flags = [CPP17, &[standard, "-Wformat=2"]].concat();
            let program = compile(compiler, &flags, &["tests/cpp/printf.cpp"], how, dir.path());
            assert_eq!(execute(&program, dir.path(), &[]), "printf: ok\n");
        }
    }
}

/// Each of these must not compile, for the reason, or one of those, that its first line gives. Some
/// are found by gcc only.
#[test]
fn mistakes_that_the_compiler_finds() {
    let mut refused = 0;
    for file in fs::read_dir(root().join("tests/c/refused")).unwrap() {
        let file = file.unwrap().path();
        let source = fs::read_to_string(&file).unwrap();
        let (compilers, expected) = source.lines().next().unwrap().split_once(": ").unwrap();
        let clang = (compilers != "// expected of gcc").then(|| clang("clang"));
        let compilers = [Some(cc()), clang.flatten()].into_iter().flatten();
        for (mut compiler, how) in compilers.flat_map(|compiler| {
            // Whatever the level of optimisation and the standard.
            let program = compiler.get_program().to_owned();
            let again = Command::new(program);
            [
                (compiler, ["-std=c99", "-O1"]),
                (again, ["-std=gnu17", "-O0"]),
            ]
        }) {
            compiler
                .args(how)
                .args(["-Wformat", "-S", "-o", "/dev/null", "-I"])
                .arg(root().join("include"))
                .arg(&file);
            // What is a warning by itself is an error where the program says so, and points at the
            // statement.
            let output = run(compiler.arg("-Werror=format"), "gcc");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{} compiles", file.display());
            let found = expected.split(" | ").any(|reason| said.contains(reason));
            assert!(found, "{}:\n{said}", file.display());
            let here = format!("{}:4", file.display());
            assert!(said.contains(&here), "{}:\n{said}", file.display());
        }
        refused += 1;
    }
    assert!(refused > 7, "only {refused} programs under tests/c/refused");
}

/// Whether an address of a process lies in what it told of its objects, and in which.
fn object(at: &Attached, pid: u32, address: u64) -> Option<String> {
    let mut modules = at.modules();
    let found = modules.find(|m| m.pid == pid && (m.start..m.end).contains(&address))?;
    Some(found.path.file_name()?.to_string_lossy().into_owned())
}

#[test]
fn call_stacks_lead_to_objects_that_are_told_of() {
    let dir = TempDir::new().unwrap();
    let plugin = dir.path().join("libplugin.so");
    let mut compiler = cc();
    compiler
        .args(C99)
        .args(["-shared", "-fPIC", "-Wl,--build-id=0xc0ffee", "-o"]);
    compiler
        .arg(&plugin)
        .arg(root().join("tests/c/printf_plugin.c"));
    succeed(&mut compiler, "gcc");
    for (how, level) in [(Link::Shared, "-O0"), (Link::Static, "-O2")] {
        let flags = [C99, GNU, &[level]].concat();
        let program = compile(
            cc(),
            &flags,
            &["tests/c/printf_backtrace.c"],
            how,
            dir.path(),
        );
        let said = execute(&program, dir.path(), &[plugin.to_str().unwrap()]);
        let at = Attached::open(dir.path().join("ring")).unwrap();
        let mut found = 0;
        for line in said.lines().filter(|line| !line.ends_with("ok")) {
            let words: Vec<&str> = line.split(' ').collect();
            let pid: u32 = words[1].parse().unwrap();
            let address = u64::from_str_radix(words[2], 16).unwrap();
            let wanted = match words[0] {
                "plugin" => "libplugin.so",
                _ => "program",
            };
            assert_eq!(object(&at, pid, address).as_deref(), Some(wanted), "{line}");
            found += 1;
        }
        assert_eq!(found, 3);
        let plugin = at
            .modules()
            .find(|m| m.path.ends_with("libplugin.so"))
            .unwrap();
        assert_eq!(plugin.build_id.as_deref(), Some(&[0xc0, 0xff, 0xee][..]));
        assert!(plugin.path.is_absolute());
        // Each is told of once.
        let mut all: Vec<String> = at.modules().map(|module| module.encode()).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}

/// A library of which call stacks are taken, built with these flags more.
fn plugin(path: &Path, more: &str) {
    let mut compiler = cc();
    compiler.args(C99).args(["-shared", "-fPIC", more, "-o"]);
    compiler
        .arg(path)
        .arg(root().join("tests/c/printf_plugin.c"));
    succeed(&mut compiler, "gcc");
}

#[test]
fn a_handler_that_is_not_known_for_one_takes_no_locks() {
    let dir = TempDir::new().unwrap();
    let library = dir.path().join("libplugin.so");
    plugin(&library, "-DAHEAD=0");
    let flags = [C99, GNU, &["-O2"], NO_UNWIND_TABLES].concat();
    let source = ["tests/c/printf_handler.c"];
    let program = compile(cc(), &flags, &source, Link::Shared, dir.path());
    let said = execute(&program, dir.path(), &[library.to_str().unwrap()]);
    assert!(said.ends_with("printf_handler: ok\n"), "{said}");
    let at = Attached::open(dir.path().join("ring")).unwrap();
    for event in at.events(Order::OldestFirst) {
        assert_eq!(event.backtrace().len(), 1, "the walk goes on");
    }
}

#[test]
fn a_library_in_the_place_of_another_lends_it_no_name() {
    let dir = TempDir::new().unwrap();
    // As large as one another, so that the loader puts the second where the first was; one has a
    // page before its text.
    let libraries = [("libfirst.so", "-DAHEAD=0"), ("libsecond.so", "-DAHEAD=1")];
    let libraries = libraries.map(|(name, ahead)| {
        let library = dir.path().join(name);
        plugin(&library, ahead);
        library
    });
    let [first, second] = libraries.each_ref().map(|path| path.to_str().unwrap());
    let flags = [C99, GNU].concat();
    let source = ["tests/c/printf_replaced.c"];
    let program = compile(cc(), &flags, &source, Link::Shared, dir.path());
    let said = execute(&program, dir.path(), &[first, second]);
    let at = Attached::open(dir.path().join("ring")).unwrap();
    let addresses: Vec<u64> = (said.lines().filter(|line| !line.ends_with("ok")))
        .map(|line| u64::from_str_radix(line.rsplit(' ').next().unwrap(), 16).unwrap())
        .collect();
    assert_eq!(addresses.len(), 2);
    let events: Vec<_> = at.events(Order::OldestFirst).collect();
    assert_eq!(events.len(), 2);
    assert_eq!(
        logged_stacks(&dir.path().join("ring")),
        stacks(&at, &events)
    );
    // Both are there to be told of, and claim the same place.
    for library in [first, second] {
        assert!(
            at.modules().any(|module| module.path == Path::new(library)),
            "{library}"
        );
    }
    let claims = |address: u64| {
        let here = at
            .modules()
            .filter(|module| (module.start..module.end).contains(&address));
        here.count()
    };
    for (event, address) in events.iter().zip(&addresses) {
        assert!(event.backtrace().contains(address));
        assert_eq!(claims(*address), 2, "the loader put the second elsewhere");
        let frame = at.frame(event, *address);
        assert_eq!((frame.file, frame.name), (None, None), "{address:#x}");
        // What called them has a name all the same.
        let main = event
            .backtrace()
            .iter()
            .map(|address| at.frame(event, *address));
        assert!(
            main.into_iter()
                .any(|frame| frame.name.as_deref() == Some("main"))
        );
    }
}

/// What printf_killed.c logs.
fn whole(text: &str) -> (usize, usize) {
    let mut words = text.splitn(5, ' ');
    let mut word = || words.next().unwrap_or_else(|| panic!("{text:?}"));
    let (who, number): (usize, usize) = (word().parse().unwrap(), word().parse().unwrap());
    let letter = char::from(b'a' + (number % 26) as u8).to_string();
    assert_eq!(word(), letter.repeat(number % 700), "of {who} {number}");
    assert_eq!(word(), format!("{number}.500000"));
    assert_eq!(word(), letter.repeat(number * 7 % 700), "of {who} {number}");
    (who, number)
}

#[test]
fn what_a_killed_program_leaves_is_whole() {
    const THREADS: usize = 3;
    let dir = TempDir::new().unwrap();
    let source = &["tests/c/printf_killed.c"];
    let program = compile(
        cc(),
        &[C99, &["-O1"]].concat(),
        source,
        Link::Shared,
        dir.path(),
    );
    let mut seen = 0;
    for round in 0..60u64 {
        let ring = dir.path().join(format!("ring{round}"));
        let mut command = Command::new(&program);
        command.arg(&ring).arg(THREADS.to_string());
        let child = command.spawn().unwrap();
        let at = loop {
            // Renamed into place when it is whole.
            match Attached::open(&ring) {
                Ok(at) => break at,
                Err(_) => spin_loop(),
            }
        };
        // At any moment: before the ring was full, and after it was overwritten many times.
        let enough = 1 + round * round * 97 % 200_000;
        while at.info().entries_written < enough {
            spin_loop();
        }
        end(child);
        let mut last = [None; THREADS];
        let mut events = at.events(Order::OldestFirst);
        for event in events.by_ref() {
            let (who, number) = whole(&String::from_utf8(text_of(&at, &event)).unwrap());
            assert!(
                last[who].is_none_or(|before| before < number),
                "round {round}"
            );
            last[who] = Some(number);
            seen += 1;
        }
        assert_eq!(events.overwritten(), 0);
        fs::remove_file(&ring).unwrap();
    }
    assert!(seen > 1000, "{seen}");
}
