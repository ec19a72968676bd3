//! Reads the bytes of an archive, from memory or from one or several files.
//! It reads a part of a file when that part is needed.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use timeline::internal::files;

use crate::error::{Error, Result};
use crate::format::file_name::has_archive_name;
use crate::format::frame::{Frames, MAX_RECORD, Part};
use crate::read::file::open::{identity_of, open, open_again};
use crate::read::file::stamp::Stamp;

/// Most bytes of a file in memory at once: several times the longest frame.
pub(crate) const WINDOW: usize = 64 << 20;
/// If nothing is damaged, one part in so many of the window is read at a time.
const PARTS: usize = 64;
/// Bytes that are copied at once.
const AT_ONCE: usize = 1 << 20;
/// Most files that stay open, so that they can be read even after somebody removes them. Further
/// files are opened when they are read, because a process may only have some thousand files open.
const OPEN: usize = 256;
/// More bytes than a frame can have.
pub(crate) const FRAME: usize = MAX_RECORD + 64;

/// The bytes of an archive. Several files count as if they were joined.
#[derive(Default)]
pub struct ArchiveBytes {
    sections: Vec<Section>,
    length: usize,
}

/// A file, or a part of memory.
pub(crate) struct Section {
    /// Its position in all bytes.
    start: usize,
    length: usize,
    origin: Origin,
}

enum Origin {
    Memory(Vec<u8>),
    File {
        path: PathBuf,
        file: Option<File>,
        /// The device and the inode, by which it is known if it has to be opened again.
        identity: (u64, u64),
        /// Its state when it was opened, if that says whether it was changed since.
        stamp: Option<Stamp>,
    },
}

/// The first bytes of a buffer that is used again. It never shrinks, because each byte that it
/// grows by is set to 0.
fn room(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    &mut buffer[..length]
}

impl ArchiveBytes {
    pub(crate) fn of(bytes: Vec<u8>) -> ArchiveBytes {
        let mut all = ArchiveBytes::default();
        all.add_bytes(bytes);
        all
    }

    /// Appends bytes that are in memory.
    pub(crate) fn add_bytes(&mut self, bytes: Vec<u8>) {
        self.add(bytes.len(), Origin::Memory(bytes));
    }

    /// Appends a file, up to its present length.
    pub(crate) fn add_file(&mut self, path: &Path) -> Result<()> {
        self.add_opened(path, open(path)?)
    }

