//! Parts that the arguments of several verbs share.

use std::ffi::OsStr;
use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use timeline::dump::printable;
use timeline::{Error, Level, Priority, Rules};
use timeline_search::priorities;

/// An example in `--help`: its purpose, and its command line.
pub type Example = (&'static str, &'static str);

/// All whole numbers that are not negative.
pub const ANY: RangeInclusive<u64> = 0..=u64::MAX;

/// Parses a whole number of this range.
pub fn number<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| {
                let (least, text) = (range.start(), printable(text));
                let most = match *range.end() {
                    u64::MAX => "on".into(),
                    most => format!("to {most}"),
                };
                format!("expected a whole number from {least} {most}, got {text}")
            })
    }
}

fn levels() -> impl Iterator<Item = &'static str> {
    let names = Priority::ALL.map(Priority::name);
    names.into_iter().chain(["all", "none"])
}

/// Parses a level, offering all of them in the help, in errors and to the shell.
pub fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(levels()).try_map(|name| name.parse())
}

/// Parses a range of priorities, and offers them to the shell.
#[derive(Clone)]
pub struct PrioritiesParser;

impl TypedValueParser for PrioritiesParser {
    type Value = RangeInclusive<Priority>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<RangeInclusive<Priority>, clap::Error> {
        priorities.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = Priority::ALL.map(Priority::name);
        Some(Box::new(names.into_iter().map(PossibleValue::new)))
    }
}

/// Parses rules about which events are logged, offering all levels.
#[derive(Clone)]
pub struct RulesParser;

impl TypedValueParser for RulesParser {
    type Value = Rules;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Rules, clap::Error> {
        // They may begin with a `-`, as an option does that is misspelt.
        let text = value.to_string_lossy();
        if text.starts_with("--") || (text.starts_with('-') && text.chars().count() == 2) {
            let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(command);
            error.insert(ContextKind::InvalidArg, ContextValue::String(text.into()));
            return Err(error);
        }
        let parse = |text: &str| {
            text.parse::<Rules>()
                .map_err(|error: Error| error.to_string())
        };
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(levels().map(PossibleValue::new)))
    }
}
