//! The order of the events of several hosts, whose clocks a store has compared with its own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use timeline_archive::{ClockComparison, Form, Preamble, RawEvent, Writer};

use crate::command::{Ran, run, succeed};

/// A moment, in nanoseconds since 1970.
const NOW: u64 = 1_700_000_000_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// A host, and by how many nanoseconds its clock is ahead.
struct Host {
    name: &'static str,
    ahead: i64,
    /// The machines with which its clock was compared, and how exactly: each at 0 and 1,000 ms.
    compared: Vec<(&'static str, u64)>,
    /// When its events were logged in truth, in milliseconds.
    events: Vec<u64>,
}

impl Host {
    fn archive(&self, folder: &Path) -> String {
        let (mut file, magic) = (Vec::new(), magic_of(self.name));
        let mut writer = Writer::new(&mut file, magic, Form::Blocks);
        writer.preamble(&Preamble {
            magic: Some(magic),
            host: Some(self.name.into()),
            boot_id: Some(format!("boot of {}", self.name)),
            timeline: Some("/svc".into()),
            ..Preamble::default()
        });
        let own = |millis: u64| (NOW + millis * MILLISECOND).checked_add_signed(self.ahead);
        for millis in [0, 1_000] {
            for (host, error) in &self.compared {
                writer.clock(&ClockComparison {
                    magic: Some(magic),
                    ticks: Some(1 + millis * 1_000),
                    unix_nanos: own(millis),
                    reference_nanos: Some(NOW + millis * MILLISECOND),
                    error: Some(*error),
                    boot_id: Some(format!("boot of {host}")),
                    host: Some((*host).into()),
                });
            }
        }
        let (format, name) = (writer.string("at $millis"), writer.string("worker"));
        for (number, millis) in (0..).zip(&self.events) {
            let mut event = RawEvent {
                ticks: Some(1 + millis * 1_000),
                unix_nanos: own(*millis),
                lane: Some(0),
                number: Some(number),
                args: vec![*millis as i64],
                ..RawEvent::default()
            };
            event.definition.format = Some(format);
            (event.thread.name, event.thread.tid) = (Some(name), Some(7));
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        let path = folder.join(self.name).with_extension("tla");
        fs::write(&path, file).unwrap();
        path.display().to_string()
    }
}

fn magic_of(host: &str) -> u64 {
    host.bytes().map(u64::from).sum()
}

/// Two hosts that take turns, of which one is an hour ahead, and the other 50 ms behind.
fn turns(error: u64) -> [Host; 2] {
    let host = |name, ahead, first: u64| Host {
        name,
        ahead,
        compared: vec![("store1", error)],
        events: (0..5).map(|turn| 100 + 10 * (2 * turn + first)).collect(),
    };
    let hour = 3_600_000 * MILLISECOND as i64;
    [
        host("db1", hour, 0),
        host("db2", -50 * MILLISECOND as i64, 1),
    ]
}

fn archives(folder: &TempDir, hosts: &[Host]) -> Vec<String> {
    hosts
        .iter()
        .map(|host| host.archive(folder.path()))
        .collect()
}

fn dump(paths: &[String], more: &[&str]) -> Ran {
    let paths = paths.iter().map(String::as_str);
    succeed(&[&["dump"], &paths.collect::<Vec<_>>()[..], more].concat())
}

/// The moments of the events, in the order in which they are shown.
fn moments(lines: &[Value]) -> Vec<u64> {
    let moment = |line: &Value| line["args"]["millis"].as_u64();
    lines
        .iter()
        .map(|line| moment(line).expect("a moment"))
        .collect()
}

#[test]
fn events_of_hosts_whose_clocks_were_compared_are_in_the_order_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(&folder, &turns(80_000));
    let shown = dump(&paths, &["--reverse", "--json"]);
    let lines = shown.json();
    assert_eq!(moments(&lines), Vec::from_iter((100..200).step_by(10)));
    for line in &lines {
        let (millis, time) = (moments(std::slice::from_ref(line))[0], &line["unix_ns"]);
        assert_eq!(
            time,
            &json!((NOW + millis * MILLISECOND).to_string()),
            "{line}"
        );
        // 80 µs, 20 µs of the ring, and what the clocks may have drifted since the comparison.
        assert_eq!(line["time_error_ns"], 100_000 + 10 * millis, "{line}");
        assert_eq!(line["may_be_earlier"], false, "{line}");
    }
    let [db1, db2] = [&paths[0], &paths[1]];
    for sentence in [
        format!("{db1}: the clock there was 1 h ahead of that of store1 (±80 µs)"),
        format!("{db2}: the clock there was 50 ms behind that of store1 (±80 µs)"),
    ] {
        let sentence = sentence + "; times are those of store1";
        assert!(shown.stderr.contains(&sentence), "{}", shown.stderr);
    }
    // As text, newest first.
    let text = dump(&paths, &[]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("time            error"), "{text}");
    assert!(
        lines[1].contains("±101.9 µs") && lines[1].ends_with("at millis(190)"),
        "{text}"
    );
    assert!(
        lines[1].starts_with(db2.as_str()) && lines[2].starts_with(db1.as_str()),
        "{text}"
    );
    assert!(!text.contains('~'), "{text}");
    // One alone has the time of its own clock.
    let alone = succeed(&["dump", db1, "--reverse", "--json"]).json();
    let own = NOW + 3_600_000 * MILLISECOND + 100 * MILLISECOND;
    assert_eq!(alone[0]["unix_ns"], json!(own.to_string()));
    assert!(alone[0].get("time_error_ns").is_none());
}

#[test]
fn times_that_are_asked_for_are_those_that_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(&folder, &turns(80_000));
    let bound = |millis: u64| {
        format!(
            "2023-11-14T22:13:{:02}.{:03}Z",
            20 + millis / 1_000,
            millis % 1_000
        )
    };
    for (since, until) in [(120, 151), (120, 150), (121, 180), (0, 10_000)] {
        let range = ["--since", &bound(since), "--until", &bound(until)];
        let found = dump(&paths, &[&["--reverse", "--json"], &range[..]].concat()).json();
        let expected = (100..200)
            .step_by(10)
            .filter(|one| (since..until).contains(one));
        assert_eq!(moments(&found), Vec::from_iter(expected), "{since} {until}");
    }
}

