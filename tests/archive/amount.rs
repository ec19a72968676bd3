//! Tests how much text an archive can become.
//! It is no more than docs/archive.md says, and no event has more text than there is room for.

use std::fs;
use std::process::Command;

use timeline::Definition;
use timeline_archive::limits::{MAX_EVENTS, SHOWN_SYMBOL};

use crate::samples::framed;

/// Appends a number, seven bits a byte.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A record of msgpack: its tag, and numbers and texts by their fields.
fn record(tag: u8, numbers: &[(u8, u64)], texts: &[(u8, &str)]) -> Vec<u8> {
    let mut record = vec![tag, 0x80 | (numbers.len() + texts.len()) as u8];
    for (field, number) in numbers {
        record.extend([*field, 0xcf]);
        record.extend(number.to_be_bytes());
    }
    for (field, text) in texts {
        record.extend([*field, 0xdb]);
        record.extend((text.len() as u32).to_be_bytes());
        record.extend(text.as_bytes());
    }
    framed(&record)
}

/// A block of as many events as fit, in as few bytes as there may be: each says string 1 as
/// category and message, of a thread and a process of that name, and has so many return addresses,
/// all of them 0.
fn densest(addresses: u64) -> Vec<u8> {
    let mut expanded = vec![0; 4];
    let backtrace = u64::from(addresses > 0) << 4;
    expanded.push(1);
    put(&mut expanded, 1 << 9 | 1 << 11 | backtrace);
    expanded.extend([1, 1]);
    if addresses > 0 {
        put(&mut expanded, addresses);
    }
    expanded.push(1);
    put(&mut expanded, 1 << 5 | 1 << 15);
    expanded.extend([1, 1]);
    // Columns of kinds, of sources, and of addresses.
    expanded.push(8);
    let events = MAX_EVENTS as u64;
    for length in [events, events, 0, 0, 0, 0, 0, addresses * events] {
        put(&mut expanded, length);
        expanded.resize(expanded.len() + length as usize, 0);
    }
    let payload = lz4_flex::block::compress(&expanded);
    let mut record = vec![16, 0x85, 1, 7, 2, 0xa3, b'l', b'z', b'4', 3, 0xce];
    record.extend((expanded.len() as u32).to_be_bytes());
    record.extend([4, 0xce]);
    record.extend((events as u32).to_be_bytes());
    record.extend([9, 0xc6]);
    record.extend((payload.len() as u32).to_be_bytes());
    record.extend(payload);
    framed(&record)
}

/// Bytes printed of each event, and for each byte of the block, if all texts are of this character.
fn amount(character: char, addresses: u64, way: &[&str]) -> (usize, usize) {
    let of = |bytes: usize| String::from(character).repeat(bytes / character.len_utf8());
    let longest = of(Definition::LONGEST_TEXT);
    // Of which a whole number of times fits.
    let symbol = of(character.len_utf8() * SHOWN_SYMBOL - 16);
    let block = densest(addresses);
    let mut file = record(1, &[(1, 7), (2, 1)], &[(3, &longest)]);
    // On one machine of two.
    file.extend(record(0, &[(1, 7)], &[(5, &longest), (8, &longest)]));
    file.extend(record(0, &[(1, 8)], &[(5, "other")]));
    let names = [(3, symbol.as_str()), (5, &symbol)];
    file.extend(record(2, &[(1, 7), (2, 0), (4, 0), (6, 0)], &names));
    file.extend(&block);
    file.extend(record(127, &[(1, 8), (18, 1)], &[]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dense.tla");
    fs::write(&path, file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
    command.arg("dump").arg(&path).args(way).args(["-n", "11"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{way:?}");
    // One of them is that of the other machine.
    let each = output.stdout.len() / 10;
    (each, each * MAX_EVENTS / block.len())
}

/// What docs/archive.md states: text for each byte of an archive, of definitions alone and with
/// call stacks.
const STATED: [(&[&str], [usize; 2]); 3] = [
    (&[], [1_000_000, 17_000_000]),
    (&["--long"], [2_000_000, 17_000_000]),
    (&["--json"], [20_000_000, 45_000_000]),
];

#[test]
fn a_byte_becomes_no_more_text_than_is_stated() {
    for (way, [definitions, stacks]) in STATED {
        // In JSON, each control character takes six. With so many addresses, all have names.
        let (character, most) = match way {
            ["--json"] => ('\u{1}', 8),
            _ => ('𝕏', 2),
        };
        let (_, of_a_byte) = amount(character, 0, way);
        let near = definitions * 9 / 10..=definitions;
        assert!(near.contains(&of_a_byte), "{of_a_byte} with {way:?}");
        let (all, of_a_byte) = amount(character, most, way);
        let near = stacks * 9 / 10..=stacks;
        assert!(near.contains(&of_a_byte), "{of_a_byte} with {way:?}");
        // Where the next one does not fit, it has none.
        let (more, _) = amount(character, most + 1, way);
        assert!(more < all + 200, "{more} and not {all} with {way:?}");
    }
}
