//! list, info, dump and save.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::time::SystemTime;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::command::*;
use crate::support::Name;

/// The messages of a dump, in its order.
fn messages(objects: &[Value]) -> Vec<&str> {
    objects
        .iter()
        .map(|object| object["message"].as_str().unwrap())
        .collect()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap().as_nanos()).unwrap()
}

#[test]
fn dump_goes_from_newest_to_oldest_under_a_heading() {
    let name = Name::new("dump-text");
    let tl = name.create(256);
    let events = Events::define(&tl);
    tl.log(events.sum, [10, 20, 3]);
    tl.log(events.sum, [50, 60, 8]);
    tl.log(events.warn, [-1]);

    let lines = succeed(&["dump", name.path()]).stdout;
    let lines: Vec<_> = lines.lines().collect();
    let heading: Vec<_> = lines[0].split_whitespace().collect();
    assert_eq!(heading, ["numa", "core", "-cycles", "category", "message"]);
    assert_eq!(lines.len(), 4);
    assert!(lines[1].ends_with("only left(-1) left"), "{}", lines[1]);
    assert!(
        lines[2].ends_with("processed tcp(50), udp(60), and other(8)"),
        "{}",
        lines[2]
    );
    assert!(
        lines[3].ends_with("processed tcp(10), udp(20), and other(3)"),
        "{}",
        lines[3]
    );
    let column = |line: &str, i: usize| line.split_whitespace().nth(i).unwrap().to_string();
    assert_eq!(column(lines[1], 3), "example.low");
    assert_eq!(column(lines[3], 2), "-");
    let cycles: u64 = column(lines[2], 2).replace(',', "").parse().unwrap();
    assert!(cycles > 0);

    let newest = succeed(&["dump", name.path(), "-n", "1"]).stdout;
    assert_eq!(newest.lines().count(), 2);
    assert!(newest.ends_with("only left(-1) left\n"));
    assert_eq!(
        succeed(&["dump", name.path(), "--max-entries", "0"])
            .stdout
            .lines()
            .count(),
        1
    );
}

#[test]
fn dump_long_names_time_thread_and_priority() {
    let name = Name::new("dump-long");
    let tl = name.create(256);
    let events = Events::define(&tl);
    tl.log(events.warn, [7]);
    let lines = succeed(&["dump", "--long", name.path()]).stdout;
    let row = lines.lines().nth(1).unwrap();
    for part in [
        "warning",
        "example.low",
        "only left(7) left",
        &thread_name(),
    ] {
        assert!(row.contains(part), "{part} is not in {lines}");
    }
}

