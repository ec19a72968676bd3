//! `timeline import` and `timeline export`: logs become archives and come back.

mod followed;
mod index;
mod json_again;
mod json_lines;
mod names;
mod peers;
mod unknown;

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::command::*;

/// A directory with logs.
struct Logs(tempfile::TempDir);

impl Logs {
    fn new() -> Logs {
        Logs(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, log: impl AsRef<[u8]>) -> String {
        fs::write(self.0.path().join(name), log).unwrap();
        self.path(name)
    }

    /// The archive of a log.
    fn import(&self, log: impl AsRef<[u8]>) -> String {
        let (log, archive) = (self.write("a.log", log), self.path("a.tla"));
        let _ = fs::remove_file(&archive);
        succeed(&["import", &log, "-o", &archive]);
        archive
    }
}

fn export(archive: &str) -> Vec<u8> {
    let output = command(&["export", archive, "--format", "text"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    output.stdout
}

/// What a program writes, if there is such a program here.
fn output_of(program: &str, args: &[&str]) -> Option<Vec<u8>> {
    Some(Command::new(program).args(args).output().ok()?.stdout)
}

/// The log of scripts/generate-log.py: one megabyte, the same each time.
fn generated() -> Vec<u8> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/generate-log.py");
    let output = Command::new("python3")
        .arg(script)
        .arg("1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

#[test]
fn logs_of_this_machine_come_back() {
    let logs = Logs::new();
    let mut found: Vec<Vec<u8>> = ["dpkg.log", "alternatives.log", "apt/history.log", "syslog"]
        .iter()
        .filter_map(|name| fs::read(Path::new("/var/log").join(name)).ok())
        .collect();
    found.extend(output_of("dmesg", &[]));
    found.extend(output_of("ls", &["-laR", "/etc"]));
    found.extend(output_of("env", &["-0"]));
    found.push(fs::read("/proc/self/maps").unwrap());
    found.push(fs::read("/proc/cpuinfo").unwrap());
    found.push(generated());
    for log in found {
        assert!(export(&logs.import(&log)) == log, "{:?}", log.get(..200));
    }
    // No log at all, but with the lines of JSON of these tests.
    let program = fs::read("/proc/self/exe").unwrap()[..2_000_000].to_vec();
    let (log, archive) = (logs.write("program", &program), logs.path("program.tla"));
    succeed(&["import", &log, "-o", &archive, "--format", "text"]);
    assert!(export(&archive) == program);
}

#[test]
fn a_search_finds_the_lines_that_grep_finds() {
    let logs = Logs::new();
    let log = String::from_utf8(generated()).unwrap();
    let archive = logs.import(&log);
    for wanted in [
        "ERROR",
        "worker-3",
        "took 12",
        "10.0.",
        "c0ffee",
        "[7] cache: miss",
        "no such text",
    ] {
        let found = run(&["search", &archive, "-s", "--json", "--whole", wanted]);
        let found: Vec<Value> = found.json();
        let messages: Vec<_> = found
            .iter()
            .map(|line| line["message"].as_str().unwrap())
            .collect();
        let numbers: Vec<_> = found
            .iter()
            .map(|line| line["line"].as_u64().unwrap())
            .collect();
        let lines = log
            .lines()
            .zip(0_u64..)
            .filter(|(line, _)| line.contains(wanted));
        let (expected, places): (Vec<_>, Vec<_>) = lines.unzip();
        assert_eq!((messages, numbers), (expected, places), "{wanted}");
    }
}

#[test]
fn an_event_has_the_time_and_the_priority_of_its_line() {
    let logs = Logs::new();
    let line = |number: usize| {
        let level = ["INFO", "ERROR"][number % 2];
        let second = number % 60;
        format!("2026-11-23T14:03:{second:02}.5+01:00 {level} got {number} bytes\n  at f\n")
    };
    let log: String = (0..100).map(line).collect();
    let archive = logs.import(&log);
    let events = succeed(&["export", &archive, "--format", "jsonl", "--whole"]).json();
    assert_eq!(events.len(), 200);
    let first = &events[6];
    assert_eq!(first["time"], "2026-11-23T13:03:03.500000000Z");
    assert_eq!(
        (&first["level"], &first["line"]),
        (&json!("Error"), &json!(6))
    );
    assert_eq!(
        first["message"],
        "2026-11-23T14:03:03.5+01:00 ERROR got 3 bytes"
    );
    assert_eq!(
        first["properties"],
        json!({"0": "2026-11-23T14:03:03.5+01:00", "1": 3})
    );
    // A line without a time has that of the line before.
    assert_eq!(events[7]["time"], first["time"]);
    assert_eq!(events[7]["level"], Value::Null);
    // Times go back each minute: the order is that of the lines.
    let messages: String = events
        .iter()
        .map(|e| format!("{}\n", e["message"].as_str().unwrap()))
        .collect();
    assert_eq!(messages, log);
    let errors = succeed(&["dump", &archive, "--priority", "error", "--json"]).json();
    assert_eq!(errors.len(), 50);
    let large = succeed(&["dump", &archive, "--json", "--where", "$1 > 97"]).json();
    assert_eq!(large.len(), 2);
    let late = [
        "dump",
        &archive,
        "--json",
        "--since",
        "2026-11-23T13:03:59Z",
    ];
    assert_eq!(succeed(&late).json().len(), 2);
    let info = succeed(&["info", &archive]).stdout;
    assert!(info.contains("  log          a.log\n"), "{info}");
    for verb in ["stats", "events", "verify"] {
        succeed(&[verb, &archive]);
    }
}

#[test]
fn several_logs_are_threads_of_one_archive() {
    let logs = Logs::new();
    let (a, b) = (
        logs.write("a.log", "one\ntwo"),
        logs.write("b.log", "three\n"),
    );
    let archive = logs.path("both.tla");
    succeed(&["import", &a, &b, "-o", &archive]);
    assert_eq!(export(&archive), b"one\ntwothree\n");
    let events = succeed(&["dump", &archive, "--json", "--thread", "b.log"]).json();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["message"], "three");
    let mode = fs::metadata(&archive).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Archives are joined by writing one behind the other.
    let joined = [
        fs::read(&archive).unwrap(),
        fs::read(logs.import("four\n")).unwrap(),
    ]
    .concat();
    assert_eq!(
        export(&logs.write("joined.tla", joined)),
        b"one\ntwothree\nfour\n"
    );
}

#[test]
fn standard_input_is_read() {
    let logs = Logs::new();
    let archive = logs.path("in.tla");
    let mut child = command(&["import", "-", "-o", &archive])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"\xff said\r\n\0\n")
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(export(&archive), b"\xff said\r\n\0\n");
}

#[test]
fn an_import_that_a_signal_ends_leaves_nothing() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let logs = Logs::new();
        let archive = logs.path("a.tla");
        let mut child = command(&["import", "-", "-o", &archive])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        // More than a pipe holds: the archive is begun when all is written.
        input.write_all(&generated()).unwrap();
        assert!(!Path::new(&archive).exists());
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal as i32));
        assert_eq!(fs::read_dir(logs.0.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_file_that_came_in_between_stays() {
    let logs = Logs::new();
    let archive = logs.path("a.tla");
    let mut child = command(&["import", "-", "-o", &archive])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&generated()).unwrap();
    fs::write(&archive, "of another").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && told.contains("exists already"),
        "{told}"
    );
    assert_eq!(fs::read(&archive).unwrap(), b"of another");
}

