//! Tests that benches/bench.py gives every figure, loses nothing and leaves nothing behind.
//! It does not test how large the figures are.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::toolchain::{cargo_build, library_dir, root, run, succeed};

/// The programs that measure, in the profile of this test: `cargo test --test cli` builds no
/// examples.
pub fn build_programs() {
    let mut build = cargo_build("timeline-bench-programs", "--bins", library_dir());
    succeed(&mut build, "cargo itself");
}

/// A script in benches/, on what lies in `target`, with a folder of its own for what it builds.
/// Prints its process id first.
pub fn bench(script: &str, target: &Path, temporary: &Path) -> Command {
    let mut bench = Command::new("timeout");
    bench
        // It runs dozens of programs, and never waits for long.
        .args([
            "--signal=KILL",
            "900",
            "sh",
            "-c",
            "echo $$; exec \"$0\" \"$@\"",
        ])
        .arg(root().join("benches").join(script))
        .env("TARGET_DIR", target)
        .env("TMPDIR", temporary)
        .current_dir("/");
    bench
}

/// What it printed, after its process id; nothing of that number is left in shared memory.
pub fn printed(output: Output) -> String {
    let printed = String::from_utf8(output.stdout).unwrap();
    let (pid, printed) = printed.split_once('\n').unwrap();
    let name = format!("timeline-bench-{pid}");
    let entries = fs::read_dir("/dev/shm").unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names.filter(|found| found.starts_with(&name)).collect();
    assert_eq!(left, [""; 0]);
    printed.to_owned()
}

/// The figures of `loop`s: program, variant, and whether it is measured with all numbers of threads
/// and processes.
const LOOPS: [(&str, &str, bool); 36] = [
    ("rust", "enabled0", true),
    ("rust", "enabled4", true),
    ("rust", "disabled", false),
    ("rust", "branch", false),
    ("c", "enabled0", true),
    ("c", "enabled4", true),
    ("c", "checked4", true),
    ("c", "disabled_call", false),
    ("c", "disabled", false),
    ("c", "branch", false),
    ("c", "printf4", false),
    ("c", "backtrace4", false),
    ("c", "snprintf4", false),
    ("c", "fprintf4", false),
    ("c", "snprintf2", false),
    ("c", "store64", false),
    ("c", "printf2", false),
    ("c", "printf_five", false),
    ("c", "event4", false),
    ("c", "event6", false),
    ("c", "event_text", false),
    ("rust", "event4", false),
    ("rust", "event6", false),
    ("rust", "event_text", false),
    ("c", "span4", false),
    ("c", "span_calls", false),
    ("rust", "span4", false),
    ("luajit", "event4", false),
    ("luajit", "event_mixed", false),
    ("luajit", "event_text", false),
    ("luajit", "enabled0", false),
    ("luajit", "enabled4", false),
    ("luajit", "disabled", false),
    ("luajit -joff", "enabled0", false),
    ("luajit -joff", "enabled4", false),
    ("luajit -joff", "disabled", false),
];

/// Each figure that is to be there: program, mode, variant, threads, processes.
fn expected() -> Vec<String> {
    let mut expected = Vec::new();
    for (program, variant, shared) in LOOPS {
        expected.push(format!("{program} loop {variant} 1 1"));
        if shared {
            let further = ["2 1", "4 1", "8 1", "1 4"];
            expected.extend(further.map(|of| format!("{program} loop {variant} {of}")));
        }
    }
    expected.push("luajit loop enabled4 1 4".into());
    for program in ["rust", "c", "luajit", "luajit -joff"] {
        expected.push(format!("{program} latency enabled4 1 1"));
    }
    for program in ["rust", "c"] {
        expected.push(format!("{program} sustained enabled4 1 1"));
    }
    expected.sort();
    expected
}

pub fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} in {object}"))
}

pub fn assert_positive(object: &Value, keys: &[&str]) {
    for key in keys {
        let positive = object[key].as_f64().is_some_and(|number| number > 0.0);
        assert!(positive, "{key} in {object}");
    }
}

/// Lower quartile, median and upper quartile.
pub fn assert_spread(object: &Value, key: &str) {
    let numbers: Vec<f64> = object[key]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .collect();
    assert!(
        numbers.len() == 3 && numbers.is_sorted() && numbers[0] > 0.0,
        "{key} in {object}"
    );
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let list = list.as_array().expect("a list");
    list.iter().map(|row| text(row, key).to_owned()).collect()
}

