//! Tests of the whole index against reading everything: the same lines, always.
//!
//! opening.rs tests opening by the outlines that an index has.

mod opening;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use timeline::dump::Messages;
use timeline::{Event, Order, Source};
use timeline_archive::{Archive, Form, PRINTF, RawEvent, Writer};

use super::page::MOST_EVENTS;
use super::{Candidates, Index, LineNumbers, file};
use crate::{Case, Needle, line_count};

/// An event to be written.
#[derive(Debug, Clone)]
struct Logged {
    /// Which of two rings it is of.
    ring: bool,
    time: u64,
    template: usize,
    text: String,
    is_important: bool,
    /// Whether its block ends behind it.
    ends: bool,
}

const TEMPLATES: [&str; 4] = ["%s", "took %s ms", "Id7%sf", "a\n%s\nKz"];

fn events(texts: &'static str) -> impl Strategy<Value = Vec<Logged>> {
    let event = (
        proptest::bool::weighted(0.1),
        0..400_u64,
        0..TEMPLATES.len(),
        texts,
        proptest::bool::weighted(0.03),
        proptest::bool::weighted(0.1),
    );
    let event = event.prop_map(|(ring, time, template, text, is_important, ends)| Logged {
        ring,
        time,
        template,
        text,
        is_important,
        ends,
    });
    proptest::collection::vec(event, 1..150)
}

/// Writes events behind those of a file, of which `before` were written. Later events have later
/// times, but for a few that are late.
fn append(path: &Path, events: &[Logged], before: usize, form: Form) {
    let mut file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    for ring in [false, true] {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, 7 + u64::from(ring), form);
        for (number, logged) in events.iter().enumerate() {
            if logged.ring != ring {
                continue;
            }
            let number = (before + number) as u64;
            let mut event = RawEvent {
                ticks: Some(100 * number + logged.time * 10),
                unix_nanos: Some(1_000_000 + 50 * number + logged.time * 5),
                lane: Some(number % 2),
                number: Some(number),
                ..RawEvent::default()
            };
            if logged.is_important {
                event.lane = Some(32_768);
            }
            event.definition.syntax = Some(PRINTF);
            event.definition.format = Some(writer.string(TEMPLATES[logged.template]));
            let length = logged.text.len() as u8;
            event.payload = [&[0xd9, length], logged.text.as_bytes()].concat();
            writer.event(&event).unwrap();
            if logged.ends {
                writer.flush().unwrap();
            }
        }
        writer.flush().unwrap();
        file.write_all(&bytes).unwrap();
    }
}

/// The numbers and texts of the messages with a needle.
type Lines = Vec<(u64, String)>;

fn found(
    archive: &Archive,
    needle: &Needle,
    events: impl Iterator<Item = Event>,
    mut numbers: LineNumbers,
) -> Lines {
    let mut messages = Messages::new(archive);
    let mut found = Lines::new();
    for event in events {
        let text = messages.text(&event, archive.definition(event.id));
        let (first, _) = numbers.next(&event, line_count(&text));
        if text.split_terminator('\n').any(|line| needle.is_in(line)) {
            found.push((first, text.into_owned()));
        }
    }
    found
}

fn naive(archive: &Archive, needle: &Needle) -> Lines {
    let events = archive.events_by_time(Order::OldestFirst);
    found(
        archive,
        needle,
        events,
        LineNumbers::new(Order::OldestFirst),
    )
}

/// Searches by index: without numbers, and with numbers in both orders.
fn check(archive: &Archive, index: &mut Index, needle: &Needle) {
    let expected = naive(archive, needle);
    let texts = |lines: &Lines| {
        lines
            .iter()
            .map(|(_, text)| text.clone())
            .collect::<Vec<_>>()
    };
    for (order, context) in [
        (Order::OldestFirst, None),
        (Order::OldestFirst, Some(0)),
        (Order::NewestFirst, Some(0)),
        (Order::OldestFirst, Some(3)),
    ] {
        let rest = archive.events_by_time_where(Order::OldestFirst, index.rest().into());
        let mut candidates = index.candidates(needle, order, context);
        let mut total = [0, index.coverage().lines];
        let mut messages = Messages::new(archive);
        for event in rest {
            let text = messages.text(&event, archive.definition(event.id));
            total[usize::from(!event.important)] += line_count(&text);
        }
        candidates.lines.set_total(total[0], total[0] + total[1]);
        let events = archive.events_by_time_where(order, candidates.selection.into());
        let mut lines = found(archive, needle, events, candidates.lines);
        if order == Order::NewestFirst {
            // Important events come first in each order.
            lines.sort_unstable();
        }
        match context {
            None => assert_eq!(texts(&lines), texts(&expected)),
            Some(_) if order == Order::NewestFirst => {
                let mut expected = expected.clone();
                expected.sort_unstable();
                assert_eq!(lines, expected);
            }
            Some(_) => assert_eq!(lines, expected),
        }
    }
}

