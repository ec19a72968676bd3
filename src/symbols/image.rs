//! Reads the symbols of one ELF file, up to a limit of bytes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use object::elf::{self, FileHeader32, FileHeader64};
use object::endian::Endianness;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};

use super::elf_file::{ElfFile, is_of, programs};
use super::intervals::{AddressInterval, IntervalMap};
use super::lines::{LineTable, SourceLocation};
use super::sections::{self, Sections};
use super::separate::{self, Separate};
use super::{FileContents, FileVersion, Module, ReadBudget};

/// Bytes of all headers and notes that are read to compare a file.
const MOST_HEADERS: u64 = 16 << 20;
/// Bytes of the longest name. Longer names are cut.
const MAX_NAME: usize = 16 << 10;
/// glibc maps segments from a multiple of the page size.
const PAGE: u64 = 4096;

/// The symbols of an ELF file.
#[derive(Debug)]
pub struct Image {
    /// Where it was found, and which version.
    path: PathBuf,
    version: Option<FileVersion>,
    /// Where what was stripped off it may be.
    separate: Vec<Separate>,
    /// What the file, or a file of its own, says of the lines of its source: read when it is first
    /// asked for.
    lines: OnceLock<Result<LineTable, Option<PathBuf>>>,
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
    /// Reads the file at `path`, if it is that of a module, whose contents may be known. Subtracts
    /// the bytes read from `left`, and reads no more than that. `None` if it is another file,
    /// cannot be read, or is not an ELF file.
    pub fn open(
        path: &Path,
        module: &Module,
        known: Option<&[FileContents]>,
        left: &mut ReadBudget,
    ) -> Option<Image> {
        Image::look(path, module, known, left, true)
    }

    /// Whether the file at `path` is that of a module. Reads its headers and notes.
    pub fn is_of(path: &Path, module: &Module, known: Option<&[FileContents]>) -> bool {
        let mut left = ReadBudget {
            symbols: MOST_HEADERS,
            ..ReadBudget::default()
        };
        Image::look(path, module, known, &mut left, false).is_some()
    }

    fn look(
        path: &Path,
        module: &Module,
        known: Option<&[FileContents]>,
        left: &mut ReadBudget,
        has_symbols: bool,
    ) -> Option<Image> {
        let file = &mut ElfFile::at(path, &mut left.symbols)?;
        if !file.fits(module, known, &mut left.digests) {
            return None;
        }
        let image = Image::read::<FileHeader64<Endianness>>(path, file, module, has_symbols)
            .or_else(|| Image::read::<FileHeader32<Endianness>>(path, file, module, has_symbols))?;
        Some(Image {
            version: file.version(),
            ..image
        })
    }

    fn read<E: FileHeader<Endian = Endianness>>(
        path: &Path,
        file: &mut ElfFile,
        module: &Module,
        has_symbols: bool,
    ) -> Option<Image> {
        let (header, endian) = file.header::<E>()?;
        let word = |word: E::Word| -> u64 { word.into() };

        let programs = programs(file, &header, endian)?;
        let loaded = programs.iter().filter(|p| p.p_type(endian) == elf::PT_LOAD);
        let lowest = loaded.map(|p| word(p.p_vaddr(endian))).min();
        let lowest = lowest.map_or(0, |address| address & !(PAGE - 1));
        let moves = header.e_type(endian) != elf::ET_EXEC;

        // Before the symbols are read: another file may have many.
        if !is_of::<E>(module, file, &header, endian) {
            return None;
        }
        let mut image = Image {
            path: path.to_path_buf(),
            version: None,
            separate: Vec::new(),
            lines: OnceLock::new(),
            lowest: moves.then_some(lowest),
            symbols: Vec::new(),
            cover: IntervalMap::default(),
            names: Vec::new(),
        };
        if has_symbols && let Some(sections) = Sections::of(file, &header, endian) {
            let link = sections.debug_link(file);
            image.separate = separate::places(path, module, link);
            let own = |file: &mut ElfFile, kind| table::<E>(file, &sections, endian, kind);
            let found = own(file, elf::SHT_SYMTAB)
                .or_else(|| stripped_off::<E>(file, module, &image.separate, endian))
                .or_else(|| own(file, elf::SHT_DYNSYM));
            if let Some((symbols, names)) = found {
                image.take(&symbols, endian);
                image.names = names;
            }
        }
        Some(image)
    }

    fn take<S: Sym<Endian = Endianness>>(&mut self, symbols: &[S], endian: Endianness) {
        let mut intervals: Vec<AddressInterval<Rank>> = Vec::new();
        for symbol in symbols {
            let start: u64 = symbol.st_value(endian).into();
            let size: u64 = symbol.st_size(endian).into();
            let function = matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC);
            let binding = match symbol.st_bind() {
                elf::STB_LOCAL => 0,
                elf::STB_WEAK => 1,
                _ => 2,
            };
            intervals.push(AddressInterval {
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

    /// The file with its debug information, if that was looked for and is compressed with zstd: its
    /// own, or the one that has what was stripped off it.
    pub fn compressed_with_zstd(&self) -> Option<&Path> {
        self.lines.get()?.as_ref().err()?.as_deref()
    }

    /// The place in the source that an address is of, in a process with the file of this module
    /// mapped at its base, and what the compiler put there.
    pub fn locate(&self, module: &Module, address: u64, left: &Mutex<u64>) -> SourceLocation {
        let open = || {
            let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
            LineTable::open(
                (&self.path, self.version),
                &self.separate,
                module,
                &mut left,
            )
        };
        let Ok(lines) = self.lines.get_or_init(open) else {
            return SourceLocation::default();
        };
        let bias = self
            .lowest
            .map_or(0, |lowest| module.base.wrapping_sub(lowest));
        lines.find(address.wrapping_sub(bias))
    }
}

/// A table of symbols, and their names.
type Table<E> = (Vec<<E as FileHeader>::Sym>, Vec<u8>);

/// The symbols of a type that count, unless there are none, and their names.
fn table<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    all: &Sections<E>,
    endian: Endianness,
    kind: elf::SectionType,
) -> Option<Table<E>> {
    let table = all.of_type(kind).next()?;
    let size: u64 = table.sh_size(endian).into();
    let count = usize::try_from(size).ok()? / size_of::<E::Sym>();
    let mut symbols: Vec<E::Sym> = file.array(table.sh_offset(endian).into(), count)?;
    symbols
        .retain(|symbol| names_addresses(symbol, endian) && all.is_loaded(symbol.st_shndx(endian)));
    let names = all.at(table.sh_link(endian) as usize)?;
    let names = sections::bytes::<E>(file, names, endian)?;
    (!symbols.is_empty()).then_some((symbols, names))
}

/// The table of all symbols that was stripped off a file.
fn stripped_off<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    module: &Module,
    places: &[Separate],
    endian: Endianness,
) -> Option<Table<E>> {
    places.iter().find_map(|place| {
        let file = &mut place.open(file.left())?;
        let (sections, its_endian) = separate::sections::<E>(file, module)?;
        (its_endian == endian).then_some(())?;
        table::<E>(file, &sections, endian, elf::SHT_SYMTAB)
    })
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
