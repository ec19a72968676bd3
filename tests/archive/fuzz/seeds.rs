//! Makes the inputs that fuzzing begins with.
//! They are small archives in each form, records, rings, formats and programs, as they are made
//! today.

use std::mem::offset_of;

use rmp::decode::{read_bin_len, read_int, read_map_len, read_pfix, read_str_len};
use timeline::internal::layout::Header;
use timeline::internal::{Record, values};
use timeline::{Attached, Frame, Module, Priority, Timeline, Value, lay_out};
use timeline_archive::{
    Archive, ArchiveOutput, Form, Keeping, Preamble, ProcessRecord, RawEvent, Recorder, Writer,
};

use super::targets::{archive_framed, frames, ring, scratch::Scratch};
use super::{connections, elf, intervals, searching};
use crate::samples::event_of;
use crate::support::Name;

/// The target, a name, and the bytes.
pub type Seed = (&'static str, String, Vec<u8>);

/// All of them.
pub fn all() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let mut add = |target, name: &str, bytes| seeds.push((target, name.to_owned(), bytes));
    for (name, file) in archives() {
        add("archive_framed", name, parts(&file));
        add("archive", name, file);
    }
    add("archive_framed", "odd-blocks", odd_blocks());
    for (name, bytes) in formats() {
        add("printf", name, bytes);
    }
    let connections = connections::all().into_iter();
    connections.for_each(|(name, bytes)| add("connection", name, bytes));
    for (name, bytes) in intervals::all() {
        add("intervals", name, bytes);
    }
    for (name, bytes) in searching::indexes() {
        add("index", name, bytes);
    }
    for (name, bytes) in searching::queries() {
        add("query", name, bytes);
    }
    for (name, bytes) in continued() {
        add("resume", name, bytes);
    }
    for (name, bytes) in changes() {
        add("ring", name, bytes);
    }
    add("ring", "header", ring::sound(0)[..0x1000].to_vec());
    for (name, bytes) in programs() {
        add("symbols", name, bytes);
    }
    seeds
}

/// Each value that printf takes, packed.
fn payload() -> Vec<u8> {
    let mut long = [0; 16];
    long[7..10].copy_from_slice(&[0x80, 0xff, 0x3f]);
    let text = |bytes, cut| Value::Text { bytes, cut };
    let mut packed = Vec::new();
    for value in [
        Value::Int(-3),
        Value::Int(i64::MIN),
        Value::Uint(7),
        Value::Uint(u64::MAX),
        Value::Float(2.25),
        Value::LongDouble(long),
        text(b"eth0", false),
        text(b"beginn", true),
        Value::Nil,
    ] {
        value.encode(&mut packed);
    }
    packed
}

const FORMAT: &str = "%d %ld %u %lu %5.1f %Lg %s %-8s %s";

/// An event of a small program: some of each field.
fn event(writer: &mut Writer<&mut Vec<u8>>, i: u64) -> RawEvent {
    let messages = ["got $bytes from $peer", "done", "lost $a $b $c $d", FORMAT];
    RawEvent {
        next: (i % 8 == 3).then_some(i / 2 + 3),
        payload: if i % 4 == 3 { payload() } else { Vec::new() },
        backtrace: vec![0x7fff_0000 + i % 3; (i % 3) as usize],
        ..event_of(writer, i, messages, ["first", "second"][(i % 2) as usize])
    }
}

pub fn archive(magic: u64, form: Form, count: u64) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, magic, form);
    writer.preamble(&Preamble {
        magic: Some(magic),
        path: Some("/bin/program".into()),
        timeline: Some("/timeline".into()),
        anchors: vec![(5_000, 1_700_000_000_000_000_000)],
        sha1: Some(vec![7; 20]),
        created: Some(1_700_000_000_000_000_000),
        nodes: vec![0, 0, 1, 255],
        ..Preamble::default()
    });
    for (pid, joined) in [(100, 1), (100, 2), (101, 1)] {
        writer.process(&ProcessRecord {
            magic: Some(magic),
            pid: Some(pid),
            joined: Some(joined),
            name: Some("program".into()),
            path: Some("/bin/program".into()),
            size: Some(4_711),
            sha1: (joined == 1).then(|| vec![7; 20]),
        });
    }
    let module = "100 7ff00000 7ff00000 80000000 c0ffee /lib/library.so";
    writer.module(&timeline::Module::parse(module).expect("a module"));
    writer.missed(0, None, &[]).expect("memory");
    for address in 0x7fff_0000..0x7fff_0003 {
        let frame = Frame {
            file: Some("/lib/library.so".into()),
            base: Some(0x7ff0_0000),
            name: Some("_ZN3foo3barEv".into()),
            start: Some(0x7fff_0000),
            ..Frame::unknown(address)
        };
        writer.symbol(Some(100), &frame);
    }
    for i in 0..count {
        let event = event(&mut writer, i);
        writer.event(&event).expect("memory");
        if i % 10 == 9 {
            writer.flush().expect("memory");
            let next = self::event(&mut writer, i + 1);
            writer.gap(&next, 3, i % 20).expect("memory");
        }
    }
    writer
        .missed(3, Some(9), &[(0, 5), (1, 4)])
        .expect("memory");
    writer.flush().expect("memory");
    drop(writer);
    file
}

