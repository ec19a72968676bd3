//! Reads what describes functions and files of the source, one unit at a time.

use std::cell::Cell;
use std::path::PathBuf;

use gimli::{DebugInfoOffset, Dwarf, Reader, Unit};

use super::super::metered::{SectionReader, pay};
use super::inlined::{InlineMap, target};
use super::rows::LineRows;
use super::{Decoded, MOST_NAMES, unit};

/// Bytes of the longest path.
const LONGEST: usize = 4096;
/// How often the description of a function may lead to another one for its name.
const MOST_STEPS: usize = 16;

/// The debug information of a file, and the unit of it that was read last: others are not kept,
/// because what describes one may take some 120 MB.
pub struct DebugReader<'d, 'a> {
    dwarf: &'d Dwarf<SectionReader<'a>>,
    /// Where all units begin, in order.
    starts: &'d [DebugInfoOffset],
    left: &'d Cell<u64>,
    last: Option<(DebugInfoOffset, Option<Unit<SectionReader<'a>>>)>,
}

impl<'d, 'a> DebugReader<'d, 'a> {
    /// Reads no more than there is left.
    pub fn new(
        dwarf: &'d Dwarf<SectionReader<'a>>,
        starts: &'d [DebugInfoOffset],
        left: &'d Cell<u64>,
    ) -> DebugReader<'d, 'a> {
        DebugReader {
            dwarf,
            starts,
            left,
            last: None,
        }
    }

    fn unit(&mut self, offset: DebugInfoOffset) -> Option<&Unit<SectionReader<'a>>> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != offset) {
            // Before the next one takes memory.
            self.last = None;
            let header = self.dwarf.unit_header(offset).ok();
            let read = header.and_then(|header| unit(self.dwarf, header, self.left).ok());
            self.last = Some((offset, read));
        }
        self.last.as_ref().and_then(|(_, unit)| unit.as_ref())
    }

    /// The rows and the inlined functions of the unit there.
    pub fn decoded(&mut self, offset: DebugInfoOffset) -> Option<Decoded> {
        let (dwarf, left) = (self.dwarf, self.left);
        let unit = self.unit(offset)?;
        Some(Decoded {
            rows: LineRows::of(unit).unwrap_or_default(),
            inlined: InlineMap::of(dwarf, unit, left),
        })
    }

    /// The path of a file that the unit there names by a number.
    pub fn path(&mut self, offset: DebugInfoOffset, file: u32) -> Option<String> {
        let dwarf = self.dwarf;
        let unit = self.unit(offset)?;
        let header = unit.line_program.as_ref()?.header();
        let entry = header.file(file.into())?;
        let mut path = unit.comp_dir.as_ref().map_or(PathBuf::new(), |folder| {
            text(folder, LONGEST).map(PathBuf::from).unwrap_or_default()
        });
        let part = |value| text(&dwarf.attr_string(unit, value).ok()?, LONGEST);
        if let Some(folder) = entry.directory(header) {
            path.push(part(folder)?);
        }
        path.push(part(entry.path_name())?);
        // Without `.`, which compilers leave in.
        let path: PathBuf = path.components().collect();
        let path = path.into_os_string().into_string().ok()?;
        (path.len() <= LONGEST).then_some(path)
    }

    /// The name of the function that is described there, mangled if that is known.
    pub fn name(&mut self, at: DebugInfoOffset) -> Option<String> {
        let (dwarf, left) = (self.dwarf, self.left);
        let (mut at, mut plain) = (at, None);
        for _ in 0..MOST_STEPS {
            let behind = self.starts.partition_point(|start| start.0 <= at.0);
            let start = *self.starts.get(behind.checked_sub(1)?)?;
            let unit = self.unit(start)?;
            let entry = at.to_unit_offset(&unit.header)?;
            let mut entries = unit.entries_raw(Some(entry)).ok()?;
            let Ok(Some(kind)) = entries.read_abbreviation() else {
                break;
            };
            pay(left, kind.attributes().len()).ok()?;
            let (mut mangled, mut next) = (None, None);
            for attribute in kind.attributes() {
                let attribute = entries.read_attribute(*attribute).ok()?;
                let string = || dwarf.attr_string(unit, attribute.value()).ok();
                match attribute.name() {
                    gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                        mangled = string()
                    }
                    gimli::DW_AT_name if plain.is_none() => plain = string(),
                    gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                        next = target(unit, attribute.value());
                    }
                    _ => {}
                }
            }
            if mangled.is_some() {
                plain = mangled;
                break;
            }
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        text(&plain?, MOST_NAMES).filter(|name| !name.is_empty())
    }
}

fn text(bytes: &SectionReader, longest: usize) -> Option<String> {
    let is_short = Reader::len(bytes) <= longest;
    let text = is_short.then(|| Some(bytes.to_string_lossy().ok()?.into_owned()))??;
    // A byte that is not UTF-8 takes three bytes.
    (text.len() <= longest).then_some(text)
}
