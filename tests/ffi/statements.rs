//! Tests what statements of C and C++ know, whatever they log.

use tempfile::TempDir;

use crate::c_printf::{by_both, clang};
use crate::support::toolchain::cxx;
use crate::support::toolchain::programs::{Link, compile, execute};

/// A program of tests/c that is C++ as well.
fn by_compilers_of_cpp(source: &str) {
    for compiler in [Some(cxx()), clang("clang++")].into_iter().flatten() {
        let dir = TempDir::new().unwrap();
        let flags = ["-std=gnu++17", "-Wall", "-Wextra", "-O2", "-pthread"];
        let file = format!("tests/c/{source}.c");
        let program = compile(compiler, &flags, &[&file], Link::Shared, dir.path());
        let said = execute(&program, dir.path(), &[]);
        assert_eq!(said, format!("{source}: ok\n"));
    }
}

#[test]
fn a_statement_knows_all_that_it_has_met() {
    by_both("known");
    by_compilers_of_cpp("known");
}
