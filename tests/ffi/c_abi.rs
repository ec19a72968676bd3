//! Tests the C ABI and the C++ face, as C and C++ programs see them.
//! The programs are built from source with strict warnings, linked with each library, and run.

use std::fs;
use std::process::Command;

use tempfile::TempDir;
use timeline::internal::Record;
use timeline::internal::layout::Header;
use timeline::{Attached, Priority, Timeline, Value, lay_out};

use crate::support::toolchain::installed::with_another_installed;
use crate::support::toolchain::programs::{Link, c, compile, execute};
use crate::support::toolchain::{
    C99, CPP17, built, cc, cxx, luajit_program, root, run, succeed, with_little_shm, words,
};

#[test]
fn every_function_used_rightly_and_wrongly() {
    assert_eq!(c("tests/c/abi.c", Link::Shared, &[]), "abi: ok\n");
}

#[test]
fn the_static_library_does_the_same() {
    assert_eq!(c("tests/c/abi.c", Link::Static, &[]), "abi: ok\n");
}

#[test]
fn threads_log_to_one_timeline() {
    assert_eq!(c("tests/c/threads.c", Link::Shared, &[]), "threads: ok\n");
}

#[test]
fn threads_have_the_names_that_they_or_the_system_gave_them() {
    assert_eq!(c("tests/c/names.c", Link::Shared, &[]), "names: ok\n");
}

#[test]
fn without_a_size_a_timeline_gets_what_a_container_has_room_for() {
    let dir = TempDir::new().unwrap();
    let program = compile(cc(), C99, &["tests/c/little.c"], Link::Shared, dir.path());
    let words = [
        program.as_os_str(),
        env!("CARGO_BIN_EXE_timeline").as_ref(),
        "/little".as_ref(),
    ];
    let script = "\"$1\" \"$3\" && \"$2\" info \"$3\"";
    if let Some(said) = with_little_shm(64, script, &words) {
        assert!(said.starts_with("little: ok\n"), "{said}");
        let ring = "262,144 entries of 64 bytes (16 MiB), in 1,024 chunks of 256; \
                    1,048,576 did not fit beside two of earlier runs, 64 MiB were free\n";
        assert!(said.contains(ring), "{said}");
    }
}

#[test]
fn a_c_program_reads_the_format_by_itself() {
    // C11, for _Static_assert.
    let dir = TempDir::new().unwrap();
    let flags = [C99, &["-std=c11"]].concat();
    let program = compile(
        cc(),
        &flags,
        &["tests/c/layout.c"],
        Link::Shared,
        dir.path(),
    );
    assert_eq!(execute(&program, dir.path(), &[]), "layout: ok\n");
}

#[test]
fn values_are_rendered_by_position_where_the_definition_cannot_be_read() {
    let dir = TempDir::new().unwrap();
    let [live, saved] = ["live", "saved"].map(|file| dir.path().join(file));
    let timeline = Timeline::with_size(&live, 256, 1024).unwrap();
    let info = Priority::Info;
    let sum = timeline.define("net", info, "sum $n").unwrap();
    let sent = timeline.define_printf("net", info, "%d to %s", ("a.c", 1), &Default::default());
    let (bytes, cut) = (&b"eth0"[..], false);
    let payload = lay_out(&[Value::Int(5), Value::Text { bytes, cut }]);
    timeline.log(sum, [10, -20, i64::MIN, 7]);
    timeline.log_payload(sent.unwrap(), &payload, false);
    Attached::open(&live).unwrap().save(&saved).unwrap();
    let read = || {
        let saved = saved.to_str().unwrap();
        c("tests/c/lost.c", Link::Shared, &[saved])
    };
    assert_eq!(read(), "3 'net' sum n(10) 1\n3 'net' 5 to eth0 2\n");
    // The count of definitions: none but that of no event.
    let mut bytes = fs::read(&saved).unwrap();
    Header::edit(&mut bytes, |h| h.defined = 1.into());
    fs::write(&saved, bytes).unwrap();
    let least = i64::MIN;
    assert_eq!(
        read(),
        format!("0 '' <event 1?>(10, -20, {least}, 7) 4\n0 '' <event 2?>(5, 4, 812151909) 3\n")
    );
}