#[test]
fn compressed_logs_are_expanded() {
    let logs = Logs::new();
    let log = generated();
    for (program, ending) in [("gzip", "gz"), ("zstd", "zst"), ("xz", "xz")] {
        let plain = logs.write("a.log", &log);
        // Two streams, one behind the other.
        let packed = output_of(program, &["-c", &plain]).expect(program);
        let file = logs.write(&format!("a.log.{ending}"), [&packed[..], &packed].concat());
        let archive = logs.path(&format!("{ending}.tla"));
        succeed(&["import", &file, "-o", &archive]);
        assert!(export(&archive) == [&log[..], &log].concat(), "{program}");
        let cut = logs.write("cut", &packed[..packed.len() / 2]);
        let archive = logs.path("cut.tla");
        let message = fail(&["import", &cut, "-o", &archive]);
        let asked = format!("import what there is by `{program} -dc FILE | timeline import");
        assert!(
            message.contains("data is cut off: expected its end after"),
            "{message}"
        );
        assert!(message.contains(&asked), "{message}");
        let (begin, end) = packed.split_at(packed.len() / 2);
        let other = end.iter().map(|byte| byte ^ 0x55).collect::<Vec<_>>();
        let damaged = logs.write("damaged", [begin, &other].concat());
        let message = fail(&["import", &damaged, "-o", &archive]);
        assert!(message.contains("data is damaged after"), "{message}");
        assert!(!PathBuf::from(archive).exists());
    }
}

