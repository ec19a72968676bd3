//! The sections of an ELF file by their names and types, expanded where they are compressed.

use object::elf;
use object::endian::{Endian, Endianness};
use object::pod;
use object::read::elf::{CompressionHeader, FileHeader, SectionHeader};

use super::elf_file::ElfFile;

/// What stands in front of a section that was compressed before ELF had a header for it: this, and
/// eight bytes of its length, most significant first.
const ZLIB_GNU: &[u8; 4] = b"ZLIB";

/// The headers of all sections.
pub struct Sections<E: FileHeader> {
    headers: Vec<E::SectionHeader>,
    names: Vec<u8>,
    endian: Endianness,
}

/// Why a section has no contents that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// It is damaged, or too large.
    Damaged,
    /// It is compressed with zstd. What decodes that is C code, which the library does not bring.
    Zstd,
}

/// The name of another file, and the CRC-32 of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugLink {
    pub name: Vec<u8>,
    pub crc: u32,
}

impl<E: FileHeader<Endian = Endianness>> Sections<E> {
    /// Those of a file with this header.
    pub fn of(file: &mut ElfFile, header: &E, endian: Endianness) -> Option<Sections<E>> {
        let at: u64 = header.e_shoff(endian).into();
        let mut count = usize::from(header.e_shnum(endian));
        if count == 0 {
            // A count too large for the header is in the first section.
            let first: E::SectionHeader = file.array(at, 1)?.pop()?;
            count = usize::try_from(first.sh_size(endian).into()).ok()?;
        }
        let mut sections = Sections::<E> {
            headers: file.array(at, count)?,
            names: Vec::new(),
            endian,
        };
        let names = match header.e_shstrndx(endian) {
            // A number too large for the header is in the first section.
            elf::SHN_XINDEX => sections.at(0)?.sh_link(endian) as usize,
            number => usize::from(number.0),
        };
        let names = sections
            .at(names)
            .and_then(|names| bytes::<E>(file, names, endian));
        sections.names = names.unwrap_or_default();
        Some(sections)
    }

    /// The section with a number.
    pub fn at(&self, number: usize) -> Option<&E::SectionHeader> {
        self.headers.get(number)
    }

    /// Those of a type.
    pub fn of_type(&self, kind: elf::SectionType) -> impl Iterator<Item = &E::SectionHeader> {
        let endian = self.endian;
        self.headers
            .iter()
            .filter(move |section| section.sh_type(endian) == kind)
    }

    /// Whether a section is in memory when the file is loaded; unless it is one of those, as far as
    /// anybody knows. The linker notes warnings in others, whose addresses begin at 0.
    pub fn is_loaded(&self, number: elf::SymbolSection) -> bool {
        let section = number.index().and_then(|number| self.at(number.into()));
        section.is_none_or(|section| section.sh_flags(self.endian).contains(elf::SHF_ALLOC))
    }

    fn named(&self, name: &[u8]) -> Option<&E::SectionHeader> {
        let has_name = |section: &&E::SectionHeader| {
            let at = usize::try_from(section.sh_name(self.endian)).ok();
            let found = at.and_then(|at| self.names.get(at..));
            found.and_then(|found| found.split(|byte| *byte == 0).next()) == Some(name)
        };
        self.headers.iter().find(has_name)
    }

    /// The contents of a section of debug information: none, if there is no such section.
    pub fn debug(&self, file: &mut ElfFile, name: &str) -> Result<Vec<u8>, Unread> {
        if let Some(section) = self.named(name.as_bytes()) {
            return self.expanded(file, section);
        }
        // `.zdebug_info` for `.debug_info`.
        let compressed = format!(".z{}", name.trim_start_matches('.'));
        match self.named(compressed.as_bytes()) {
            Some(section) => self.expanded_gnu(file, section).ok_or(Unread::Damaged),
            None => Ok(Vec::new()),
        }
    }

    fn expanded(&self, file: &mut ElfFile, section: &E::SectionHeader) -> Result<Vec<u8>, Unread> {
        let bytes = bytes::<E>(file, section, self.endian).ok_or(Unread::Damaged)?;
        let flags = section.sh_flags(self.endian);
        if !flags.contains(elf::SHF_COMPRESSED) {
            return Ok(bytes);
        }
        let header = pod::from_bytes::<E::CompressionHeader>(&bytes);
        let (header, packed) = header.map_err(|()| Unread::Damaged)?;
        match header.ch_type(self.endian) {
            elf::ELFCOMPRESS_ZLIB => {
                let size = header.ch_size(self.endian).into();
                inflated(file, packed, size).ok_or(Unread::Damaged)
            }
            elf::ELFCOMPRESS_ZSTD => Err(Unread::Zstd),
            _ => Err(Unread::Damaged),
        }
    }

    fn expanded_gnu(&self, file: &mut ElfFile, section: &E::SectionHeader) -> Option<Vec<u8>> {
        let bytes = bytes::<E>(file, section, self.endian)?;
        let (size, packed) = bytes.strip_prefix(ZLIB_GNU)?.split_first_chunk::<8>()?;
        inflated(file, packed, u64::from_be_bytes(*size))
    }

    /// Which file has what was stripped off this one, as it says.
    pub fn debug_link(&self, file: &mut ElfFile) -> Option<DebugLink> {
        /// Bytes of the longest name of a file, of its end, and of the checksum.
        const MOST: u64 = 255 + 4 + 4;
        let section = self.named(b".gnu_debuglink")?;
        if section.sh_size(self.endian).into() > MOST {
            return None;
        }
        let bytes = bytes::<E>(file, section, self.endian)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let crc = bytes.get((end + 1).next_multiple_of(4)..)?;
        let crc: [u8; 4] = crc.first_chunk().copied()?;
        let name = bytes[..end].to_vec();
        let is_name = !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
        is_name.then(|| DebugLink {
            name,
            crc: match self.endian.is_big_endian() {
                true => u32::from_be_bytes(crc),
                false => u32::from_le_bytes(crc),
            },
        })
    }
}

/// The bytes of a section as they stand in the file.
pub fn bytes<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    section: &E::SectionHeader,
    endian: Endianness,
) -> Option<Vec<u8>> {
    file.bytes(
        section.sh_offset(endian).into(),
        section.sh_size(endian).into(),
    )
}

/// Expands what says that it has so many bytes. These are paid for before there is room for them.
fn inflated(file: &mut ElfFile, packed: &[u8], size: u64) -> Option<Vec<u8>> {
    file.pay(size)?;
    let most = usize::try_from(size).ok()?;
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, most).ok()
}
