//! Prints what the program of a timeline defines, for shells to complete.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use timeline::{Attached, is_former};

use crate::failure::Result;
use crate::list::is_shown;
use crate::output;

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Defined {
    Categories,
    Channels,
    Events,
    Spans,
}

/// Prints what is defined in the first timeline or snapshot among the words, or else in the only
/// timeline that there is. Archives are not asked: to read all of one may take long.
pub fn print(what: Defined, words: &[PathBuf]) -> Result {
    let mut out = output::stdout();
    for name in at(words).iter().flat_map(|at| names(what, at)) {
        write!(out, "{name}\0")?;
    }
    out.flush()?;
    Ok(())
}

fn at(words: &[PathBuf]) -> Option<Attached> {
    let named = words.iter().find_map(|word| Attached::open(word).ok());
    named.or_else(|| {
        let mut names = timeline::names().ok()?;
        names.retain(|name| !is_former(name.as_ref()));
        match &names[..] {
            [only] => Attached::open(only).ok(),
            _ => None,
        }
    })
}

/// The names, without those with characters that nobody sees.
fn names(what: Defined, at: &Attached) -> BTreeSet<String> {
    let defined = at.definitions();
    let names: BTreeSet<String> = match what {
        Defined::Categories => defined.map(|one| one.shown_category().to_owned()).collect(),
        Defined::Channels => {
            let channels = at.info().channels.into_iter();
            channels.map(|channel| channel.name).collect()
        }
        Defined::Events => {
            let named = defined.filter(|one| one.has_name());
            named.map(|one| one.name()).collect()
        }
        Defined::Spans => {
            let parts = defined.filter_map(|one| one.span_part());
            parts.map(|part| part.span).collect()
        }
    };
    let is_word = |name: &String| !name.is_empty() && name.chars().all(is_shown);
    names.into_iter().filter(is_word).collect()
}