/// Archives: every way of each form, nothing missed, and what is read is what was recorded.
fn assert_archives(found: &Value) {
    let full = found["full"].as_array().unwrap();
    let ways: Vec<_> = full
        .iter()
        .map(|row| format!("{} {}", text(row, "what"), text(row, "form")))
        .collect();
    let expected = [
        "record blocks",
        "record plain",
        "read by time blocks",
        "read by file blocks",
        "read by time plain",
        "read by file plain",
    ];
    assert_eq!(ways, expected);
    for row in full {
        assert_eq!(
            (&row["lost"], &row["events"]),
            (&0.into(), &full[0]["events"])
        );
        for key in ["cpu_ns", "cpu_rate", "rate"] {
            assert_spread(row, key);
        }
    }
    full[..2]
        .iter()
        .for_each(|row| assert_spread(row, "bytes_per_event"));
    let events = full[0]["events"].as_u64().unwrap();
    assert!((1 << 17..1 << 18).contains(&events), "{events}");

    let formatted = found["formatted"].as_array().unwrap();
    let recorded = ["printf2", "printf_five", "event4", "event6"];
    assert_eq!(names(&found["formatted"], "of"), recorded);
    formatted.iter().for_each(|row| {
        assert_spread(row, "cpu_ns");
        assert_positive(row, &["program_ns", "recorder_ns"]);
    });
    let paced = &found["paced"];
    assert_eq!(paced["logged"], 200_000);
    let [recorded, missed] = ["recorded", "missed"].map(|key| paced[key].as_u64().unwrap());
    assert_eq!(recorded + missed, 200_000, "{paced}");
    assert_positive(paced, &["rate", "seconds", "cpu_ns", "bytes_per_event"]);
    let beside = &found["beside"];
    if !beside.is_null() {
        assert_spread(beside, "ratio");
        for way in ["alone", "recorded"] {
            assert_spread(&beside["clocks"], way);
        }
    }
}

/// Each way of logging was measured, beside the clock, and nothing was lost.
fn assert_figures(found: &Value) {
    let mut measured = Vec::new();
    for figure in found["figures"].as_array().unwrap() {
        measured.push(format!(
            "{} {} {} {} {}",
            text(figure, "program"),
            text(figure, "mode"),
            text(figure, "variant"),
            figure["threads"],
            figure["processes"]
        ));
        assert_eq!(figure["lost"], 0, "{figure}");
        assert_positive(figure, &["events", "repeats"]);
        if figure["mode"] == "latency" {
            let keys = [
                "p50_ns",
                "p99_ns",
                "p999_ns",
                "p9999_ns",
                "max_ns",
                "clock_p50_ns",
            ];
            assert_positive(figure, &keys);
        } else {
            assert_positive(
                figure,
                &["clock_ns", "event_ns", "clock_cpu_ns", "event_cpu_ns"],
            );
            assert_spread(figure, "ratio");
        }
    }
    measured.sort();
    assert_eq!(measured, expected());
}

/// The operations that are done once, and the readers of a full ring.
fn assert_once_and_readers(found: &Value) {
    let once = [
        "new",
        "define",
        "define again",
        "attach",
        "newest event of an attached",
        "save",
        "first event of a thread",
    ];
    assert_eq!(names(&found["once"], "figure"), once);
    for row in found["once"].as_array().unwrap() {
        assert_spread(row, "ns");
        assert_positive(row, &["clock_ns", "repeats"]);
    }
    let readers = ["nothing", "dump -n 1", "dump", "dump --json"];
    assert_eq!(names(&found["readers"], "figure"), readers);
    for row in found["readers"].as_array().unwrap() {
        assert_spread(row, "seconds");
    }
    for reader in [2, 3] {
        let events = found["readers"][reader]["events"].as_u64().unwrap();
        // A full ring, but for the chunks of other lanes.
        assert!((1_000_000..=1 << 20).contains(&events), "{events}");
    }
    let formatted = found["formatted"].as_array().unwrap();
    let names: Vec<_> = formatted
        .iter()
        .map(|row| format!("{} {}", text(row, "of"), text(row, "form")))
        .collect();
    let expected = [
        "printf2 text",
        "printf2 JSON",
        "printf4 text",
        "printf4 JSON",
    ];
    assert_eq!(names, expected);
    formatted.iter().for_each(|row| assert_spread(row, "ratio"));
}

