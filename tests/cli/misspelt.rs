//! Names that are misspelt change nothing that others share, and are told with those like them.

use timeline::{Attributes, Priority, Timeline};

use crate::command::*;
use crate::support::Name;

/// A timeline with events of two categories and a channel, logged by a thread of a name.
fn program(name: &Name) -> Timeline {
    let tl = name.create(256);
    let of_channel = Attributes {
        channels: "video=on",
        ..Attributes::default()
    };
    let got = tl.define_with("engine", Priority::Info, "got $bytes", &of_channel);
    let got = got.unwrap();
    let sent = tl.define("net", Priority::Info, "sent $size").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            tl.thread("worker", "").unwrap();
            tl.log(got, [5]);
            tl.log(sent, [7]);
        });
    });
    tl
}

#[test]
fn an_option_or_a_word_that_is_misspelt_changes_no_rule_and_no_channel() {
    let name = Name::new("misspelt-rules");
    let tl = program(&name);
    let path = name.path();
    succeed(&["priority", path, "info"]);
    for (words, code, told) in [
        (&["priority", path, "--json"][..], 2, "argument '--json'"),
        (&["priority", path, "-j"], 2, "argument '-j'"),
        (&["priority", path, "--", "--json"], 2, "argument '--json'"),
        (&["priority", "--", "--json"], 1, "no timeline at --json"),
        (
            &["priority", path, "-engine"],
            2,
            "names of events have a dot",
        ),
        (
            &["priority", path, "info,+net"],
            2,
            "names of events have a dot",
        ),
        (&["enable", path, "json"], 2, "names of events have a dot"),
        (&["disable", path, "--json"], 2, "argument '--json'"),
        (
            &["priority", path, "info,engin=packet"],
            1,
            "did you mean engine?",
        ),
        (
            &["priority", path, "+net.snet"],
            1,
            "did you mean net.sent?",
        ),
        (
            &["enable", path, "net.sent", "engine.gto"],
            1,
            "engine.got?",
        ),
        (&["disable", path, "net.sen"], 1, "did you mean net.sent?"),
        (
            &["enable", path, "egnine.*"],
            1,
            "no category egnine; did you mean engine?",
        ),
        (&["priority", path, "-nte.s?nt"], 1, "did you mean net?"),
        (&["channel", path, "vidoe", "on"], 1, "did you mean video?"),
        (&["channel", path, "--json", "on"], 2, "argument '--json'"),
        (
            &[
                "sample", path, "--level", "inof", "--for", "1ms", "--every", "2ms",
            ],
            2,
            "'info'",
        ),
    ] {
        let ran = run(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(told), "{words:?}: {ran:?}");
        assert_eq!(tl.rules().to_string(), "info", "{words:?}");
        assert_eq!(name.attach().info().channels.len(), 1, "{words:?}");
    }
    assert!(fail(&["priority", path, "info,engin=packet"]).contains("add --later"));
}

#[test]
fn what_is_defined_later_can_be_named_before() {
    let name = Name::new("misspelt-later");
    let tl = program(&name);
    let path = name.path();
    for (words, rules, told) in [
        // It is like no other.
        (
            &["priority", path, "info,disk=all"][..],
            "info,disk=all",
            "no category disk; there are: engine, net; the rule waits",
        ),
        (&["enable", path, "net.*"], "info,disk=all,+net.*", ""),
        (
            &["enable", path, "cpu.*"],
            "info,disk=all,+net.*,+cpu.*",
            "none of the 2 events defined so far has such a name",
        ),
        (
            &["priority", path, "info,engin=all", "--later"],
            "info,engin=all",
            "did you mean engine?",
        ),
        (
            &["disable", path, "net.snt", "--later"],
            "info,engin=all,-net.snt",
            "did you mean net.sent?",
        ),
    ] {
        let ran = succeed(words);
        assert_eq!(tl.rules().to_string(), rules, "{words:?}");
        let is_told = if told.is_empty() {
            !ran.stderr.contains("there")
        } else {
            ran.stderr.contains(told)
        };
        assert!(is_told, "{words:?}: {ran:?}");
    }
    succeed(&["channel", path, "vidoe", "on", "--later"]);
    succeed(&["channel", path, "itv1", "on"]);
    // Digits tell channels apart.
    succeed(&["channel", path, "itv2", "on"]);
    let channels = name.attach().info().channels.into_iter();
    let channels: Vec<_> = channels.map(|channel| channel.name).collect();
    assert_eq!(channels, ["video", "vidoe", "itv1", "itv2"]);
}

/// Words of filters, and what is said of them.
const FILTERS: &[(&[&str], &str)] = &[
    (
        &["--category", "engin"],
        "there is no category engin; did you mean engine?",
    ),
    (
        &["--category", "disk"],
        "there is no category disk; there are: engine, net",
    ),
    (
        &["--event", "net.snet"],
        "there is no event net.snet; did you mean net.sent?",
    ),
    (
        &["--thread", "wroker"],
        "there is no thread wroker; did you mean worker?",
    ),
    (
        &["--thread", "1"],
        "there is no thread 1; there are: worker",
    ),
    (&["--pid", "1"], "there is no process 1; there are: "),
    (
        &["--core", "900-901,950"],
        "there is no event of core 900-901,950; there are: ",
    ),
    (
        &["--where", "bytez > 1"],
        "there is no field bytez; did you mean bytes?",
    ),
    (
        &["--where", "category == \"net\""],
        "there is no field category; there are: bytes, size (--category is about that)",
    ),
    // Another event has it.
    (
        &["--event", "net.*", "--where", "bytes > 1"],
        "there is no field bytes in net.*; there are: size",
    ),
    (
        &["--category", "net", "--where", "siez > 1"],
        "there is no field siez in the wanted events; did you mean size?",
    ),
];