#[test]
fn an_order_that_the_clocks_are_not_exact_enough_for_is_not_claimed() {
    let folder = tempfile::tempdir().unwrap();
    // 6 ms each: more than the 10 ms between two turns, and less than 20.
    let paths = archives(&folder, &turns(6 * MILLISECOND));
    for (order, marked) in [(&["--reverse"][..], 9), (&[], 9)] {
        let lines = dump(&paths, &[order, &["--json"]].concat()).json();
        let marks: Vec<_> = lines
            .iter()
            .map(|line| line["may_be_earlier"] == true)
            .collect();
        assert!(!marks[0], "nothing came before the first one");
        assert_eq!(
            marks.iter().filter(|mark| **mark).count(),
            marked,
            "{order:?}"
        );
        let text = dump(&paths, order).stdout;
        assert_eq!(text.matches("~±6.1 ms").count(), marked, "{text}");
    }
    // 20 ms between two events are enough, also if they are not neighbours in the output.
    let hosts = [
        Host {
            events: vec![100, 101, 102],
            ..turns(6 * MILLISECOND).into_iter().next().unwrap()
        },
        Host {
            events: vec![113, 115],
            ..turns(6 * MILLISECOND).into_iter().next_back().unwrap()
        },
    ];
    let paths = archives(&folder, &hosts);
    let lines = dump(&paths, &["--reverse", "--json"]).json();
    assert_eq!(moments(&lines), [100, 101, 102, 113, 115]);
    let marks: Vec<_> = lines
        .iter()
        .map(|line| line["may_be_earlier"] == true)
        .collect();
    assert_eq!(marks, [false, false, false, true, false]);
}

