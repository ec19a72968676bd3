//! info and stats of several PATHs.

use timeline::Priority;

use crate::command::*;
use crate::support::Name;

#[test]
fn info_shows_all_that_can_be_read_and_tells_the_others() {
    let (name, folder) = (Name::new("several-info"), tempfile::tempdir().unwrap());
    let tl = name.create(256);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 3);
    let ring = snapshot(&name, folder.path());
    let archive = folder.path().join("a.tla").display().to_string();
    succeed(&["record", &ring, "-o", &archive, "--once"]);
    let paths = [name.path(), &ring, &archive];
    let alone = paths.map(|path| succeed(&["info", path]).stdout);
    let text = succeed(&[&["info"], &paths[..]].concat()).stdout;
    let titles = |text: &str| -> Vec<String> {
        let titles = text.lines().filter(|line| !line.starts_with(' '));
        titles.map(str::to_owned).collect()
    };
    assert_eq!(titles(&text), titles(&alone.join("\n")));
    let objects = succeed(&[&["info", "--json"], &paths[..]].concat()).json();
    let of: Vec<_> = objects
        .iter()
        .map(|object| object["path"].as_str().unwrap())
        .collect();
    assert_eq!(of, paths);
    // What is not there hides nothing.
    let ran = run(&["info", "/no-such-a", &ring, "/no-such-b", &archive]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(titles(&ran.stdout), titles(&alone[1..].join("\n")));
    for path in ["/no-such-a", "/no-such-b"] {
        assert!(
            ran.stderr.contains(&format!("no timeline at {path}")),
            "{ran:?}"
        );
    }
}

