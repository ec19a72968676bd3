//! The names in rules that are in no definition so far.

use std::collections::BTreeSet;

use timeline::internal::Unknown;
use timeline::{Rules, Source};

/// The categories and names of events in rules that no definition has so far. Where nothing is
/// defined, nothing is misspelt.
pub fn unknown_in(rules: &Rules, source: &dyn Source) -> Vec<Unknown> {
    if !source.definitions().any(|one| one.has_name()) {
        return Vec::new();
    }
    let words = unmatched(rules, source).into_iter();
    words.map(|(_, unknown)| unknown).collect()
}

/// The names of the events that are defined so far, and their categories.
pub fn names_and_categories(source: &dyn Source) -> (BTreeSet<String>, BTreeSet<String>) {
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