#[test]
fn the_face_for_cpp() {
    for (number, standard) in ["-std=c++17", "-std=c++20"].into_iter().enumerate() {
        let dir = TempDir::new().unwrap();
        let sources = ["tests/cpp/face.cpp", "tests/cpp/other_unit.cpp"];
        let flags = [CPP17, &[standard]].concat();
        let how = if number == 0 {
            Link::Shared
        } else {
            Link::Static
        };
        let program = compile(cxx(), &flags, &sources, how, dir.path());
        assert_eq!(execute(&program, dir.path(), &[]), "face: ok\n");
    }
}

/// A compiler of this standard refuses the header with one error, the expected one.
fn older_than(mut compiler: Command, header: &str, standard: &str, expected: &str) {
    let dir = TempDir::new().unwrap();
    let source = dir.path().join("old");
    fs::write(&source, format!("#include <{header}>\n")).unwrap();
    compiler.args([standard, "-fsyntax-only", "-pedantic", "-Wall", "-I"]);
    compiler.arg(root().join("include")).arg(&source);
    let output = run(&mut compiler, "gcc and g++");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{standard}: {header} compiles");
    let said: Vec<&str> = said.lines().filter(|l| l.contains(": error: ")).collect();
    assert!(
        said.len() == 1 && said[0].contains(expected),
        "{standard}: {said:#?}"
    );
}

#[test]
fn a_compiler_of_an_older_standard_is_told_so_in_one_line() {
    for standard in ["-std=c89", "-std=gnu89", "-std=iso9899:199409"] {
        let mut c = cc();
        c.args(["-x", "c"]);
        let expected = "timeline.h needs C99 or a later standard";
        older_than(c, "timeline.h", standard, expected);
    }
    for standard in ["-std=c++98", "-std=gnu++11", "-std=c++14"] {
        let mut cpp = cxx();
        cpp.args(["-x", "c++"]);
        let expected = "timeline.hpp needs C++17 or a later standard";
        older_than(cpp, "timeline.hpp", standard, expected);
    }
}

/// Each of these must not compile, for the reason that its first line gives.
#[test]
fn mistakes_that_the_cpp_compiler_finds() {
    let dir = TempDir::new().unwrap();
    let include = root().join("include");
    let base = ["-std=c++17", "-fsyntax-only", "-I"];
    // Compiled once: the header takes longer than what comes after it.
    let mut header = cxx();
    header.args([base[0], "-x", "c++-header", "-o"]);
    header
        .arg(dir.path().join("timeline.hpp.gch"))
        .arg(include.join("timeline.hpp"));
    succeed(&mut header, "g++");
    let mut refused = 0;
    for file in fs::read_dir(root().join("tests/cpp/refused")).unwrap() {
        let file = file.unwrap().path();
        let source = fs::read_to_string(&file).unwrap();
        let expected = source
            .lines()
            .next()
            .unwrap()
            .strip_prefix("// expected: ")
            .unwrap();
        let mut compiler = cxx();
        compiler.args(base).arg(dir.path()).arg("-I").arg(&include);
        let output = run(compiler.arg(&file), "g++");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{} compiles", file.display());
        assert!(
            said.contains(expected),
            "{} is refused, but not for \"{expected}\":\n{said}",
            file.display()
        );
        refused += 1;
    }
    assert!(
        refused > 5,
        "only {refused} programs under tests/cpp/refused"
    );
}

const STRICT_CPP: [&str; 9] = [
    "-x",
    "c++",
    "-std=c++17",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Wshadow",
    "-Werror",
    "-fsyntax-only",
];

