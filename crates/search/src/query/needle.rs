//! A text or regular expression that a line must have.

use regex::{Regex, RegexBuilder};

use crate::error::{Error, Result};

/// Whether `a` finds `A`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Only if the wanted text has no capital letter.
    #[default]
    Smart,
    /// Always.
    Insensitive,
    /// Never.
    Sensitive,
}

/// A text or regular expression that a line must have.
#[derive(Debug, Clone)]
pub struct Needle {
    regex: Regex,
    /// The text, unless it is a regular expression, and what finds it in bytes.
    text: Option<(String, regex::bytes::Regex)>,
    insensitive: bool,
}

impl Needle {
    /// A text as it stands.
    ///
    /// # Errors
    /// `Regex`, if it is longer than some megabytes.
    pub fn text(text: &str, case: Case) -> Result<Needle> {
        let has_capital = text.chars().any(char::is_uppercase);
        let needle = Needle::new(&regex::escape(text), has_capital, case)?;
        let in_bytes = regex::bytes::RegexBuilder::new(needle.pattern())
            .case_insensitive(needle.insensitive)
            .build();
        let in_bytes = in_bytes.map_err(|error| unreadable(needle.pattern(), &error))?;
        Ok(Needle {
            text: Some((text.into(), in_bytes)),
            ..needle
        })
    }

    /// A regular expression, in the syntax of the crate `regex`: it matches anywhere in a line.
    ///
    /// # Errors
    /// `Regex`.
    pub fn regex(pattern: &str, case: Case) -> Result<Needle> {
        Needle::new(pattern, has_capital(pattern), case)
    }

    fn new(pattern: &str, has_capital: bool, case: Case) -> Result<Needle> {
        let insensitive = match case {
            Case::Smart => !has_capital,
            Case::Insensitive => true,
            Case::Sensitive => false,
        };
        Ok(Needle {
            regex: compile(pattern, insensitive)?,
            text: None,
            insensitive,
        })
    }

    /// The regular expression that finds it.
    pub fn pattern(&self) -> &str {
        self.regex.as_str()
    }

    /// The text, unless it is a regular expression.
    pub(crate) fn as_text(&self) -> Option<&str> {
        self.text.as_ref().map(|(text, _)| &text[..])
    }

    /// Whether these bytes may have the text. They need not be UTF-8.
    pub(crate) fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        (self.text.as_ref()).is_none_or(|(_, in_bytes)| in_bytes.is_match(bytes))
    }

    /// Whether `a` finds `A`.
    pub fn is_insensitive(&self) -> bool {
        self.insensitive
    }

    /// Whether a line has it.
    pub fn is_in(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// Where a line has it: the matches, one behind the other.
    pub fn places(&self, line: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.regex.find_iter(line).map(|found| found.range())
    }
}

/// Compiles a regular expression. A match may not be longer than a line.
pub fn compile(pattern: &str, insensitive: bool) -> Result<Regex> {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(insensitive)
        .build();
    built.map_err(|error| unreadable(pattern, &error))
}

fn unreadable(pattern: &str, error: &regex::Error) -> Error {
    let reason = match error {
        // Behind a drawing of the place, in a line by itself.
        regex::Error::Syntax(text) => text.lines().last().unwrap_or_default(),
        _ => "it is too large",
    };
    Error::Regex {
        pattern: pattern.into(),
        reason: reason.trim_start_matches("error: ").into(),
    }
}

/// Whether a pattern asks for a capital letter. One behind a backslash, as in `\S`, does not count.
fn has_capital(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_smart() {
        for (pattern, line, smart, insensitive, sensitive) in [
            ("eth0", "link ETH0 up", true, true, false),
            ("eth0", "link eth0 up", true, true, true),
            ("ETH0", "link eth0 up", false, true, false),
            ("straße", "STRASSE", false, false, false),
            ("größe", "GRÖSSE GRÖßE", true, true, false),
            (r"c:\T", r"C:\t", false, true, false),
        ] {
            for (case, expected) in [
                (Case::Smart, smart),
                (Case::Insensitive, insensitive),
                (Case::Sensitive, sensitive),
            ] {
                let needle = Needle::text(pattern, case).unwrap();
                assert_eq!(needle.is_in(line), expected, "{pattern} {line} {case:?}");
            }
        }
    }

    #[test]
    fn a_text_is_no_regular_expression() {
        assert!(!Needle::text("a.c", Case::Smart).unwrap().is_in("abc"));
        assert!(Needle::regex("a.c", Case::Smart).unwrap().is_in("ABC"));
        // A class is no capital letter.
        assert!(Needle::regex(r"a\Sc", Case::Smart).unwrap().is_in("ABC"));
        let error = Needle::regex("a(", Case::Smart).unwrap_err().to_string();
        assert_eq!(error, r#""a(" is no regular expression: unclosed group"#);
    }

    #[test]
    fn places_are_those_of_all_matches() {
        let needle = Needle::text("aa", Case::Smart).unwrap();
        let places: Vec<_> = needle.places("aaaaaAA").collect();
        assert_eq!(places, [0..2, 2..4, 4..6]);
    }
}
