//! Imported logs: events are chosen by their columns, however the values are stored there.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use timeline::Source;
use timeline::dump::Messages;
use timeline_archive::{Archive, Preamble};
use timeline_import::Importer;
use timeline_search::{Case, Needle, Query};

use super::selection::{Chosen, HOW, by};
use crate::support::Random;

const LINES: u64 = 5_000;
const HOSTS: [&str; 4] = ["eth0", "eth1", "gr\u{f6}\u{df}e", ""];

fn imported(log: &str) -> Archive {
    let mut file = Vec::new();
    let mut importer = Importer::new(&mut file, Preamble::default(), TimeZone::UTC).unwrap();
    let mut lines = importer.begin("server.log", SystemTime::now());
    let mut bytes = log.as_bytes();
    while importer.read(&mut lines, &mut bytes).unwrap() > 0 {}
    importer.end(&mut lines).unwrap();
    importer.flush().unwrap();
    drop(importer);
    Archive::from_bytes(file)
}

/// Values that suit each way to store them: few ones or many, of one size or any, that grow or
/// jump; some with a time before them; and a few kinds of lines that are rare.
fn lines(random: &mut Random) -> String {
    let mut log = String::new();
    for i in 0..LINES {
        let any = random.next();
        let (few, small, large) = (any % 5, any >> 56, any >> 20);
        let host = HOSTS[(any >> 60) as usize % HOSTS.len()];
        log += &match any >> 8 & 7 {
            0 => format!("sent {i} bytes to {host}, {large} left\n"),
            1 => format!(
                "2026-11-23 14:03:07.{:03} INFO port {few} is {small:02x}\n",
                i % 1_000
            ),
            2 => format!(
                "request {large:012x} of {} took {small}.{few} s\n",
                -(i as i64)
            ),
            3 => format!("user {host}{few}: {small}\n"),
            4 => format!("{few} of {small}\n"),
            5 => format!("{:.1$} {host}\n", "abcdefghijkl", few as usize * 2),
            6 => format!("id {:016x}\n", any.wrapping_mul(any)),
            _ => format!(
                "rare {} {} at {host}\n",
                ["a", "b", "c", "dd"][few as usize % 4],
                i * 7
            ),
        };
        if i % 500 == 77 {
            log += &format!("seldom {large} in {host} for {few}\nnever {i}\n");
            // These share columns with the rare ones without a time.
            log += &format!("2026-11-23 14:03:08.{few:03} WARN {large} is seldom\n");
            log += &format!("2026-11-23 14:03:08.{few:03} WARN no {host} for {small}\n");
        }
    }
    log
}

/// Objects with values of all types.
fn objects(random: &mut Random) -> String {
    let mut log = String::new();
    let head = "{\"message\":\"got it\",\"a\":";
    for i in 0..LINES / 2 {
        let any = random.next();
        let (host, few) = (HOSTS[any as usize % HOSTS.len()], any >> 4 & 3);
        log += &match any >> 8 & 3 {
            0 => format!(
                "{head}{few},\"b\":\"{host}\",\"c\":{}.5,\"d\":\"x{:03x}\"}}\n",
                i * 3,
                any & 0xfff
            ),
            1 => format!("{head}\"{host}\",\"b\":{},\"c\":[{few}]}}\n", any >> 12),
            2 => format!("{head}{},\"b\":null,\"c\":{few}}}\n", any & 1 == 1),
            _ => format!("{{\"message\":\"got {i}\",\"a\":-{few}}}\n"),
        };
    }
    log
}

/// Any condition on one or two values.
fn condition(random: &mut Random, names: &[&str]) -> String {
    let mut pick = |of: &[&str]| of[random.below(of.len() as u64) as usize].to_owned();
    let literals = [
        "0", "3", "-2", "100", "2500", "1e9", "1.5", "'eth0'", "'a'", "'2'", "true",
    ];
    let mut compared =
        || match pick(&["literal", "literal", "literal", "match", "other", "is"]).as_str() {
            "literal" => format!("{} {} {}", pick(names), pick(&HOW), pick(&literals)),
            "match" => format!(
                "{} {} '{}'",
                pick(names),
                pick(&["~", "!~"]),
                pick(&["^e", "1$", "0"])
            ),
            "other" => format!("{} {} {}", pick(names), pick(&HOW), pick(names)),
            _ => pick(names),
        };
    let (one, other) = (compared(), compared());
    match random.below(4) {
        0 => format!("{one} && !({other})"),
        1 => format!("{one} || {other}"),
        _ => one,
    }
}

fn agree(archive: &Archive, random: &mut Random, names: &[&str], queries: usize) -> usize {
    let chosen = Chosen::of(archive);
    let all = chosen.events[0].1.len();
    let mut hits = 0;
    for _ in 0..queries {
        let (found, _) = chosen.agree(&by(&condition(random, names)));
        hits += usize::from(found > 0 && found < all);
    }
    hits
}

#[test]
fn conditions_on_imported_values_choose_what_they_are_met_by() {
    let mut random = Random(super::seed());
    let archive = imported(&lines(&mut random));
    let hits = agree(&archive, &mut random, &["$0", "$1", "$2", "$3", "$4"], 60);
    assert!(hits > 15, "{hits}");
    let archive = imported(&objects(&mut random));
    let chosen = Chosen::of(&archive);
    for text in [
        "a == 'eth0'",
        "b ~ '^e'",
        "d ~ '^x...$'",
        "d ~ '00' || b == 'eth1'",
        "!d && c",
    ] {
        let (found, asked) = chosen.agree(&by(text));
        assert!(
            found > 0 && asked == 0,
            "{found} by {text}, asked about {asked}"
        );
    }
    let hits = agree(
        &archive,
        &mut random,
        &["a", "b", "c", "$0", "$1", "$2"],
        60,
    );
    assert!(hits > 15, "{hits}");
}

