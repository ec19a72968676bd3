//! Finds the file and the line of the source that an address is of, by DWARF.
//!
//! Only units that hold an address asked for are decoded, and their rows are kept. A function that
//! the compiler put into another one has no frame of its own: the line is where its code stands,
//! and the name that of the function around it.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gimli::{
    DebugInfoOffset, Dwarf, DwarfSections, Reader, RunTimeEndian, SectionId, Unit, UnitHeader,
};
use object::elf::{self, FileHeader32, FileHeader64};
use object::endian::{Endian, Endianness};
use object::pod;
use object::read::elf::{CompressionHeader, FileHeader, SectionHeader};

use super::elf_file::{ElfFile, is_of, sections};
use super::intervals::{Interval, IntervalMap};
use super::metered::Metered;
use super::{FileVersion, Module, SourceLine};

/// Where distributions put what they strip off their files.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";
/// The sections that lines need.
const WANTED: [SectionId; 9] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];
/// How often all bytes of a file may be read, and how many more.
const READINGS: (u64, u64) = (4, 4 << 20);
/// How much may be read of what describes one unit: its abbreviations, and the names of its files.
/// A byte of them becomes some thirty in memory. Compilers write a few hundred KiB.
const MOST_OF_A_UNIT: u64 = 4 << 20;
/// The most ranges of addresses of all units.
const MOST_RANGES: usize = 1 << 21;
/// The most rows that are kept: 16 bytes each.
const MOST_ROWS: usize = 1 << 23;
/// Bytes of the longest path.
const LONGEST: usize = 4096;

/// What a file says of its lines.
#[derive(Debug)]
pub struct Lines {
    sections: DwarfSections<Vec<u8>>,
    endian: RunTimeEndian,
    /// Of each range of addresses where its unit stands.
    units: Vec<DebugInfoOffset>,
    cover: IntervalMap,
    known: Mutex<Known>,
}

/// What was read so far.
#[derive(Debug)]
struct Known {
    /// How much may still be read.
    left: u64,
    /// How many rows are kept.
    rows: usize,
    units: HashMap<DebugInfoOffset, Rows>,
    files: HashMap<(DebugInfoOffset, u32), Option<String>>,
}

/// The rows of a unit.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    /// Rows that follow one another, and the addresses of each of these sequences.
    sequences: Vec<Range<usize>>,
    cover: IntervalMap,
}

/// From this address on it is that line.
#[derive(Debug, Clone, Copy)]
struct Row {
    address: u64,
    file: u32,
    /// 0: of no line.
    line: u32,
}

impl Lines {
    /// Reads the file at a path, if it is the version that is that of the module, or the file of
    /// its build id among those that were stripped off others, if it knows lines. Subtracts the
    /// bytes read from `left`.
    pub fn open(
        (path, version): (&Path, Option<FileVersion>),
        module: &Module,
        left: &mut u64,
    ) -> Option<Lines> {
        let apart = module.build_id.as_deref().and_then(stripped_off);
        let own = (path.to_path_buf(), Some(version));
        let mut places = [own].into_iter().chain(apart.map(|path| (path, None)));
        places.find_map(|(path, version)| {
            let file = &mut ElfFile::at(&path, left)?;
            if version.is_some_and(|version| version != file.version()) {
                return None;
            }
            Lines::read::<FileHeader64<Endianness>>(file, module)
                .or_else(|| Lines::read::<FileHeader32<Endianness>>(file, module))
        })
    }

    fn read<E: FileHeader<Endian = Endianness>>(
        file: &mut ElfFile,
        module: &Module,
    ) -> Option<Lines> {
        let (header, endian) = file.header::<E>()?;
        let count = usize::from(header.e_phnum(endian));
        let programs: Vec<E::ProgramHeader> = file.array(header.e_phoff(endian).into(), count)?;
        if !is_of::<E>(module, file, endian, &programs) {
            return None;
        }
        let all = sections(file, &header, endian)?;
        let names = match header.e_shstrndx(endian) {
            // A number too large for the header is in the first section.
            elf::SHN_XINDEX => all.first()?.sh_link(endian) as usize,
            number => usize::from(number.0),
        };
        let names = all.get(names)?;
        let size: u64 = names.sh_size(endian).into();
        let names = file.bytes(names.sh_offset(endian).into(), size)?;
        let named = |section: &&E::SectionHeader, name: &str| {
            let at = usize::try_from(section.sh_name(endian)).ok();
            let found = at.and_then(|at| names.get(at..));
            found.and_then(|found| found.split(|byte| *byte == 0).next()) == Some(name.as_bytes())
        };
        let mut load = |id: SectionId| -> Option<Vec<u8>> {
            let section = all.iter().find(|section| named(section, id.name()));
            match section.filter(|_| WANTED.contains(&id)) {
                Some(section) => contents::<E>(file, section, endian),
                None => Some(Vec::new()),
            }
        };
        let mut size = 0;
        let sections = DwarfSections::load(|id| {
            let bytes = load(id).ok_or(())?;
            size += bytes.len() as u64;
            Ok::<_, ()>(bytes)
        });
        let endian = match endian.is_big_endian() {
            true => RunTimeEndian::Big,
            false => RunTimeEndian::Little,
        };
        Lines::of(sections.ok()?, size, endian)
    }

