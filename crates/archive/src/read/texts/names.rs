//! Finds the names behind the numbers of an archive: strings, programs and symbols.
//! From these it makes the definitions and threads that readers are given.
//!
//! Names are only added, and readers hold shared references to them. So a reader can find a new
//! definition while it shows earlier events, and can follow an archive that grows.
//!
//! Counts, digests and flags are Relaxed: each is a number by itself, and the names are behind
//! locks.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use elsa::sync::{FrozenMap, FrozenVec};
use timeline::internal::{Object, bounded};
use timeline::{
    Definition, EventId, Module, Priority, ProcessExecutable, Syntax, Thread, ThreadRef,
};

use crate::format::clock::ClockComparison;
use crate::format::event::{OBJECT, PRINTF, RawDefinition, RawThread};
use crate::format::preamble::Preamble;
use crate::format::process::ProcessRecord;
use crate::format::record::Record;
use crate::format::symbol::Symbol;
use crate::read::texts::clocks::RingClocks;
use crate::read::texts::processes::Processes;
use crate::read::texts::sessions::{Sessions, TraceSession};

/// An event keeps the number that it has in its ring if that is below this, and no event of another
/// ring has it already.
const OF_THE_RING: u32 = 1 << 16;
/// The first number of the other events.
const OTHERS: u32 = 1 << 12;
/// The most bytes of strings that definitions and threads copy: `COPIES`, and `COPIES_OF_EACH` for
/// each byte of the strings in the archive. Beyond that, a copy is cut to `CUT` characters.
const COPIES: usize = 8 << 20;
const COPIES_OF_EACH: usize = 6;
const CUT: usize = 48;

/// The names behind the numbers of an archive.
#[derive(Default)]
pub struct Names {
    preambles: FrozenVec<Box<Preamble>>,
    /// The last preamble of each magic: its place in `preambles`.
    programs: Mutex<HashMap<u64, usize>>,
    /// By magic and number.
    strings: FrozenMap<(u64, u64), Box<Arc<str>>>,
    /// The number of bytes of all strings.
    length: Mutex<usize>,
    /// The magics of strings.
    with_strings: Mutex<HashSet<u64>>,
    /// Magic and number of each string that was found in an executable.
    recovered: Mutex<BTreeSet<(u64, u64)>>,
    /// How many names of symbols were found by modules.
    recovered_symbols: AtomicU64,
    /// By magic, process and address.
    symbols: FrozenMap<(u64, Option<u64>, u64), Box<Symbol>>,
    /// The sum of the digests of all symbols.
    symbols_digest: AtomicU64,
    /// Whether a copy was cut because all are too long together.
    are_cut: AtomicBool,
    processes: Mutex<Processes>,
    sessions: Mutex<Sessions>,
    clocks: Mutex<RingClocks>,
    definitions: FrozenMap<u32, Box<Definition>>,
    numbered: Mutex<Definitions>,
    threads: Mutex<Threads>,
}

/// The definitions, and the numbers that they got.
#[derive(Default)]
struct Definitions {
    numbers: HashMap<(u64, RawDefinition), u32>,
    taken: HashSet<u32>,
    /// The magic and the number of the string of each message.
    messages: HashMap<u32, (u64, u64)>,
    /// All numbers from [`OTHERS`] up to this one are taken.
    next: u32,
    /// The numbers of all definitions, in the order in which they were found.
    found: Vec<u32>,
    /// The bytes of strings that they copied.
    copied: usize,
}

#[derive(Default)]
struct Threads {
    numbers: HashMap<(u64, RawThread), u32>,
    found: Vec<ThreadOfRing>,
    /// The bytes of strings that they copied.
    copied: usize,
}

/// A thread that logged events: the magic of its ring, its process, and what is shown of it.
struct ThreadOfRing {
    magic: u64,
    pid: Option<u64>,
    thread: Option<Thread>,
}

