//! A program's file, or a mangled name: names for addresses, whatever stands in the file.

use timeline::internal::symbols::{FileVersion, InlinedFunction, Module, Symbols, demangled};

use super::scratch::Scratch;

/// Bytes of the longest name.
const MOST: usize = 16 << 10;
/// Bytes of the longest path.
const MOST_OF_PATH: usize = 4096;

/// Reads an ELF file; what is none, as a name.
pub fn run(bytes: &[u8]) {
    if bytes.starts_with(b"\x7fELF") {
        file(bytes);
    } else {
        let name = String::from_utf8_lossy(bytes);
        let shown = demangled(&name);
        assert!(shown.len() <= MOST.max(name.len()), "{} bytes", shown.len());
    }
}

fn file(bytes: &[u8]) {
    let scratch = Scratch::new(bytes);
    let metadata = std::fs::metadata(scratch.path()).expect("written");
    let version = Some(FileVersion::of(&metadata));
    let module = |pid, base| Module {
        pid,
        base,
        start: 0,
        end: u64::MAX,
        path: scratch.path().into(),
        build_id: None,
        version,
    };
    let bases = [0, 0x40_0000, u64::MAX - 0xfff];
    let symbols = Symbols::new((1..).zip(bases).map(|(pid, base)| module(pid, base)));
    // Where small files have their code, and wherever they say.
    let stated = bytes
        .chunks_exact(8)
        .take(512)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    let near = (0..0x5000).step_by(0x83);
    // Where those with inlined functions have their code.
    let code = (0x40_1000..0x40_1030).chain(0x20_1120..0x20_1160);
    for address in near.chain(code).chain(stated).chain([u64::MAX - 1]) {
        for (pid, base) in (1..).zip(bases) {
            let at = base.wrapping_add(address);
            let Some(found) = symbols.resolve(pid, at) else {
                assert_eq!(at, u64::MAX, "the module is everywhere else");
                continue;
            };
            assert_eq!(found.base, base);
            assert_eq!(found.name.is_some(), found.start.is_some());
            if let Some(name) = &found.name {
                assert!(
                    !name.is_empty() && name.len() <= MOST,
                    "{} bytes",
                    name.len()
                );
            }
            let inlined = found.inlined.iter();
            assert!(inlined.len() <= InlinedFunction::MOST);
            let names = inlined.clone().filter_map(|called| called.name.as_ref());
            assert!(names.map(String::len).sum::<usize>() <= MOST);
            let sources = inlined.map(|called| &called.source).chain([&found.source]);
            for source in sources.flatten() {
                assert!(source.line > 0 && source.file.len() <= MOST_OF_PATH);
            }
            if let Some(behind) = at.checked_add(1) {
                assert_eq!(symbols.caller(pid, behind), Some(found));
            }
        }
    }
}
