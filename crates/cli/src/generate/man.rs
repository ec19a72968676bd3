//! Man pages: one for the command, and one for each of its verbs.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, ArgAction, Command};
use clap_mangen::Man;

use super::Examples;
use crate::args::Example;
use crate::search;

/// The meanings of its status.
const EXIT_STATUS: &[(&str, &str)] = &[
    (
        "0",
        "Success. That includes an interrupted tail, record or sample, and a verb whose output \
         goes to a pipe that its reader has closed.",
    ),
    (
        "1",
        "Failure. The reason is on standard error. Also: an archive is damaged, or a part of what \
         was recorded is gone, and all that can be read was printed; search found nothing, and \
         watch ended before a condition was met. What a ring overwrote is no damage.",
    ),
    (
        "2",
        "The command line is wrong. Also: it names no timeline, and shared memory has none or \
         several; and any failure of search and watch, also what is 1 for an archive with other \
         verbs.",
    ),
];

/// The variables that it reads.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("NO_COLOR", "No colours, if it is set and not empty."),
    ("CLICOLOR", "No colours, if it is 0."),
    (
        "CLICOLOR_FORCE",
        "Colours even if the output is not a terminal, if it is set and not empty.",
    ),
    ("TERM", "No colours, if it is dumb."),
    (
        "TIMELINE_PAGER, PAGER",
        "The program that shows long output on a terminal; none if it is empty. Otherwise less.",
    ),
    (
        "TZ",
        "The time zone of printed times. Times of --json are in UTC.",
    ),
];

/// The files that it reads and writes.
const FILES: &[(&str, &str)] = &[
    ("/dev/shm/NAME", "The timeline with the name /NAME."),
    (
        "/dev/shm/NAME.prev",
        "The former timeline of that name, from before the last start of the program.",
    ),
    (
        "/dev/shm/NAME.prev-NUMBER",
        "The same, if NAME.prev belongs to another user or is not a timeline, and was not \
         replaced.",
    ),
    (
        "DIR/timeline-000001.tla",
        "A file of an archive in a directory. The first number is 1.",
    ),
];

/// Writes all of them.
pub fn write(directory: &Path, command: Command, examples: Examples) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut command = command.disable_help_flag(true);
    // The help of a verb is its page.
    command = command.mut_subcommand("help", |help| help.hide(true));
    command.build();
    page(directory, "timeline", &command, |text| {
        write_examples(text, examples.iter().filter_map(|of| of.first()))?;
        section(text, "EXIT STATUS", EXIT_STATUS)?;
        section(text, "ENVIRONMENT", ENVIRONMENT)?;
        section(text, "FILES", FILES)
    })?;
    for (verb, examples) in command.get_subcommands().zip(examples) {
        let name = format!("timeline-{}", verb.get_name());
        page(directory, &name, verb, |text| {
            write_examples(text, examples.iter())?;
            writeln!(text, ".SH SEE ALSO\n.BR timeline (1)")
        })?;
    }
    Ok(())
}

fn page(
    directory: &Path,
    name: &str,
    command: &Command,
    more: impl Fn(&mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    // The man page has its own section of examples, with the lines kept apart.
    let mut command = command.clone().after_help("").after_long_help("");
    if command.has_subcommands() {
        command = command.subcommand_help_heading("VERBS");
    }
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone())
        .title(name)
        .date(date())
        .manual("Timeline")
        .source(format!("timeline {version}"));
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    write_synopsis(&mut text, &command)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    more(&mut text)?;
    // One space between two paragraphs, of which clap_mangen makes three.
    let text = String::from_utf8_lossy(&text).replace(".br\n\n.br\n", ".sp\n");
    fs::write(directory.join(format!("{name}.1")), ascii(&text))
}

/// The date of the pages: today, or that of the source, so that who builds it twice gets the same.
fn date() -> String {
    let of_source = std::env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = of_source.and_then(|seconds| seconds.parse().ok());
    let time = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.unwrap_or_else(jiff::Timestamp::now)
        .strftime("%Y-%m-%d")
        .to_string()
}

/// With the values of options by name, which that of clap_mangen leaves out.
fn write_synopsis(text: &mut Vec<u8>, command: &Command) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    write!(text, ".SH SYNOPSIS\n\\fB{}\\fR", roff(name))?;
    let is_shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != "help";
    let shown: Vec<_> = command.get_arguments().filter(is_shown).collect();
    let rank = |arg: &&&Arg| (arg.is_positional(), arg.is_required_set());
    let mut options: Vec<_> = shown.iter().filter(|arg| !arg.is_positional()).collect();
    options.sort_by_key(rank);
    // Of an argument and a list of more of them, the list.
    let positionals = shown.iter().rev().filter(|arg| arg.is_positional());
    let mut positionals: Vec<_> = positionals.collect();
    positionals.dedup_by_key(|arg| arg.get_value_names());
    positionals.reverse();
    for arg in options.into_iter().chain(positionals) {
        let (open, close) = match arg.is_required_set() {
            true => ("", ""),
            false => ("[", "]"),
        };
        let words = match arg.get_id() == search::WORDS {
            true => "[\\fIPATH\\fR...] \\fIQUERY\\fR".into(),
            false => words(arg),
        };
        write!(text, " {open}{words}{close}")?;
    }
    if command.has_subcommands() {
        write!(text, " \\fIVERB\\fR \\fR[\\fIARGUMENTS\\fR]")?;
    }
    writeln!(text)
}

/// `-n|--max-entries N`, `PATH`.
fn words(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let bold = |word: String| format!("\\fB{}\\fR", roff(&word));
    let names: Vec<_> = short.into_iter().chain(long).map(bold).collect();
    let mut words = vec![names.join("|")];
    if matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) {
        let values = arg.get_value_names().unwrap_or_default();
        words.extend(
            values
                .iter()
                .map(|value| format!("\\fI{}\\fR", roff(value))),
        );
    }
    let dots = if matches!(arg.get_action(), ArgAction::Append) {
        "..."
    } else {
        ""
    };
    words.retain(|word| !word.is_empty());
    words.join(" ") + dots
}

fn section(text: &mut Vec<u8>, heading: &str, items: &[(&str, &str)]) -> io::Result<()> {
    writeln!(text, ".SH {heading}")?;
    for (item, what) in items {
        writeln!(text, ".TP\n\\fB{}\\fR\n{}", roff(item), roff(what))?;
    }
    Ok(())
}

fn write_examples<'a>(
    text: &mut Vec<u8>,
    examples: impl Iterator<Item = &'a Example>,
) -> io::Result<()> {
    writeln!(text, ".SH EXAMPLES")?;
    for (what, line) in examples {
        let (what, line) = (roff(what), roff(line));
        writeln!(text, ".TP\n{what}\n.nf\n\\fB{line}\\fR\n.fi")?;
    }
    Ok(())
}

/// The characters beyond ASCII by their numbers. Not each roff takes the bytes of UTF-8 for them.
fn ascii(text: &str) -> String {
    let one = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => format!("\\[u{:04X}]", u32::from(c)),
    };
    text.chars().map(one).collect()
}

/// Text as roff takes it literally.
fn roff(text: &str) -> String {
    text.replace('\\', "\\(rs")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
}
