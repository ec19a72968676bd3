//! The tables of definitions, strings and enable bytes in shared memory.
//!
//! All three only grow. The count of definitions is stored last, with Release, and publishes a
//! definition. A process that is killed before that leaves bytes that are not counted, and the next
//! define overwrites them. Changes are made under the define lock; readers take no lock.

use std::hash::Hasher;
use std::path::Path;
use std::sync::Arc;

use super::{Definition, Level, Priority, Syntax, bounded, checked_fields, fields};
use crate::error::{Error, Result};
use crate::layout::{Geometry, records};
use crate::shm::{Mapping, Place};
use crate::sync::{AtomicU8, AtomicU32, Ordering};

/// The number of a definition in one timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

impl EventId {
    /// The id without a definition, never enabled. Callers that ignore a failed define log with it.
    pub const NEVER: EventId = EventId(0);
}

/// The kinds of definition records.
mod kind {
    /// A message with `$name` arguments.
    pub const TEMPLATE: u8 = 1;
    /// A format of printf.
    pub const PRINTF: u8 = 2;
    /// Not of events: a loaded object, for reading call stacks.
    pub const MODULE: u8 = 3;
}

/// The category of loaded objects.
const MODULES: &str = "module";

/// A definition to find or to add.
struct Wanted<'a> {
    kind: u8,
    category: &'a str,
    priority: Priority,
    message: &'a str,
    /// The call site's file and line, if known; line 0 if not.
    file: &'a str,
    line: u32,
}

impl Wanted<'_> {
    fn hash(&self) -> u64 {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.write(&[self.priority as u8]);
        hash.write(self.category.as_bytes());
        hash.write(&[0]);
        hash.write(self.message.as_bytes());
        if self.kind != kind::TEMPLATE {
            hash.write(&[0, self.kind]);
            hash.write(&self.line.to_le_bytes());
            hash.write(self.file.as_bytes());
        }
        hash.finish()
    }
}

/// The definitions of one timeline.
#[derive(Clone)]
pub struct Definitions {
    map: Arc<Mapping>,
    geometry: Geometry,
}

impl Definitions {
    /// The tables of a mapping whose geometry was checked.
    pub fn new(map: &Arc<Mapping>, geometry: &Geometry) -> Definitions {
        Definitions {
            map: Arc::clone(map),
            geometry: *geometry,
        }
    }