    /// `size`: the bytes of all sections.
    fn of(sections: DwarfSections<Vec<u8>>, size: u64, endian: RunTimeEndian) -> Option<Lines> {
        let (times, more) = READINGS;
        let left = Cell::new(size.saturating_mul(times).saturating_add(more));
        let (mut units, mut intervals) = (Vec::new(), Vec::new());
        let dwarf = sections.borrow(|bytes| Metered::new(bytes, endian, &left));
        let mut headers = dwarf.units();
        // What comes behind a mistake is not known.
        while let Ok(Some(header)) = headers.next() {
            let Some(offset) = header.debug_info_offset() else {
                continue;
            };
            let Ok(unit) = unit(&dwarf, header, &left) else {
                continue;
            };
            let Ok(mut ranges) = dwarf.unit_ranges(&unit) else {
                continue;
            };
            while let Ok(Some(range)) = ranges.next()
                && intervals.len() < MOST_RANGES
            {
                units.push(offset);
                intervals.push(Interval {
                    start: range.begin,
                    end: range.end,
                    rank: range.begin,
                });
            }
        }
        let cover = IntervalMap::new(&intervals);
        (!units.is_empty()).then(|| Lines {
            endian,
            units,
            cover,
            known: Mutex::new(Known {
                left: left.get(),
                rows: 0,
                units: HashMap::new(),
                files: HashMap::new(),
            }),
            sections,
        })
    }

    /// The line of an address of the file.
    pub fn find(&self, address: u64) -> Option<SourceLine> {
        let offset = self.units[self.cover.find(address)?];
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known {
            left,
            rows: kept,
            units,
            files,
        } = &mut *known;
        let budget = Cell::new(*left);
        let dwarf = || {
            self.sections
                .borrow(|bytes| Metered::new(bytes, self.endian, &budget))
        };
        if !units.contains_key(&offset) {
            if *kept >= MOST_ROWS {
                units.clear();
                *kept = 0;
            }
            let rows = Rows::of(&dwarf(), offset, &budget).unwrap_or_default();
            *kept += rows.rows.len();
            units.insert(offset, rows);
        }
        let found = units[&offset].find(address).and_then(|row| {
            let file = files
                .entry((offset, row.file))
                .or_insert_with(|| path(&dwarf(), offset, row.file, &budget));
            Some(SourceLine {
                file: file.clone()?,
                line: row.line,
            })
        });
        *left = budget.get();
        found
    }
}

impl Rows {
    /// Those of the unit there, as far as they can be read.
    fn of(dwarf: &Dwarf<Metered>, offset: DebugInfoOffset, left: &Cell<u64>) -> Option<Rows> {
        let unit = unit(dwarf, dwarf.unit_header(offset).ok()?, left).ok()?;
        let mut program = unit.line_program?.rows();
        let (mut rows, mut sequences, mut intervals) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        while let Ok(Some((_, row))) = program.next_row()
            && rows.len() < MOST_ROWS
        {
            if !row.end_sequence() {
                rows.push(Row {
                    address: row.address(),
                    file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                    line: row
                        .line()
                        .map_or(0, |line| u32::try_from(line.get()).unwrap_or(0)),
                });
                continue;
            }
            // Some compilers do not keep their order.
            rows[first..].sort_by_key(|row| row.address);
            if let Some(begin) = rows.get(first) {
                intervals.push(Interval {
                    start: begin.address,
                    end: row.address(),
                    rank: begin.address,
                });
                sequences.push(first..rows.len());
            }
            first = rows.len();
        }
        Some(Rows {
            cover: IntervalMap::new(&intervals),
            rows,
            sequences,
        })
    }

    fn find(&self, address: u64) -> Option<Row> {
        let sequence = &self.rows[self.sequences[self.cover.find(address)?].clone()];
        let behind = sequence.partition_point(|row| row.address <= address);
        let row = sequence[behind.checked_sub(1)?];
        (row.line > 0).then_some(row)
    }
}

