//! Reads parts of an ELF file, up to a limit of bytes, and tells whether it is that of a module.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use object::elf;
use object::endian::Endianness;
use object::pod::{self, Pod};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader};

use super::{FileContents, FileVersion, Module};
use crate::shm;

/// Bytes of the largest note. A build id takes about 40.
const MAX_NOTE: u64 = 64 << 10;
/// Bytes that are read at once for a checksum.
const PART: usize = 64 << 10;

/// A file, and how many more bytes may be read from all files together. The cache of `object` does
/// not replace it: that allocates whatever the headers of a file ask for, up to the size of the
/// file, which can be a large hole, and keeps all of it as long as the symbols.
pub struct ElfFile<'a> {
    file: File,
    left: &'a mut u64,
}

impl ElfFile<'_> {
    /// Opens a regular file at an absolute path. No more than `left` bytes are read of it, which is
    /// reduced by those that are.
    pub fn at<'a>(path: &Path, left: &'a mut u64) -> Option<ElfFile<'a>> {
        if !path.is_absolute() {
            return None;
        }
        let file = shm::open_regular(path)?;
        Some(ElfFile { file, left })
    }

    /// Which version of the file was opened.
    pub fn version(&self) -> Option<FileVersion> {
        Some(FileVersion::of(&self.file.metadata().ok()?))
    }

    /// `size` bytes from `offset` on, if the file has them.
    pub fn bytes(&mut self, offset: u64, size: u64) -> Option<Vec<u8>> {
        let end = offset.checked_add(size)?;
        if end > self.file.metadata().ok()?.len() {
            return None;
        }
        self.pay(size)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        self.file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Takes bytes that are to be kept from those that may be.
    pub fn pay(&mut self, bytes: u64) -> Option<()> {
        *self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// Its CRC-32. All of it is read, and paid for, before.
    pub fn crc(&mut self) -> Option<u32> {
        let size = self.file.metadata().ok()?.len();
        self.pay(size)?;
        self.file.seek(SeekFrom::Start(0)).ok()?;
        let (mut crc, mut read) = (crc32fast::Hasher::new(), 0);
        let mut part = vec![0; PART];
        while read < size {
            let most = usize::try_from(size - read).map_or(PART, |rest| rest.min(PART));
            match self.file.read(&mut part[..most]).ok()? {
                0 => return None,
                bytes => {
                    crc.update(&part[..bytes]);
                    read += bytes as u64;
                }
            }
        }
        Some(crc.finalize())
    }

    /// How many more bytes may be read.
    pub fn left(&mut self) -> &mut u64 {
        self.left
    }

    /// `count` records from `offset` on.
    pub fn array<T: Pod>(&mut self, offset: u64, count: usize) -> Option<Vec<T>> {
        let size = u64::try_from(size_of::<T>().checked_mul(count)?).ok()?;
        let bytes = self.bytes(offset, size)?;
        Some(pod::slice_from_all_bytes(&bytes).ok()?.to_vec())
    }

    /// Whether it is the file of a module, as far as its contents tell or, if they are not known,
    /// its version. Of a module with a build id, that has to fit as well: see [`is_of`]. All of the
    /// file is read if its SHA-1 may fit, and no more than `left`, which is reduced by that.
    pub fn fits(&self, module: &Module, known: Option<&[FileContents]>, left: &mut u64) -> bool {
        let version = self.version();
        let is_version =
            || module.build_id.is_some() || module.version.is_some() && module.version == version;
        let Some(known) = known else {
            return is_version();
        };
        let size = version.map(|version| version.size);
        let of_size = || known.iter().filter(|one| Some(one.size) == size);
        if of_size().any(|one| one.sha1.is_none()) && is_version() {
            return true;
        }
        if of_size().all(|one| one.sha1.is_none()) {
            return false;
        }
        let Some(rest) = size.and_then(|size| left.checked_sub(size)) else {
            return false;
        };
        *left = rest;
        let Ok((size, sha1)) = shm::digest(&self.file, u64::MAX, |_| ()) else {
            return false;
        };
        let is_same = |one: &FileContents| (one.size, one.sha1) == (size, Some(sha1));
        known.iter().any(is_same) && self.version() == version
    }

    /// Its header, if it is an ELF file of that class.
    pub fn header<E: FileHeader<Endian = Endianness>>(&mut self) -> Option<(E, Endianness)> {
        let header: E = self.array(0, 1)?.pop()?;
        let endian = header.is_supported().then(|| header.endian().ok())??;
        Some((header, endian))
    }
}

/// Whether a file has the build id of a module, if that has one.
pub fn is_of<E: FileHeader<Endian = Endianness>>(
    module: &Module,
    file: &mut ElfFile,
    header: &E,
    endian: Endianness,
) -> bool {
    let wanted = module.build_id.as_deref();
    wanted.is_none_or(|wanted| {
        let programs = programs(file, header, endian);
        let found = programs.and_then(|programs| build_id::<E>(file, endian, &programs));
        found.as_deref() == Some(wanted)
    })
}

/// All segments.
pub fn programs<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    header: &E,
    endian: Endianness,
) -> Option<Vec<E::ProgramHeader>> {
    let count = usize::from(header.e_phnum(endian));
    file.array(header.e_phoff(endian).into(), count)
}

fn build_id<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    endian: Endianness,
    programs: &[E::ProgramHeader],
) -> Option<Vec<u8>> {
    let mut notes = programs
        .iter()
        .filter(|program| program.p_type(endian) == elf::PT_NOTE);
    notes.find_map(|program| {
        let place = program.file_range(endian);
        build_id_among::<E>(file, endian, place, program.p_align(endian))
    })
}

/// The build id among the notes of one place in a file.
pub fn build_id_among<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    endian: Endianness,
    (offset, size): (u64, u64),
    align: E::Word,
) -> Option<Vec<u8>> {
    let bytes = file.bytes(offset, size.min(MAX_NOTE))?;
    let mut notes = NoteIterator::<E>::new(endian, align, &bytes).ok()?;
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
            return Some(note.desc().to_vec());
        }
    }
    None
}
