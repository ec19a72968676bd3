//! Tests how the command shows gaps.
//! It says where entries were overwritten, and since when a ring is complete.

use core_affinity::CoreId;
use timeline::Timeline;

use crate::command::{Events, succeed};
use crate::support::Name;

/// Has a thread on that CPU log events with these first arguments.
fn log_on(cpu: usize, tl: &Timeline, events: &Events, numbers: std::ops::Range<i64>) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(core_affinity::set_for_current(CoreId { id: cpu }));
            numbers.for_each(|number| tl.log(events.sum, [number, -number, 3]));
        });
    });
}

/// A program that went to another CPU for good: what it logged on the first one stays, and is far
/// older than the rest.
fn moved(name: &Name) -> Option<(i64, i64)> {
    let tl = name.create(1024);
    let events = Events::define(&tl);
    log_on(0, &tl, &events, 0..10);
    log_on(1, &tl, &events, 10..9_000);
    drop(tl);
    // The oldest event of the newer part, and the newest of the older part.
    let all = succeed(&["dump", name.path(), "--json"]).json();
    let numbers: Vec<i64> = all
        .iter()
        .map(|line| line["args"]["tcp"].as_i64().unwrap())
        .collect();
    let gap = numbers.windows(2).find(|pair| pair[0] != pair[1] + 1);
    gap.map(|pair| (pair[0], pair[1]))
}

#[test]
fn a_gap_in_the_middle_is_shown_where_it_is_by_all_that_read() {
    let name = Name::new("gap");
    // On one CPU, and without restartable sequences, there is no gap in the middle.
    let Some((newer, older)) = moved(&name) else {
        eprintln!("there is one lane: nothing is left of what is older");
        return;
    };
    let missing = newer - older - 1;
    let folder = tempfile::tempdir().unwrap();
    let (snapshot, archive) = (
        folder.path().join("s.timeline"),
        folder.path().join("f.tla"),
    );
    let (snapshot, archive) = (snapshot.to_str().unwrap(), archive.to_str().unwrap());
    succeed(&["save", name.path(), snapshot]);
    let said = succeed(&["record", "--once", name.path(), "-o", archive]).stderr;
    assert!(said.contains("0 missed"), "{said}");
    for path in [name.path(), snapshot, archive] {
        let lines = succeed(&["dump", path, "--json"]).json();
        let gaps = lines.iter().filter(|line| !line["missed"].is_null());
        let gaps: Vec<_> = gaps
            .map(|line| (line["args"]["tcp"].as_i64(), line["missed"].as_i64()))
            .collect();
        assert_eq!(gaps, [(Some(newer), Some(missing))], "{path}");
        let text = succeed(&["dump", path]).stdout;
        let lines: Vec<&str> = text.lines().collect();
        let place = lines.iter().position(|line| line.starts_with('…')).unwrap();
        assert!(
            lines[place - 1].contains(&format!("tcp({newer})")),
            "{path}: {text}"
        );
        assert_eq!(
            lines[place],
            format!(
                "… {},{:03} entries missing …",
                missing / 1000,
                missing % 1000
            )
        );
        assert!(
            lines[place + 1].contains(&format!("tcp({older})")),
            "{path}: {text}"
        );
        // Also where it is the last thing to be shown.
        let shown = (9_000 - newer).to_string();
        let some = succeed(&["dump", path, "-n", &shown]).stdout;
        assert_eq!(some.lines().last(), Some(lines[place]), "{path}");
    }
}

#[test]
fn info_says_since_when_nothing_is_missing() {
    let name = Name::new("since");
    let tl = name.create(1024);
    let events = Events::define(&tl);
    log_on(0, &tl, &events, 0..5);
    let whole = succeed(&["info", name.path()]).stdout;
    assert!(
        whole.contains("  complete     from the first event on\n"),
        "{whole}"
    );
    let json = succeed(&["info", name.path(), "--json"]).json().remove(0);
    assert_eq!(
        (json["complete_since"].is_null(), &json["entries_older"]),
        (true, &0.into())
    );
    drop(tl);
    timeline::unlink(name.path()).unwrap();

    let Some((newer, older)) = moved(&name) else {
        return;
    };
    let all = succeed(&["dump", name.path(), "--json"]).json();
    let first = all
        .iter()
        .find(|line| line["args"]["tcp"] == newer)
        .unwrap();
    let json = succeed(&["info", name.path(), "--json"]).json().remove(0);
    assert_eq!(json["complete_since_ticks"], first["ticks"]);
    assert_eq!(json["entries_older"], older + 1);
    let newest = all[0]["ticks"].as_u64().unwrap() - first["ticks"].as_u64().unwrap();
    let seconds = newest as f64 / json["ticks_per_second"].as_f64().unwrap();
    assert!((json["complete_seconds"].as_f64().unwrap() / seconds - 1.0).abs() < 0.01);
    let text = succeed(&["info", name.path()]).stdout;
    let date = &json["complete_since"].as_str().unwrap()[..10];
    let expected = format!(
        "; {} entries are older, and others of their time are missing\n",
        older + 1
    );
    let line = text
        .lines()
        .find(|line| line.starts_with("  complete "))
        .unwrap();
    assert!(
        line.starts_with(&format!("  complete     since {date} ")) && text.contains(&expected),
        "{text}"
    );
}
