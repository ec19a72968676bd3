//! Makes archives of text logs: each line becomes an event, and comes back byte for byte.
//!
//! compressed.rs expands logs, lines.rs cuts a stream into lines, timestamp.rs finds their times,
//! tokens.rs their variables, and skeleton.rs the lines that differ in these only. batch.rs decides
//! for a block of lines which definitions they have; template.rs makes these formats of printf.
//! text.rs gives the lines back.

mod batch;
mod compressed;
mod definitions;
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

use batch::{Batch, Known, Place};
use definitions::Definitions;
use lines::Lines;
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
    known: Known,
    definitions: Definitions,
    times: Timestamps,
    threads: Vec<RawThread>,
    /// The number of the next line of each lane, and of all.
    numbers: Vec<u64>,
    line: u64,
}

/// A file whose lines are imported.
pub struct ImportedFile {
    thread: u32,
    lines: Lines,
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
            known: Known::default(),
            definitions: Definitions::default(),
            times: Timestamps::new(local),
            threads: Vec::new(),
            numbers: Vec::new(),
            line: 0,
        })
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
            lines: Lines::new(),
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
    pub fn read(&mut self, file: &mut ImportedFile, from: &mut impl Read) -> Result<usize, Failed> {
        let count = file.lines.read(from).map_err(Failed::Read)?;
        while let Some((line, has_end)) = file.lines.next_line() {
            self.line(line, has_end, file.thread)
                .map_err(Failed::Write)?;
        }
        Ok(count)
    }

    /// Takes what no line feed ends as well.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(&mut self, file: &mut ImportedFile) -> io::Result<()> {
        if !file.lines.rest().is_empty() {
            self.line(file.lines.rest(), false, file.thread)?;
            file.lines.take_rest();
        }
        Ok(())
    }

    #[inline]
    fn line(&mut self, line: &[u8], has_end: bool, thread: u32) -> io::Result<()> {
        let lane = u64::from(thread) % LANES;
        let number = &mut self.numbers[lane as usize];
        let place = Place {
            thread,
            lane,
            number: *number,
            has_end,
        };
        *number += 1;
        let found = self.times.find(line);
        self.batch.push(line, found, place, &mut self.known);
        if self.batch.is_full() {
            self.put_block()?;
        }
        Ok(())
    }

    fn put_block(&mut self) -> io::Result<()> {
        let writer = &mut self.writer;
        let mut put = |text: &str| writer.string(text);
        let (known, definitions) = (&mut self.known, &mut self.definitions);
        let block = self.batch.finish(known, &self.times, definitions, &mut put);
        let lines = block.lines.len() as u64;
        let block = LineBlock {
            threads: self.threads.clone(),
            first_ticks: self.line,
            ..block
        };
        self.line += lines;
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
        if !self.batch.is_empty() {
            self.put_block()?;
        }
        self.writer.flush()
    }

    /// How many lines were taken, and how many bytes were written.
    pub fn progress(&self) -> (u64, u64) {
        (self.numbers.iter().sum(), self.writer.written())
    }
}

/// Why an import failed.
#[derive(Debug)]
pub enum Failed {
    /// The input cannot be read.
    Read(io::Error),
    /// The archive cannot be written.
    Write(io::Error),
}