/// Each goal has a verdict, except those that need peers.
fn assert_goals(found: &Value) {
    let unmeasured: Vec<_> = found["reach"]
        .as_array()
        .unwrap()
        .iter()
        // Where there is another CPU to record on, and the threads get so far.
        .filter(|goal| !goal["goal"].as_str().unwrap().contains("recorded"))
        .filter(|goal| !goal["goal"].as_str().unwrap().contains("missed"))
        .filter(|goal| goal["verdict"] == "not measured")
        .map(|goal| (text(goal, "goal"), text(goal, "of")))
        .collect();
    assert_eq!(found["reach"].as_array().unwrap().len(), 27);
    let dump = "dump: times faster than babeltrace2";
    let peers = "sustained CPU of an event / that of the best peer";
    assert_eq!(
        unmeasured,
        [(peers, "no peer measured"), (dump, "text"), (dump, "JSON")]
    );
}

#[test]
fn every_figure_is_there_beside_the_clock() {
    build_programs();
    let folder = TempDir::new().unwrap();
    let (temporary, json, svg, page) = (
        folder.path().join("tmp"),
        folder.path().join("bench.json"),
        folder.path().join("bench.svg"),
        folder.path().join("page.md"),
    );
    fs::copy(root().join("docs/performance.md"), &page).unwrap();
    fs::create_dir(&temporary).unwrap();
    let mut command = bench("bench.py", library_dir(), &temporary);
    command
        .args(["--quick", "--no-peers", "--json"])
        .arg(&json)
        .arg("--svg")
        .arg(&svg)
        .arg("--page")
        .arg(&page);

    let said = succeed(&mut command, "python3");

    let found: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_figures(&found);
    assert_once_and_readers(&found);
    assert_archives(&found["archives"]);
    assert_eq!(found["codecs"], serde_json::json!([]));
    assert_eq!(found["skipped"], serde_json::json!({}));
    assert_goals(&found);

    let tables = printed(said);
    for row in [
        "timeline, rust ",
        "timeline, luajit -joff ",
        "dump --json ",
        "read by time  blocks ",
        "recorded / alone ",
        "Reach:",
    ] {
        assert!(
            tables.lines().any(|line| line.starts_with(row)),
            "{row}: {tables}"
        );
    }
    assert_page(&fs::read_to_string(page).unwrap(), &found);
    let plot = fs::read_to_string(svg).unwrap();
    for part in [
        "<svg ",
        "timeline, rust<",
        "timeline, c<",
        "timeline, luajit<",
        "make bench",
        "</svg>",
    ] {
        assert!(plot.contains(part), "{part}: {plot}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

/// The page has the tables of this run, and keeps those of the peers, of which there were none.
fn assert_page(page: &str, found: &Value) {
    let before = fs::read_to_string(root().join("docs/performance.md")).unwrap();
    let table = |page: &str, name: &str| {
        let (_, rest) = page
            .split_once(&format!("<!-- bench: {name} -->"))
            .unwrap_or_else(|| panic!("no place for {name}"));
        let (table, _) = rest.split_once("<!-- bench end -->").unwrap();
        table.to_owned()
    };
    for name in ["sustained", "codecs"] {
        assert_eq!(table(page, name), table(&before, name));
    }
    let paced = found["archives"]["paced"]["seconds"].as_f64().unwrap();
    assert!(table(page, "paced").contains(&format!("| {paced:.1} | 200,000 | ")));
    for name in [
        "archives",
        "beside",
        "latencies",
        "loops",
        "once",
        "reach",
        "readers",
        "formatted",
        "disk",
    ] {
        assert!(table(page, name).contains("\n| --- | "), "{name}");
        assert_ne!(table(page, name), table(&before, name));
    }
    assert!(table(page, "archives").contains("| record | plain | "));
}

#[test]
fn it_says_which_file_is_missing() {
    let empty = TempDir::new().unwrap();
    let mut command = bench("bench.py", empty.path(), empty.path());
    let output = run(command.args(["--quick", "--no-peers"]), "coreutils");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("run \"make bench\", which builds it"),
        "{said}"
    );
    assert_eq!(printed(output), "");
}