#[test]
fn clocks_that_nobody_has_compared_are_said_to_be_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let mut hosts = turns(80_000);
    hosts[1].compared = vec![("store2", 10)];
    let paths = archives(&folder, &hosts);
    let shown = dump(&paths, &["--reverse", "--json"]);
    let lines = shown.json();
    // By their own clocks.
    assert_eq!(moments(&lines)[..5], [110, 130, 150, 170, 190]);
    assert!(lines.iter().all(|line| line["time_error_ns"].is_null()));
    assert!(lines[5..].iter().all(|line| line["may_be_earlier"] == true));
    for path in &paths {
        let sentence = format!("{path}: nobody has compared the clock there with the others");
        assert!(shown.stderr.contains(&sentence), "{}", shown.stderr);
    }
    assert!(
        !shown.stderr.contains("times are those of"),
        "{}",
        shown.stderr
    );
    // One of three.
    let mut hosts = Vec::from(turns(80_000));
    hosts.push(Host {
        name: "db3",
        ahead: 0,
        compared: Vec::new(),
        events: vec![145],
    });
    let paths = archives(&folder, &hosts);
    let shown = dump(&paths, &["--reverse", "--json"]);
    assert_eq!(
        shown.stderr.matches("nobody has compared").count(),
        1,
        "{}",
        shown.stderr
    );
    assert_eq!(shown.stderr.matches("times are those of store1").count(), 2);
    let lines = shown.json();
    let unknown: Vec<_> = lines
        .iter()
        .filter(|line| line["time_error_ns"].is_null())
        .collect();
    assert_eq!(unknown.len(), 1);
}

#[test]
fn what_was_logged_at_the_reference_itself_is_right_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut hosts = Vec::from(turns(80_000));
    hosts.push(Host {
        name: "store1",
        ahead: 0,
        compared: Vec::new(),
        events: vec![105, 205],
    });
    let paths = archives(&folder, &hosts);
    let shown = dump(&paths, &["--reverse", "--json"]);
    let lines = shown.json();
    let expected = [100, 105, 110, 120, 130, 140, 150, 160, 170, 180, 190, 205];
    assert_eq!(moments(&lines), expected);
    assert_eq!(
        (&lines[1]["time_error_ns"], &lines[11]["time_error_ns"]),
        (&json!(20_000), &json!(20_000))
    );
    assert!(!shown.stderr.contains("nobody"), "{}", shown.stderr);
}

#[test]
fn info_says_how_the_clock_compares() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(&folder, &turns(80_000));
    let text = succeed(&["info", &paths[0]]).stdout;
    assert!(
        text.contains("compared") && text.contains("1 h ahead of that of store1 (±80 µs)"),
        "{text}"
    );
    let object = &succeed(&["info", "--json", &paths[0]]).json()[0];
    let compared = object["programs"][0]["clock_comparisons"]
        .as_array()
        .unwrap();
    assert_eq!(compared.len(), 2);
    assert_eq!(compared[0]["error_ns"], 80_000);
    assert_eq!(compared[0]["reference_unix_ns"], NOW.to_string());
    assert_eq!(compared[0]["reference_boot_id"], "boot of store1");
    // A copy of some events knows it as well.
    let copy = folder.path().join("copy.tla").display().to_string();
    let saved = run(&["save", &paths[0], &copy, "--where", "millis=100"]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    let object = &succeed(&["info", "--json", &copy]).json()[0];
    assert_eq!(
        object["programs"][0]["clock_comparisons"]
            .as_array()
            .unwrap(),
        compared
    );
}

