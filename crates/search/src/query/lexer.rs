//! Takes the text of a condition apart into tokens.

use crate::error::{Error, Result};

/// A part of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A name of a field, or a word such as `and`.
    Word(String),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// A text, without its quotes.
    Text(String),
    /// `==`, `(` and so on.
    Sign(&'static str),
    /// Nothing follows.
    End,
}

/// A token, and the character it begins with, counted from 1.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedToken {
    pub token: Token,
    pub at: usize,
    /// As it was written.
    pub text: String,
}

/// The longer ones first.
const SIGNS: [&str; 14] = [
    "==", "!=", "<=", ">=", "&&", "||", "!~", "=", "<", ">", "~", "!", "(", ")",
];

/// Units of sizes, in bytes, and of times, in nanoseconds.
const UNITS: [(&str, i128); 18] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
/// The same for messages.
pub const KNOWN_UNITS: &str = "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, ns, us, µs, ms, s, min, m, h";

/// All tokens, and the end.
pub fn tokens(text: &str) -> Result<Vec<PlacedToken>> {
    let mut tokens = Vec::new();
    let (mut rest, mut at) = (text, 1);
    loop {
        let space = rest.len() - rest.trim_start().len();
        at += rest[..space].chars().count();
        rest = &rest[space..];
        let (token, length) = first(text, rest)?;
        let is_end = token == Token::End;
        let (own, behind) = rest.split_at(length);
        tokens.push(PlacedToken {
            token,
            at,
            text: own.into(),
        });
        if is_end {
            return Ok(tokens);
        }
        at += own.chars().count();
        rest = behind;
    }
}

/// Which character of `text` its end `rest` begins with.
fn character(text: &str, rest: &str) -> usize {
    text[..text.len() - rest.len()].chars().count() + 1
}

/// The first token, and how many bytes it takes.
fn first(text: &str, rest: &str) -> Result<(Token, usize)> {
    let Some(c) = rest.chars().next() else {
        return Ok((Token::End, 0));
    };
    if c == '"' || c == '\'' {
        return quoted(text, rest, c);
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    let negative = c == '-' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if c.is_ascii_digit() || negative {
        return number(text, rest);
    }
    let word = &rest[usize::from(c == '$')..];
    if let Some(quote) = word.chars().next().filter(|c| "\"'".contains(*c)) {
        let (token, length) = quoted(text, word, quote)?;
        let name = match token {
            Token::Text(name) => Token::Word(name),
            other => other,
        };
        return Ok((name, length + 1));
    }
    let end = end_of_name(word);
    if end == 0 {
        return Err(Error::Expression {
            expected: "a field, a number, a text in quotes or a comparison",
            found: c.into(),
            at: character(text, rest),
        });
    }
    // `$0` is a name as well: the first value of a message without names.
    Ok((
        Token::Word(word[..end].into()),
        rest.len() - word.len() + end,
    ))
}

/// The length of a name, whose parts have a dot between them: `user.id`.
fn end_of_name(word: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &word[end..];
        end += rest.find(|c| !is_in_name(c)).unwrap_or(rest.len());
        match word[end..].strip_prefix('.') {
            Some(behind) if end > 0 && behind.starts_with(is_in_name) => end += 1,
            _ => return end,
        }
    }
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A text in quotes. A backslash makes the next character one of the text.
fn quoted(text: &str, rest: &str, quote: char) -> Result<(Token, usize)> {
    let mut inside = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Ok((Token::Text(inside), at + 1)),
            // Before any other character it stays, for regular expressions.
            '\\' => match chars.next() {
                Some((_, next)) if next == quote || next == '\\' => inside.push(next),
                Some((_, next)) => inside.extend(['\\', next]),
                None => break,
            },
            c => inside.push(c),
        }
    }
    Err(Error::Expression {
        expected: "a quote at the end of a text",
        found: "the end".into(),
        at: character(text, &rest[rest.len()..]),
    })
}

/// A number with its unit: `-5`, `0x1f`, `1.5KiB`, `10ms`, `1e9`.
fn number(text: &str, rest: &str) -> Result<(Token, usize)> {
    let wrong = |length: usize| Error::Expression {
        expected: "a number",
        found: rest[..length].into(),
        at: character(text, rest),
    };
    let sign = usize::from(rest.starts_with('-'));
    let word = |from: usize| {
        let end = rest[from..].find(|c: char| !is_in_name(c));
        end.map_or(rest.len(), |end| from + end)
    };
    if rest[sign..].starts_with("0x") {
        let end = word(sign);
        let value = i128::from_str_radix(&rest[sign + 2..end].replace('_', ""), 16);
        let value = value.map_err(|_| wrong(end))?;
        return Ok((Token::Integer(if sign > 0 { -value } else { value }), end));
    }
    let is_digit = |c: char| c.is_ascii_digit() || c == '_';
    let digits = |from: usize| {
        let end = rest[from..].find(|c: char| !is_digit(c));
        end.map_or(rest.len(), |end| from + end)
    };
    let mut end = digits(sign);
    if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        end = digits(end + 1);
    }
    if let Some(exponent) = rest[end..].strip_prefix(['e', 'E']) {
        let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if signed.starts_with(|c: char| c.is_ascii_digit()) {
            end = digits(rest.len() - signed.len());
        }
    }
    let value = rest[..end].replace('_', "");
    let whole = word(end);
    let unit = match &rest[end..whole] {
        "" => 1,
        unit => unit_named(unit).ok_or_else(|| Error::Unit {
            unit: unit.into(),
            at: character(text, &rest[end..]),
            known: KNOWN_UNITS,
        })?,
    };
    let token = scaled(&value, unit).ok_or_else(|| wrong(whole))?;
    Ok((token, whole))
}

