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
fn what_is_hinted_at_changes_nothing_also_where_names_are_short() {
    let name = Name::new("misspelt-short");
    let tl = name.create(256);
    let video = Attributes {
        channels: "v=on",
        ..Attributes::default()
    };
    tl.define_with("st", Priority::Info, "got $n", &video)
        .unwrap();
    tl.define("txt", Priority::Info, "sent $n").unwrap();
    let path = name.path();
    succeed(&["priority", path, "info"]);
    for (words, meant) in [
        (&["priority", path, "info,tx=packet"][..], "txt"),
        (&["priority", path, "ts=all"], "st"),
        (&["priority", path, "ST=all"], "st"),
        (&["priority", path, "s=all"], "st"),
        (&["priority", path, "st?=all"], "st"),
        (&["disable", path, "ts.*"], "st"),
        (&["disable", path, "ST.*"], "st"),
        (&["disable", path, "txt.snet*"], "txt.sent"),
        (&["channel", path, "V", "on"], "v"),
    ] {
        let told = fail(words);
        let hint = format!("did you mean {meant}? (if it is to be defined later, add --later)");
        assert!(told.contains(&hint), "{words:?}: {told}");
        assert_eq!(tl.rules().to_string(), "info", "{words:?}");
        assert_eq!(name.attach().info().channels.len(), 1, "{words:?}");
    }
    // One message for a rule, and no hint for what is like no other.
    for (words, expected) in [
        (&["disable", path, "ts.*", "--later"][..], 1),
        (&["disable", path, "rx.*"], 0),
        (&["priority", path, "rxt1=all"], 0),
    ] {
        let told = succeed(words).stderr;
        assert_eq!(told.matches("did you mean").count(), expected, "{told}");
        assert_eq!(told.matches("the rule waits").count(), 1, "{told}");
    }
    succeed(&["channel", path, "w", "on"]);
    // Events of one category are none of another, however long it is.
    tl.define("network2", Priority::Info, "u").unwrap();
    succeed(&["enable", path, "network.*"]);
}

#[test]
fn a_level_or_the_name_of_an_event_that_is_written_otherwise_has_a_hint() {
    let name = Name::new("misspelt-words");
    let tl = program(&name);
    let path = name.path();
    succeed(&["priority", path, "info"]);
    for (words, told) in [
        (&["priority", path, "INFO"][..], "did you mean info?"),
        (&["priority", path, "debug"], "did you mean trace?"),
        (&["enable", path, "sent"], "did you mean net.sent?"),
        (&["enable", path, "net"], "did you mean 'net.*'?"),
        (&["disable", path, "engine"], "did you mean 'engine.*'?"),
        (&["enable", path, "disk"], "`timeline events` prints them"),
        // Whether there is one timeline or none.
        (&["priority", "inof"], "unknown level \"inof\""),
        (&["priority", "Debug"], "did you mean trace?"),
    ] {
        let ran = run(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(told), "{words:?}: {ran:?}");
        assert!(!ran.stderr.contains("\"+"), "{words:?}: {ran:?}");
        assert_eq!(tl.rules().to_string(), "info", "{words:?}");
    }
    for (wanted, meant) in [("sent", "net.sent"), ("Got", "engine.got")] {
        let told = run(&["dump", path, "--event", wanted]).stderr;
        let hint = format!("there is no event {wanted}; did you mean {meant}?");
        assert!(told.contains(&hint), "{told}");
    }
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
    (
        &["--where", "bytes > \"1.5KiB\""],
        "there is no number \"1.5KiB\" in bytes; did you mean 1.5KiB?",
    ),
    (
        &["--where", "size == \"big\" || bytes > 1000"],
        "there is no number \"big\" in size; there are: numbers, without quotes",
    ),
    (
        &["--since", "now", "--until", "-1h"],
        "--since is not before --until: no event is between them",
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
        // An archive replaces no snapshot.
        let _ = std::fs::remove_file(&saved);
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
fn a_text_that_an_enum_does_not_have_is_told() {
    let name = Name::new("misspelt-values");
    let tl = name.create(256);
    let shop = "got $state:enum(open=1,paid=2) at $when:time, $how:flags(r=1,w=2)";
    let got = tl.define("shop", Priority::Info, shop).unwrap();
    tl.log(got, [2, 0, 1]);
    let told = |condition: &str| run(&["dump", name.path(), "--where", condition]).stderr;
    for (condition, expected) in [
        (
            "state == \"payd\"",
            "no value payd in state; did you mean paid?",
        ),
        (
            "\"lost\" != state",
            "no value lost in state; there are: open, paid",
        ),
        ("how == \"x\"", "no value x in how; there are: r, w"),
    ] {
        let told = told(condition);
        assert!(told.contains(expected), "{condition}: {told}");
    }
    for condition in ["state == \"open\"", "when > \"2026-11-23\"", "state == 7"] {
        assert_eq!(told(condition), "", "{condition}");
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
