//! The verbs of the command, each with its arguments.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use crate::target::Target;
use crate::{
    channel, demo, dump, events, export, generate, histogram, import, index, info, list, outliers,
    priority, record, repair, rm, sample, save, search, serve, stats, tail, verify, watch,
};

/// Makes `Verb`. It differs from what `#[derive(Subcommand)]` would make in one thing: the
/// arguments of a verb are made when they are needed, not those of all verbs at each start.
macro_rules! verbs {
    ($($name:literal $verb:ident($args:ty),)*) => {
        /// One variant per verb.
        pub enum Verb {
            $($verb($args),)*
        }

        impl Subcommand for Verb {
            fn augment_subcommands(command: Command) -> Command {
                command$(.subcommand(Command::new($name).defer(<$args>::augment_args)))*
            }

            fn augment_subcommands_for_update(command: Command) -> Command {
                Verb::augment_subcommands(command)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }

        impl FromArgMatches for Verb {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Verb, Error> {
                match matches.subcommand() {
                    $(Some(($name, matches)) => {
                        <$args>::from_arg_matches(matches).map(Verb::$verb)
                    })*
                    _ => Err(Error::new(ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
                *self = Verb::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

verbs! {
    "list" List(list::Args),
    "info" Info(info::Args),
    "dump" Dump(dump::Args),
    "tail" Tail(tail::Args),
    "search" Search(search::Args),
    "index" Index(index::Args),
    "stats" Stats(stats::Args),
    "events" Events(events::Args),
    "histogram" Histogram(Box<histogram::Args>),
    "outliers" Outliers(outliers::Args),
    "serve" Serve(serve::Args),
    "save" Save(save::Args),
    "record" Record(record::Args),
    "import" Import(import::Args),
    "export" Export(export::Args),
    "verify" Verify(verify::Args),
    "repair" Repair(repair::Args),
    "priority" Priority(priority::Args),
    "enable" Enable(priority::EnableArgs),
    "disable" Disable(priority::DisableArgs),
    "channel" Channel(channel::Args),
    "sample" Sample(sample::Args),
    "watch" Watch(watch::Args),
    "rm" Rm(rm::Args),
    "demo" Demo(demo::Args),
    "generate" Generate(generate::Args),
}

impl Verb {
    /// The timeline of the verb. It can be omitted if there is only one.
    pub fn target(&mut self) -> Option<(&'static str, &mut Target)> {
        match self {
            Verb::Info(args) => Some(("info", &mut args.target)),
            Verb::Dump(args) => Some(("dump", &mut args.target)),
            Verb::Tail(args) => Some(("tail", &mut args.target)),
            Verb::Events(args) if args.check.is_none() => Some(("events", &mut args.target)),
            Verb::Stats(args) => Some(("stats", &mut args.target)),
            Verb::Histogram(args) => Some(("histogram", &mut args.target)),
            Verb::Outliers(args) => Some(("outliers", &mut args.target)),
            Verb::Save(args) => Some(("save", &mut args.target)),
            Verb::Record(args) => Some(("record", &mut args.target)),
            Verb::Export(args) => Some(("export", &mut args.target)),
            Verb::Priority(args) => Some(("priority", args.target())),
            Verb::Enable(args) => Some(("enable", args.names.target())),
            Verb::Disable(args) => Some(("disable", args.names.target())),
            Verb::Channel(args) => Some(("channel", args.target())),
            Verb::Sample(args) => Some(("sample", &mut args.target)),
            Verb::Watch(args) => Some(("watch", &mut args.target)),
            _ => None,
        }
    }
}
