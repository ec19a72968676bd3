//! The functions of a unit that the compiler put into others, and which of them an address is in.

use std::cell::Cell;

use gimli::{
    Attribute, AttributeValue, DebugInfoOffset, Dwarf, EntriesRaw, Error, RangeListsOffset,
    ReaderOffsetId, Result, Unit,
};

use super::super::intervals::{AddressInterval, IntervalMap};
use super::super::metered::{SectionReader, pay};
use super::InlinedFunction;

/// The most ranges of addresses of one unit. That of a browser with the most has a tenth.
const MOST_RANGES: usize = 1 << 20;
/// As many rows take about as much memory as a range.
const ROWS_OF_A_RANGE: usize = 8;
/// The most entries that stand in each other. Compilers nest some dozens.
const DEEPEST: usize = 4096;
/// Linkers give this address, or the one before, to code that they leave out.
const LEFT_OUT: u64 = 1;

/// The inlined functions of a unit.
#[derive(Debug, Default)]
pub struct InlineMap {
    calls: Vec<Call>,
    cover: IntervalMap,
    /// The call of each range.
    ranges: Vec<u32>,
}

/// A call in whose place the called function stands.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Where the function is described.
    pub function: Option<DebugInfoOffset>,
    /// The file, by its number, and the line of the call.
    pub file: u32,
    pub line: u32,
    /// How many calls it stands in, and the innermost of those.
    level: u32,
    around: Option<u32>,
}

impl InlineMap {
    /// Those of a unit, as far as they can be read.
    pub fn of(
        dwarf: &Dwarf<SectionReader>,
        unit: &Unit<SectionReader>,
        left: &Cell<u64>,
    ) -> InlineMap {
        let (mut found, mut intervals) = (InlineMap::default(), Vec::new());
        // What comes behind a mistake is not known.
        let _ = found.read(dwarf, unit, left, &mut intervals);
        found.cover = IntervalMap::new(&intervals);
        found
    }

    fn read(
        &mut self,
        dwarf: &Dwarf<SectionReader>,
        unit: &Unit<SectionReader>,
        left: &Cell<u64>,
        intervals: &mut Vec<AddressInterval<u32>>,
    ) -> Result<()> {
        // The functions around an entry, by their depth, and which call each is.
        let mut open: Vec<(isize, Option<u32>)> = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let depth = entries.next_depth();
            let Some(kind) = entries.read_abbreviation()? else {
                continue;
            };
            // There are attributes that take no bytes.
            pay(left, kind.attributes().len())?;
            open.truncate(open.partition_point(|(of, _)| *of < depth));
            let around = open.last().and_then(|(_, call)| *call);
            let call = match kind.tag() {
                gimli::DW_TAG_subprogram => {
                    entries.skip_attributes(kind.attributes())?;
                    None
                }
                gimli::DW_TAG_inlined_subroutine => {
                    let (mut call, extent) = Call::read(dwarf, unit, &mut entries, kind)?;
                    call.around = around;
                    let outer = around.map(|around| self.calls[around as usize].level + 1);
                    call.level = outer.unwrap_or(0);
                    self.take(call, |each| extent.each(dwarf, unit, each), intervals)?
                }
                _ => {
                    entries.skip_attributes(kind.attributes())?;
                    continue;
                }
            };
            if open.len() == DEEPEST {
                return Err(Error::UnexpectedEof(ReaderOffsetId(0)));
            }
            open.push((depth, call));
        }
        Ok(())
    }

    /// Adds a call with its ranges, unless it has none: its number.
    fn take(
        &mut self,
        call: Call,
        extent: impl FnOnce(&mut dyn FnMut(u64, u64) -> Result<()>) -> Result<()>,
        intervals: &mut Vec<AddressInterval<u32>>,
    ) -> Result<Option<u32>> {
        let number = self.calls.len() as u32;
        let before = intervals.len();
        extent(&mut |start, end| {
            if intervals.len() == MOST_RANGES {
                return Err(Error::UnexpectedEof(ReaderOffsetId(0)));
            }
            let rank = call.level;
            intervals.push(AddressInterval { start, end, rank });
            self.ranges.push(number);
            Ok(())
        })?;
        if intervals.len() == before {
            return Ok(call.around);
        }
        self.calls.push(call);
        Ok(Some(number))
    }

    /// What they take, in rows.
    pub fn size_in_rows(&self) -> usize {
        self.ranges.len() * ROWS_OF_A_RANGE
    }

    /// The calls in whose places an address is, innermost first. None, if they are more than
    /// anybody writes: it would not be known where the outermost one stands.
    pub fn find(&self, address: u64) -> Vec<Call> {
        let mut next = self.cover.find(address).map(|range| self.ranges[range]);
        let mut found = Vec::new();
        while let Some(call) = next.and_then(|number| self.calls.get(number as usize)) {
            if call.level as usize >= InlinedFunction::MOST {
                return Vec::new();
            }
            found.push(*call);
            next = call.around;
        }
        found
    }
}

