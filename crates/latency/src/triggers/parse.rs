//! Reads conditions: `span engine.breath > 1ms`, `rate(net.got) > 1000/s` and so on.

use jiff::SignedDuration;
use timeline_search::{Expression, Query};

use super::error::{Error, Result};
use super::kind::{Comparison, ConditionKind, Limit, Percentile};
use crate::spans::Measure;

/// What a condition may begin with.
const KINDS: &str = "span NAME > TIME, p99(NAME) > TIME, max(NAME) > TIME, rate(EVENT) > 1000/s, \
                     event EVENT where CONDITION, or missing EVENT for TIME";

/// The window of rates and percentiles, if none is given.
const WINDOW: u64 = 1_000_000_000;
/// A shorter one would be judged more often than anybody looks.
const SHORTEST_WINDOW: u64 = 1_000_000;

/// Reads a condition.
pub fn condition(text: &str) -> Result<ConditionKind> {
    let mut text = Text { whole: text, text };
    text.skip();
    let start = text;
    let (word, is_quoted) = text.word(KINDS)?;
    match word.as_str() {
        _ if is_quoted => Err(start.unexpected(KINDS)),
        "span" => span(&mut text),
        "event" => event(&mut text),
        "missing" => missing(&mut text),
        "rate" => rate(&mut text),
        "max" => window_of_spans(&mut text, Percentile::Longest),
        other => match percentile(other) {
            Some(percentile) => window_of_spans(&mut text, percentile),
            None => Err(start.unexpected(KINDS)),
        },
    }
}

/// `p99` or `p99.9`.
fn percentile(word: &str) -> Option<Percentile> {
    let number = word.strip_prefix('p')?;
    let is_decimal = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: f64 = number.parse().ok().filter(|_| is_decimal)?;
    (number > 0.0 && number <= 100.0).then_some(Percentile::Of(number))
}

fn span(text: &mut Text) -> Result<ConditionKind> {
    let measure = measure(text)?;
    let comparison = text.comparison()?;
    let value = text.rest_as_duration("a time", 0)?;
    Ok(ConditionKind::Span {
        measure,
        limit: Limit { comparison, value },
    })
}

fn window_of_spans(text: &mut Text, percentile: Percentile) -> Result<ConditionKind> {
    text.sign("(", "( and the name of a span")?;
    // As in `span NAME > TIME`.
    let before = *text;
    let is_span = matches!(text.word(""), Ok((word, false)) if word == "span");
    if !is_span || text.peeks(",") || text.peeks(")") || text.peeks("..") {
        *text = before;
    }
    let measure = measure(text)?;
    let window = window(text)?;
    let comparison = text.comparison()?;
    let value = text.rest_as_duration("a time", 0)?;
    Ok(ConditionKind::Percentile {
        measure,
        percentile,
        window,
        limit: Limit { comparison, value },
    })
}

fn rate(text: &mut Text) -> Result<ConditionKind> {
    text.sign("(", "( and the name of an event")?;
    let events = text.name("the name of an event")?;
    let window = window(text)?;
    let comparison = text.comparison()?;
    let value = text.rest_as_rate()?;
    Ok(ConditionKind::Rate {
        events,
        window,
        limit: Limit { comparison, value },
    })
}

fn event(text: &mut Text) -> Result<ConditionKind> {
    let mut query = Query {
        events: vec![text.name("the name of an event")?],
        ..Query::default()
    };
    text.skip();
    if !text.text.is_empty() {
        text.keyword("where", "where, or the end")?;
        let expression = Expression::parse(text.text.trim()).map_err(Error::Where)?;
        query.expressions.push(expression);
    }
    Ok(ConditionKind::Event(query))
}

fn missing(text: &mut Text) -> Result<ConditionKind> {
    let events = text.name("the name of an event")?;
    text.keyword("for", "for and a time")?;
    let time = text.rest_as_duration("a time above zero", 1)?;
    Ok(ConditionKind::Missing { events, time })
}

/// `NAME`, `FROM..TO` or `FROM..TO by FIELD`.
fn measure(text: &mut Text) -> Result<Measure> {
    const EXPECTED: &str = "the name of a span, or two events as FIRST..LAST";
    let start = *text;
    let (word, is_quoted) = text.word(EXPECTED)?;
    let (from, to) = match word.split_once("..").filter(|_| !is_quoted) {
        Some((from, "")) => (from.to_owned(), text.name("the name of the last event")?),
        Some((from, to)) => (from.to_owned(), to.to_owned()),
        None if text.text.starts_with("..") => {
            text.text = &text.text[2..];
            (word, text.name("the name of the last event")?)
        }
        None => return Ok(Measure::Spans(word)),
    };
    if from.is_empty() || to.is_empty() {
        return Err(start.unexpected(EXPECTED));
    }
    let mut key = None;
    if text.peeks("by") {
        text.keyword("by", "by and the name of a field")?;
        let field = text.name("the name of a field")?;
        key = Some(field.strip_prefix('$').unwrap_or(&field).to_owned());
    }
    Ok(Measure::Between { from, to, key })
}