#[test]
fn nothing_is_asked_about_lines_whose_columns_tell() {
    let mut random = Random(super::seed());
    let log = lines(&mut random);
    let without_times = log.lines().filter(|line| !line.starts_with("2026"));
    let log: String = without_times.map(|line| format!("{line}\n")).collect();
    let archive = imported(&log);
    let chosen = Chosen::of(&archive);
    for text in [
        "$0 > 100",
        "$0 ~ '7' && $2 > 3",
        "$2 < $0",
        "!($1 ~ '7') && $0",
    ] {
        let (found, asked) = chosen.agree(&by(text));
        assert!(
            found > 0 && asked == 0,
            "{found} by {text}, asked about {asked}"
        );
    }
    // A text is looked for in messages, which are made of the events that may have it.
    let query = Query {
        texts: vec![Needle::text("eth0", Case::Sensitive).unwrap()],
        ..by("$1 > 4000")
    };
    let (found, asked) = chosen.agree(&query);
    assert!(
        found <= asked && asked < LINES as usize,
        "{found} of {asked}"
    );
}

fn by_text(text: &str, case: Case) -> Query {
    Query {
        texts: vec![Needle::text(text, case).unwrap()],
        ..Query::default()
    }
}

/// Asks for parts of messages, each of which is found. About how many lines nobody was asked.
fn parts_are_found(archive: &Archive, random: &mut Random, queries: usize) -> usize {
    let chosen = Chosen::of(archive);
    let (_, events) = &chosen.events[0];
    let (mut messages, mut unasked) = (Messages::new(archive), 0);
    for _ in 0..queries {
        let event = &events[random.below(events.len() as u64) as usize];
        let message = messages.text(event, archive.definition(event.id));
        let line: Vec<char> = message.lines().next().unwrap_or_default().chars().collect();
        let from = random.below(line.len() as u64 + 1) as usize;
        let count = 1 + random.below(30) as usize;
        let part: String = line.iter().skip(from).take(count).collect();
        for (text, case) in [
            (part.clone(), Case::Sensitive),
            (part.to_lowercase(), Case::Smart),
            (part.to_ascii_uppercase(), Case::Insensitive),
        ] {
            let (found, asked) = chosen.agree(&by_text(&text, case));
            assert!(
                0 < found && found <= asked,
                "{found} of {asked} by {text:?} of {message}"
            );
            unasked += events.len() - asked;
        }
    }
    unasked
}

/// Lines with times as the system's log has them.
fn system_log(random: &mut Random) -> String {
    let mut log = String::new();
    for i in 0..LINES / 5 {
        let any = random.next();
        let host = HOSTS[(any >> 60) as usize % HOSTS.len()];
        log += &format!(
            "Nov 23 14:{:02}:{:02} a{host} sshd[{}]: port {} of %s 100%\n",
            i / 60,
            i % 60,
            any >> 54,
            any & 3
        );
    }
    log
}

#[test]
fn parts_of_imported_lines_are_found() {
    let mut random = Random(super::seed());
    for log in [
        lines(&mut random),
        system_log(&mut random),
        objects(&mut random),
    ] {
        let unasked = parts_are_found(&imported(&log), &mut random, 25);
        assert!(unasked > 0);
    }
}

#[test]
fn messages_are_made_of_lines_whose_values_allow_the_text() {
    let mut random = Random(super::seed());
    let (log, system) = (lines(&mut random), system_log(&mut random));
    let [archive, of_system] = [&log, &system].map(|log| imported(log));
    let [chosen, of_system] = [&archive, &of_system].map(Chosen::of);
    for (chosen, text, log) in [
        (&chosen, "INFO port 3", &log),
        (&chosen, "info port 3 is", &log),
        (&chosen, ".123 INFO port", &log),
        (&chosen, "rare b ", &log),
        (&chosen, ":08.001 WARN", &log),
        (&chosen, "at GR\u{d6}", &log),
        (&of_system, "Nov 23 14:03:07", &system),
        (&of_system, "eth0 sshd[10", &system),
        (&of_system, "port 2 of %s", &system),
    ] {
        let has = |line: &&str| line.to_lowercase().contains(&text.to_lowercase());
        let lines = log.lines().filter(has).count();
        let (found, asked) = chosen.agree(&by_text(text, Case::Insensitive));
        assert_eq!(found, lines, "{text}");
        // Letters beyond ASCII are compared by the message, and so are rare lines that have several
        // texts side by side.
        let rare = (LINES / 500) as usize;
        let most = if text.is_ascii() {
            lines + rare
        } else {
            usize::MAX
        };
        assert!(asked <= most, "asked about {asked} of {lines} by {text}");
    }
    // No message may have these.
    for text in ["port 3 INFO", "port 03 is", "16:00 INFO", "Nov"] {
        let (found, asked) = chosen.agree(&by_text(text, Case::Sensitive));
        assert!(
            found == 0 && asked <= (LINES / 500) as usize,
            "{text} {asked}"
        );
    }
}
