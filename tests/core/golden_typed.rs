//! A snapshot with events of every type: every later version shows the same values.
//!
//! tests/data/v1-typed.timeline was put together from docs/format.md, as v1.timeline was (see
//! golden.rs), and is made anew in the same way. The values it is to show stand below.

use std::sync::Once;

use timeline::internal::layout::Geometry;
use timeline::internal::layout::header::Header;
use timeline::internal::layout::records::Definition;
use timeline::internal::layout::words::{
    FLAG_BACKTRACE, FLAG_PAYLOAD, LAST_WORDS_SHIFT, entry_thread, long_entry_head,
};
use timeline::internal::{Record, fields};
use timeline::{Attached, FieldType, Level, Order, Priority, Syntax};

use crate::golden::{EPOCH, TICKS, data, dumped, fnv1a};
use crate::support::{
    Name, anchor, begin_snapshot, padded, put_chunk, put_string, put_thread, seal,
};

const CUT: u64 = 1 << 63;
const NULL: u64 = 1 << 62;

/// The place of the format.
const FILE: &str = "file.c";
const LINE: u32 = 7;

/// The kind of the record, the message, the words of the values, and what is shown.
struct Case {
    kind: u8,
    message: &'static str,
    words: Vec<u64>,
    shown: &'static str,
}

fn case(message: &'static str, words: Vec<u64>, shown: &'static str) -> Case {
    Case {
        kind: 1,
        message,
        words,
        shown,
    }
}

/// Words of numbers, and behind them texts, each from a new word on.
fn words(numbers: &[u64], texts: &[&[u8]]) -> Vec<u64> {
    let texts = texts.iter().flat_map(|text| text.chunks(8));
    let data = texts.map(|part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    });
    numbers.iter().copied().chain(data).collect()
}

fn bytes<const N: usize>(elements: &[[u8; N]]) -> Vec<u8> {
    elements.concat()
}

fn cases() -> Vec<Case> {
    numbers().into_iter().chain(texts()).collect()
}

fn numbers() -> Vec<Case> {
    let minus = |number: i64| number as u64;
    vec![
        case(
            "signed $a:i8 $b:i16 $c:i32 $d:i64 $e:i8 $f:i16",
            words(&[0x80, 0x8000, 0xffff_ffff, 1 << 63, 127, minus(-5)], &[]),
            "signed a(-128) b(-32768) c(-1) d(-9223372036854775808) e(127) f(-5)",
        ),
        case(
            "unsigned $a:u8 $b:u16 $c:u32 $d:u64 $e:u8",
            words(&[255, 0xffff, 0xffff_ffff, u64::MAX, 0x100], &[]),
            "unsigned a(255) b(65535) c(4294967295) d(18446744073709551615) e(0)",
        ),
        case(
            "others $a:f32 $b:f64 $c:bool $d:char $e:hex $f:ptr",
            words(
                &[
                    u64::from(0.75_f32.to_bits()),
                    (-0.25_f64).to_bits(),
                    1,
                    0xdf,
                    0x1f,
                    0x7f00_0000_1000,
                ],
                &[],
            ),
            "others a(0.75) b(-0.25) c(true) d(ß) e(0x1f) f(0x7f0000001000)",
        ),
        case(
            "units $took:ns $at:time $size:bytes $color:enum(red=1,green=2) $mode:flags(r=1,w=2)",
            words(&[12_500, 1_000_000_000, 1536, 2, 0x13], &[]),
            "units took(12.5µs) at(1970-01-01T00:00:01.000000000Z) size(1.5 KiB) color(green) \
             mode(r|w|0x10)",
        ),
        case(
            "four $a:f64 $b:enum(no=0,yes=1) $c:bool $d:ns",
            words(&[2.5_f64.to_bits(), 1, 0, 1], &[]),
            "four a(2.5) b(yes) c(false) d(1ns)",
        ),
    ]
}

