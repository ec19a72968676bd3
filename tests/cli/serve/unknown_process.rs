//! Events whose process nobody knows are not hidden without a word.

use super::http::{Served, quoted};
use crate::command::*;
use crate::forgotten::{RECORDS, short_threads};
use crate::support::Name;

#[test]
fn all_that_filters_by_process_say_what_they_leave_out_because_nobody_knows_its_process() {
    let (name, folder) = (Name::new("serve-forgotten"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    let events = Events::define(&tl);
    short_threads(&tl, &events, RECORDS + 36);
    // A recorder waits for it.
    drop(tl);
    for (file, form) in [("plain.tla", &["--plain"][..]), ("blocks.tla", &[])] {
        let file = folder.path().join(file).display().to_string();
        let record = ["record", "--once", name.path(), "-o", &file];
        succeed(&[&record[..], form].concat());
    }
    let served = Served::begin(&[&folder.path().display().to_string()]);
    let pid = std::process::id();
    for log in ["/api/logs/plain.tla", "/api/logs/blocks.tla"] {
        for (filter, found, unknown) in [
            (format!("pid={pid}"), RECORDS as u64, 36),
            ("pid=1".into(), 0, 36),
            ("pid=1&where=tcp%20%3C%205".into(), 0, 5),
            ("pid=1&grep=tcp(7)".into(), 0, 1),
            (String::new(), RECORDS as u64 + 36, 0),
        ] {
            let answer = served.get(&format!("{log}/search?{filter}")).events();
            let (_, end) = answer.last().unwrap();
            assert_eq!(
                (&end["found"], &end["unknown_process"]),
                (&found.into(), &unknown.into()),
                "{log} {filter}"
            );
            let (mut after, mut sum) = (String::new(), 0);
            loop {
                let page = served.json(&format!("{log}/events?limit=7&{filter}{after}"));
                sum += page["unknown_process"].as_u64().unwrap();
                match page["next"].as_str() {
                    Some(next) => after = format!("&after={}", quoted(next)),
                    None => break,
                }
            }
            assert_eq!(sum, unknown, "{log} {filter}");
            // The second answer is of counts that are kept.
            for _ in 0..2 {
                let tracks = served.json(&format!("{log}/tracks?{filter}"));
                assert_eq!(tracks["unknown_process"], unknown, "{log} {filter}");
            }
        }
        // Of a text that is searched for, those that have it.
        let answer = served.get(&format!("{log}/search?pid=1&q=tcp(7)")).events();
        assert_eq!(answer.last().unwrap().1["unknown_process"], 1, "{log}");
    }
}
