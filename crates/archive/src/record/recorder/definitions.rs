//! Writes the definitions and threads that events of an archive refer to.
//! Their strings are in the file before the events.

use timeline::internal::ValueKind;
use timeline::{Event, EventId, Layout, MAX_ARGUMENTS, Source as _, Syntax, Value};

use super::pointees::Pointees;
use super::{MAX_THREADS, RECENT, Recorder, Thread};
use crate::format::event::{PRINTF, RawDefinition, RawThread};
use crate::write::event_run::WordValues;
use crate::write::interner::{DefinitionId, ThreadId};

/// A definition that is written.
pub(super) struct DefinitionEntry {
    /// Its number in the archive.
    pub id: DefinitionId,
    /// How many arguments its events have.
    pub arguments: usize,
    /// Whether it is a format of printf: all values of its events are in a payload.
    pub is_printf: bool,
    /// Whether the words of an entry are all there is to record.
    pub is_plain: bool,
    /// Which values its payloads have.
    pub layout: Layout,
    /// The kinds of these values.
    pub kinds: Vec<ValueKind>,
    /// The places of pointers among its values, which are those of their words.
    pub pointers: Vec<usize>,
}

impl DefinitionEntry {
    /// For events without a definition.
    pub fn undefined() -> DefinitionEntry {
        DefinitionEntry {
            id: DefinitionId::default(),
            arguments: MAX_ARGUMENTS,
            is_printf: false,
            is_plain: true,
            layout: Layout::unknown(),
            kinds: Vec::new(),
            pointers: Vec::new(),
        }
    }

    /// The values of words: of a payload, or of an entry that has none.
    #[inline]
    pub fn of_words(&self, is_payload: bool) -> WordValues<'_> {
        match is_payload || self.is_printf {
            true => WordValues::Kinds(&self.layout, &self.kinds),
            false => WordValues::Integers(self.arguments),
        }
    }

    /// Whether these words of an event have only pointers that are known.
    #[inline]
    pub fn points_to(&self, words: &[u8], thread: Thread, known: &Pointees) -> bool {
        let (words, _) = words.as_chunks();
        let word = |place: &usize| words.get(*place).map(|word| u64::from_le_bytes(*word));
        let mut addresses = self.pointers.iter().map(word);
        addresses.all(|address| address.is_some_and(|address| known.knows(thread, address)))
    }

    /// The pointers among the values of an event.
    fn addresses(&self, event: &Event) -> Vec<u64> {
        let is_pointer = |place: &usize| self.pointers.contains(place);
        let values = event.values(&self.layout).enumerate();
        let pointers = values.filter(|(place, _)| is_pointer(place));
        let address = |value| match value {
            Value::Uint(address) => Some(address),
            _ => None,
        };
        pointers.filter_map(|(_, value)| address(value)).collect()
    }
}

/// A thread among those that logged an event recently.
#[inline]
pub(super) fn find_recent(
    recent: &[Option<(Thread, ThreadId)>],
    thread: Thread,
) -> Option<ThreadId> {
    let recent = recent[thread.1 as usize % RECENT];
    recent
        .filter(|(known, _)| *known == thread)
        .map(|(_, id)| id)
}

