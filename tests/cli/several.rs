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
        // It is in one of them: nothing is misspelt.
        assert!(!ran.stderr.contains("there is no"), "{ran:?}");
    }
    assert!(fail(&["stats", names[0].path(), "/no-such"]).contains("no timeline at /no-such"));
}
