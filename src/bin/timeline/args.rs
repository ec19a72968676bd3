//! The command line: its verbs, and the arguments that several of them share.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use timeline::archive::Archive;
use timeline::dump::printable;
use timeline::layout::MAGIC;
use timeline::{Attached, Error, ErrorKind as Kind, Level, Priority};

use crate::failure::{Failure, Result};
use crate::{
    demo, dump, generate, info, list, permission, priority, record, repair, rm, sample, save,
    style, tail, verify,
};

/// A flight recorder: look into the timelines that programs write, while they run or after they died
///
/// Programs log events into a ring in shared memory. This command attaches to such a ring from
/// outside, without disturbing the program, and the ring is still there when the program is not.
///
/// PATH is a live name, which has one leading slash and no other (/timeline), or else a file, such
/// as a snapshot written by `timeline save`, or an archive written by `timeline record`: one file, or a
/// directory with several.
#[derive(Parser)]
#[command(name = "timeline", version, styles = style::HELP, max_term_width = 100)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

/// One variant per verb.
#[derive(Subcommand)]
pub enum Verb {
    List(list::Args),
    Info(info::Args),
    Dump(dump::Args),
    Tail(tail::Args),
    Save(save::Args),
    Record(record::Args),
    Verify(verify::Args),
    Repair(repair::Args),
    Priority(priority::Args),
    Sample(sample::Args),
    Rm(rm::Args),
    Demo(demo::Args),
    #[command(hide = true)]
    Generate(generate::Args),
}

/// An example of `--help`: what it does, and the command line that does it.
pub type Example = (&'static str, &'static str);

/// The examples of each verb, in the order of the verbs.
pub const EXAMPLES: &[(&str, &[Example])] = &[
    ("list", list::EXAMPLES),
    ("info", info::EXAMPLES),
    ("dump", dump::EXAMPLES),
    ("tail", tail::EXAMPLES),
    ("save", save::EXAMPLES),
    ("record", record::EXAMPLES),
    ("verify", verify::EXAMPLES),
    ("repair", repair::EXAMPLES),
    ("priority", priority::EXAMPLES),
    ("sample", sample::EXAMPLES),
    ("rm", rm::EXAMPLES),
    ("demo", demo::EXAMPLES),
];

/// The whole command line, with the examples in place.
pub fn command() -> clap::Command {
    let mut command = Cli::command().after_help(
        "Try `timeline demo` for something to look at, and `timeline VERB --help` for examples.",
    );
    for (verb, examples) in EXAMPLES {
        command = command.mut_subcommand(verb, |verb| verb.after_help(examples_help(examples)));
    }
    command
}

fn examples_help(examples: &[Example]) -> String {
    let (bold, dim) = (style::HELP.get_header(), anstyle::Style::new().dimmed());
    let mut help = format!("{bold}Examples:{bold:#}");
    for (what, line) in examples {
        help += &format!("\n  {dim}# {what}{dim:#}\n  {line}");
    }
    help
}

/// Reads the command line. Prints and exits by itself on `--help` (0) and on misuse (2).
pub fn parse() -> Verb {
    let matches = command().try_get_matches();
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli.verb,
        Err(error) => shown(error.format(&mut command())).exit(),
    }
}

/// The error, with the words of the command line in it as far as they are printable.
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

/// Ends with status 2 over values that are each well-formed but make no sense together.
pub fn misuse(verb: &str, message: impl Display) -> ! {
    let mut command = command();
    // Built, so that the usage line names the verb in full.
    command.build();
    let verb = command
        .find_subcommand_mut(verb)
        .expect("misuse is reported by verbs that exist");
    let message = message.to_string();
    verb.error(ErrorKind::ValueValidation, printable(&message))
        .exit()
}

/// The timeline to look into.
#[derive(clap::Args)]
pub struct Target {
    /// Live name (/timeline) or file (snapshot.timeline)
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

impl Target {
    /// Attaches for reading.
    pub fn attach(&self) -> Result<Attached> {
        Attached::open(&self.path).map_err(|error| self.explain(error))
    }

    /// The error, with what may have been meant.
    pub fn explain(&self, error: Error) -> Failure {
        explain(&self.path, error)
    }
}

/// The error, with a hint when only the leading slash of a live name was left out, or when it is an archive, which has
/// no writers to command.
pub fn explain(path: &Path, error: Error) -> Failure {
    let mut message = permission::told(&error);
    if error.kind() == Kind::NotFound {
        let slashed = PathBuf::from(format!("/{}", path.display()));
        if path.components().count() == 1 && Attached::open(&slashed).is_ok() {
            message += &format!(" (a live timeline is called {})", slashed.display());
        }
    } else if is_archive(path) {
        message = format!(
            "{} is an archive, not a timeline; dump, tail, info, save, verify and repair read archives",
            path.display()
        );
    }
    Failure::Message(message)
}

/// Whether it begins as an archive, or is a directory with files of one.
fn is_archive(path: &Path) -> bool {
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths = entries.flatten().map(|entry| entry.path());
        return paths.any(|path| path.extension().is_some_and(|extension| extension == "tla"));
    }
    begins_with(path, &[0xc1, 0xce])
}

/// Whether it is a file that begins so. A pipe is not opened, which would wait for its other end.
fn begins_with(path: &Path, expected: &[u8]) -> bool {
    let mut beginning = vec![0; expected.len()];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut beginning).is_ok())
        && beginning == expected
}

/// What is to be read: a timeline or an archive.
#[derive(clap::Args)]
pub struct Readable {
    /// Live name (/timeline), file (snapshot.timeline, flight.tla), or directory of a rotated archive
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

/// What was found there.
pub enum Opened {
    /// A live timeline, what a program left, or a snapshot.
    Ring(Box<Attached>),
    /// The archive of one or several of them.
    Archive(Box<Archive>),
}

impl Readable {
    /// Opens it. A file that does not begin as a timeline is an archive if anything of one is in it.
    pub fn open(&self) -> Result<Opened> {
        let path = &self.path;
        let archive = |archive| Ok(Opened::Archive(Box::new(archive)));
        let error = match Attached::open(path) {
            Ok(at) => return Ok(Opened::Ring(Box::new(at))),
            Err(error) => error,
        };
        if path.is_dir() {
            return archive(Archive::open(path)?);
        }
        if !matches!(
            error.kind(),
            Kind::NotATimeline | Kind::Corrupt | Kind::NotFound
        ) {
            return Err(explain(path, error));
        }
        match Archive::open(path) {
            Ok(found) if !begins_with(path, &MAGIC) => archive(found),
            Err(Error::NotAnArchive { found, .. }) if found.is_empty() => {
                let path = path.display();
                Err(Failure::Message(format!(
                    "{path} is empty, which is neither a timeline nor an archive"
                )))
            }
            Err(none) if none.kind() == Kind::NotATimeline && !begins_with(path, &MAGIC) => {
                Err(Failure::Message(format!(
                    "{error}; nor is it an archive: expected a whole frame, which begins with c1 ce, and found none"
                )))
            }
            _ => Err(explain(path, error)),
        }
    }
}

/// Parses a level, offering all of them in the help, in errors and to the shell.
pub fn level() -> impl TypedValueParser<Value = Level> {
    let names = Priority::ALL.map(Priority::name);
    PossibleValuesParser::new(names.into_iter().chain(["all", "none"])).try_map(|name| name.parse())
}
