//! Makes archives of text logs: each line becomes an event, and comes back byte for byte.
//!
//! compressed.rs expands logs, lines.rs cuts a stream into lines, timestamp.rs finds their times,
//! tokens.rs their variables, and skeleton.rs the lines that differ in these only. batch.rs decides
//! for a block of lines which definitions they have; template.rs makes these formats of printf.
//! json/ makes events with named values of lines of JSON. text.rs gives the lines back.
//!
//! definitions.rs keeps the definitions that were made, and level.rs finds the priority of a line.

mod batch;
mod compressed;
mod definitions;
mod json;
mod level;
mod lines;
mod skeleton;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod timestamp;
mod tokens;

use std::io::{self, Read, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use timeline_archive::{Form, LineBlock, Preamble, RawThread, Writer};

use batch::{Batch, ImportState, LinePlace};
use definitions::DefinitionCache;
use json::{JsonObjects, LineGroup, Member};
use lines::LineReader;
use timestamp::Timestamps;

pub use compressed::{expanded, is_compressed};
pub use text::LineWriter;

/// The clock of an archive of imported lines: its ticks are the numbers of the lines.
pub const CLOCK: &str = "line";
/// More skeletons are not kept.
const MOST_SKELETONS: usize = 1 << 17;
/// Lanes have smaller numbers.
const LANES: u64 = 1 << 15;

/// Writes an archive of the lines of text logs.
pub struct Importer<W> {
    writer: Writer<W>,
    batch: Batch,
    known: ImportState,
    definitions: DefinitionCache,
    times: Timestamps,
    threads: Vec<RawThread>,
    /// The number of the next event of each lane, and of all.
    numbers: Vec<u64>,
    event: u64,
    /// Whether lines of JSON become events with named values.
    reads_json: bool,
    objects: JsonObjects,
    /// The lines of an event that others may follow.
    group: LineGroup,
    /// How many lines were taken.
    lines: u64,
}

/// A file whose lines are imported.
pub struct ImportedFile {
    thread: u32,
    lines: LineReader,
    /// Whether the next bytes belong to a line of which a part was taken.
    is_inside: bool,
}

impl ImportedFile {
    /// How many bytes were read and not taken yet: a line without an end.
    pub fn waiting(&self) -> usize {
        self.lines.rest().len()
    }
}

impl<W: Write> Importer<W> {
    /// Begins an archive. Times that do not say their zone are of `local`.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(out: W, preamble: Preamble, local: TimeZone) -> io::Result<Importer<W>> {
        let mut writer = Writer::new(out, preamble.magic.unwrap_or(0), Form::Blocks);
        writer.preamble(&preamble);
        writer.write()?;
        Ok(Importer {
            writer,
            batch: Batch::default(),
            known: ImportState::default(),
            definitions: DefinitionCache::default(),
            times: Timestamps::new(local),
            threads: Vec::new(),
            numbers: Vec::new(),
            // A clock that reads 0 is none.
            event: 1,
            reads_json: true,
            objects: JsonObjects::default(),
            group: LineGroup::default(),
            lines: 0,
        })
    }

    /// Leaves lines of JSON as they are.
    pub fn only_text(mut self) -> Importer<W> {
        self.reads_json = false;
        self
    }

    /// Begins a file of this name, which was changed last at this time.
    pub fn begin(&mut self, name: &str, written: SystemTime) -> ImportedFile {
        let written = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.times.begin_file(written.as_secs() as i64);
        let thread = self.threads.len();
        self.threads.push(RawThread {
            name: Some(self.writer.string(name)),
            identity: Some(thread as u64 + 1),
            ..RawThread::default()
        });
        if self.numbers.len() < LANES as usize {
            self.numbers.push(0);
        }
        ImportedFile {
            thread: thread as u32,
            lines: LineReader::new(),
            is_inside: false,
        }
    }

    /// Says that the files were changed at this time.
    pub fn written(&mut self, written: SystemTime) {
        let written = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.times.set_written(written.as_secs() as i64);
    }

    /// Reads on in a file, and takes its whole lines. Returns how many bytes there were; none at
    /// the end.
    ///
    /// # Errors
    /// Those of the file, and of the output.
    pub fn read(
        &mut self,
        file: &mut ImportedFile,
        from: &mut impl Read,
    ) -> Result<usize, ImportError> {
        let count = file.lines.read(from).map_err(ImportError::Read)?;
        while let Some((line, has_end)) = file.lines.next_line() {
            // A line that is too long has parts, which are no JSON by themselves.
            let is_whole = has_end && !file.is_inside;
            self.lines += u64::from(!file.is_inside);
            file.is_inside = !has_end;
            self.line(line, has_end, is_whole, file.thread)
                .map_err(ImportError::Write)?;
        }
        Ok(count)
    }

    /// Takes what no line feed ends as well.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(&mut self, file: &mut ImportedFile) -> io::Result<()> {
        if !file.lines.rest().is_empty() {
            let is_whole = !file.is_inside;
            self.lines += u64::from(is_whole);
            self.line(file.lines.rest(), false, is_whole, file.thread)?;
            file.lines.take_rest();
        }
        file.is_inside = false;
        self.end_group()
    }

    #[inline]
    fn line(&mut self, line: &[u8], has_end: bool, is_whole: bool, thread: u32) -> io::Result<()> {
        let is_json = self.reads_json && is_whole && line.first() == Some(&b'{');
        if is_json && self.group.read(line) {
            return self.json(line, has_end, thread);
        }
        self.end_group()?;
        self.text(line, has_end, thread)
    }

    /// Takes a line of JSON that was read.
    fn json(&mut self, line: &[u8], has_end: bool, thread: u32) -> io::Result<()> {
        if !self.group.goes_on(thread) {
            self.emit_group()?;
            self.group.restart();
        }
        match self.group.take(line, has_end, thread) {
            true => Ok(()),
            false => self.end_group(),
        }
    }

    /// Makes an event of the lines of JSON that wait for others.
    fn end_group(&mut self) -> io::Result<()> {
        let result = self.emit_group();
        self.group.clear();
        result
    }

    fn emit_group(&mut self) -> io::Result<()> {
        let group = std::mem::take(&mut self.group);
        let result = self.emit(&group);
        self.group = group;
        result
    }

    fn emit(&mut self, group: &LineGroup) -> io::Result<()> {
        let lines = group.lines();
        if lines.is_empty() || self.object(lines, group.thread)? {
            return Ok(());
        }
        for line in lines {
            if lines.len() == 1 || !self.object(std::slice::from_ref(line), group.thread)? {
                self.text(&line.line, line.has_end, group.thread)?;
            }
        }
        Ok(())
    }

    /// Takes the lines of an event. Returns whether it can be one.
    fn object(&mut self, lines: &[Member], thread: u32) -> io::Result<bool> {
        let Some(first) = lines.first() else {
            return Ok(true);
        };
        let found = first.time(&mut self.times);
        let Some(id) = self.objects.of(lines, found.and_then(|(_, form)| form)) else {
            return Ok(false);
        };
        let place = place(&mut self.numbers, thread, true);
        let time = found.map(|(unix_nanos, _)| unix_nanos);
        let values = self.objects.values(id, lines);
        self.batch.push_object(id, time, place, values);
        self.put_full_block()?;
        Ok(true)
    }

    fn text(&mut self, line: &[u8], has_end: bool, thread: u32) -> io::Result<()> {
        let place = place(&mut self.numbers, thread, has_end);
        let found = self.times.find(line);
        self.batch.push(line, found, place, &mut self.known);
        self.put_full_block()
    }

    #[inline]
    fn put_full_block(&mut self) -> io::Result<()> {
        match self.batch.is_full() {
            true => self.put_block(),
            false => Ok(()),
        }
    }

    fn put_block(&mut self) -> io::Result<()> {
        let writer = &mut self.writer;
        let mut put = |text: &str| writer.string(text);
        let (known, definitions) = (&mut self.known, &mut self.definitions);
        let definitions = (definitions, &mut self.objects);
        let block = (self.batch).finish(known, &self.times, definitions, &mut put);
        let events = block.lines.len() as u64;
        let block = LineBlock {
            threads: self.threads.clone(),
            first_ticks: self.event,
            ..block
        };
        self.event += events;
        self.writer.lines(&block)?;
        if self.known.skeletons.len() > MOST_SKELETONS {
            self.known.forget_skeletons();
            self.definitions.forget_skeletons();
        }
        Ok(())
    }

    /// Writes all lines so far, as whole frames.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.end_group()?;
        self.flush_ended()
    }

    /// The same, but without lines of an event that may go on with those that are read next.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush_ended(&mut self) -> io::Result<()> {
        if !self.batch.is_empty() {
            self.put_block()?;
        }
        self.writer.flush()
    }

    /// How many lines were taken, and how many bytes were written.
    pub fn progress(&self) -> (u64, u64) {
        (self.lines, self.writer.written())
    }
}

/// The place of the next event of a thread.
#[inline]
fn place(numbers: &mut [u64], thread: u32, has_end: bool) -> LinePlace {
    let lane = u64::from(thread) % LANES;
    let number = &mut numbers[lane as usize];
    *number += 1;
    LinePlace {
        thread,
        lane,
        number: *number - 1,
        has_end,
    }
}

/// Why an import failed.
#[derive(Debug)]
pub enum ImportError {
    /// The input cannot be read.
    Read(io::Error),
    /// The archive cannot be written.
    Write(io::Error),
}
