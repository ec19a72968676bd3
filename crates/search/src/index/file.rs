//! The file of an index, which lies beside its archive: `flight.tla.idx`.
//!
//! It is derived, so it can be removed at any time. It only grows: segments and their pages are
//! appended, then a root that names all of them, then a footer that finds the root. Whoever has an
//! older root can go on reading. The last whole footer counts, so a process that is killed while it
//! writes costs what it was writing. docs/index.md states every byte.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use timeline_archive::Outline;
use timeline_archive::varint::{NumberReader, put};

use super::page::{self, Page};
use super::segment::{MOST_PAGES, Segment};
use super::storage::IndexStorage;

/// The first bytes of each index.
const HEADER: &[u8; 16] = b"timeline index 1";
const FOOTER: &[u8; 16] = b"timeline root  1";
/// The bytes of a footer: the mark, and the root's position, length and checksum.
const FOOTER_BYTES: usize = 32;
/// The ending of its name.
const ENDING: &str = ".idx";
/// Most bytes of a root, of an outline, and of the pages of a segment.
const MOST_ROOT: u64 = 64 << 20;
/// Bytes that are searched for a footer at once.
const WINDOW: u64 = 1 << 20;
/// The version of the command that made it: another one may render events in another way.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What an index says about its archive, and where its segments are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Root {
    /// How many bytes of the archive are indexed, and the digest of their frames.
    pub covered: u64,
    pub digest: u64,
    /// The strings that the indexed events are made of: magic, number, and digest of each.
    pub names: Vec<(u64, u64, u64)>,
    /// The digest of all symbols, if the indexed events show some.
    pub symbols: Option<u64>,
    pub segments: Vec<SegmentEntry>,
    /// Where the outline of the archive's file is, and its checksum.
    outline: Option<(Range<u64>, u32)>,
}

/// A segment, as a root names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentEntry {
    place: Range<u64>,
    leaves: u64,
    sum: u32,
    pub pages: u16,
    table: Range<u64>,
    table_sum: u32,
    /// How many lines its pages have, and the least and the most ticks and time.
    pub lines: u64,
    pub ticks: (u64, u64),
    pub time: (u64, u64),
    /// The bytes of the lines.
    pub text: u64,
}

impl SegmentEntry {
    /// The entry of a segment and its pages, whose table stands behind it.
    pub fn of(
        segment: &Segment,
        pages: &[Page],
        table: (Range<u64>, u32),
        text: u64,
    ) -> SegmentEntry {
        let range = |of: fn(&Page) -> (u64, u64)| {
            let low = pages.iter().map(|page| of(page).0).min();
            let high = pages.iter().map(|page| of(page).1).max();
            (low.unwrap_or(0), high.unwrap_or(0))
        };
        SegmentEntry {
            place: segment.place.clone(),
            leaves: segment.leaves() as u64,
            sum: segment.sum,
            pages: segment.pages,
            table: table.0,
            table_sum: table.1,
            text,
            lines: pages.iter().map(|page| page.lines).sum(),
            ticks: range(|page| page.ticks),
            time: range(|page| page.time),
        }
    }

    /// Moves it to where it stands in a file.
    fn moved(&self, by: u64) -> SegmentEntry {
        let moved = |place: &Range<u64>| place.start + by..place.end + by;
        SegmentEntry {
            place: moved(&self.place),
            table: moved(&self.table),
            ..self.clone()
        }
    }

    /// The ngrams. `None` if they are damaged.
    pub fn segment(&self, storage: &IndexStorage) -> Option<Segment> {
        let leaves = usize::try_from(self.leaves).ok()?;
        Segment::read(storage, self.place.clone(), leaves, self.pages, self.sum)
    }

    /// The pages. `None` if they are damaged.
    pub fn pages(&self, storage: &IndexStorage) -> Option<Vec<Page>> {
        page::decode(self.table(storage, &mut Vec::new())?, self.pages)
    }