#[test]
fn dump_json_tells_everything_about_an_event() {
    let name = Name::new("dump-json");
    let tl = name.create(256);
    let events = Events::define(&tl);
    let before = now();
    tl.log(events.fail, [512, 4096, 9]);
    tl.log(events.warn, [i64::MIN]);
    let after = now();

    let objects = succeed(&["dump", name.path(), "--json"]).json();
    assert_eq!(
        messages(&objects),
        [
            "only left(-9223372036854775808) left",
            "read size(512) of size(4096) at offset(9)"
        ]
    );
    let (warn, fail) = (&objects[0], &objects[1]);
    assert_eq!(
        fail["args"],
        json!({ "size": 512, "size_2": 4096, "offset": 9 })
    );
    assert_eq!(warn["args"], json!({ "left": i64::MIN.to_string() }));
    assert_eq!(fail["category"], "disk");
    assert_eq!(
        (&fail["priority"], &warn["priority"]),
        (&json!("error"), &json!("warning"))
    );
    assert_eq!(warn["template"], "only $left left\nA second line of prose.");
    assert_eq!(fail["definition"], events.fail.0);
    assert_eq!(fail["pid"], std::process::id());
    assert_eq!(fail["tid"], gettid());
    assert_eq!(fail["thread"], thread_name());
    assert!(
        fail["process"].as_str().unwrap().starts_with("cli-"),
        "{fail}"
    );
    // Without /sys, nobody knows which node a core is of.
    let has_nodes = Path::new("/sys/devices/system/cpu").exists();
    assert!(fail["core"].is_u64() && fail["node"].is_u64() == has_nodes);

    let (older, newer) = (
        fail["ticks"].as_u64().unwrap(),
        warn["ticks"].as_u64().unwrap(),
    );
    assert_eq!(warn["cycles"], newer - older);
    assert_eq!(fail["cycles"], Value::Null);
    let time = crate::json::nanos(&fail["unix_ns"]).unwrap();
    // Anchors fit the clock within microseconds; a second is far from any mistake of units.
    let (early, late) = (before - 1_000_000_000, after + 1_000_000_000);
    assert!(
        (early..late).contains(&time),
        "{time} is not within {before}..{after}"
    );
    let stamp: jiff::Timestamp = fail["time"].as_str().unwrap().parse().unwrap();
    assert_eq!(stamp.as_nanosecond(), i128::from(time));

    let newest = succeed(&["dump", name.path(), "--json", "-n1"]).json();
    assert_eq!(newest.len(), 1);
    assert_eq!(
        (&newest[0]["ticks"], &newest[0]["cycles"]),
        (&warn["ticks"], &warn["cycles"])
    );
}

#[test]
fn what_programs_name_cannot_command_the_terminal() {
    let name = Name::new("escapes");
    let tl = name.create(256);
    let message = "clear \x1b[2J $x";
    let event = tl
        .define("example", timeline::Priority::Info, message)
        .unwrap();
    tl.log(event, [1]);
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    for args in [
        vec!["dump", &file],
        vec!["dump", "-l", &file],
        vec!["tail", &file],
    ] {
        let text = succeed(&args).stdout;
        assert!(
            text.contains(r"clear \x1b[2J x(1)") && !text.contains('\x1b'),
            "{text:?}"
        );
    }
    // JSON escapes it, and loses nothing.
    let object = &succeed(&["dump", "--json", &file]).json()[0];
    assert_eq!(object["message"], "clear \x1b[2J x(1)");
}

#[test]
fn a_snapshot_dumps_like_the_live_timeline() {
    let name = Name::new("same");
    let tl = name.create(256);
    let events = Events::define(&tl);
    // More than it holds: what is left must be the same as well.
    log_sums(&tl, &events, 1000);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kept.timeline");
    let file = file.to_str().unwrap();
    let saved = succeed(&["save", name.path(), file]);
    assert_eq!(saved.stdout, "");
    let held = name.attach().info().entries_held;
    assert!(
        saved
            .stderr
            .starts_with(&format!("timeline: saved {held} events of ")),
        "{saved:?}"
    );

    for args in [vec!["dump"], vec!["dump", "-n", "7"]] {
        let of = |path| succeed(&[args.as_slice(), &[path]].concat()).stdout;
        assert_eq!(of(name.path()), of(file), "{args:?}");
    }
    let live = succeed(&["dump", "--json", name.path()]).json();
    let kept = succeed(&["dump", "--json", file]).json();
    assert_eq!(live.len() as u64, held);
    assert_eq!(
        live[0]["message"],
        "processed tcp(1000), udp(-1000), and other(3)"
    );
    for (live, kept) in live.iter().zip(&kept) {
        for field in [
            "ticks", "core", "node", "tid", "pid", "thread", "process", "message", "args",
        ] {
            assert_eq!(live[field], kept[field], "{field}");
        }
    }
    assert_eq!(live.len(), kept.len());
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let name = Name::new("pipe");
    let tl = name.create(64 * 1024);
    log_sums(&tl, &Events::define(&tl), 64 * 1024);
    for form in ["--json", "--long"] {
        let mut child = command(&["dump", name.path(), form])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'));
        drop(stdout);
        let mut told = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut told)
            .unwrap();
        assert_eq!((child.wait().unwrap().code(), told.as_str()), (Some(0), ""));
    }
}

