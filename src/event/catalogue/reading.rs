//! Reads the lines of a catalogue, and says what is wrong with each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Catalogue, CatalogueEvent};
use crate::error::{Error, Result};
use crate::event::control::channel::channels_of_event;
use crate::event::definitions::priority::Priority;
use crate::event::definitions::span::Pairing;
use crate::event::messages::syntax::Syntax;
use crate::event::messages::template::checked_fields;
use crate::event::names::name::event_name;
use crate::event::tables::table::{check_length, check_text};
use crate::layout::header::CHANNELS;

/// The word before the `|` that makes events important.
const IMPORTANT: &str = "important";
/// The words before the `|` that make two events of a line: those of a span.
const SPANS: [(&str, Pairing); 2] = [("span", Pairing::Thread), ("async_span", Pairing::Key)];

/// What was expected, and what was found.
type Mistake = (String, String);

/// Whether a line may be documentation.
#[derive(PartialEq, Eq)]
enum Prose {
    /// No: an event or a section comes.
    No,
    /// Of the last event.
    Of,
    /// Of an event that has a mistake.
    OfNone,
}

/// A file while it is read.
pub struct CatalogueReader {
    path: PathBuf,
    category: String,
    /// The lines of the names.
    lines: HashMap<String, usize>,
    /// All channels so far.
    channels: Vec<String>,
    prose: Prose,
    /// What was found so far.
    pub found: Catalogue,
}

impl CatalogueReader {
    /// Begins a file with this path.
    pub fn new(path: &Path) -> CatalogueReader {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        CatalogueReader {
            path: path.to_path_buf(),
            category: stem.into_owned(),
            lines: HashMap::new(),
            channels: Vec::new(),
            prose: Prose::No,
            found: Catalogue::default(),
        }
    }

    /// Reads the next line, which has this number.
    pub fn line(&mut self, number: usize, bytes: &[u8]) {
        let read = match std::str::from_utf8(bytes) {
            Ok(line) => self.text(number, line.trim_end()),
            Err(error) => {
                // It may have been an event.
                if self.prose == Prose::No {
                    self.prose = Prose::OfNone;
                }
                Err(not_text(bytes, error.valid_up_to()))
            }
        };
        let Err((expected, found)) = read else {
            return;
        };
        // The mistake is in what explains it.
        if self.prose == Prose::Of {
            let explained = self.explained().len();
            let kept = self.found.events.len() - explained;
            self.found.events.truncate(kept);
            self.prose = Prose::OfNone;
        }
        self.found.mistakes.push(Error::Catalogue {
            path: self.path.clone(),
            line: number,
            expected,
            found,
        });
    }

    fn text(&mut self, number: usize, line: &str) -> Result<(), Mistake> {
        if line.starts_with('#') {
            return Ok(());
        }
        let is_below = self.prose != Prose::No;
        if line.is_empty() {
            self.prose = Prose::No;
            return Ok(());
        }
        if let Some(section) = line.strip_prefix('[')
            && (!is_below || section.ends_with(']'))
        {
            self.prose = Prose::No;
            return self.section(section);
        }
        if is_below && is_prose(line) {
            return match self.prose {
                Prose::Of => self.explain(line),
                _ => Ok(()),
            };
        }
        self.prose = Prose::OfNone;
        self.event(number, line, is_below)?;
        self.prose = Prose::Of;
        Ok(())
    }

    /// The events of the last line that has any.
    fn explained(&mut self) -> &mut [CatalogueEvent] {
        let events = &mut self.found.events;
        let line = events.last().map(|event| event.line);
        let first = events.iter().position(|event| Some(event.line) == line);
        &mut events[first.unwrap_or(0)..]
    }

    /// Adds a line to what explains the last event, or both of a span.
    fn explain(&mut self, line: &str) -> Result<(), Mistake> {
        for event in self.explained() {
            event.message.push('\n');
            event.message.push_str(line);
            storable("message", &event.message)?;
        }
        Ok(())
    }

    fn section(&mut self, section: &str) -> Result<(), Mistake> {
        let category = section.strip_suffix(']').map(str::trim);
        let category = category.filter(|category| !category.is_empty());
        let expected = || {
            (
                "a category, such as [engine]".into(),
                quoted(&format!("[{section}")),
            )
        };
        let category = category.ok_or_else(expected)?;
        storable("category", category)?;
        self.category = category.to_owned();
        Ok(())
    }

