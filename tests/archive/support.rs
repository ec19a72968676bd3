//! What the tests share: archives of known events, and a walk over the frames of a whole file.

use std::ops::Range;

use timeline::archive::{Data, Form, Kind, Preamble, Recorded, Source, Writer};

/// An event of a small program: some of each field.
pub fn event(writer: &mut Writer<&mut Vec<u8>>, i: u64) -> Data {
    let messages = ["got $bytes from $peer", "done", "lost $a $b $c $d"];
    let kind = (i % 3) as usize;
    Data {
        magic: None,
        kind: Kind {
            file: i.is_multiple_of(2).then(|| writer.string("main.c")),
            line: i.is_multiple_of(2).then_some(i),
            level: Some(1 + i % 7),
            format: Some(writer.string(messages[kind])),
            category: Some(writer.string("net")),
            event: Some(1 + i % 3),
            syntax: None,
        },
        source: Source {
            thread: Some(writer.string(&format!("worker {}", i % 2))),
            tid: Some(100 + i % 2),
            pid: Some(100),
            process: Some(writer.string("program")),
        },
        ticks: Some(5_000 + 1_000 * i),
        unix_nanos: Some(1_700_000_000_000_000_000 + 333 * i),
        core: (i % 5 != 4).then_some(i % 4),
        lane: Some(i % 2),
        number: Some(i / 2),
        args: (0..[2, 0, 4][kind]).map(|n| n - 3 * i as i64).collect(),
        payload: Vec::new(),
        backtrace: vec![0x7fff_0000 + i; (i % 4) as usize],
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

/// The frames of a whole file, found by their lengths alone, with the tags of their records.
pub fn frames(file: &[u8]) -> Vec<(Range<usize>, u8)> {
    let mut frames = Vec::new();
    let mut at = 0;
    while at < file.len() {
        assert_eq!((file[at], file[at + 1], file[at + 6]), (0xc1, 0xce, 0xc1));
        let be = |from: usize, size: usize| {
            let bytes = &file[from..from + size];
            bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b))
        };
        let (record, length) = match file[at + 7] {
            0xda => (at + 10, be(at + 8, 2)),
            0xdb => (at + 12, be(at + 8, 4)),
            fixed => (at + 8, usize::from(fixed - 0xa0)),
        };
        frames.push((at..record + length, file[record]));
        at = record + length;
    }
    frames
}

/// An event in numbers only, which need no other frame.
pub fn numbers(event: &Recorded) -> (u64, Option<u64>, Option<u64>, Vec<i64>, Vec<u64>) {
    let (args, backtrace) = (event.args.clone(), event.backtrace.clone());
    (
        event.statement.magic,
        event.ticks,
        event.number,
        args,
        backtrace,
    )
}
