//! Ranges: blocks are passed over by them, and no event is missed.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::rc::Rc;

use timeline::internal::ValueKind;
use timeline::{Order, Priority, Value, lay_out};
use timeline_archive::{
    Archive, ArchiveOutput, BlockColumns, BlockRanges, Form, Keeping, Places, Recorder, Select,
    ShapeValues, UnitInfo,
};
use timeline_search::Query;

use super::selection::{self, Chosen, HOW, LITERALS, by, edges};
use crate::support::{Name, Random};

/// How many events a block has.
const BLOCK: usize = 240;
/// How many values a block has, of how many neighbours among all.
const VALUES: usize = 4;
const NEIGHBOURS: u64 = 16;
/// How many blocks there are of each type.
const BLOCKS: usize = 8;

/// Types of values. Doubles are there several times: no others are in this order.
fn kinds() -> impl Iterator<Item = &'static str> {
    selection::kinds().into_iter().chain(["f64"; 4])
}

/// An archive whose blocks have events of one type with values that are neighbours.
fn in_blocks(random: &mut Random) -> Archive {
    let (name, folder) = (Name::new("queries-ranges"), tempfile::tempdir().unwrap());
    let tl = name.create(1 << 12);
    let at = name.attach();
    let path = folder.path().join("flight.tla");
    let mut output = ArchiveOutput::open(path.to_str().unwrap(), Keeping::default()).unwrap();
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
    let mut values = edges();
    values.extend((0..40).map(|n| (1.5 * f64::from(n) - 30.0).to_bits()));
    // Words whose sign as integers differs from that of their numbers.
    values.extend((0..20).map(|n| (f64::from(n) - 10.5).to_bits().wrapping_neg()));
    for kind in kinds() {
        let define = |message: String| tl.define(kind, Priority::Info, &message).unwrap();
        let words = define(format!("words $v:{kind} $w:i64"));
        let payload = define(format!("payload $w:u64 $text:str $v:{kind}"));
        for _ in 0..BLOCKS {
            let is_payload = random.below(3) > 0 && !["str", "u8[]", "ptr"].contains(&kind);
            match random.below(2) {
                _ if is_payload && kind == "f64" => {
                    let double = |bits: u64| f64::from_bits(bits);
                    values.sort_unstable_by(|a, b| double(*a).total_cmp(&double(*b)));
                }
                0 => values.sort_unstable(),
                _ => values.sort_unstable_by_key(|bits| *bits as i64),
            }
            let from = random.below(values.len() as u64 - NEIGHBOURS);
            let near = [(); VALUES].map(|()| values[(from + random.below(NEIGHBOURS)) as usize]);
            for number in 0..BLOCK {
                let (bits, w) = (near[number % VALUES], random.next());
                if !is_payload {
                    tl.log(words, [bits as i64, w as i64]);
                    continue;
                }
                let v = match kind {
                    "f64" => Value::Float(f64::from_bits(bits)),
                    "f32" => Value::Uint(u64::from(bits as u32)),
                    _ => Value::Uint(bits),
                };
                let text = Value::Text {
                    bytes: b"eth0",
                    cut: false,
                };
                tl.log_payload(payload, &lay_out(&[Value::Uint(w), text, v]), false);
            }
            while recorder.step() {}
            assert!(recorder.flush());
        }
    }
    assert_eq!(recorder.finish().missed, 0);
    Archive::open(path).unwrap()
}