fn digest(symbol: &Symbol) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(symbol)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Names {
    /// Adds the names in a record.
    pub fn take(&self, decoded: Record) {
        match decoded {
            Record::Preamble(preamble) => {
                let magic = preamble.magic;
                let place = self.preambles.push_get_index(Box::new(preamble));
                if let Some(magic) = magic {
                    lock(&self.programs).insert(magic, place);
                }
            }
            Record::String(string) => {
                if let (Some(id), Some(text)) = (string.id, string.string) {
                    let key = (string.magic.unwrap_or(0), id);
                    *lock(&self.length) += text.len();
                    lock(&self.with_strings).insert(key.0);
                    if string.recovered {
                        lock(&self.recovered).insert(key);
                    }
                    self.strings.insert(key, Box::new(text.into()));
                }
            }
            Record::Symbol(symbol) => {
                if let Some(address) = symbol.address {
                    let key = (symbol.magic.unwrap_or(0), symbol.pid, address);
                    // Relaxed: a count, which nobody reads before all are taken.
                    self.symbols_digest
                        .fetch_add(digest(&symbol), Ordering::Relaxed);
                    // Relaxed: as above.
                    let recovered = u64::from(symbol.recovered && symbol.name.is_some());
                    self.recovered_symbols
                        .fetch_add(recovered, Ordering::Relaxed);
                    self.symbols.insert(key, Box::new(symbol));
                }
            }
            Record::Process(process) => lock(&self.processes).take(process),
            Record::Module(module) => lock(&self.processes).load(module),
            Record::Clock(comparison) => lock(&self.clocks).take(comparison),
            Record::SessionFile(file) => lock(&self.sessions).begin(file),
            Record::SessionEnd => lock(&self.sessions).end(),
            _ => {}
        }
    }

    /// The executable of a process, if it is known.
    fn executable(
        &self,
        magic: u64,
        pid: Option<u64>,
        process: Option<&str>,
    ) -> Option<Arc<ProcessExecutable>> {
        lock(&self.processes).executable(magic, pid, process)
    }

    /// The processes that logged to a ring.
    pub fn processes(&self, magic: u64) -> Vec<ProcessRecord> {
        lock(&self.processes).of(magic).cloned().collect()
    }

    /// The last session of a run.
    pub fn session(&self, magic: u64) -> Option<TraceSession> {
        lock(&self.sessions).of(magic).cloned()
    }

    /// How the clock of a ring compares with others.
    pub fn clocks(&self, magic: u64) -> Vec<ClockComparison> {
        lock(&self.clocks).of(magic)
    }

    /// What the processes of a ring have loaded.
    pub fn modules(&self, magic: u64) -> Vec<Module> {
        lock(&self.processes).modules(magic).to_vec()
    }

    /// The preambles of all programs and rings.
    pub fn preambles(&self) -> impl Iterator<Item = &Preamble> {
        self.preambles.iter()
    }

    /// The last preamble of a magic: it has all steps of the clock.
    pub fn program(&self, magic: u64) -> Option<&Preamble> {
        let place = lock(&self.programs).get(&magic).copied()?;
        self.preambles.get(place)
    }

    /// When a ring was created; 0 if that is not known.
    pub fn created(&self, magic: u64) -> u64 {
        let program = self.program(magic);
        program.and_then(|program| program.created).unwrap_or(0)
    }

    /// The NUMA nodes of a ring's CPUs.
    pub fn nodes(&self, magic: u64) -> Vec<u16> {
        let known = self.program(magic);
        let node = |node: &u64| match u16::try_from(*node) {
            Ok(node) if node < 255 => node,
            _ => u16::MAX,
        };
        // Events cannot have a higher CPU number.
        let most = usize::from(u16::MAX);
        known.map_or(Vec::new(), |p| {
            p.nodes.iter().take(most).map(node).collect()
        })
    }

    /// The name of an address of a process.
    pub fn symbol(&self, magic: u64, pid: Option<u64>, address: u64) -> Option<&Symbol> {
        let of = |pid| self.symbols.get(&(magic, pid, address));
        of(pid).or_else(|| of(None))
    }

    /// A string. If it was lost, its number is returned as text.
    pub fn text(&self, magic: u64, id: Option<u64>) -> Option<Arc<str>> {
        let id = id?;
        Some(match self.strings.get(&(magic, id)) {
            Some(text) => Arc::clone(text),
            None => format!("<string {id:#x}?>").into(),
        })
    }

    /// A copy of a string, cut to the length of texts of definitions. It is cut further if there
    /// are too many copies already: a definition takes only a few bytes in an archive, and many of
    /// them may refer to one long string.
    fn copy(&self, magic: u64, id: Option<u64>, copied: &mut usize) -> Option<String> {
        let text = self.text(magic, id)?;
        let text = bounded(&text);
        let most = COPIES.saturating_add(COPIES_OF_EACH.saturating_mul(*lock(&self.length)));
        let left = most.saturating_sub(*copied);
        if text.len() <= left.max(CUT) {
            *copied = copied.saturating_add(text.len());
            return Some(text.to_string());
        }
        // Relaxed: a flag by itself.
        self.are_cut.store(true, Ordering::Relaxed);
        Some(text.chars().take(CUT).chain(['…']).collect())
    }

    /// Whether a copy was cut because all are too long together.
    pub fn are_cut(&self) -> bool {
        self.are_cut.load(Ordering::Relaxed)
    }

    /// A digest of all symbols.
    pub fn symbols_digest(&self) -> u64 {
        self.symbols_digest.load(Ordering::Relaxed)
    }

    /// A string, unless it was lost.
    pub fn string(&self, magic: u64, number: u64) -> Option<Arc<str>> {
        self.strings.get(&(magic, number)).map(Arc::clone)
    }

    /// A string with this number, of any magic.
    pub fn string_of_any(&self, number: u64) -> Option<Arc<str>> {
        let magics: Vec<u64> = lock(&self.with_strings).iter().copied().collect();
        magics
            .into_iter()
            .find_map(|magic| self.string(magic, number))
    }

    /// Whether there is any string of a magic.
    pub fn has_strings(&self, magic: u64) -> bool {
        lock(&self.with_strings).contains(&magic)
    }

    /// How many strings were found in executables.
    pub fn recovered_count(&self) -> u64 {
        lock(&self.recovered).len() as u64
    }

    /// How many symbols were found by modules.
    pub fn recovered_symbols(&self) -> u64 {
        self.recovered_symbols.load(Ordering::Relaxed)
    }

    /// The magic and the number of the string that is the message of a definition.
    pub fn message_string(&self, id: EventId) -> Option<(u64, u64)> {
        lock(&self.numbered).messages.get(&id.0).copied()
    }

    /// The number of a definition of a ring. The same definition always gets the same number.
    pub fn event(&self, magic: u64, raw: &RawDefinition) -> EventId {
        let mut definitions = lock(&self.numbered);
        let key = (magic, raw.clone());
        if let Some(number) = definitions.numbers.get(&key) {
            return EventId(*number);
        }
        let number = definitions.free(raw.event);
        definitions.numbers.insert(key, number);
        let definition = self.define(magic, raw, &mut definitions.copied);
        self.definitions.insert(number, Box::new(definition));
        definitions.found.push(number);
        let message = raw.format.map(|format| (number, (magic, format)));
        definitions.messages.extend(message);
        EventId(number)
    }

    fn define(&self, magic: u64, raw: &RawDefinition, copied: &mut usize) -> Definition {
        let mut text = |id| self.copy(magic, id, copied);
        let level = raw.level.and_then(|level| u8::try_from(level).ok());
        let own = raw.event.and_then(|event| u32::try_from(event).ok());
        let is_there = |id| self.strings.get(&(magic, id)).is_some();
        let message = text(raw.format).unwrap_or_default();
        let is_object = raw.syntax == Some(OBJECT);
        let object = is_object.then(|| Object::parse(&message)).flatten();
        let is_damaged = is_object && object.is_none();
        let format = object.as_ref().map(|object| object.format().to_owned());
        Definition {
            id: own.map_or(EventId::NEVER, EventId),
            category: text(raw.category).unwrap_or_default(),
            priority: level.and_then(Priority::from_u8),
            message: format.unwrap_or(message),
            is_lost: is_damaged || !raw.format.is_some_and(is_there),
            is_category_lost: raw.category.is_some_and(|category| !is_there(category)),
            important: None,
            syntax: match raw.syntax {
                Some(PRINTF | OBJECT) => Syntax::Printf,
                _ => Syntax::Template,
            },
            file: text(raw.file),
            line: raw.line.and_then(|line| u32::try_from(line).ok()),
            channels: text(raw.channels).unwrap_or_default(),
            object: object.map(Box::new),
        }
    }

    /// The definition of an event.
    pub fn definition(&self, id: EventId) -> Option<&Definition> {
        self.definitions.get(&id.0)
    }

    /// All definitions that were found up to now.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        let found = lock(&self.numbered).found.clone();
        found.into_iter().filter_map(|id| self.definitions.get(&id))
    }

    /// The number of a thread that logged events. The same thread always gets the same number.
    pub fn thread_ref(&self, magic: u64, raw: &RawThread) -> ThreadRef {
        let mut threads = lock(&self.threads);
        let key = (magic, raw.clone());
        if let Some(number) = threads.numbers.get(&key) {
            return ThreadRef(*number);
        }
        let number = threads.found.len() as u32;
        let thread = self.thread_of(magic, raw, &mut threads.copied);
        threads.found.push(ThreadOfRing {
            magic,
            pid: raw.pid,
            thread,
        });
        threads.numbers.insert(key, number);
        ThreadRef(number)
    }

    fn thread_of(&self, magic: u64, raw: &RawThread, copied: &mut usize) -> Option<Thread> {
        // Only the thread id is known, and the event has that already.
        if raw.name.is_none() && raw.process.is_none() && raw.pid.is_none() {
            return None;
        }
        let mut text = |id| self.copy(magic, id, copied);
        let number = |number: Option<u64>| number.and_then(|n| u32::try_from(n).ok());
        let process = text(raw.process);
        let executable = self.executable(magic, raw.pid, process.as_deref());
        Some(Thread {
            tid: number(raw.tid).unwrap_or(0),
            pid: number(raw.pid).unwrap_or(0),
            identity: number(raw.identity).unwrap_or(0),
            name: text(raw.name),
            group: text(raw.group),
            process,
            executable,
        })
    }

    /// The thread that logged an event, as far as that is known.
    pub fn thread(&self, thread: ThreadRef) -> Option<Thread> {
        let threads = lock(&self.threads);
        threads.found.get(thread.0 as usize)?.thread.clone()
    }

    /// The magic of the ring that a thread logged to, and its process.
    pub fn ring(&self, thread: ThreadRef) -> (u64, Option<u64>) {
        let threads = lock(&self.threads);
        let found = threads.found.get(thread.0 as usize);
        found.map_or((0, None), |thread| (thread.magic, thread.pid))
    }
}

