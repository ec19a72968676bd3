//! Runs the fuzz targets (fuzz/targets/) on the inputs in fuzz/corpus/ and on changes to them.
//! Fuzzing begins with some of those inputs, and has found the others. The changes are small and
//! many. `make fuzz` goes on from there.

mod connections;
mod elf;
mod intervals;
mod mutate;
mod searching;
mod seeds;
#[path = "../../../fuzz/targets/mod.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use crate::support::size;

/// A target: its name, all of its checks, those that a fuzzer makes for an input, and how many
/// changed inputs these are tried with here by default.
type Target = (&'static str, Run, Run, usize);
type Run = fn(&[u8]);

const TARGETS: [Target; 11] = {
    use targets::*;
    [
        ("archive", archive::run, archive::run_part, 500),
        (
            "archive_framed",
            archive_framed::run,
            archive_framed::run_part,
            800,
        ),
        ("connection", connection::run, connection::run, 2_000),
        ("import", import::run, import::run, 300),
        ("index", index::run, index::run_part, 300),
        ("intervals", intervals::run, intervals::run, 300),
        ("printf", printf::run, printf::run, 2_000),
        ("query", query::run, query::run_part, 900),
        ("resume", resume::run, resume::run, 150),
        ("ring", ring::run, ring::run_part, 400),
        ("symbols", symbols::run, symbols::run, 500),
    ]
};

/// Where the corpora are.
fn corpus() -> PathBuf {
    crate::support::root().join("fuzz/corpus")
}

/// What is committed for a target, in the order of the names.
fn committed(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = corpus().join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{folder:?}: {e}"));
    let mut files: Vec<_> = entries
        .map(|entry| {
            let entry = entry.expect("an entry of a folder");
            let name = entry.file_name().into_string().expect("a plain name");
            (name, fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

/// Runs a target on this input, and says which one it was if it fails.
fn try_on(what: &str, run: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(input))) {
        let name = what.replace(|c: char| !c.is_alphanumeric(), "-");
        let kept = std::env::temp_dir().join(format!("timeline-fuzz-{name}"));
        let written = fs::write(&kept, input).map(|()| kept);
        println!("{what}: the input is in {written:?}");
        resume_unwind(panic);
    }
}

#[test]
fn what_is_committed_does_no_harm() {
    for (target, run, ..) in TARGETS {
        let inputs = committed(target);
        assert!(inputs.len() >= 3, "only {} for {target}", inputs.len());
        for (name, input) in inputs {
            try_on(&format!("fuzz/corpus/{target}/{name}"), run, &input);
        }
    }
}

/// `FUZZ_SEEDS=rings` replaces the rings that two of the targets change, and `FUZZ_SEEDS=write` the
/// seeds, some of which are made of those.
#[test]
fn what_is_written_today_does_no_harm() {
    let wanted = std::env::var("FUZZ_SEEDS").unwrap_or_default();
    if wanted == "rings" {
        for (name, packed) in seeds::rings() {
            let file = corpus().join("../rings").join(name);
            fs::write(file.with_extension("lz4"), packed).expect("written");
        }
        return;
    }
    let write = wanted == "write";
    let seeds = seeds::all();
    for (target, run, ..) in TARGETS {
        for (_, name, input) in seeds.iter().filter(|seed| seed.0 == target) {
            if write {
                let folder = corpus().join(target);
                fs::create_dir_all(&folder).expect("a folder");
                fs::write(folder.join(name), input).expect("written");
            }
            try_on(&format!("{target}, {name} of today"), run, input);
        }
    }
}

#[test]
fn small_changes_do_no_harm() {
    std::thread::scope(|scope| {
        for (target, _, run, count) in TARGETS {
            scope.spawn(move || {
                let inputs: Vec<_> = committed(target).into_iter().map(|(_, i)| i).collect();
                let mut mutator = mutate::Mutator::new(inputs);
                for number in 0..count * size() as usize {
                    let input = mutator.next();
                    try_on(&format!("{target}, change {number}"), run, &input);
                }
            });
        }
    });
}

#[test]
fn every_target_is_run_here_and_can_be_fuzzed() {
    let manifest = include_str!("../../../fuzz/Cargo.toml");
    let fuzzed = manifest.matches("\n[[bin]]\n").count();
    assert_eq!(fuzzed, TARGETS.len());
    for (target, ..) in TARGETS {
        let path = format!("\nname = \"{target}\"\npath = \"bin/{target}.rs\"\n");
        assert!(manifest.contains(&path), "no {target} in fuzz/Cargo.toml");
        let program = fs::read_to_string(corpus().join(format!("../bin/{target}.rs")));
        let calls = ["run", "run_part"].map(|f| format!("timeline_fuzz::{target}::{f}(bytes)"));
        let is_called = |text: String| calls.iter().any(|call| text.contains(call));
        assert!(program.is_ok_and(is_called), "{target}");
    }
}
