//! Reads an archive: once through all frames, and then its events in the order of the file or of time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::block;
use super::frame::{Frames, Part};
use super::preamble::Preamble;
use super::record::{self, Block, Data, Kind, Record, Source, Symbol};
use super::rows::{self, Rows};
use crate::error::{Error, Result};
use crate::event::Priority;

/// An archive, read into memory.
pub struct Archive {
    bytes: Vec<u8>,
    preambles: Vec<Preamble>,
    strings: HashMap<(u64, u64), Arc<str>>,
    symbols: HashMap<(u64, u64), Symbol>,
    units: Vec<Unit>,
    damage: Vec<Range<usize>>,
    frames: u64,
    unknown: u64,
    missed: u64,
    places: HashMap<u64, BTreeMap<u64, u64>>,
    /// Where the last whole frame ends.
    whole: usize,
}

/// A frame with events, and when the first and the last of them were: ticks and time.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    record: Range<usize>,
    pub(super) magic: u64,
    /// As its record says.
    pub(super) count: u64,
    pub(super) ticks: (u64, u64),
    pub(super) unix: (u64, u64),
}

/// Text of an event. Where its definition was lost, its number stands in its place: `<string 0x1a40?>`.
pub type Text = Arc<str>;

/// What the events of one statement share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Which program and ring; see [`Archive::preamble`].
    pub magic: u64,
    /// The part of the program.
    pub category: Option<Text>,
    /// The message as it was defined.
    pub message: Option<Text>,
    /// How much detail it is.
    pub priority: Option<Priority>,
    /// The file of the statement.
    pub file: Option<Text>,
    /// The line of the statement.
    pub line: Option<u64>,
    /// The number of the event in its ring.
    pub event: Option<u64>,
}

/// What the events of one thread share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The thread's name.
    pub thread: Option<Text>,
    /// The kernel's id of the thread.
    pub tid: Option<u64>,
    /// The id of its process.
    pub pid: Option<u64>,
    /// The name of its process.
    pub process: Option<Text>,
}

/// An event of an archive. What is not known is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// What it says.
    pub statement: Arc<Statement>,
    /// Who says it.
    pub author: Arc<Author>,
    /// Ticks of the ring's clock.
    pub ticks: Option<u64>,
    /// Nanoseconds since the epoch.
    pub unix_nanos: Option<u64>,
    /// The CPU it was logged on.
    pub core: Option<u64>,
    /// The lane of the ring it was logged through.
    pub lane: Option<u64>,
    /// How many events were logged through that lane before it.
    pub number: Option<u64>,
    /// Its arguments.
    pub args: Vec<i64>,
    /// Return addresses, innermost first.
    pub backtrace: Vec<u64>,
}

