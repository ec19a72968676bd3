//! Catalogues: the events of a program in a text file, each with its documentation.
//! docs/events.md describes the form of the file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::channels::channels_of_event;
use super::name::event_name;
use super::{Definition, Priority, Syntax, checked_fields};
use crate::error::{Error, Result};
use crate::shm;

/// An event of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueEvent {
    /// The number of its line in the file, from 1 on.
    pub line: usize,
    /// Its name, which no other event of the file has: `engine.got_packet`.
    pub name: String,
    /// The part of the program it belongs to.
    pub category: String,
    /// How much detail it is.
    pub priority: Priority,
    /// Its channels, with `|` between; `=on` behind those that are on at first.
    pub channels: String,
    /// The message, with the documentation as further lines.
    pub message: String,
}

/// The events of a file, and its mistakes.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// The events without mistakes, in the order of the file.
    pub events: Vec<CatalogueEvent>,
    /// The mistakes, in the order of the file.
    pub mistakes: Vec<Error>,
}

impl Catalogue {
    /// Reads a file, with all its mistakes.
    ///
    /// # Errors
    /// `Io` if the file cannot be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Catalogue> {
        let path = path.as_ref();
        let text = shm::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        Ok(Catalogue::parse(path, &text))
    }

    /// Reads the text of a file. Its path is for mistakes, and for the first category: `engine` for
    /// `engine.events`.
    pub fn parse(path: &Path, text: &str) -> Catalogue {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut reading = Reading {
            path: path.to_path_buf(),
            category: stem.into_owned(),
            lines: HashMap::new(),
            prose: Prose::No,
            found: Catalogue::default(),
        };
        for (index, line) in text.lines().enumerate() {
            reading.line(index + 1, line.trim_end());
        }
        reading.found
    }

    /// The events.
    ///
    /// # Errors
    /// The first mistake, if there is one.
    pub fn sound(mut self) -> Result<Vec<CatalogueEvent>> {
        match self.mistakes.is_empty() {
            true => Ok(self.events),
            false => Err(self.mistakes.swap_remove(0)),
        }
    }
}

/// What was expected, and what was found.
type Mistake = (String, String);

/// Whether a line may be documentation.
enum Prose {
    /// No: an event or a section comes.
    No,
    /// Of the event at this place.
    Of(usize),
    /// Of an event that has a mistake.
    OfNone,
}

/// A file while it is read.
struct Reading {
    path: PathBuf,
    category: String,
    /// The lines of the names.
    lines: HashMap<String, usize>,
    prose: Prose,
    found: Catalogue,
}

impl Reading {
    fn line(&mut self, number: usize, line: &str) {
        if line.starts_with('#') {
            return;
        }
        if line.is_empty() {
            self.prose = Prose::No;
            return;
        }
        let head = line.split_once('|').map(|(head, _)| head);
        let is_event = head.is_some_and(|head| priority_and_channels(head).0.is_ok());
        if let (Prose::Of(_) | Prose::OfNone, false) = (&self.prose, is_event) {
            if let Prose::Of(event) = self.prose {
                let message = &mut self.found.events[event].message;
                message.push('\n');
                message.push_str(line);
            }
            return;
        }
        let read = match line.strip_prefix('[') {
            Some(section) => self.section(section),
            None => self.event(number, line),
        };
        self.prose = match (&read, line.starts_with('[')) {
            (_, true) => Prose::No,
            (Ok(()), false) => Prose::Of(self.found.events.len() - 1),
            (Err(_), false) => Prose::OfNone,
        };
        if let Err((expected, found)) = read {
            self.found.mistakes.push(Error::Catalogue {
                path: self.path.clone(),
                line: number,
                expected,
                found,
            });
        }
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
        self.category = category.ok_or_else(expected)?.to_owned();
        Ok(())
    }

    fn event(&mut self, line: usize, text: &str) -> Result<(), Mistake> {
        let (head, message) = text.split_once('|').ok_or_else(|| {
            let expected = "PRIORITY|MESSAGE, [CATEGORY] or # and a comment";
            (expected.to_owned(), quoted(text))
        })?;
        let (priority, channels) = priority_and_channels(head);
        let priority = priority.map_err(|found| (priorities(), quoted(&found)))?;
        channels_of_event(&channels).map_err(|error| match error {
            Error::BadChannel { found } => (
                "a channel of letters, digits, `_`, `.` and `-`, perhaps with =on".into(),
                quoted(&found),
            ),
            other => ("channels".into(), other.to_string()),
        })?;
        let message = message.trim();
        check_message(message)?;
        let name = event_name(&self.category, message, Syntax::Template);
        if let Some(other) = self.lines.get(&name) {
            let expected = format!("an event with another name than that of line {other}");
            return Err((expected, name));
        }
        self.lines.insert(name.clone(), line);
        self.found.events.push(CatalogueEvent {
            line,
            name,
            category: self.category.clone(),
            priority,
            channels,
            message: message.to_owned(),
        });
        Ok(())
    }
}