#[test]
fn stats_count_the_events_of_several_together() {
    let names = [Name::new("several-one"), Name::new("several-two")];
    for (name, count) in names.iter().zip([3, 4]) {
        let tl = name.create(256);
        let events = Events::define(&tl);
        // The same event has another number, and one is in the second alone.
        if count == 4 {
            let own = tl.define("own", Priority::Info, "alone").unwrap();
            tl.log(own, []);
        }
        log_sums(&tl, &events, count);
    }
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("a.tla").display().to_string();
    succeed(&["record", names[1].path(), "-o", &archive, "--once"]);
    for second in [names[1].path(), &archive] {
        let rows = succeed(&["stats", names[0].path(), second, "--json"]).json();
        let rows: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row["event"].as_str().unwrap(),
                    row["events"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(rows, [("example.processed", 7), ("own.alone", 1)]);
        let ran = succeed(&[
            "stats",
            names[0].path(),
            second,
            "--by",
            "category",
            "--category",
            "own",
        ]);
        assert!(
            ran.stdout.contains("100%") && ran.stderr.starts_with("timeline: 1 event"),
            "{ran:?}"
        );
        assert_eq!(ran.stderr, "timeline: 1 event\n");
        // It is in one of them: nothing is misspelt.
        assert!(!ran.stderr.contains("there is no"), "{ran:?}");
    }
    assert!(fail(&["stats", names[0].path(), "/no-such"]).contains("no timeline at /no-such"));
}

/// Of each line of a tail in JSON the path, the first value, and the time.
fn tailed(lines: &[serde_json::Value]) -> Vec<(String, i64, u64)> {
    let of = |line: &serde_json::Value| {
        let path = line["path"].as_str().unwrap().to_owned();
        let time = crate::json::nanos(&line["unix_ns"]).unwrap();
        (path, line["args"]["tcp"].as_i64().unwrap(), time)
    };
    lines.iter().map(of).collect()
}

/// Whether these are the events of these paths, from number `first` on, each in the order of its
/// own, and all by time. Clocks of two timelines may differ by more than lies between two events.
fn are_merged(found: &[(String, i64, u64)], paths: [&str; 2], first: i64, turns: &[usize]) {
    assert!(found.is_sorted_by_key(|(_, _, time)| *time), "{found:?}");
    for (turn, path) in paths.into_iter().enumerate() {
        let of_path = found.iter().filter(|(of, ..)| of == path);
        let numbers: Vec<_> = of_path.map(|(_, number, _)| *number).collect();
        let own = (first..).zip(turns).filter(|(_, of)| **of == turn);
        assert_eq!(numbers, own.map(|(number, _)| number).collect::<Vec<_>>());
    }
}

#[test]
fn tail_merges_what_several_have_and_begins_with_the_newest_of_all() {
    let names = [Name::new("several-one"), Name::new("several-two")];
    let timelines = names.each_ref().map(|name| name.create(256));
    let events = timelines.each_ref().map(Events::define);
    let turns = [0, 1, 1, 0, 0, 1, 0, 1, 1, 1];
    for (number, turn) in (1..).zip(turns) {
        timelines[turn].log(events[turn].sum, [number, 0, 0]);
    }
    drop(timelines);
    let folder = tempfile::tempdir().unwrap();
    let ring = snapshot(&names[0], folder.path());
    let archive = folder.path().join("a.tla").display().to_string();
    succeed(&["record", names[1].path(), "-o", &archive, "--once"]);
    let tail = |count: usize| {
        let most = count.to_string();
        tailed(&succeed(&["tail", "--json", &ring, &archive, "-n", &most]).json())
    };
    let all = tail(100);
    are_merged(&all, [&ring, &archive], 1, &turns);
    for count in [10, 4, 1, 0] {
        assert_eq!(tail(count), all[10 - count..], "{count}");
    }
    let text = succeed(&["tail", &archive, &ring, "-n", "3"]).stdout;
    let paths = text.lines().map(|line| line.split_whitespace().next());
    let expected = all[7..].iter().map(|(path, ..)| Some(path.as_str()));
    assert!(paths.eq(expected), "{text}");
    assert!(fail(&["tail", &ring, "/no-such"]).contains("no timeline at /no-such"));
    // A name that is in one of them is not misspelt.
    let ran = succeed(&["tail", &ring, &archive, "--category", "example", "-n", "1"]);
    assert!(!ran.stderr.contains("there is no"), "{ran:?}");
    let ran = succeed(&["tail", &ring, &archive, "--category", "exampel"]);
    assert!(ran.stderr.contains("did you mean example?"), "{ran:?}");
}

#[test]
fn tail_of_several_follows_all_of_them_by_time_across_restarts() {
    let names = [Name::new("several-one"), Name::new("several-two")];
    let create = || names.each_ref().map(|name| name.create(1 << 12));
    let mut timelines = create();
    let mut events = timelines.each_ref().map(Events::define);
    for turn in [0, 1] {
        timelines[turn].log(events[turn].sum, [-1, 0, 0]);
    }
    let words = [names[0].path(), names[1].path()];
    let mut tail = Running::start(&[&["tail", "--json", "-n", "1"], &words[..]].concat());
    // It follows both when it prints the first.
    tail.stdout_until("the newest of all", |lines| lines.len() == 1);
    let turns = [0, 1, 1, 0, 1, 0, 0, 1];
    for (number, turn) in (1..).zip(turns) {
        timelines[turn].log(events[turn].sum, [number, 0, 0]);
    }
    let shown = |lines: &[String]| {
        let lines = lines[1..].iter();
        let lines: Vec<_> = lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        tailed(&lines)
    };
    let lines = tail.stdout_until("all in order", |lines| lines.len() == 9);
    are_merged(&shown(&lines), words, 1, &turns);
    // Both programs start again; their timelines may be found one after the other.
    drop(timelines);
    timelines = create();
    events = timelines.each_ref().map(Events::define);
    let turns = [0, 1, 0];
    for (number, turn) in (9..).zip(turns) {
        timelines[turn].log(events[turn].sum, [number, 0, 0]);
    }
    let lines = tail.stdout_until("those of the next run", |lines| lines.len() == 12);
    let mut found = shown(&lines).split_off(8);
    found.sort_by_key(|(_, _, time)| *time);
    are_merged(&found, words, 9, &turns);
    tail.signal(nix::sys::signal::Signal::SIGINT);
    let (_, stderr) = tail.succeed();
    let again = stderr
        .iter()
        .filter(|line| line.contains("was created again by"));
    assert_eq!(again.count(), 2, "{stderr:?}");
    assert_eq!(
        stderr.last().unwrap(),
        "timeline: 12 events shown, 0 entries missed"
    );
}
