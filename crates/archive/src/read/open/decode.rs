//! Decodes the events in frames. Events with the same definition or thread share it.

use std::collections::HashMap;
use std::hash::Hash;

use crate::format::block;
use crate::format::event::{RawDefinition, RawThread, SingleEvent};
use crate::format::frame::{Frames, Part};
use crate::format::record::{self, Block, Record};
use crate::read::choice::block_ranges::{self, BlockRanges};
use crate::read::choice::columns::BlockColumns;
use crate::read::choice::unit_choice::UnitChoice;
use crate::read::file::bytes::ArchiveBytes;
use crate::read::texts::names::Names;
use crate::read::units::form::{DecodedEvent, RingOrigin};

use crate::read::units::unit::Unit;
use crate::read::units::unpack::{self, IndexedEvent, UnpackedEvents};

/// How many recent sources of single events are kept. It is a power of two.
const RECENT: usize = 512;

/// Decodes the events in frames.
pub struct Decoder<'a, T: DecodedEvent> {
    bytes: &'a ArchiveBytes,
    pub names: &'a Names,
    definitions: Shared<RawDefinition, T::Definition>,
    threads: Shared<RawThread, T::Thread>,
    /// The recent sources of single events, with the numbers of their definitions and threads.
    recent: Vec<(u64, usize, usize)>,
    ring: RingOrigin,
    /// Memory that is used again.
    buffer: Vec<u8>,
    expanded: Vec<u8>,
    single: SingleEvent,
    event: IndexedEvent,
}