/// The priority before a `|`, or the word in its place, and the channels behind it.
fn priority_and_channels(head: &str) -> (Result<Priority, String>, String) {
    let mut words = head.split_whitespace();
    let first = words.next().unwrap_or_default();
    let priority = first.parse().map_err(|_| first.to_owned());
    (priority, words.collect::<Vec<_>>().join("|"))
}

fn priorities() -> String {
    let names = Priority::ALL.map(Priority::name);
    format!("a priority ({})", names.join(", "))
}

fn check_message(message: &str) -> Result<(), Mistake> {
    if message.is_empty() {
        return Err(("a message behind the |".into(), "nothing".into()));
    }
    if message.len() > Definition::LONGEST_TEXT || message.contains('\0') {
        let expected = "a message of at most 4,096 bytes without NUL";
        return Err((expected.into(), format!("{} bytes", message.len())));
    }
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
        Err(other) => Err(("a message that can be defined".into(), other.to_string())),
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Catalogue {
        Catalogue::parse("dir/engine.events".as_ref(), text)
    }

    #[test]
    fn events_have_prose_priorities_channels_and_categories() {
        let text = "# about\n\npacket|got packet $len:bytes\nIt came.\n# not shown\n  And more.\n\n\
                    info itv bbc=on | sent: $n\ntrace|idle\n\n[net rx]\nerror|lost $n\r\nprose|\n";
        let found = parsed(text);
        assert!(found.mistakes.is_empty(), "{:?}", found.mistakes);
        let told: Vec<_> = found
            .events
            .iter()
            .map(|event| {
                let CatalogueEvent {
                    line,
                    name,
                    category,
                    priority,
                    channels,
                    message,
                } = event;
                format!("{line} {name} {category} {priority} {channels} {message:?}")
            })
            .collect();
        assert_eq!(
            told,
            [
                "3 engine.got_packet engine packet  \
                 \"got packet $len:bytes\\nIt came.\\n  And more.\"",
                "8 engine.sent engine info itv|bbc=on \"sent: $n\"",
                "9 engine.idle engine trace  \"idle\"",
                "12 net_rx.lost net rx error  \"lost $n\\nprose|\"",
            ]
        );
    }

    #[test]
    fn mistakes_say_what_was_expected_and_where() {
        for (text, expected) in [
            (
                "got packet",
                "1: expected PRIORITY|MESSAGE, [CATEGORY] or # and a comment, found \"got packet\"",
            ),
            (
                "\nloud|got",
                "2: expected a priority (error, warning, info, trace, app, packet, library), \
                 found \"loud\"",
            ),
            (
                "info a,b|got",
                "1: expected a channel of letters, digits, `_`, `.` and `-`, perhaps with =on, \
                 found \"a,b\"",
            ),
            ("info|", "1: expected a message behind the |, found nothing"),
            (
                "[a\ninfo|x",
                "1: expected a category, such as [engine], found \"[a\"",
            ),
            (
                "[]",
                "1: expected a category, such as [engine], found \"[]\"",
            ),
            (
                "info|a $b\nprose\ntrace|a $c",
                "3: expected an event with another name than that of line 1, found engine.a",
            ),
        ] {
            let found = parsed(text);
            let told: Vec<_> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(told, [format!("dir/engine.events:{expected}")], "{text}");
        }
        let found = parsed("info|$a:u128");
        let told = found.mistakes[0].to_string();
        assert!(
            told.contains(":1: expected a type of $a, one of i8,")
                && told.ends_with("found \"u128\""),
            "{told}"
        );
        // The prose of an event with a mistake belongs to no other event.
        let found = parsed("info|a\n\nloud|b\nprose\n\ntrace|c\nmore");
        let messages: Vec<_> = found
            .events
            .iter()
            .map(|event| event.message.as_str())
            .collect();
        assert_eq!(messages, ["a", "c\nmore"]);
        assert!(parsed("info|a\nloud|").sound().is_ok());
        assert!(parsed("info|a\n\nloud|").sound().is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z|# \n\\[\\]$:=]{0,40}|(info\\|[a-c $]{1,4}\n){0,6}") {
            let found = parsed(&text);
            for event in &found.events {
                prop_assert!(checked_fields(&event.message).is_ok());
                let name = event_name(&event.category, &event.message, Syntax::Template);
                prop_assert_eq!(&name, &event.name);
            }
        }
    }
}
