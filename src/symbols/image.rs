//! Reads the symbols of one ELF file, up to a limit of bytes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use object::elf::{self, FileHeader32, FileHeader64};
use object::endian::Endianness;
use object::pod::{self, Pod};
use object::read::elf::{FileHeader, NoteIterator, ProgramHeader, SectionHeader, Sym};

use super::intervals::{Interval, IntervalMap};
use super::{FileVersion, Module};
use crate::shm;

/// Bytes of the largest note. A build id takes about 40.
const MAX_NOTE: u64 = 64 << 10;
/// Bytes of the longest name. Longer names are cut.
const MAX_NAME: usize = 16 << 10;
/// glibc maps segments from a multiple of the page size.
const PAGE: u64 = 4096;

/// The symbols of an ELF file.
#[derive(Debug)]
pub struct Image {
    /// The file's address for its lowest page; `None` if the file cannot be moved.
    lowest: Option<u64>,
    symbols: Vec<Symbol>,
    cover: IntervalMap,
    names: Vec<u8>,
}

#[derive(Debug)]
struct Symbol {
    name: u32,
    start: u64,
}

/// Of the symbols that hold an address, the one that begins last wins, as in dladdr. Of aliases,
/// those with a size win over those without, then functions over others, then global over weak over
/// local ones.
type Rank = (u64, bool, bool, u8);

impl Image {
    /// Reads the file at `path`, if it is that of a module. Subtracts the bytes read from `left`,
    /// and reads no more than that. `None` if it is another file, cannot be read, or is not an ELF
    /// file.
    pub fn open(path: &Path, module: &Module, left: &mut u64) -> Option<Image> {
        let file = &mut Reader::open(path, left)?;
        let build_id = module.build_id.as_deref();
        if build_id.is_none() && module.version != Some(file.version()?) {
            return None;
        }
        Image::read::<FileHeader64<Endianness>>(file, build_id)
            .or_else(|| Image::read::<FileHeader32<Endianness>>(file, build_id))
    }

    fn read<E: FileHeader<Endian = Endianness>>(
        file: &mut Reader,
        wanted: Option<&[u8]>,
    ) -> Option<Image> {
        let header: E = file.array(0, 1)?.pop()?;
        if !header.is_supported() {
            return None;
        }
        let endian = header.endian().ok()?;
        let word = |word: E::Word| -> u64 { word.into() };

        let count = usize::from(header.e_phnum(endian));
        let programs: Vec<E::ProgramHeader> = file.array(word(header.e_phoff(endian)), count)?;
        let loaded = programs.iter().filter(|p| p.p_type(endian) == elf::PT_LOAD);
        let lowest = loaded.map(|p| word(p.p_vaddr(endian))).min();
        let lowest = lowest.map_or(0, |address| address & !(PAGE - 1));
        let moves = header.e_type(endian) != elf::ET_EXEC;

        // Before the symbols are read: another file may have many.
        let has_it = |wanted| build_id::<E>(file, endian, &programs).as_deref() == Some(wanted);
        if !wanted.is_none_or(has_it) {
            return None;
        }
        let mut image = Image {
            lowest: moves.then_some(lowest),
            symbols: Vec::new(),
            cover: IntervalMap::default(),
            names: Vec::new(),
        };
        if let Some((symbols, names)) = tables::<E>(file, &header, endian) {
            image.take(&symbols, endian);
            image.names = names;
        }
        Some(image)
    }

    fn take<S: Sym<Endian = Endianness>>(&mut self, symbols: &[S], endian: Endianness) {
        let mut intervals: Vec<Interval<Rank>> = Vec::new();
        for symbol in symbols
            .iter()
            .filter(|symbol| names_addresses(*symbol, endian))
        {
            let start: u64 = symbol.st_value(endian).into();
            let size: u64 = symbol.st_size(endian).into();
            let function = matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC);
            let binding = match symbol.st_bind() {
                elf::STB_LOCAL => 0,
                elf::STB_WEAK => 1,
                _ => 2,
            };
            intervals.push(Interval {
                start,
                end: start.saturating_add(size.max(1)),
                rank: (start, size > 0, function, binding),
            });
            self.symbols.push(Symbol {
                name: symbol.st_name(endian),
                start,
            });
        }
        self.cover = IntervalMap::new(&intervals);
    }

    /// The name and the start of the symbol that holds an address, in a process with the file
    /// mapped at `base`.
    pub fn find(&self, base: u64, address: u64) -> Option<(String, u64)> {
        let bias = self.lowest.map_or(0, |lowest| base.wrapping_sub(lowest));
        let symbol = &self.symbols[self.cover.find(address.wrapping_sub(bias))?];
        let name = name(self.names.get(symbol.name as usize..)?)?;
        Some((name, symbol.start.wrapping_add(bias)))
    }
}

