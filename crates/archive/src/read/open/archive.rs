//! Opens an archive, and finds its whole frames.
//! Frames with events are read again when a caller wants the events.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use timeline::{
    Definition, Event, EventId, Frame, InlinedFunction, Source, SourceLine, Thread, ThreadRef,
};

use crate::error::{Error, Result};
use crate::format::file_name::missing_between;
use crate::format::frame::{MAGIC, MARK};
use crate::format::preamble::Preamble;
use crate::format::symbol::Symbol;
use crate::read::file::bytes::{ArchiveBytes, Section, files_of, sort_files};
use crate::read::loss::coverage::Coverage;
use crate::read::loss::gaps::Gaps;
use crate::read::open::contents::Contents;
use crate::read::open::decode::Decoder;
use crate::read::open::holes::Holes;
use crate::read::open::outline::Outline;
use crate::read::texts::names::Names;
use crate::read::texts::recovery::Recovery;
use crate::read::texts::sessions::TraceSession;
use crate::read::units::form::DecodedEvent;
use crate::read::units::important_numbers::ImportantNumbers;
use crate::read::units::ordered::OrderedEvent;
use crate::read::units::unit::Unit;

/// Characters of a symbol that are shown with each address in a call stack.
pub const SHOWN: usize = 16 << 10;

/// The outlines of files that were not changed since.
fn unchanged(
    outline_of: &dyn Fn(&Path) -> Option<Outline>,
) -> impl Fn(&Section) -> Option<Outline> {
    move |section| {
        let (path, stamp) = section.stamped()?;
        outline_of(path).filter(|outline| outline.is_of(stamp))
    }
}

/// An archive: a file, or the files of a directory as if they were joined.
///
/// Opening an archive reads all of it, to find the whole frames, unless there is an [`Outline`] of
/// it: see [`Archive::open_with`]. The places of the events, their strings and their programs stay
/// in memory. The events themselves are read when a caller wants them.
///
/// As a [`Source`], an archive returns copies of strings with definitions and threads. No copy is
/// longer than [`Definition::LONGEST_TEXT`]. All copies together may have 8 MiB and six times the
/// strings of the archive, and no recorder comes near that limit. Beyond it, long copies are cut,
/// and end in `…`. Values above 64 KiB, call stacks above 1,024 addresses, and symbols above 16,384
/// characters are cut as well. [`Archive::events`] and [`Archive::by_time`] return everything, and
/// share strings.
///
/// # Example
/// ```
/// use timeline_archive::{Archive, Form, Writer};
/// use timeline_archive::{RawEvent, Preamble};
/// use timeline::{Order, Source};
///
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, 7, Form::Blocks);
/// let mut event = RawEvent { args: vec![1500], ticks: Some(1), ..RawEvent::default() };
/// event.definition.format = Some(writer.string("got $bytes"));
/// writer.event(&event)?;
/// writer.flush()?;
///
/// let archive = Archive::from_bytes(file);
/// for event in archive.events_by_time(Order::OldestFirst) {
///     let definition = archive.definition(event.id).expect("it says something");
///     let mut text = String::new();
///     definition.render(&event.args, &mut text)?;
///     assert_eq!(text, "got bytes(1500)");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Archive {
    bytes: ArchiveBytes,
    /// The directory of the files, if a directory was given.
    folder: Option<PathBuf>,
    names: Names,
    /// How many units were read to find definitions.
    surveyed: Mutex<usize>,
    pub(crate) contents: Contents,
    passages: OnceLock<Holes>,
    /// How many files are missing between those of the directory, by their numbers.
    pub(super) missing_files: u64,
    /// Whether all of each file was read to open it; then what it accounts for.
    scanned: Vec<Option<Vec<u8>>>,
    recovery: Option<Recovery>,
}

