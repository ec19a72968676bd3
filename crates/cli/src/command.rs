//! The command line: its verbs, their help, and errors in its use.

use std::borrow::Cow;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser};

use timeline::dump::printable;

use crate::args::Example;
use crate::failure::Result;
use crate::pager::Pager;
use crate::verb::Verb;
use crate::{
    channel, demo, dump, events, export, histogram, import, index, info, list, outliers, output,
    priority, record, repair, rm, sample, save, search, serve, stats, style, tail, verify, watch,
};

/// A flight recorder: read and control the timelines of programs, while they run and after they
/// ended
///
/// Programs log events into a ring in shared memory. This command attaches to such a ring from
/// outside, without disturbing the program. The ring stays when the program ends.
///
/// PATH is a name in shared memory, with one leading slash and no other (/timeline), or a file: a
/// snapshot of `timeline save`, or an archive of `timeline record`, which is one file or a
/// directory of files. A timeline is live while a process has it open for writing.
///
/// If an archive is damaged, or a part of what was recorded is gone, all that can be read is
/// printed, what is missing is told, and the exit status is 1 (of search 2). What a ring overwrote
/// is counted, and no failure.
#[derive(Parser)]
#[command(name = "timeline", version, styles = style::HELP, max_term_width = 80)]
#[command(arg_required_else_help = true)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
struct Cli {
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: clap::ColorChoice,

    /// Do not show the output of dump, search, events and outliers in a pager
    #[arg(long, global = true)]
    no_pager: bool,

    #[command(subcommand)]
    verb: Verb,
}

/// The examples of each verb, in the order of the verbs.
pub const EXAMPLES: &[(&str, &[Example])] = &[
    ("list", list::EXAMPLES),
    ("info", info::EXAMPLES),
    ("dump", dump::EXAMPLES),
    ("tail", tail::EXAMPLES),
    ("search", search::EXAMPLES),
    ("index", index::EXAMPLES),
    ("stats", stats::EXAMPLES),
    ("events", events::EXAMPLES),
    ("histogram", histogram::EXAMPLES),
    ("outliers", outliers::EXAMPLES),
    ("serve", serve::EXAMPLES),
    ("save", save::EXAMPLES),
    ("record", record::EXAMPLES),
    ("import", import::EXAMPLES),
    ("export", export::EXAMPLES),
    ("verify", verify::EXAMPLES),
    ("repair", repair::EXAMPLES),
    ("priority", priority::EXAMPLES),
    ("enable", priority::ENABLE_EXAMPLES),
    ("disable", priority::DISABLE_EXAMPLES),
    ("channel", channel::EXAMPLES),
    ("sample", sample::EXAMPLES),
    ("watch", watch::EXAMPLES),
    ("rm", rm::EXAMPLES),
    ("demo", demo::EXAMPLES),
];

/// The whole command line, with the examples in place.
pub fn command() -> clap::Command {
    let mut command = Cli::command().after_help(
        "Try `timeline demo` for something to look at, and `timeline help VERB` for examples.",
    );
    for (verb, examples) in EXAMPLES {
        command = command.mut_subcommand(verb, |verb| verb.after_help(examples_help(examples)));
    }
    // Building adds the verb `help`.
    command.build();
    let verbs: Vec<_> = command.get_subcommands().cloned().collect();
    command.mut_subcommand("help", |help| {
        let help = help.about("Show the help of a verb");
        let help = help.subcommand_value_name("VERB");
        let help = help.subcommand_help_heading("Verbs");
        // Its own verbs have neither a text, nor are they hidden as others are.
        verbs.iter().fold(help, |help, verb| {
            let about = match verb.get_name() {
                "help" => Some("Show this help".into()),
                _ => verb.get_about().cloned(),
            };
            help.mut_subcommand(verb.get_name(), |of| {
                of.about(about.unwrap_or_default()).hide(verb.is_hide_set())
            })
        })
    })
}

fn examples_help(examples: &[Example]) -> String {
    let (bold, dim) = (style::HELP.get_header(), anstyle::Style::new().dimmed());
    let mut help = format!("{bold}Examples:{bold:#}");
    for (what, line) in examples {
        help += &format!("\n  {dim}# {what}{dim:#}\n  {line}");
    }
    help
}

/// Reads the command line, and starts a pager for verbs with long output. Prints and exits by
/// itself on `--help` (status 0) and on errors (2).
pub fn parse() -> Result<(Verb, Option<Pager>)> {
    // Most command lines need neither examples nor the other verbs, which take longer to make than
    // most else in which this command starts.
    let read = |command: clap::Command| {
        let matches = command.try_get_matches();
        matches.and_then(|matches| Cli::from_arg_matches(&matches))
    };
    match read(Cli::command()).or_else(|_| read(command())) {
        Ok(mut cli) => {
            output::choose_colour(cli.color);
            if let Some((verb, target)) = cli.verb.target() {
                target.choose(verb)?;
            }
            let is_long = matches!(
                cli.verb,
                Verb::Dump(_) | Verb::Search(_) | Verb::Events(_) | Verb::Outliers(_)
            );
            let pager = (is_long && !cli.no_pager).then(Pager::start);
            Ok((cli.verb, pager))
        }
        Err(error) => shown(error.format(&mut command())).exit(),
    }
}

/// The error, in which words of the command line are shown as far as they are printable.
fn shown(mut error: clap::Error) -> clap::Error {
    let words = error.context().map(|(kind, value)| (kind, value.clone()));
    for (kind, value) in words.collect::<Vec<_>>() {
        let ContextValue::String(word) = value else {
            continue;
        };
        if let Cow::Owned(shown) = printable(&word) {
            error.insert(kind, ContextValue::String(shown));
            // Tips repeat the word among styles.
            error.remove(ContextKind::Suggested);
        }
    }
    error
}

/// Ends with status 2, because of arguments that are each well-formed but make no sense together.
/// The message may have several lines.
pub fn misuse(verb: &str, message: &str) -> ! {
    let mut command = command();
    let verb = command
        .find_subcommand_mut(verb)
        .expect("misuse is reported by verbs that exist");
    let lines: Vec<_> = message.split('\n').map(printable).collect();
    let error = verb.error(ErrorKind::ValueValidation, lines.join("\n"));
    error.exit()
}