/// Words of filters of which each name is there.
const KNOWN: &[&[&str]] = &[
    &["--category", "engine"],
    &["--category", "e*"],
    &["--event", "net.sent"],
    &["--thread", "work*"],
    &["--core", "0-1023"],
    &["--core", "0-1023,4711"],
    &["--where", "bytes > 1 || size > 1"],
    // No event meets it, but nothing is misspelt.
    &["--where", "bytes > 1000"],
    &["--where", "$0 > 1"],
    &[
        "--category",
        "net",
        "--where",
        "size > 1000",
        "--thread",
        "worker",
    ],
];

#[test]
fn filters_that_match_nothing_say_so_with_what_is_there() {
    let name = Name::new("misspelt-filters");
    let tl = program(&name);
    let folder = tempfile::tempdir().unwrap();
    let file = |of: &str| folder.path().join(of).to_str().unwrap().to_owned();
    let (ring, archive, saved) = (snapshot(&name, folder.path()), file("a.tla"), file("saved"));
    drop(tl);
    succeed(&["record", name.path(), "-o", &archive, "--once"]);
    for path in [name.path(), &ring, &archive] {
        let verbs: &[(&[&str], &[&str])] = &[
            (&["dump", path], &[]),
            (&["dump", path], &["--reverse"]),
            (&["dump", path], &["--line", "0"]),
            (&["dump", path, &ring], &[]),
            (&["search", path, "e"], &[]),
            (&["search", path, "nowhere"], &[]),
            (&["search", path, "nowhere"], &["--no-index"]),
            (&["stats", path], &[]),
            (&["histogram", path], &["--every", "net.sent"]),
            (&["outliers", path], &["--every", "net.sent"]),
            (&["save", path, &saved], &[]),
        ];
        for (verb, more) in verbs {
            for (words, told) in FILTERS {
                let words = [*verb, more, words].concat();
                let ran = run(&words);
                assert!(ran.stderr.contains(told), "{words:?}: {ran:?}");
            }
            for words in KNOWN {
                let words = [*verb, more, words].concat();
                let ran = run(&words);
                assert!(!ran.stderr.contains("there is no"), "{words:?}: {ran:?}");
            }
        }
    }
}

#[test]
fn whoever_follows_says_it_at_the_beginning() {
    let name = Name::new("misspelt-following");
    let _tl = program(&name);
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("a.tla");
    let archive = archive.to_str().unwrap();
    for words in [
        &["tail"][..],
        &["record", "-o", archive],
        &["histogram", "--follow", "--every", "net.sent"],
        &["watch", "--when", "event net.sent"],
    ] {
        let path = [name.path()];
        let filters = ["--category", "engin", "--category", "disk"];
        let words = [&words[..1], &path, &words[1..], &filters].concat();
        let mut running = Running::start(&words);
        let said = running.stderr_until("it to be told", |lines| {
            lines.iter().any(|line| line.contains("category disk"))
        });
        let said = said.join("\n");
        assert!(
            said.contains("no category engin; did you mean engine?"),
            "{words:?}: {said}"
        );
        assert!(
            said.contains("disk; there are: engine, net; it may come"),
            "{words:?}: {said}"
        );
        running.signal(nix::sys::signal::Signal::SIGINT);
        running.finish();
    }
}

#[test]
fn rules_without_events_are_shown_with_the_nearest_names() {
    let name = Name::new("rules-without-events");
    let tl = name.create(256);
    let rules = |text: &str| text.parse().unwrap();
    tl.switch(&rules(
        "info,engin=packet,net=app,+net.snet,-disk.*,-net.*,+egnine.*",
    ))
    .unwrap();
    let shown = || {
        let lines = succeed(&["info", name.path()]).stdout;
        let lines = lines
            .lines()
            .filter_map(|line| line.strip_prefix("  rule "));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    // Whatever a program says of events that it defines later is taken.
    assert_eq!(shown().len(), 6);
    assert_eq!(shown()[0], "engin=packet  no such category yet");
    for (category, message) in [("engine", "got $bytes"), ("net", "sent $size")] {
        tl.define(category, Priority::Info, message).unwrap();
    }
    assert_eq!(
        shown(),
        [
            "engin=packet  no such category yet; nearest: engine",
            "+net.snet  no such event yet; nearest: net.sent",
            "-disk.*  no such event yet",
            "+egnine.*  no such category yet; nearest: engine",
        ]
    );
    let info = &succeed(&["info", name.path(), "--json"]).json()[0];
    let first = serde_json::json!({
        "rule": "engin=packet", "what": "category", "name": "engin", "nearest": ["engine"],
    });
    assert_eq!(info["rules_without_events"][0], first);
    assert_eq!(info["rules_without_events"].as_array().unwrap().len(), 4);
    tl.define("engin", Priority::Info, "late").unwrap();
    assert_eq!(shown().len(), 3);
    tl.switch(&rules("info,engine=packet")).unwrap();
    assert_eq!(shown(), [""; 0]);
    let info = &succeed(&["info", name.path(), "--json"]).json()[0];
    assert_eq!(info["rules_without_events"], serde_json::json!([]));
}