/// As tapes and parallel compressors leave them.
#[test]
fn compressed_logs_with_padding_and_skippable_frames_are_expanded() {
    let logs = Logs::new();
    let log = generated();
    let plain = logs.write("a.log", &log);
    let [gzip, zstd] = ["gzip", "zstd"].map(|program| output_of(program, &["-c", &plain]).unwrap());
    let zeros = vec![0; 100_000];
    // A frame of five bytes that says nothing.
    let skipped = [0x5e, 0x2a, 0x4d, 0x18, 5, 0, 0, 0, 1, 2, 3, 4, 5];
    for (ending, packed, count) in [
        ("gz", [&gzip[..], &zeros].concat(), 1),
        ("gz", [&gzip[..], &zeros[..3], &gzip, &[0]].concat(), 2),
        ("zst", [&skipped[..], &zstd, &skipped, &zstd].concat(), 2),
    ] {
        let file = logs.write(&format!("padded.{ending}"), packed);
        let archive = logs.path("padded.tla");
        succeed(&["import", &file, "-o", &archive]);
        assert!(export(&archive) == log.repeat(count), "{ending}");
        fs::remove_file(archive).unwrap();
    }
    let file = logs.write("other.gz", [&gzip[..], b"no member"].concat());
    let message = fail(&["import", &file, "-o", &logs.path("other.tla")]);
    assert!(message.contains("gzip data is"), "{message}");
}

#[test]
fn lines_without_a_level_are_not_shown_as_errors() {
    let logs = Logs::new();
    let archive = logs.import("2026-11-23T14:00:00Z plain\n2026-11-23T14:00:01Z ERROR bad\n");
    let shown = |verb: &str, more: &[&str]| {
        let args = [
            &[verb, &archive, "--color=always", "--columns=message"],
            more,
        ]
        .concat();
        succeed(&args).stdout
    };
    let (plain, bad) = (
        "2026-11-23T14:00:00Z plain",
        "2026-11-23T14:00:01Z ERROR bad",
    );
    let dumped = shown("dump", &[]);
    let lines: Vec<&str> = dumped.lines().skip(1).collect();
    assert_eq!(lines, [&format!("\x1b[1m\x1b[31m{bad}\x1b[0m"), plain]);
    // A match can be told from a line that has its colour.
    let found = shown("search", &["--regex", "ai|ba"]);
    let mark = ["\x1b[1m\x1b[31m", "\x1b[1m\x1b[7m\x1b[31m"];
    assert!(
        found.contains(&format!("pl{}ai\x1b[0mn\n", mark[0])),
        "{found:?}"
    );
    assert!(
        found.contains(&format!(
            "ERROR \x1b[0m{}ba\x1b[0m{}d\x1b[0m",
            mark[1], mark[0]
        )),
        "{found:?}"
    );
}

#[test]
fn lines_of_the_same_time_keep_the_order_of_their_logs() {
    let logs = Logs::new();
    let archive = |name: &str| {
        let log = (0..9).map(|n| format!("2026-11-23T14:00:0{}Z {name} {n}\n", n / 3));
        let (log, archive) = (
            logs.write(&format!("{name}.log"), log.collect::<String>()),
            logs.path(&format!("{name}.tla")),
        );
        succeed(&["import", &log, "-o", &archive]);
        archive
    };
    let (first, second) = (archive("first"), archive("second"));
    let lines = |verb: &str, more: &[&str]| -> Vec<String> {
        let words: [&str; 4] = [verb, &first, &second, "--columns=message"];
        let args = [&words, more].concat();
        let said = succeed(&args).stdout;
        said.lines().map(str::to_owned).collect()
    };
    let oldest_first = lines("dump", &["--reverse"]);
    assert!(oldest_first[1].contains("first 0") && oldest_first[4].contains("second 0"));
    for (verb, more) in [("dump", &[][..]), ("dump", &["-n", "12"])] {
        let newest_first = lines(verb, more);
        let wanted = oldest_first[1..].iter().rev().take(newest_first.len() - 1);
        assert!(newest_first[1..].iter().eq(wanted), "{newest_first:?}");
    }
    let last = lines("dump", &["--reverse", "-n", "12"]);
    assert_eq!(last[1..], oldest_first[7..]);
}

