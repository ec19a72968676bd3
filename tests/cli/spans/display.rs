//! dump and tail say how long a span took.

use nix::sys::signal::Signal;
use timeline::{Priority, event};
use timeline_archive::{Form, RawEvent, Writer};

use super::*;
use crate::support::Random;

#[test]
fn dumps_of_all_sources_and_orders_say_how_long_spans_took() {
    let (name, directory) = (Name::new("spans-dump"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    log_spans(&tl, 3, 40);
    for source in sources(&name, directory.path()) {
        let (events, found) = searched(&source);
        assert!(found.len() > 200, "{source}: {}", found.len());
        let mut expected = vec![None; events.len()];
        found
            .iter()
            .for_each(|one| expected[one.end] = Some(one.nanos));
        let shown = |events: &[serde_json::Value]| -> Vec<Option<u64>> {
            events
                .iter()
                .map(|event| event["duration"].as_u64())
                .collect()
        };
        assert!(are_close(&shown(&events), &expected), "{source}");
        let mut newest = succeed(&["dump", &source, "--json"]).json();
        newest.reverse();
        let newest = shown(&newest);
        // Newest first, an end without a begin leaves nobody sure of the spans around it.
        let has_stray = |end: usize| {
            let one = found.iter().find(|one| one.end == end).unwrap();
            let mut inside = events[one.begin..end].iter();
            inside.any(|event| {
                event["tid"] == events[end]["tid"] && event["message"] == "end nothing"
            })
        };
        let known = (0..events.len()).map(|end| {
            let is_known = newest[end].is_some() || expected[end].is_some_and(|_| !has_stray(end));
            expected[end].filter(|_| is_known)
        });
        let known: Vec<_> = known.collect();
        assert!(are_close(&newest, &known), "{source}, newest first");
        let missing = known
            .iter()
            .zip(&expected)
            .filter(|(known, all)| known != all);
        assert!(missing.count() <= 18, "{source}, newest first");
    }
}

/// Whether these are the same, but for the nanosecond by which the time of an event of a ring
/// changes when the clocks were looked at again.
fn are_close(shown: &[Option<u64>], expected: &[Option<u64>]) -> bool {
    let is_close = |(one, other): (&Option<u64>, &Option<u64>)| match (one, other) {
        (Some(one), Some(other)) => one.abs_diff(*other) <= 1,
        (None, None) => true,
        _ => false,
    };
    shown.len() == expected.len() && shown.iter().zip(expected).all(is_close)
}

/// What identifies an event, and its duration, of each event that is shown.
fn shown_of(arguments: &[&str]) -> Vec<(String, Option<u64>)> {
    let events = succeed(&[&["dump", "--json"], arguments].concat()).json();
    let identity = |event: &serde_json::Value| {
        format!("{} {} {}", event["ticks"], event["tid"], event["message"])
    };
    let shown = events
        .iter()
        .map(|event| (identity(event), event["duration"].as_u64()));
    shown.collect()
}

/// Compares the durations with and without a filter, in both orders. Returns how many are known.
fn assert_filter_keeps_durations(source: &str, filter: &[&str]) -> usize {
    let exact = shown_of(&[source, "--reverse"]);
    let newest = shown_of(&[source]);
    let mut known = 0;
    for (order, all) in [(&["--reverse"][..], &exact), (&[], &newest)] {
        let shown = shown_of(&[&[source], order, filter].concat());
        let mut rest = all.iter();
        for (event, duration) in &shown {
            // In the same order, all of them are among those without the filter.
            let (_, without) = rest.find(|(other, _)| other == event).expect(event);
            let (_, exact) = exact.iter().find(|(other, _)| other == event).unwrap();
            // Newest first, a shorter list may leave more known.
            let is_expected = match (duration, without) {
                (None, Some(_)) => false,
                (None, None) => true,
                _ => are_close(&[*duration], &[*exact]),
            };
            assert!(
                is_expected,
                "{source} {order:?} {filter:?}: {event} {duration:?}, {exact:?}"
            );
            known += usize::from(duration.is_some());
        }
    }
    known
}

#[test]
fn filters_leave_durations_as_they_are() {
    let (name, directory) = (Name::new("spans-filter"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    log_spans(&tl, 3, 60);
    let events = succeed(&["dump", name.path(), "--json"]).json();
    let middle = &events[events.len() / 2];
    let (time, tid) = (middle["time"].as_str().unwrap(), middle["tid"].to_string());
    let filters: [&[&str]; 8] = [
        &["--event", "engine.end_*"],
        &["--event", "http.finish_*"],
        &["--category", "http"],
        &["--where", "status >= 500"],
        &["--grep", "end app name(firewall)"],
        &["--since", time],
        &["--until", time],
        &["--thread", &tid],
    ];
    for source in sources(&name, directory.path()) {
        for filter in filters {
            let known = assert_filter_keeps_durations(&source, filter);
            assert!(known > 10, "{source} {filter:?}: {known}");
        }
    }
}

#[test]
fn a_dump_from_any_line_says_how_long_spans_took() {
    let (name, directory) = (Name::new("spans-line"), tempfile::tempdir().unwrap());
    let tl = name.create(16384);
    event!(important: true, tl, Priority::Info, "engine", "begin all");
    log_spans(&tl, 3, 100);
    event!(important: true, tl, Priority::Info, "engine", "end all");
    for source in sources(&name, directory.path()) {
        if source.ends_with(".tla") {
            succeed(&["index", &source]);
        }
        let lines = assert_lines_have_durations(&source);
        assert!(lines > 2_000, "{lines}");
    }
}

/// Compares dumps from some lines on with those of all events. Returns how many there are.
fn assert_lines_have_durations(source: &str) -> usize {
    let all = shown_of(&[source, "--reverse"]);
    let lines = all.len();
    for line in [0, 1, 2, lines / 3, lines / 2, lines - 10] {
        let found = shown_of(&[source, "--line", &line.to_string()]);
        let (events, durations): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let (expected, exact): (Vec<_>, Vec<_>) = all[line..].iter().cloned().unzip();
        assert_eq!(events, expected, "{source} {line}");
        assert!(are_close(&durations, &exact), "{source} {line}");
    }
    lines
}

/// A part of an archive: events of two threads in two lanes of its own, with gaps, in blocks of a
/// few events.
fn with_gaps(form: Form, seed: u64, part: u64) -> Vec<u8> {
    let messages = [
        "begin a",
        "end a",
        "begin b",
        "end b",
        "start c $k",
        "finish c $k",
        "other",
    ];
    let (mut random, mut file) = (Random(seed), Vec::new());
    let mut writer = Writer::new(&mut file, 7, form);
    let mut numbers = [0; 2];
    for time in 1..400 {
        let (lane, time) = (random.below(2), 100 * part + time);
        let mut event = RawEvent {
            ticks: Some(8 * time + part),
            unix_nanos: Some(1_000_000 + time),
            lane: Some(2 * part + lane),
            ..RawEvent::default()
        };
        event.args.push(random.below(3) as i64);
        event.thread.tid = Some(100 + random.below(2));
        event.thread.name = Some(writer.string("worker"));
        let message = messages[random.below(messages.len() as u64) as usize];
        event.definition.format = Some(writer.string(message));
        event.definition.category = Some(writer.string("t"));
        event.definition.level = Some(Priority::Info as u64);
        let number = &mut numbers[lane as usize];
        if random.below(40) == 0 {
            *number += 7;
            event.number = Some(*number);
            writer.gap(&event, 7, 0).unwrap();
        }
        event.number = Some(*number);
        *number += 1;
        writer.event(&event).unwrap();
        if random.below(8) == 0 {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    file
}

#[test]
fn filters_hide_no_gap_from_a_duration() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 1..7 {
        for form in [Form::Blocks, Form::Plain] {
            let path = directory.path().join(format!("{seed}-{form:?}.tla"));
            // Of half of them, two parts of the same time.
            let parts = (0..1 + seed % 2).map(|part| with_gaps(form, 10 * seed + part, part));
            std::fs::write(&path, parts.collect::<Vec<_>>().concat()).unwrap();
            let source = path.display().to_string();
            for filter in ["t.*", "t.end_*", "t.end_a", "t.finish_c"] {
                let known = assert_filter_keeps_durations(&source, &["--event", filter]);
                assert!(known > 10, "{source} {filter}: {known}");
            }
            succeed(&["index", &source]);
            assert_lines_have_durations(&source);
        }
    }
}

/// A part of an archive: blocks of events of one thread in a lane. Each event has its time, its
/// message, and whether entries are missing before it.
fn part_of(lane: u64, blocks: &[&[(u64, &str, bool)]]) -> Vec<u8> {
    let (mut file, mut number) = (Vec::new(), 0);
    let mut writer = Writer::new(&mut file, 7, Form::Blocks);
    for block in blocks {
        for (time, message, has_gap) in *block {
            number += if *has_gap { 8 } else { 1 };
            let mut event = RawEvent {
                ticks: Some(*time),
                unix_nanos: Some(1_000_000 + time),
                lane: Some(lane),
                number: Some(number),
                ..RawEvent::default()
            };
            event.thread.tid = Some(100);
            event.thread.name = Some(writer.string("worker"));
            event.definition.format = Some(writer.string(message));
            event.definition.category = Some(writer.string("t"));
            // Only blocks that are large when they are compressed have ranges.
            let any = (time * time).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            event.args.push(any.cast_signed());
            if *has_gap {
                writer.gap(&event, 7, 0).unwrap();
            }
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
    }
    file
}

#[test]
fn what_a_filter_leaves_out_still_tells_of_a_duration() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("flight.tla").display().to_string();
    // A gap in a block that has no begin and no end; and another lane at the same time, in which a
    // span ends around the wanted one.
    let behind: Vec<_> = (2..1_000).map(|time| (time, "x $n", time == 2)).collect();
    let gap = part_of(
        0,
        &[
            &[(1, "begin b", false)],
            &behind,
            &[(1_000, "end b", false)],
        ],
    );
    let around = [
        part_of(
            1,
            &[&[
                (10, "begin a", false),
                (20, "begin b", false),
                (60, "end b", false),
            ]],
        ),
        part_of(2, &[&[(50, "end a", false), (100, "x", false)]]),
    ];
    for file in [gap, around.concat()] {
        std::fs::write(&path, file).unwrap();
        for order in [&[][..], &["--reverse"]] {
            for filter in [&[][..], &["--event", "t.end_b"]] {
                let shown = shown_of(&[&[&*path], order, filter].concat());
                let ends = shown.iter().filter(|(event, _)| event.contains("end b"));
                let known: Vec<_> = ends.map(|(_, duration)| duration).collect();
                assert_eq!(known, [&None], "{order:?} {filter:?}");
            }
        }
    }
}

#[test]
fn a_filter_keeps_the_duration_of_a_span_over_many_blocks() {
    let (name, directory) = (Name::new("spans-long"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 18);
    let define = |message| tl.define("engine", Priority::Info, message).unwrap();
    let [begin, end, start, finish, other] = [
        "begin breath",
        "end breath",
        "start request $id",
        "finish request $id",
        "other $n",
    ]
    .map(define);
    for number in 0..3 {
        tl.log(begin, []);
        tl.log(start, [number]);
        for n in 0..20_000 {
            tl.log(other, [n]);
        }
        tl.log(finish, [number]);
        tl.log(end, []);
    }
    for source in sources(&name, directory.path()) {
        for event in ["engine.end_breath", "engine.finish_request"] {
            for order in [&[][..], &["--reverse"]] {
                let ends = shown_of(&[&[&*source, "--event", event], order].concat());
                assert_eq!(ends.len(), 3, "{source}");
                assert!(
                    ends.iter().all(|(_, known)| known.is_some()),
                    "{source} {ends:?}"
                );
            }
        }
    }
}

#[test]
fn nothing_is_guessed_behind_a_gap() {
    let (name, directory) = (Name::new("spans-gap"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    let begin = tl
        .define("engine", Priority::Info, "begin breath $n")
        .unwrap();
    let end = tl
        .define("engine", Priority::Info, "end breath $n")
        .unwrap();
    let other = tl.define("engine", Priority::Info, "other").unwrap();
    tl.log(begin, [1]);
    for _ in 0..5_000 {
        tl.log(other, []);
    }
    tl.log(end, [1]);
    for n in 2..4 {
        tl.log(begin, [n]);
        tl.log(end, [n]);
    }
    for source in sources(&name, directory.path()) {
        let events = succeed(&["dump", &source, "--json"]).json();
        let ends = events
            .iter()
            .filter(|event| event["message"].as_str().unwrap().contains("end"));
        let known: Vec<_> = ends.map(|event| event["duration"].is_u64()).collect();
        assert_eq!(known, [true, true, false], "{source}");
        for order in [&[][..], &["--reverse"]] {
            let filter = [&["--event", "engine.end_breath"], order].concat();
            let mut ends = shown_of(&[&[&*source], &filter[..]].concat());
            ends.sort_by_key(|(_, duration)| duration.is_none());
            let known: Vec<_> = ends.iter().map(|(_, known)| known.is_some()).collect();
            assert_eq!(known, [true, true, false], "{source} {filter:?}");
        }
        let ran = succeed(&["histogram", &source, "--json"]);
        let said = "timeline: not measured: 1 end without a begin\n";
        assert!(ran.stderr.ends_with(said), "{source}: {}", ran.stderr);
        assert_eq!(ran.json().last().unwrap()["count"], 2, "{source}");
    }
}

#[test]
fn tail_says_how_long_a_span_took() {
    let name = Name::new("spans-tail");
    let tl = name.create(1024);
    event!(tl, Priority::Info, "engine", "begin breath");
    let mut tail = Running::start(&["tail", name.path()]);
    tail.stdout_until("the begin", |lines| lines.len() == 1);
    event!(tl, Priority::Info, "engine", "end breath");
    let lines = tail.stdout_until("the end", |lines| lines.len() == 2);
    assert!(lines[1].contains("end breath took "), "{lines:?}");
    tail.signal(Signal::SIGINT);
    tail.succeed();
}

#[test]
fn tail_of_an_archive_says_how_long_a_span_took_whose_begin_it_does_not_show() {
    let (name, directory) = (Name::new("spans-newest"), tempfile::tempdir().unwrap());
    let tl = name.create(1024);
    for n in 0..5 {
        event!(tl, Priority::Info, "engine", "begin breath {n}", n);
        event!(tl, Priority::Info, "engine", "end breath {n}", n);
    }
    let archive = sources(&name, directory.path()).pop().unwrap();
    let filter = &["-n", "3", "--event", "engine.end_breath"];
    for (options, expected) in [(&["-n", "1"][..], 1), (filter, 3)] {
        let ran = succeed(&[&["tail", &*archive], options].concat());
        let ends = ran
            .stdout
            .lines()
            .filter(|line| line.contains("end breath"));
        let known = ends.clone().filter(|line| line.contains(" took ")).count();
        assert_eq!(known, expected, "{}", ran.stdout);
        assert_eq!(ends.count(), known, "{}", ran.stdout);
    }
}
