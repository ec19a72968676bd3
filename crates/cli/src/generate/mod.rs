//! `timeline generate`: man pages and shell completions, for packages.
//!
//! man.rs makes the pages, completions.rs the scripts of shells, which ask words.rs for what
//! programs define.

mod completions;
mod man;
mod words;

use std::io::Write;
use std::path::PathBuf;

use clap::{Command, Subcommand};
use clap_complete::Shell;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::output;
use crate::permission;

/// The examples of each verb, in the order of the verbs.
pub type Examples<'a> = &'a [&'static [Example]];

/// Generate what packages install beside the command
#[derive(clap::Args)]
#[command(hide = true)]
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
    /// Print what a program defines, each with a NUL behind it, for shells to complete
    Words {
        /// What to print
        #[arg(value_name = "WHAT")]
        what: words::Defined,
        /// The words of the command line, one of which may name the timeline
        #[arg(value_name = "WORD")]
        words: Vec<PathBuf>,
    },
}

/// Runs the verb, for the whole command line and its examples.
pub fn run(args: &Args, command: Command, examples: Examples) -> Result {
    match &args.what {
        What::Man { directory } => man::write(directory, command, examples).map_err(|error| {
            Failure::Message(permission::failed("write man pages to", directory, &error))
        }),
        What::Completions { shell } => {
            let mut out = output::stdout();
            out.write_all(completions::script(*shell, command).as_bytes())?;
            out.flush()?;
            Ok(())
        }
        What::Words { what, words } => words::print(*what, words),
    }
}