#[test]
fn a_full_disk_is_a_failure() {
    let name = Name::new("full-disk");
    let tl = name.create(256);
    log_sums(&tl, &Events::define(&tl), 1);
    for args in [
        ["dump", name.path()],
        ["info", name.path()],
        ["priority", name.path()],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = Ran::new(command(&args).stdout(full).output().unwrap());
        assert_eq!(ran.code, Some(1));
        assert!(
            ran.stderr
                .starts_with("timeline: cannot write to standard output: "),
            "{ran:?}"
        );
    }
}

#[test]
fn a_writer_killed_with_sigkill_leaves_all_it_committed() {
    let name = Name::new("killed");
    let writer = Running::start(&["demo", name.path(), "--seconds", "600"]);
    let info = || {
        timeline::Attached::open(name.path())
            .ok()
            .map(|at| at.info())
    };
    eventually("the demo to log", || {
        info().is_some_and(|info| info.entries_written > 500)
    });
    let pid = writer.pid();
    writer.signal(Signal::SIGKILL);
    assert!(!writer.finish().0.success());

    let held = info().unwrap().entries_held;
    let objects = succeed(&["dump", name.path(), "--json"]).json();
    assert_eq!(objects.len() as u64, held);
    let mut ticks: Vec<_> = objects
        .iter()
        .map(|object| object["ticks"].as_u64())
        .collect();
    assert!(ticks.iter().all(Option::is_some));
    ticks.reverse();
    assert!(ticks.is_sorted());
    for object in &objects {
        assert_eq!(
            (&object["pid"], &object["process"]),
            (&json!(pid), &json!("timeline"))
        );
        assert!(
            !object["message"].as_str().unwrap().contains('$'),
            "{object}"
        );
    }
    let list = succeed(&["list"]).stdout;
    let row = list
        .lines()
        .find(|line| line.starts_with(name.path()))
        .unwrap();
    assert!(
        row.ends_with(&format!("none; created by timeline ({pid})")),
        "{row}"
    );
}

#[test]
fn info_tells_what_is_there() {
    let name = Name::new("info");
    let tl = name.create(1024);
    log_sums(&tl, &Events::define(&tl), 5000);
    let objects = succeed(&["info", name.path(), "--json"]).json();
    assert_eq!(objects.len(), 1);
    let info = &objects[0];
    assert_eq!(info["path"], name.path());
    assert_eq!(info["snapshot"], false);
    assert_eq!(info["entries"], 1024);
    assert_eq!(info["entries_written"], 5000);
    let held = info["entries_held"].as_u64().unwrap();
    assert!((512..=1024).contains(&held), "{held}");
    assert_eq!(
        (&info["level"], &info["sampled_level"]),
        (&json!("all"), &Value::Null)
    );
    assert_eq!(info["dropped"]["total"], 0);
    assert_eq!(info["definitions"], 3);
    assert_eq!(info["creator_pid"], std::process::id());
    assert_eq!(info["writers"][0]["pid"], std::process::id());
    assert_eq!(info["writers"][0]["alive"], true);

    let text = succeed(&["info", name.path()]).stdout;
    let most = info["interned"]["most_strings"].as_u64().unwrap();
    let interned = format!("interned     0 of {most} strings, with 0 B of ");
    assert!(most > 0 && text.contains(&interned), "{text}");
    assert!(text.starts_with(&format!("{}  live\n", name.path())));
    for part in [
        "5,000 written",
        "1,024 entries of 64 bytes",
        &format!("({})", std::process::id()),
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }

    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    assert!(
        succeed(&["info", &file])
            .stdout
            .starts_with(&format!("{file}  snapshot\n"))
    );
    assert_eq!(
        succeed(&["info", &file, "--json"]).json()[0]["snapshot"],
        true
    );
}

