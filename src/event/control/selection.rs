//! What a person selects at the start of a program: `itv,-bbc:packet,engine=info`.

use std::str::FromStr;

use crate::error::Error;
use crate::event::control::channel::{Switch, channel_name};
use crate::event::control::rules::Rules;
use crate::event::definitions::priority::{Level, Priority};
use crate::event::names::nearest::nearest;

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
        if let Some(found) = words(channels).find(|word| is_rule(word)) {
            return Err(Error::RuleAmongChannels {
                found: found.to_owned(),
                expected: with_colon(channels, rules),
            });
        }
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

    /// The channels that may be meant for levels, and the levels that are like them. There are none
    /// if a colon tells channels and rules apart.
    pub(crate) fn levels_like_channels(text: &str) -> Vec<(&str, &'static str)> {
        let is_clear = text.contains(':');
        let words = words(text).filter(|word| !is_clear && Level::named(word).is_none());
        let names = || Priority::ALL.map(Priority::name).into_iter();
        let like = |word| Some((word, *nearest(word, names().chain(["none"])).first()?));
        words.filter_map(like).collect()
    }
}

/// Whether a word can only be meant for a rule: no channel has such a name.
fn is_rule(word: &str) -> bool {
    word.contains('=') || word.starts_with('+')
}

/// A selection whose levels and rules among the channels stand behind the colon.
fn with_colon(channels: &str, rules: Option<&str>) -> String {
    let is_behind = |word: &&str| is_rule(word) || Level::named(word).is_some();
    let (behind, before): (Vec<&str>, Vec<&str>) = words(channels).partition(is_behind);
    let behind = behind.into_iter().chain(rules);
    format!(
        "{}:{}",
        before.join(","),
        behind.collect::<Vec<_>>().join(",")
    )
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
        Some(_) => Err(Level::bad(word)),
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
        for (text, meant) in [
            ("info,net=packet", "as in :info,net=packet"),
            ("itv,net=packet:+a.b", "as in itv:net=packet,+a.b"),
            ("+a.b,-bbc", "as in -bbc:+a.b"),
        ] {
            let told = read(text).expect_err(text);
            assert!(told.ends_with(meant), "{text}: {told}");
        }
    }

    #[test]
    fn channels_that_are_like_levels_are_told() {
        let like = Selection::levels_like_channels;
        assert_eq!(like("inof"), [("inof", "info")]);
        assert_eq!(like("itv,pakcet"), [("pakcet", "packet")]);
        for text in ["itv", "info", "inof:", "a:inof", "", "-inof"] {
            assert_eq!(like(text), [], "{text}");
        }
    }
}
