//! What the tests share: archives of known events, and a walk over the frames of a whole file.

use std::ops::Range;

use timeline::{Frame, InlinedFunction, SourceLine};
use timeline_archive::{Form, PRINTF, Preamble, RawDefinition, RawEvent, RawThread, Writer};

/// Arguments of `printf`, one of each type, and each with the bytes that stand for it.
pub const VALUES: [(&str, &[u8]); 22] = [
    ("int", &[0xd2, 0xff, 0xff, 0xff, 0xfe]),
    ("least int", &[0xd2, 0x80, 0, 0, 0]),
    ("unsigned", &[0xce, 0xff, 0xff, 0xff, 0xfe]),
    ("least long", &[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    (
        "greatest long",
        &[0xd3, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ),
    (
        "greatest unsigned long",
        &[0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ),
    ("pointer", &[0xcf, 0, 0, 0x7f, 0xff, 0, 0, 0, 0xc1]),
    ("double", &[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]),
    ("-0.0", &[0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0]),
    ("infinity", &[0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]),
    ("-infinity", &[0xcb, 0xff, 0xf0, 0, 0, 0, 0, 0, 0]),
    ("not a number", &[0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]),
    ("least double", &[0xcb, 0, 0, 0, 0, 0, 0, 0, 1]),
    (
        "long double",
        &[
            0xd8, 2, 1, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0, 0,
        ],
    ),
    ("text", &[0xd9, 3, b'a', 0xc3, 0xa4]),
    ("no text", &[0xd9, 0]),
    ("no UTF-8", &[0xda, 0, 2, 0xff, 0xc1]),
    ("long text", &[0xda, 0, 5, b'%', b's', 0, 0x1b, b'"']),
    ("cut text", &[0xc8, 0, 1, 1, b'c']),
    ("cut text of none", &[0xc8, 0, 0, 1]),
    ("null pointer", &[0xc0]),
    ("char", &[0xd2, 0, 0, 0, b'c']),
];

/// All of them, one after the other.
pub fn all_values() -> Vec<u8> {
    VALUES
        .iter()
        .flat_map(|(_, bytes)| bytes.to_vec())
        .collect()
}

/// So many functions that a compiler has put into another one.
fn inlined(count: u64) -> Vec<InlinedFunction> {
    let source = SourceLine {
        file: "/src/copy.h".into(),
        line: 300,
    };
    let named = (0..count).map(|number| InlinedFunction {
        name: Some(format!("copy_{number}")),
        source: (number > 0).then(|| source.clone()),
    });
    named.collect()
}

/// What an address of the program is called.
pub fn symbol(address: u64) -> Frame {
    Frame {
        address,
        file: Some("/lib/libc.so".into()),
        base: Some(0x7fff_0000),
        name: address.is_multiple_of(2).then(|| format!("at_{address:x}")),
        start: Some(address - 1),
        source: address.is_multiple_of(3).then(|| SourceLine {
            file: format!("/src/{address:x}.c"),
            line: address as u32,
        }),
        inlined: inlined(address % 3),
    }
}

/// Event `i` of a small program, which logs these four messages in turn: some of each field, but no
/// payload or call stack. The last message is a format of `printf`.
pub fn event_of(
    writer: &mut Writer<&mut Vec<u8>>,
    i: u64,
    messages: [&str; 4],
    thread: &str,
) -> RawEvent {
    let kind = (i % 4) as usize;
    RawEvent {
        definition: RawDefinition {
            file: i.is_multiple_of(2).then(|| writer.string("main.c")),
            line: i.is_multiple_of(2).then_some(i),
            level: Some(1 + i % 7),
            format: Some(writer.string(messages[kind])),
            category: Some(writer.string("net")),
            event: Some(1 + i % 4),
            syntax: (kind == 3).then_some(PRINTF),
            channels: None,
        },
        thread: RawThread {
            name: Some(writer.string(thread)),
            tid: Some(100 + i % 2),
            pid: Some(100),
            process: Some(writer.string("program")),
            ..RawThread::default()
        },
        ticks: Some(5_000 + 1_000 * i),
        unix_nanos: Some(1_700_000_000_000_000_000 + 333 * i),
        core: (i % 5 != 4).then_some(i % 4),
        lane: Some(i % 2),
        number: Some(i / 2),
        args: (0..[2, 0, 4, 0][kind]).map(|n| n - 3 * i as i64).collect(),
        ..RawEvent::default()
    }
}

/// An event of the program of [`archive`].
pub fn event(writer: &mut Writer<&mut Vec<u8>>, i: u64) -> RawEvent {
    let messages = [
        "got $bytes from $peer",
        "done",
        "lost $a $b $c $d",
        "%d of %s at %p",
    ];
    let mut payload = Vec::new();
    if i % 4 == 3 {
        let (_, value) = VALUES[i as usize / 4 % VALUES.len()];
        payload.extend([0xd2, 0, 0, 0, i as u8, 0xd9, 2, b'h', b'i']);
        payload.extend(value);
    }
    let backtrace = vec![0x7fff_0000 + i; (i % 3) as usize];
    for address in &backtrace {
        writer.symbol(Some(100), &symbol(*address));
    }
    RawEvent {
        payload,
        backtrace,
        ..event_of(writer, i, messages, &format!("worker {}", i % 2))
    }
}

/// An archive of `count` events of the program of this magic. Blocks hold ten events.
pub fn archive(magic: u64, form: Form, count: u64) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, magic, form);
    writer.preamble(&Preamble {
        magic: Some(magic),
        path: Some(format!("/bin/program-{magic}")),
        anchors: vec![(5_000, 1_700_000_000_000_000_000)],
        sha1: Some(vec![7; 20]),
        ..Preamble::default()
    });
    writer.missed(0, None, &[]).unwrap();
    for i in 0..count {
        let event = event(&mut writer, i);
        writer.event(&event).unwrap();
        if i % 10 == 9 {
            writer.flush().unwrap();
        }
    }
    writer.missed(3, Some(9), &[]).unwrap();
    writer.flush().unwrap();
    file
}

/// A frame around any record.
pub fn framed(record: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xc1, 0xce];
    frame.extend(crc32fast::hash(record).to_be_bytes());
    frame.extend([0xc1, 0xdb]);
    frame.extend((record.len() as u32).to_be_bytes());
    frame.extend(record);
    frame
}

/// The whole frame at `at`: where it ends, and its record.
pub fn frame_at(file: &[u8], at: usize) -> Option<(usize, &[u8])> {
    let rest = &file[at..];
    let head: &[u8; 8] = rest.first_chunk()?;
    if (head[0], head[1], head[6]) != (0xc1, 0xce, 0xc1) {
        return None;
    }
    let be = |bytes: &[u8]| bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b));
    let (start, length) = match head[7] {
        fixed @ 0xa0..=0xbf => (8, usize::from(fixed - 0xa0)),
        0xda => (10, be(rest.get(8..10)?)),
        0xdb => (12, be(rest.get(8..12)?)),
        _ => return None,
    };
    let record = rest.get(start..start + length)?;
    (be(&head[2..6]) == crc32fast::hash(record) as usize).then_some((at + start + length, record))
}

/// The frames of a whole file, with the tags of their records.
pub fn frames(file: &[u8]) -> Vec<(Range<usize>, u8)> {
    let (mut frames, mut at) = (Vec::new(), 0);
    while at < file.len() {
        let (end, record) = frame_at(file, at).expect("a whole frame");
        frames.push((at..end, record[0]));
        at = end;
    }
    frames
}