/// Whether a word is a unit, or else differs from one by capitals only; `None` if neither.
pub fn unit_like(word: &str) -> Option<bool> {
    let is_like = |(unit, _): &&(&str, i128)| unit.to_lowercase() == word.to_lowercase();
    let is_unit = unit_named(word).is_some();
    (is_unit || UNITS.iter().any(|unit| is_like(&unit))).then_some(is_unit)
}

fn unit_named(name: &str) -> Option<i128> {
    let found = UNITS.iter().find(|(unit, _)| *unit == name);
    found.map(|(_, value)| *value)
}

/// A decimal number of units: exact if that is a whole number.
fn scaled(decimal: &str, unit: i128) -> Option<Token> {
    let exact = || {
        let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
        if fraction.len() > 18 {
            return None;
        }
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let tenths = 10_i128.pow(fraction.len() as u32);
        let value = digits.checked_mul(unit)?;
        (value % tenths == 0).then_some(Token::Integer(value / tenths))
    };
    exact().or_else(|| {
        let value: f64 = decimal.parse().ok()?;
        let value = value * unit as f64;
        value.is_finite().then_some(Token::Float(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token> {
        tokens(text)
            .unwrap()
            .into_iter()
            .map(|placed| placed.token)
            .collect()
    }

    #[test]
    fn tokens_of_a_condition() {
        let word = |name: &str| Token::Word(name.into());
        assert_eq!(
            all("bytes>=1.5KiB&&!($ok or $0!='it''s')"),
            [
                word("bytes"),
                Token::Sign(">="),
                Token::Integer(1536),
                Token::Sign("&&"),
                Token::Sign("!"),
                Token::Sign("("),
                word("ok"),
                word("or"),
                word("0"),
                Token::Sign("!="),
                Token::Text("it".into()),
                Token::Text("s".into()),
                Token::Sign(")"),
                Token::End
            ]
        );
    }

    #[test]
    fn names_have_parts_and_quotes() {
        let word = |name: &str| Token::Word(name.into());
        assert_eq!(
            all("user.id>$a.b&&$'x-y'=$\"and\""),
            [
                word("user.id"),
                Token::Sign(">"),
                word("a.b"),
                Token::Sign("&&"),
                word("x-y"),
                Token::Sign("="),
                word("and"),
                Token::End
            ]
        );
        assert!(tokens("a. > 1").is_err());
        assert!(tokens("$.a").is_err());
    }

    #[test]
    fn numbers_have_units() {
        for (text, token) in [
            ("-5", Token::Integer(-5)),
            ("1_000", Token::Integer(1000)),
            ("0x1f", Token::Integer(31)),
            ("-0x10", Token::Integer(-16)),
            ("10ms", Token::Integer(10_000_000)),
            ("1.5us", Token::Integer(1500)),
            ("2MB", Token::Integer(2_000_000)),
            ("0.5", Token::Float(0.5)),
            ("1.25ns", Token::Float(1.25)),
            ("1e3", Token::Float(1000.0)),
            ("2.5e-1", Token::Float(0.25)),
            ("18446744073709551615", Token::Integer(u64::MAX.into())),
        ] {
            assert_eq!(all(text), [token, Token::End], "{text}");
        }
    }

    #[test]
    fn mistakes_say_where_they_are() {
        for (text, expected) in [
            ("bytes > 5x", "x at character 10 is no unit: expected B, kB"),
            (
                "ß ? 1",
                "expected a field, a number, a text in quotes or a comparison at character 3",
            ),
            (
                "name ~ \"eth",
                "expected a quote at the end of a text at character 12, got the end",
            ),
            ("a == 0xfg", "expected a number at character 6, got 0xfg"),
            ("$", "at character 1, got $"),
        ] {
            let error = tokens(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_backslash_is_for_quotes_and_itself() {
        assert_eq!(all(r#""a\"\\\d""#)[0], Token::Text(r#"a"\\d"#.into()));
    }
}