impl<'a, T: DecodedEvent> Decoder<'a, T> {
    /// A decoder that knows the kinds of records that `single` knows.
    pub fn new(bytes: &'a ArchiveBytes, names: &'a Names, single: &SingleEvent) -> Decoder<'a, T> {
        Decoder {
            bytes,
            names,
            definitions: Shared::new(),
            threads: Shared::new(),
            recent: vec![(0, 0, 0); RECENT],
            ring: RingOrigin {
                magic: 0,
                nodes: names.nodes(0),
            },
            buffer: Vec::new(),
            expanded: Vec::new(),
            single: single.knowing(),
            event: IndexedEvent::default(),
        }
    }

    /// Appends the events of a unit. Returns how many events the unit promises that cannot be read,
    /// as far as that is known.
    pub fn decode(&mut self, unit: &Unit, out: &mut Vec<T>) -> u64 {
        let before = out.len();
        let mut whole = true;
        let is_read = self.read(unit, |decoder, block| match block {
            Some(block) => whole &= decoder.block(block, out),
            None => decoder.event(out),
        });
        if let Some((gap, first)) = unit.gap.as_ref().zip(out.get_mut(before)) {
            first.miss(gap);
        }
        lost(unit, out.len() - before, whole && is_read)
    }

    /// Appends the wanted events of a unit, likewise. What is behind the last one is not looked at.
    pub fn decode_chosen(&mut self, unit: &Unit, choice: &mut UnitChoice, out: &mut Vec<T>) -> u64 {
        let (mut found, mut whole) = (0, true);
        if !unit.block {
            choice.choose(usize::try_from(unit.count).unwrap_or(0), None);
        } else if let Some(ranges) = self.ranges(unit)
            && !choice.wants_block(&ranges)
        {
            return 0;
        }
        let mut next = choice.next();
        let is_read = self.read(unit, |decoder, block| match block {
            Some(block) => {
                let (count, is_whole) = decoder.chosen_of_block(block, choice, out);
                (found, whole) = (count, is_whole);
            }
            None => {
                if next == Some(found) {
                    choice.push(decoder.made(), out);
                    next = choice.next();
                }
                found += 1;
            }
        });
        lost(unit, found, whole && is_read)
    }

    /// What a block says about its values, if it does.
    fn ranges(&mut self, unit: &Unit) -> Option<BlockRanges> {
        let (magic, shapes) = block_ranges::read(self.bytes, unit, &mut self.buffer)?;
        self.enter_ring(magic);
        let definitions = shapes.iter().map(|of| {
            let number = self.definition(magic, &of.shape.definition);
            T::meaning(self.definitions.get(number))
        });
        let definitions: Vec<_> = definitions.collect();
        Some(BlockRanges::new(shapes, definitions.into_iter()))
    }

    /// Reads a unit, and passes its block to `each`, or calls it for each single event, which is
    /// then in `single`. Returns whether the unit could be read.
    #[inline]
    fn read(&mut self, unit: &Unit, each: impl FnMut(&mut Self, Option<&Block>)) -> bool {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.bytes.read(unit.place.clone(), &mut buffer);
        let is_read = read.is_ok_and(|bytes| self.unit(unit, bytes, each));
        self.buffer = buffer;
        is_read
    }

    /// Passes each block or single event of a unit as it is written, without making anything of it.
    pub fn each(&mut self, unit: &Unit, mut each: impl FnMut(&SingleEvent, Option<&Block>)) {
        self.read(unit, |decoder, block| each(&decoder.single, block));
    }

    /// Reads all definitions of a unit, and gives them to `names`.
    pub fn survey(&mut self, unit: &Unit) {
        // Those of a block with ranges stand there as well.
        if unit.block && self.ranges(unit).is_some() {
            return;
        }
        self.read(unit, |decoder, block| match block {
            Some(block) => {
                let mut expanded = std::mem::take(&mut decoder.expanded);
                if let Some(unpacked) = unpack_block(block, &mut expanded) {
                    for shape in &unpacked.shapes {
                        decoder.definition(block.magic.unwrap_or(0), &shape.definition);
                    }
                }
                decoder.expanded = expanded;
            }
            None => {
                decoder.numbers();
            }
        });
    }

    /// Passes the block of a unit to `each`, or calls it for each single event, which is then in
    /// `single`. Returns false if its bytes are not those that an outline promised.
    #[inline]
    fn unit(
        &mut self,
        unit: &Unit,
        bytes: &[u8],
        mut each: impl FnMut(&mut Self, Option<&Block>),
    ) -> bool {
        let is_same = || unit.sum == Some(crc32fast::hash(bytes));
        if unit.block {
            if unit.passed && !is_same() {
                return false;
            }
            if let Some(Record::Block(block)) = record::decode(bytes, &mut self.single) {
                each(self, Some(&block));
            }
            return true;
        }
        // A file may be changed after it was opened. One checksum of all bytes takes less time than
        // those of the frames.
        let (frames, hint) = match is_same() {
            true => (Frames::whole(bytes), unit.hint),
            false => (Frames::new(bytes), None),
        };
        self.single.trust(hint);
        for part in frames {
            if let Part::Frame { record, .. } = part
                && record::decode_event(record, &mut self.single)
            {
                each(self, None);
            }
        }
        self.single.trust(None);
        true
    }

    /// The memory for a single event. [`Decoder::record`] takes the event from there.
    pub fn single(&mut self) -> &mut SingleEvent {
        &mut self.single
    }

    /// Appends the events of a record, as far as they can be read. Returns whether all can.
    #[inline]
    pub fn record(&mut self, record: Record, out: &mut Vec<T>) -> bool {
        match record {
            Record::Event => self.event(out),
            Record::Block(block) => return self.block(&block, out),
            _ => {}
        }
        true
    }

    #[inline]
    fn event(&mut self, out: &mut Vec<T>) {
        let event = self.made();
        out.push(event);
    }

    /// The single event that was read.
    #[inline]
    fn made(&mut self) -> T {
        self.enter_ring(self.single.magic());
        let (definition, thread) = self.numbers();
        let event = self.single.event(definition, thread);
        let (definition, thread) = (self.definitions.get(definition), self.threads.get(thread));
        T::make(&self.ring, definition, thread, event)
    }

    /// The numbers of the definition and the thread of the single event that was read.
    #[inline]
    fn numbers(&mut self) -> (usize, usize) {
        let source = self.single.source();
        match self.recent[source as usize % RECENT] {
            (recent, definition, thread) if recent == source => (definition, thread),
            _ => self.other_source(),
        }
    }

    /// The same for a source that is not among the recent ones. It becomes one of them.
    #[cold]
    fn other_source(&mut self) -> (usize, usize) {
        let magic = self.single.magic();
        let definition = self.definition(magic, &self.single.definition());
        let thread = self.thread(magic, &self.single.thread());
        let source = self.single.source();
        self.recent[source as usize % RECENT] = (source, definition, thread);
        (definition, thread)
    }

    fn block(&mut self, block: &Block, out: &mut Vec<T>) -> bool {
        let mut expanded = std::mem::take(&mut self.expanded);
        let before = out.len();
        let unpacked = unpack_block(block, &mut expanded);
        let whole = unpacked
            .is_some_and(|unpacked| self.append_unpacked(block.magic.unwrap_or(0), unpacked, out));
        self.expanded = expanded;
        let found = (out.len() - before) as u64;
        whole && block.count.is_none_or(|promised| promised == found)
    }

    /// Appends the wanted events of a block. Returns how many events can be read as far as anybody
    /// looked, and whether that is all.
    fn chosen_of_block(
        &mut self,
        block: &Block,
        choice: &mut UnitChoice,
        out: &mut Vec<T>,
    ) -> (usize, bool) {
        let mut expanded = std::mem::take(&mut self.expanded);
        let mut found = None;
        if let Some(unpacked) = unpack_block(block, &mut expanded) {
            found = self.append_chosen(block.magic.unwrap_or(0), unpacked, choice, out);
        }
        // Where the damage is, only the events one by one say.
        let (found, whole) = match found {
            Some(found) => (found, true),
            None => (readable(block, &mut expanded), false),
        };
        self.expanded = expanded;
        let is_promised = block.count.is_none_or(|promised| promised == found as u64);
        (found, whole && is_promised)
    }

    fn append_chosen(
        &mut self,
        magic: u64,
        mut unpacked: UnpackedEvents,
        choice: &mut UnitChoice,
        out: &mut Vec<T>,
    ) -> Option<usize> {
        let (definitions, threads) = self.tables(magic, &unpacked);
        let meanings = definitions.iter();
        let meanings = meanings.map(|number| T::meaning(self.definitions.get(*number)));
        let loggers = threads.iter();
        let loggers = loggers.map(|number| T::logger(self.threads.get(*number)));
        let count = unpacked.left();
        let mut columns = BlockColumns::of(&unpacked, meanings, loggers);
        choice.choose(count, Some(&mut columns));
        let shapes = columns.into_shapes();
        let (mut at, event, are_alike) = (0, &mut self.event, unpacked.are_alike());
        while let Some(place) = choice.next() {
            if at < place {
                unpacked.skip(shapes.get(at..place)?, are_alike)?;
            }
            unpacked.next_event(event)?;
            let definition = self.definitions.get(definitions[event.definition]);
            let thread = self.threads.get(threads[event.thread]);
            choice.push(T::make(&self.ring, definition, thread, event), out);
            at = place + 1;
        }
        Some(count)
    }

    /// Continues with a block of this ring. Returns the numbers of its definitions and threads.
    fn tables(&mut self, magic: u64, unpacked: &UnpackedEvents) -> (Vec<usize>, Vec<usize>) {
        self.enter_ring(magic);
        let shapes = unpacked.shapes.iter();
        let definitions = shapes.map(|s| self.definition(magic, &s.definition));
        let definitions = definitions.collect();
        let threads = unpacked.threads.iter();
        let threads = threads.map(|thread| self.thread(magic, thread));
        (definitions, threads.collect())
    }

    /// Appends the events of a block. Returns whether all could be read.
    fn append_unpacked(
        &mut self,
        magic: u64,
        mut unpacked: UnpackedEvents,
        out: &mut Vec<T>,
    ) -> bool {
        let (definitions, threads) = self.tables(magic, &unpacked);
        let event = &mut self.event;
        while unpacked.next_event(event).is_some() {
            let definition = self.definitions.get(definitions[event.definition]);
            let thread = self.threads.get(threads[event.thread]);
            out.push(T::make(&self.ring, definition, thread, event));
        }
        unpacked.is_at_end()
    }

    /// Continues with events of this ring.
    #[inline]
    fn enter_ring(&mut self, magic: u64) {
        if self.ring.magic != magic {
            let nodes = self.names.nodes(magic);
            self.ring = RingOrigin { magic, nodes };
        }
    }

    #[inline]
    fn definition(&mut self, magic: u64, raw: &RawDefinition) -> usize {
        let make = |raw: &RawDefinition| T::definition(self.names, magic, raw);
        self.definitions.number(magic, raw, make)
    }

    #[inline]
    fn thread(&mut self, magic: u64, raw: &RawThread) -> usize {
        let make = |raw: &RawThread| T::thread(self.names, magic, raw);
        self.threads.number(magic, raw, make)
    }
}

