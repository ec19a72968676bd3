//! A text log: it comes back byte for byte.

use std::time::{Duration, UNIX_EPOCH};

use jiff::tz::TimeZone;
use timeline_archive::{Archive, Preamble};
use timeline_import::{CLOCK, Importer, LineWriter};

/// Imports the bytes, whose first says how many of the others are read at once.
pub fn run(bytes: &[u8]) {
    let Some((most, log)) = bytes.split_first() else {
        return;
    };
    let preamble = Preamble {
        magic: Some(7),
        clock: Some(CLOCK.into()),
        ..Preamble::default()
    };
    let mut file = Vec::new();
    let mut importer = Importer::new(&mut file, preamble, TimeZone::UTC).expect("memory");
    let mut lines = importer.begin("a.log", UNIX_EPOCH + Duration::from_secs(1_795_442_587));
    for (number, piece) in log.chunks(1 + 7 * usize::from(*most)).enumerate() {
        let mut piece = piece;
        while importer.read(&mut lines, &mut piece).expect("memory") > 0 {}
        if number == 5 {
            importer.flush().expect("memory");
        }
    }
    importer.end(&mut lines).expect("memory");
    importer.flush().expect("memory");
    drop(importer);
    let archive = Archive::from_bytes(file);
    assert!(archive.damage().is_empty());
    let (mut writer, mut again) = (LineWriter::default(), Vec::new());
    for event in archive.events() {
        writer.write(&event, &mut again);
    }
    assert!(again == log, "{} bytes of {}", again.len(), log.len());
}
