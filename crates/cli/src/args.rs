//! Parts that the arguments of several verbs share.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use timeline::{Level, Priority};

/// An example in `--help`: its purpose, and its command line.
pub type Example = (&'static str, &'static str);

/// Parses a level, offering all of them in the help, in errors and to the shell.
pub fn level() -> impl TypedValueParser<Value = Level> {
    let names = Priority::ALL.map(Priority::name);
    PossibleValuesParser::new(names.into_iter().chain(["all", "none"])).try_map(|name| name.parse())
}
