//! What a person selects at the start of a program: `itv,-bbc:packet,engine=info`.

use std::str::FromStr;

use super::channels::{Switch, channel_name};
use super::{Level, Rules};
use crate::error::Error;

/// Channels to switch, and behind a colon rules: `itv,-bbc:info,engine=packet`. A `-` switches a
/// channel off. Either part may be missing, and the colon if there are no rules. An empty text
/// selects nothing. A level in the place of a channel is the level: `info` is `:info`.
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
        let channels = words(channels).filter(|word| Level::named(word).is_none());
        let level = Selection::level_among_channels(text).map(Rules::from);
        let rules: Option<Rules> = rules.map(str::parse).transpose()?;
        Ok(Selection {
            channels: channels
                .map(|word| channel(refuse_shouted(word)?))
                .collect::<Result<_, Error>>()?,
            rules: match (level, rules) {
                (Some(mut level), Some(rules)) => {
                    level.add(&rules);
                    Some(level)
                }
                (level, rules) => level.or(rules),
            },
        })
    }
}

impl Selection {
    /// The level that a selection has in the place of a channel; the last one, if there are more.
    pub(crate) fn level_among_channels(text: &str) -> Option<Level> {
        words(text.split(':').next()?)
            .filter_map(Level::named)
            .last()
    }
}

/// The words between commas; none of a text without any.
fn words(channels: &str) -> impl Iterator<Item = &str> {
    let is_empty = channels.trim().is_empty();
    channels
        .split(',')
        .map(str::trim)
        .filter(move |_| !is_empty)
}

/// An error for a level in capitals, which would name a channel that no event has.
fn refuse_shouted(word: &str) -> Result<&str, Error> {
    match Level::named(&word.to_ascii_lowercase()) {
        None => Ok(word),
        Some(_) => Err(Error::BadLevel {
            found: word.to_owned(),
        }),
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
            // A level is no channel, but may be its name if somebody says so.
            ("info", &[], Some("info")),
            ("all", &[], Some("all")),
            ("itv, info", &[("itv", true)], Some("info")),
            ("info,none:a=all", &[], Some("none,a=all")),
            ("info:packet", &[], Some("packet")),
            ("-info", &[("info", false)], None),
            ("information", &[("information", true)], None),
        ] {
            assert_eq!(read(text), Ok(selection(channels, rules)), "{text}");
        }
        for text in [
            ",", "itv,", "itv:,", "::", "itv:loud", "a b", "info=itv", "INFO",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
