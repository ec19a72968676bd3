//! The numbers that events refer to and that have no text, and the texts that were found for them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use sha1::{Digest, Sha1};
use timeline::Labels;
use timeline::internal::ValueKind;

use crate::format::digest::first_word;
use crate::format::event::{RawDefinition, RawThread};
use crate::read::texts::names::Names;

/// Most numbers that are looked for.
pub const MOST: usize = 1 << 20;
/// Most bytes of texts that are found.
const MOST_BYTES: usize = 64 << 20;
/// Most kinds of the values of one message: its events have one.
pub const MOST_KINDS: usize = 16;
/// Bytes of the longest list of names of numbers, and how many of such types are tried.
const MOST_NAMES: usize = 2048;
const MOST_LISTS: usize = 128;
/// Bytes of the name of a process.
const PROCESS_NAME: usize = 15;

/// The kinds of the values of an event, as far as they are known.
pub type ValueKinds = Vec<Option<ValueKind>>;

/// The numbers without a text.
#[derive(Default)]
pub struct LostTexts {
    texts: HashMap<u64, Lost>,
    /// The numbers that were found, in order, with their texts.
    found: Vec<(u64, String)>,
    bytes: usize,
    /// The values of events whose messages are wanted, by how many they are, and of how many
    /// messages: set when a phase begins.
    kinds: HashMap<usize, BTreeMap<ValueKinds, usize>>,
    /// Whether channels are wanted.
    pub channels: bool,
    /// Types with names of numbers that stand in executables, as messages have them.
    pub names: Vec<String>,
}

/// A number without a text.
#[derive(Default)]
struct Lost {
    magics: BTreeSet<u64>,
    is_found: bool,
    is_channels: bool,
    /// Of messages with named arguments: the values of their events.
    kinds: BTreeSet<ValueKinds>,
}

/// Whether the message of a definition is lost, and has named arguments.
pub fn is_lost(names: &Names, magic: u64, definition: &RawDefinition) -> bool {
    let id = definition.format.filter(|_| definition.syntax.is_none());
    id.is_some_and(|id| names.string(magic, id).is_none())
}

impl LostTexts {
    fn want(&mut self, names: &Names, magic: u64, id: Option<u64>) -> Option<&mut Lost> {
        let id = id.filter(|id| names.string(magic, *id).is_none())?;
        let is_known = self.texts.contains_key(&id);
        if !is_known && self.texts.len() >= MOST {
            return None;
        }
        let lost = self.texts.entry(id).or_default();
        lost.magics.insert(magic);
        Some(lost)
    }

    /// Wants what a definition refers to. `kinds`: of the values of its events.
    pub fn want_definition(
        &mut self,
        names: &Names,
        magic: u64,
        definition: &RawDefinition,
        kinds: Option<ValueKinds>,
    ) {
        self.want(names, magic, definition.file);
        self.want(names, magic, definition.category);
        if let Some(lost) = self.want(names, magic, definition.channels) {
            lost.is_channels = true;
        }
        if let Some(lost) = self.want(names, magic, definition.format)
            && definition.syntax.is_none()
            && lost.kinds.len() < MOST_KINDS
        {
            lost.kinds.extend(kinds);
        }
    }

    /// Wants what a thread refers to.
    pub fn want_thread(&mut self, names: &Names, magic: u64, thread: &RawThread) {
        for id in [thread.name, thread.process, thread.group] {
            self.want(names, magic, id);
        }
    }

    /// How many texts are lost, of each ring.
    pub fn lost(&self) -> u64 {
        self.texts
            .values()
            .map(|lost| lost.magics.len() as u64)
            .sum()
    }

    /// How many numbers were found.
    pub fn count(&self) -> u64 {
        self.found.len() as u64
    }

    /// Whether nothing is left to be found.
    pub fn is_done(&self) -> bool {
        self.found.len() == self.texts.len() || self.bytes >= MOST_BYTES
    }

    /// How much was found before a file.
    pub fn begin(&self) -> usize {
        self.found.len()
    }

