//! Parts that the arguments of several verbs share.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use timeline::{Error, Level, Priority, Rules};

/// An example in `--help`: its purpose, and its command line.
pub type Example = (&'static str, &'static str);

fn levels() -> impl Iterator<Item = &'static str> {
    let names = Priority::ALL.map(Priority::name);
    names.into_iter().chain(["all", "none"])
}

/// Parses a level, offering all of them in the help, in errors and to the shell.
pub fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(levels()).try_map(|name| name.parse())
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
