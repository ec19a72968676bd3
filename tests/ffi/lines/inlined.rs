//! Functions that compilers have put into others: as `addr2line -i` tells them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};
use timeline::internal::symbols::demangled;
use timeline::{Attached, Event, Frame, Order, Source, SourceLine};

use super::{Ran, timeline};
use crate::support::toolchain::{C99, CPP17, cc, clang, cxx, limited, printed, root};

pub const SOURCE: &str = "tests/c/inlined.c";
/// The functions, innermost first; the first two of `outer` stand in it.
pub const NAMES: [&str; 5] = ["statement", "innermost", "between", "outer", "main"];

/// Builds and runs the program.
pub fn ran(compiler: Command, flags: &[&str]) -> Ran {
    Ran::after(compiler, &[C99, flags].concat(), SOURCE, |_| ())
}

/// The frames of the program's own functions, innermost first.
pub fn frames(ran: &Ran) -> Vec<Frame> {
    let at = Attached::open(ran.ring()).unwrap();
    let events: Vec<Event> = at.events(Order::OldestFirst).collect();
    let [event] = &events[..] else {
        panic!("{} events", events.len());
    };
    let frames = event
        .backtrace()
        .iter()
        .map(|address| at.frame(event, *address));
    let own = frames.filter(|frame| frame.file.as_ref().unwrap().ends_with("/program"));
    own.take(3).collect()
}

/// The line with a comment.
pub fn line(of: &str) -> SourceLine {
    let source = root().join(SOURCE);
    let text = std::fs::read_to_string(&source).unwrap();
    let wanted = format!("/* {of} */");
    let number = text.lines().position(|line| line.contains(&wanted));
    SourceLine {
        file: source.to_str().unwrap().into(),
        line: number.unwrap() as u32 + 1,
    }
}

/// Each function that the frames tell, innermost first, and its line.
fn told(frames: &[Frame]) -> Vec<(String, Option<SourceLine>)> {
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    let of = |frame: &Frame| {
        let inlined = frame.inlined.iter();
        let mut all: Vec<_> = inlined
            .map(|called| (name(&called.name), called.source.clone()))
            .collect();
        all.push((name(&frame.name), frame.source.clone()));
        all
    };
    frames.iter().flat_map(of).collect()
}

/// Whether each function has its line, and stands where it should.
pub fn assert_inlined(frames: &[Frame], how: &str) {
    let plain = |name: &str| {
        let name = demangled(name);
        let name = name.split(['(', '<']).next().unwrap().to_owned();
        name.rsplit([':', ' ']).next().unwrap().to_owned()
    };
    let found: Vec<_> = told(frames)
        .into_iter()
        .map(|(name, line)| (plain(&name), line))
        .collect();
    let wanted = NAMES.map(|name| (name.to_owned(), Some(line(name))));
    assert_eq!(found, wanted, "{how}");
    let counts: Vec<usize> = frames.iter().map(|frame| frame.inlined.len()).collect();
    assert_eq!(counts, [0, 2, 0], "{how}");
}

/// What `addr2line` says of the call that an address returns from: functions and lines.
fn addr2line(program: &Path, frame: &Frame, is_fixed: bool) -> Vec<(String, Option<SourceLine>)> {
    let base = if is_fixed { 0 } else { frame.base.unwrap() };
    let address = format!("{:#x}", frame.address - base - 1);
    let mut command = limited("addr2line");
    command.args(["-f", "-i", "-e"]).arg(program).arg(address);
    let said = printed(&mut command, "binutils");
    let lines: Vec<&str> = said.lines().collect();
    let pairs = lines.chunks_exact(2).map(|pair| {
        let (file, line) = pair[1].rsplit_once(':').unwrap();
        let line = line.split(' ').next().unwrap().parse();
        let file = file.to_owned();
        let line = line.ok().map(|line| SourceLine { file, line });
        (pair[0].to_owned(), line)
    });
    pairs.collect()
}

type Compiler = fn() -> Option<Command>;