/// From each line and from each time on, the same events come.
fn check_lines(archive: &Archive, index: &Index, every: usize) {
    let all = Needle::text("", Case::Sensitive).unwrap();
    let expected = naive(archive, &all);
    let mut messages = Messages::new(archive);
    let rest = archive.events_by_time_where(Order::OldestFirst, index.rest().into());
    let lines = rest.map(|event| {
        let text = messages.text(&event, archive.definition(event.id));
        line_count(&text)
    });
    let rest: u64 = lines.sum();
    let read = |candidates: Candidates| {
        let selection = candidates.selection.into();
        let events = archive.events_by_time_where(Order::OldestFirst, selection);
        found(archive, &all, events, candidates.lines)
    };
    let from_each_line = || {
        for (place, (line, _)) in expected.iter().enumerate().step_by(every) {
            for end in [u64::MAX, line + 1, line + 10] {
                let lines = read(index.lines(*line..end, rest).expect("whole"));
                let from = lines
                    .iter()
                    .position(|(first, _)| first >= line)
                    .expect("it is there");
                let count = expected[place..].partition_point(|(line, _)| *line < end);
                assert_eq!(lines[from..from + count], expected[place..place + count]);
            }
        }
    };
    from_each_line();
    let events = archive.events_by_time(Order::OldestFirst);
    // Those of messages that have no line are not among the expected ones.
    let shown = events.filter(|event| {
        let text = messages.text(event, archive.definition(event.id));
        text.lines().next().is_some()
    });
    let times: Vec<_> = shown.map(|event| event.time.map_or(0, u64::from)).collect();
    for time in times.iter().step_by(every) {
        let lines = read(index.from_time(*time).expect("whole"));
        let is_behind = |(place, _): &(usize, _)| times[*place] >= *time;
        let mut wanted = expected.iter().enumerate().filter(is_behind);
        assert!(wanted.all(|(_, line)| lines.contains(line)), "{time}");
    }
    // Some lines alone: near ones, and such as are far from one another.
    let some: Vec<_> = expected.iter().step_by(every).collect();
    for wanted in some.chunks(3).chain([&some[..]]) {
        let numbers: Vec<u64> = wanted.iter().map(|(line, _)| *line).collect();
        let lines = read(index.at_lines(&numbers, rest).expect("whole"));
        // The first one with such a number, as they are looked for.
        let at = |number: &u64| lines.iter().find(|(line, _)| line >= number);
        assert_eq!(numbers.iter().filter_map(at).collect::<Vec<_>>(), *wanted);
    }
    // All pages are known by now.
    from_each_line();
}

fn needles() -> impl Strategy<Value = (String, bool, bool)> {
    let text = "[ab1\r (AK\u{17f}ö]{1,6}|took [0-9]|7[0-9a-f]{3,9}f|[0-9]{5,12}|(a|Kz)|b+1?a";
    (text, any::<bool>(), any::<bool>())
}

fn needle((text, insensitive, is_regex): &(String, bool, bool)) -> Option<Needle> {
    let case = if *insensitive {
        Case::Insensitive
    } else {
        Case::Sensitive
    };
    match is_regex {
        true => Needle::regex(text, case).ok(),
        false => Needle::text(text, case).ok(),
    }
}

