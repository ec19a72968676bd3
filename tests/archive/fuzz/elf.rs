//! Makes a small program file (ELF) by hand.
//! It has a segment, a build id, and two functions in a table of symbols.

/// Appends numbers of so many bytes each.
fn put(out: &mut Vec<u8>, numbers: &[(u64, usize)]) {
    for (number, size) in numbers {
        out.extend_from_slice(&number.to_le_bytes()[..*size]);
    }
}

/// A file of 64 bits, or of 32, whose second function is called so.
pub fn file(wide: bool, name: &[u8]) -> Vec<u8> {
    let (word, header, program, section, symbol) = match wide {
        true => (8, 64, 56, 64, 24),
        false => (4, 52, 32, 40, 16),
    };
    let names = [b"\0_ZN3foo3barEv\0", name, b"\0"].concat();
    let note: Vec<u8> = [
        &[4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0][..],
        b"GNU\0",
        &[0xc0, 0xff, 0xee, 1, 2, 3, 4, 5],
    ]
    .concat();
    let notes = header + 2 * program;
    let symbols = notes + note.len() as u64;
    let strings = symbols + 3 * symbol;
    let sections = (strings + names.len() as u64).next_multiple_of(8);

    let mut out = b"\x7fELF".to_vec();
    out.extend([if wide { 2 } else { 1 }, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let machine = if wide { 62 } else { 3 };
    put(&mut out, &[(3, 2), (machine, 2), (1, 4), (0x1000, word)]);
    put(&mut out, &[(header, word), (sections, word), (0, 4)]);
    put(&mut out, &[(header, 2), (program, 2), (2, 2)]);
    put(&mut out, &[(section, 2), (3, 2), (0, 2)]);
    for (kind, offset, size) in [(1, 0, 0x2000), (4, notes, note.len() as u64)] {
        let (flags, align) = (5, 4);
        put(&mut out, &[(kind, 4)]);
        if wide {
            put(&mut out, &[(flags, 4)]);
        }
        put(&mut out, &[(offset, word), (offset, word), (offset, word)]);
        put(&mut out, &[(size, word), (size, word)]);
        if !wide {
            put(&mut out, &[(flags, 4)]);
        }
        put(&mut out, &[(align, word)]);
    }
    out.extend(note);
    for (name, info, index, start, size) in [
        (0, 0, 0, 0, 0),
        (1, 0x12, 1, 0x1000, 0x40),
        (15, 0x02, 1, 0x1040, 0),
    ] {
        put(&mut out, &[(name, 4)]);
        if wide {
            put(
                &mut out,
                &[(info, 1), (0, 1), (index, 2), (start, 8), (size, 8)],
            );
        } else {
            put(
                &mut out,
                &[(start, 4), (size, 4), (info, 1), (0, 1), (index, 2)],
            );
        }
    }
    out.extend(&names);
    out.resize(sections as usize, 0);
    for (kind, offset, size, link, each) in [
        (0, 0, 0, 0, 0),
        (2, symbols, 3 * symbol, 2, symbol),
        (3, strings, names.len() as u64, 0, 0),
    ] {
        // In memory, as the one of the functions would be.
        put(&mut out, &[(0, 4), (kind, 4), (2, word), (0, word)]);
        put(&mut out, &[(offset, word), (size, word), (link, 4), (1, 4)]);
        put(&mut out, &[(1, word), (each, word)]);
    }
    out
}