#[test]
fn they_have_their_calls_as_addr2line_tells_them() {
    let compilers: [(&str, Compiler, &[&str]); 4] = [
        ("gcc", || Some(cc()), C99),
        ("clang", || clang("clang"), C99),
        ("g++", || Some(cxx()), CPP17),
        ("clang++", || clang("clang++"), CPP17),
    ];
    for (name, compiler, standard) in compilers {
        if compiler().is_none() {
            println!("there is no {name} here");
            continue;
        }
        for flags in [
            &["-g", "-O2"][..],
            &["-g", "-O0"],
            &["-g", "-O2", "-gdwarf-4"],
            &["-g", "-O2", "-gdwarf-5", "-gz=zlib"],
            &["-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"],
            &["-g1", "-O2"],
            &["-g", "-O1", "-no-pie"],
        ] {
            let language = if standard == C99 { "c" } else { "c++" };
            // The next file only: libraries are none of it.
            let flags = [standard, flags, &["-x", language]].concat();
            let compiler = compiler().expect("it is there");
            let ran = Ran::after(compiler, &flags, SOURCE, |_| ());
            let how = format!("{name} {flags:?}");
            let frames = frames(&ran);
            assert_inlined(&frames, &how);
            for frame in &frames {
                let is_fixed = flags.contains(&"-no-pie");
                let expected = addr2line(&ran.program, frame, is_fixed);
                let found = told(std::slice::from_ref(frame));
                // In C++ it gives the innermost function the name of the outermost one.
                let compared = |(name, line)| ((language == "c").then_some(name), line);
                let compare = |all: Vec<_>| all.into_iter().map(compared).collect::<Vec<_>>();
                assert_eq!(compare(found), compare(expected), "{how}");
            }
        }
    }
}

#[test]
fn a_unit_in_a_file_of_its_own_has_lines_only() {
    let ran = ran(cc(), &["-O2", "-g", "-gsplit-dwarf"]);
    let frames = frames(&ran);
    let lines: Vec<_> = frames.iter().map(|frame| frame.source.clone()).collect();
    assert_eq!(
        lines,
        ["statement", "innermost", "main"].map(|name| Some(line(name)))
    );
    assert!(frames.iter().all(|frame| frame.inlined.is_empty()));
}

/// The function, file and line of each of the program's objects in a call stack, and whether it was
/// inlined.
fn objects(text: &str) -> Vec<Json> {
    let row: Json = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let all = row["backtrace"].as_array().unwrap();
    let begin = all.iter().position(|one| one["function"] == "statement");
    let own = &all[begin.unwrap()..][..5];
    assert_eq!(own[1]["address"], own[3]["address"]);
    assert_ne!(own[3]["address"], own[4]["address"]);
    let object = |o: &Json| json!([o["function"], o["file"], o["line"], o["inlined"]]);
    own.iter().map(object).collect()
}

#[test]
fn dumps_and_exports_show_them_and_archives_keep_them() {
    let ran = ran(cc(), &["-g", "-O2"]);
    let ring = ran.ring();
    let ring = ring.to_str().unwrap();
    let json = timeline(&["dump", "--json", ring]);
    let object = |name: &str| {
        let SourceLine { file, line } = line(name);
        let is_inlined = ["innermost", "between"].contains(&name);
        json!([name, file, line, is_inlined.then_some(true)])
    };
    assert_eq!(objects(&json), NAMES.map(object));

    let text = timeline(&["dump", ring]);
    let begin = text.find("    at statement+0x").unwrap();
    for (shown, name) in text[begin..].lines().zip(NAMES) {
        let SourceLine { file, line } = line(name);
        assert!(shown.ends_with(&format!(" at {file}:{line}")), "{text}");
        match name {
            "innermost" | "between" => {
                assert!(
                    shown.starts_with(&format!("    at {name} (inlined) at ")),
                    "{text}"
                );
            }
            _ => assert!(shown.starts_with(&format!("    at {name}+0x")), "{text}"),
        }
    }
    let lines = timeline(&["export", "--format", "jsonl", ring]);
    let row: Json = serde_json::from_str(&lines).unwrap();
    let stack = row["properties"]["backtrace"].as_array().unwrap();
    let stack = stack.iter().filter_map(|one| one["$text"].as_str());
    let begin = stack.skip_while(|text| !text.starts_with("statement+"));
    for (shown, name) in begin.zip(NAMES) {
        assert!(shown.starts_with(name), "{shown}");
        assert!(
            text.contains(&format!("    at {shown}\n")),
            "{shown}: {text}"
        );
    }

    for (file, options) in [("blocks.tla", &[][..]), ("plain.tla", &["--plain"])] {
        let (archive, some) = (ran.path(file), ran.path(&format!("some-{file}")));
        let (archive, some) = (archive.to_str().unwrap(), some.to_str().unwrap());
        timeline(&[&["record", ring, "-o", archive, "--once"], options].concat());
        timeline(&["save", archive, some, "--category", "printf"]);
    }
    std::fs::remove_file(&ran.program).unwrap();
    assert_ne!(timeline(&["dump", "--json", ring]), json);
    for file in [
        "blocks.tla",
        "plain.tla",
        "some-blocks.tla",
        "some-plain.tla",
    ] {
        let archive = ran.path(file);
        let archive = archive.to_str().unwrap();
        assert_eq!(timeline(&["dump", "--json", archive]), json, "{file}");
        assert_eq!(timeline(&["dump", archive]), text, "{file}");
        assert_eq!(
            timeline(&["export", "--format", "jsonl", archive]),
            lines,
            "{file}"
        );
    }
}
