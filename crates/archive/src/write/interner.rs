//! Gives numbers to what many events share: definitions and threads.
//! Each is kept with its bytes in a record.

use std::collections::HashMap;
use std::hash::Hash;

use crate::format::event::{ArchiveEvent, RawDefinition, RawEvent, RawThread};
use timeline::internal::msgpack::{packed, whole_values};

/// Most bytes of [`FieldBytes`]: three numbers with their keys.
pub(super) const MOST_FIELDS: usize = 32;

/// The number of a definition in an [`Interner`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct DefinitionId(pub(super) u32);

/// The number of a thread in an [`Interner`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ThreadId(pub(super) u32);

/// The definitions and threads of one writer.
pub struct Interner {
    magic: u64,
    definitions: Numbered<RawDefinition, 5>,
    threads: Numbered<RawThread, 3>,
}

/// Values by number. Each has its encoded fields, and their number.
struct Numbered<T, const N: usize> {
    values: Vec<T>,
    fields: Vec<(usize, [FieldBytes; N])>,
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + Hash, const N: usize> Numbered<T, N> {
    fn new() -> Self {
        Numbered {
            values: Vec::new(),
            fields: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    fn number(&mut self, value: &T, fields: impl FnOnce(&T) -> [FieldBytes; N]) -> u32 {
        if let Some(number) = self.numbers.get(value) {
            return *number;
        }
        let number = self.values.len() as u32;
        self.numbers.insert(value.clone(), number);
        let fields = fields(value);
        let count = fields.iter().map(|fields| fields.count).sum();
        self.values.push(value.clone());
        self.fields.push((count, fields));
        number
    }
}

impl Interner {
    /// No definitions and threads yet. They belong to the ring with this magic.
    pub fn new(magic: u64) -> Interner {
        Interner {
            magic,
            definitions: Numbered::new(),
            threads: Numbered::new(),
        }
    }

    /// The number of a definition.
    pub fn definition(&mut self, definition: &RawDefinition) -> DefinitionId {
        let magic = Some(self.magic);
        DefinitionId(self.definitions.number(definition, |definition| {
            [
                FieldBytes::of(&[(1, magic), (2, definition.file), (3, definition.line)]),
                FieldBytes::of(&[(6, definition.level)]),
                FieldBytes::of(&[(9, definition.format)]),
                FieldBytes::of(&[(11, definition.category)]),
                FieldBytes::of(&[
                    (18, definition.event),
                    (20, definition.syntax),
                    (22, definition.channels),
                ]),
            ]
        }))
    }

    /// The number of a thread.
    pub fn thread(&mut self, thread: &RawThread) -> ThreadId {
        ThreadId(self.threads.number(thread, |thread| {
            [
                FieldBytes::of(&[(5, thread.name)]),
                FieldBytes::of(&[(13, thread.tid), (14, thread.pid), (15, thread.process)]),
                FieldBytes::of(&[(23, thread.group), (24, thread.identity)]),
            ]
        }))
    }

    /// The event whose definition and thread are given by their numbers. Its payload is whole
    /// values.
    pub fn event(&mut self, event: &RawEvent) -> ArchiveEvent<DefinitionId, ThreadId> {
        ArchiveEvent {
            definition: self.definition(&event.definition),
            thread: self.thread(&event.thread),
            ticks: event.ticks,
            unix_nanos: event.unix_nanos,
            core: event.core,
            lane: event.lane,
            number: event.number,
            args: event.integers().to_vec(),
            payload: whole_values(&event.payload).1.to_vec(),
            backtrace: event.backtrace.clone(),
            next: event.next,
            missed: event.missed,
        }
    }

    /// The number of definitions and threads.
    pub fn len(&self) -> usize {
        self.definitions.values.len() + self.threads.values.len()
    }

    pub(super) fn raw_definition(&self, id: DefinitionId) -> &RawDefinition {
        &self.definitions.values[id.0 as usize]
    }

    pub(super) fn raw_thread(&self, id: ThreadId) -> &RawThread {
        &self.threads.values[id.0 as usize]
    }

    /// The fields of a definition: up to the line, level, format, category, and those of the event
    /// itself.
    #[inline]
    pub(super) fn definition_fields(&self, id: DefinitionId) -> &(usize, [FieldBytes; 5]) {
        &self.definitions.fields[id.0 as usize]
    }

    /// The fields of a thread: its name; up to its process; its group and identity.
    #[inline]
    pub(super) fn thread_fields(&self, id: ThreadId) -> &(usize, [FieldBytes; 3]) {
        &self.threads.fields[id.0 as usize]
    }
}

/// Encoded fields with numbers.
#[derive(Clone, Copy)]
pub(super) struct FieldBytes {
    pub bytes: [u8; MOST_FIELDS],
    pub length: usize,
    count: usize,
}

impl FieldBytes {
    fn of(numbers: &[(u8, Option<u64>)]) -> FieldBytes {
        let (mut bytes, mut length, mut count) = ([0; MOST_FIELDS], 0, 0);
        for (field, number) in numbers {
            if let Some(number) = number {
                let number = packed(*number);
                bytes[length..][..2].copy_from_slice(&[*field, number.marker]);
                bytes[length + 2..][..number.size].copy_from_slice(&number.rest[..number.size]);
                length += 2 + number.size;
                count += 1;
            }
        }
        FieldBytes {
            bytes,
            length,
            count,
        }
    }
}
