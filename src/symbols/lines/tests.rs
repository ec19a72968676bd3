//! Debug information that nobody would write: it costs no more than its length allows.

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
    assert!(LineTable::of(sections, 1 << 20, RunTimeEndian::Little).is_none());
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
    let dwarf = sections.borrow(|bytes| SectionReader::new(bytes, RunTimeEndian::Little, &left));
    let header = dwarf.units().next().expect("read").expect("a unit");
    let before = left.get();
    assert!(unit(&dwarf, header, &left).is_err());
    assert!(before - left.get() <= MOST_OF_A_UNIT);
}

/// Sections with these abbreviations and entries of one unit, which has addresses from 0x1000 on.
fn of_unit(abbreviations: &[u8], entries: &[u8]) -> LineTable {
    // A unit with entries in it, which says where its code begins and how long it is.
    let root = [1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0];
    let abbreviations = [&root, abbreviations, &[0]].concat();
    let mut unit = vec![4, 0, 0, 0, 0, 0, 8, 1];
    unit.extend(0x1000_u64.to_le_bytes());
    unit.extend(0x1000_u32.to_le_bytes());
    unit.extend(entries);
    let unit = [&(unit.len() as u32).to_le_bytes(), &unit[..]].concat();
    let load = |id| {
        Ok::<_, ()>(match id {
            SectionId::DebugAbbrev => abbreviations.clone(),
            SectionId::DebugInfo => unit.clone(),
            _ => Vec::new(),
        })
    };
    let sections = DwarfSections::load(load).expect("loaded");
    let size = (abbreviations.len() + unit.len()) as u64;
    LineTable::of(sections, size, RunTimeEndian::Little).expect("a unit")
}

/// A function (2), and an inlined one (3) with an address and a length in one byte; both have
/// others in them.
const NESTED: [u8; 14] = [2, 0x2e, 1, 0, 0, 3, 0x1d, 1, 0x11, 1, 0x12, 0x0b, 0, 0];

/// So many functions in each other.
fn nested(count: usize) -> Vec<u8> {
    let mut inlined = vec![3];
    inlined.extend(0x1010_u64.to_le_bytes());
    inlined.push(0x10);
    [&[2][..], &inlined.repeat(count)].concat()
}

#[test]
fn functions_nest_as_deep_as_anybody_writes() {
    for (count, found) in [(1, 1), (64, 64), (65, 0), (4_000, 0), (1_000_000, 0)] {
        let lines = of_unit(&NESTED, &nested(count));
        assert_eq!(lines.find(0x1018).inlined.len(), found, "{count}");
        assert_eq!(lines.find(0x1028), SourceLocation::default());
    }
}

#[test]
fn attributes_without_bytes_are_paid_for() {
    // An entry of one byte with a hundred thousand attributes, a million times.
    let attributes = [0x3f, 0x19].repeat(100_000);
    let abbreviations = [&[2, 0x34, 0][..], &attributes, &[0, 0]].concat();
    let lines = of_unit(&abbreviations, &[2].repeat(1_000_000));
    // It would take minutes.
    assert_eq!(lines.find(0x1018), SourceLocation::default());
    assert_eq!(lines.known.lock().unwrap().left, 0);
}

#[test]
fn the_end_of_all_addresses_is_no_mistake() {
    let mut inlined = vec![2, 3];
    inlined.extend((u64::MAX - 1).to_le_bytes());
    inlined.push(0xff);
    let lines = of_unit(&NESTED, &inlined);
    assert_eq!(lines.find(0x1018), SourceLocation::default());
}
