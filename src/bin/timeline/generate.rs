//! `timeline generate`: man pages and shell completions, for packages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::{self, Example};
use crate::failure::{Failure, Result};
use crate::output;
use crate::permission;

/// Generate what packages install beside the command
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write a man page for the command and each of its verbs
    Man {
        /// Directory to write to, made where it is missing
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Print a completion script
    Completions {
        /// Shell to complete in
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
}

/// Runs the verb.
pub fn run(args: &Args) -> Result {
    match &args.what {
        What::Man { directory } => man(directory).map_err(|error| {
            Failure::Message(permission::failed("write man pages to", directory, &error))
        }),
        What::Completions { shell } => completions(*shell),
    }
}

fn completions(shell: Shell) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "timeline", &mut script);
    let mut out = output::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
}

fn man(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    // Built, so that each verb knows its full name and usage.
    let mut command = args::command().disable_help_flag(true);
    command.build();
    page(directory, "timeline", &command, &[])?;
    for (verb, examples) in args::EXAMPLES {
        let verb = command
            .find_subcommand(verb)
            .expect("examples belong to verbs that exist");
        page(
            directory,
            &format!("timeline-{}", verb.get_name()),
            verb,
            examples,
        )?;
    }
    Ok(())
}

fn page(directory: &Path, name: &str, command: &Command, examples: &[Example]) -> io::Result<()> {
    // The man page has its own section of examples, with the lines kept apart.
    let command = command.clone().after_help("").after_long_help("");
    let man = Man::new(command.clone())
        .title(name)
        .manual("Timeline")
        .source(format!(
            "timeline {}",
            args::command().get_version().unwrap_or_default()
        ));
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    write_examples(&mut text, examples)?;
    fs::write(directory.join(format!("{name}.1")), text)
}

fn write_examples(text: &mut Vec<u8>, examples: &[Example]) -> io::Result<()> {
    if examples.is_empty() {
        return Ok(());
    }
    writeln!(text, ".SH EXAMPLES")?;
    for (what, line) in examples {
        let (what, line) = (roff(what), roff(line));
        writeln!(text, ".TP\n{what}\n.nf\n\\fB{line}\\fR\n.fi")?;
    }
    Ok(())
}

/// Text as roff takes it literally.
fn roff(text: &str) -> String {
    text.replace('\\', "\\(rs")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
}