/// How many events of a block can be read.
#[cold]
fn readable(block: &Block, expanded: &mut Vec<u8>) -> usize {
    let Some(mut unpacked) = unpack_block(block, expanded) else {
        return 0;
    };
    let mut event = IndexedEvent::default();
    std::iter::from_fn(|| unpacked.next_event(&mut event)).count()
}

/// How many events a unit promises that cannot be read, if so many were found.
fn lost(unit: &Unit, found: usize, whole: bool) -> u64 {
    let missing = unit.count.saturating_sub(found as u64);
    missing.max(u64::from(!whole))
}

/// The events of a block, if it can be expanded.
pub fn unpack_block<'a>(block: &Block, expanded: &'a mut Vec<u8>) -> Option<UnpackedEvents<'a>> {
    let codec = block.codec.filter(|codec| block::is_known(codec))?;
    let expanded = unpack::expand(codec, block.payload?, block.expanded?, expanded)?;
    UnpackedEvents::new(expanded)
}

/// Definitions or threads by number. Each is made once for all of its events.
struct Shared<K, V> {
    made: Vec<V>,
    numbers: HashMap<(u64, K), usize>,
}

impl<K: Clone + Eq + Hash, V> Shared<K, V> {
    fn new() -> Shared<K, V> {
        Shared {
            made: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    #[inline]
    fn get(&self, number: usize) -> &V {
        &self.made[number]
    }

    fn number(&mut self, magic: u64, key: &K, make: impl FnOnce(&K) -> V) -> usize {
        let known = self.numbers.entry((magic, key.clone()));
        *known.or_insert_with(|| {
            self.made.push(make(key));
            self.made.len() - 1
        })
    }
}