    fn record(&self, id: u32) -> Place<'_, records::Definition> {
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
    pub fn string_bytes(&self) -> u64 {
        let used = self.map.header().field(|header| &header.strings_used);
        // Acquire, pairs with the Release in `intern`.
        let used = used.load(Ordering::Acquire);
        used.clamp(1, self.geometry.strings().length)
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
            category: self.string(word(|definition| &definition.category)),
            priority: Some(self.priority(id.0)?),
            message: self.string(word(|definition| &definition.message)),
            is_lost: false,
            syntax: match self.kind(id.0) {
                kind::PRINTF => Syntax::Printf,
                kind::MODULE => return None,
                _ => Syntax::Template,
            },
            file: (file != 0).then(|| self.string(file)),
            line: (line != 0).then_some(line),
        })
    }

    fn kind(&self, id: u32) -> u8 {
        let kind = self.record(id).field(|definition| &definition.kind);
        kind.load(Ordering::Relaxed)
    }

    fn priority(&self, id: u32) -> Option<Priority> {
        let priority = self.record(id).field(|definition| &definition.priority);
        Priority::from_u8(priority.load(Ordering::Relaxed))
    }

    /// The objects that processes of the timeline have loaded, in their text form.
    pub fn modules(&self) -> impl Iterator<Item = String> {
        let modules = (1..self.count()).filter(|id| self.kind(*id) == kind::MODULE);
        modules.map(|id| {
            let message = self.record(id).field(|definition| &definition.message);
            self.long_string(message.load(Ordering::Relaxed), u64::MAX)
        })
    }

    /// A text of a definition.
    fn string(&self, offset: u32) -> String {
        // A character beyond the limit shows that the text is longer.
        let text = self.long_string(offset, Definition::LONGEST_TEXT as u64 + 4);
        bounded(&text).into_owned()
    }

    /// A string of the table, cut to `most` bytes.
    fn long_string(&self, offset: u32, most: u64) -> String {
        let strings = self.geometry.strings();
        let most = strings.length.saturating_sub(offset.into()).min(most);
        let bytes = match most {
            0 => Vec::new(),
            _ => self
                .map
                .read_c_str(strings.offset + u64::from(offset), most),
        };
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The definition with this category, priority and message. It is added if it is missing.
    ///
    /// The caller holds the define lock.
    pub fn define(
        &self,
        path: &Path,
        category: &str,
        priority: Priority,
        message: &str,
    ) -> Result<EventId> {
        checked_fields(message)?;
        let wanted = Wanted {
            kind: kind::TEMPLATE,
            category,
            priority,
            message,
            file: "",
            line: 0,
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
    ) -> Result<EventId> {
        check_text("file name", file)?;
        let wanted = Wanted {
            kind: kind::PRINTF,
            category,
            priority,
            message: format,
            file,
            line,
        };
        self.find_or_add(path, &wanted)
    }

    /// Adds the text form of an object that a process has loaded.
    ///
    /// The caller holds the define lock.
    pub fn define_module(&self, path: &Path, module: &str) -> Result<()> {
        let wanted = Wanted {
            kind: kind::MODULE,
            category: MODULES,
            priority: Priority::Library,
            message: module,
            file: "",
            line: 0,
        };
        self.find_or_add(path, &wanted).map(drop)
    }

    fn find_or_add(&self, path: &Path, wanted: &Wanted) -> Result<EventId> {
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
        let hash = wanted.hash();
        match self.find(hash, wanted) {
            Some(id) => Ok(id),
            None => self.add(path, hash, wanted),
        }
    }

    fn find(&self, hash: u64, wanted: &Wanted) -> Option<EventId> {
        let number = |field: &AtomicU32| field.load(Ordering::Relaxed);
        let text = |field| match number(field) {
            0 => String::new(),
            at => self.long_string(at, u64::MAX),
        };
        let is_wanted = |id: &u32| {
            let record = self.record(*id).shared();
            record.hash.load(Ordering::Relaxed) == hash
                && self.kind(*id) == wanted.kind
                && self.priority(*id) == Some(wanted.priority)
                && number(&record.line) == wanted.line
                && text(&record.category) == wanted.category
                && text(&record.message) == wanted.message
                && text(&record.file) == wanted.file
        };
        (1..self.count()).find(is_wanted).map(EventId)
    }

    fn add(&self, path: &Path, hash: u64, wanted: &Wanted) -> Result<EventId> {
        let id = self.count();
        if id >= self.geometry.definitions {
            return Err(Error::DefinitionTableFull {
                path: path.to_path_buf(),
                capacity: self.geometry.definitions - 1,
            });
        }
        let [category, message, file] =
            self.intern(path, [wanted.category, wanted.message, wanted.file])?;
        let record = self.record(id).shared();
        record.hash.store(hash, Ordering::Relaxed);
        record.category.store(category, Ordering::Relaxed);
        record.message.store(message, Ordering::Relaxed);
        record.file.store(file, Ordering::Relaxed);
        record.line.store(wanted.line, Ordering::Relaxed);
        let byte = |field: &AtomicU8, value| field.store(value, Ordering::Relaxed);
        byte(&record.priority, wanted.priority as u8);
        byte(&record.kind, wanted.kind);
        if wanted.kind == kind::TEMPLATE {
            byte(&record.arguments, fields(wanted.message).count() as u8);
            let types = record.types.iter().zip(fields(wanted.message));
            types.for_each(|(place, field)| byte(place, field.kind.code()));
        }
        let event = wanted.kind != kind::MODULE;
        self.enable(id, event && self.effective_level().allows(wanted.priority));
        // Release (pairs with the Acquire in `count`): publishes the record, its strings and its
        // enable byte.
        let defined = &self.map.header().shared().defined;
        defined.store(id + 1, Ordering::Release);
        Ok(EventId(id))
    }

    /// Adds all the strings or none, so that a failed define takes no space. An empty string is at
    /// 0.
    fn intern(&self, path: &Path, texts: [&str; 3]) -> Result<[u32; 3]> {
        let strings = self.geometry.strings();
        let used = self.string_bytes();
        let mut table = vec![0; used as usize];
        self.map.read(strings.offset, &mut table);
        let offsets = texts.map(|text| {
            if text.is_empty() {
                return 0;
            }
            let mut bytes = text.as_bytes().to_vec();
            bytes.push(0);
            find_string(&table, &bytes).unwrap_or_else(|| {
                table.extend(&bytes);
                table.len() - bytes.len()
            }) as u32
        });
        let end = table.len() as u64;
        if end > strings.length {
            return Err(Error::StringTableFull {
                path: path.to_path_buf(),
                needed: end - used,
                free: strings.length - used,
                size: strings.length,
            });
        }
        self.map
            .write(strings.offset + used, &table[used as usize..]);
        // Release, pairs with the Acquire in `string_bytes`.
        let used = &self.map.header().shared().strings_used;
        used.store(end, Ordering::Release);
        Ok(offsets)
    }

    /// The level in force: the level that was asked for or the sampler's, whichever is higher.
    pub fn effective_level(&self) -> Level {
        self.level().max(self.boost())
    }

    /// The level that was asked for.
    pub fn level(&self) -> Level {
        let level = self.map.header().field(|header| &header.level);
        Level::from_field(level.load(Ordering::Relaxed))
    }

    /// The level that a sampler asks for at the moment; none otherwise.
    pub fn boost(&self) -> Level {
        let boost = self.map.header().field(|header| &header.boost);
        Level::from_field(boost.load(Ordering::Relaxed))
    }

    /// Sets the level asked for. The caller holds the define lock.
    pub fn set_level(&self, level: Level) {
        let field = &self.map.header().shared().level;
        field.store(level.get().into(), Ordering::Relaxed);
        self.apply();
    }

    /// Sets the sampler's level. The caller holds the define lock.
    pub fn set_boost(&self, boost: Level) {
        let field = &self.map.header().shared().boost;
        field.store(boost.get().into(), Ordering::Relaxed);
        self.apply();
    }

    /// Brings every event's enable byte in line with the level in force.
    fn apply(&self) {
        let level = self.effective_level();
        for id in 1..self.count() {
            if self.kind(id) == kind::MODULE {
                continue;
            }
            let enabled = self.priority(id).is_some_and(|p| level.allows(p));
            self.enable(id, enabled);
        }
    }

    fn enable(&self, id: u32, enabled: bool) {
        // Relaxed: a writer that sees the change a moment later logs one event too many or too few.
        let byte = self.map.record::<AtomicU8>(self.geometry.enable().at(id));
        byte.shared().store(enabled.into(), Ordering::Relaxed);
    }
}

/// The offset of the string, with its NUL, at the start of a string in the table. The end of
/// another string would do as well, but would confuse a person who reads the raw file.
fn find_string(table: &[u8], with_nul: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(table, with_nul).find(|&at| at > 0 && table[at - 1] == 0)
}

fn check_text(what: &'static str, text: &str) -> Result<()> {
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

fn check_length(what: &'static str, text: &str) -> Result<()> {
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

    #[test]
    fn strings_are_shared_only_from_their_start() {
        let table = b"\0example\0ample\0";
        assert_eq!(find_string(table, b"example\0"), Some(1));
        assert_eq!(find_string(table, b"ample\0"), Some(9));
        assert_eq!(find_string(table, b"exam\0"), None);
    }
}
