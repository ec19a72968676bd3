//! The C ABI and the C++ face, as C and C++ programs see them: built from source with strict warnings, linked
//! with each library, and run.

mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use toolchain::{C99, CPP17, built, cc, cxx, limited, root, run, succeed, words};

/// What a program is linked with.
#[derive(Clone, Copy)]
enum Link {
    Shared,
    Static,
    Nothing,
}

fn link(command: &mut Command, link: Link) {
    let dir = &built().dir;
    match link {
        Link::Shared => {
            command
                .arg("-L")
                .arg(dir)
                .arg("-ltimeline")
                .arg(format!("-Wl,-rpath,{}", dir.display()));
        }
        Link::Static => {
            command
                .arg(dir.join("libtimeline.a"))
                .args(["-lpthread", "-ldl", "-lm"]);
        }
        Link::Nothing => {
            command.arg("-ldl");
        }
    }
}

fn compile(
    mut compiler: Command,
    flags: &[&str],
    sources: &[&str],
    how: Link,
    to: &Path,
) -> PathBuf {
    let program = to.join("program");
    compiler.args(flags).arg("-I").arg(root().join("include"));
    compiler.args(sources.iter().map(|source| root().join(source)));
    compiler.arg("-o").arg(&program);
    link(&mut compiler, how);
    succeed(&mut compiler, "gcc and g++");
    program
}

/// Compiles a C program, runs it with a directory of its own, and returns what it printed.
fn c(source: &str, how: Link, arguments: &[&str]) -> String {
    let dir = TempDir::new().unwrap();
    let program = compile(cc(), C99, &[source], how, dir.path());
    execute(&program, dir.path(), arguments)
}

fn execute(program: &Path, dir: &Path, arguments: &[&str]) -> String {
    let output = succeed(limited(program).arg(dir).args(arguments), "coreutils");
    String::from_utf8(output.stdout).unwrap()
}

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
fn the_library_outlives_its_dlclose() {
    let library = built().dir.join("libtimeline.so");
    let library = library.to_str().unwrap();
    assert_eq!(
        c("tests/c/unload.c", Link::Nothing, &[library]),
        "unload: ok\n"
    );
}

#[test]
fn a_plugin_with_the_static_library_outlives_its_dlclose() {
    let dir = TempDir::new().unwrap();
    let plugin = dir.path().join("plugin.so");
    let mut linker = cc();
    linker.arg("-shared").arg("-o").arg(&plugin);
    for symbol in ["last_error", "new", "define", "log"] {
        linker.arg(format!("-Wl,--undefined=timeline_{symbol}"));
    }
    link(&mut linker, Link::Static);
    succeed(&mut linker, "gcc");
    let dynamic = words(
        Command::new("readelf").args(["-d", "-W"]).arg(&plugin),
        "binutils",
    );
    // Nothing but the library itself can keep it in memory.
    assert!(!dynamic.join(" ").contains("NODELETE"), "{dynamic:?}");
    let plugin = plugin.to_str().unwrap();
    assert_eq!(
        c("tests/c/unload.c", Link::Nothing, &[plugin]),
        "unload: ok\n"
    );
}

/// The events of a timeline, oldest first, and how many were dropped for want of a lane and in all.
fn logged(path: &Path) -> (Vec<timeline::Event>, u64, u64) {
    let attached = timeline::Attached::open(path).unwrap();
    let dropped = attached.info().dropped;
    let events = attached.events(timeline::Order::OldestFirst).collect();
    (events, dropped.no_lane, dropped.total())
}

