//! Refuses misspelt names of events, categories and channels, before they change a live timeline.

use timeline::Source;
use timeline::internal::Unknown;
use timeline_reading::names_and_categories;

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