impl Definitions {
    /// A number that no other definition has. If possible, it is the number in the ring, so that
    /// this number is shown even if nothing else about the event is known.
    fn free(&mut self, own: Option<u64>) -> u32 {
        let own = own.and_then(|own| u32::try_from(own).ok());
        if let Some(own) = own
            && (1..OF_THE_RING).contains(&own)
            && self.taken.insert(own)
        {
            return own;
        }
        self.next = self.next.max(OTHERS);
        while !self.taken.insert(self.next) {
            self.next += 1;
        }
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::string::StringDefinition;

    fn raw(event: u64, format: Option<u64>) -> RawDefinition {
        RawDefinition {
            event: Some(event),
            format,
            ..RawDefinition::default()
        }
    }

    #[test]
    fn statements_have_numbers_of_their_own() {
        let names = Names::default();
        names.take(Record::String(StringDefinition {
            magic: Some(7),
            id: Some(1),
            string: Some("got $bytes".into()),
            recovered: false,
        }));
        let first = names.event(7, &raw(5, Some(1)));
        assert_eq!(first, EventId(5));
        // A definition of another ring, one of another line, one with only a number, and one with
        // no number.
        let other = names.event(8, &raw(5, Some(1)));
        let lost = names.event(7, &raw(6, None));
        let none = names.event(7, &RawDefinition::default());
        assert_eq!((other.0, lost.0, none.0), (OTHERS, 6, OTHERS + 1));
        assert_eq!(names.event(7, &raw(5, Some(1))), first);
        let told = |id| {
            let definition = names.definition(id).expect("of each");
            (
                definition.id.0,
                definition.message.as_str(),
                definition.is_lost,
            )
        };
        assert_eq!(told(first), (5, "got $bytes", false));
        assert_eq!(told(other), (5, "<string 0x1?>", true));
        assert_eq!(told(lost), (6, "", true));
        assert_eq!(told(none), (0, "", true));
        let found: Vec<_> = names.definitions().map(|d| d.message.as_str()).collect();
        assert_eq!(found, ["got $bytes", "<string 0x1?>", "", ""]);
    }

    #[test]
    fn each_process_has_addresses_of_its_own() {
        let names = Names::default();
        for (pid, name) in [(Some(3), "three"), (Some(4), "four"), (None, "any")] {
            names.take(Record::Symbol(Symbol {
                magic: Some(1),
                address: Some(0x1000),
                name: Some(name.into()),
                pid,
                ..Symbol::default()
            }));
        }
        let name = |magic, pid| names.symbol(magic, pid, 0x1000)?.name.as_deref();
        assert_eq!(name(1, Some(3)), Some("three"));
        assert_eq!(name(1, Some(4)), Some("four"));
        assert_eq!(name(1, Some(5)), Some("any"));
        assert_eq!((name(1, None), name(2, Some(3))), (Some("any"), None));
    }

    #[test]
    fn an_author_of_whom_only_the_thread_id_is_known_is_not_made_up() {
        let names = Names::default();
        let raw = |pid| RawThread {
            tid: Some(7),
            pid,
            ..RawThread::default()
        };
        let [known, unknown] = [Some(3), None].map(|pid| names.thread_ref(1, &raw(pid)));
        assert_eq!(names.thread(unknown), None);
        let thread = names.thread(known).expect("a process");
        assert_eq!((thread.tid, thread.pid, thread.name), (7, 3, None));
        assert_eq!(names.thread_ref(1, &raw(None)), unknown);
        assert_ne!(names.thread_ref(2, &raw(None)), unknown);
    }
}