    /// Where the unit of the first page begins. `None` if the pages are damaged.
    pub fn first_unit(&self, storage: &IndexStorage) -> Option<u64> {
        page::first_unit(self.table(storage, &mut Vec::new())?)
    }

    fn table<'a>(&self, storage: &'a IndexStorage, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        let bytes = storage.read(self.table.clone(), buffer).ok()?;
        (crc32fast::hash(bytes) == self.table_sum).then_some(bytes)
    }

    /// The bytes that it and its pages take.
    pub fn bytes(&self) -> u64 {
        length(&self.place) + length(&self.table)
    }
}

fn length(place: &Range<u64>) -> u64 {
    place.end.saturating_sub(place.start)
}

impl Root {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, PROGRAM.len() as u64);
        out.extend_from_slice(PROGRAM.as_bytes());
        put(out, self.covered);
        put(out, self.digest);
        put(out, self.names.len() as u64);
        for (magic, number, digest) in &self.names {
            for value in [magic, number, digest] {
                put(out, *value);
            }
        }
        put(out, self.symbols.is_some().into());
        put(out, self.symbols.unwrap_or(0));
        put(out, self.segments.len() as u64);
        for entry in &self.segments {
            for value in entry.fields() {
                put(out, value);
            }
        }
        let (place, sum) = self.outline.clone().unwrap_or_default();
        for value in [place.start, length(&place), sum.into()] {
            put(out, value);
        }
    }

    fn decode(bytes: &[u8]) -> Option<Root> {
        let mut input = NumberReader(bytes);
        let program = input.get()?;
        (input.take(program)?.0 == PROGRAM.as_bytes()).then_some(())?;
        let mut root = Root {
            covered: input.get()?,
            digest: input.get()?,
            ..Root::default()
        };
        for _ in 0..input.get()? {
            root.names.push((input.get()?, input.get()?, input.get()?));
        }
        let has_symbols = input.get()? == 1;
        let symbols = input.get()?;
        root.symbols = has_symbols.then_some(symbols);
        for _ in 0..input.get()? {
            let mut fields = [0; SegmentEntry::FIELDS];
            for field in &mut fields {
                *field = input.get()?;
            }
            root.segments.push(SegmentEntry::from_fields(fields)?);
        }
        let (start, length, sum) = (input.get()?, input.get()?, input.get()?);
        if length > 0 {
            (length <= MOST_ROOT).then_some(())?;
            root.outline = Some((start..start.checked_add(length)?, u32::try_from(sum).ok()?));
        }
        Some(root)
    }
}

impl SegmentEntry {
    const FIELDS: usize = 14;

    fn fields(&self) -> [u64; SegmentEntry::FIELDS] {
        let (place, table) = (&self.place, &self.table);
        [
            place.start,
            place.end - place.start,
            self.leaves,
            self.sum.into(),
            self.pages.into(),
            table.start,
            table.end - table.start,
            self.table_sum.into(),
            self.lines,
            self.ticks.0,
            self.ticks.1,
            self.time.0,
            self.time.1,
            self.text,
        ]
    }

    fn from_fields(fields: [u64; SegmentEntry::FIELDS]) -> Option<SegmentEntry> {
        let [
            start,
            length,
            leaves,
            sum,
            pages,
            table,
            table_length,
            table_sum,
            lines,
            times @ ..,
        ] = fields;
        let entry = SegmentEntry {
            place: start..start.checked_add(length)?,
            leaves,
            sum: u32::try_from(sum).ok()?,
            pages: u16::try_from(pages).ok()?,
            table: table..table.checked_add(table_length)?,
            table_sum: u32::try_from(table_sum).ok()?,
            lines,
            ticks: (times[0], times[1]),
            time: (times[2], times[3]),
            text: times[4],
        };
        (entry.pages <= MOST_PAGES && table_length <= MOST_ROOT).then_some(entry)
    }
}

/// Where the index of an archive is.
pub fn path_of(archive: &Path) -> PathBuf {
    let mut name = OsString::from(archive);
    name.push(ENDING);
    name.into()
}

