//! Refuses misspelt names of events, categories and channels, before they change a live timeline.

use std::collections::BTreeSet;

use timeline::internal::Unknown;
use timeline::{Rules, Source};

use crate::failure::{Failure, Result};

/// What a name is that is in no definition.
#[derive(clap::Args)]
pub struct Later {
    /// A name that is like another one is that of events which are defined later: it is not
    /// misspelt
    #[arg(long)]
    later: bool,
}

impl Later {
    /// Fails with the first of these names that is like others.
    pub fn refuse(&self, unknown: &[Unknown]) -> Result {
        let misspelt = unknown.iter().find(|one| !one.may_come());
        misspelt.filter(|_| !self.later).map_or(Ok(()), |one| {
            let message = format!("{one} (if it is to be defined later, add --later)");
            Err(Failure::Message(message))
        })
    }
}

/// The categories and names of events in rules that no definition has so far. Where nothing is
/// defined, nothing is misspelt.
pub fn unknown_in(rules: &Rules, source: &dyn Source) -> Vec<Unknown> {
    if !source.definitions().any(|one| one.has_name()) {
        return Vec::new();
    }
    let words = unmatched(rules, source).into_iter();
    words.map(|(_, unknown)| unknown).collect()
}

/// The words of rules that are about no category or event that is defined so far.
pub fn unmatched(rules: &Rules, source: &dyn Source) -> Vec<(String, Unknown)> {
    let names: BTreeSet<String> = source
        .definitions()
        .filter(|one| one.has_name())
        .map(|one| one.name())
        .collect();
    // Behind the last dot are the words of the message, which have none.
    let category = |name: &String| {
        name.rsplit_once('.')
            .map(|(category, _)| category.to_owned())
    };
    let categories: BTreeSet<String> = names.iter().filter_map(category).collect();
    // Of a pattern such as `engine.*`, the category stands there whole.
    let category_of = |event: &str| {
        let (category, _) = event.split_once('.')?;
        let is_whole = event.contains(['*', '?']) && !category.contains(['*', '?']);
        let unknown = is_whole.then(|| Unknown::of("category", category, &categories));
        unknown.flatten().filter(Unknown::has_near)
    };
    let unknown = |word: &str| match word.strip_prefix(['+', '-']) {
        Some(event) => {
            Unknown::of("event", event, &names).map(|one| category_of(event).unwrap_or(one))
        }
        None => {
            let (category, _) = word.split_once('=')?;
            Unknown::of("category", category, &categories)
        }
    };
    let words = rules.words();
    words
        .filter_map(|word| unknown(&word).map(|unknown| (word, unknown)))
        .collect()
}