/// Both in a process without restartable sequences, so that threads have lanes of their own.
#[test]
fn two_copies_of_the_library_in_one_process_leave_each_other_their_lanes() {
    let dir = TempDir::new().unwrap();
    let plugin = dir.path().join("plugin.so");
    let mut linker = cc();
    linker.args(C99).args(["-shared", "-fPIC", "-I"]);
    linker.arg(root().join("include"));
    linker.arg(root().join("tests/c/plugin.c"));
    linker.arg("-o").arg(&plugin);
    link(&mut linker, Link::Static);
    succeed(&mut linker, "gcc");
    let flags = [C99, &["-std=c11"]].concat();
    let program = compile(
        cc(),
        &flags,
        &["tests/c/copies.c"],
        Link::Static,
        dir.path(),
    );
    let mut host = limited(&program);
    host.arg(dir.path()).arg(&plugin);
    host.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    let said = words(&mut host, "coreutils");
    let said: Vec<i64> = said.iter().map(|n| n.parse().unwrap()).collect();
    let [lanes, last] = said[..] else {
        panic!("{said:?}");
    };
    let path = dir.path().join("ring");
    let (events, no_lane, dropped) = logged(&path);
    // The thread beyond the lanes lost all of its own, and nobody else any.
    assert_eq!((no_lane, dropped), (last as u64 + 1, last as u64 + 1));
    let written = timeline::Attached::open(&path)
        .unwrap()
        .info()
        .events_written;
    assert_eq!(written, (lanes * (last + 1)) as u64);
    let mut newest = std::collections::BTreeMap::new();
    for event in &events {
        let [who, number, minus, twice] = event.args;
        assert_eq!((minus, twice), (-number, 2 * number), "torn: {event:?}");
        let before = newest.insert(who, number).unwrap_or(-1);
        assert!(number > before, "{number} of {who} behind {before}");
    }
    let expected = (0..lanes).map(|who| (who, last)).collect();
    assert_eq!(newest, expected);
}