/// Reads the index beside an archive: its file and its root. `None` if there is none that can be
/// believed: another user may have written it, or it is damaged, or of another version.
pub fn open(archive: &Path) -> Option<(IndexStorage, Root)> {
    let mut options = OpenOptions::new();
    options.read(true);
    let file = open_own(archive, &mut options).ok()?;
    let (root, _) = read_root(&file)?;
    Some((IndexStorage(file), root))
}

/// The outline of a file of an archive, if its index has one. It may be of an earlier state of that
/// file.
pub fn outline(archive: &Path) -> Option<Outline> {
    let (storage, root) = open(archive)?;
    let (place, sum) = root.outline?;
    let mut buffer = Vec::new();
    let bytes = storage.read(place, &mut buffer).ok()?;
    (crc32fast::hash(bytes) == sum).then_some(())?;
    Outline::decode(bytes)
}

/// Opens the file, if only its user and those who could change the archive can change it.
fn open_own(archive: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC);
    let file = options.open(path_of(archive))?;
    let (own, of_archive) = (file.metadata()?, std::fs::metadata(archive)?);
    let user = nix::unistd::geteuid().as_raw();
    let is_ours = [0, user, of_archive.uid()].contains(&own.uid());
    // Whoever can write the archive may write its index.
    let others = own.mode() & 0o022 & !of_archive.mode();
    match own.is_file() && own.nlink() == 1 && is_ours && others == 0 {
        true => Ok(file),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

/// The last whole root, and where its footer ends.
fn read_root(file: &File) -> Option<(Root, u64)> {
    let mut header = [0; HEADER.len()];
    file.read_exact_at(&mut header, 0).ok()?;
    (&header == HEADER).then_some(())?;
    last_root(file)
}

fn last_root(file: &File) -> Option<(Root, u64)> {
    let length = file.metadata().ok()?.len();
    let mut end = length;
    // Windows overlap by a footer, so that none is cut in two.
    while end >= (HEADER.len() + FOOTER_BYTES) as u64 {
        let start = end.saturating_sub(if end == length {
            FOOTER_BYTES as u64
        } else {
            WINDOW
        });
        let mut window = vec![0; (end - start) as usize];
        file.read_exact_at(&mut window, start).ok()?;
        for at in memchr::memmem::rfind_iter(&window, FOOTER) {
            if let Some(footer) = window[at..].first_chunk::<FOOTER_BYTES>()
                && let Some(root) = root_of(file, footer, start + at as u64)
            {
                return Some((root, start + (at + FOOTER_BYTES) as u64));
            }
        }
        if start == 0 {
            break;
        }
        end = start + FOOTER_BYTES as u64 - 1;
    }
    None
}

/// The root in front of a footer.
fn root_of(file: &File, footer: &[u8; FOOTER_BYTES], place: u64) -> Option<Root> {
    let (start, rest) = footer[FOOTER.len()..].split_first_chunk()?;
    let (length, sum) = rest.split_first_chunk()?;
    let (start, length) = (u64::from_le_bytes(*start), u32::from_le_bytes(*length));
    let is_before = start.checked_add(length.into())? == place && u64::from(length) <= MOST_ROOT;
    is_before.then_some(())?;
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, start).ok()?;
    let sum = u32::from_le_bytes(*sum.first_chunk()?);
    (crc32fast::hash(&bytes) == sum).then_some(())?;
    Root::decode(&bytes)
}

/// The file of an index that only this process changes.
pub struct Writing {
    file: Flock<File>,
    /// Where its last whole footer ends; 0 if it is new.
    end: u64,
}