const TEXTS: &str = "[ab1 (\r\nAKs\u{17f}ö]{0,20}|[0-9]{5,12}|[0-9a-f]{4,12}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(25))]

    #[test]
    fn the_same_lines_are_found(
        first in events(TEXTS),
        then in events(TEXTS),
        wanted in proptest::collection::vec(needles(), 8),
        is_plain: bool,
        files in 1..7_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let form = if is_plain { Form::Plain } else { Form::Blocks };
        let path = folder.path().join("000001.tla");
        append(&path, &first, 0, form);
        Index::open(&Archive::open(&path).unwrap()).update(|_| ()).unwrap();
        let mut written = first.len();
        for (file, part) in then.chunks(then.len().div_ceil(files)).enumerate() {
            let second = match files {
                1 => path.clone(),
                _ => folder.path().join(format!("{:06}.tla", 2 + file)),
            };
            append(&second, part, written, form);
            written += part.len();
        }
        let archive = Archive::open(folder.path()).unwrap();
        for is_updated in [false, true] {
            let mut index = Index::open(&archive);
            if is_updated {
                index.update(|_| ()).unwrap();
                prop_assert_eq!(index.coverage().missing, 0);
                // What was written is what is read.
                index = Index::open(&archive);
                prop_assert_eq!(index.coverage().missing, 0);
            }
            for needle in wanted.iter().filter_map(needle) {
                check(&archive, &mut index, &needle);
            }
            check_lines(&archive, &index, 7);
        }
    }

    #[test]
    fn what_is_damaged_or_of_another_archive_is_not_believed(
        own in events(TEXTS),
        other in events(TEXTS),
        wanted in proptest::collection::vec(needles(), 4),
        at: usize,
        bit in 0..8_u32,
        harm in 0..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.tla");
        append(&path, &own, 0, Form::Blocks);
        let archive = Archive::open(&path).unwrap();
        Index::open(&archive).update(|_| ()).unwrap();
        let beside = file::path_of(&path);
        // Important events alone are not indexed.
        prop_assume!(beside.exists());
        let mut bytes = fs::read(&beside).unwrap();
        let at = at % bytes.len();
        match harm {
            0 => bytes[at] ^= 1 << bit,
            1 => bytes.truncate(at),
            2 => bytes.extend_from_within(at..),
            _ => {
                let path = folder.path().join("other.tla");
                append(&path, &other, 0, Form::Blocks);
                Index::open(&Archive::open(&path).unwrap()).update(|_| ()).unwrap();
                bytes = fs::read(file::path_of(&path)).unwrap();
            }
        }
        fs::write(&beside, bytes).unwrap();
        for is_again in [false, true] {
            let mut index = Index::open(&archive);
            for needle in wanted.iter().filter_map(needle) {
                check(&archive, &mut index, &needle);
            }
            index.update(|_| ()).unwrap();
            prop_assert_eq!(index.coverage().missing, 0);
            prop_assert!(!is_again || !index.is_damaged());
        }
    }
}

/// An archive of one event, and the place of its index.
fn small(folder: &Path, text: &str) -> (PathBuf, PathBuf) {
    let path = folder.join("flight.tla");
    let logged = Logged {
        ring: false,
        time: 0,
        template: 1,
        text: text.into(),
        is_important: false,
        ends: true,
    };
    append(&path, &[logged], 0, Form::Blocks);
    let beside = file::path_of(&path);
    (path, beside)
}

fn count(archive: &Archive, needle: &str) -> usize {
    let needle = Needle::text(needle, Case::Smart).unwrap();
    let mut index = Index::open(archive);
    let candidates = index.candidates(&needle, Order::OldestFirst, None);
    let selection = candidates.selection.into();
    let events = archive.events_by_time_where(Order::OldestFirst, selection);
    found(archive, &needle, events, candidates.lines).len()
}