impl Archive {
    /// Reads the archive at `path`.
    ///
    /// # Errors
    /// `Io`; `NotAnArchive` for a file without a single whole frame.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NoArchive { path: path.into() },
            _ => Error::io("read", path, error),
        })?;
        let archive = Archive::from_bytes(bytes);
        if archive.frames == 0 {
            let found = archive.bytes.iter().copied().take(8).collect();
            return Err(Error::NotAnArchive {
                path: path.into(),
                found,
            });
        }
        Ok(archive)
    }

    /// Reads an archive that is in memory already. Whatever the bytes are, what is whole comes out.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Archive {
        let mut archive = Archive {
            bytes: Vec::new(),
            preambles: Vec::new(),
            strings: HashMap::new(),
            symbols: HashMap::new(),
            units: Vec::new(),
            damage: Vec::new(),
            frames: 0,
            unknown: 0,
            missed: 0,
            places: HashMap::new(),
            whole: 0,
        };
        let bytes = bytes.into();
        for part in Frames::new(&bytes) {
            match part {
                Part::Damage(place) => archive.damaged(place),
                Part::Frame { place, record } => {
                    let start = place.end - record.len();
                    match record::decode(record) {
                        Some(decoded) => archive.take(decoded, start..place.end),
                        None => archive.damaged(place.clone()),
                    }
                    archive.frames += 1;
                    archive.whole = place.end;
                }
            }
        }
        archive.bytes = bytes;
        archive
    }

    /// Notes damage, as one with what it follows upon.
    fn damaged(&mut self, place: Range<usize>) {
        match self.damage.last_mut() {
            Some(last) if last.end == place.start => last.end = place.end,
            _ => self.damage.push(place),
        }
    }

    fn take(&mut self, decoded: Record, place: Range<usize>) {
        match decoded {
            Record::Preamble(preamble) => self.preambles.push(preamble),
            Record::String(string) => {
                if let (Some(id), Some(text)) = (string.id, string.string) {
                    let key = (string.magic.unwrap_or(0), id);
                    self.strings.insert(key, text.into());
                }
            }
            Record::Symbol(symbol) => {
                if let Some(address) = symbol.address {
                    let key = (symbol.magic.unwrap_or(0), address);
                    self.symbols.insert(key, symbol);
                }
            }
            Record::Data(data) => {
                let magic = data.magic.unwrap_or(0);
                if let (Some(lane), Some(number)) = (data.lane, data.number) {
                    self.advance(magic, lane, number.saturating_add(1));
                }
                let (ticks, unix) = (data.ticks.unwrap_or(0), data.unix_nanos.unwrap_or(0));
                self.units.push(Unit {
                    record: place,
                    magic,
                    count: 1,
                    ticks: (ticks, ticks),
                    unix: (unix, unix),
                });
            }
            Record::Block(block) => {
                let magic = block.magic.unwrap_or(0);
                for (lane, next) in &block.places {
                    self.advance(magic, *lane, *next);
                }
                let end = |least: Option<u64>, most: Option<u64>| {
                    (least.unwrap_or(0), most.unwrap_or(u64::MAX))
                };
                self.units.push(Unit {
                    record: place,
                    magic,
                    count: block.count.unwrap_or(0),
                    ticks: end(block.first_ticks, block.last_ticks),
                    unix: end(block.first_unix, block.last_unix),
                });
            }
            Record::Missed(missed) => {
                for (lane, next) in missed.places {
                    self.advance(missed.magic.unwrap_or(0), lane, next);
                }
                self.missed = self.missed.saturating_add(missed.count.unwrap_or(0));
            }
            Record::Unknown(_) => self.unknown += 1,
        }
    }

    fn advance(&mut self, magic: u64, lane: u64, next: u64) {
        let place = self
            .places
            .entry(magic)
            .or_default()
            .entry(lane)
            .or_default();
        *place = next.max(*place);
    }

    /// Which programs and rings it holds events of, as far as that is known.
    pub fn preambles(&self) -> &[Preamble] {
        &self.preambles
    }

    /// The program and ring of this magic.
    pub fn preamble(&self, magic: u64) -> Option<&Preamble> {
        self.preambles.iter().find(|p| p.magic == Some(magic))
    }

    /// What an address in a call stack stands for.
    pub fn symbol(&self, magic: u64, address: u64) -> Option<&Symbol> {
        self.symbols.get(&(magic, address))
    }

    /// The numbers of the strings defined for this magic.
    pub fn string_ids(&self, magic: u64) -> impl Iterator<Item = u64> {
        let of_magic = self.strings.keys().filter(move |(m, _)| *m == magic);
        of_magic.map(|(_, id)| *id)
    }

    /// Lanes of a ring, and the number of the next event of each that is not in here.
    pub fn places(&self, magic: u64) -> Vec<(u64, u64)> {
        let places = self.places.get(&magic).into_iter().flatten();
        places.map(|(lane, next)| (*lane, *next)).collect()
    }

    /// Where it is not an archive, as ranges of bytes.
    pub fn damage(&self) -> &[Range<usize>] {
        &self.damage
    }

    /// The bytes of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where the last whole frame ends: what follows was being written when its writer was killed.
    pub fn whole(&self) -> usize {
        self.whole
    }

    /// How many whole frames it has.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// How many records are of a kind that this version does not know.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// How many events were overwritten before they could be recorded.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How many events its records promise. [`Archive::events`] gives those that keep the promise.
    pub fn count(&self) -> u64 {
        self.units
            .iter()
            .fold(0, |sum, unit| sum.saturating_add(unit.count))
    }

    /// The events in the order of the file.
    pub fn events(&self) -> InFile<'_> {
        InFile {
            units: self.units.iter(),
            loader: Loader::new(self),
            ready: Vec::new(),
        }
    }

    pub(super) fn units(&self) -> &[Unit] {
        &self.units
    }

    fn text(&self, magic: u64, id: Option<u64>) -> Option<Text> {
        let id = id?;
        Some(match self.strings.get(&(magic, id)) {
            Some(text) => Arc::clone(text),
            None => format!("<string {id:#x}?>").into(),
        })
    }
}

