//! Symbols with places in the source and inlined functions, as independent writers make them.

use serde_json::{Value, json};
use timeline_archive::{Archive, Symbol};

use crate::support::root;

/// The inlined functions of a symbol: of each the name, the file and the line.
pub fn inlined(symbol: &Symbol) -> Vec<Value> {
    let places = symbol.inlined.iter().map(|called| {
        let place = called.source.as_ref().map(|at| (&at.file, at.line));
        let (file, line) = place.unzip();
        json!([called.name, file, line])
    });
    places.collect()
}

/// Fails unless the symbols are there that tests/python/write_archive.py writes.
pub fn has_symbols_by_hand(archive: &Archive) {
    let symbol = archive.symbol(7, Some(12), 0xffff_ffff_8000_0001).unwrap();
    let texts = (symbol.file.as_deref(), symbol.name.as_deref());
    assert_eq!(texts, (Some("libc"), Some("main")));
    assert_eq!((symbol.base, symbol.start), (Some(1), Some(2)));
    assert_eq!(
        (symbol.source.as_deref(), symbol.line),
        (Some("main.c"), Some(34))
    );
    let copied = json!(["copy", "copy.h", 70_000]);
    let nothing = json!([null, null, null]);
    let unnamed = json!([null, "b.h", 5]);
    let expected = [&copied, &nothing, &nothing, &unnamed, &nothing];
    assert_eq!(inlined(symbol).iter().collect::<Vec<_>>(), expected);
    assert_eq!(archive.symbol(7, None, 9).unwrap().name, None);
    let other = archive.symbol(7, Some(13), 0xffff_ffff_8000_0001).unwrap();
    assert_eq!((other.name.as_deref(), other.base), (Some("other"), None));
    // Without a process, for all.
    assert!(archive.symbol(7, Some(99), 9).is_some());
    assert!(archive.symbol(7, Some(99), 0xffff_ffff_8000_0001).is_none());
}

#[test]
fn the_golden_file_has_its_places() {
    let archive = Archive::open(root().join("tests/data/v1-lines.tla")).unwrap();
    let symbol = archive.symbol(7, Some(12), 0x1005).expect("a symbol");
    let place = (symbol.source.as_deref(), symbol.line);
    assert_eq!(place, (Some("/src/net.c"), Some(34)));
    let copied = [
        json!(["copy", "/src/copy.h", 12]),
        json!([null, null, null]),
    ];
    assert_eq!(inlined(symbol), copied);
}