fn texts() -> Vec<Case> {
    let delays = bytes(&[0.5_f64.to_le_bytes(), (-3.0_f64).to_le_bytes()]);
    let ratios = bytes(&[0.25_f32.to_le_bytes(); 3]);
    let shorts = bytes(&[(-1_i16).to_le_bytes(), 7_i16.to_le_bytes()]);
    let format = Case {
        kind: 2,
        message: "%s took %d us, %.2f of all, %lu at %p",
        words: words(
            &[4, -7_i64 as u64, 0.5_f64.to_bits(), u64::MAX, 0x10],
            &[b"read"],
        ),
        shown: "read took -7 us, 0.50 of all, 18446744073709551615 at 0x10",
    };
    vec![
        case(
            "texts $a:str $b:wstr $c:str $d:istr $e:str",
            words(
                &[7, 3, NULL, 9, 0],
                &["größe".as_bytes(), b"one", b"nine byte"],
            ),
            "texts a(größe) b(one) c((null)) d(nine byte) e()",
        ),
        case(
            "cut $a:str of $b:u32[]",
            words(&[CUT | 8, CUT | 1], &[b"eight by", &[1, 2, 0, 0]]),
            "cut a(eight by…) of b([513, …])",
        ),
        case(
            "arrays $a:f64[] $b:f32[] $c:i16[] $d:u8[] $e:u64[]",
            words(&[2, 3, 2, 0, 1], &[&delays, &ratios, &shorts, &[255; 8]]),
            "arrays a([0.5, -3.0]) b([0.25, 0.25, 0.25]) c([-1, 7]) d([]) \
             e([18446744073709551615])",
        ),
        format,
    ]
}

/// Whether these are the words of an event of one entry without a payload.
fn is_plain(case: &Case) -> bool {
    case.words.len() <= 4 && case.words.len() == fields(case.message).count()
}

/// The entries of an event, of which every second one with a payload has a call stack.
fn entries(id: u32, case: &Case, word: u64) -> Vec<[u64; 8]> {
    let (ticks, core) = (TICKS + 1000 * u64::from(id), id as u16 % 3);
    let mut words = case.words.clone();
    if is_plain(case) {
        words.resize(5, 0);
        let mut entry = [ticks, long_entry_head(id, core, 1, 0), word, 0, 0, 0, 0, 0];
        entry[3..].copy_from_slice(&words);
        return vec![entry];
    }
    let mut flags = FLAG_PAYLOAD;
    if id.is_multiple_of(2) {
        words.splice(..0, [2, 0x1000, 0x2000]);
        flags |= FLAG_BACKTRACE;
    }
    let (first, rest) = words.split_at(5.min(words.len()));
    let rest: Vec<_> = rest.chunks(6).collect();
    let last = rest.last().map_or(first.len(), |last| last.len());
    let slots = 1 + rest.len() as u8;
    flags |= (last as u8) << LAST_WORDS_SHIFT;
    let mut entry = [0; 8];
    entry[..3].copy_from_slice(&[ticks, long_entry_head(id, core, slots, flags), word]);
    entry[3..3 + first.len()].copy_from_slice(first);
    let mut all = vec![entry];
    for (position, part) in (1..).zip(rest) {
        let mut entry = [0; 8];
        entry[..2].copy_from_slice(&[ticks, long_entry_head(0, core, 0, position)]);
        entry[2..2 + part.len()].copy_from_slice(part);
        all.push(entry);
    }
    all
}

/// Of priority, category, NUL, message; of a format also NUL, its kind, line and file.
fn hash(case: &Case) -> u64 {
    let (head, line) = (&[Priority::Info as u8], LINE.to_le_bytes());
    let place: &[&[u8]] = if case.kind == 2 {
        &[&[0, 2], &line, FILE.as_bytes()]
    } else {
        &[]
    };
    let text: &[&[u8]] = &[head, b"typed\0", case.message.as_bytes()];
    fnv1a(&[text, place].concat())
}

/// The snapshot, put together record by record.
fn made() -> Vec<u8> {
    let g = Geometry::new(256, 2048);
    let mut b = vec![0; g.total as usize];
    begin(&mut b, &g);
    let chunks = tables(&mut b, &g);
    let lane = u64::from(g.cpu_lanes);
    for (number, entries) in (0..).zip(&chunks) {
        put_chunk(&mut b, &g, (100 + number, lane, 16 * number), entries);
    }
    Header::edit(&mut b, |h| {
        h.next_ticket = (100 + chunks.len() as u64).into()
    });
    b
}

fn begin(b: &mut [u8], g: &Geometry) {
    Header::edit(b, |h| {
        begin_snapshot(h, g);
        h.created_unix = EPOCH.into();
        h.created_ticks = TICKS.into();
        h.creator_pid = 4000.into();
        h.boot_id = [0xa5; 16].map(Into::into);
        h.creator_exe = padded("/usr/bin/program");
        seal(h);
        h.level = u32::from(Level::from(Priority::App).get()).into();
        for (slot, nanoseconds) in [(0, 0), (1, 1_000_000_000)] {
            let (ticks, realtime) = (TICKS + 3 * nanoseconds, EPOCH + nanoseconds);
            h.anchors[slot] = anchor(slot, ticks, nanoseconds + 77, realtime);
        }
        h.anchors_taken = 2.into();
        h.defined = (cases().len() as u32 + 1).into();
    });
}