impl Recorder<'_> {
    /// The number of an event's definition.
    #[inline]
    pub(super) fn definition(&mut self, id: EventId) -> DefinitionId {
        match self.definitions.get(id.0 as usize) {
            Some(Some(known)) => known.id,
            _ => self.new_definition(id),
        }
    }

    #[cold]
    fn new_definition(&mut self, id: EventId) -> DefinitionId {
        let index = id.0 as usize;
        let unknown = RawDefinition {
            event: Some(id.0.into()),
            ..RawDefinition::default()
        };
        let Some(definition) = self.at.definition(id) else {
            // It may be defined soon.
            return self.writer.definition(&unknown);
        };
        let is_printf = definition.syntax == Syntax::Printf;
        let raw = RawDefinition {
            level: definition.priority.map(|priority| priority as u64),
            format: Some(self.writer.string(&definition.message)),
            category: Some(self.writer.string(&definition.category)),
            file: definition.file.as_deref().map(|f| self.writer.string(f)),
            line: definition.line.map(u64::from),
            channels: (!definition.channels.is_empty())
                .then(|| self.writer.string(&definition.channels)),
            syntax: is_printf.then_some(PRINTF),
            ..unknown
        };
        let id = self.writer.definition(&raw);
        // Only defined events make this longer.
        if self.definitions.len() <= index {
            self.definitions.resize_with(index + 1, || None);
        }
        let pointers = definition.fields().enumerate();
        let pointers = pointers.filter(|(_, field)| field.kind.is_address());
        let pointers: Vec<_> = pointers.map(|(place, _)| place).collect();
        let layout = Layout::of(definition);
        self.definitions[index] = Some(DefinitionEntry {
            id,
            arguments: definition.argument_count().min(MAX_ARGUMENTS),
            is_printf,
            is_plain: !is_printf && pointers.is_empty(),
            kinds: layout.kinds().collect(),
            layout,
            pointers,
        });
        id
    }

    /// The thread that logged an event.
    #[inline]
    pub(super) fn thread(&mut self, event: &Event) -> ThreadId {
        let recent = self.recent_thread((event.thread, event.tid));
        recent.unwrap_or_else(|| self.other_thread(event))
    }

    /// A thread that logged an event recently.
    #[inline]
    pub(super) fn recent_thread(&self, thread: Thread) -> Option<ThreadId> {
        find_recent(&self.recent, thread)
    }

    #[cold]
    fn other_thread(&mut self, event: &Event) -> ThreadId {
        let thread = (event.thread, event.tid);
        let known = match self.threads.get(&thread) {
            Some((known, renames)) if *renames == self.renames => *known,
            former => {
                let former = former.map(|(known, _)| *known);
                let known = self.look_up_thread(event, former);
                self.threads.insert(thread, (known, self.renames));
                known
            }
        };
        self.recent[event.tid as usize % RECENT] = Some((thread, known));
        known
    }

    /// The thread that logged an event, by its present name. `former` is what it was known as.
    fn look_up_thread(&mut self, event: &Event, former: Option<ThreadId>) -> ThreadId {
        let tid = Some(event.tid.into());
        let identity = (event.thread.0 != 0).then_some(event.thread.0.into());
        let raw = match self.at.thread(event) {
            Some(thread) => RawThread {
                name: thread.name.map(|name| self.writer.string(&name)),
                tid,
                pid: Some(thread.pid.into()),
                process: thread.process.map(|name| self.writer.string(&name)),
                group: thread.group.map(|group| self.writer.string(&group)),
                identity,
            },
            None => match former {
                // Renamed or not, it has ended since, and its record is gone.
                Some(former) => return former,
                None => RawThread {
                    tid,
                    identity,
                    ..RawThread::default()
                },
            },
        };
        self.writer.thread(&raw)
    }

    /// Looks threads up again if any was renamed. Called when events were read, so that no event
    /// gets a name that its thread had given up before.
    pub(super) fn notice_renames(&mut self) {
        let renames = self.at.renames();
        if self.renames != renames {
            self.renames = renames;
            self.recent.fill(None);
        }
    }

    /// Forgets the threads if there are many. The block ends first, because it refers to them.
    pub(super) fn forget_if_many_threads(&mut self) {
        if self.threads.len() >= MAX_THREADS {
            self.writer.end_block();
            self.writer.forget_interned();
            self.forget_interned();
        }
    }

    /// Forgets the numbers of definitions and threads.
    pub(super) fn forget_interned(&mut self) {
        self.definitions.clear();
        self.threads.clear();
        self.recent.fill(None);
        self.pointees.forget();
    }

    /// Writes the symbols of the addresses of a call stack.
    pub(super) fn define_addresses(&mut self, event: &Event, thread: ThreadId) {
        let pid = self.writer.pid(thread);
        for address in event.backtrace() {
            if !self.writer.knows_address(pid, *address) {
                self.writer.symbol(pid, &self.at.frame(event, *address));
            }
        }
    }

    /// Writes the symbols of the pointers among the values of an event.
    #[cold]
    pub(super) fn define_pointees(&mut self, event: &Event, thread: ThreadId) {
        let known = self.definitions.get(event.id.0 as usize);
        let known = known.and_then(Option::as_ref);
        let addresses = known.map_or(Vec::new(), |known| known.addresses(event));
        let pid = self.writer.pid(thread);
        for address in addresses {
            // As a return address: `Source::pointee` looks it up so.
            let behind = address.wrapping_add(1);
            if !self.writer.knows_address(pid, behind) {
                let frame = self.at.frame(event, behind);
                // Most pointers are to memory that no file has a name for.
                if frame.name.is_some() {
                    self.writer.symbol(pid, &frame);
                }
            }
            self.pointees.note((event.thread, event.tid), address);
        }
    }
}
