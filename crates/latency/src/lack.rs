//! What a stream of events lacks, and how much of it.

use std::fmt::{self, Display, Formatter};

/// What is missing, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// So many entries were overwritten before they were read.
    Unread(u64),
    /// So many entries were overwritten before a recorder read them.
    Unrecorded(u64),
    /// Nobody knows how many entries: no recorder ran between two runs of a program.
    Unknown,
    /// So many bytes of an archive belong to no whole frame.
    Damaged(u64),
    /// So many files of an archive were removed before they were read.
    Removed(u64),
    /// So many entries that were recorded are gone, with a frame or a file.
    Gone(u64),
    /// So many events of an archive cannot be read from their blocks.
    Unreadable(u64),
}

impl Lack {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Lack::Unread(_) => "unread",
            Lack::Unrecorded(_) => "unrecorded",
            Lack::Unknown => "unknown",
            Lack::Damaged(_) => "damaged",
            Lack::Removed(_) => "removed",
            Lack::Gone(_) => "gone",
            Lack::Unreadable(_) => "unreadable",
        }
    }

    /// How many entries are missing, if that is known.
    pub fn entries(self) -> Option<u64> {
        match self {
            Lack::Unread(entries) | Lack::Unrecorded(entries) | Lack::Gone(entries) => {
                Some(entries)
            }
            Lack::Unknown | Lack::Damaged(_) | Lack::Removed(_) | Lack::Unreadable(_) => None,
        }
    }
}

impl Display for Lack {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let entries = |count| things(count, "entry", "entries");
        match *self {
            Lack::Unread(count) => {
                write!(f, "{} overwritten before they were read", entries(count))
            }
            Lack::Unrecorded(count) => {
                let entries = entries(count);
                write!(f, "{entries} overwritten before they were recorded")
            }
            Lack::Unknown => f.write_str(
                "an unknown number of entries, because no recorder ran between two runs",
            ),
            Lack::Damaged(count) => {
                let bytes = things(count, "byte", "bytes");
                write!(f, "{bytes} of no whole frame")
            }
            Lack::Removed(count) => {
                let files = things(count, "file", "files");
                write!(f, "{files} removed before they were read")
            }
            Lack::Gone(count) => {
                let entries = entries(count);
                write!(f, "{entries} recorded and gone since")
            }
            Lack::Unreadable(count) => {
                let events = things(count, "event", "events");
                write!(f, "{events} of damaged or unknown blocks")
            }
        }
    }
}

/// A number of things, in words.
fn things(count: u64, one: &str, many: &str) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let word = if count == 1 { one } else { many };
    format!("{text} {word}")
}
