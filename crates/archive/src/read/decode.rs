//! Decodes the events in frames. Events with the same definition or thread share it.

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU64;
use std::ops::Range;

use timeline::msgpack::{Marker, put};
use timeline::{Encoding, Event, EventId, Payload, ThreadRef, Value, values};

use crate::format::block;
use crate::format::event::{RawDefinition, RawThread, SingleEvent};
use crate::format::frame::{Frames, Part};
use crate::format::record::{self, Block, Record};
use crate::read::bytes::Bytes;
use crate::read::gaps::Gap;
use crate::read::names::Names;
use crate::read::unpack::{self, IndexedEvent, UnpackedEvents};

/// Consecutive frames with events, and the ticks and times of the first and the last event.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The range of the record of a block, or of whole frames of single events and of the records
    /// that these refer to.
    pub place: Range<usize>,
    /// Whether this is a block.
    pub block: bool,
    /// The number of events that the record promises.
    pub count: u64,
    pub ticks: (u64, u64),
    pub unix: (u64, u64),
    /// Whether these are important events. All or none are.
    pub important: bool,
    /// The gap before its first event.
    pub gap: Option<Gap>,
    /// The checksum of all of its bytes, as they were when its frames were found whole.
    pub sum: Option<u32>,
    /// The hint by which the kinds of all its records were found; all are events then.
    pub hint: Option<usize>,
}

/// The position of an event in the order of events: time, ticks, magic, lane, and number in the
/// lane. A value that is not known is 0.
pub type Moment = (u64, u64, u64, u64, u64);

/// An event in the form that a reader asked for.
pub trait Decoded: Sized {
    /// The definition of an event.
    type Definition: Clone;
    /// The thread that logged an event.
    type Thread: Clone;

    fn definition(names: &Names, magic: u64, raw: &RawDefinition) -> Self::Definition;
    fn thread(names: &Names, magic: u64, raw: &RawThread) -> Self::Thread;
    fn make(
        ring: &Ring,
        definition: &Self::Definition,
        thread: &Self::Thread,
        event: &mut IndexedEvent,
    ) -> Self;
    fn moment(&self) -> Moment;
    /// Notes how many entries are missing before it, if the gap is before this event.
    fn miss(&mut self, gap: &Gap);
    /// Moves it out of a list that is not needed any more.
    fn take(&mut self) -> Self;
    /// The bytes of memory that it has on the heap.
    fn heap(&self) -> usize;
}

/// The ring of an event.
pub struct Ring {
    /// Its magic.
    pub magic: u64,
    /// The NUMA nodes of its CPUs.
    nodes: Vec<u16>,
}

/// An event in the form of events of a ring, and the numbers by which it is ordered.
pub struct OrderedEvent {
    pub event: Event,
    magic: u64,
    lane: u64,
    number: u64,
}

/// The meaning of an event.
#[derive(Clone)]
pub struct Meaning {
    id: EventId,
    /// The same as in its definition.
    is_lost: bool,
}

/// The number of arguments in an event itself.
const ARGUMENTS: usize = 4;
/// Most return addresses of an event in the form of events of a ring. That is several times as many
/// as an event of a ring has.
pub const ADDRESSES: usize = 1024;
/// Most bytes of values of such an event. That is dozens of times as many as an event of a ring
/// has.
pub const PAYLOAD: usize = 64 << 10;

impl Decoded for OrderedEvent {
    type Definition = Meaning;
    type Thread = (ThreadRef, u32);

    fn definition(names: &Names, magic: u64, raw: &RawDefinition) -> Meaning {
        let id = names.event(magic, raw);
        let is_lost = names.definition(id).is_none_or(|means| means.is_lost);
        Meaning { id, is_lost }
    }

    fn thread(names: &Names, magic: u64, raw: &RawThread) -> (ThreadRef, u32) {
        let tid = raw.tid.and_then(|tid| u32::try_from(tid).ok());
        (names.thread_ref(magic, raw), tid.unwrap_or(0))
    }