/// A unit, unless what describes it is too large. `left`: what the sections have left.
fn unit<'a>(
    dwarf: &Dwarf<Metered<'a>>,
    header: UnitHeader<Metered<'a>>,
    left: &Cell<u64>,
) -> gimli::Result<Unit<Metered<'a>>> {
    let all = left.get();
    let most = all.min(MOST_OF_A_UNIT);
    left.set(most);
    let unit = dwarf.unit(header);
    left.set(all - (most - left.get()));
    unit
}

/// The path of a file that rows of the unit there name.
fn path(
    dwarf: &Dwarf<Metered>,
    offset: DebugInfoOffset,
    file: u32,
    left: &Cell<u64>,
) -> Option<String> {
    let unit = unit(dwarf, dwarf.unit_header(offset).ok()?, left).ok()?;
    let header = unit.line_program.as_ref()?.header();
    let entry = header.file(file.into())?;
    let mut path = unit.comp_dir.as_ref().map_or(PathBuf::new(), |folder| {
        text(folder).map(PathBuf::from).unwrap_or_default()
    });
    let part = |value| text(&dwarf.attr_string(&unit, value).ok()?);
    if let Some(folder) = entry.directory(header) {
        path.push(part(folder)?);
    }
    path.push(part(entry.path_name())?);
    // Without `.`, which compilers leave in.
    let path: PathBuf = path.components().collect();
    let path = path.into_os_string().into_string().ok()?;
    (path.len() <= LONGEST).then_some(path)
}

fn text(bytes: &Metered) -> Option<String> {
    let is_short = Reader::len(bytes) <= LONGEST;
    is_short.then(|| Some(bytes.to_string_lossy().ok()?.into_owned()))?
}

/// Where what was stripped off a file stands.
fn stripped_off(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let name = format!("{}.debug", hex(rest));
    (!rest.is_empty()).then(|| Path::new(DEBUG_FILES).join(hex(&[*first])).join(name))
}

/// The bytes of a section, expanded.
fn contents<E: FileHeader<Endian = Endianness>>(
    file: &mut ElfFile,
    section: &E::SectionHeader,
    endian: Endianness,
) -> Option<Vec<u8>> {
    let size: u64 = section.sh_size(endian).into();
    let bytes = file.bytes(section.sh_offset(endian).into(), size)?;
    if !section.sh_flags(endian).contains(elf::SHF_COMPRESSED) {
        return Some(bytes);
    }
    let (header, packed) = pod::from_bytes::<E::CompressionHeader>(&bytes).ok()?;
    if header.ch_type(endian) != elf::ELFCOMPRESS_ZLIB {
        return None;
    }
    let size: u64 = header.ch_size(endian).into();
    file.pay(size)?;
    let most = usize::try_from(size).ok()?;
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, most).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_units_share_is_not_read_for_each_without_end() {
        // A table of abbreviations, and units that have nothing else.
        let mut abbreviations = vec![1, 0x11, 0, 0, 0];
        for code in 2..200_000_u32 {
            let mut rest = code;
            while rest >= 0x80 {
                abbreviations.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            abbreviations.extend([rest as u8, 0x2e, 0, 0, 0]);
        }
        abbreviations.push(0);
        let unit = [8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1];
        let units = unit.repeat(100_000);
        let load = |id| {
            Ok::<_, ()>(match id {
                SectionId::DebugAbbrev => abbreviations.clone(),
                SectionId::DebugInfo => units.clone(),
                _ => Vec::new(),
            })
        };
        let sections = DwarfSections::load(load).expect("loaded");
        // It would take a day.
        assert!(Lines::of(sections, 1 << 20, RunTimeEndian::Little).is_none());
    }

    #[test]
    fn the_description_of_a_unit_costs_no_more_than_compilers_write() {
        // One abbreviation with attributes without end, and a unit of it.
        let abbreviations = vec![1; 64 << 20];
        let unit_bytes = [8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1];
        let load = |id| {
            Ok::<_, ()>(match id {
                SectionId::DebugAbbrev => abbreviations.clone(),
                SectionId::DebugInfo => unit_bytes.to_vec(),
                _ => Vec::new(),
            })
        };
        let sections = DwarfSections::load(load).expect("loaded");
        let left = Cell::new(u64::MAX);
        let dwarf = sections.borrow(|bytes| Metered::new(bytes, RunTimeEndian::Little, &left));
        let header = dwarf.units().next().expect("read").expect("a unit");
        let before = left.get();
        assert!(unit(&dwarf, header, &left).is_err());
        assert!(before - left.get() <= MOST_OF_A_UNIT);
    }
}
