//! The inputs for targets that search: indexes, and what people write to say what they want.

use timeline_archive::Archive;
use timeline_search::Index;

use super::targets::sample;

/// Indexes: of the archive that the target searches, and of another one.
pub fn indexes() -> Vec<(&'static str, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("flight.tla");
    let index = |archive: &[u8]| {
        std::fs::write(&path, archive).expect("written");
        let archive = Archive::open(&path).expect("an archive");
        Index::open(&archive).update(|_| ()).expect("written");
        std::fs::read(folder.path().join("flight.tla.idx")).expect("an index")
    };
    let archive = sample::archive();
    let half = index(&archive[..archive.len() / 2]);
    vec![
        ("beginning", half.clone()),
        // It grows.
        ("whole", index(&archive)),
        ("nothing", Vec::new()),
        ("foreign", half[..half.len() - 7].to_vec()),
    ]
}

/// Conditions, texts, times and ranges.
pub fn queries() -> Vec<(&'static str, Vec<u8>)> {
    [
        (
            "condition",
            "bytes > 1.5KiB && (id == 7000000001 || !($0 <= -0x1f)) or name ~ \"^e[0-9]\"",
        ),
        ("text", "'it\\'s' != said and ratio >= 1e9"),
        ("pattern", "(?i)7(0{3,9}|a\\b)+.*[^k-s]$"),
        ("time", "2026-11-23T14:03:07.5+02:00"),
        ("ago", "1h30m ago"),
        ("range", "warning..trace"),
        ("list", "0-3, 8,10-10"),
    ]
    .map(|(name, text)| (name, text.as_bytes().to_vec()))
    .to_vec()
}