#[test]
fn what_cannot_be_imported_is_refused() {
    let logs = Logs::new();
    let (log, archive) = (logs.write("a.log", "a\n"), logs.path("out.tla"));
    let folder = logs.path("");
    let missing = logs.path("missing.log");
    // An xz file that asks for 4 GiB.
    let header = [
        0xfd, b'7', b'z', b'X', b'Z', 0, 0, 0, 0xff, 0x12, 0xd9, 0x41,
    ];
    let block = [0x02, 0x00, 0x21, 0x01, 40, 0, 0, 0];
    let sum = crc32fast::hash(&block).to_le_bytes();
    let greedy = logs.write("greedy.xz", [&header[..], &block, &sum, &[0; 64]].concat());
    for (input, expected) in [
        (&folder, "is a directory"),
        (&missing, "No such file"),
        (&greedy, "cannot read"),
    ] {
        let message = fail(&["import", input, "-o", &archive]);
        assert!(message.contains(expected), "{message}");
        assert!(!Path::new(&archive).exists());
    }
    for (words, expected) in [
        (&["-", "-", "-o", &*archive][..], "- can be given once"),
        (&["--follow", "-", "-o", &archive], "--follow needs files"),
        (&[&log, "-o", "-"], "OUT must be a file"),
    ] {
        let ran = run(&[&["import"], words].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
        assert!(!Path::new(&archive).exists());
    }
    let ran = run(&["import", &log, "-o", &log]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("exists already"), "{ran:?}");
    assert_eq!(fs::read(&log).unwrap(), b"a\n");
    fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_damaged_archive_gives_back_its_whole_blocks() {
    let logs = Logs::new();
    let log = "the same line again\n".repeat(70_000);
    let archive = logs.import(&log);
    let mut bytes = fs::read(&archive).unwrap();
    let end = bytes.len() - 10;
    bytes[end] ^= 1;
    let damaged = logs.write("damaged.tla", &bytes);
    let output = command(&["export", &damaged]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(output.stdout.len(), 65_536 * 20);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("not a whole frame") || told.contains("no whole frame"),
        "{told}"
    );
}

#[test]
fn lines_of_journald_have_times_and_priorities() {
    let logs = Logs::new();
    let log =
        "{\"__REALTIME_TIMESTAMP\":\"1795442587123456\",\"PRIORITY\":\"4\",\"MESSAGE\":\"slow\"}\n";
    let archive = logs.import(log);
    assert!(export(&archive) == log.as_bytes());
    let imported = succeed(&["export", &archive, "--format", "jsonl"]).json();
    assert_eq!(imported[0]["time"], "2026-11-23T14:03:07.123456000Z");
    assert_eq!(imported[0]["level"], "Warning");
}

#[test]
fn the_messages_of_a_ring_are_exported() {
    let name = crate::support::Name::new("export");
    let directory = tempfile::tempdir().unwrap();
    let tl = name.create(256);
    log_sums(&tl, &Events::define(&tl), 3);
    // As those of printf often do, it ends with a line feed.
    let none = timeline::Attributes::default();
    for text in ["one\n", "one\ntwo", "one\n\nthree\n\n", ""] {
        let id = tl.define_printf("c", timeline::Priority::Info, text, ("m.c", 1), &none);
        tl.log(id.unwrap(), []);
    }
    // Times of a live timeline become more exact while it lives.
    let file = snapshot(&name, directory.path());
    let dumped = succeed(&["dump", &file, "--json", "--reverse"]).json();
    let messages = dumped
        .iter()
        .map(|event| event["message"].as_str().unwrap());
    let messages: String = messages
        .map(|message| format!("{}\n", message.strip_suffix('\n').unwrap_or(message)))
        .collect();
    let text = succeed(&["export", &file, "--format", "text"]).stdout;
    assert_eq!(text, messages);
    let objects = succeed(&["export", &file, "--format", "jsonl"]);
    assert_eq!(
        objects.stdout,
        succeed(&["search", &file, "--json", ""]).stdout
    );
    assert_eq!(text.lines().count(), objects.json().len());
}
