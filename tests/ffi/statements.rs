//! Tests what statements of C and C++ know, whatever they log, and what they take of a stack.

use std::process::Command;

use tempfile::TempDir;

use crate::c_printf::{GNU, by_both, clang};
use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{C99, cc, cxx};

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
    for level in ["-O0", "-O1", "-O2", "-Os"] {
        for compiler in [Some(cc()), clang("clang")].into_iter().flatten() {
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