/// The definitions and the thread; the entries of events, by chunks.
fn tables(b: &mut [u8], g: &Geometry) -> Vec<Vec<[u64; 8]>> {
    let identity = 9 << 16;
    put_thread(b, g, 0, identity, (4001, 4000, "worker", "program"));
    let mut used = 1;
    let category = put_string(b, g, &mut used, "typed");
    let file = put_string(b, g, &mut used, FILE);
    let mut chunks: Vec<Vec<[u64; 8]>> = vec![Vec::new()];
    for (id, case) in (1..).zip(cases()) {
        let message = put_string(b, g, &mut used, case.message);
        Definition::edit(&mut b[g.definition().at(id) as usize..], |definition| {
            definition.category = category.into();
            definition.message = message.into();
            definition.priority = (Priority::Info as u8).into();
            definition.kind = case.kind.into();
            definition.hash = hash(&case).into();
            if case.kind == 2 {
                definition.file = file.into();
                definition.line = LINE.into();
            }
            definition.arguments = (fields(case.message).count() as u8).into();
        });
        b[g.enable().at(id) as usize] = 1;
        let entries = entries(id, &case, entry_thread(identity, 4001));
        let open = chunks.last_mut().expect("one");
        if open.len() + entries.len() > 16 {
            // Padding fills it up.
            open.resize(16, [TICKS, long_entry_head(0, 0, 1, 0), 0, 0, 0, 0, 0, 0]);
            chunks.push(entries);
        } else {
            open.extend(entries);
        }
    }
    chunks
}

fn golden() -> Attached {
    static WRITE: Once = Once::new();
    let path = data("v1-typed.timeline");
    WRITE.call_once(|| {
        if std::env::var_os("TIMELINE_GOLDEN").is_some_and(|v| v == "write") {
            std::fs::write(&path, made()).expect("written");
        }
    });
    Attached::open(path).expect("readable")
}

#[test]
fn every_type_is_shown_as_it_ever_was() {
    let attached = golden();
    let expected: Vec<&str> = cases().iter().map(|case| case.shown).collect();
    let rows = |attached: &Attached| {
        let text = dumped(attached);
        let rows = text.lines().skip(1).filter(|row| row.contains("typed "));
        let mut rows: Vec<String> = rows
            .map(|row| {
                row.split_once("typed ")
                    .expect("a category")
                    .1
                    .trim()
                    .to_owned()
            })
            .collect();
        rows.reverse();
        rows
    };
    assert_eq!(rows(&attached), expected);
    let copy = Name::new("typed-copy");
    attached.save(copy.path()).expect("saved");
    assert_eq!(
        rows(&Attached::open(copy.path()).expect("readable")),
        expected
    );
    let events: Vec<_> = attached.events(Order::OldestFirst).collect();
    assert_eq!(events.len(), cases().len());
    for ((id, case), event) in (1..).zip(cases()).zip(&events) {
        assert_eq!(
            (event.id.0, event.ticks),
            (id, TICKS + 1000 * u64::from(id))
        );
        assert_eq!(event.payload.is_none(), is_plain(&case), "{}", case.message);
        let stack: &[u64] = match id % 2 == 0 && !is_plain(&case) {
            true => &[0x1000, 0x2000],
            false => &[],
        };
        assert_eq!(event.backtrace(), stack);
    }
}

#[test]
fn the_snapshot_has_every_type() {
    let of_printf = |definition: &&timeline::Definition| definition.syntax == Syntax::Printf;
    let attached = golden();
    assert_eq!(attached.definitions().filter(of_printf).count(), 1);
    let messages: Vec<_> = cases().iter().map(|case| case.message).collect();
    let kinds: Vec<FieldType> = messages
        .iter()
        .flat_map(|message| fields(message))
        .map(|field| field.kind)
        .collect();
    for row in &timeline::internal::FIELD_TYPES {
        let has_it = |kind: &FieldType| kind.descriptor() == row;
        assert!(kinds.iter().any(has_it), "{}", row.name);
    }
}