    /// Appends a file that is open, up to its present length. `path` is where it is opened again.
    pub(crate) fn add_opened(&mut self, path: &Path, file: File) -> Result<()> {
        let fail = |error| Error::io("read", path, error);
        let metadata = file.metadata().map_err(fail)?;
        if !metadata.is_file() {
            let what = "expected a file, this is none";
            return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let length = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        let origin = Origin::File {
            path: path.to_path_buf(),
            file: (self.sections.len() < OPEN).then_some(file),
            identity: identity_of(&metadata),
            stamp: Stamp::of(&metadata),
        };
        self.add(length, origin);
        Ok(())
    }

    fn add(&mut self, length: usize, origin: Origin) {
        self.sections.push(Section {
            start: self.length,
            length,
            origin,
        });
        self.length = self.length.saturating_add(length);
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The files that the bytes are in, and the position where each begins. Bytes that were given
    /// in memory have no file.
    pub fn files(&self) -> impl Iterator<Item = (&Path, usize)> {
        self.sections
            .iter()
            .filter_map(|section| match &section.origin {
                Origin::Memory(_) => None,
                Origin::File { path, .. } => Some((path.as_path(), section.start)),
            })
    }

    /// The last file, and the position where it begins.
    pub(crate) fn last(&self) -> Option<(&Path, Result<File>, usize)> {
        let last = self.sections.last()?;
        match &last.origin {
            Origin::Memory(_) => None,
            Origin::File {
                path,
                file: None,
                identity,
                ..
            } => {
                let file = open_again(path, *identity);
                let file = file.map_err(|error| Error::io("open", path, error));
                Some((path, file, last.start))
            }
            Origin::File {
                path,
                file: Some(file),
                ..
            } => {
                let file = file
                    .try_clone()
                    .map_err(|error| Error::io("open", path, error));
                Some((path, file, last.start))
            }
        }
    }

    pub(crate) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The bytes of a range within one file. They are read into `buffer`, unless they are in memory
    /// already.
    ///
    /// # Errors
    /// Those of reading the file; `UnexpectedEof` also if the range is not within one file.
    pub fn read<'a>(
        &'a self,
        range: Range<usize>,
        buffer: &'a mut Vec<u8>,
    ) -> io::Result<&'a [u8]> {
        let after = self
            .sections
            .partition_point(|section| section.start <= range.start);
        let section = after.checked_sub(1).and_then(|at| self.sections.get(at));
        let section = section.ok_or(io::ErrorKind::UnexpectedEof)?;
        let (from, to) = (
            range.start - section.start,
            range.end.saturating_sub(section.start),
        );
        if from > to || to > section.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match &section.origin {
            Origin::Memory(bytes) => Ok(&bytes[from..to]),
            Origin::File {
                path,
                file,
                identity,
                ..
            } => {
                let bytes = room(buffer, to - from);
                match file {
                    Some(file) => file.read_exact_at(bytes, from as u64)?,
                    None => open_again(path, *identity)?.read_exact_at(bytes, from as u64)?,
                }
                Ok(bytes)
            }
        }
    }
}

impl ArchiveBytes {
    /// Writes the bytes of a range, which may span several files.
    ///
    /// # Errors
    /// Those of reading and of writing.
    pub fn copy(&self, mut range: Range<usize>, out: &mut impl io::Write) -> io::Result<()> {
        let mut buffer = Vec::new();
        for section in &self.sections {
            let end = range.end.min(section.start + section.length);
            while range.start < end {
                let next = end.min(range.start.saturating_add(AT_ONCE));
                out.write_all(self.read(range.start..next, &mut buffer)?)?;
                range.start = next;
            }
        }
        Ok(())
    }
}

impl Section {
    /// The range of the section in all bytes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start.saturating_add(self.length)
    }

    /// The path of the file and its state, if that says whether it was changed since.
    pub fn stamped(&self) -> Option<(&Path, &Stamp)> {
        match &self.origin {
            Origin::Memory(_) => None,
            Origin::File { path, stamp, .. } => Some((path, stamp.as_ref()?)),
        }
    }

    /// Finds the frames in a range of all bytes, which is within the section, and passes what it
    /// finds to `each`, with its range in all bytes. One damaged range may be passed in several
    /// parts.
    pub fn scan(&self, range: Range<usize>, mut each: impl FnMut(ScanItem)) -> Result<()> {
        let within = range.start - self.start..range.end - self.start;
        match &self.origin {
            Origin::Memory(bytes) => {
                let bytes = &bytes[within];
                for part in Frames::new(bytes) {
                    each(ScanItem::Part(moved(part, range.start)));
                }
                each(ScanItem::Bytes(range.start, bytes));
                Ok(())
            }
            Origin::File {
                path,
                file,
                identity,
                ..
            } => {
                let sizes = (WINDOW, FRAME);
                let each = |found: ScanItem| {
                    each(match found {
                        ScanItem::Part(part) => ScanItem::Part(moved(part, self.start)),
                        ScanItem::Bytes(start, bytes) => ScanItem::Bytes(self.start + start, bytes),
                    });
                    true
                };
                let scanned = match file {
                    Some(file) => scan_while(file, within, sizes, each),
                    None => open_again(path, *identity)
                        .and_then(|file| scan_while(&file, within, sizes, each)),
                };
                scanned.map_err(|error| Error::io("read", path, error))
            }
        }
    }
}

