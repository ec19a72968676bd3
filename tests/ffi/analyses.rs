//! Analyses in C, with libtimeline-analysis beside libtimeline.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use timeline_analysis::{AnalysisInput, Extent, Log};

use crate::analysis_sample::{damaged, fields, logs, told, told_of};
use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{
    C99, CPP17, built, cc, cxx, limited, printed, root, succeed, words,
};

/// A program of tests/c that analyses.
fn program(name: &str, link: Link, to: &Path) -> PathBuf {
    let source = format!("tests/c/analysis_{name}.c");
    compile(cc(), C99, &[&source], link, to)
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn callbacks_steps_and_next_tell_what_an_analysis_in_rust_tells() {
    let dir = TempDir::new().unwrap();
    let told_in_c = program("told", Link::Analysis, dir.path());
    let paths = logs(dir.path());
    let open = |path: &PathBuf| Log::open(path, Extent::Whole).unwrap();
    let mut seen = Vec::new();
    for of in [
        &paths[0..1],
        &paths[1..2],
        &paths[2..3],
        &paths[3..4],
        &paths[..],
    ] {
        let opened: Vec<Log> = of.iter().map(open).collect();
        for wanted in ["all", "some"] {
            let expected = told(&opened, wanted == "some");
            for how in ["calls", "steps", "next"] {
                let mut command = limited(&told_in_c);
                let said = printed(command.args([how, "0", wanted]).args(of), "coreutils");
                assert_eq!(lines(&said), expected, "{how} {wanted} {of:?}");
            }
            seen.extend(expected);
        }
    }
    // All kinds of lines were there.
    let has = |begin: &str| seen.iter().any(|line| line.starts_with(begin));
    assert!(has("event 3 0 net.got net 8 1008 9 ? ? ? ? ? 0 ? ? ? ? "));
    assert!(has("gap 0 5 1003") && has("gap 0 ? 1006"), "{seen:?}");
    assert!(has("loss 0 4 8 8 bytes of no whole frame"));
    assert!(has("loss 0 1 ") && has("loss 0 2 ") && has("event 1 1 disk.got disk (the field"));
}

/// The lines that a program prints while bytes come to it: each piece once it told of those before.
fn told_of_pieces(program: &Path, how: &str, pieces: &[&[u8]]) -> Vec<String> {
    let mut command = limited(program);
    let command = command.args([how, "bytes", "all"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let (last, first) = pieces.split_last().unwrap();
    let mut lines = String::new();
    for piece in first {
        pipe.write_all(piece).unwrap();
        // It has told of an event before the rest comes.
        said.read_line(&mut lines).unwrap();
    }
    pipe.write_all(last).unwrap();
    drop(pipe);
    said.read_to_string(&mut lines).unwrap();
    assert!(child.wait().unwrap().success());
    lines.lines().map(str::to_owned).collect()
}

#[test]
fn bytes_are_told_as_they_come_through_a_pipe() {
    let dir = TempDir::new().unwrap();
    let told_in_c = program("told", Link::Analysis, dir.path());
    let pieces = damaged();
    let bytes = pieces.concat();
    let expected = |bytes: &mut (dyn Read + Send)| {
        let log = Log::incoming("-".as_ref());
        let follow = log.follow_bytes(bytes).unwrap();
        told_of(AnalysisInput::followed([(&log, follow)]), false)
    };
    let all = expected(&mut &bytes[..]);
    for how in ["calls", "steps", "next"] {
        let whole = told_of_pieces(&told_in_c, how, &[&bytes]);
        assert_eq!(whole, all, "{how}");
        let torn = told_of_pieces(&told_in_c, how, &[&bytes[..bytes.len() - 1]]);
        assert!(torn.len() < whole.len() && torn.last() == whole.last());
    }
    // What came is told before more comes.
    let in_parts = expected(&mut pieces[0].chain(&pieces[1][..]));
    for how in ["steps", "next"] {
        let parts = told_of_pieces(&told_in_c, how, &[&pieces[0], &pieces[1]]);
        assert_eq!(parts, in_parts, "{how}");
    }
}

#[test]
fn each_getter_reads_its_types_and_tells_absent_from_other_types() {
    let dir = TempDir::new().unwrap();
    let program = program("fields", Link::Analysis, dir.path());
    for path in fields(dir.path()) {
        let said = printed(limited(&program).arg(&path), "coreutils");
        assert_eq!(said, "fields: ok\n", "{path:?}");
    }
}

#[test]
fn an_analysis_ends_with_enough_a_failure_a_cancellation_and_survives_mistakes() {
    for link in [Link::Analysis, Link::StaticAnalysis] {
        let dir = TempDir::new().unwrap();
        let program = program("ends", link, dir.path());
        assert_eq!(execute(&program, dir.path(), &[]), "ends: ok\n");
    }
}

#[test]
fn the_header_is_clean_in_both_languages_and_the_library_shows_its_functions_alone() {
    let dir = TempDir::new().unwrap();
    let text = "#include <timeline-analysis.h>\n\
                int main(ARGS) {\n  timeline_analysis_free(0);\n\
                return timeline_analysis_last_error()[0];\n}\n";
    for (name, compiler, flags, arguments) in [
        ("alone.c", cc(), C99, "void"),
        ("alone.cpp", cxx(), CPP17, ""),
    ] {
        let source = dir.path().join(name);
        fs::write(&source, text.replace("ARGS", arguments)).unwrap();
        let source = source.to_str().unwrap();
        let program = compile(compiler, flags, &[source], Link::Analysis, dir.path());
        succeed(&mut limited(&program), "coreutils");
    }
    let header = fs::read_to_string(root().join("include/timeline-analysis.h")).unwrap();
    let library = built().dir.join("libtimeline_analysis.so");
    let read = |command: &str, flags: &[&str]| {
        words(Command::new(command).args(flags).arg(&library), "binutils")
    };
    let symbols = read("nm", &["-D", "--defined-only", "--format=just-symbols"]);
    for symbol in &symbols {
        assert!(symbol.starts_with("timeline_analysis_"), "{symbol}");
        assert!(header.contains(&format!("{symbol}(")), "{symbol}");
    }
    assert_eq!(symbols.len(), 23, "{symbols:?}");
    let dynamic = read("readelf", &["-d", "-W"]).join(" ");
    assert!(dynamic.contains("soname: [libtimeline-analysis.so.0]"));
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
    assert!(!dynamic.contains("[libtimeline.so"), "{dynamic}");
}