fn archives() -> Vec<(&'static str, Vec<u8>)> {
    let (plain, blocks) = (archive(7, Form::Plain, 12), archive(8, Form::Blocks, 24));
    let mut damaged = [plain.as_slice(), &blocks].concat();
    damaged[20] ^= 1;
    damaged[plain.len() / 2] ^= 0x80;
    damaged.truncate(damaged.len() - 5);
    vec![
        ("joined", [blocks.as_slice(), &plain, &plain].concat()),
        ("plain", plain),
        ("blocks", blocks),
        ("damaged", damaged),
        ("doubles", doubles()),
        ("golden", include_bytes!("../../data/v1.tla").to_vec()),
    ]
}

/// A recorder's block, whose doubles are stored as decimals, by differences, and as they are.
fn doubles() -> Vec<u8> {
    let ring = ring_of(&|timeline| {
        let message = "$sum:f64 $third:f64 $mixed:f64 of $name:str";
        let event = timeline.define("net", Priority::Info, message);
        let event = event.expect("defined");
        for i in 0..40_u64 {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let sum = (i % 7) as f64 / 100.0 - 3.0;
            let third = 1e5 + i as f64 / 3.0;
            let numbers = [sum, third, f64::from_bits(mixed)].map(Value::Float);
            let name = Value::Text {
                bytes: b"eth0",
                cut: false,
            };
            let words = lay_out(&[&numbers[..], &[name]].concat());
            timeline.log_payload(event, &words, false);
        }
    });
    let ring = Scratch::new(&ring);
    recorded(
        &Attached::open(ring.path()).expect("a sound ring"),
        Form::Blocks,
    )
}

fn part(kind: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend((content.len() as u16).to_le_bytes());
    out.extend(content);
}

/// An archive as the parts that make it: records without their frames, blocks expanded.
fn parts(file: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    for frame in frames::whole(file) {
        if at < frame.place.start {
            part(
                archive_framed::DAMAGE,
                &file[at..frame.place.start],
                &mut out,
            );
        }
        at = frame.place.end;
        let record = &file[frame.record];
        match record[0] {
            16 => part(archive_framed::BLOCK, &block(record), &mut out),
            _ => part(archive_framed::RECORD, record, &mut out),
        }
    }
    if at < file.len() {
        part(archive_framed::DAMAGE, &file[at..], &mut out);
    }
    out
}

/// What `archive_framed` makes this block of; its fields stand in the order of their numbers.
fn block(mut record: &[u8]) -> Vec<u8> {
    let input = &mut record;
    assert_eq!(read_pfix(input).ok(), Some(16));
    let fields = read_map_len(input).expect("fields");
    let (mut magic, mut expanded, mut count) = (0u64, 0u64, 0u64);
    let mut flags = archive_framed::TIMED;
    for _ in 0..fields {
        match read_pfix(input).expect("a field") {
            1 => magic = read_int(input).expect("a number"),
            2 => {
                let length = read_str_len(input).expect("a codec") as usize;
                let (codec, rest) = input.split_at(length);
                match codec {
                    b"lz4" => (),
                    b"lz4+columns" => flags |= archive_framed::COLUMNS,
                    codec => panic!("{codec:?} cannot be made of parts"),
                }
                *input = rest;
            }
            3 => expanded = read_int(input).expect("a number"),
            4 => count = read_int(input).expect("a number"),
            9 => break,
            _ => drop(read_int::<u64, _>(input)),
        }
    }
    let length = read_bin_len(input).expect("a payload") as usize;
    let payload = lz4_flex::block::decompress(&input[..length], expanded as usize);
    let [low, high] = (count as u16).to_le_bytes();
    let mut part = vec![flags, magic as u8, low, high];
    part.extend(payload.expect("LZ4"));
    part
}