    #[inline]
    fn make(
        ring: &Ring,
        means: &Meaning,
        thread: &(ThreadRef, u32),
        event: &mut IndexedEvent,
    ) -> OrderedEvent {
        let mut args = [0; ARGUMENTS];
        let given = event.args.iter();
        args.iter_mut()
            .zip(given)
            .for_each(|(arg, given)| *arg = *given);
        let core = event.core.map_or(u16::MAX, |core| core.min(0xffff) as u16);
        // If no message says how many arguments there are, a payload does.
        let more = event.args.len() > ARGUMENTS
            || means.is_lost
            || !event.payload.is_empty()
            || !event.backtrace.is_empty();
        OrderedEvent {
            event: Event {
                ticks: event.ticks.unwrap_or(0),
                id: means.id,
                core,
                node: ring
                    .nodes
                    .get(usize::from(core))
                    .copied()
                    .unwrap_or(u16::MAX),
                thread: thread.0,
                tid: thread.1,
                args,
                payload: more.then(|| payload(event)),
                time: event.unix_nanos.and_then(NonZeroU64::new),
                missed: 0,
                important: event.is_important(),
            },
            magic: ring.magic,
            lane: event.lane.unwrap_or(0),
            number: event.number.unwrap_or(0),
        }
    }

    #[inline]
    fn moment(&self) -> Moment {
        let unix = self.event.time.map_or(0, NonZeroU64::get);
        (unix, self.event.ticks, self.magic, self.lane, self.number)
    }

    fn miss(&mut self, gap: &Gap) {
        self.event.missed = gap.before(self.magic, self.lane, self.number);
    }

    #[inline]
    fn take(&mut self) -> OrderedEvent {
        let payload = self.event.payload.take();
        let event = Event {
            payload,
            ..self.event
        };
        OrderedEvent { event, ..*self }
    }

    #[inline]
    fn heap(&self) -> usize {
        let payload = self.event.payload.as_ref();
        payload.map_or(0, |payload| {
            let lists = payload.values.capacity() + size_of::<u64>() * payload.backtrace.capacity();
            size_of::<Payload>() + lists
        })
    }
}

/// For counting events: nothing else is decoded.
impl Decoded for () {
    type Definition = ();
    type Thread = ();

    fn definition(_: &Names, _: u64, _: &RawDefinition) {}

    fn thread(_: &Names, _: u64, _: &RawThread) {}

    #[inline]
    fn make(_: &Ring, (): &(), (): &(), _: &mut IndexedEvent) {}

    fn moment(&self) -> Moment {
        Moment::default()
    }

    fn miss(&mut self, _: &Gap) {}

    fn take(&mut self) {}

    fn heap(&self) -> usize {
        0
    }
}

/// The first values up to the limit. A text that crosses the limit is cut.
fn beginning(payload: &[u8]) -> Vec<u8> {
    // An encoded text takes up to four bytes more than the text.
    let (mut kept, most) = (Vec::new(), PAYLOAD - 4);
    for value in values(payload) {
        let room = most.saturating_sub(kept.len());
        match value {
            Value::Text { bytes, .. } if bytes.len() > room => {
                let bytes = &bytes[..room];
                Value::Text { bytes, cut: true }.encode(&mut kept);
            }
            value => value.encode(&mut kept),
        }
        if kept.len() >= most {
            break;
        }
    }
    kept
}

/// The payload of an event for which four arguments are not enough. Integers have the type `long`,
/// as in an event of `printf`.
#[cold]
fn payload(event: &mut IndexedEvent) -> Box<Payload> {
    let mut values = std::mem::take(&mut event.payload);
    if values.len() > PAYLOAD {
        values = beginning(&values);
    }
    for arg in &event.args {
        put(&mut values, Marker::I64, &arg.to_be_bytes());
    }
    let mut backtrace = std::mem::take(&mut event.backtrace);
    backtrace.truncate(ADDRESSES);
    Box::new(Payload {
        values,
        encoding: Encoding::Msgpack,
        backtrace,
    })
}

/// How many recent sources of single events are kept. It is a power of two.
const RECENT: usize = 512;