/// `, 1s)` or `)`.
fn window(text: &mut Text) -> Result<u64> {
    let mut window = WINDOW;
    if text.peeks(",") {
        text.sign(",", ", and a time")?;
        let end = text.text.find(')').unwrap_or(text.text.len());
        let (inside, rest) = text.text.split_at(end);
        let expected = "a time of at least 1ms";
        window = text.duration(inside, expected, SHORTEST_WINDOW)?;
        text.text = rest;
    }
    text.sign(")", ") or a comma and a time")?;
    Ok(window)
}

/// What is left of a condition.
#[derive(Clone, Copy)]
struct Text<'a> {
    whole: &'a str,
    text: &'a str,
}

impl<'a> Text<'a> {
    fn skip(&mut self) {
        self.text = self.text.trim_start();
    }

    /// Which character of the condition the rest begins with.
    fn at(&self) -> usize {
        let before = &self.whole[..self.whole.len() - self.text.len()];
        before.chars().count() + 1
    }

    fn unexpected(mut self, expected: &'static str) -> Error {
        self.skip();
        let word = self.text.split_whitespace().next();
        Error::Syntax {
            expected,
            found: word.unwrap_or("the end").to_owned(),
            at: self.at(),
        }
    }

    /// Whether this comes next.
    fn peeks(&mut self, sign: &str) -> bool {
        self.skip();
        self.text.starts_with(sign)
    }

    /// The next word, or text in quotes, and whether it had quotes.
    fn word(&mut self, expected: &'static str) -> Result<(String, bool)> {
        self.skip();
        let quote = self.text.chars().next().filter(|c| "\"'".contains(*c));
        if let Some(quote) = quote {
            let inside = &self.text[1..];
            let Some(end) = inside.find(quote).filter(|end| *end > 0) else {
                return Err(self.unexpected(expected));
            };
            self.text = &inside[end + 1..];
            return Ok((inside[..end].to_owned(), true));
        }
        let is_end = |c: char| c.is_whitespace() || "<>=!,()\"'".contains(c);
        let end = self.text.find(is_end).unwrap_or(self.text.len());
        if end == 0 {
            return Err(self.unexpected(expected));
        }
        let (word, rest) = self.text.split_at(end);
        self.text = rest;
        Ok((word.to_owned(), false))
    }

    fn name(&mut self, expected: &'static str) -> Result<String> {
        self.word(expected).map(|(word, _)| word)
    }

    fn keyword(&mut self, keyword: &str, expected: &'static str) -> Result<()> {
        let before = *self;
        match self.word(expected)? {
            (word, false) if word == keyword => Ok(()),
            _ => Err(before.unexpected(expected)),
        }
    }

    fn sign(&mut self, sign: &str, expected: &'static str) -> Result<()> {
        if !self.peeks(sign) {
            return Err(self.unexpected(expected));
        }
        self.text = &self.text[sign.len()..];
        Ok(())
    }

    fn comparison(&mut self) -> Result<Comparison> {
        for (sign, comparison) in [
            (">=", Comparison::AtLeast),
            ("<=", Comparison::AtMost),
            (">", Comparison::Greater),
            ("<", Comparison::Less),
        ] {
            if self.peeks(sign) {
                self.text = &self.text[sign.len()..];
                return Ok(comparison);
            }
        }
        Err(self.unexpected(">, >=, < or <="))
    }

    fn rest_as_duration(&mut self, expected: &'static str, least: u64) -> Result<u64> {
        self.duration(self.text, expected, least)
    }

    /// `part`, which comes next, as nanoseconds.
    fn duration(&mut self, part: &str, expected: &'static str, least: u64) -> Result<u64> {
        self.skip();
        let part = part.trim();
        let parsed: Option<SignedDuration> = part.parse().ok();
        let nanos = parsed.and_then(|duration| u64::try_from(duration.as_nanos()).ok());
        nanos
            .filter(|nanos| *nanos >= least)
            .ok_or_else(|| Error::Duration {
                expected,
                found: or_end(part),
                at: self.at(),
            })
    }

    /// `1000/s` as a number in a second.
    fn rest_as_rate(&mut self) -> Result<f64> {
        self.skip();
        let read = |text: &str| {
            let (number, unit) = text.split_once('/')?;
            let seconds = match unit.trim() {
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
            let number = number.trim();
            let (number, scale) = match number.strip_suffix(['k', 'M', 'G']) {
                Some(digits) if number.ends_with('k') => (digits, 1e3),
                Some(digits) if number.ends_with('M') => (digits, 1e6),
                Some(digits) => (digits, 1e9),
                None => (number, 1.0),
            };
            let digits = number.trim().replace('_', "");
            let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
            let number: f64 = digits.parse().ok().filter(|_| is_number)?;
            Some(number * scale / seconds).filter(|rate| rate.is_finite())
        };
        read(self.text).ok_or_else(|| Error::Rate {
            found: or_end(self.text.trim()),
            at: self.at(),
        })
    }
}

fn or_end(text: &str) -> String {
    match text {
        "" => "the end".into(),
        text => text.into(),
    }
}
