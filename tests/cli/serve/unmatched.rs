//! Filters that match nothing say so with what is there, in each answer.

use super::http::{Served, quoted};
use crate::command::*;
use crate::support::Name;

#[test]
fn a_name_that_nothing_has_is_told_with_those_like_it() {
    let (name, folder) = (Name::new("serve-unmatched"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    let events = Events::define(&tl);
    log_sums(&tl, &events, 100);
    drop(tl);
    for (file, form) in [("plain.tla", &["--plain"][..]), ("blocks.tla", &[])] {
        let file = folder.path().join(file).display().to_string();
        let record = ["record", "--once", name.path(), "-o", &file];
        succeed(&[&record[..], form].concat());
    }
    let served = Served::begin(&[&folder.path().display().to_string()]);
    for log in ["/api/logs/plain.tla", "/api/logs/blocks.tla"] {
        for (filter, told) in [
            (
                "category=exmaple",
                Some("no category exmaple; did you mean example?"),
            ),
            (
                "where=tpc%20%3E%201",
                Some("no field tpc; did you mean tcp?"),
            ),
            (
                "event=example.*&thread=nobody",
                Some("no thread nobody; there are: "),
            ),
            ("pid=1", Some("no process 1; there are: ")),
            ("core=9999", Some("no event of core 9999; ")),
            // No event meets it, but nothing is misspelt.
            ("where=tcp%20%3E%20100000", None),
            ("q=nowhere", None),
        ] {
            let answer = served.get(&format!("{log}/search?{filter}")).events();
            let end = answer.last().unwrap().1.clone();
            assert_eq!(end["found"], 0, "{log} {filter}");
            let mut answers = vec![end];
            // A text is no filter of these.
            if !filter.starts_with("q=") {
                answers.push(served.json(&format!("{log}/events?{filter}")));
                answers.push(served.json(&format!("{log}/tracks?{filter}")));
            }
            for answer in answers {
                let unknown = answer["unknown"].as_array().unwrap();
                match told {
                    Some(told) => assert!(
                        unknown.len() == 1 && unknown[0].as_str().unwrap().contains(told),
                        "{log} {filter}: {unknown:?}"
                    ),
                    None => assert!(unknown.is_empty(), "{log} {filter}: {unknown:?}"),
                }
            }
        }
        let found = served.json(&format!(
            "{log}/events?limit=1&category={}",
            quoted("example")
        ));
        assert!(found["unknown"].as_array().unwrap().is_empty(), "{found}");
    }
}
