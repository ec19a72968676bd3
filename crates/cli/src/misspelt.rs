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
    /// Fails with the first of these names that is like others, also if it is a pattern.
    pub fn refuse(&self, unknown: &[Unknown]) -> Result {
        let misspelt = unknown.iter().find(|one| one.has_near());
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

/// What may have been meant by a word that is no name of an event, because it has no dot: a
/// category, or the part behind one.
pub fn without_category(word: &str, source: &dyn Source) -> String {
    let (names, categories) = names_and_categories(source);
    let near = match categories.contains(word) {
        true => vec![format!("'{word}.*'")],
        false => Unknown::among("event", word, &names).near().to_vec(),
    };
    let meant = match &near[..] {
        [] => "; `timeline events` prints them".into(),
        [one] => format!("; did you mean {one}?"),
        [some @ .., last] => format!("; did you mean {} or {last}?", some.join(", ")),
    };
    format!("{word} is no name of an event: names of events have a dot, as CATEGORY.WORDS{meant}")
}

/// The names of the events that are defined so far, and their categories.
fn names_and_categories(source: &dyn Source) -> (BTreeSet<String>, BTreeSet<String>) {
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
    let categories = names.iter().filter_map(category).collect();
    (names, categories)
}

/// The words of rules that are about no category or event that is defined so far.
pub fn unmatched(rules: &Rules, source: &dyn Source) -> Vec<(String, Unknown)> {
    let (names, categories) = names_and_categories(source);
    // Of a pattern such as `engine.*`, the category stands there whole.
    let category_of = |event: &str| {
        let (category, _) = event.rsplit_once('.')?;
        let is_whole = event.contains(['*', '?']) && !category.contains(['*', '?']);
        let unknown = is_whole.then(|| Unknown::of("category", category, &categories));
        unknown.flatten()
    };
    // All events of another category are none of this one's.
    let event_of = |event: &str, unknown: Unknown| match category_of(event) {
        Some(category) if category.has_near() => category,
        Some(_) => unknown.far(),
        None => unknown,
    };
    let unknown = |word: &str| match word.strip_prefix(['+', '-']) {
        Some(event) => Unknown::of("event", event, &names).map(|one| event_of(event, one)),
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