    /// `is_below`: no empty line is between it and the event before.
    fn event(&mut self, line: usize, text: &str, is_below: bool) -> Result<(), Mistake> {
        let (head, message) = text.split_once('|').ok_or_else(|| {
            let expected = "PRIORITY|MESSAGE, [CATEGORY] or # and a comment";
            (expected.to_owned(), quoted(text))
        })?;
        let (priority, attributes) = priority_and_attributes(head);
        let priority = priority.map_err(|found| (priorities(is_below), quoted(found)))?;
        let is_important = |word: &&str| *word == IMPORTANT;
        let important = attributes.iter().any(is_important);
        let pairing_of = |word: &str| SPANS.into_iter().find(|(name, _)| *name == word);
        let pairing = attributes.iter().find_map(|word| pairing_of(word));
        let mut channels = attributes;
        channels.retain(|word| !is_important(word) && pairing_of(word).is_none());
        let channels = channels.join("|");
        self.take_channels(&channels)?;
        let message = message.trim();
        check_message(message)?;
        let mut events = Vec::new();
        for message in messages(message, pairing.map(|(_, pairing)| pairing))? {
            let name = event_name(&self.category, &message, Syntax::Template);
            if let Some(other) = self.lines.get(&name) {
                let expected = format!("an event with another name than that of line {other}");
                return Err((expected, name));
            }
            events.push(CatalogueEvent {
                line,
                name,
                category: self.category.clone(),
                priority,
                channels: channels.clone(),
                important,
                message,
            });
        }
        let names = events.iter().map(|event| (event.name.clone(), line));
        self.lines.extend(names);
        self.found.events.append(&mut events);
        Ok(())
    }

    /// Reads the channels of an event, and counts those that are new.
    fn take_channels(&mut self, channels: &str) -> Result<(), Mistake> {
        let channels = channels_of_event(channels).map_err(|error| match error {
            Error::BadChannel { found } => (
                "a channel of letters, digits, `_`, `.` and `-`, perhaps with =on".into(),
                quoted(&found),
            ),
            other => ("channels".into(), other.to_string()),
        })?;
        for (name, _) in channels {
            if name == IMPORTANT {
                let expected = "a channel with another name: `important` alone marks important \
                                events";
                return Err((expected.into(), quoted(&name)));
            }
            if SPANS.iter().any(|(word, _)| *word == name) {
                let expected = format!("a channel with another name: `{name}` alone marks spans");
                return Err((expected, quoted(&name)));
            }
            if self.channels.contains(&name) {
                continue;
            }
            if self.channels.len() == CHANNELS {
                let expected = format!("at most {CHANNELS} channels in all");
                return Err((expected, format!("another one, {}", quoted(&name))));
            }
            self.channels.push(name);
        }
        Ok(())
    }
}

/// The messages of the events of a line: two if it is one of spans.
fn messages(message: &str, pairing: Option<Pairing>) -> Result<Vec<String>, Mistake> {
    let Some(pairing) = pairing else {
        return Ok(vec![message.to_owned()]);
    };
    let both = pairing.messages(message).map_err(|error| match error {
        Error::BadText {
            what,
            expected,
            found,
        } => (format!("a {what} that is {expected}"), found),
        other => ("the message of a span".into(), other.to_string()),
    })?;
    for message in &both {
        storable("message", message)?;
    }
    Ok(both.into())
}

/// The priority before a `|`, or the word in its place, and the words behind it.
fn priority_and_attributes(head: &str) -> (Result<Priority, &str>, Vec<&str>) {
    let mut words = head.split_whitespace();
    let first = words.next().unwrap_or_default();
    (first.parse().map_err(|_| first), words.collect())
}

/// Whether a line below an event explains it. One that looks like an event does not, unless it is
/// indented: a misspelt priority must not go unnoticed.
fn is_prose(line: &str) -> bool {
    let Some((head, _)) = line.split_once('|') else {
        return true;
    };
    if head.starts_with(char::is_whitespace) {
        return true;
    }
    let (priority, more) = priority_and_attributes(head);
    let is_word = |word: &str| {
        let mut characters = word.chars();
        characters.next().is_some_and(char::is_alphabetic)
            && characters.all(|c| c.is_alphanumeric() || "_.-=".contains(c))
    };
    let resembles =
        |first: &str| more.len() < 2 && is_word(first) && more.iter().all(|word| is_word(word));
    priority.is_err_and(|first| !resembles(first))
}

fn priorities(is_below: bool) -> String {
    let names = Priority::ALL.map(Priority::name).join(", ");
    let below = match is_below {
        true => "; or a space before a line that explains the event above",
        false => "",
    };
    format!("a priority ({names}){below}")
}

fn not_text(bytes: &[u8], at: usize) -> Mistake {
    let byte = bytes.get(at).copied().unwrap_or_default();
    let found = format!("{byte:#04x} as byte {} of the line", at + 1);
    ("a text in UTF-8".into(), found)
}

/// Whether a timeline takes a text of a definition.
fn storable(what: &'static str, text: &str) -> Result<(), Mistake> {
    let checked = check_text(what, text).and_then(|()| check_length(what, text));
    checked.map_err(|error| match error {
        Error::BadText {
            what,
            expected,
            found,
        } => (format!("a {what} that is {expected}"), found),
        other => ("a text that can be stored".into(), other.to_string()),
    })
}

fn check_message(message: &str) -> Result<(), Mistake> {
    if message.is_empty() {
        return Err(("a message behind the |".into(), "nothing".into()));
    }
    storable("message", message)?;
    match checked_fields(message) {
        Ok(_) => Ok(()),
        Err(Error::UnknownFieldType {
            field,
            found,
            known,
        }) => Err((
            format!("a type of ${field}, one of {known}"),
            quoted(&found),
        )),
        Err(Error::RepeatedName { field, name }) => Err((
            format!("another name for each number of ${field}"),
            format!("{} twice", quoted(&name)),
        )),
        Err(other) => Err(("a message that can be defined".into(), other.to_string())),
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}