/// The functions that the library has in assembly: where each begins and how long it is, in hexadecimal.
#[cfg(target_arch = "x86_64")]
fn appends() -> Vec<String> {
    let library = built().dir.join("libtimeline.so");
    let mut nm = Command::new("nm");
    nm.args(["--demangle", "--print-size", "--defined-only"]);
    let output = succeed(nm.arg(&library), "binutils");
    let symbols = String::from_utf8(output.stdout).unwrap();
    let find = |name: &str| {
        let name = format!("::rseq::x86_64::{name}");
        // ADDRESS SIZE TYPE NAME, which may end in a hash.
        let mut found = symbols.lines().filter(|line| {
            let rest = line.split_once(&name).map(|(_, rest)| rest);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        let line = found
            .next()
            .unwrap_or_else(|| panic!("no {name} in {library:?}"));
        assert_eq!(found.next(), None, "a second {name}");
        line.split(' ').take(2).map(str::to_owned).collect()
    };
    let both: [Vec<String>; 2] = ["append", "try_append"].map(find);
    both.concat()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_backtrace_from_anywhere_in_an_append_leads_to_the_caller() {
    let appends = appends();
    let appends: Vec<&str> = appends.iter().map(String::as_str).collect();
    assert_eq!(
        c("tests/c/unwind.c", Link::Shared, &appends),
        "unwind: ok\n"
    );
}

#[cfg(target_arch = "x86_64")]
#[test]
fn what_a_thread_had_comes_back_though_a_handler_jumped_out_of_its_first_event() {
    let dir = TempDir::new().unwrap();
    let flags = [C99, &["-std=c11"]].concat();
    let program = compile(cc(), &flags, &["tests/c/jump.c"], Link::Shared, dir.path());
    assert_eq!(execute(&program, dir.path(), &[]), "jump: ok\n");
    let path = dir.path().join("ring");
    let (events, no_lane, dropped) = logged(&path);
    let attached = timeline::Attached::open(&path).unwrap();
    // Of the first ten, the three events that followed the jump; of the others four each, and one of the last.
    let info = attached.info();
    assert_eq!(info.events_written + dropped, 30 + 40 + 1);
    assert!(dropped >= 30 && info.dropped.interrupted == dropped && no_lane == 0);
    let newest = events.last().unwrap();
    assert_eq!(newest.args[0], 0);
    let thread = attached.thread(newest).expect("a record was free");
    assert_eq!(thread.name, "after");
}

#[test]
fn a_vforked_child_does_not_join_in_its_parents_place() {
    let dir = TempDir::new().unwrap();
    let flags = [C99, &["-Wno-deprecated-declarations"]].concat();
    let program = compile(cc(), &flags, &["tests/c/vfork.c"], Link::Shared, dir.path());
    let said = execute(&program, dir.path(), &[]);
    let pids: Vec<u32> = said
        .split_whitespace()
        .map(|p| p.parse().unwrap())
        .collect();
    let [child, thread, dead @ ..] = &pids[..] else {
        panic!("{said}");
    };
    assert_eq!(dead.len(), 2, "{said}");
    let path = dir.path().join("ring");
    let (events, no_lane, dropped) = logged(&path);
    let attached = timeline::Attached::open(&path).unwrap();
    let mut numbers: std::collections::HashMap<i64, Vec<i64>> = Default::default();
    for event in &events {
        let [who, number, ..] = event.args;
        let tid = if who == 4 { thread } else { child };
        assert_eq!(event.tid, *tid, "{event:?}");
        let known = attached.thread(event).expect("its thread is in the table");
        assert_eq!((known.tid, known.pid), (*tid, *child), "{event:?}");
        numbers.entry(who).or_default().push(number);
    }
    // Who: 1 and 3 are vforked children of the threads 2 and 4, before these joined.
    let expected = [(2, 100_000), (4, 1000)].map(|(who, n)| (who, (0..n).collect()));
    assert_eq!(numbers, std::collections::HashMap::from(expected));
    assert_eq!((no_lane, dropped), (2, 2));
    let info = attached.info();
    assert_eq!(
        (info.events_written, info.thread_lanes_in_use),
        (101_000, 0)
    );
    assert!(
        info.writers.iter().all(|w| !dead.contains(&w.pid)),
        "{:?}",
        info.writers
    );
}

#[test]
fn a_first_event_allocates_nothing_and_later_ones_call_no_kernel() {
    let dir = TempDir::new().unwrap();
    for how in [Link::Shared, Link::Static] {
        let program = compile(cc(), C99, &["tests/c/quiet.c"], how, dir.path());
        assert_eq!(execute(&program, dir.path(), &[]), "quiet: ok\n");
        let (events, _, dropped) = logged(&dir.path().join("ring"));
        // After the first two a million, of which the ring holds the last. A thread that was moved leaves an older
        // chunk in the lane of the other CPU.
        let numbers: Vec<i64> = events
            .iter()
            .map(|e| e.args[0])
            .filter(|n| *n >= 0)
            .collect();
        assert!(numbers.len() >= 4096 - 256 && numbers.last() == Some(&999_999));
        assert!(numbers.windows(2).all(|pair| pair[1] > pair[0]));
        assert_eq!(dropped, 0);
        fs::remove_file(dir.path().join("ring")).unwrap();
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

/// Each of these must not compile, for the reason that its first line gives.
#[test]
fn mistakes_that_the_cpp_compiler_finds() {
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
        compiler
            .args(["-std=c++17", "-fsyntax-only", "-I"])
            .arg(root().join("include"))
            .arg(&file);
        let output = run(&mut compiler, "g++");
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

/// With the default compiler, and with clang where there is one.
#[test]
fn the_headers_are_clean_by_themselves() {
    let c99 = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-fsyntax-only",
    ];
    let cpp = [
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
    let include = root().join("include");
    let dir = TempDir::new().unwrap();
    // Twice, in either order, in a file of its own: no warning is hidden as a system header's.
    let both = dir.path().join("both.c");
    fs::write(
        &both,
        "#include <timeline.h>\n#include <timeline.h>\ntypedef int not_empty;\n",
    )
    .unwrap();
    let clang = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let mut c_compilers = vec![cc()];
    let mut cpp_compilers = vec![cxx()];
    if clang("clang") {
        c_compilers.push(Command::new("clang"));
    }
    if clang("clang++") {
        cpp_compilers.push(Command::new("clang++"));
    }
    for mut compiler in c_compilers {
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
    for mut compiler in cpp_compilers {
        let program = compiler.get_program().to_owned();
        succeed(compiler.args(cpp).arg(include.join("timeline.h")), "g++");
        succeed(
            Command::new(&program)
                .args(cpp)
                .arg(include.join("timeline.hpp")),
            "g++",
        );
        let plain = ["-fno-exceptions", "-fno-rtti"];
        succeed(
            Command::new(program)
                .args(cpp)
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
    let check = "assert(ffi.sizeof('timeline_event_t') == 120 and ffi.typeof('timeline_status_t') == ffi.typeof('int32_t'))";
    fs::write(
        &script,
        format!("local ffi = require 'ffi'\nffi.cdef[==[{kept}]==]\n{check}\n"),
    )
    .unwrap();
    succeed(Command::new("luajit").arg(&script), "luajit");
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
