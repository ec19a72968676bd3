//! Conditions on the values of events: `bytes > 1500 && tcp == 10 || name ~ "eth"`.

use std::fmt;
use std::str::FromStr;

use super::condition::QueryCondition;
use super::parse;
use crate::error::{Error, Result};

/// A condition on the values of an event.
///
/// A field is named as in the message, with or without its `$`; `$0` and so on are the values by
/// position. It is compared with `==` (or `=`), `!=`, `<`, `<=`, `>` and `>=` to a number, a text
/// in quotes, `true`, `false`, or another field. `~` and `!~` ask whether a regular expression
/// matches the value as it is shown. A field by itself asks whether it is there, and neither
/// false, nor 0, nor empty. `&&` (`and`) binds closer than `||` (`or`); `!` (`not`) and
/// parentheses do as usual.
///
/// A field named `and`, `or`, `not`, `true` or `false`, or whose name begins with a digit, needs
/// its `$`. Of several fields of one name, the first counts.
///
/// Numbers may have units of sizes and times: `1.5KiB`, `10ms`. One with a fraction is rounded as
/// an `f32` is that it is compared with: `ratio == 0.1` is true where `0.1` is shown. An enum is
/// equal to its number or to each of its names, and flags to each name that is set, or to their
/// number. A `char` is equal to its character or its number. A `time` is compared with the text of
/// a time.
///
/// Of an array, one element is enough. Two arrays are compared as two texts: by the first elements
/// that differ. A text or an array that was cut is greater than what is left of it; a comparison is
/// false if what was cut off would decide it.
///
/// A comparison is false if the event has no such field, if it is `NULL`, and if the two cannot be
/// compared, such as a text and a number, or `nan` and any number; also one by `!=` or `!~`.
///
/// An event without a definition, or whose message was lost, has values by position only, as signed
/// integers.
///
/// # Example
/// ```
/// use timeline_search::Expression;
/// assert!(Expression::parse("bytes > 1.5KiB && name ~ \"^eth\"").is_ok());
/// let error = Expression::parse("bytes >").unwrap_err().to_string();
/// assert_eq!(error, "expected a field or a value at character 8, got the end");
/// ```
#[derive(Debug, Clone)]
pub struct Expression {
    pub(super) root: QueryCondition,
    text: String,
}

impl Expression {
    /// Reads an expression. Texts that are times are those of the system's time zone.
    ///
    /// # Errors
    /// `Expression`, `TooDeep`, `Unit`, `Regex`.
    pub fn parse(text: &str) -> Result<Expression> {
        Ok(Expression {
            root: parse::expression(text)?,
            text: text.into(),
        })
    }

    /// The fields that it names, some perhaps several times.
    pub fn fields(&self) -> Vec<&str> {
        let mut fields = Vec::new();
        self.root.fields(&mut fields);
        fields
    }

    /// The fields that it compares with a text, and these.
    pub(super) fn texts(&self) -> Vec<(&str, &str)> {
        let mut texts = Vec::new();
        self.root.texts(&mut texts);
        texts
    }
}

impl FromStr for Expression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Expression> {
        Expression::parse(text)
    }
}

/// As it was written.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
