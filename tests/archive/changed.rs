//! Tests what a reader gives of a file that is changed while the archive is open.

use std::fs;

use timeline_archive::{Archive, Form, RawEvent, Writer};

use crate::samples::frames;

#[test]
fn a_file_that_is_changed_after_it_was_opened_loses_what_was_changed() {
    let mut content = Vec::new();
    let mut writer = Writer::new(&mut content, 7, Form::Plain);
    for i in 0..100 {
        let event = RawEvent {
            ticks: Some(i),
            args: vec![i as i64; 4],
            ..RawEvent::default()
        };
        writer.event(&event).unwrap();
    }
    writer.flush().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.tla");
    fs::write(&path, &content).unwrap();
    let archive = Archive::open(&path).unwrap();
    let expected: Vec<_> = archive.events().collect();
    // The last argument of an event: nothing but a checksum tells.
    let (place, _) = frames(&content)[40].clone();
    content[place.end - 1] ^= 1;
    fs::write(&path, &content).unwrap();
    let changed: Vec<_> = archive.events().collect();
    assert_eq!(changed.len(), 99);
    assert!(changed.iter().all(|event| expected.contains(event)));
    assert_eq!(archive.recoverable(), (99, 1));
}
