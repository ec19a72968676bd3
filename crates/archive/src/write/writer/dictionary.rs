//! Remembers the strings and symbols that a file has already, so that each is written once.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use sha1::{Digest, Sha1};
use timeline::{Frame, InlinedFunction, Module, SourceLine};

use super::Writer;
use crate::format::digest::first_word;
use crate::format::process::ProcessRecord;
use crate::format::string::StringDefinition;
use crate::format::symbol::Symbol;

/// The strings and symbols of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDictionary {
    /// The numbers of the strings.
    pub strings: HashSet<u64>,
    /// Addresses, each with its process: an address means something else in each process.
    pub addresses: HashSet<(Option<u64>, u64)>,
    /// Pid of processes and when they joined, and whether their fingerprints are there.
    pub processes: HashMap<(Option<u64>, Option<u64>), bool>,
    /// What processes have loaded.
    pub modules: HashSet<Module>,
}

impl FileDictionary {
    /// Adds a process. Returns whether there is anything new about it.
    pub fn process(&mut self, process: &ProcessRecord) -> bool {
        let has_sha1 = process.sha1.is_some();
        let known = self.processes.entry((process.pid, process.joined));
        let mut is_new = false;
        let known = known.or_insert_with(|| {
            is_new = true;
            has_sha1
        });
        is_new |= has_sha1 && !*known;
        *known |= has_sha1;
        is_new
    }
}

/// Longer strings are cut, so that a record with one stays within its bounds.
pub const MOST_TEXT: usize = 1 << 20;
impl<W: Write> Writer<W> {
    /// The number of a string. If the file does not define the string yet, the definition is
    /// written.
    ///
    /// The number is computed from the string, so it is the same in all archives of a ring, and
    /// after any restart.
    pub fn string(&mut self, text: &str) -> u64 {
        let text = cut(text);
        let id = first_word(&Sha1::digest(text));
        if self.known.strings.insert(id) {
            let definition = StringDefinition {
                magic: Some(self.magic),
                id: Some(id),
                string: Some(text.to_string()),
                recovered: false,
            };
            definition.encode(&mut self.fields, &mut self.record);
            self.frame();
        }
        id
    }

    /// Whether the file has the symbol of an address of a process.
    pub fn knows_address(&self, pid: Option<u64>, address: u64) -> bool {
        self.known.addresses.contains(&(pid, address))
    }

    /// Writes the symbol of an address of a process, unless the file has it already.
    pub fn symbol(&mut self, pid: Option<u64>, frame: &Frame) {
        if self.known.addresses.insert((pid, frame.address)) {
            let text = |text: &str| cut(text).to_string();
            let source = frame.source.as_ref();
            let symbol = Symbol {
                magic: Some(self.magic),
                address: Some(frame.address),
                file: frame.file.as_deref().map(text),
                base: frame.base,
                name: frame.name.as_deref().map(text),
                start: frame.start,
                pid,
                source: source.map(|source| text(&source.file)),
                line: source.map(|source| source.line.into()),
                recovered: false,
                inlined: frame.inlined.iter().map(bounded).collect(),
            };
            symbol.encode(&mut self.fields, &mut self.record);
            self.frame();
        }
    }
}

/// A function with texts that no record is too small for.
fn bounded(called: &InlinedFunction) -> InlinedFunction {
    let text = |text: &str| cut_at(text, MOST_TEXT / InlinedFunction::MOST).to_string();
    InlinedFunction {
        name: called.name.as_deref().map(text),
        source: called.source.as_ref().map(|source| SourceLine {
            file: text(&source.file),
            ..*source
        }),
    }
}

fn cut(text: &str) -> &str {
    cut_at(text, MOST_TEXT)
}

fn cut_at(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        let text = "ä".repeat(MOST_TEXT);
        assert_eq!(cut(&text).len(), MOST_TEXT);
        let text = format!("a{text}");
        assert_eq!(cut(&text).len(), MOST_TEXT - 1);
        assert_eq!(cut("short"), "short");
    }
}