/// What is found in bytes that are read from the first to the last.
pub(crate) enum ScanItem<'a> {
    /// A part.
    Part(Part<'a>),
    /// Where the parts begin that were found since the last of these, and all of their bytes.
    Bytes(usize, &'a [u8]),
}

fn moved(part: Part, by: usize) -> Part {
    let moved = |place: Range<usize>| place.start + by..place.end + by;
    match part {
        Part::Frame { place, record, sum } => Part::Frame {
            place: moved(place),
            record,
            sum,
        },
        Part::Damage(place) => Part::Damage(moved(place)),
    }
}

/// Finds the frames in a range of a file. `window` bytes are in memory at once, and a frame has
/// fewer bytes than `most`. If the window ends within a frame, the next window begins with that
/// frame. So each byte is read twice at most.
///
/// As long as all frames are whole, it reads a small part of the window at a time, which stays in
/// the processor's cache. It reads the whole window only to tell damage from a frame that ends
/// after the bytes in memory.
pub(crate) fn scan(
    file: &File,
    range: Range<usize>,
    sizes: (usize, usize),
    mut each: impl FnMut(Part),
) -> io::Result<()> {
    scan_while(file, range, sizes, |found| {
        if let ScanItem::Part(part) = found {
            each(part);
        }
        true
    })
}

/// Like `scan`, but passes the bytes too, and ends when `each` returns false.
pub(crate) fn scan_while(
    file: &File,
    range: Range<usize>,
    (window, most): (usize, usize),
    mut each: impl FnMut(ScanItem) -> bool,
) -> io::Result<()> {
    // The first bytes, `there`, are of a frame that ends behind those in memory.
    let (mut buffer, mut there, mut base) = (Vec::new(), 0, range.start);
    let mut size = window / PARTS;
    while base < range.end {
        let wanted = (range.end - base).min(size).max(there);
        let bytes = room(&mut buffer, wanted);
        file.read_exact_at(&mut bytes[there..], (base + there) as u64)?;
        // The end of a frame that begins after this may not be in memory.
        let sure = match base + bytes.len() < range.end {
            true => bytes.len().checked_sub(most),
            false => Some(bytes.len()),
        };
        let (mut used, mut is_cut) = (0, false);
        for part in Frames::new(bytes) {
            let part = match (part, sure) {
                (Part::Damage(place), Some(sure)) if place.start <= sure => {
                    is_cut = place.end > sure;
                    Part::Damage(place.start..place.end.min(sure))
                }
                (Part::Damage(_), _) => break,
                (frame, _) => frame,
            };
            used = part.place().end;
            if !each(ScanItem::Part(moved(part, base))) {
                return Ok(());
            }
            if is_cut {
                break;
            }
        }
        if !each(ScanItem::Bytes(base, &bytes[..used])) {
            return Ok(());
        }
        size = match is_cut || used == 0 {
            true => window,
            false => window / PARTS,
        };
        bytes.copy_within(used.., 0);
        there = wanted - used;
        base += used;
    }
    Ok(())
}

/// The files of a directory that holds an archive, in the order of their names.
pub(crate) fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |error| Error::io("list", folder, error);
    let mut files = Vec::new();
    for entry in files::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if has_archive_name(&path) && path.is_file() {
            files.push(path);
        }
    }
    sort_files(&mut files);
    Ok(files)
}

/// Sorts the files of a directory by the order in which they were begun.
pub(crate) fn sort_files(files: &mut [PathBuf]) {
    // After a million files, numbers have more digits.
    files.sort_by_cached_key(|path| (path.as_os_str().len(), path.clone()));
}

#[cfg(test)]
mod tests {
    use crate::format::frame::{Checksum, put};
    use std::fs;

    use super::*;

