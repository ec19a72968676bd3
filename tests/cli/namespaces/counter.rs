//! The clock that is chosen with and without /sys, and what `info` says of it.

use std::path::Path;
use std::process::Command;

use Space::{NoCounter, NoSys};
use timeline::{ClockKind, Timeline};

use super::apart::{self, Space};
use crate::command::succeed;
use crate::support::toolchain::{cc, run};
use crate::support::{Name, Process, arguments, define, hear, rseq, say};

/// Creates a timeline and logs.
fn logs(given: &[String]) {
    let timeline = Timeline::with_size(&given[0], 256, 2048).expect("created");
    timeline.log(define(&timeline), arguments(1, 1));
    say("logged");
    hear();
}

/// The same where the C library is given another part.
fn logs_with(given: &[String]) {
    let mut inner = Process::start_with(logs, &[&given[0]], &[("LD_PRELOAD", &given[1])]);
    say(inner.line());
    hear();
    inner.tell();
    inner.finish();
}

/// What `info` says, in words and in JSON, of a timeline that a process there writes to.
fn told(spaces: &[Space], preload: Option<&Path>) -> Option<(String, serde_json::Value)> {
    let name = Name::new("counter");
    let mut process = match preload {
        Some(library) => {
            let library = library.to_str().expect("a plain name");
            apart::start(spaces, logs_with, &[name.path(), library])?
        }
        None => apart::start(spaces, logs, &[name.path()])?,
    };
    assert_eq!(process.line(), "logged");
    let text = succeed(&["info", name.path()]).stdout;
    let json = succeed(&["info", "--json", name.path()]).stdout;
    process.tell();
    process.finish();
    Some((text, serde_json::from_str(&json).expect("JSON")))
}

fn line<'a>(text: &'a str, label: &str) -> &'a str {
    let of_label = |line: &&str| line.trim_start().starts_with(&format!("{label} "));
    let line = text.lines().find(of_label).expect("a line of it");
    line.trim_start()[label.len()..].trim()
}

#[test]
fn where_the_processor_vouches_for_its_counter_no_sys_is_needed() {
    let Some((text, json)) = told(&[NoSys], None) else {
        return;
    };
    assert_eq!(json["clock_source"], serde_json::Value::Null);
    if ClockKind::detect() != ClockKind::Tsc {
        eprintln!("in part only: the kernel here does not use the counter");
        assert_eq!(json["clock"], "monotonic_raw");
        assert_ne!(json["clock_reason"], "kernel");
        return;
    }
    assert!(line(&text, "clock").starts_with("tsc at "), "{text}");
    assert_eq!(json["clock"], "tsc");
    assert_eq!(json["clock_reason"], serde_json::Value::Null);
    assert_eq!(json["cpu_lanes_in_use"], u32::from(rseq()));
}

#[test]
fn another_clock_of_the_kernel_is_named() {
    let Some((text, json)) = told(&[NoCounter], None) else {
        return;
    };
    assert_eq!(json["clock"], "monotonic_raw");
    assert_eq!(json["clock_source"], "hpet");
    let clock = line(&text, "clock");
    let (why, reason) = match json["clock_reason"].as_str() {
        Some("processor") => ("the processor does not say", "processor"),
        _ => ("the kernel's clock source is hpet", "kernel"),
    };
    assert_eq!(json["clock_reason"], reason);
    assert!(
        clock.starts_with("monotonic_raw at 1 GHz; no tsc: "),
        "{clock}"
    );
    assert!(clock.contains(why), "{clock}");
    let lanes = line(&text, "lanes");
    assert!(
        lanes.starts_with("0 of 2 for CPUs in use, and 1 of 8 for threads; only tsc"),
        "{lanes}"
    );
    assert_eq!(json["thread_lanes_reason"], "clock");
}

/// A kernel that does not let processes read the counter, as where it has found it unstable.
#[test]
fn without_sys_a_clock_that_is_read_by_a_call_is_not_taken_for_the_counter() {
    const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
  return syscall(SYS_clock_gettime, clock, time);
}
"#;
    let folder = tempfile::tempdir().expect("a folder");
    let [source, library] = ["calls.c", "calls.so"].map(|name| folder.path().join(name));
    std::fs::write(&source, SOURCE).expect("written");
    let mut compiler: Command = cc();
    compiler
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .arg(&library)
        .arg(&source);
    assert!(run(&mut compiler, "gcc").status.success());
    let Some((text, json)) = told(&[NoSys], Some(&library)) else {
        return;
    };
    assert_eq!(json["clock"], "monotonic_raw");
    let reason = json["clock_reason"].as_str();
    assert!(matches!(reason, Some("unknown" | "processor")), "{text}");
    if reason == Some("unknown") {
        assert!(
            line(&text, "clock").contains("/sys does not tell"),
            "{text}"
        );
    }
}

#[test]
fn threads_with_lanes_of_their_own_are_said_to_have_them() {
    let name = Name::new("counter");
    let environment = [crate::support::NO_RSEQ];
    let mut process = Process::start_with(logs, &[name.path()], &environment);
    assert_eq!(process.line(), "logged");
    let text = succeed(&["info", name.path()]).stdout;
    let lanes = line(&text, "lanes");
    assert!(
        lanes.starts_with("0 of 2 for CPUs in use, and 1 of 8 for threads; "),
        "{lanes}"
    );
    match ClockKind::detect() {
        ClockKind::Tsc => assert!(lanes.contains("without restartable sequences"), "{lanes}"),
        _ => assert!(lanes.contains("only tsc"), "{lanes}"),
    }
    process.tell();
    process.finish();
}