impl Writing {
    /// Locks the file beside an archive, which is made if there is none. Returns what it has.
    ///
    /// # Errors
    /// Those of opening a file; `WouldBlock` if another process is changing it; `AlreadyExists` if
    /// it is no index.
    pub fn begin(archive: &Path) -> io::Result<(Writing, Option<Root>)> {
        let mode = std::fs::metadata(archive)?.mode() & 0o666 | 0o600;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(mode);
        let file = open_own(archive, &mut options)?;
        let locked = Flock::lock(file, FlockArg::LockExclusiveNonblock);
        let file = locked.map_err(|(_, error)| io::Error::from(error))?;
        let mut beginning = [0; HEADER.len()];
        let count = file.read_at(&mut beginning, 0)?;
        let is_index = HEADER.starts_with(&beginning[..count]);
        if !is_index && last_root(&file).is_none() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // The archive may have been closed to others since.
        if file.metadata()?.mode() & 0o777 & !mode != 0 {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        let found = read_root(&file);
        let end = found.as_ref().map_or(0, |(_, end)| *end);
        Ok((Writing { file, end }, found.map(|(root, _)| root)))
    }

    /// Removes everything.
    ///
    /// # Errors
    /// Those of writing.
    pub fn clear(&mut self) -> io::Result<()> {
        self.end = 0;
        self.file.set_len(0)
    }

    /// Writes the segments of a root anew, without what lies between them.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn compact(&mut self, mut root: Root) -> io::Result<Root> {
        let (storage, mut all) = (self.storage()?, Vec::new());
        for entry in &mut root.segments {
            let mut buffer = Vec::new();
            for place in [&mut entry.place, &mut entry.table] {
                let bytes = storage.read(place.clone(), &mut buffer)?;
                *place = all.len() as u64..(all.len() + bytes.len()) as u64;
                all.extend_from_slice(bytes);
            }
        }
        self.clear()?;
        root.outline = None;
        self.append(&all, root, 0)
    }

    /// Appends an outline, and a root that has it. Returns the root as it stands in the file.
    ///
    /// # Errors
    /// Those of [`Writing::append`].
    pub fn append_outline(&mut self, outline: &Outline, mut root: Root) -> io::Result<Root> {
        let mut bytes = Vec::new();
        outline.encode(&mut bytes);
        let start = self.end.max(HEADER.len() as u64);
        let place = start..start + bytes.len() as u64;
        root.outline = Some((place, crc32fast::hash(&bytes)));
        let old = root.segments.len();
        self.append(&bytes, root, old)
    }

    /// Appends bytes, and a root whose segments from `old` on are in them. Returns the root as it
    /// stands in the file.
    ///
    /// # Errors
    /// Those of writing. The former root counts then.
    pub fn append(&mut self, bytes: &[u8], mut root: Root, old: usize) -> io::Result<Root> {
        let mut all = Vec::with_capacity(bytes.len() + FOOTER_BYTES + 4096);
        let mut start = self.end;
        if start == 0 {
            all.extend_from_slice(HEADER);
            self.file.set_len(0)?;
        }
        for entry in &mut root.segments[old..] {
            *entry = entry.moved(start + all.len() as u64);
        }
        all.extend_from_slice(bytes);
        let at = all.len();
        root.encode(&mut all);
        let (length, sum) = (all.len() - at, crc32fast::hash(&all[at..]));
        all.extend_from_slice(FOOTER);
        all.extend_from_slice(&(start + at as u64).to_le_bytes());
        all.extend_from_slice(&(length as u32).to_le_bytes());
        all.extend_from_slice(&sum.to_le_bytes());
        let written = self.file.write_all_at(&all, start);
        if written.is_err() {
            // A reader finds the former root, also if this fails.
            let _ = self.file.set_len(start);
        }
        written?;
        start += all.len() as u64;
        self.file.set_len(start)?;
        self.end = start;
        Ok(root)
    }

    /// Whether more than half of the file is of no use any more.
    pub fn is_wasteful(&self, root: &Root) -> bool {
        let outline = root.outline.as_ref().map_or(0, |(place, _)| length(place));
        let used = root.segments.iter().map(SegmentEntry::bytes).sum::<u64>() + outline;
        self.end > 2 * used + WINDOW
    }

    /// Its bytes.
    pub fn storage(&self) -> io::Result<IndexStorage> {
        self.file.try_clone().map(IndexStorage)
    }
}
