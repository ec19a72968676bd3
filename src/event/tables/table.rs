//! The tables of definitions, strings and enable bytes in shared memory.
//!
//! All three only grow. The count of definitions is stored last, with Release, and publishes a
//! definition. A process that is killed before that leaves bytes that are not counted, and the next
//! define overwrites them. Changes are made under the define lock; readers take no lock.
//!
//! The fields of a record are Relaxed: they are stored before that Release, and loaded after the
//! Acquire in `count`. What changes later, under the lock, is a number by itself: the verdict of
//! rules, the channels that are on.

use std::hash::Hasher;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::event::control::channel::{Switch, channels_of_event};
use crate::event::control::rules::{Rules, Verdict};
use crate::event::definitions::definition::{Attributes, Definition};
use crate::event::definitions::event_id::EventId;
use crate::event::definitions::priority::Priority;
use crate::event::messages::syntax::Syntax;
use crate::event::messages::template::{checked_fields, fields};
use crate::event::tables::channels::Channels;
use crate::event::tables::string_table::StringTable;
use crate::event::tables::strings::Strings;
use crate::event::tables::switches::Switches;
use crate::layout::records::FLAG_IMPORTANT;
use crate::layout::{ENABLED, ENABLED_IMPORTANT, Geometry, records};
use crate::shm::{Mapping, RecordAccess};
use crate::sync::{AtomicU8, AtomicU32, Ordering};

/// The kinds of definition records.
mod kind {
    /// A message with `$name` arguments.
    pub const TEMPLATE: u8 = 1;
    /// A format of printf.
    pub const PRINTF: u8 = 2;
    /// Not of events: a loaded object, for reading call stacks.
    pub const MODULE: u8 = 3;
}

/// How messages of that kind mark the places of values; `None` for what is no event.
fn syntax(kind: u8) -> Option<Syntax> {
    match kind {
        kind::PRINTF => Some(Syntax::Printf),
        kind::MODULE => None,
        _ => Some(Syntax::Template),
    }
}

fn flags(attributes: &Attributes) -> u8 {
    match attributes.important {
        true => FLAG_IMPORTANT,
        false => 0,
    }
}

/// The category of loaded objects.
const MODULES: &str = "module";

/// A definition to find or to add.
struct DefinitionKey<'a> {
    kind: u8,
    category: &'a str,
    priority: Priority,
    message: &'a str,
    /// The call site's file and line, if known; line 0 if not.
    file: &'a str,
    line: u32,
    channels: &'a [Switch],
    flags: u8,
}

impl DefinitionKey<'_> {
    /// `channels`: its channels, as bits.
    fn hash(&self, channels: u64) -> u64 {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.write(&[self.priority as u8]);
        hash.write(self.category.as_bytes());
        hash.write(&[0]);
        hash.write(self.message.as_bytes());
        if self.kind != kind::TEMPLATE || !self.file.is_empty() {
            hash.write(&[0, self.kind]);
            hash.write(&self.line.to_le_bytes());
            hash.write(self.file.as_bytes());
        }
        if channels != 0 {
            hash.write(&[0]);
            hash.write(&channels.to_le_bytes());
        }
        if self.flags != 0 {
            hash.write(&[0, self.flags]);
        }
        hash.finish()
    }
}

/// The definitions of one timeline.
#[derive(Clone)]
pub struct Definitions {
    pub(super) map: Arc<Mapping>,
    pub(super) geometry: Geometry,
    pub(super) strings: Strings,
    /// The interned texts.
    pub(crate) interned: StringTable,
    pub(super) channels: Channels,
    pub(super) switches: Switches,
}

impl Definitions {
    /// The tables of a mapping whose geometry was checked.
    pub fn new(map: &Arc<Mapping>, geometry: &Geometry) -> Definitions {
        Definitions {
            map: Arc::clone(map),
            geometry: *geometry,
            strings: Strings::new(map, geometry),
            interned: StringTable::new(map, geometry),
            channels: Channels::new(map, geometry),
            switches: Switches::new(map),
        }
    }

