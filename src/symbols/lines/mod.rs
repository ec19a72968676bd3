//! Finds the file and the line of the source that an address is of, by DWARF.
//!
//! It also finds which functions the compiler put there into others. Only units that hold an
//! address asked for are decoded: their rows (rows.rs) and the calls that were inlined (inlined.rs)
//! are kept. Names and paths are read when they are first asked for (reading.rs).
//!
//! **Why not addr2line?** It is made for files that one trusts: it calls itself for each level of
//! inlined functions, and of a few KiB, compressed, there can be a million levels; the attributes
//! without bytes that an entry may have cost it time that no length bounds. Here whoever writes to
//! a timeline names the file. So nothing recurses, and each step is paid for (metered.rs).

mod inlined;
mod reading;
mod rows;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gimli::{DebugInfoOffset, DwarfSections, RunTimeEndian, SectionId, Unit, UnitHeader};
use object::elf::{FileHeader32, FileHeader64};
use object::endian::{Endian, Endianness};
use object::read::elf::FileHeader;

use self::inlined::{AddressExtent, InlineMap};
use self::reading::DebugReader;
use self::rows::LineRows;
use super::elf_file::{ElfFile, is_of};
use super::intervals::{AddressInterval, IntervalMap};
use super::metered::SectionReader;
use super::sections::{Sections, Unread};
use super::separate::{self, Separate};
use super::{FileVersion, InlinedFunction, Module, SourceLine};

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
/// The most ranges of addresses of all units, and the most units.
const MOST_RANGES: usize = 1 << 21;
/// The most rows that are kept: 16 bytes each.
const MOST_ROWS: usize = 1 << 23;
/// Bytes of the names of all functions that were inlined at one address.
const MOST_NAMES: usize = 16 << 10;

/// What a file says of its lines.
#[derive(Debug)]
pub struct LineTable {
    sections: DwarfSections<Vec<u8>>,
    endian: RunTimeEndian,
    /// Where all units begin, in order.
    starts: Vec<DebugInfoOffset>,
    /// Of each range of addresses where its unit stands.
    units: Vec<DebugInfoOffset>,
    cover: IntervalMap,
    known: Mutex<LineCache>,
}

/// What was read so far.
#[derive(Debug)]
struct LineCache {
    /// How much may still be read.
    left: u64,
    /// How many rows are kept; an inlined call counts as some.
    rows: usize,
    units: HashMap<DebugInfoOffset, Decoded>,
    files: HashMap<(DebugInfoOffset, u32), Option<String>>,
    /// The names of functions, by where they are described.
    names: HashMap<DebugInfoOffset, Option<String>>,
}

/// What was decoded of a unit.
#[derive(Debug, Default)]
struct Decoded {
    rows: LineRows,
    inlined: InlineMap,
}

/// A place in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// The line, in the function that has a frame of its own.
    pub source: Option<SourceLine>,
    /// The functions that the compiler put there into that one, innermost first.
    pub inlined: Vec<InlinedFunction>,
}

impl LineTable {
    /// Reads the file at a path, if it is the version that is that of the module, or what was
    /// stripped off it, if that knows lines. Subtracts the bytes read from `left`. The error is the
    /// file of these that is compressed with zstd, if one is and no other one knows lines.
    pub fn open(
        (path, version): (&Path, Option<FileVersion>),
        places: &[Separate],
        module: &Module,
        left: &mut u64,
    ) -> Result<LineTable, Option<PathBuf>> {
        let mut zstd = None;
        let mut known = |read: Result<LineTable, Unread>, of: &Path| match read {
            Err(Unread::Zstd) => {
                zstd = Some(of.to_path_buf());
                None
            }
            read => read.ok(),
        };
        let own = |left: &mut u64| {
            let file = &mut ElfFile::at(path, left)?;
            (file.version() == version).then_some(())?;
            LineTable::own::<FileHeader64<Endianness>>(file, module)
                .or_else(|| LineTable::own::<FileHeader32<Endianness>>(file, module))
        };
        let separate = |place: &Separate, left: &mut u64| {
            let file = &mut place.open(left)?;
            LineTable::separate::<FileHeader64<Endianness>>(file, module)
                .or_else(|| LineTable::separate::<FileHeader32<Endianness>>(file, module))
        };
        let mut found = own(left).and_then(|read| known(read, path));
        for place in places {
            let read = |left| separate(place, left);
            found = found.or_else(|| read(left).and_then(|read| known(read, place.path())));
        }
        found.ok_or(zstd)
    }

    fn own<E: FileHeader<Endian = Endianness>>(
        file: &mut ElfFile,
        module: &Module,
    ) -> Option<Result<LineTable, Unread>> {
        let (header, endian) = file.header::<E>()?;
        let sections = Sections::<E>::of(file, &header, endian)?;
        let fits = is_of::<E>(module, file, &header, endian);
        fits.then(|| LineTable::read(file, &sections, endian))
    }

    fn separate<E: FileHeader<Endian = Endianness>>(
        file: &mut ElfFile,
        module: &Module,
    ) -> Option<Result<LineTable, Unread>> {
        let (sections, endian) = separate::sections::<E>(file, module)?;
        Some(LineTable::read(file, &sections, endian))
    }

