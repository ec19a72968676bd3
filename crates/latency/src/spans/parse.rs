//! Reads from a text which durations are wanted.

use thiserror::Error;

use super::measure::Measure;

/// A text that says nothing to be measured.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "expected a span (engine.breath), two events (engine.got..engine.sent, perhaps with `by \
     FIELD`) or `every EVENT`, got {text:?}"
)]
pub struct NoMeasure {
    /// The text.
    text: String,
}

impl Measure {
    /// Reads what is measured: `engine.breath` (a span), `a..b` (from one event to another of the
    /// same thread), `a..b by field` (with the same value in a field), or `every a`.
    ///
    /// # Errors
    /// If the text is none of these.
    ///
    /// # Example
    /// ```
    /// use timeline_latency::Measure;
    /// assert_eq!(Measure::parse("engine.*")?, Measure::Spans("engine.*".into()));
    /// assert_eq!(Measure::parse("every a.b")?, Measure::Every("a.b".into()));
    /// assert_eq!(
    ///     Measure::parse("a.b .. a.c by id")?,
    ///     Measure::Between { from: "a.b".into(), to: "a.c".into(), key: Some("id".into()) }
    /// );
    /// assert!(Measure::parse("two words").is_err());
    /// # Ok::<(), timeline_latency::NoMeasure>(())
    /// ```
    pub fn parse(text: &str) -> Result<Measure, NoMeasure> {
        let read = || {
            let text = text.trim();
            let (names, key) = match text.rsplit_once(" by ") {
                Some((names, key)) => (names, Some(one_word(key)?)),
                None => (text, None),
            };
            if let Some((from, to)) = names.split_once("..") {
                return Some(Measure::Between {
                    from: one_word(from)?,
                    to: one_word(to)?,
                    key,
                });
            }
            match (names.strip_prefix("every "), key) {
                (Some(event), None) => Some(Measure::Every(one_word(event)?)),
                (None, None) => Some(Measure::Spans(one_word(names)?)),
                _ => None,
            }
        };
        read().ok_or_else(|| NoMeasure { text: text.into() })
    }
}

fn one_word(text: &str) -> Option<String> {
    let word = text.trim();
    let is_one = !word.is_empty() && !word.contains(char::is_whitespace);
    is_one.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_measure_is_refused() {
        for text in [
            "",
            " ",
            "a b",
            "..",
            "a..",
            "..b",
            "a..b by",
            "a..b by c d",
            "a by b",
            "every a by b",
            "every a b",
        ] {
            let error = Measure::parse(text).expect_err(text).to_string();
            assert!(error.ends_with(&format!("got {text:?}")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_was_read_is_named_as_it_was_written(text in "[ab.*]{0,4}(\\.\\.)?[ab*]{1,3}") {
            if let Ok(measure) = Measure::parse(&text) {
                prop_assert_eq!(measure.name(), text);
            }
        }

        #[test]
        fn no_text_does_any_harm(text in ".*") {
            let _ = Measure::parse(&text);
        }
    }
}