    fn record(&self, id: u32) -> RecordAccess<'_, records::Definition> {
        self.map.record(self.geometry.definition().at(id))
    }

    /// How many definitions there are, including number 0, which is never enabled.
    pub fn count(&self) -> u32 {
        // Acquire (pairs with the Release in `add`): the records and strings below it are visible.
        let defined = self.map.header().field(|header| &header.defined);
        let count = defined.load(Ordering::Acquire);
        count.clamp(1, self.geometry.definitions)
    }

    /// Bytes of the string table in use.
    pub fn strings_used(&self) -> u64 {
        self.strings.used()
    }

    /// The definition of this number, if there is one and its record is valid.
    pub fn get(&self, id: EventId) -> Option<Definition> {
        if id.0 == 0 || id.0 >= self.count() {
            return None;
        }
        let record = self.record(id.0);
        let word = |field: fn(&records::Definition) -> &AtomicU32| {
            record.field(field).load(Ordering::Relaxed)
        };
        let file = word(|definition| &definition.file);
        let line = word(|definition| &definition.line);
        Some(Definition {
            id,
            category: self.strings.text(word(|definition| &definition.category)),
            priority: Some(self.priority(id.0)?),
            message: self.strings.text(word(|definition| &definition.message)),
            is_lost: false,
            is_category_lost: false,
            important: Some(self.flags(id.0) & FLAG_IMPORTANT != 0),
            syntax: syntax(self.kind(id.0))?,
            file: (file != 0).then(|| self.strings.text(file)),
            line: (line != 0).then_some(line),
            channels: {
                let bits = record.field(|definition| &definition.channels);
                self.channels.text(bits.load(Ordering::Relaxed))
            },
            object: None,
        })
    }

    fn kind(&self, id: u32) -> u8 {
        let kind = self.record(id).field(|definition| &definition.kind);
        kind.load(Ordering::Relaxed)
    }

    fn flags(&self, id: u32) -> u8 {
        let flags = self.record(id).field(|definition| &definition.flags);
        flags.load(Ordering::Relaxed)
    }

    fn priority(&self, id: u32) -> Option<Priority> {
        let priority = self.record(id).field(|definition| &definition.priority);
        Priority::from_u8(priority.load(Ordering::Relaxed))
    }

    /// The objects that processes of the timeline have loaded, in their text form.
    pub fn modules(&self) -> impl Iterator<Item = String> {
        self.modules_in(1..self.count())
    }

    /// Those among these definitions.
    pub fn modules_in(&self, ids: Range<u32>) -> impl Iterator<Item = String> {
        let modules = ids.filter(|id| self.kind(*id) == kind::MODULE);
        modules.map(|id| {
            let message = self.record(id).field(|definition| &definition.message);
            self.strings
                .whole(message.load(Ordering::Relaxed), u64::MAX)
        })
    }

    /// The definition with this category, priority, message and attributes. It is added if it is
    /// missing.
    ///
    /// The caller holds the define lock.
    pub fn define(
        &self,
        path: &Path,
        category: &str,
        priority: Priority,
        message: &str,
        attributes: &Attributes,
    ) -> Result<EventId> {
        self.define_event(path, category, priority, message, ("", 0), attributes)
    }

    /// The definition of a call site with a message with arguments; without a place (`("", 0)`) it
    /// is of no call site.
    ///
    /// The caller holds the define lock.
    pub fn define_event(
        &self,
        path: &Path,
        category: &str,
        priority: Priority,
        message: &str,
        (file, line): (&str, u32),
        attributes: &Attributes,
    ) -> Result<EventId> {
        checked_fields(message)?;
        let channels = channels_of_event(attributes.channels)?;
        if line != 0 || !file.is_empty() {
            check_text("file name", file)?;
        }
        let wanted = DefinitionKey {
            kind: kind::TEMPLATE,
            category,
            priority,
            message,
            file,
            line,
            channels: &channels,
            flags: flags(attributes),
        };
        self.find_or_add(path, &wanted)
    }

    /// The definition of a call site with a format of printf.
    ///
    /// The caller holds the define lock.
    pub fn define_printf(
        &self,
        path: &Path,
        category: &str,
        priority: Priority,
        format: &str,
        (file, line): (&str, u32),
        attributes: &Attributes,
    ) -> Result<EventId> {
        let channels = channels_of_event(attributes.channels)?;
        check_text("file name", file)?;
        let wanted = DefinitionKey {
            kind: kind::PRINTF,
            category,
            priority,
            message: format,
            file,
            line,
            channels: &channels,
            flags: flags(attributes),
        };
        self.find_or_add(path, &wanted)
    }

    /// Adds the text form of an object that a process has loaded.
    ///
    /// The caller holds the define lock.
    pub fn define_module(&self, path: &Path, module: &str) -> Result<()> {
        let wanted = DefinitionKey {
            kind: kind::MODULE,
            category: MODULES,
            priority: Priority::Library,
            message: module,
            file: "",
            line: 0,
            channels: &[],
            flags: 0,
        };
        self.find_or_add(path, &wanted).map(drop)
    }

    fn find_or_add(&self, path: &Path, wanted: &DefinitionKey) -> Result<EventId> {
        check_text("category", wanted.category)?;
        // A format may be empty: its events still show when the call site ran, and its call stack.
        if wanted.kind != kind::PRINTF || !wanted.message.is_empty() {
            check_text("message", wanted.message)?;
        }
        let texts = [
            ("category", wanted.category),
            ("message", wanted.message),
            ("file name", wanted.file),
        ];
        for (what, text) in texts.into_iter().filter(|_| wanted.kind != kind::MODULE) {
            check_length(what, text)?;
        }
        let channels = self
            .channels
            .known(wanted.channels.iter().map(|(name, _)| name));
        let id = match channels.and_then(|channels| self.find(channels, wanted)) {
            Some(id) => id,
            None => self.add(path, wanted)?,
        };
        let bits = self.channels.to_switch_on(wanted.channels);
        if bits != 0 {
            self.switches.begin();
            self.channels.switch_on(bits);
            self.enable_all();
            self.switches.applied();
        }
        Ok(id)
    }

    fn find(&self, channels: u64, wanted: &DefinitionKey) -> Option<EventId> {
        let hash = wanted.hash(channels);
        let number = |field: &AtomicU32| field.load(Ordering::Relaxed);
        let text = |field| match number(field) {
            0 => String::new(),
            at => self.strings.whole(at, u64::MAX),
        };
        let is_wanted = |id: &u32| {
            let record = self.record(*id).shared();
            record.hash.load(Ordering::Relaxed) == hash
                && self.kind(*id) == wanted.kind
                && self.priority(*id) == Some(wanted.priority)
                && number(&record.line) == wanted.line
                && record.channels.load(Ordering::Relaxed) == channels
                && self.flags(*id) == wanted.flags
                && text(&record.category) == wanted.category
                && text(&record.message) == wanted.message
                && text(&record.file) == wanted.file
        };
        (1..self.count()).find(is_wanted).map(EventId)
    }

    fn add(&self, path: &Path, wanted: &DefinitionKey) -> Result<EventId> {
        let id = self.count();
        if id >= self.geometry.definitions {
            return Err(Error::DefinitionTableFull {
                path: path.to_path_buf(),
                capacity: self.geometry.definitions - 1,
            });
        }
        let missing = self.channels.missing(path, wanted.channels)?;
        let texts = [wanted.category, wanted.message, wanted.file];
        let offsets = self
            .strings
            .intern(path, &[&texts[..], &missing[..]].concat())?;
        let (texts, missing) = offsets.split_at(texts.len());
        self.channels.add(missing);
        let record = self.record(id).shared();
        let channels = self
            .channels
            .known(wanted.channels.iter().map(|(name, _)| name));
        let channels = channels.unwrap_or(0);
        record.hash.store(wanted.hash(channels), Ordering::Relaxed);
        record.channels.store(channels, Ordering::Relaxed);
        record.category.store(texts[0], Ordering::Relaxed);
        record.message.store(texts[1], Ordering::Relaxed);
        record.file.store(texts[2], Ordering::Relaxed);
        record.line.store(wanted.line, Ordering::Relaxed);
        let byte = |field: &AtomicU8, value| field.store(value, Ordering::Relaxed);
        byte(&record.priority, wanted.priority as u8);
        byte(&record.kind, wanted.kind);
        byte(&record.flags, wanted.flags);
        if wanted.kind == kind::TEMPLATE {
            byte(&record.arguments, fields(wanted.message).count() as u8);
        }
        if let Some(syntax) = syntax(wanted.kind) {
            let rules = self.switches.rules();
            let verdict = rules.verdict(wanted.category, wanted.message, syntax);
            byte(&record.rule, verdict.code());
        }
        self.enable(id);
        // Release (pairs with the Acquire in `count`): publishes the record, its strings and its
        // enable byte.
        let defined = &self.map.header().shared().defined;
        defined.store(id + 1, Ordering::Release);
        Ok(EventId(id))
    }

    /// Keeps what the rules say of each event in its record.
    pub(super) fn judge(&self, rules: &Rules) {
        for id in 1..self.count() {
            let record = self.record(id).shared();
            let Some(syntax) = syntax(self.kind(id)) else {
                continue;
            };
            let verdict = match rules.is_only_level() {
                true => Verdict::Default,
                false => {
                    let text = |field: &AtomicU32| self.strings.text(field.load(Ordering::Relaxed));
                    rules.verdict(&text(&record.category), &text(&record.message), syntax)
                }
            };
            record.rule.store(verdict.code(), Ordering::Relaxed);
        }
    }

    /// Brings the enable byte of each event in line with what was asked for.
    pub(super) fn enable_all(&self) {
        (1..self.count()).for_each(|id| self.enable(id));
    }

    fn enable(&self, id: u32) {
        let rule = &self.record(id).shared().rule;
        let verdict = Verdict::from_code(rule.load(Ordering::Relaxed));
        let is_event = syntax(self.kind(id)).is_some();
        let priority = self.priority(id).filter(|_| is_event);
        let channels = &self.record(id).shared().channels;
        let are_on = channels.load(Ordering::Relaxed) & !self.channels.on() == 0;
        let allows = |priority| are_on && self.switches.allows(verdict, priority);
        let enabled = priority.is_some_and(allows);
        // Relaxed: a writer that sees the change a moment later logs one event too many or too few.
        let byte = self.map.record::<AtomicU8>(self.geometry.enable().at(id));
        let value = match (enabled, self.flags(id) & FLAG_IMPORTANT) {
            (false, _) => 0,
            (true, 0) => ENABLED,
            (true, _) => ENABLED_IMPORTANT,
        };
        byte.shared().store(value, Ordering::Relaxed);
    }
}

/// Refuses a text that no definition has.
pub(crate) fn check_text(what: &'static str, text: &str) -> Result<()> {
    let bad = |expected, found: String| {
        Err(Error::BadText {
            what,
            expected,
            found,
        })
    };
    if text.is_empty() {
        return bad("at least one character", "nothing".to_string());
    }
    if let Some(at) = text.find('\0') {
        return bad(
            "text without NUL",
            format!("a NUL at byte {at} of {text:?}"),
        );
    }
    if what == "category" && text.contains(['\n', '\r']) {
        return bad("one line", format!("{text:?}"));
    }
    Ok(())
}

/// Refuses a text that is longer than those of definitions.
pub(crate) fn check_length(what: &'static str, text: &str) -> Result<()> {
    match text.len() {
        0..=Definition::LONGEST_TEXT => Ok(()),
        length => Err(Error::BadText {
            what,
            expected: "at most 4,096 bytes long",
            found: format!("{length} bytes"),
        }),
    }
}

// FNV-1a, 64 bits (Fowler, Noll, Vo). It is part of the format, so it is not left to a library.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_fnv_1a() {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.write(b"foobar");
        assert_eq!(hash.finish(), 0x85944171f73967e8);
    }
}