    fn read<E: FileHeader<Endian = Endianness>>(
        file: &mut ElfFile,
        sections: &Sections<E>,
        endian: Endianness,
    ) -> Result<LineTable, Unread> {
        let mut size = 0;
        let loaded = DwarfSections::load(|id| {
            if !WANTED.contains(&id) {
                return Ok(Vec::new());
            }
            let bytes = sections.debug(file, id.name())?;
            size += bytes.len() as u64;
            Ok::<_, Unread>(bytes)
        });
        let endian = match endian.is_big_endian() {
            true => RunTimeEndian::Big,
            false => RunTimeEndian::Little,
        };
        LineTable::of(loaded?, size, endian).ok_or(Unread::Damaged)
    }

    /// `size`: the bytes of all sections.
    fn of(sections: DwarfSections<Vec<u8>>, size: u64, endian: RunTimeEndian) -> Option<LineTable> {
        let (times, more) = READINGS;
        let left = Cell::new(size.saturating_mul(times).saturating_add(more));
        let (mut starts, mut units, mut intervals) = (Vec::new(), Vec::new(), Vec::new());
        let dwarf = sections.borrow(|bytes| SectionReader::new(bytes, endian, &left));
        let mut headers = dwarf.units();
        // What comes behind a mistake is not known.
        while let Ok(Some(header)) = headers.next()
            && starts.len() < MOST_RANGES
        {
            let Some(offset) = header.debug_info_offset() else {
                continue;
            };
            starts.push(offset);
            let Ok(unit) = unit(&dwarf, header, &left) else {
                continue;
            };
            // Damage in a unit concerns only this one.
            let _ = AddressExtent::of_unit(&dwarf, &unit).and_then(|extent| {
                extent.each(&dwarf, &unit, |start, end| {
                    if intervals.len() < MOST_RANGES {
                        units.push(offset);
                        let rank = start;
                        intervals.push(AddressInterval { start, end, rank });
                    }
                    Ok(())
                })
            });
        }
        let cover = IntervalMap::new(&intervals);
        (!units.is_empty()).then(|| LineTable {
            endian,
            starts,
            units,
            cover,
            known: Mutex::new(LineCache {
                left: left.get(),
                rows: 0,
                units: HashMap::new(),
                files: HashMap::new(),
                names: HashMap::new(),
            }),
            sections,
        })
    }

    /// The place in the source that an address of the file is of.
    pub fn find(&self, address: u64) -> SourceLocation {
        let Some(range) = self.cover.find(address) else {
            return SourceLocation::default();
        };
        let offset = self.units[range];
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = Cell::new(known.left);
        let borrow = |bytes| SectionReader::new(bytes, self.endian, &budget);
        let dwarf = self.sections.borrow(|bytes| borrow(bytes));
        let mut reading = DebugReader::new(&dwarf, &self.starts, &budget);
        if !known.units.contains_key(&offset) {
            if known.rows >= MOST_ROWS {
                known.units.clear();
                known.rows = 0;
            }
            let decoded = reading.decoded(offset).unwrap_or_default();
            known.rows += decoded.rows.count() + decoded.inlined.size_in_rows();
            known.units.insert(offset, decoded);
        }
        let found = known.find(&mut reading, offset, address);
        known.left = budget.get();
        found
    }
}

impl LineCache {
    fn find(
        &mut self,
        reading: &mut DebugReader,
        offset: DebugInfoOffset,
        address: u64,
    ) -> SourceLocation {
        let LineCache {
            units,
            files,
            names,
            ..
        } = self;
        let Some(decoded) = units.get(&offset) else {
            return SourceLocation::default();
        };
        let mut place = |file, line| {
            let path = files.entry((offset, file));
            let path = path.or_insert_with(|| reading.path(offset, file));
            let file = path.clone().filter(|_| line > 0)?;
            Some(SourceLine { file, line })
        };
        let row = decoded.rows.find(address);
        let calls = decoded.inlined.find(address);
        // The innermost function is at the row, each other one at the call of the next one in it.
        let mut source = row.and_then(|row| place(row.file, row.line));
        let mut inlined = Vec::new();
        for call in &calls {
            let around = place(call.file, call.line);
            inlined.push(InlinedFunction {
                name: None,
                source: std::mem::replace(&mut source, around),
            });
        }
        let mut room = MOST_NAMES;
        for (function, call) in inlined.iter_mut().zip(&calls) {
            let Some(at) = call.function else {
                continue;
            };
            let name = names.entry(at).or_insert_with(|| reading.name(at));
            let fits = name.as_ref().and_then(|name| room.checked_sub(name.len()));
            if let Some(rest) = fits {
                room = rest;
                function.name = name.clone();
            }
        }
        SourceLocation { source, inlined }
    }
}

/// A unit, unless what describes it is too large. `left`: what the sections have left.
fn unit<'a>(
    dwarf: &gimli::Dwarf<SectionReader<'a>>,
    header: UnitHeader<SectionReader<'a>>,
    left: &Cell<u64>,
) -> gimli::Result<Unit<SectionReader<'a>>> {
    let all = left.get();
    let most = all.min(MOST_OF_A_UNIT);
    left.set(most);
    let unit = dwarf.unit(header);
    left.set(all - (most - left.get()));
    unit
}
