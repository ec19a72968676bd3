//! No text that a person gives has a reader of conditions panic or hang.

use jiff::Zoned;
use proptest::prelude::*;
use timeline::{Event, Order};
use timeline_search::{Case, Expression, Needle, Query, moment, numbers, priorities};

use super::made::Made;
use crate::support::{Name, Random};

/// What conditions are made of, and what is nearly so.
const TOKENS: &str = r#"and|or|not|true|false|[a-c]|\$[a-z0-9]{0,3}|\$18446744073709551615|\(|\)|==
    |=|!=|<|<=|>|>=|~|!~|!|&&|\|\||&|-|\+|\.|,|_|0x[0-9a-f]{1,40}|-?[0-9]{1,45}(\.[0-9]{0,30})?
    |[0-9]e[+-]?[0-9]{1,5}|(kB|KiB|TiB|ns|ms|h|min|µs|x)|"[^"]{0,8}"|'[^']{0,8}'|"|'|\\
    |"(\(|\)|a|\*|\+|\?|\{9{1,4}\}|\[|\]|\^|\||\\[pP]L|.){0,8}"|\PC| |\n"#;
/// The same for times.
const TIMES: &str = r"now|today|yesterday|ago|@|-|\+|:|T|Z| |\.|[0-9]{1,22}|9223372036854775808
    |[smhdwy]|days?|weeks?|years?|months?|ns|2026-11-23|14:03|24:00|-009999|9999-12-31|\[UTC\]|\PC";

/// A regular expression of the parts in a text of several lines.
fn parts(text: &str, most: usize) -> impl Strategy<Value = String> + use<> {
    let joined: String = text.lines().map(str::trim_start).collect();
    // A space is one that is in a line, and not what begins it.
    prop::string::string_regex(&format!("({joined}){{0,{most}}}")).unwrap()
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => any::<String>(),
        4 => parts(TOKENS, 24),
        2 => parts(TIMES, 8),
    ]
}

/// Reads a text as everything that it may be.
fn read(text: &str, now: &Zoned) -> Option<Expression> {
    let _ = (moment(text, now), numbers(text), priorities(text));
    for case in [Case::Smart, Case::Insensitive, Case::Sensitive] {
        for needle in [Needle::regex(text, case), Needle::text(text, case)] {
            let Ok(needle) = needle else { continue };
            let line = format!("a line with {text} in it, größer");
            assert_eq!(needle.is_in(&line), needle.places(&line).next().is_some());
        }
    }
    match Expression::parse(text) {
        Ok(expression) => Some(expression),
        Err(error) => {
            // One line, whatever was given.
            assert!(!error.to_string().contains('\n'), "{error}");
            None
        }
    }
}

#[test]
fn any_text_is_read_or_refused_and_asks_about_any_event() {
    let name = Name::new("texts");
    Made::log(&mut Random(super::seed()), &name);
    let at = name.attach();
    let events: Vec<Event> = at.events(Order::OldestFirst).take(40).collect();
    let now = "2026-11-23T14:03:07.5[UTC]".parse::<Zoned>().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(400)
    });
    let ran = runner.run(&any_text(), |text| {
        let read = read(&text, &now);
        if let Some(expression) = read {
            let query = Query {
                expressions: vec![expression],
                ..Query::default()
            };
            let mut filter = query.on(&at);
            let found = events.iter().filter(|event| filter.matches(event)).count();
            prop_assert!(found <= events.len());
        }
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn a_long_text_is_read_in_a_time_of_its_length() {
    let count = 200_000;
    let long = |part: &str| vec![part; count].join(" || ");
    assert!(Expression::parse(&long("a == 1")).is_ok());
    assert!(Expression::parse(&long("ö ? 1")).is_err());
    assert!(Expression::parse(&"(a) ".repeat(count)).is_err());
    assert!(numbers(&"1,".repeat(count)).is_err());
    assert!(moment(&"1h".repeat(count), &Zoned::now()).is_err());
}