/// Blocks that promise what they do not hold, and of a codec that is not known.
fn odd_blocks() -> Vec<u8> {
    let mut out = Vec::new();
    for (head, expanded) in [
        (
            [0, 1, 2, 0],
            &[
                0, 0, 0, 0, 1, 0, 1, 0, 8, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0,
            ][..],
        ),
        ([archive_framed::OTHER_CODEC, 1, 2, 0], b"something else"),
        ([archive_framed::TIMED, 1, 0xff, 0xff], b""),
    ] {
        part(archive_framed::BLOCK, &[&head, expanded].concat(), &mut out);
    }
    part(archive_framed::RECORD, &[99, 0x80], &mut out);
    out
}

fn formats() -> Vec<(&'static str, Vec<u8>)> {
    let with = |format: &str, payload: &[u8]| [format.as_bytes(), &[0], payload].concat();
    vec![
        ("each-type", with(FORMAT, &payload())),
        (
            "fields",
            with(
                "%#08.3x|%-+ 9d|%*.*f|%.*s|%'05i|%lc|%ls|%p|%hhd|%a|%%|%n",
                &payload(),
            ),
        ),
        ("unknown", with("%1$d %m", &payload())),
        (
            "names",
            with("got $bytes from $peer, $a-$b\nexplained", &[1; 40]),
        ),
        (
            "object",
            b"4711 7f31000 7f31000 7f32400 c0ffee /usr/lib/a%20b.so.1".to_vec(),
        ),
    ]
}

/// A ring, of which nothing says where it was made.
fn anonymous(mut file: Vec<u8>) -> Vec<u8> {
    Header::edit(&mut file, |h| {
        h.created_unix = 1_700_000_000_000_000_000.into();
        h.creator_pid = u32::MAX.into();
        h.boot_id = [7; 16].map(Into::into);
        let mut exe = [0; 256];
        exe[..12].copy_from_slice(b"/bin/program");
        h.creator_exe = exe.map(Into::into);
    });
    ring::seal(&mut file);
    file
}