/// A file, and how many more bytes may be read from all files together. The cache of `object` does
/// not replace it: that allocates whatever the headers of a file ask for, up to the size of the
/// file, which can be a large hole, and keeps all of it as long as the symbols.
struct Reader<'a> {
    file: File,
    left: &'a mut u64,
}

impl Reader<'_> {
    fn open<'a>(path: &Path, left: &'a mut u64) -> Option<Reader<'a>> {
        if !path.is_absolute() {
            return None;
        }
        let file = shm::open_regular(path)?;
        Some(Reader { file, left })
    }

    fn version(&self) -> Option<FileVersion> {
        Some(FileVersion::of(&self.file.metadata().ok()?))
    }

    /// `size` bytes from `offset` on, if the file has them.
    fn bytes(&mut self, offset: u64, size: u64) -> Option<Vec<u8>> {
        let end = offset.checked_add(size)?;
        if end > self.file.metadata().ok()?.len() {
            return None;
        }
        *self.left = self.left.checked_sub(size)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        self.file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// `count` records from `offset` on.
    fn array<T: Pod>(&mut self, offset: u64, count: usize) -> Option<Vec<T>> {
        let size = u64::try_from(size_of::<T>().checked_mul(count)?).ok()?;
        let bytes = self.bytes(offset, size)?;
        Some(pod::slice_from_all_bytes(&bytes).ok()?.to_vec())
    }
}

fn build_id<E: FileHeader<Endian = Endianness>>(
    file: &mut Reader,
    endian: Endianness,
    programs: &[E::ProgramHeader],
) -> Option<Vec<u8>> {
    for program in programs {
        if program.p_type(endian) != elf::PT_NOTE {
            continue;
        }
        let (offset, size) = program.file_range(endian);
        let Some(bytes) = file.bytes(offset, size.min(MAX_NOTE)) else {
            continue;
        };
        let Ok(mut notes) = NoteIterator::<E>::new(endian, program.p_align(endian), &bytes) else {
            continue;
        };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                return Some(note.desc().to_vec());
            }
        }
    }
    None
}

/// The table of all symbols, or else that of the exported symbols, with its names.
fn tables<E: FileHeader<Endian = Endianness>>(
    file: &mut Reader,
    header: &E,
    endian: Endianness,
) -> Option<(Vec<E::Sym>, Vec<u8>)> {
    let at: u64 = header.e_shoff(endian).into();
    let mut count = usize::from(header.e_shnum(endian));
    if count == 0 {
        // A count too large for the header is in the first section.
        let first: E::SectionHeader = file.array(at, 1)?.pop()?;
        count = usize::try_from(first.sh_size(endian).into()).ok()?;
    }
    let sections: Vec<E::SectionHeader> = file.array(at, count)?;
    let mut table = |kind| {
        let table = sections.iter().find(|s| s.sh_type(endian) == kind)?;
        let size: u64 = table.sh_size(endian).into();
        let count = usize::try_from(size).ok()? / size_of::<E::Sym>();
        let symbols: Vec<E::Sym> = file.array(table.sh_offset(endian).into(), count)?;
        let names = sections.get(table.sh_link(endian) as usize)?;
        let size = names.sh_size(endian).into();
        let names = file.bytes(names.sh_offset(endian).into(), size)?;
        let any = symbols.iter().any(|s| names_addresses(s, endian));
        any.then_some((symbols, names))
    };
    table(elf::SHT_SYMTAB).or_else(|| table(elf::SHT_DYNSYM))
}

/// Whether a symbol is code or data of this file, at an address that moves with it.
fn names_addresses<S: Sym<Endian = Endianness>>(symbol: &S, endian: Endianness) -> bool {
    let kind = matches!(
        symbol.st_type(),
        elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_OBJECT | elf::STT_NOTYPE
    );
    // An undefined symbol with a value is the stub through which it is called.
    let section = symbol.st_shndx(endian);
    let here = match section {
        elf::SHN_UNDEF => symbol.st_value(endian).into() != 0,
        _ => section != elf::SHN_ABS && section != elf::SHN_COMMON,
    };
    kind && here && symbol.st_name(endian) != 0
}

/// The name at the start of `bytes`, without the symbol version that linkers append.
fn name(bytes: &[u8]) -> Option<String> {
    let longest = bytes.get(..MAX_NAME).unwrap_or(bytes);
    let whole = longest.split(|b| *b == 0).next()?;
    let mut parts = whole.split(|b| *b == b'@');
    let name = parts
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(whole);
    let mut shown = String::from_utf8_lossy(name).into_owned();
    // A byte that is not UTF-8 takes three bytes.
    while shown.len() > MAX_NAME {
        shown.pop();
    }
    (!shown.is_empty()).then_some(shown)
}
