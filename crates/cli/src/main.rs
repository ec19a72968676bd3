//! The `timeline` command: parses its command line and calls one module for each verb.
//!
//! Only here is anything printed, except for a variable TIMELINE that cannot be followed.
//!
//! command.rs has the command line, verb.rs says what a verb is, and args.rs and filters.rs have
//! arguments of several verbs; durations/ those of spans, and access.rs knows stores. Each verb has
//! a file or a folder: list.rs, info/, dump/, tail/, search/, index.rs, stats.rs, events.rs,
//! histogram/, outliers/, serve.rs, save.rs, record/, store.rs, agent.rs, remote.rs (with
//! remote_list.rs), pin.rs, import/, export.rs, verify.rs, repair.rs, priority.rs (with
//! `enable` and `disable`), channel.rs, sample.rs, watch/, rm.rs, demo/; generate/ makes man pages
//! and completions.
//!
//! Finding what a verb is about: target.rs, fetch.rs (traces of stores), waiting.rs, restart.rs,
//! growth.rs, indexing.rs, recovery.rs; trust.rs and raised_level.rs are for verbs that change
//! something, misspelt.rs and unknown_names.rs for names that are nowhere, disabled_events.rs for
//! events that are not logged, clocks.rs for clocks of several hosts, permission.rs for files of
//! others. Showing: columns.rs, text_lines.rs, thread_columns.rs, json/, format.rs, time.rs,
//! style.rs. Printing: output.rs, pager.rs, output_file.rs, signals.rs. services.rs runs servers,
//! sockets.rs has those that are given. What failed or is lacking: failure.rs, health.rs,
//! unread_lines.rs.

mod access;
mod agent;
mod args;
mod channel;
mod clocks;
mod columns;
mod command;
mod demo;
mod disabled_events;
mod dump;
mod durations;
mod events;
mod export;
mod failure;
mod fetch;
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
mod output_file;
mod pager;
mod permission;
mod pin;
mod priority;
mod raised_level;
mod record;
mod recovery;
mod remote;
mod remote_list;
mod repair;
mod restart;
mod rm;
mod sample;
mod save;
mod search;
mod serve;
mod services;
mod signals;
mod sockets;
mod stats;
mod store;
mod style;
mod tail;
mod target;
mod text_lines;
mod thread_columns;
mod time;
mod trust;
mod unknown_names;
mod unread_lines;
mod verb;
mod verify;
mod waiting;
mod watch;

use std::process::ExitCode;

use failure::Failure;

fn main() -> ExitCode {
    let mut asked = command::parse();
    // As grep: 1 means that nothing was found.
    let failed = ExitCode::from(if asked.is_search() { 2 } else { 1 });
    match asked.run() {
        // The reader of the output has seen enough: `timeline dump /x | head` succeeds.
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        // All that can be read was printed, and what cannot was told.
        Ok(()) | Err(Failure::NothingFound) if health::is_incomplete() => failed,
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::NothingFound) => ExitCode::FAILURE,
        Err(Failure::Misuse(message)) => asked.misuse(&message),
        Err(Failure::Message(message)) => {
            output::say(&message);
            failed
        }
    }
}