#[test]
fn blocks_without_wanted_values_are_passed_over() {
    let mut random = Random(super::seed());
    let archive = in_blocks(&mut random);
    let chosen = Chosen::of(&archive);
    let (all, blocks) = (chosen.events[0].1.len(), archive.units().len());
    assert_eq!((all, blocks), (blocks * BLOCK, BLOCKS * kinds().count()));
    let mut hits = 0;
    let mut pick = |texts: &[&str]| texts[random.below(texts.len() as u64) as usize].to_owned();
    for _ in 0..30 {
        let mut compared = || format!("v {} {}", pick(&HOW), pick(&LITERALS));
        let (one, other) = (compared(), compared());
        let text = match pick(&["one", "and", "or", "not", "other"]).as_str() {
            "one" => one,
            "and" => format!("{one} && {other}"),
            "or" => format!("{one} || !(v && {other})"),
            "not" => format!("!({one} || {other})"),
            _ => format!("{one} && w > 0"),
        };
        let (found, _) = chosen.agree(&by(&text));
        hits += usize::from(found > 0 && found < all);
    }
    let passed = chosen.passed.get();
    assert!(hits > 12, "{hits}");
    // In both orders. Many values are none of their type, and might be anything.
    assert!(passed > 30 * 2 * blocks / 10, "{passed} of {blocks}");
}

#[test]
fn blocks_without_wanted_definitions_are_passed_over() {
    let archive = in_blocks(&mut Random(super::seed()));
    let chosen = Chosen::of(&archive);
    let query = Query {
        categories: vec!["u16".into(), "hex".into()],
        ..Query::default()
    };
    assert_eq!(chosen.agree(&query), (2 * BLOCKS * BLOCK, 0));
    assert_eq!(chosen.passed.get(), 2 * BLOCKS * (kinds().count() - 2));
    let query = Query {
        priorities: timeline_search::priorities("error").ok(),
        ..Query::default()
    };
    assert_eq!(chosen.agree(&query), (0, 0));
}

/// Compares the ranges of blocks with their values.
#[derive(Default)]
struct Compared {
    ranges: Vec<Option<(ValueKind, RangeInclusive<u64>)>>,
    count: Rc<Cell<usize>>,
}

/// Where these bits are among others of the kind.
fn cmp(kind: ValueKind, a: u64, b: u64) -> Ordering {
    match kind {
        ValueKind::Int => (a as i64).cmp(&(b as i64)),
        ValueKind::Float => f64::from_bits(a).total_cmp(&f64::from_bits(b)),
        _ => a.cmp(&b),
    }
}

impl Select for Compared {
    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        assert!(unit.block);
        // The first events of a definition have no columns for their values.
        self.ranges = match ranges.definitions().len() {
            1 => (0..4).map(|position| ranges.range(0, position)).collect(),
            _ => Vec::new(),
        };
        true
    }

    fn choose(&mut self, _: &UnitInfo, columns: Option<&mut BlockColumns<'_>>, _: &mut Places) {
        let columns = columns.unwrap();
        for (position, range) in std::mem::take(&mut self.ranges).into_iter().enumerate() {
            let kind = match columns.shape_values(0) {
                ShapeValues::Words(count) => (position < *count).then_some(ValueKind::Int),
                ShapeValues::Kinds(kinds) => kinds.get(position).copied(),
                ShapeValues::Payload => None,
            };
            let Some(kind) = kind.filter(|kind| *kind != ValueKind::Text) else {
                continue;
            };
            columns.read_values(0, position).unwrap();
            let raw = columns.values(0, position).unwrap().raw().iter().copied();
            let least = raw.clone().min_by(|a, b| cmp(kind, *a, *b)).unwrap();
            let most = raw.clone().max_by(|a, b| cmp(kind, *a, *b)).unwrap();
            let is_nan = |bits| kind == ValueKind::Float && f64::from_bits(bits).is_nan();
            let expected = (!raw.clone().any(is_nan)).then_some((kind, least..=most));
            assert_eq!(range, expected, "{kind:?} {position}");
            self.count.set(self.count.get() + 1);
        }
    }
}

#[test]
fn ranges_are_those_of_the_values() {
    let archive = in_blocks(&mut Random(super::seed()));
    let compared = Compared::default();
    let count = Rc::clone(&compared.count);
    let events = archive.events_by_time_where(Order::OldestFirst, Box::new(compared));
    assert_eq!(events.count(), BLOCKS * kinds().count() * BLOCK);
    // Those of two values of each block, but for first blocks.
    assert!(count.get() > BLOCKS * kinds().count(), "{}", count.get());
}
