//! Reads events with everything that an archive has about them.

use std::sync::Arc;

use timeline::Priority;

use crate::format::event::{ArchiveEvent, RawDefinition, RawThread};
use crate::read::loss::gaps::Gap;
use crate::read::open::archive::Archive;
use crate::read::open::decode::Decoder;
use crate::read::texts::names::Names;
use crate::read::units::form::{DecodedEvent, EventRank, RingOrigin};
use crate::read::units::important_numbers::ImportantNumbers;
use crate::read::units::unit::Unit;
use crate::read::units::unpack::IndexedEvent;

/// A text of an event. If the string was lost, this is its number: `<string 0x1a40?>`.
pub type EventText = Arc<str>;

/// The definition of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedDefinition {
    /// The magic of the program and ring; see [`Archive::preamble`].
    pub magic: u64,
    /// The part of the program.
    pub category: Option<EventText>,
    /// The message as it was defined.
    pub message: Option<EventText>,
    /// The priority of the event.
    pub priority: Option<Priority>,
    /// The file of the call site.
    pub file: Option<EventText>,
    /// The line of the call site.
    pub line: Option<u64>,
    /// The number of the event in its ring.
    pub event: Option<u64>,
    /// The syntax of the message: [`PRINTF`](crate::PRINTF), [`OBJECT`](crate::OBJECT), or names of
    /// arguments (`$name`) if this is missing.
    pub syntax: Option<u64>,
    /// The channels of the event, with `|` between.
    pub channels: Option<EventText>,
}

/// A thread that logged events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedThread {
    /// The thread's name.
    pub name: Option<EventText>,
    /// The kernel's id of the thread.
    pub tid: Option<u64>,
    /// The id of its process.
    pub pid: Option<u64>,
    /// The name of its process.
    pub process: Option<EventText>,
    /// Its group.
    pub group: Option<EventText>,
    /// The number that no other thread of its ring has, whatever its name.
    pub identity: Option<u64>,
}

/// An event with everything that an archive has about it.
pub type RecordedEvent = ArchiveEvent<Arc<RecordedDefinition>, Arc<RecordedThread>>;

impl DecodedEvent for RecordedEvent {
    type Definition = Arc<RecordedDefinition>;
    type Thread = Arc<RecordedThread>;

    fn definition(names: &Names, magic: u64, raw: &RawDefinition) -> Arc<RecordedDefinition> {
        let text = |id| names.text(magic, id);
        let level = raw.level.and_then(|level| u8::try_from(level).ok());
        Arc::new(RecordedDefinition {
            magic,
            category: text(raw.category),
            message: text(raw.format),
            priority: level.and_then(Priority::from_u8),
            file: text(raw.file),
            line: raw.line,
            event: raw.event,
            syntax: raw.syntax,
            channels: text(raw.channels),
        })
    }

    fn thread(names: &Names, magic: u64, raw: &RawThread) -> Arc<RecordedThread> {
        let text = |id| names.text(magic, id);
        Arc::new(RecordedThread {
            name: text(raw.name),
            tid: raw.tid,
            pid: raw.pid,
            process: text(raw.process),
            group: text(raw.group),
            identity: raw.identity,
        })
    }

    fn make(
        _: &RingOrigin,
        definition: &Arc<RecordedDefinition>,
        thread: &Arc<RecordedThread>,
        event: &mut IndexedEvent,
    ) -> RecordedEvent {
        ArchiveEvent {
            definition: Arc::clone(definition),
            thread: Arc::clone(thread),
            ticks: event.ticks,
            unix_nanos: event.unix_nanos,
            core: event.core,
            lane: event.lane,
            number: event.number,
            args: std::mem::take(&mut event.args),
            payload: std::mem::take(&mut event.payload),
            backtrace: std::mem::take(&mut event.backtrace),
            next: None,
            missed: 0,
        }
    }

    fn moment(&self) -> EventRank {
        (
            self.unix_nanos.unwrap_or(0),
            self.ticks.unwrap_or(0),
            self.definition.magic,
            self.lane.unwrap_or(0),
            self.number.unwrap_or(0),
        )
    }

    fn miss(&mut self, gap: &Gap) {
        let position = self.lane.zip(self.number);
        self.missed = position.map_or(0, |(lane, number)| {
            gap.before(self.definition.magic, lane, number)
        });
    }

    fn take(&mut self) -> RecordedEvent {
        RecordedEvent {
            definition: Arc::clone(&self.definition),
            thread: Arc::clone(&self.thread),
            args: std::mem::take(&mut self.args),
            payload: std::mem::take(&mut self.payload),
            backtrace: std::mem::take(&mut self.backtrace),
            ..*self
        }
    }

    fn heap(&self) -> usize {
        let words = self.args.capacity() + self.backtrace.capacity();
        size_of::<u64>() * words + self.payload.capacity()
    }
}

impl Archive {
    /// The events in the order of the file. An important event that several files have comes once.
    pub fn events(&self) -> InFile<'_> {
        InFile {
            units: self.found_units().iter(),
            decoder: self.decoder(),
            ready: Vec::new(),
            seen: ImportantNumbers::default(),
        }
    }
}

/// The events of an archive in the order of the file.
pub struct InFile<'a> {
    units: std::slice::Iter<'a, Unit>,
    decoder: Decoder<'a, RecordedEvent>,
    /// The events of the present frames in reverse order, so that the next event is the last.
    ready: Vec<RecordedEvent>,
    seen: ImportantNumbers,
}

impl Iterator for InFile<'_> {
    type Item = RecordedEvent;

    fn next(&mut self) -> Option<RecordedEvent> {
        loop {
            if let Some(event) = self.ready.pop() {
                return Some(event);
            }
            let unit = self.units.next()?;
            self.decoder.decode(unit, &mut self.ready);
            if unit.important {
                let seen = &mut self.seen;
                let number = |event: &RecordedEvent| event.number.unwrap_or(0);
                self.ready
                    .retain(|event| seen.insert(event.definition.magic, number(event)));
            }
            self.ready.reverse();
        }
    }
}