/// Decodes the events in frames.
pub struct Decoder<'a, T: Decoded> {
    bytes: &'a Bytes,
    pub names: &'a Names,
    definitions: Shared<RawDefinition, T::Definition>,
    threads: Shared<RawThread, T::Thread>,
    /// The recent sources of single events, with the numbers of their definitions and threads.
    recent: Vec<(u64, usize, usize)>,
    ring: Ring,
    /// Memory that is used again.
    buffer: Vec<u8>,
    expanded: Vec<u8>,
    single: SingleEvent,
    event: IndexedEvent,
}

impl<'a, T: Decoded> Decoder<'a, T> {
    /// A decoder that knows the kinds of records that `single` knows.
    pub fn new(bytes: &'a Bytes, names: &'a Names, single: &SingleEvent) -> Decoder<'a, T> {
        Decoder {
            bytes,
            names,
            definitions: Shared::new(),
            threads: Shared::new(),
            recent: vec![(0, 0, 0); RECENT],
            ring: Ring {
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
        let mut buffer = std::mem::take(&mut self.buffer);
        match self.bytes.read(unit.place.clone(), &mut buffer) {
            Ok(bytes) => self.unit(unit, bytes, |decoder, block| match block {
                Some(block) => whole &= decoder.block(block, out),
                None => decoder.event(out),
            }),
            Err(_) => whole = false,
        }
        self.buffer = buffer;
        if let Some((gap, first)) = unit.gap.as_ref().zip(out.get_mut(before)) {
            first.miss(gap);
        }
        let found = (out.len() - before) as u64;
        unit.count.saturating_sub(found).max(u64::from(!whole))
    }

    /// Reads all definitions of a unit, and gives them to `names`.
    pub fn survey(&mut self, unit: &Unit) {
        let mut buffer = std::mem::take(&mut self.buffer);
        if let Ok(bytes) = self.bytes.read(unit.place.clone(), &mut buffer) {
            self.unit(unit, bytes, |decoder, block| match block {
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
                    let (magic, raw) = (decoder.single.magic(), decoder.single.definition());
                    decoder.definition(magic, &raw);
                }
            });
        }
        self.buffer = buffer;
    }

    /// Passes the block of a unit to `each`, or calls it for each single event, which is then in
    /// `single`.
    #[inline]
    fn unit(&mut self, unit: &Unit, bytes: &[u8], mut each: impl FnMut(&mut Self, Option<&Block>)) {
        if unit.block {
            if let Some(Record::Block(block)) = record::decode(bytes, &mut self.single) {
                each(self, Some(&block));
            }
            return;
        }
        // A file may be changed after it was opened. One checksum of all bytes takes less time than
        // those of the frames.
        let (frames, hint) = match unit.sum == Some(crc32fast::hash(bytes)) {
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
        let magic = self.single.magic();
        self.enter_ring(magic);
        let source = self.single.source();
        let (definition, thread) = match self.recent[source as usize % RECENT] {
            (recent, definition, thread) if recent == source => (definition, thread),
            _ => self.other_source(magic),
        };
        let event = self.single.event(definition, thread);
        let (definition, thread) = (self.definitions.get(definition), self.threads.get(thread));
        out.push(T::make(&self.ring, definition, thread, event));
    }

    /// The numbers of the definition and the thread of an event. They are then the recent ones of
    /// its source.
    #[cold]
    fn other_source(&mut self, magic: u64) -> (usize, usize) {
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

    /// Appends the events of a block. Returns whether all could be read.
    fn append_unpacked(
        &mut self,
        magic: u64,
        mut unpacked: UnpackedEvents,
        out: &mut Vec<T>,
    ) -> bool {
        self.enter_ring(magic);
        let shapes = unpacked.shapes.iter();
        let definitions: Vec<_> = shapes
            .map(|s| self.definition(magic, &s.definition))
            .collect();
        let threads = unpacked.threads.iter();
        let threads: Vec<_> = threads.map(|thread| self.thread(magic, thread)).collect();
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
            self.ring = Ring { magic, nodes };
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

/// The events of a block, if it can be expanded.
fn unpack_block<'a>(block: &Block, expanded: &'a mut Vec<u8>) -> Option<UnpackedEvents<'a>> {
    block.codec.filter(|codec| block::is_known(codec))?;
    let expanded = unpack::expand(block.payload?, block.expanded?, expanded)?;
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
