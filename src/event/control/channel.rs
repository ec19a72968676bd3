//! The names of channels, and those of an event.

use crate::error::{Error, Result};

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Whether it is on.
    pub on: bool,
    /// Whether somebody switched it on or off. If not, it is as its definition says.
    pub switched: bool,
}

/// A name of a channel, and on or off.
pub type Switch = (String, bool);

/// The most bytes of a name.
pub(crate) const LONGEST_NAME: usize = 32;

/// Reads a name of a channel.
pub fn channel_name(name: &str) -> Result<String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let is_short = (1..=LONGEST_NAME).contains(&name.len());
    if is_short && !name.starts_with('-') && name.chars().all(is_good) {
        return Ok(name.to_owned());
    }
    Err(Error::BadChannel {
        found: name.to_owned(),
    })
}

/// Reads the channels of an event, such as `itv|bbc=on`; which of them are on if nobody asks
/// otherwise.
pub fn channels_of_event(text: &str) -> Result<Vec<Switch>> {
    let words = text.split('|').map(str::trim).filter(|_| !text.is_empty());
    let read = |word: &str| match word.strip_suffix("=on") {
        Some(name) => Ok((channel_name(name)?, true)),
        None => Ok((channel_name(word)?, false)),
    };
    words.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_events_are_read() {
        let read = |text| channels_of_event(text).map_err(|error| error.to_string());
        let switch = |name: &str, on| (name.to_owned(), on);
        assert_eq!(read(""), Ok(vec![]));
        assert_eq!(
            read("itv | b-b.c=on"),
            Ok(vec![switch("itv", false), switch("b-b.c", true)])
        );
        for (text, found) in [
            ("itv|", "\"\""),
            ("-itv", "\"-itv\""),
            ("a,b", "\"a,b\""),
            ("itv=off", "\"itv=off\""),
            ("größe", "\"größe\""),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(found), "{error}");
        }
        assert!(channel_name(&"x".repeat(32)).is_ok() && channel_name(&"x".repeat(33)).is_err());
    }
}
