//! A small archive with messages of several kinds, for targets that search.

use timeline_archive::{Form, PRINTF, RawEvent, Writer};

/// The bytes of the archive.
pub fn archive() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, 7, Form::Blocks);
    for number in 0..40_u64 {
        let mut event = RawEvent {
            ticks: Some(100 * number),
            unix_nanos: Some(1_700_000_000_000_000_000 + number),
            lane: Some(0),
            number: Some(number),
            ..RawEvent::default()
        };
        event.definition.category = Some(writer.string("net"));
        event.definition.level = Some(1 + number % 7);
        match number % 3 {
            0 => {
                event.definition.format = Some(writer.string("$bytes:u32 of $ratio:f64"));
                event.args = vec![number as i64, 0x3ff8_0000_0000_0000];
            }
            1 => {
                event.definition.format = Some(writer.string("got $id at $port"));
                event.args = vec![7_000_000_000 + number as i64, -1];
            }
            _ => {
                event.definition.syntax = Some(PRINTF);
                event.definition.format = Some(writer.string("said %s\nand Went"));
                event.payload = vec![0xd9, 3, b'E', b'7', b'a' + (number % 20) as u8];
            }
        }
        // Writing to a Vec does not fail.
        let _ = writer.event(&event);
        if number % 8 == 7 {
            let _ = writer.flush();
        }
    }
    let _ = writer.flush();
    drop(writer);
    bytes
}
