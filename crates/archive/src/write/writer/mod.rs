//! Writes an archive: a frame for each event, or blocks of many.
//!
//! dictionary.rs has the strings that a file has already, losses.rs writes what is missing or left
//! out, room.rs says how many bytes come, lines.rs writes imported lines, and words.rs events as
//! their entries have them.

mod dictionary;
mod lines;
mod losses;
mod room;
mod words;

use std::io::{self, Write};

use crate::format::clock::ClockComparison;
use crate::format::event::{RawDefinition, RawEvent, RawThread};
use crate::format::frame::{self, Checksum};
use crate::format::module::ModuleRecord;
use crate::format::preamble::Preamble;
use crate::format::process::ProcessRecord;
use crate::format::ranges;
use crate::format::record::Block;
use crate::write::event::{EventRecord, InternedEvent};
use crate::write::interner::{DefinitionId, Interner, ThreadId};
use crate::write::packer::{self, Packer};
use crate::write::positions::Positions;
use crate::write::range::ValueRange;
use timeline::Module;
use timeline::internal::msgpack::FieldWriter;

pub use dictionary::{FileDictionary, MOST_TEXT};

/// The form in which events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One event in each frame. Readers need not expand anything, but the file is several times as
    /// large.
    Plain,
    /// Many events in a frame, compressed.
    Blocks,
}

/// Most events in a block. That is a few hundred kilobytes, and a damaged byte costs no more than
/// that.
const BLOCK: usize = 8192;
/// The weight of a full block: it fits in a record even if it cannot be compressed.
const MOST_WEIGHT: usize = frame::MAX_RECORD / 4;
/// Most definitions and threads that have numbers at a time, if a writer is given whole events.
const MOST_INTERNED: usize = 1 << 16;
/// The writer writes when so many bytes are waiting.
const BUFFER: usize = 1 << 20;

/// From where a block goes on with lanes, and how far, as in [`Block`].
type Account = (Vec<(u64, u64)>, Vec<(u64, u64)>);

/// Writes the archive of one ring.
///
/// After [`Writer::flush`], everything that the writer was given is in the file. Before, the file
/// has only whole frames.
pub struct Writer<W> {
    out: W,
    form: Form,
    magic: u64,
    known: FileDictionary,
    interned: Interner,
    /// Events that wait until there are enough for a block.
    packer: Packer,
    waiting: usize,
    /// About how many bytes they take.
    weight: usize,
    /// The ranges of their ticks and of their times.
    ticks: ValueRange,
    unix: ValueRange,
    /// The buffers for packed events, for their ranges, and for the events compressed.
    packed: Vec<u8>,
    ranges: Vec<u8>,
    compressed: Vec<u8>,
    /// Bytes that the output has room for, at least, in addition to all that waits. If it is 0, the
    /// output is asked again.
    room: u64,
    positions: Positions,
    /// What the next block accounts for, if not what its events do: where it goes on, and how far.
    account: Option<Account>,
    fields: FieldWriter,
    record: Vec<u8>,
    event: EventRecord,
    checksum: Checksum,
    frames: Vec<u8>,
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Writes records with this magic to `out`. A new archive begins with a preamble.
    pub fn new(out: W, magic: u64, form: Form) -> Writer<W> {
        Writer {
            out,
            form,
            magic,
            known: FileDictionary::default(),
            interned: Interner::new(magic),
            packer: Packer::new(),
            waiting: 0,
            weight: 0,
            ticks: ValueRange::new(),
            unix: ValueRange::new(),
            packed: Vec::new(),
            ranges: Vec::new(),
            compressed: Vec::new(),
            room: 0,
            positions: Positions::default(),
            account: None,
            fields: FieldWriter::default(),
            record: Vec::new(),
            event: EventRecord::default(),
            checksum: Checksum::default(),
            frames: Vec::new(),
            written: 0,
        }
    }

    /// Tells the writer which strings and symbols the file has already. It does not write them
    /// again.
    pub fn knows(&mut self, known: FileDictionary) {
        self.known = known;
    }

    /// Writes which program and ring the records of this magic belong to.
    pub fn preamble(&mut self, preamble: &Preamble) {
        preamble.encode(&mut self.fields, &mut self.record);
        self.frame();
    }

    /// Writes which process logged, and its executable, unless the file says so already.
    pub fn process(&mut self, process: &ProcessRecord) {
        if self.known.process(process) {
            process.encode(&mut self.fields, &mut self.record);
            self.frame();
        }
    }

