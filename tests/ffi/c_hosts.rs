//! Tests programs that make it hard for a library.
//! They close it, have it twice, fork by vfork, jump out of handlers, cancel threads, allow no
//! system calls, and want backtraces.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::toolchain::programs::{Link, c, compile, execute, link};
use crate::support::toolchain::{C99, built, cc, limited, root, succeed, words};

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
        .entries_written;
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

/// In a process without restartable sequences, where each thread needs a lane of its own.
#[test]
fn a_thread_without_a_lane_drops_its_events_for_the_price_of_a_count() {
    let dir = TempDir::new().unwrap();
    let flags = [C99, &["-std=c11"]].concat();
    let source = ["tests/c/laneless.c"];
    let program = compile(cc(), &flags, &source, Link::Shared, dir.path());
    let mut host = limited(&program);
    host.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    assert_eq!(
        words(host.arg(dir.path()), "coreutils"),
        ["laneless:", "ok"]
    );
    let (events, no_lane, dropped) = logged(&dir.path().join("ring"));
    assert_eq!((no_lane, dropped), (2 * 1024, 2 * 1024));
    assert_eq!(events.last().unwrap().args[0], -1);
}

/// The functions that the library has in assembly: where each begins and how long it is, in
/// hexadecimal.
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
    // Of the first ten, the three events that followed the jump; of the others four each, and one
    // of the last.
    let info = attached.info();
    assert_eq!(info.entries_written + dropped, 30 + 40 + 1);
    assert!(dropped >= 30 && info.dropped.interrupted == dropped && no_lane == 0);
    let newest = events.last().unwrap();
    assert_eq!(newest.args[0], 0);
    let thread = attached.thread(newest).expect("a record was free");
    assert_eq!(thread.name.as_deref(), Some("after"));
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
    let info = attached.info();
    assert_eq!((info.dropped.not_joined, no_lane, dropped), (2, 0, 2));
    assert_eq!(
        (info.entries_written, info.thread_lanes_in_use),
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
        // After the first two a million, of which the ring holds the last. A thread that was moved
        // leaves an older chunk in the lane of the other CPU.
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

/// What timeline.h declares, for a program that calls it.
fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(root().join("include/timeline.h")).unwrap();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let lines = header.lines().filter(|line| line.starts_with(word));
    // TYPE NAME(...
    let names = lines.filter_map(|line| line.split('(').next()?.split([' ', '*']).next_back());
    // Not those of templates for C++.
    let names = names.filter(|name| !name.contains('<'));
    let ours = names.filter(|name| name.starts_with("timeline_") && !name.ends_with('_'));
    let types = ["_t", "_t;"];
    ours.filter(|name| !types.iter().any(|end| name.ends_with(end)))
        .map(str::to_owned)
        .collect()
}

/// Cancels threads in every function that the header declares, and looks at what they have logged.
fn cancel(how: &str, link: Link, rseq: &str) {
    let dir = TempDir::new().unwrap();
    let flags = [C99, &["-std=c11"]].concat();
    let program = compile(cc(), &flags, &["tests/c/cancel.c"], link, dir.path());
    let mut host = limited(&program);
    host.env("GLIBC_TUNABLES", rseq);
    let said = words(host.arg(dir.path()).arg(how), "coreutils");
    let [called @ .., least, most] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(called.iter().cloned().collect::<BTreeSet<_>>(), declared());
    let attached = timeline::Attached::open(dir.path().join("ring")).unwrap();
    let info = attached.info();
    assert_eq!(info.dropped.total(), 0);
    let possible = least.parse::<u64>().unwrap()..=most.parse().unwrap();
    assert!(possible.contains(&info.entries_written), "{possible:?}");
}

#[test]
fn every_function_returns_in_a_thread_that_is_cancelled() {
    cancel("deferred", Link::Shared, "glibc.pthread.rseq=1");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn threads_are_cancelled_asynchronously_after_any_instruction() {
    for rseq in ["glibc.pthread.rseq=1", "glibc.pthread.rseq=0"] {
        cancel("asynchronously", Link::Shipped, rseq);
    }
}

/// How much stack logging takes, in bytes, in each case of the program.
fn stack(link: Link, rseq: &str) -> BTreeMap<String, usize> {
    let dir = TempDir::new().unwrap();
    let flags = [C99, &["-std=c11"]].concat();
    let program = compile(cc(), &flags, &["tests/c/stack.c"], link, dir.path());
    let mut host = limited(&program);
    host.env("GLIBC_TUNABLES", rseq).arg(dir.path());
    let said = words(&mut host, "coreutils");
    let said = said.chunks(2).map(|pair| match pair {
        [case, bytes] => (case.clone(), bytes.parse().unwrap()),
        _ => panic!("{said:?}"),
    });
    said.collect()
}

/// The bounds are those of timeline.h.
#[test]
fn logging_takes_no_more_stack_than_the_header_says() {
    for rseq in ["glibc.pthread.rseq=1", "glibc.pthread.rseq=0"] {
        for (link, log, printf) in [(Link::Shipped, 2, 6), (Link::Shared, 16, 16)] {
            let cases = stack(link, rseq);
            println!("{rseq}: {cases:?}");
            assert_eq!(cases.len(), 9);
            for (case, bytes) in cases {
                let most = match case.contains("printf") || case.contains("backtrace") {
                    true => printf << 10,
                    false => log << 10,
                };
                assert!(bytes <= most, "{case}: {bytes} bytes of {most}, {rseq}");
            }
        }
    }
}
