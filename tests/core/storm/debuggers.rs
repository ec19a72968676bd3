//! Tests debuggers that run a program in their own way.
//! One stops after each instruction, and one runs the program on a CPU of its own making.

use std::path::{Path, PathBuf};
use std::process::Output;

use timeline::{Order, Timeline};

use crate::support::toolchain::programs::{Link, compile};
use crate::support::toolchain::{C99, cc, limited, root, run};
use crate::support::{Name, attach, define};

/// Compiles a C program that uses the library.
fn compiled(source: &str, how: Link, folder: &Path) -> PathBuf {
    compile(cc(), C99, &[source], how, folder)
}

/// The ring of steps.c holds each of its events once, in order.
fn assert_all_there(name: &Name, how: &str) {
    let attached = attach(name.path());
    let there: Vec<_> = attached
        .events(Order::OldestFirst)
        .map(|e| e.args)
        .collect();
    let logged: Vec<_> = (0..40).map(|i| [7, i, -i, i * i]).collect();
    assert_eq!(there, logged, "{how}");
    let info = attached.info();
    assert_eq!(
        (info.entries_written, info.dropped.total()),
        (40, 0),
        "{how}"
    );
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|o| String::from_utf8_lossy(o));
    format!("{}\n{out}\n{err}", output.status)
}

/// Steps of one instruction that a call may take. It tries several times before it goes the way
/// that cannot be interrupted.
#[cfg(target_arch = "x86_64")]
const MOST_STEPS: u32 = 100_000;

/// How often all is tried.
#[cfg(target_arch = "x86_64")]
const TRIES: u32 = 10;

/// The calls that are stepped through: one that finds the chunk of sixteen entries full, and one
/// that finds room.
#[cfg(target_arch = "x86_64")]
const STOPS: [u32; 2] = [17, 25];

#[cfg(target_arch = "x86_64")]
#[test]
fn gdb_steps_through_log_calls_instruction_by_instruction() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled("tests/core/storm/steps.c", Link::Shipped, folder.path());
    let mut tries = (0..TRIES).map(|_| steps(&program, folder.path()));
    assert!(
        tries.any(|is_tried| is_tried),
        "the clock never let a call go on"
    );
}

/// Steps through both calls. Where a step takes long, the kernel's own clock never ends: it begins
/// anew whenever the time was updated meanwhile. Then nothing is tried.
#[cfg(target_arch = "x86_64")]
fn steps(program: &Path, folder: &Path) -> bool {
    let name = Name::new("gdb");
    // A call that is interrupted after each instruction may use up several chunks: plenty of them.
    let opener = Timeline::with_size(name.path(), 1 << 12, 2048).expect("created");
    define(&opener);
    let file = folder.join("script");
    std::fs::write(&file, script(name.path())).expect("written");
    let output = run(
        limited("gdb")
            .args(["-nx", "-batch", "-x"])
            .arg(&file)
            .arg(program)
            .env_remove("DEBUGINFOD_URLS"),
        "gdb",
    );
    let said = said(&output);
    if said.contains(" in clock_gettime ()") {
        return false;
    }
    for stop in STOPS {
        let line = format!("call {stop}: returned 1");
        assert!(said.contains(&line), "no {line:?} in: {said}");
    }
    assert!(
        said.contains("steps: ok") && said.contains("exited normally"),
        "{said}"
    );
    assert_all_there(&name, "under gdb");
    true
}

/// What gdb is told.
#[cfg(target_arch = "x86_64")]
fn script(timeline: &str) -> String {
    let mut script = format!(
        "set language c
        set debuginfod enabled off
        tbreak main
        run {timeline}
        break *timeline_log
        "
    );
    let mut call = 0;
    for stop in STOPS {
        // The first continue counts.
        script += &format!("ignore 2 {}\n continue\n", stop - call - 1);
        call = stop;
        // One command for all steps ends at the breakpoint. A loop of commands takes longer,
        // because each shows where the program is.
        script += &format!(
            "set $back = *(unsigned long *)$rsp
            tbreak *$back
            stepi {MOST_STEPS}
            printf \"call {stop}: returned %d\\n\", $pc == $back
            "
        );
    }
    script + "delete 2\n continue\n"
}

/// Runs a program under memcheck, for which any error or definite leak is a failure: how that went,
/// and the findings.
///
/// What else is said to standard error is the machine's: a loader that misses a library, say.
fn memcheck(program: &Path, arguments: &[&str]) -> (Output, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let mut valgrind = limited("valgrind");
    valgrind
        .args(["--quiet", "--error-exitcode=9"])
        .args(["--leak-check=full", "--errors-for-leak-kinds=definite"])
        .arg(format!("--log-file={}", log.display()))
        .arg(program)
        .args(arguments)
        .env("LD_PRELOAD", "/there/is/no/such/library.so");
    let output = run(&mut valgrind, "valgrind");
    let found = std::fs::read_to_string(log).unwrap_or_default();
    (output, found)
}

/// What a program prints in which memcheck finds nothing.
fn sound(program: &Path, arguments: &[&str]) -> String {
    let (output, found) = memcheck(program, arguments);
    assert!(
        output.status.success(),
        "{}: {found}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn valgrind_finds_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled("tests/core/storm/faults.c", Link::Shared, folder.path());
    for (fault, finding) in [
        ("beyond", "Invalid read"),
        ("undefined", "uninitialised"),
        ("leaked", "definitely lost"),
    ] {
        let (output, found) = memcheck(&program, &[fault]);
        assert_eq!(output.status.code(), Some(9), "{fault}: {found}");
        assert!(found.contains(finding), "{fault}: {found}");
    }
}

#[test]
fn valgrind_finds_nothing_in_a_c_program_that_logs() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled("tests/core/storm/steps.c", Link::Shared, folder.path());
    let name = Name::new("valgrind");
    let opener = Timeline::with_size(name.path(), 256, 2048).expect("created");
    define(&opener);
    assert_eq!(sound(&program, &[name.path()]), "steps: ok\n");
    assert_all_there(&name, "under valgrind");
}

#[test]
fn valgrind_finds_nothing_in_the_c_example() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled("examples/c/demo.c", Link::Shared, folder.path());
    let name = Name::new("example");
    let file = root().join("Cargo.toml");
    let file = file.to_str().expect("a plain name");
    let said = sound(&program, &[name.path(), "2", "3", file]);
    assert!(said.starts_with("demo: 2 rounds"), "{said}");
    let attached = attach(name.path());
    let newest = attached.events(Order::NewestFirst).next().expect("events");
    let definition = attached.definition(newest.id).expect("defined");
    assert_eq!(definition.message, "finished after $rounds");
    assert_eq!(attached.info().dropped.total(), 0);
}