#[test]
fn list_shows_who_writes_and_how_full() {
    let name = Name::new("list");
    let tl = name.create(256);
    log_sums(&tl, &Events::define(&tl), 128);
    let find = |text: &str| -> Vec<String> {
        let row = text.lines().find(|line| line.starts_with(name.path()));
        row.unwrap().split_whitespace().map(String::from).collect()
    };
    let list = succeed(&["list"]).stdout;
    assert!(list.starts_with("NAME "));
    let row = find(&list);
    assert_eq!(row[1..4], ["all", "128", "50%"]);
    assert!(
        row.contains(&format!("({})", std::process::id())),
        "{row:?}"
    );

    let objects = succeed(&["list", "--json"]).json();
    let object = objects
        .iter()
        .find(|object| object["path"] == name.path())
        .unwrap();
    assert_eq!(object["entries_held"], 128);
    drop(tl);
    assert!(find(&succeed(&["list"]).stdout).contains(&"none;".into()));
}

#[test]
fn list_shows_what_is_broken_with_the_reason() {
    let name = Name::new("list-broken");
    drop(name.create(256));
    let file = OpenOptions::new().write(true).open(name.file()).unwrap();
    file.set_len(8192).unwrap();
    let list = succeed(&["list"]).stdout;
    let row = list
        .lines()
        .find(|line| line.starts_with(name.path()))
        .unwrap();
    assert!(
        row.contains("cannot be read: ") && row.contains("truncated"),
        "{row}"
    );
    let objects = succeed(&["list", "--json"]).json();
    let object = objects
        .iter()
        .find(|object| object["path"] == name.path())
        .unwrap();
    assert!(
        object["error"].as_str().unwrap().contains("truncated"),
        "{object}"
    );
}

#[test]
fn save_replaces_a_file_or_says_why_not() {
    let name = Name::new("save");
    let tl = name.create(256);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 1);
    let directory = tempfile::tempdir().unwrap();
    let file = snapshot(&name, directory.path());
    log_sums(&tl, &events, 1);
    succeed(&["save", name.path(), &file]);
    assert_eq!(succeed(&["dump", &file]).stdout.lines().count(), 3);
    assert_eq!(
        directory.path().read_dir().unwrap().count(),
        1,
        "a temporary file was left"
    );
    // A snapshot of a snapshot is one too.
    let copy = format!("{file}.copy");
    succeed(&["save", &file, &copy]);
    assert_eq!(
        succeed(&["dump", &file]).stdout,
        succeed(&["dump", &copy]).stdout
    );

    let nowhere = directory.path().join("missing/x.timeline");
    let message = fail(&["save", name.path(), nowhere.to_str().unwrap()]);
    assert!(message.contains("missing"), "{message}");
}

#[test]
fn what_is_no_timeline_is_said_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let junk = directory.path().join("junk");
    std::fs::write(&junk, [b'x'; 5000]).unwrap();
    File::create(directory.path().join("empty")).unwrap();
    let missing = Name::new("missing");
    for verb in ["info", "dump", "tail", "priority"] {
        let message = fail(&[verb, missing.path()]);
        assert!(message.contains("no timeline at"), "{message}");
        let message = fail(&[verb, junk.to_str().unwrap()]);
        assert!(message.contains("a timeline"), "{message}");
        fail(&[verb, directory.path().join("empty").to_str().unwrap()]);
    }
    let target = directory.path().join("out").display().to_string();
    assert!(fail(&["save", missing.path(), &target]).contains("no timeline at"));
}

#[test]
fn a_forgotten_slash_is_pointed_out() {
    let name = Name::new("slash");
    let tl = name.create(256);
    let forgotten = &name.path()[1..];
    let hint = format!("did you mean {}?", name.path());
    assert!(fail(&["dump", forgotten]).contains(&hint));
    assert!(fail(&["priority", forgotten, "info"]).contains(&hint));
    drop(tl);
}
