//! Numbers threads and kinds of events by what they are.
//! So the numbers of one version of a log are good for the next one.

use rustc_hash::FxHashMap;
use timeline::{EventId, Priority, Source, Thread, ThreadRef};
use timeline_archive::Archive;
use timeline_reading::DefinitionView;

/// A thread of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logger {
    /// The run of the program.
    magic: Option<u64>,
    /// The kernel's id.
    pub tid: u32,
    /// What is known of it.
    pub thread: Option<Thread>,
}

/// What events have in common that are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventKind {
    pub category: Option<String>,
    pub priority: Option<&'static str>,
    pub name: Option<String>,
}

/// What the numbers mean.
#[derive(Debug, Clone, Default)]
pub struct NameTable {
    pub threads: Vec<Logger>,
    pub kinds: Vec<EventKind>,
    pub categories: Vec<String>,
    /// The category of each kind.
    of_kinds: Vec<u16>,
}

impl NameTable {
    /// The category of a kind.
    pub fn category(&self, kind: u32) -> u16 {
        self.of_kinds[kind as usize]
    }

    fn add_kind(&mut self, kind: EventKind) -> u32 {
        let name = kind.category.as_deref().unwrap_or("");
        let known = self.categories.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.categories.push(name.to_string());
            self.categories.len() - 1
        });
        // A log with more categories than colours needs no other.
        self.of_kinds.push(place.min(u16::MAX.into()) as u16);
        self.kinds.push(kind);
        self.kinds.len() as u32 - 1
    }
}

/// Finds the numbers of the threads and definitions of an archive.
pub struct NameNumbers<'a> {
    archive: &'a Archive,
    pub names: NameTable,
    /// By what most threads differ in.
    loggers: FxHashMap<(Option<u64>, u32), Vec<u32>>,
    kinds: FxHashMap<EventKind, u32>,
    threads: FxHashMap<(ThreadRef, u32), u32>,
    definitions: FxHashMap<EventId, u32>,
    /// The thread of the last event.
    last: Option<((ThreadRef, u32), u32)>,
}

impl<'a> NameNumbers<'a> {
    /// Goes on with numbers of the same log.
    pub fn new(archive: &'a Archive, names: NameTable) -> NameNumbers<'a> {
        let mut loggers: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for (logger, number) in names.threads.iter().zip(0..) {
            let key = (logger.magic, logger.tid);
            loggers.entry(key).or_default().push(number);
        }
        NameNumbers {
            archive,
            loggers,
            kinds: names.kinds.iter().cloned().zip(0..).collect(),
            names,
            threads: FxHashMap::default(),
            definitions: FxHashMap::default(),
            last: None,
        }
    }

    /// The number of a thread.
    pub fn thread(&mut self, thread: (ThreadRef, u32)) -> u32 {
        if let Some((known, number)) = self.last
            && known == thread
        {
            return number;
        }
        let number = match self.threads.get(&thread) {
            Some(number) => *number,
            None => self.add_thread(thread),
        };
        self.last = Some((thread, number));
        number
    }

    fn add_thread(&mut self, thread: (ThreadRef, u32)) -> u32 {
        let program = self.archive.program(thread.0);
        let logger = Logger {
            magic: program.and_then(|program| program.magic),
            tid: thread.1,
            thread: self.archive.thread_of(thread.0, thread.1),
        };
        let all = &mut self.names.threads;
        let alike = self.loggers.entry((logger.magic, logger.tid)).or_default();
        let known = alike.iter().find(|number| all[**number as usize] == logger);
        let number = known.copied().unwrap_or_else(|| {
            alike.push(all.len() as u32);
            all.push(logger);
            all.len() as u32 - 1
        });
        self.threads.insert(thread, number);
        number
    }

    /// The number of the kind of a definition.
    pub fn kind(&mut self, definition: EventId) -> u32 {
        if let Some(number) = self.definitions.get(&definition) {
            return *number;
        }
        let view = DefinitionView::new(self.archive.definition(definition));
        let kind = EventKind {
            category: view.category().map(String::from),
            priority: view.priority().map(Priority::name),
            name: view.name(),
        };
        let number = match self.kinds.get(&kind) {
            Some(number) => *number,
            None => {
                let number = self.names.add_kind(kind.clone());
                self.kinds.insert(kind, number);
                number
            }
        };
        self.definitions.insert(definition, number);
        number
    }
}