/// A ring with these events.
fn ring_of(log: &(dyn Fn(&Timeline) + Sync)) -> Vec<u8> {
    let name = Name::new("seed");
    let timeline = Timeline::with_size(name.path(), 256, 1024).expect("created");
    // By a thread whose name says nothing of the test.
    let thread = std::thread::Builder::new().name("logs".into());
    std::thread::scope(|scope| {
        let spawned = thread.spawn_scoped(scope, || log(&timeline));
        spawned.expect("a thread").join().expect("logged");
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("seed.timeline");
    timeline.save(&file).expect("saved");
    anonymous(std::fs::read(file).expect("read"))
}

/// The rings that [`ring::sound`] has; made anew when the format grows.
pub fn rings() -> [(&'static str, Vec<u8>); 2] {
    let integers = ring_of(&|timeline| {
        let event = timeline.define("net", Priority::Info, "got $a $b $c $d");
        let event = event.expect("defined");
        (0..40).for_each(|i| timeline.log(event, [i, -i, i << 40, 7]));
    });
    let payloads = ring_of(&|timeline| {
        let short = timeline.define("net", Priority::Error, "plain\nexplained");
        let long = timeline.define_printf(
            "net",
            Priority::Info,
            FORMAT,
            ("main.c", 7),
            &Default::default(),
        );
        let (short, long) = (short.expect("defined"), long.expect("defined"));
        let module = Module::parse("100 400000 400000 408000 - /bin/program");
        let defined = timeline.define_module(&module.expect("a module"));
        defined.expect("defined");
        let packed = payload();
        let all: Vec<Value> = values(&packed).collect();
        let words = lay_out(&all);
        let stack = [vec![2, 0x40_1005, 0x40_1043], words.clone()].concat();
        let message = "to $host:istr of $size:u32 by $who:istr";
        let sent = timeline.define("net", Priority::Info, message);
        let sent = sent.expect("defined");
        let text = |bytes| Value::Text { bytes, cut: false };
        for i in 0..8 {
            let host = text(if i % 2 == 0 {
                b"eth0"
            } else {
                b"a longer name"
            });
            let mut sizes = lay_out(&[host, Value::Uint(i as u64), text(b"worker")]);
            timeline.log_interned(sent, &mut sizes, &[1, 0, 1], 0b101);
            timeline.log(short, []);
            timeline.log_payload(long, &stack[..stack.len() - i], true);
            timeline.log_payload(long, &words, false);
        }
    });
    let rings = [("integers", integers), ("payload", payloads)];
    rings.map(|(name, ring)| (name, lz4_flex::compress_prepend_size(&ring)))
}

/// Lists of changes to the sound rings: where, and what.
fn changes() -> Vec<(&'static str, Vec<u8>)> {
    let list = |which: u8, changes: &[(usize, &[u8])]| {
        let mut list = vec![which];
        for (at, new) in changes {
            list.extend(&at.to_le_bytes()[..3]);
            list.push(new.len() as u8);
            list.extend(*new);
        }
        list
    };
    let late = u64::MAX.to_le_bytes();
    vec![
        ("integers", list(0, &[])),
        ("payload", list(1, &[])),
        ("live", list(1, &[(offset_of!(Header, flags), &[0])])),
        (
            "levels",
            list(
                0,
                &[
                    (offset_of!(Header, level), &[3]),
                    (offset_of!(Header, boost), &[8]),
                ],
            ),
        ),
        (
            "defined",
            list(1, &[(offset_of!(Header, defined), &[0xff; 4])]),
        ),
        (
            "strings",
            list(1, &[(offset_of!(Header, strings_used), &[0xff; 8])]),
        ),
        // All of the process table, with executables of any version at a place that never ends.
        (
            "endless-processes",
            list(
                0,
                &[
                    (0x5000, &[&[1, 0, 1, 0][..], &[0xff; 60]].concat()),
                    (0x5040, b"/dev/zero\0"),
                    (0x5180, &[0xff; 200]),
                ],
            ),
        ),
        // A program that never ends; newer than the ring it would not be read.
        (
            "endless-program",
            list(
                0,
                &[
                    (offset_of!(Header, created_unix), &late),
                    (offset_of!(Header, creator_exe), b"/dev/zero\0\0\0"),
                ],
            ),
        ),
    ]
}

/// What a recorder makes of a ring.
fn recorded(attached: &Attached, form: Form) -> Vec<u8> {
    let file = Scratch::new(b"");
    let mut output = ArchiveOutput::open(file.path(), Keeping::default()).expect("an output");
    let mut recorder = Recorder::new(attached, &mut output, form).expect("a recorder");
    while recorder.step() {}
    recorder.finish();
    without_host(&file.content())
}

/// What recorders of the ring with payloads leave: all, some of it, something damaged, and of other
/// rings.
fn continued() -> Vec<(&'static str, Vec<u8>)> {
    let ring = Scratch::new(ring::sound(1));
    let attached = Attached::open(ring.path()).expect("a sound ring");
    let [plain, blocks] = [Form::Plain, Form::Blocks].map(|form| recorded(&attached, form));
    let mut damaged = plain.clone();
    damaged[plain.len() / 2] ^= 1;
    let preamble = blocks[..Archive::from_bytes(&blocks[..blocks.len() / 3]).whole()].to_vec();
    vec![
        ("torn", plain[..plain.len() * 2 / 3].to_vec()),
        ("plain", plain),
        ("blocks", blocks),
        ("beginning", preamble),
        ("damaged", damaged),
        ("other", archive(7, Form::Plain, 3)),
        ("foreign", b"my diary".to_vec()),
        ("nothing", Vec::new()),
    ]
}

/// The same archive, recorded on no machine that there is.
fn without_host(file: &[u8]) -> Vec<u8> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let host = host.trim_end().as_bytes();
    let mut out = Vec::new();
    for frame in frames::whole(file) {
        let mut record = file[frame.record].to_vec();
        let mut places = record.windows(host.len().max(1));
        if record[0] == 0
            && let Some(at) = places.position(|place| place == host)
        {
            record[at..][..host.len()].fill(b'h');
        }
        frames::put(&record, &mut out);
    }
    out
}

fn programs() -> Vec<(&'static str, Vec<u8>)> {
    let main = b"main@@VERSION_1";
    let mut fixed = elf::file(true, main);
    fixed[0x10] = 2;
    vec![
        ("elf64", elf::file(true, main)),
        ("elf32", elf::file(false, main)),
        ("elf64-fixed", fixed),
        // Each byte is shown as three.
        ("no-text", elf::file(true, &[0xff; 6 << 10])),
        ("cpp", b"_ZNSt6vectorIiSaIiEE9push_backEOi".to_vec()),
        (
            "rust",
            b"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate".to_vec(),
        ),
        (
            "rust-old",
            b"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE".to_vec(),
        ),
    ]
}