impl Archive {
    /// Opens the archive at `path`: a file, or a directory with the files of an archive. An archive
    /// that a recorder has just created has no events yet. An empty file that no recorder holds is
    /// not an archive.
    ///
    /// # Errors
    /// `Io`; `NoArchive` if there is none; `NotAnArchive` if the file is something else.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        Archive::open_with(path, &|_| None)
    }

    /// Opens the archive at `path` like [`Archive::open`], but reads only a small part of each file
    /// of which `outline_of` has the outline. If a file was changed since, all of it is read.
    ///
    /// # Errors
    /// Those of [`Archive::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        outline_of: &dyn Fn(&Path) -> Option<Outline>,
    ) -> Result<Archive> {
        let path = path.as_ref();
        let outline_of = unchanged(outline_of);
        let archive = if path.is_dir() {
            let mut files = files_of(path)?;
            let missing_files = missing_between(&files);
            let archive = Archive::of_files(path, &mut files, &outline_of)?;
            Archive {
                missing_files,
                ..archive
            }
        } else {
            let mut bytes = ArchiveBytes::default();
            bytes.add_file(path)?;
            Archive::of(bytes, &outline_of)?
        };
        archive.begun(path)
    }

    /// Opens an archive whose files the caller opens, because their names may lead elsewhere by
    /// the time they are read: a directory and its files, or one file. A file that `open` does not
    /// find is left out. See [`Archive::open_with`].
    ///
    /// # Errors
    /// Those of [`Archive::open`], and those of `open`.
    pub fn open_by(
        (folder, mut files): (Option<&Path>, Vec<PathBuf>),
        open: &dyn Fn(&Path) -> io::Result<File>,
        outline_of: &dyn Fn(&Path) -> Option<Outline>,
    ) -> Result<Archive> {
        sort_files(&mut files);
        let missing_files = folder.map_or(0, |_| missing_between(&files));
        let mut bytes = ArchiveBytes::default();
        for path in &files {
            match open(path) {
                Ok(file) => bytes.add_opened(path, file)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("open", path, error)),
            }
        }
        let path = folder.map(Path::to_path_buf).or(files.pop());
        let path = path.unwrap_or_default();
        if bytes.sections().is_empty() {
            return Err(Error::NoArchive { path });
        }
        let mut archive = Archive::of(bytes, &unchanged(outline_of))?;
        archive.missing_files = missing_files;
        archive.folder = folder.map(Path::to_path_buf);
        archive.begun(&path)
    }

    /// Fails if this is no archive at all.
    fn begun(self, path: &Path) -> Result<Archive> {
        let archive = self;
        if archive.contents.frames > 0 {
            return Ok(archive);
        }
        let mut buffer = Vec::new();
        let found = archive.beginning(&mut buffer).to_vec();
        let begins = found.starts_with(&MAGIC) || found == [MARK];
        if begins || (found.is_empty() && archive.is_recorded()) {
            return Ok(archive);
        }
        let path = path.into();
        Err(Error::NotAnArchive { path, found })
    }

    /// Opens these files of a directory, and sorts them.
    pub(crate) fn of_files(
        folder: &Path,
        files: &mut [PathBuf],
        outline_of: &dyn Fn(&Section) -> Option<Outline>,
    ) -> Result<Archive> {
        sort_files(files);
        let mut bytes = ArchiveBytes::default();
        for file in files {
            match bytes.add_file(file) {
                // The recorder has just removed it, to keep the size of the archive in its limit.
                Err(Error::NoArchive { .. }) => {}
                other => other?,
            }
        }
        if bytes.sections().is_empty() {
            let path = folder.to_path_buf();
            return Err(Error::NoArchive { path });
        }
        let mut archive = Archive::of(bytes, outline_of)?;
        archive.folder = Some(folder.to_path_buf());
        Ok(archive)
    }

    /// The first bytes of the first file that is not empty.
    fn beginning<'a>(&'a self, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let mut sections = self.bytes.sections().iter();
        let Some(section) = sections.find(|section| !section.range().is_empty()) else {
            return &[];
        };
        let Range { start, end } = section.range();
        let first = start..end.min(start + 16);
        self.bytes.read(first, buffer).unwrap_or_default()
    }

    /// Opens an archive that is in memory already. Any bytes are accepted, and their whole frames
    /// are read.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Archive {
        // Reading from memory does not fail.
        Archive::of(ArchiveBytes::of(bytes.into()), &|_| None).unwrap_or_else(|_| Archive::empty())
    }

    fn empty() -> Archive {
        Archive {
            bytes: ArchiveBytes::default(),
            folder: None,
            names: Names::default(),
            surveyed: Mutex::default(),
            contents: Contents::default(),
            passages: OnceLock::new(),
            missing_files: 0,
            scanned: Vec::new(),
            recovery: None,
        }
    }

    /// Reads these bytes. `outline_of` knows the outlines of some sections.
    pub(crate) fn of(
        bytes: ArchiveBytes,
        outline_of: &dyn Fn(&Section) -> Option<Outline>,
    ) -> Result<Archive> {
        let (names, mut contents) = (Names::default(), Contents::default());
        let mut scanned = Vec::new();
        for section in bytes.sections() {
            let range = section.range();
            contents.begin_file(range.start);
            match outline_of(section) {
                Some(outline) => {
                    outline.replay(section, &mut contents, &names)?;
                    contents.end_file();
                    scanned.push(None);
                }
                None => {
                    contents.scan(section, range, &names)?;
                    let mut covered = Vec::new();
                    contents.end_file().encode(&mut covered);
                    scanned.push(Some(covered));
                }
            }
        }
        contents.end();
        Ok(Archive {
            bytes,
            names,
            contents,
            scanned,
            ..Archive::empty()
        })
    }

    /// Whether [`Archive::new_outline`] returns one.
    pub fn has_new_outline(&self, file: usize) -> bool {
        let section = self.bytes.sections().get(file);
        let is_stamped = section.is_some_and(|section| section.stamped().is_some());
        is_stamped && self.scanned[file].is_some() && self.contents.other_codecs == 0
    }

    /// The outline of a file, by its number among
    /// [`ArchiveBytes::files`](crate::ArchiveBytes::files). `None` if it was opened by one, or was
    /// changed in the last two seconds before that, or has blocks that only a later version can
    /// read.
    pub fn new_outline(&self, file: usize) -> Option<Outline> {
        if !self.has_new_outline(file) {
            return None;
        }
        let section = self.bytes.sections().get(file)?;
        let (_, stamp) = section.stamped()?;
        let covered = self.scanned[file].clone()?;
        Some(Outline::of(
            &self.contents,
            &section.range(),
            (stamp.clone(), covered),
        ))
    }

    /// The programs and rings whose events the archive has, as far as they are known.
    pub fn preambles(&self) -> Vec<&Preamble> {
        self.names.preambles().collect()
    }

    /// The first preamble with this magic.
    pub fn preamble(&self, magic: u64) -> Option<&Preamble> {
        self.names.program(magic)
    }

    /// The last session in which this run was sent to a store. `None` if it never was.
    pub fn session(&self, magic: u64) -> Option<TraceSession> {
        self.names.session(magic)
    }

    /// The magics of the events.
    pub fn magics(&self) -> impl Iterator<Item = u64> {
        self.contents.magics().into_iter()
    }

    /// Whether all events are of one ring, so that their ticks are of one clock. Otherwise only
    /// their times can be compared.
    pub fn has_one_ring(&self) -> bool {
        self.contents.magics().len() < 2
    }

    /// The program and ring of this thread's events.
    pub fn program(&self, thread: ThreadRef) -> Option<&Preamble> {
        self.preamble(self.names.ring(thread).0)
    }

    /// A string, unless it was lost.
    pub fn string(&self, magic: u64, number: u64) -> Option<Arc<str>> {
        self.names.string(magic, number)
    }

    /// The magic and the number of the string that is the message of a definition.
    pub fn message_string(&self, id: EventId) -> Option<(u64, u64)> {
        self.names.message_string(id)
    }

    /// What became of lost texts, if [`Archive::recover`] looked for any.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    pub(crate) fn set_recovery(&mut self, recovery: Recovery) {
        self.recovery = Some(recovery);
    }

    /// How many texts were found in executables: now, or before a copy was made.
    pub fn recovered_texts(&self) -> u64 {
        self.names.recovered_count()
    }

    /// A digest of all symbols. It does not depend on their order.
    pub fn symbols_digest(&self) -> u64 {
        self.names.symbols_digest()
    }

    /// Whether a definition or a thread has only the beginning of a string, because all copies
    /// together would be too long. Which ones have depends on what was read first.
    pub fn has_cut_names(&self) -> bool {
        self.names.are_cut()
    }

    /// The name of an address in a call stack of a process.
    pub fn symbol(&self, magic: u64, pid: Option<u64>, address: u64) -> Option<&Symbol> {
        self.names.symbol(magic, pid, address)
    }

    /// The bytes of the archive.
    pub fn bytes(&self) -> &ArchiveBytes {
        &self.bytes
    }

    /// Reads events to find their definitions, as long as `go_on` returns true. It is asked before
    /// each part of the archive. Returns whether all were found; [`Source::definitions`] takes no
    /// time then.
    pub fn find_definitions(&self, go_on: impl Fn() -> bool) -> bool {
        let mut decoder = self.decoder::<OrderedEvent>();
        loop {
            // Not held for all units, so that several who wait share the work, and each can stop.
            let mut surveyed = self.surveyed.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(unit) = self.found_units().get(*surveyed) else {
                return true;
            };
            if !go_on() {
                return false;
            }
            decoder.survey(unit);
            *surveyed += 1;
        }
    }

    pub(crate) fn passages(&self) -> &Holes {
        self.passages.get_or_init(|| Holes::of(&self.contents))
    }

    pub(crate) fn found_units(&self) -> &[Unit] {
        &self.contents.units
    }

    #[cfg(test)]
    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// What a file accounts for that was read to open it.
    #[cfg(test)]
    pub(crate) fn covered(&self, file: usize) -> Vec<u8> {
        self.scanned[file].clone().unwrap_or_default()
    }

    /// The frames of other records among single events.
    pub(crate) fn among(&self) -> &[Range<usize>] {
        &self.contents.among
    }

    /// Whether a unit is of a codec that this version does not know.
    pub(crate) fn is_of_other_codec(&self, unit: usize) -> bool {
        self.contents.is_of_other_codec(unit)
    }

    pub(crate) fn coverage(&self) -> &Coverage {
        &self.contents.coverage
    }

    pub(crate) fn gaps(&self) -> &Gaps {
        &self.contents.gaps
    }

    pub(crate) fn seen(&self) -> &ImportantNumbers {
        &self.contents.seen
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn folder(&self) -> Option<&PathBuf> {
        self.folder.as_ref()
    }

    pub(crate) fn decoder<T: DecodedEvent>(&self) -> Decoder<'_, T> {
        Decoder::new(&self.bytes, &self.names, &self.contents.single)
    }
}

