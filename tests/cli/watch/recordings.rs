//! Snapshots and archives: tests when conditions would have been met in them.

use super::{begin, end, tick};
use crate::command::*;
use crate::support::Name;

#[test]
fn all_firings_of_a_snapshot_and_of_an_archive_are_told_alike() {
    let name = Name::new("watch-recorded");
    let tl = name.create(1024);
    for number in 0..4 {
        begin(&tl);
        tick(&tl, number);
        end(&tl);
    }
    // Never ended, and the clock goes on.
    begin(&tl);
    tick(&tl, 9);
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(&name, folder.path());
    let archive = folder.path().join("flight.tla").display().to_string();
    succeed(&["record", &snapshot, "-o", &archive]);
    for file in [&snapshot, &archive] {
        let ran = |condition: &str, args: &[&str]| {
            run(&[&["watch", file, "--json", "--when", condition], args].concat())
        };
        let all = ran("span engine.* >= 0s", &[]);
        assert_eq!(all.code, Some(0), "{all:?}");
        let found = all.json();
        assert_eq!(found.len(), 5);
        assert!(found[..4].iter().all(|one| one["open"] == false));
        assert_eq!(found[4]["open"], true);
        let times: Vec<_> = found
            .iter()
            .map(|one| one["unix_ns"].as_u64().unwrap())
            .collect();
        assert!(times[..4].is_sorted(), "{times:?}");
        assert_eq!(ran("span engine.* >= 0s", &["-n", "2"]).json().len(), 2);
        let cooled = ran("span engine.* >= 0s", &["--cooldown", "1h"]);
        assert_eq!(cooled.json().len(), 1);
        assert!(cooled.stderr.contains("1 firing, 4 ignored"), "{cooled:?}");
        assert_eq!(
            ran("event engine.tick where number > 2", &[]).json().len(),
            2
        );
        assert_eq!(
            ran("event engine.*", &["--where", "number == 9"])
                .json()
                .len(),
            1
        );
        let nothing = ran("span engine.* > 1h", &[]);
        assert_eq!(
            (nothing.code, nothing.stdout.as_str()),
            (Some(1), ""),
            "{nothing:?}"
        );
        for args in [&["--save", "x"][..], &["--then", "exec true"]] {
            let refused = ran("event *", args);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
            assert!(refused.stderr.contains("is a recording"), "{refused:?}");
        }
    }
}
