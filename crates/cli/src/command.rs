//! The command line: its verbs, their help, and errors in its use.

use std::borrow::Cow;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use timeline::dump::printable;

use crate::args::Example;
use crate::failure::Result;
use crate::pager::Pager;
use crate::verb::Verb;
use crate::{
    agent, channel, demo, dump, events, export, generate, histogram, import, index, info, list,
    outliers, output, pin, priority, record, remote, repair, rm, sample, save, search, serve,
    stats, store, style, tail, verify, watch,
};

/// The place in the help of options that all verbs have: behind those of the verb.
const LAST: usize = 900;

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
    #[arg(long, global = true, display_order = LAST, value_name = "WHEN", default_value = "auto")]
    color: clap::ColorChoice,

    /// Do not show the output of dump, search, events and outliers in a pager
    #[arg(long, global = true, display_order = LAST)]
    no_pager: bool,

    #[command(subcommand)]
    choice: Choice,
}

/// Makes `Choice`, whose variants have the names of verbs.
macro_rules! verbs {
    ($($verb:ident($args:ty),)*) => {
        /// A verb with its arguments.
        #[derive(Subcommand)]
        enum Choice {
            $($verb($args),)*
            Generate(generate::Args),
        }

        impl Choice {
            /// The verb; none for what packages need.
            fn verb(&mut self) -> Option<&mut dyn Verb> {
                match self {
                    $(Choice::$verb(args) => Some(args),)*
                    Choice::Generate(_) => None,
                }
            }
        }

        /// The examples of each verb, in the order of the verbs.
        fn examples() -> Vec<&'static [Example]> {
            vec![$(<$args>::examples(),)*]
        }
    };
}

verbs! {
    List(list::Args),
    Info(info::Args),
    Dump(dump::Args),
    Tail(tail::Args),
    Search(search::Args),
    Index(index::Args),
    Stats(stats::Args),
    Events(events::Args),
    Histogram(Box<histogram::Args>),
    Outliers(outliers::Args),
    Serve(serve::Args),
    Save(save::Args),
    Record(Box<record::Args>),
    Store(store::Args),
    Agent(Box<agent::Args>),
    Remote(Box<remote::Args>),
    Pin(pin::Args),
    Import(import::Args),
    Export(export::Args),
    Verify(verify::Args),
    Repair(repair::Args),
    Priority(priority::Args),
    Enable(priority::EnableArgs),
    Disable(priority::DisableArgs),
    Channel(channel::Args),
    Sample(sample::Args),
    Watch(watch::Args),
    Rm(rm::Args),
    Demo(demo::Args),
}

/// The verbs that have their output in a pager.
const PAGED: [&str; 4] = ["dump", "search", "events", "outliers"];