/// The first characters of a text.
fn beginning(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// What is shown of an inlined function.
fn shown(called: &InlinedFunction) -> InlinedFunction {
    InlinedFunction {
        name: called.name.as_deref().map(beginning),
        source: called.source.as_ref().map(|source| SourceLine {
            file: beginning(&source.file),
            line: source.line,
        }),
    }
}

impl Source for Archive {
    fn definition(&self, id: EventId) -> Option<&Definition> {
        self.names.definition(id)
    }

    fn thread_of(&self, thread: ThreadRef, _: u32) -> Option<Thread> {
        self.names.thread(thread)
    }

    fn time(&self, event: &Event) -> Option<u64> {
        event.time.map(Into::into)
    }

    fn frame(&self, event: &Event, address: u64) -> Frame {
        let (magic, pid) = self.names.ring(event.thread);
        let symbol = self.symbol(magic, pid, address);
        let text = |text: &Option<String>| text.as_deref().map(beginning);
        symbol.map_or_else(
            || Frame::unknown(address),
            |symbol| Frame {
                address,
                file: text(&symbol.file),
                base: symbol.base,
                name: text(&symbol.name),
                start: symbol.start,
                source: symbol.source_line(SHOWN),
                inlined: symbol.inlined.iter().map(shown).collect(),
            },
        )
    }

    /// The definitions of all events of the archive. The first call reads all events to find them.
    fn definitions(&self) -> Box<dyn Iterator<Item = &Definition> + '_> {
        self.find_definitions(|| true);
        Box::new(self.names.definitions())
    }
}
