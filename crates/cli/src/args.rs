//! Parts that the arguments of several verbs share.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use timeline::{Level, Priority, Rules};

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
        let parse = |text: &str| text.parse::<Rules>();
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(levels().map(PossibleValue::new)))
    }
}