impl Call {
    /// Reads an inlined function, whose abbreviation was read.
    fn read(
        dwarf: &Dwarf<SectionReader>,
        unit: &Unit<SectionReader>,
        entries: &mut EntriesRaw<SectionReader>,
        kind: &gimli::Abbreviation,
    ) -> Result<(Call, AddressExtent)> {
        let mut call = Call {
            function: None,
            file: u32::MAX,
            line: 0,
            level: 0,
            around: None,
        };
        let mut extent = AddressExtent::default();
        for attribute in kind.attributes() {
            let attribute = entries.read_attribute(*attribute)?;
            let number = || {
                attribute
                    .udata_value()
                    .and_then(|number| u32::try_from(number).ok())
            };
            match (attribute.name(), attribute.value()) {
                (gimli::DW_AT_abstract_origin, value) => call.function = target(unit, value),
                (gimli::DW_AT_call_file, AttributeValue::FileIndex(file)) => {
                    call.file = u32::try_from(file).unwrap_or(u32::MAX);
                }
                (gimli::DW_AT_call_line, _) => call.line = number().unwrap_or(0),
                _ => extent.take(dwarf, unit, &attribute)?,
            }
        }
        Ok((call, extent))
    }
}

/// The entry that an attribute of a unit leads to. One in another file is not looked for.
pub fn target(
    unit: &Unit<SectionReader>,
    value: AttributeValue<SectionReader>,
) -> Option<DebugInfoOffset> {
    match value {
        AttributeValue::UnitRef(offset) => offset.to_debug_info_offset(&unit.header),
        AttributeValue::DebugInfoRef(offset) => Some(offset),
        _ => None,
    }
}

/// The addresses of an entry.
#[derive(Debug, Default)]
pub struct AddressExtent {
    low: Option<u64>,
    high: Option<u64>,
    size: Option<u64>,
    list: Option<RangeListsOffset>,
}

impl AddressExtent {
    /// That of a unit as a whole.
    pub fn of_unit(
        dwarf: &Dwarf<SectionReader>,
        unit: &Unit<SectionReader>,
    ) -> Result<AddressExtent> {
        let mut extent = AddressExtent::default();
        let mut entries = unit.entries_raw(None)?;
        let kind = entries.read_abbreviation()?.ok_or(Error::MissingUnitDie)?;
        for attribute in kind.attributes() {
            let attribute = entries.read_attribute(*attribute)?;
            extent.take(dwarf, unit, &attribute)?;
        }
        Ok(extent)
    }

    /// Notes an attribute, if it is about addresses.
    fn take(
        &mut self,
        dwarf: &Dwarf<SectionReader>,
        unit: &Unit<SectionReader>,
        attribute: &Attribute<SectionReader>,
    ) -> Result<()> {
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_low_pc, value) => self.low = dwarf.attr_address(unit, value)?,
            (gimli::DW_AT_high_pc, AttributeValue::Udata(size)) => self.size = Some(size),
            (gimli::DW_AT_high_pc, value) => self.high = dwarf.attr_address(unit, value)?,
            (gimli::DW_AT_ranges, value) => self.list = dwarf.attr_ranges_offset(unit, value)?,
            _ => {}
        }
        Ok(())
    }

    /// Calls `each` with the ends of each range, without those of code that was left out.
    pub fn each(
        &self,
        dwarf: &Dwarf<SectionReader>,
        unit: &Unit<SectionReader>,
        mut each: impl FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        let mut each = |start: u64, end: u64| match start > LEFT_OUT && start < end {
            true => each(start, end),
            false => Ok(()),
        };
        if let Some(list) = self.list {
            let mut ranges = dwarf.ranges(unit, list)?;
            while let Some(range) = ranges.next()? {
                each(range.begin, range.end)?;
            }
        } else if let Some(low) = self.low {
            // gimli would add them without care.
            let high = self.size.map(|size| low.saturating_add(size));
            each(low, high.or(self.high).unwrap_or(0))?;
        }
        Ok(())
    }
}