    /// Writes what the clock of another machine shows.
    pub fn clock(&mut self, comparison: &ClockComparison) {
        comparison.encode(&mut self.fields, &mut self.record);
        self.frame();
    }

    /// Writes what a process has loaded, unless the file says so already.
    pub fn module(&mut self, module: &Module) {
        if self.known.modules.insert(module.clone()) {
            let module = ModuleRecord {
                magic: Some(self.magic),
                module: Some(module.clone()),
            };
            module.encode(&mut self.fields, &mut self.record);
            self.frame();
        }
    }

    /// Forgets what the file has, because the next records go to another file.
    pub(crate) fn forget(&mut self) {
        self.known = FileDictionary::default();
        self.forget_interned();
    }

    /// The strings and symbols that the file has.
    pub(crate) fn known(&self) -> &FileDictionary {
        &self.known
    }

    /// Writes an event. It belongs to the magic of this writer, and its strings are defined
    /// already.
    ///
    /// # Errors
    /// Those of the output; then the writer keeps what it was given for the next attempt.
    /// `InvalidInput` if the event has more arguments, payload or addresses than a record may hold.
    pub fn event(&mut self, event: &RawEvent) -> io::Result<()> {
        if self.interned.len() >= MOST_INTERNED {
            self.end_block();
            self.forget_interned();
        }
        let event = self.interned.event(event);
        self.log(&event)
    }

    /// The number of a definition, until [`Writer::forget_interned`].
    pub(crate) fn definition(&mut self, definition: &RawDefinition) -> DefinitionId {
        self.interned.definition(definition)
    }

    /// The number of a thread, until [`Writer::forget_interned`].
    pub(crate) fn thread(&mut self, thread: &RawThread) -> ThreadId {
        self.interned.thread(thread)
    }

    /// The process of a thread.
    pub(crate) fn pid(&self, thread: ThreadId) -> Option<u64> {
        self.interned.raw_thread(thread).pid
    }

    /// Forgets the numbers of definitions and threads. No event may be waiting.
    pub(crate) fn forget_interned(&mut self) {
        debug_assert_eq!(self.waiting, 0, "a block refers to what is forgotten");
        self.interned = Interner::new(self.magic);
    }