/// The default compiler, and clang where there is one.
fn with_clang(default: Command, clang: &str) -> Vec<Command> {
    [Some(default), crate::support::toolchain::clang(clang)]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn each_part_of_the_header_for_cpp_includes_what_it_needs() {
    let parts = fs::read_dir(root().join("include/timeline")).unwrap();
    let parts: Vec<_> = parts.map(|part| part.unwrap().path()).collect();
    assert!(parts.len() > 10, "only {} parts", parts.len());
    for mut compiler in with_clang(cxx(), "clang++") {
        succeed(compiler.args(STRICT_CPP).args(&parts), "g++");
    }
}

#[test]
fn the_headers_are_clean_by_themselves() {
    let c99 = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Wcast-qual",
        "-Werror",
        "-fsyntax-only",
    ];
    let include = root().join("include");
    let dir = TempDir::new().unwrap();
    // Twice, in either order, in a file of its own: no warning is hidden as a system header's.
    let both = dir.path().join("both.c");
    fs::write(
        &both,
        "#include <timeline.h>\n#include <timeline.h>\ntypedef int not_empty;\n",
    )
    .unwrap();
    for mut compiler in with_clang(cc(), "clang") {
        let program = compiler.get_program().to_owned();
        succeed(compiler.args(c99).arg(include.join("timeline.h")), "gcc");
        succeed(
            Command::new(program)
                .args(c99)
                .arg("-I")
                .arg(&include)
                .arg(&both),
            "gcc",
        );
    }
    for mut compiler in with_clang(cxx(), "clang++") {
        let program = compiler.get_program().to_owned();
        succeed(
            compiler.args(STRICT_CPP).arg(include.join("timeline.h")),
            "g++",
        );
        succeed(
            Command::new(&program)
                .args(STRICT_CPP)
                .arg(include.join("timeline.hpp")),
            "g++",
        );
        let plain = ["-fno-exceptions", "-fno-rtti"];
        succeed(
            Command::new(program)
                .args(STRICT_CPP)
                .args(plain)
                .arg(include.join("timeline.hpp")),
            "g++",
        );
    }
}

/// By the rule that the header itself gives.
#[test]
fn luajit_can_parse_the_header() {
    let header = fs::read_to_string(root().join("include/timeline.h")).unwrap();
    let (declarations, _) = header.split_once("\n#ifndef TIMELINE_NO_INLINE").unwrap();
    let mut kept = String::new();
    let mut only_cpp = false;
    for line in declarations.lines() {
        only_cpp |= line.starts_with("#ifdef __cplusplus");
        if !only_cpp && !line.starts_with('#') {
            kept += line;
            kept.push('\n');
        }
        only_cpp &= !line.starts_with("#endif");
    }
    let dir = TempDir::new().unwrap();
    let script = dir.path().join("cdef.lua");
    let check = "assert(ffi.sizeof('timeline_event_t') == 240 and ffi.typeof('timeline_status_t') \
     == ffi.typeof('int32_t'))";
    fs::write(
        &script,
        format!("local ffi = require 'ffi'\nffi.cdef[==[{kept}]==]\n{check}\n"),
    )
    .unwrap();
    succeed(Command::new(luajit_program()).arg(&script), "luajit");
}

#[test]
fn the_header_is_what_the_sources_say() {
    let built = built();
    assert!(
        built.header_before == built.header_after,
        "include/timeline.h was out of date and has been regenerated from ffi/src: commit it"
    );
}

#[test]
fn the_shared_library_is_linked_as_it_must_be() {
    let library = built().dir.join("libtimeline.so");
    let dynamic = words(
        Command::new("readelf").args(["-d", "-W"]).arg(&library),
        "binutils",
    )
    .join(" ");
    assert!(
        dynamic.contains("(SONAME) Library soname: [libtimeline.so.0]"),
        "{dynamic}"
    );
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
    // A model of thread-local storage that a call of the loader would slow down or make allocate.
    let relocations = words(
        Command::new("readelf").args(["-r", "-W"]).arg(&library),
        "binutils",
    )
    .join(" ");
    assert!(!relocations.contains("UNDEFINED"), "{relocations}");
    // Nothing but the interface is visible, and all of it.
    let symbols = words(
        Command::new("nm")
            .args(["-D", "--defined-only", "--format=just-symbols"])
            .arg(&library),
        "binutils",
    );
    let header = fs::read_to_string(root().join("include/timeline.h")).unwrap();
    for symbol in &symbols {
        assert!(symbol.starts_with("timeline_"), "{symbol} is exported");
        assert!(
            header.contains(&format!("{symbol}(")),
            "{symbol} is exported, but not in the header"
        );
    }
    assert!(symbols.len() > 20, "{symbols:?}");
}

#[test]
fn what_is_installed_is_not_what_is_tested() {
    with_another_installed(&[
        "c_abi::every_function_used_rightly_and_wrongly",
        "c_abi::the_static_library_does_the_same",
        "c_abi::the_headers_are_clean_by_themselves",
    ]);
}
