//! Events that are chosen before they are made, beside those that are left when all are filtered.

use std::cell::Cell;
use std::rc::Rc;

use timeline::{Event, Order};
use timeline_archive::{Archive, BlockColumns, BlockRanges, Places, Select, UnitInfo};
use timeline_search::{Expression, Filter, Query};

use crate::languages::event::plain_types;

/// A filter, how many events it was asked about, and of how many blocks it wanted none.
struct Counted<'a> {
    filter: Filter<'a>,
    asked: Rc<Cell<usize>>,
    passed: Rc<Cell<usize>>,
}

impl Select for Counted<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        self.filter.wants_unit(unit)
    }

    fn wants_block(&mut self, unit: &UnitInfo, ranges: &BlockRanges) -> bool {
        let is_wanted = self.filter.wants_block(unit, ranges);
        self.passed.set(self.passed.get() + usize::from(!is_wanted));
        is_wanted
    }

    fn choose(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        self.filter.choose(unit, columns, places);
    }

    fn wants(&mut self, event: &Event) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.filter.wants(event)
    }
}

/// An archive, and all its events.
pub struct Chosen<'a> {
    archive: &'a Archive,
    pub events: [(Order, Vec<Event>); 2],
    /// How many blocks were not expanded so far.
    pub passed: Rc<Cell<usize>>,
}

impl Chosen<'_> {
    pub fn of(archive: &Archive) -> Chosen<'_> {
        let events = [Order::OldestFirst, Order::NewestFirst]
            .map(|order| (order, archive.events_by_time(order).collect()));
        Chosen {
            archive,
            events,
            passed: Rc::default(),
        }
    }

    /// How many events a query finds, after the events that it chooses were compared with those
    /// that are left of all; and about how many events it was asked.
    pub fn agree(&self, query: &Query) -> (usize, usize) {
        let (asked, mut count) = (Rc::new(Cell::new(0)), 0);
        for (order, all) in &self.events {
            asked.set(0);
            let mut filter = query.on(self.archive);
            let (expected, others): (Vec<_>, Vec<_>) =
                all.iter().partition(|event| filter.matches(event));
            let select = Counted {
                filter: query.on(self.archive),
                asked: Rc::clone(&asked),
                passed: Rc::clone(&self.passed),
            };
            let mut chosen = self.archive.events_by_time_where(*order, Box::new(select));
            let found: Vec<_> = chosen.by_ref().collect();
            if !found.iter().eq(expected.iter().copied()) {
                let apart = expected.iter().find(|event| !found.contains(event));
                let more = found.iter().find(|event| !expected.contains(event));
                panic!("{query:?}, {order:?}: without {apart:?}, with {more:?}");
            }
            let missed: u64 = others.iter().map(|event| event.missed).sum();
            assert_eq!(chosen.missed_before_others(), missed, "{query:?}");
            assert_eq!(chosen.lost(), 0);
            count = found.len();
        }
        (count, asked.get())
    }
}

pub fn by(text: &str) -> Query {
    Query {
        expressions: vec![Expression::parse(text).unwrap()],
        ..Query::default()
    }
}

/// Types of fields: all numbers, and some of the others.
pub fn kinds() -> Vec<&'static str> {
    let others = [
        "str",
        "u8[]",
        "enum(red=1,rouge=1,most=-3)",
        "flags(r=1,w=2)",
    ];
    let is_text = |kind: &&str| ["str", "wstr", "istr"].contains(kind);
    let numbers = plain_types().filter(|kind| !is_text(kind));
    numbers.chain(others).collect()
}

/// The bits of numbers at whose sides something changes, in some type.
pub fn edges() -> Vec<u64> {
    let mut edges = vec![0, 1, 2, 3, 5, 7, 65, 100];
    for bits in [7, 8, 15, 16, 31, 32, 53, 63] {
        edges.extend([(1 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    }
    let doubles = [0.1, 1.5, -2.0, 1e19, 1e300, f64::INFINITY, f64::NAN, 5e-324];
    edges.extend(doubles.map(f64::to_bits));
    let singles = [0.1, 1.5, -2.0, f32::MAX, f32::INFINITY, f32::NAN, 1e-45];
    edges.extend(singles.map(|single| u64::from(single.to_bits())));
    let negative: Vec<_> = edges.iter().map(|bits| bits.wrapping_neg()).collect();
    edges.extend(negative);
    edges.extend([f64::NAN, 0.0, f64::INFINITY].map(|of| of.to_bits() | 1 << 63));
    edges
}

pub const LITERALS: [&str; 36] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "-3",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "0.1",
    "-0.0",
    "1.5",
    "1e19",
    "-1e19",
    "1e300",
    "true",
    "'red'",
    "'A'",
    "'r'",
    "'2026-11-23'",
    "9007199254740993",
    "1e-45",
];

pub const HOW: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
