//! Takes a line of a log apart.

use super::error::Flaw;
use super::seconds;

/// What a line says. Times are in nanoseconds, and not yet related to BaseTime.
#[derive(Debug, PartialEq)]
pub enum IntervalLine<'a> {
    Blank,
    Legend,
    /// What is behind the `#`.
    Comment(&'a str),
    StartTime(i64),
    BaseTime(i64),
    Interval {
        tag: Option<&'a str>,
        start: i64,
        length: i64,
        histogram: &'a str,
    },
}

impl IntervalLine<'_> {
    pub fn parse(line: &str) -> Result<IntervalLine<'_>, Flaw> {
        let line = line.trim_end_matches(['\r', '\n']);
        if let Some(comment) = line.strip_prefix('#') {
            return comment_of(comment);
        }
        if line.trim().is_empty() {
            return Ok(IntervalLine::Blank);
        }
        if line.starts_with("\"StartTimestamp\"") || line.starts_with("\"Timestamp\"") {
            return Ok(IntervalLine::Legend);
        }
        interval_of(line)
    }
}

fn comment_of(comment: &str) -> Result<IntervalLine<'_>, Flaw> {
    if let Some(rest) = comment.strip_prefix("[StartTime:") {
        return Ok(IntervalLine::StartTime(seconds::parse(
            "StartTime",
            first(rest),
        )?));
    }
    if let Some(rest) = comment.strip_prefix("[BaseTime:") {
        return Ok(IntervalLine::BaseTime(seconds::parse(
            "BaseTime",
            first(rest),
        )?));
    }
    Ok(IntervalLine::Comment(comment))
}

/// The number behind the colon.
fn first(rest: &str) -> &str {
    let ends = |c: char| [' ', ',', ']', '('].contains(&c);
    rest.trim_start().split(ends).next().unwrap_or("")
}

fn interval_of(line: &str) -> Result<IntervalLine<'_>, Flaw> {
    let mut fields = line
        .split([',', ' '])
        .filter(|field| !field.is_empty())
        .peekable();
    let tag = fields.peek().and_then(|field| field.strip_prefix("Tag="));
    if tag.is_some() {
        fields.next();
    }
    let (Some(start), Some(length), Some(max), Some(histogram)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        let found = line
            .split([',', ' '])
            .filter(|field| !field.is_empty())
            .count();
        let found = found - usize::from(tag.is_some());
        return Err(Flaw::Fields { found });
    };
    let more = fields.count();
    if more > 0 {
        return Err(Flaw::Fields { found: 4 + more });
    }
    let start = seconds::parse("the start of an interval", start)?;
    let length = seconds::parse("the length of an interval", length)?;
    if length < 0 {
        return Err(Flaw::Seconds {
            field: "a length of 0 or more",
            found: seconds::format(length),
        });
    }
    // The histogram says it again, and it is in any unit. But what is no number shows damage.
    if max.parse::<f64>().is_err() {
        return Err(Flaw::Maximum {
            found: max.chars().take(40).collect(),
        });
    }
    Ok(IntervalLine::Interval {
        tag,
        start,
        length,
        histogram,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_kind_of_line_is_told_apart() {
        let second = 1_000_000_000;
        for (text, line) in [
            ("", IntervalLine::Blank),
            ("  \r\n", IntervalLine::Blank),
            ("#", IntervalLine::Comment("")),
            (
                "#[Histogram log format version 1.3]",
                IntervalLine::Comment("[Histogram log format version 1.3]"),
            ),
            ("# StartTime: 5", IntervalLine::Comment(" StartTime: 5")),
            (
                "\"StartTimestamp\",\"Interval_Length\"",
                IntervalLine::Legend,
            ),
            (
                "#[StartTime: 1500000040.000 (seconds since epoch), Fri Jul 14]\r",
                IntervalLine::StartTime(1_500_000_040 * second),
            ),
            ("#[StartTime:7]", IntervalLine::StartTime(7 * second)),
            (
                "#[BaseTime: 1500003640.5 (seconds since epoch)]",
                IntervalLine::BaseTime(1_500_003_640_500_000_000),
            ),
            (
                "1020.000,60.000,4.2,HISTF",
                IntervalLine::Interval {
                    tag: None,
                    start: 1020 * second,
                    length: 60 * second,
                    histogram: "HISTF",
                },
            ),
            (
                "Tag=a=b,0.127 1.007,2.769, HISTF\n",
                IntervalLine::Interval {
                    tag: Some("a=b"),
                    start: 127_000_000,
                    length: 1_007_000_000,
                    histogram: "HISTF",
                },
            ),
        ] {
            assert_eq!(IntervalLine::parse(text), Ok(line), "{text:?}");
        }
    }

    #[test]
    fn errors_say_what_was_expected_and_what_came() {
        for (text, said) in [
            ("0.1,1.0,2.0", "got 3 fields"),
            ("Tag=x,0.1,1.0,2.0", "got 3 fields"),
            ("0.1,1.0,2.0,H,5", "got 5 fields"),
            (
                "x,1.0,2.0,H",
                "expected the start of an interval in seconds, got \"x\"",
            ),
            (
                "0.1,x,2.0,H",
                "expected the length of an interval in seconds, got \"x\"",
            ),
            ("0.1,-1,2.0,H", "got \"-1.000\""),
            ("0.1,1,x,H", "expected a maximum, a number, got \"x\""),
            (
                "#[StartTime: soon]",
                "expected StartTime in seconds, got \"soon\"",
            ),
            ("#[BaseTime: ]", "expected BaseTime in seconds, got \"\""),
        ] {
            let flaw = IntervalLine::parse(text).unwrap_err().to_string();
            assert!(flaw.contains(said), "{text:?}: {flaw}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_line_or_an_error(text in ".{0,80}") {
            let _ = IntervalLine::parse(&text);
        }
    }
}