#[test]
fn what_is_of_one_host_has_one_order() {
    let folder = tempfile::tempdir().unwrap();
    let [db1, db2] = turns(5 * MILLISECOND);
    // Of the same boot, and without any comparison.
    let [mut first, mut second] = turns(5 * MILLISECOND);
    (first.name, first.events) = ("db1", vec![101, 103]);
    first.compared.clear();
    (second.name, second.events) = ("db1", vec![102, 104]);
    second.ahead = db1.ahead;
    let file = |host: &Host, name: &str| {
        let path = host.archive(folder.path());
        let own = folder.path().join(name).display().to_string();
        fs::rename(path, &own).unwrap();
        own
    };
    let paths = [
        file(&first, "1.tla"),
        file(&second, "2.tla"),
        file(&db2, "3.tla"),
    ];
    let shown = dump(&paths, &["--reverse", "--json"]);
    let lines = shown.json();
    assert_eq!(
        moments(&lines),
        [101, 102, 103, 104, 110, 130, 150, 170, 190]
    );
    let marks = lines.iter().map(|line| line["may_be_earlier"] == true);
    assert_eq!(
        marks.collect::<Vec<_>>(),
        [vec![false; 4], vec![true], vec![false; 4]].concat()
    );
    assert!(!shown.stderr.contains("nobody"), "{}", shown.stderr);
    // Both runs in one file.
    let joined = folder.path().join("joined.tla").display().to_string();
    fs::write(
        &joined,
        [fs::read(&paths[0]).unwrap(), fs::read(&paths[1]).unwrap()].concat(),
    )
    .unwrap();
    let lines = dump(&[joined, paths[2].clone()], &["--reverse", "--json"]).json();
    assert_eq!(
        moments(&lines),
        [101, 102, 103, 104, 110, 130, 150, 170, 190]
    );
}

#[test]
fn what_is_of_several_hosts_or_of_none_has_no_known_order_among_others() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(&folder, &turns(80_000));
    let joined = folder.path().join("joined.tla").display().to_string();
    fs::write(
        &joined,
        [fs::read(&paths[0]).unwrap(), fs::read(&paths[1]).unwrap()].concat(),
    )
    .unwrap();
    let log = folder.path().join("app.log");
    fs::write(&log, "2023-11-14T22:13:20.145Z app started\n").unwrap();
    let imported = folder.path().join("app.tla").display().to_string();
    succeed(&["import", log.to_str().unwrap(), "-o", &imported]);
    for other in [&joined, &imported] {
        let all = [&paths[..], std::slice::from_ref(other)].concat();
        let shown = dump(&all, &["--reverse", "--json"]);
        let sentence = format!("{other}: nobody has compared the clock there");
        assert_eq!(
            shown.stderr.matches("nobody has compared").count(),
            1,
            "{}",
            shown.stderr
        );
        assert!(shown.stderr.contains(&sentence), "{}", shown.stderr);
        for line in shown.json() {
            let is_other = line["path"] == other.as_str();
            assert_eq!(line["time_error_ns"].is_null(), is_other, "{line}");
        }
    }
}

#[test]
fn what_is_counted_is_counted_by_the_clock_of_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(&folder, &turns(80_000));
    let range = [
        "--since",
        "2023-11-14T22:13:20.115Z",
        "--until",
        "2023-11-14T22:13:20.165Z",
    ];
    let words = paths.iter().map(String::as_str).collect::<Vec<_>>();
    let found = succeed(&[&["stats", "--json"], &words[..], &range].concat()).json();
    assert_eq!(found[0]["events"], 5, "{found:?}");
    let all = succeed(&[&["stats", "--json"], &words[..]].concat()).json();
    // Ten events in 90 ms.
    let rate = all[0]["per_second"].as_f64().unwrap();
    assert!((rate - 10.0 / 0.09).abs() < 1.0, "{all:?}");
}

#[test]
fn a_clock_that_was_set_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let [db1, db2] = turns(80_000);
    let path = db1.archive(folder.path());
    let mut file = fs::read(&path).unwrap();
    let mut writer = Writer::new(&mut file, magic_of("db1"), Form::Blocks);
    let own = NOW + 3_600_000 * MILLISECOND + 10_000 * MILLISECOND;
    writer.clock(&ClockComparison {
        magic: Some(magic_of("db1")),
        ticks: Some(10_000_001),
        unix_nanos: Some(own),
        reference_nanos: Some(NOW - 50_000 * MILLISECOND),
        error: Some(80_000),
        boot_id: Some("boot of store1".into()),
        host: Some("store1".into()),
    });
    writer.flush().unwrap();
    fs::write(&path, file).unwrap();
    let shown = dump(&[path, db2.archive(folder.path())], &["--json"]);
    let told = "one of the two clocks was set by 1 min meanwhile";
    assert_eq!(shown.stderr.matches(told).count(), 1, "{}", shown.stderr);
}