/// The whole command line, with the examples in place.
fn command() -> clap::Command {
    let mut command = Cli::command().after_help(
        "Try `timeline demo` for something to look at, and `timeline help VERB` for examples.",
    );
    let no_pager = |arg: &&clap::Arg| arg.get_id() == "no_pager";
    let no_pager = command.get_arguments().find(no_pager).cloned();
    for (verb, examples) in command.get_subcommands_mut().zip(examples()) {
        *verb = verb.clone().after_help(examples_help(examples));
        if !PAGED.contains(&verb.get_name()) {
            *verb = verb
                .clone()
                .args(no_pager.clone().map(|arg| arg.hide(true)));
        }
    }
    // Building adds the verb `help`, and to each verb the global options that it has not.
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

/// What the command line asks for.
pub struct Invocation {
    choice: Choice,
    /// The name of the verb.
    name: String,
    is_paged: bool,
}

/// Reads the command line. Prints and exits by itself on `--help` (status 0) and on errors (2).
pub fn parse() -> Invocation {
    // Most command lines need neither examples nor the other verbs, which take longer to make than
    // most else in which this command starts.
    let read = |command: clap::Command| {
        let matches = command.try_get_matches()?;
        let name = matches.subcommand_name().unwrap_or_default().to_owned();
        Ok((Cli::from_arg_matches(&matches)?, name))
    };
    match read(Cli::command()).or_else(|_: clap::Error| read(command())) {
        Ok((cli, name)) => {
            output::choose_colour(cli.color);
            Invocation {
                choice: cli.choice,
                name,
                is_paged: !cli.no_pager,
            }
        }
        Err(error) => {
            let mut command = command();
            shown(error.format(&mut command), &command).exit()
        }
    }
}

impl Invocation {
    /// Runs the verb, in a pager if its output is long.
    pub fn run(&mut self) -> Result {
        if let Choice::Generate(args) = &self.choice {
            return generate::run(args, command(), &examples());
        }
        let verb = self.choice.verb().expect("all others are verbs");
        if let Some(target) = verb.target() {
            target.choose()?;
        }
        if let Some(executables) = verb.executables() {
            executables.give();
        }
        let _pager = (verb.is_long() && self.is_paged).then(Pager::start);
        verb.run()
    }

    /// Whether the verb is a search, of which status 1 means that nothing was found.
    pub fn is_search(&mut self) -> bool {
        self.choice.verb().is_some_and(|verb| verb.is_search())
    }

    /// Ends with status 2, because of arguments that are each well-formed but make no sense
    /// together. The message may have several lines.
    pub fn misuse(&self, message: &str) -> ! {
        let mut command = command();
        let verb = command.find_subcommand_mut(&self.name);
        let verb = verb.expect("it was asked for by this name");
        let lines: Vec<_> = message.split('\n').map(printable).collect();
        verb.error(ErrorKind::ValueValidation, lines.join("\n"))
            .exit()
    }
}

/// What other programs call a verb or an option, and what does that here.
const TIPS: [(&str, &str); 12] = [
    ("cat", "`timeline dump` prints events, the newest first"),
    ("delete", "`timeline rm` removes timelines"),
    ("follow", "`timeline tail` prints events as they are logged"),
    ("grep", "`timeline search` finds events by their text"),
    ("ls", "`timeline list` shows the timelines in shared memory"),
    ("print", "`timeline dump` prints events, the newest first"),
    ("remove", "`timeline rm` removes timelines"),
    ("show", "`timeline dump` prints events, the newest first"),
    ("-f", "`timeline tail` prints events as they are logged"),
    (
        "--follow",
        "`timeline tail` prints events as they are logged",
    ),
    (
        "--port",
        "`timeline serve --listen 127.0.0.1:8000` takes a port of its own",
    ),
    (
        "--lines",
        "-n says how many events `timeline dump` and `timeline tail` print",
    ),
];

/// The error, with the whole usage of the verb. Words of the command line are shown in it as far as
/// they are printable.
fn shown(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    if let Some(ContextValue::StyledStrs(tips)) = error.remove(ContextKind::Suggested) {
        // One of clap's would make a PATH of an unknown option.
        let is_of_use = |tip: &StyledStr| !tip.to_string().contains("as a value");
        let tips: Vec<_> = tips.into_iter().filter(is_of_use).collect();
        suggest(&mut error, tips);
    }
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
        let is_unknown = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].contains(&kind);
        let tip = TIPS.iter().find(|(other, _)| is_unknown && *other == word);
        if let Some((_, tip)) = tip {
            error.remove(ContextKind::SuggestedSubcommand);
            error.remove(ContextKind::SuggestedArg);
            suggest(&mut error, vec![StyledStr::from(*tip)]);
        }
    }
    if let Some(error) = no_verb(&error, command) {
        return error;
    }
    // That of clap has what was given already, as if it had to be.
    let has_usage = error.get(ContextKind::Usage).is_some();
    let is_of_verb = has_usage && error.kind() != ErrorKind::InvalidSubcommand;
    let verb = std::env::args_os().find_map(|word| command.find_subcommand(word));
    if let Some(verb) = verb.filter(|_| is_of_verb) {
        let usage = verb.clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    error
}

/// The error for a word that is no verb, also behind `help`, with the verb that may be meant.
fn no_verb(error: &clap::Error, command: &clap::Command) -> Option<clap::Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let known = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let near = timeline::internal::nearest(word, known.map(clap::Command::get_name));
    let near = match (near.first(), error.get(ContextKind::SuggestedSubcommand)) {
        (Some(near), _) => Some((*near).to_owned()),
        (None, Some(ContextValue::Strings(like))) => like.first().cloned(),
        (None, Some(ContextValue::String(like))) => Some(like.clone()),
        _ => None,
    };
    let tip = match error.get(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips.first().map(StyledStr::to_string),
        _ => near.map(|verb| format!("a similar verb exists: '{verb}'")),
    };
    let tip = tip
        .map(|tip| format!("\n\n  tip: {tip}"))
        .unwrap_or_default();
    let message = format!("unrecognized verb '{word}'{tip}");
    Some(command.clone().error(ErrorKind::InvalidSubcommand, message))
}

fn suggest(error: &mut clap::Error, tips: Vec<StyledStr>) {
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}