/// Makes events of frames, sharing what they share.
pub(super) struct Loader<'a> {
    archive: &'a Archive,
    statements: HashMap<(u64, Kind), Arc<Statement>>,
    authors: HashMap<(u64, Source), Arc<Author>>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(archive: &'a Archive) -> Loader<'a> {
        Loader {
            archive,
            statements: HashMap::new(),
            authors: HashMap::new(),
        }
    }

    fn statement(&mut self, magic: u64, kind: &Kind) -> Arc<Statement> {
        let made = self.statements.entry((magic, kind.clone()));
        let archive = self.archive;
        let statement = made.or_insert_with_key(|(magic, kind)| {
            let text = |id| archive.text(*magic, id);
            let level = kind.level.and_then(|level| u8::try_from(level).ok());
            Arc::new(Statement {
                magic: *magic,
                category: text(kind.category),
                message: text(kind.format),
                priority: level.and_then(Priority::from_u8),
                file: text(kind.file),
                line: kind.line,
                event: kind.event,
            })
        });
        Arc::clone(statement)
    }

    fn author(&mut self, magic: u64, source: &Source) -> Arc<Author> {
        let made = self.authors.entry((magic, source.clone()));
        let archive = self.archive;
        let author = made.or_insert_with_key(|(magic, source)| {
            Arc::new(Author {
                thread: archive.text(*magic, source.thread),
                tid: source.tid,
                pid: source.pid,
                process: archive.text(*magic, source.process),
            })
        });
        Arc::clone(author)
    }

    /// Appends the events of a frame; whether all that it promises are there.
    pub(super) fn load(&mut self, unit: &Unit, out: &mut Vec<Recorded>) -> bool {
        match record::decode(&self.archive.bytes[unit.record.clone()]) {
            Some(Record::Data(data)) => {
                out.push(self.event(unit.magic, data));
                true
            }
            Some(Record::Block(block)) => self.block(unit.magic, &block, out).is_some(),
            _ => false,
        }
    }

    fn event(&mut self, magic: u64, data: Data) -> Recorded {
        Recorded {
            statement: self.statement(magic, &data.kind),
            author: self.author(magic, &data.source),
            ticks: data.ticks,
            unix_nanos: data.unix_nanos,
            core: data.core,
            lane: data.lane,
            number: data.number,
            args: data.args,
            backtrace: data.backtrace,
        }
    }

    fn block(&mut self, magic: u64, block: &Block, out: &mut Vec<Recorded>) -> Option<()> {
        if block.codec != Some(block::CODEC.as_bytes()) {
            return None;
        }
        let expanded = rows::expand(block.payload?, block.expanded?)?;
        let mut rows = Rows::new(&expanded)?;
        let shapes = rows.shapes.iter();
        let statements: Vec<_> = shapes.map(|s| self.statement(magic, &s.kind)).collect();
        let sources = rows.sources.iter();
        let authors: Vec<_> = sources.map(|s| self.author(magic, s)).collect();
        let start = out.len();
        while let Some(row) = rows.next_row() {
            out.push(Recorded {
                statement: Arc::clone(&statements[row.shape]),
                author: Arc::clone(&authors[row.source]),
                ticks: row.ticks,
                unix_nanos: row.unix_nanos,
                core: row.core,
                lane: row.lane,
                number: row.number,
                args: row.args,
                backtrace: row.backtrace,
            });
        }
        let count = (out.len() - start) as u64;
        (rows.is_at_end() && block.count.is_none_or(|promised| promised == count)).then_some(())
    }
}

/// The events of an archive in the order of the file.
pub struct InFile<'a> {
    units: std::slice::Iter<'a, Unit>,
    loader: Loader<'a>,
    /// Of the present frame, the next one last.
    ready: Vec<Recorded>,
}

impl Iterator for InFile<'_> {
    type Item = Recorded;

    fn next(&mut self) -> Option<Recorded> {
        loop {
            if let Some(event) = self.ready.pop() {
                return Some(event);
            }
            self.loader.load(self.units.next()?, &mut self.ready);
            self.ready.reverse();
        }
    }
}