    fn parts(scan: impl FnOnce(&mut dyn FnMut(Part))) -> (Vec<(Range<usize>, usize)>, usize) {
        let (mut frames, mut damaged) = (Vec::new(), 0);
        scan(&mut |part: Part| match part {
            Part::Frame { place, record, .. } => frames.push((place, record.len())),
            Part::Damage(place) => damaged += place.len(),
        });
        (frames, damaged)
    }

    #[test]
    fn a_file_scanned_by_windows_is_scanned_as_a_whole() {
        let mut content = Vec::new();
        for length in (0..1_000).step_by(7) {
            put(
                &vec![length as u8; length],
                &mut Checksum::default(),
                &mut content,
            );
        }
        for at in [50, 9_000, 9_001, 40_000] {
            content[at] ^= 0x55;
        }
        content.splice(20_000..20_000, std::iter::repeat_n(0xc1, 5_000));
        content.truncate(content.len() - 7);
        let whole = parts(|each| Frames::new(&content).for_each(each));
        assert!(whole.0.len() > 100 && whole.1 > 5_000);
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&content, 0).unwrap();
        for window in [2_500, 4_096, 50_000, 1 << 20] {
            let sizes = (window, 1_100);
            let found = parts(|each| scan(&file, 0..content.len(), sizes, each).unwrap());
            assert_eq!(found, whole, "{window}");
        }
    }

    #[test]
    fn a_range_is_read_from_the_file_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut all = ArchiveBytes::default();
        for (name, content) in [("a.tla", "first"), ("b.tla", ""), ("c.tla", "second")] {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            all.add_file(&path).unwrap();
        }
        assert_eq!(all.len(), 11);
        let mut buffer = Vec::new();
        assert_eq!(all.read(1..3, &mut buffer).unwrap(), b"ir");
        assert_eq!(all.read(5..11, &mut buffer).unwrap(), b"second");
        assert!(all.read(4..6, &mut buffer).is_err());
        assert!(all.read(10..12, &mut buffer).is_err());
        for range in [0..11, 1..5, 4..6, 7..7] {
            let mut copied = Vec::new();
            all.copy(range.clone(), &mut copied).unwrap();
            assert_eq!(copied, b"firstsecond"[range]);
        }
        let starts: Vec<_> = all.files().map(|(_, start)| start).collect();
        assert_eq!(starts, [0, 5, 5]);
    }

    #[test]
    fn another_file_is_not_read_for_one_that_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: usize| folder.path().join(format!("{number:03}.tla"));
        let mut all = ArchiveBytes::default();
        for number in 0..=OPEN {
            fs::write(path(number), "own").unwrap();
            all.add_file(&path(number)).unwrap();
        }
        let mut buffer = Vec::new();
        let last = OPEN * 3..OPEN * 3 + 3;
        assert_eq!(all.read(last.clone(), &mut buffer).unwrap(), b"own");
        let secret = folder.path().join("secret");
        fs::write(&secret, "but").unwrap();
        for place in [0, OPEN] {
            fs::rename(path(place), folder.path().join(format!("away{place}"))).unwrap();
            std::os::unix::fs::symlink(&secret, path(place)).unwrap();
        }
        // The first is open still.
        assert_eq!(all.read(0..3, &mut buffer).unwrap(), b"own");
        assert!(all.read(last.clone(), &mut buffer).is_err());
        assert!(all.last().unwrap().1.is_err());
        let section = all.sections().last().unwrap();
        assert!(section.scan(last, |_| ()).is_err());
    }

    #[test]
    fn files_are_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let names = [
            "timeline-000002.tla",
            "timeline-1000000.tla",
            "timeline-999999.tla",
        ];
        for name in names.iter().rev().chain(&["notes", "x.tla.tmp"]) {
            fs::write(path(name), "").unwrap();
        }
        fs::create_dir(path("folder.tla")).unwrap();
        // Shorter names come first: the next number has one more digit.
        let expected = [names[0], names[2], names[1]].map(path);
        assert_eq!(files_of(folder.path()).unwrap(), expected);
    }
}