    /// Like [`Writer::event`], but the event has the numbers of its definition and thread.
    #[inline]
    pub(crate) fn log(&mut self, event: &InternedEvent) -> io::Result<()> {
        let Some(weight) = packer::weight(event) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an event of an archive has at most 1024 arguments and return addresses, and 1 MiB \
                 of payload",
            ));
        };
        if event.is_important() {
            self.put_important(event);
            return self.write_if_much();
        }
        if let (Some(lane), Some(number), Some(next)) =
            (event.lane, event.number, event.number_behind())
        {
            self.goes_on(lane, number, next);
        }
        if event.args.len() > 4 || !event.backtrace.is_empty() || !event.payload.is_empty() {
            self.room = 0;
        }
        match self.form {
            Form::Plain => self.put_single(event),
            Form::Blocks => {
                if !self.packer.has_columns_for(event.integers().len()) {
                    self.end_block();
                }
                self.packer.push(event);
                self.ticks.add(event.ticks);
                self.unix.add(event.unix_nanos);
                self.weighs(1, weight);
            }
        }
        self.write_if_much()
    }

    /// Puts an important event into a frame of its own, also among blocks: a reader finds it
    /// without expanding any. It has no position in a lane.
    #[cold]
    pub(crate) fn put_important(&mut self, event: &InternedEvent) {
        self.put_single(event);
        self.room = 0;
    }

    #[inline]
    fn put_single(&mut self, event: &InternedEvent) {
        let record = self.event.encode(event, &self.interned);
        frame::put(record, &mut self.checksum, &mut self.frames);
    }

    /// Counts packed events, and ends the block if it is full.
    #[inline]
    fn weighs(&mut self, count: usize, weight: usize) {
        self.weight += weight;
        self.waiting += count;
        if self.waiting >= BLOCK || self.weight > MOST_WEIGHT {
            self.end_block();
        }
    }

    /// Notes the number of the next event in a lane, for a recorder that continues the file.
    pub fn note_position(&mut self, lane: u64, next: u64) {
        self.positions.note(lane, next);
    }

    /// What is noted so far is where the recording begins, or stands in the file already: the next
    /// frame goes on there.
    pub(crate) fn settle_positions(&mut self) {
        self.positions.settle();
    }

    /// The next frame goes on with a lane at this number.
    pub(crate) fn goes_on_from(&mut self, lane: u64, from: u64) {
        self.positions.note_from(lane, from);
    }

    /// Lanes, and the number of the next event of each.
    pub fn positions(&self) -> &[(u64, u64)] {
        self.positions.all()
    }

    /// The number of events that are not in a frame yet.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The number of bytes that this writer has written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The magic of the records.
    pub(crate) fn magic(&self) -> u64 {
        self.magic
    }

    /// The output.
    pub(crate) fn output(&mut self) -> &mut W {
        &mut self.out
    }

    /// Frames that are not written yet.
    pub(crate) fn unwritten(&self) -> &[u8] {
        &self.frames
    }

    /// Takes back the unwritten frames after the first `length` unwritten bytes.
    pub(crate) fn take_back(&mut self, length: usize) -> Vec<u8> {
        self.frames.split_off(length)
    }

    /// Appends frames again that were taken back.
    pub(crate) fn put_back(&mut self, frames: &[u8]) {
        self.frames.extend_from_slice(frames);
    }

    /// Writes everything that the writer was given.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.end_block();
        self.write()?;
        self.out.flush()
    }

    /// Puts the waiting events into a frame.
    pub(crate) fn end_block(&mut self) {
        if self.waiting == 0 {
            return;
        }
        let (from, positions) = self.accounted();
        let codec = self.packer.codec();
        let (packed, ranges) = (&mut self.packed, &mut self.ranges);
        self.packer.finish(&self.interned, packed, ranges);
        let payload = packer::compress(&self.packed, &mut self.compressed);
        let (first_ticks, last_ticks) = self.ticks.take();
        let (first_unix, last_unix) = self.unix.take();
        let block = Block {
            magic: Some(self.magic),
            codec: Some(codec.as_bytes()),
            expanded: Some(self.packed.len() as u64),
            count: Some(self.waiting as u64),
            first_ticks,
            last_ticks,
            first_unix,
            last_unix,
            ranges: ranges::worth(&self.ranges, payload),
            payload: Some(payload),
            from,
            positions,
        };
        block.encode(&mut self.fields, &mut self.record);
        self.frame();
        self.waiting = 0;
        self.weight = 0;
    }

    /// Puts a frame around the record that was just encoded.
    fn frame(&mut self) {
        frame::put(&self.record, &mut self.checksum, &mut self.frames);
        self.record.clear();
        self.room = 0;
    }

    fn write_if_much(&mut self) -> io::Result<()> {
        if self.frames.len() >= BUFFER {
            self.write()?;
        }
        Ok(())
    }

    /// Writes the whole frames. Events that wait for a block go on waiting.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write(&mut self) -> io::Result<()> {
        let mut done = 0;
        let result = loop {
            if done == self.frames.len() {
                break Ok(());
            }
            match self.out.write(&self.frames[done..]) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.written += done as u64;
        self.frames.drain(..done);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::event::SingleEvent;
    use crate::format::frame::{Frames, Part};
    use crate::format::record::{Record, decode};

    #[test]
    fn a_string_is_defined_once_and_before_its_event() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Plain);
        for _ in 0..3 {
            let format = writer.string("got $bytes");
            let mut event = RawEvent::default();
            event.definition.format = Some(format);
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        let tags: Vec<u8> = Frames::new(&file)
            .map(|part| match part {
                Part::Frame { record, .. } => record[0],
                Part::Damage(place) => panic!("damage at {place:?}"),
            })
            .collect();
        assert_eq!(tags, [1, 127, 127, 127]);
    }

    #[test]
    fn blocks_tell_where_to_go_on() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Blocks);
        for number in 0..BLOCK as u64 + 5 {
            let event = RawEvent {
                lane: Some(number % 2),
                number: Some(number / 2),
                ticks: Some(number),
                ..RawEvent::default()
            };
            writer.event(&event).unwrap();
        }
        writer.flush().unwrap();
        let blocks: Vec<_> = Frames::new(&file)
            .map(|part| match part {
                Part::Frame { record, .. } => match decode(record, &mut SingleEvent::default()) {
                    Some(Record::Block(block)) => (block.count, block.first_ticks, block.positions),
                    other => panic!("{other:?}"),
                },
                Part::Damage(place) => panic!("damage at {place:?}"),
            })
            .collect();
        let half = BLOCK as u64 / 2;
        assert_eq!(
            blocks,
            [
                (Some(BLOCK as u64), Some(0), vec![(0, half), (1, half)]),
                (
                    Some(5),
                    Some(BLOCK as u64),
                    vec![(0, half + 3), (1, half + 2)]
                ),
            ]
        );
    }
}
