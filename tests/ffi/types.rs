//! Tests what statements of C++ make of types, and that strict compilers find nothing to warn of.

use tempfile::TempDir;

use crate::support::toolchain::programs::{Link, compile, execute};
use crate::support::toolchain::{CPP17, clang, cxx, root, run};

#[test]
fn types_of_cpp_are_logged_as_what_they_are() {
    for (standard, how) in [("-std=c++17", "-O0"), ("-std=c++20", "-O2")] {
        let dir = TempDir::new().unwrap();
        let flags = [CPP17, &[standard, how]].concat();
        let sources = ["tests/cpp/types.cpp"];
        let program = compile(cxx(), &flags, &sources, Link::Shared, dir.path());
        let said = execute(&program, dir.path(), &[]);
        assert_eq!(said, "types: ok\n", "{standard} {how}");
    }
}

/// What people switch on who want to know all.
const WARNINGS: &[&str] = &[
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wzero-as-null-pointer-constant",
    "-Wold-style-cast",
    "-Wcast-qual",
    "-Wcast-align",
    "-Wundef",
    "-Wdouble-promotion",
    "-Wextra-semi",
    "-Werror",
    "-Wno-unknown-warning-option",
    "-fsyntax-only",
];

/// With the default compiler, and with clang where there is one, whether the headers are the
/// system's or not: the statements are the program's code in any case.
#[test]
fn strict_compilers_find_nothing_in_headers_and_statements() {
    let mut checked = 0;
    for is_clang in [false, true] {
        let compiler = || match is_clang {
            false => Some(cxx()),
            true => clang("clang++"),
        };
        if compiler().is_none() {
            println!("there is no clang++ here");
            continue;
        }
        let own = match is_clang {
            true => "-Wshadow-all",
            false => "-Wuseless-cast",
        };
        for standard in ["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"] {
            for (include, hpp) in [
                ("-I", false),
                ("-isystem", false),
                ("-I", true),
                ("-isystem", true),
            ] {
                let mut command = compiler().expect("it is there");
                command.arg(standard).args(WARNINGS).arg(own);
                command.arg(include).arg(root().join("include"));
                if hpp && standard < "-std=c++17" {
                    continue;
                }
                if hpp {
                    command.arg("-DSTRICT_HPP");
                }
                command.arg(root().join("tests/cpp/strict.cpp"));
                let output = run(&mut command, "g++");
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{command:?}:\n{said}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 12, "{checked}");
}