#[test]
fn few_events_are_read_for_few_lines() {
    const EVENTS: usize = 20_000;
    // What two pages of an index may hold.
    const FEW: usize = 2 * MOST_EVENTS;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla");
    let one = Logged {
        ring: false,
        time: 0,
        template: 1,
        text: "12".into(),
        is_important: false,
        ends: false,
    };
    append(&path, &vec![one; EVENTS], 0, Form::Blocks);
    let archive = Archive::open(&path).unwrap();
    Index::open(&archive).update(|_| ()).unwrap();
    let count = |candidates: Option<Candidates>| {
        let selection = candidates.expect("whole").selection.into();
        archive
            .events_by_time_where(Order::OldestFirst, selection)
            .count()
    };
    for line in [0, 700, EVENTS / 2, EVENTS - 10] {
        let lines = line as u64..line as u64 + 10;
        let rest = EVENTS - line;
        let time = 1_000_000 + 50 * line as u64;
        for is_laid in [false, true] {
            let index = Index::open(&archive);
            if is_laid {
                index.at_lines(&[0], 0).expect("whole");
            }
            assert!((10..=FEW).contains(&count(index.lines(lines.clone(), 0))));
            assert!((1..=FEW).contains(&count(index.at_lines(&[lines.start], 0))));
            let behind = rest..rest + FEW;
            assert!(behind.contains(&count(index.lines(lines.start..u64::MAX, 0))));
            assert!(behind.contains(&count(index.from_time(time))));
        }
    }
}

#[test]
fn an_archive_that_was_replaced_by_a_similar_one_is_indexed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = small(folder.path(), "12");
    let before = fs::metadata(&path).unwrap().len();
    Index::open(&Archive::open(&path).unwrap())
        .update(|_| ())
        .unwrap();
    fs::remove_file(&path).unwrap();
    small(folder.path(), "34");
    assert_eq!(fs::metadata(&path).unwrap().len(), before);
    let archive = Archive::open(&path).unwrap();
    assert_eq!(Index::open(&archive).coverage().lines, 0);
    assert_eq!(count(&archive, "34"), 1);
}

#[test]
fn an_index_of_messages_that_were_lost_is_made_again_when_they_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["1.tla", "2.tla"].map(|name| folder.path().join(name));
    let (mut of_events, mut of_strings) = (Vec::new(), Vec::new());
    let mut strings = Writer::new(&mut of_strings, 7, Form::Blocks);
    let mut event = RawEvent {
        ticks: Some(1),
        args: vec![12],
        ..RawEvent::default()
    };
    event.definition.format = Some(strings.string("gentle $wind"));
    strings.flush().unwrap();
    let mut writer = Writer::new(&mut of_events, 7, Form::Blocks);
    writer.event(&event).unwrap();
    writer.flush().unwrap();
    drop((writer, strings));
    fs::write(&first, of_events).unwrap();
    Index::open(&Archive::open(&first).unwrap())
        .update(|_| ())
        .unwrap();
    fs::write(&second, of_strings).unwrap();
    let archive = Archive::open(folder.path()).unwrap();
    assert_eq!(count(&archive, "gentle wind(12)"), 1);
}

#[test]
fn a_file_that_is_no_index_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = small(folder.path(), "12");
    let archive = Archive::open(&path).unwrap();
    fs::write(&beside, "notes").unwrap();
    assert!(Index::open(&archive).update(|_| ()).is_err());
    assert_eq!(fs::read(&beside).unwrap(), b"notes");
    fs::remove_file(&beside).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &beside).unwrap();
    assert!(Index::open(&archive).update(|_| ()).is_err());
    assert_eq!(fs::read(&elsewhere).unwrap(), b"");
}

#[test]
fn an_index_is_closed_to_others_when_its_archive_is() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = small(folder.path(), "12");
    let close = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    close(0o644);
    Index::open(&Archive::open(&path).unwrap())
        .update(|_| ())
        .unwrap();
    close(0o600);
    small(folder.path(), "34");
    Index::open(&Archive::open(&path).unwrap())
        .update(|_| ())
        .unwrap();
    assert_eq!(
        fs::metadata(&beside).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn an_index_that_others_can_write_is_not_believed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = small(folder.path(), "12");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let archive = Archive::open(&path).unwrap();
    let mut index = Index::open(&archive);
    index.update(|_| ()).unwrap();
    assert_eq!(index.coverage().lines, 1);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&beside), 0o644);
    assert_eq!(Index::open(&archive).coverage().lines, 1);
    let elsewhere = folder.path().join("elsewhere");
    fs::hard_link(&beside, &elsewhere).unwrap();
    assert_eq!(Index::open(&archive).coverage().lines, 0);
    fs::remove_file(&elsewhere).unwrap();
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(Index::open(&archive).coverage().lines, 0);
    assert!(Index::open(&archive).update(|_| ()).is_err());
}
