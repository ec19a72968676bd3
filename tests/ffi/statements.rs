//! Tests what statements of C and C++ know, whatever they log, and what they take of a stack.

use std::process::Command;

use tempfile::TempDir;

use crate::c_printf::{GNU, by_both};
use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{C99, cc, clang, cxx};

/// Runs a program of tests/c, which may be C++ as well.
fn runs(compiler: Command, flags: &[&str], source: &str, arguments: &[&str]) {
    let dir = TempDir::new().unwrap();
    let file = format!("tests/c/{source}.c");
    let program = compile(compiler, flags, &[&file], Link::Shared, dir.path());
    let said = execute(&program, dir.path(), arguments);
    assert_eq!(said, format!("{source}: ok\n"), "{flags:?}");
}

const GNU_CPP: &[&str] = &["-std=gnu++17", "-Wall", "-Wextra", "-pthread"];

fn compilers_of_cpp() -> impl Iterator<Item = Command> {
    [Some(cxx()), clang("clang++")].into_iter().flatten()
}

fn by_all(source: &str) {
    by_both(source);
    for compiler in compilers_of_cpp() {
        runs(compiler, &[GNU_CPP, &["-O2"]].concat(), source, &[]);
    }
}

#[test]
fn a_statement_knows_all_that_it_has_met() {
    by_all("known");
}

#[test]
fn texts_of_each_length_are_read_as_they_are() {
    by_all("short_texts");
    runs(cxx(), &[GNU_CPP, &["-O0"]].concat(), "short_texts", &[]);
}

/// Three statements in each of 50 cases, on a stack of 64 KiB.
#[test]
fn many_statements_take_as_much_stack_as_one() {
    let c = [C99, GNU].concat();
    for (level, by_clang) in [("-O0", true), ("-O1", false), ("-O2", true), ("-Os", false)] {
        let clang = clang("clang").filter(|_| by_clang);
        for compiler in [Some(cc()), clang].into_iter().flatten() {
            runs(compiler, &[&c[..], &[level]].concat(), "frames", &["8192"]);
        }
    }
    for level in ["-O0", "-O2"] {
        for compiler in compilers_of_cpp() {
            let flags = [GNU_CPP, &[level]].concat();
            runs(compiler, &flags, "frames", &["8192"]);
        }
    }
    // Where each array is watched, no two are in the same place.
    let watched = [&c[..], &["-O1", "-fsanitize=address"]].concat();
    runs(cc(), &watched, "frames", &["30000"]);
}

/// Fifty statements of one function, each a case, with up to six numbers, texts and pointers.
fn fifty_events() -> String {
    const MIX: [(&str, &str); 7] = [
        ("number $a of $b", ", a, b"),
        ("took $a us for $s", ", a, s"),
        ("plain words", ""),
        ("$a $b $c", ", s, s, l"),
        ("took $a us for $s at $p, $d", ", a, s, p, d"),
        ("$b $d", ", b, d"),
        ("$a $b $c $d $e $f", ", a, b, a, b, a, b"),
    ];
    let cases = MIX.iter().cycle().take(50).enumerate();
    let cases = cases.map(|(case, (message, arguments))| {
        let given = format!("\"bench\", \"{message}\"{arguments}");
        format!("case {case}: TIMELINE_EVENT(tl, TIMELINE_INFO, {given}); break;\n")
    });
    let parameters = "int which, int a, int b, long l, const char *s, void *p, double d";
    format!(
        "#include <timeline.h>\nextern timeline_t *tl;\nvoid say({parameters});\n\
         void say({parameters}) {{ switch (which) {{\n{}}} }}\n",
        cases.collect::<String>()
    )
}

#[test]
fn fifty_statements_that_nobody_optimised_take_two_kilobytes_of_stack() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("fifty.c");
    std::fs::write(&source, fifty_events()).unwrap();
    for mut compiler in [Some(cc()), clang("clang")].into_iter().flatten() {
        let output = compiler
            .args(["-std=gnu11", "-O0", "-fstack-usage", "-c"])
            .arg(&source)
            .arg("-I")
            .arg(crate::support::toolchain::root().join("include"))
            .args(["-o", "fifty.o"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let usage = std::fs::read_to_string(folder.path().join("fifty.su")).unwrap();
        let frame = usage.lines().find_map(|line| {
            let (function, rest) = line.split_once('\t')?;
            let bytes = rest.split('\t').next()?;
            function
                .ends_with(":say")
                .then(|| bytes.parse::<u64>().unwrap())
        });
        assert!(frame.is_some_and(|frame| frame <= 2048), "{frame:?}");
    }
}