    /// Forgets what was found since: the file was another one.
    pub fn drop_since(&mut self, before: usize) {
        for (id, text) in self.found.drain(before..) {
            self.bytes -= text.len();
            if let Some(lost) = self.texts.get_mut(&id) {
                lost.is_found = false;
            }
        }
    }

    /// Notes what is wanted still.
    pub fn begin_phase(&mut self) {
        let left = || self.texts.values().filter(|lost| !lost.is_found);
        let channels = left().any(|lost| lost.is_channels);
        let mut wanted = HashMap::<usize, BTreeMap<ValueKinds, usize>>::new();
        for kinds in left().flat_map(|lost| &lost.kinds) {
            let of_count = wanted.entry(kinds.len()).or_default();
            *of_count.entry(kinds.clone()).or_default() += 1;
        }
        (self.kinds, self.channels) = (wanted, channels);
    }

    /// Whether messages with arguments are wanted.
    pub fn wants_messages(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// The kinds of so many values, of which messages are wanted.
    pub fn kinds_of(&self, count: usize) -> Vec<ValueKinds> {
        let kinds = self.kinds.get(&count).into_iter().flat_map(BTreeMap::keys);
        kinds.cloned().collect()
    }

    /// Whether a message is wanted whose events have such values.
    pub fn wants(&self, kinds: &ValueKinds) -> bool {
        let of_count = self.kinds.get(&kinds.len());
        of_count.is_some_and(|of_count| of_count.contains_key(kinds))
    }

    /// Takes a text, if its number is wanted.
    pub fn try_text(&mut self, text: &str) {
        let id = first_word(&Sha1::digest(text));
        if let Some(lost) = self.texts.get_mut(&id)
            && !lost.is_found
            && self.bytes < MOST_BYTES
        {
            lost.is_found = true;
            self.bytes += text.len();
            self.found.push((id, text.to_string()));
            for kinds in &lost.kinds {
                let Some(of_count) = self.kinds.get_mut(&kinds.len()) else {
                    continue;
                };
                if let Some(count) = of_count.get_mut(kinds) {
                    *count -= 1;
                    if *count == 0 {
                        of_count.remove(kinds);
                    }
                }
                if of_count.is_empty() {
                    self.kinds.remove(&kinds.len());
                }
            }
        }
    }

    /// Takes a text that may be a list of names with their numbers.
    pub fn take_names(&mut self, text: &str) {
        let is_list = text.len() <= MOST_NAMES && Labels::parse(text).is_some();
        if is_list && self.names.len() < MOST_LISTS {
            let types = ["enum", "flags"].map(|kind| format!(":{kind}({text})"));
            let new = types.into_iter().filter(|kind| !self.names.contains(kind));
            let new: Vec<String> = new.collect();
            self.names.extend(new);
        }
    }

    /// Tries what the path of an executable says: processes have its name, up to 15 bytes.
    pub fn take_name_of(&mut self, path: Option<&str>) {
        let Some(path) = path else {
            return;
        };
        let name = Path::new(path).file_name().unwrap_or_default();
        let name = name.as_encoded_bytes();
        let name = &name[..name.len().min(PROCESS_NAME)];
        self.try_text(&String::from_utf8_lossy(name));
    }

    /// Tries the texts that the archive has of other rings.
    pub fn take_known(&mut self, names: &Names) {
        let ids: Vec<u64> = self.texts.keys().copied().collect();
        for id in ids {
            if let Some(text) = names.string_of_any(id) {
                self.try_text(&text);
            }
        }
    }

    /// The ring, the number and the text of each that was found.
    pub fn found(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        let sorted: BTreeMap<u64, &str> = self.found.iter().map(|(id, t)| (*id, &**t)).collect();
        sorted.into_iter().flat_map(|(id, text)| {
            let magics = self.texts.get(&id).map(|lost| &lost.magics);
            let magics = magics.into_iter().flatten();
            magics.map(move |magic| (*magic, id, text))
        })
    }
}
