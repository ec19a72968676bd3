//! What people write to say which events they want.

use std::sync::OnceLock;

use jiff::Zoned;
use jiff::tz::TimeZone;
use timeline::Order;
use timeline_archive::Archive;
use timeline_search::{Case, Expression, Needle, Query, moment, numbers, priorities};

use super::sample;

/// Most bytes of a pattern: the time to compile one grows with it.
const PATTERN: usize = 200;

/// Reads the text as each of them. What can be read is asked about events.
pub fn run(bytes: &[u8]) {
    static ARCHIVE: OnceLock<Vec<u8>> = OnceLock::new();
    let text = String::from_utf8_lossy(bytes);
    let now = Zoned::new(jiff::Timestamp::UNIX_EPOCH, TimeZone::UTC);
    let _ = moment(&text, &now);
    let _ = numbers(&text);
    let mut query = Query {
        priorities: priorities(&text).ok(),
        categories: vec![text.chars().take(PATTERN).collect()],
        ..Query::default()
    };
    let archive = Archive::from_bytes(ARCHIVE.get_or_init(sample::archive).clone());
    let count = |query: &Query| {
        let mut filter = query.on(&archive);
        let events = archive.events_by_time(Order::OldestFirst);
        events.filter(|event| filter.matches(event)).count()
    };
    count(&query);
    query.categories.clear();
    query.priorities = None;
    let all = count(&query);
    if let Ok(expression) = Expression::parse(&text) {
        query.expressions = vec![expression.clone()];
        let met = count(&query);
        // What is true twice is true once.
        query.expressions = vec![expression.clone(), expression];
        assert_eq!(count(&query), met);
        assert!(met <= all);
        query.expressions.clear();
    }
    let pattern: String = text.chars().take(PATTERN).collect();
    for case in [Case::Smart, Case::Insensitive, Case::Sensitive] {
        let needles = [Needle::text(&pattern, case), Needle::regex(&pattern, case)];
        for needle in needles.into_iter().flatten() {
            query.texts = vec![needle];
            assert!(count(&query) <= all);
        }
    }
}
