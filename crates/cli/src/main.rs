//! The `timeline` command: parses its command line and calls one module for each verb.

mod args;
mod channel;
mod columns;
mod command;
mod demo;
mod dump;
mod durations;
mod events;
mod export;
mod failure;
mod filters;
mod format;
mod generate;
mod growth;
mod health;
mod histogram;
mod import;
mod index;
mod indexing;
mod info;
mod json;
mod list;
mod misspelt;
mod outliers;
mod output;
mod pager;
mod permission;
mod priority;
mod programs;
mod raised_level;
mod reading;
mod record;
mod recovery;
mod repair;
mod restart;
mod rm;
mod sample;
mod save;
mod search;
mod serve;
mod signals;
mod stats;
mod style;
mod tail;
mod target;
mod text_lines;
mod thread_columns;
mod time;
mod trust;
mod unmatched;
mod verb;
mod verify;
mod waiting;
mod watch;
mod written;

use std::process::ExitCode;

use failure::{Failure, Result};
use verb::Verb;

fn main() -> ExitCode {
    let mut failed = ExitCode::FAILURE;
    let run = |(verb, _pager): (Verb, _)| {
        if let Verb::Search(_) | Verb::Watch(_) = verb {
            // As grep: 1 means that nothing was found.
            failed = ExitCode::from(2);
        }
        run(verb)
    };
    match command::parse().and_then(run) {
        // The reader of the output has seen enough: `timeline dump /x | head` succeeds.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        // All that can be read was printed, and what cannot was told.
        Ok(()) | Err(Failure::NothingFound) if health::is_incomplete() => failed,
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::NothingFound) => ExitCode::FAILURE,
        Err(Failure::Misuse { verb, message }) => command::misuse(verb, &message),
        Err(Failure::Message(message)) => {
            output::say(&message);
            failed
        }
    }
}

fn run(verb: Verb) -> Result {
    match verb {
        Verb::List(args) => list::run(&args),
        Verb::Info(args) => info::run(&args),
        Verb::Dump(args) => dump::run(&args),
        Verb::Tail(args) => tail::run(&args),
        Verb::Search(args) => search::run(&args),
        Verb::Index(args) => index::run(&args),
        Verb::Stats(args) => stats::run(&args),
        Verb::Events(args) => events::run(&args),
        Verb::Histogram(args) => histogram::run(&args),
        Verb::Outliers(args) => outliers::run(&args),
        Verb::Serve(args) => serve::run(&args),
        Verb::Save(args) => save::run(&args),
        Verb::Record(args) => record::run(&args),
        Verb::Import(args) => import::run(&args),
        Verb::Export(args) => export::run(&args),
        Verb::Verify(args) => verify::run(&args),
        Verb::Repair(args) => repair::run(&args),
        Verb::Priority(args) => priority::run(&args),
        Verb::Enable(args) => priority::enable(&args),
        Verb::Disable(args) => priority::disable(&args),
        Verb::Channel(args) => channel::run(&args),
        Verb::Sample(args) => sample::run(&args),
        Verb::Watch(args) => watch::run(&args),
        Verb::Rm(args) => rm::run(&args),
        Verb::Demo(args) => demo::run(&args),
        Verb::Generate(args) => generate::run(&args, command::command(), command::EXAMPLES),
    }
}
