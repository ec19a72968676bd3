//! What a person selects at the start of a program: `itv,-bbc:packet,engine=info`.

use std::str::FromStr;

use super::Rules;
use super::channels::{Switch, channel_name};
use crate::error::Error;

/// Channels to switch, and behind a colon rules: `itv,-bbc:info,engine=packet`. A `-` switches a
/// channel off. Either part may be missing, and the colon if there are no rules. An empty text
/// selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// The channels, and whether each is switched on.
    pub channels: Vec<Switch>,
    /// The rules; none if nothing stands behind the colon.
    pub rules: Option<Rules>,
}

impl FromStr for Selection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Selection, Error> {
        let (channels, rules) = match text.split_once(':') {
            Some((channels, rules)) => (channels, Some(rules).filter(|r| !r.trim().is_empty())),
            None => (text, None),
        };
        let channel = |word: &str| match word.strip_prefix('-') {
            Some(name) => Ok((channel_name(name)?, false)),
            None => Ok((channel_name(word)?, true)),
        };
        let is_empty = channels.trim().is_empty();
        let words = channels.split(',').map(str::trim).filter(|_| !is_empty);
        Ok(Selection {
            channels: words.map(channel).collect::<Result<_, Error>>()?,
            rules: rules.map(str::parse).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_rules_are_told_apart() {
        let read = |text: &str| text.parse::<Selection>().map_err(|error| error.to_string());
        let selection = |channels: &[(&str, bool)], rules: Option<&str>| Selection {
            channels: channels
                .iter()
                .map(|(n, on)| (n.to_string(), *on))
                .collect(),
            rules: rules.map(|rules| rules.parse().expect("rules")),
        };
        for (text, channels, rules) in [
            ("", &[][..], None),
            (" ", &[], None),
            ("itv", &[("itv", true)], None),
            ("itv, -bbc", &[("itv", true), ("bbc", false)], None),
            ("itv:packet", &[("itv", true)], Some("packet")),
            (":packet", &[], Some("packet")),
            ("-itv: ", &[("itv", false)], None),
            (":", &[], None),
            ("itv:info,a::b=all", &[("itv", true)], Some("info,a::b=all")),
        ] {
            assert_eq!(read(text), Ok(selection(channels, rules)), "{text}");
        }
        for text in [",", "itv,", "itv:,", "::", "itv:loud", "a b", "info=itv"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
