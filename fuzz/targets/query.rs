//! What people write to say which events they want.

use std::sync::OnceLock;

use jiff::Zoned;
use jiff::tz::TimeZone;
use timeline::Order;
use timeline_archive::Archive;
use timeline_search::{Case, Expression, Needle, Query, moment, numbers, priorities};

use super::{part_of, sample};

/// Most bytes of a pattern: the time to compile one grows with it.
const PATTERN: usize = 200;

/// Checks, of which a fuzzer makes one for each input.
const PARTS: [fn(&str); 6] = [
    times_and_numbers,
    category,
    condition,
    |text| needles(text, Case::Smart),
    |text| needles(text, Case::Insensitive),
    |text| needles(text, Case::Sensitive),
];

/// Reads the text as each of them. What can be read is asked about events.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for part in PARTS {
        part(&text);
    }
}

/// Reads the text as one of them.
pub fn run_part(bytes: &[u8]) {
    PARTS[part_of(bytes, PARTS.len())](&String::from_utf8_lossy(bytes));
}

fn archive() -> &'static Archive {
    static ARCHIVE: OnceLock<Archive> = OnceLock::new();
    ARCHIVE.get_or_init(|| Archive::from_bytes(sample::archive()))
}

/// How many events a query wants.
fn count(query: &Query) -> usize {
    let mut filter = query.on(archive());
    let events = archive().events_by_time(Order::OldestFirst);
    events.filter(|event| filter.matches(event)).count()
}

/// All events.
fn all() -> usize {
    static ALL: OnceLock<usize> = OnceLock::new();
    *ALL.get_or_init(|| count(&Query::default()))
}

fn times_and_numbers(text: &str) {
    let now = Zoned::new(jiff::Timestamp::UNIX_EPOCH, TimeZone::UTC);
    let _ = moment(text, &now);
    let _ = numbers(text);
    if let Ok(priorities) = priorities(text) {
        let query = Query {
            priorities: Some(priorities),
            ..Query::default()
        };
        assert!(count(&query) <= all());
    }
}

fn category(text: &str) {
    let query = Query {
        categories: vec![text.chars().take(PATTERN).collect()],
        ..Query::default()
    };
    assert!(count(&query) <= all());
}

fn condition(text: &str) {
    let Ok(expression) = Expression::parse(text) else {
        return;
    };
    let met = |expressions| {
        count(&Query {
            expressions,
            ..Query::default()
        })
    };
    let once = met(vec![expression.clone()]);
    assert!(once <= all());
    let twice = met(vec![expression.clone(), expression]);
    assert_eq!(twice, once, "what is true twice is true once");
}

fn needles(text: &str, case: Case) {
    let pattern: String = text.chars().take(PATTERN).collect();
    let needles = [Needle::text(&pattern, case), Needle::regex(&pattern, case)];
    for needle in needles.into_iter().flatten() {
        let query = Query {
            texts: vec![needle],
            ..Query::default()
        };
        assert!(count(&query) <= all());
    }
}
