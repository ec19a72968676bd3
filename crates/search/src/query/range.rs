//! Reads ranges of priorities and of numbers.

use std::ops::RangeInclusive;

use timeline::Priority;

use crate::error::{Error, Result};

/// Reads a priority or a range of them: `info`, `..info` (error, warning and info), `trace..`,
/// `warning..trace`. Both ends belong to the range.
///
/// # Errors
/// `Priorities`.
///
/// # Example
/// ```
/// use timeline::Priority;
/// let range = timeline_search::priorities("..info")?;
/// assert!(range.contains(&Priority::Error) && !range.contains(&Priority::Trace));
/// # Ok::<(), timeline_search::Error>(())
/// ```
pub fn priorities(text: &str) -> Result<RangeInclusive<Priority>> {
    let wrong = || Error::Priorities { found: text.into() };
    let named = |name: &str, otherwise| match name {
        "" => Ok(otherwise),
        name => name.parse().map_err(|_| wrong()),
    };
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    if text.is_empty() {
        return Err(wrong());
    }
    let range = named(first, Priority::Error)?..=named(last, Priority::Library)?;
    match range.is_empty() {
        true => Err(reversed(text, "..")),
        false => Ok(range),
    }
}

/// The error for a range whose end is before its beginning.
fn reversed(found: &str, sign: &str) -> Error {
    let (first, last) = found.split_once(sign).unwrap_or((found, found));
    Error::Reversed {
        found: found.into(),
        meant: format!("{last}{sign}{first}"),
    }
}

/// Reads numbers as the kernel lists cores: `3`, `0-3`, `0-3,8`.
///
/// # Errors
/// `Numbers`.
///
/// # Example
/// ```
/// assert_eq!(timeline_search::numbers("0-3,8")?, [0..=3, 8..=8]);
/// # Ok::<(), timeline_search::Error>(())
/// ```
pub fn numbers(text: &str) -> Result<Vec<RangeInclusive<u32>>> {
    let number = |word: &str| {
        let wrong = |_| Error::Numbers { found: text.into() };
        word.parse::<u32>().map_err(wrong)
    };
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let range = number(first)?..=number(last)?;
        match range.is_empty() {
            true => Err(reversed(word, "-")),
            false => Ok(range),
        }
    };
    text.split(',').map(|word| range(word.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_priorities() {
        use Priority::{Error, Info, Library, Trace, Warning};
        for (text, range) in [
            ("info", Info..=Info),
            ("..info", Error..=Info),
            ("trace..", Trace..=Library),
            ("warning..trace", Warning..=Trace),
            ("..", Error..=Library),
        ] {
            assert_eq!(priorities(text), Ok(range), "{text}");
        }
        for text in ["", "loud", "info..error", "info-error", "..loud", "all"] {
            assert!(priorities(text).is_err(), "{text}");
        }
        let told = priorities("info..error").unwrap_err().to_string();
        let expected = "the range info..error is reversed; did you mean error..info?";
        assert_eq!(told, expected);
        for (text, end) in [
            ("debug..", "did you mean trace?"),
            ("..INFO", "did you mean info?"),
            ("loud", "got \"loud\""),
        ] {
            let told = priorities(text).unwrap_err().to_string();
            assert!(told.ends_with(end), "{told}");
        }
    }

    #[test]
    fn lists_of_numbers() {
        assert_eq!(numbers("7"), Ok(vec![7..=7]));
        assert_eq!(numbers("0-3, 8,10-10"), Ok(vec![0..=3, 8..=8, 10..=10]));
        for text in ["", ",", "1,", "3-1", "-1", "a", "1-2-3", "4294967296"] {
            assert!(numbers(text).is_err(), "{text}");
        }
        let told = numbers("7,3-1").unwrap_err().to_string();
        assert_eq!(told, "the range 3-1 is reversed; did you mean 1-3?");
    }
}
