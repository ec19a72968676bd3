//! Conditions on the bits of a number: where they hold, as ranges, so that most need no comparison.
//!
//! A comparison of a number with a literal holds up to some number, or from one on, or between two.
//! These are found by asking the comparison itself. So it cannot say anything else.

use std::ops::RangeInclusive;

use timeline::FieldType;
use timeline::internal::{Collation, FieldStorage, ValueKind};

/// How bits are ordered as numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    Signed,
    Unsigned,
    Double,
    /// In the lower half; the upper half means nothing.
    Single,
}

/// The bits of a type that are numbers, in their order. Others mean something else, or nothing.
#[derive(Debug, Clone, Copy)]
pub struct NumericDomain {
    order: Order,
    first: i64,
    last: i64,
    /// Whether all other bits are NaN.
    is_float: bool,
}

impl NumericDomain {
    /// The numbers of a field, whose values are of this kind. `None` if comparisons with them are
    /// no ranges, as with names.
    pub fn of(field: Option<FieldType>, kind: ValueKind) -> Option<NumericDomain> {
        let whole = |order| NumericDomain::between(order, i64::MIN, i64::MAX);
        let Some(field) = field.filter(|_| kind != ValueKind::Float) else {
            return Some(match kind {
                ValueKind::Int => whole(Order::Signed),
                ValueKind::Uint => whole(Order::Unsigned),
                ValueKind::Float => NumericDomain::doubles(),
                ValueKind::LongDouble | ValueKind::Text => return None,
            });
        };
        if !matches!(kind, ValueKind::Int | ValueKind::Uint) {
            return None;
        }
        if !matches!(
            field.descriptor().collation,
            Collation::Number | Collation::Time
        ) {
            return None;
        }
        // Of n bits, the least signed number and the greatest unsigned one.
        let least = |bits: u32| i64::MIN >> (i64::BITS - bits);
        let most = |bits: u32| (u64::MAX >> (u64::BITS - bits)) as i64;
        match field.storage() {
            FieldStorage::Signed(bits) => Some(NumericDomain::between(
                Order::Signed,
                least(bits),
                !least(bits),
            )),
            FieldStorage::Unsigned(64) => Some(whole(Order::Unsigned)),
            FieldStorage::Unsigned(bits) => {
                Some(NumericDomain::between(Order::Signed, 0, most(bits)))
            }
            FieldStorage::F64 => Some(NumericDomain::doubles()),
            FieldStorage::F32 => Some(NumericDomain::singles()),
            _ => None,
        }
    }

    fn between(order: Order, first: i64, last: i64) -> NumericDomain {
        NumericDomain {
            order,
            first,
            last,
            is_float: matches!(order, Order::Double | Order::Single),
        }
    }

    fn doubles() -> NumericDomain {
        let [first, last] = [f64::NEG_INFINITY, f64::INFINITY].map(f64::to_bits);
        let order = Order::Double;
        NumericDomain::between(order, place(order, first), place(order, last))
    }

    fn singles() -> NumericDomain {
        let [first, last] = [f32::NEG_INFINITY, f32::INFINITY].map(|end| end.to_bits().into());
        let order = Order::Single;
        NumericDomain::between(order, place(order, first), place(order, last))
    }

    /// Whether these are whole numbers.
    pub fn are_whole(&self) -> bool {
        !self.is_float
    }

    /// The number that these bits are, if they are a whole one.
    #[inline]
    pub fn whole(&self, raw: u64) -> Option<i128> {
        let place = place(self.order, raw);
        let is_number = self.first <= place && place <= self.last;
        match self.order {
            Order::Signed if is_number => Some((raw as i64).into()),
            Order::Unsigned => Some(raw.into()),
            _ => None,
        }
    }

    /// The places of the least and the greatest of bits of a kind, if all between are numbers.
    fn places(&self, kind: ValueKind, bits: &RangeInclusive<u64>) -> Option<(i64, i64)> {
        let ends = (*bits.start(), *bits.end());
        let (least, most) = (place(self.order, ends.0), place(self.order, ends.1));
        let is_same = match (kind, self.order) {
            (ValueKind::Int, Order::Signed)
            | (ValueKind::Uint, Order::Unsigned)
            | (ValueKind::Float, Order::Double) => true,
            // Positive numbers have the same order everywhere.
            (_, Order::Single) => false,
            (ValueKind::Int | ValueKind::Uint, _) => (ends.0 | ends.1) & 1 << 63 == 0,
            _ => false,
        };
        let are_numbers = self.first <= least && most <= self.last;
        (is_same && least <= most && are_numbers).then_some((least, most))
    }

    /// The range in which `holds`, which is asked about bits, is true from some number on, or up to
    /// one.
    fn range(&self, holds: &mut impl FnMut(u64) -> bool) -> Option<(i64, i64)> {
        let mut holds = |place| holds(bits(self.order, place));
        match (holds(self.first), holds(self.last)) {
            (true, true) => Some((self.first, self.last)),
            (false, false) => None,
            (of_first, _) => {
                // The first that says the same as the last one.
                let (mut first, mut last) = (i128::from(self.first), i128::from(self.last));
                while last - first > 1 {
                    let middle = (first + last) / 2;
                    match holds(middle as i64) == of_first {
                        true => first = middle,
                        false => last = middle,
                    }
                }
                Some(match of_first {
                    true => (self.first, first as i64),
                    false => (last as i64, self.last),
                })
            }
        }
    }
}

/// The place of a number among all that are ordered like this.
#[inline(always)]
fn place(order: Order, bits: u64) -> i64 {
    match order {
        Order::Signed => bits as i64,
        Order::Unsigned => (bits ^ 1 << 63) as i64,
        Order::Double => bits as i64 ^ ((bits as i64 >> 63) as u64 >> 1) as i64,
        Order::Single => {
            let bits = bits as u32 as i32;
            (bits ^ ((bits >> 31) as u32 >> 1) as i32).into()
        }
    }
}

/// The number at a place.
fn bits(order: Order, place: i64) -> u64 {
    match order {
        Order::Signed => place as u64,
        Order::Unsigned => place as u64 ^ 1 << 63,
        Order::Double => (place ^ ((place >> 63) as u64 >> 1) as i64) as u64,
        Order::Single => {
            let place = place as i32;
            ((place ^ ((place >> 31) as u32 >> 1) as i32) as u32).into()
        }
    }
}

/// The numbers for which a comparison is true.
pub struct Bounds {
    numbers: NumericDomain,
    /// The first, and how many come behind it. If `is_outside`, those that are not in this range.
    first: i64,
    behind: u64,
    is_outside: bool,
}

impl Bounds {
    /// Those that are at least, and at most, as asked; or all others that can be compared.
    pub fn new(
        numbers: NumericDomain,
        mut at_least: impl FnMut(u64) -> bool,
        mut at_most: impl FnMut(u64) -> bool,
        is_outside: bool,
    ) -> Option<Bounds> {
        let (above, below) = (numbers.range(&mut at_least), numbers.range(&mut at_most));
        let (first, last) = match (above, below) {
            // They cannot be compared.
            (None, None) => return None,
            (Some(above), Some(below)) => (above.0.max(below.0), above.1.min(below.1)),
            // No number is both: it is between two, or behind them all.
            _ => (1, 0),
        };
        match (first <= last, is_outside) {
            (true, _) => Some(Bounds {
                numbers,
                first,
                behind: last.wrapping_sub(first) as u64,
                is_outside,
            }),
            (false, false) => None,
            (false, true) => Bounds::all(numbers),
        }
    }

    /// The comparison is true for no number.
    pub fn none(numbers: NumericDomain) -> Bounds {
        Bounds {
            numbers,
            first: numbers.first,
            behind: numbers.last.wrapping_sub(numbers.first) as u64,
            is_outside: true,
        }
    }

    fn all(numbers: NumericDomain) -> Option<Bounds> {
        Some(Bounds {
            numbers,
            first: numbers.first,
            behind: numbers.last.wrapping_sub(numbers.first) as u64,
            is_outside: false,
        })
    }

    /// Whether the comparison is true for a number. `None` if these bits are none.
    #[inline(always)]
    fn has(&self, order: Order, raw: u64) -> (bool, bool) {
        let place = place(order, raw);
        let is_in = place.wrapping_sub(self.first) as u64 <= self.behind;
        let is_number = self.numbers.first <= place && place <= self.numbers.last;
        (is_in != self.is_outside && is_number, is_number)
    }

    /// For which answers there are numbers from the least to the greatest of these bits of a kind:
    /// true, and false. Both, if some of the bits may be no numbers.
    pub fn over(&self, kind: ValueKind, bits: &RangeInclusive<u64>) -> (bool, bool) {
        let Some((least, most)) = self.numbers.places(kind, bits) else {
            return (true, true);
        };
        let last = self.first.wrapping_add(self.behind as i64);
        let (some_in, all_in) = (
            least <= last && self.first <= most,
            self.first <= least && most <= last,
        );
        match self.is_outside {
            false => (some_in, !all_in),
            true => (!all_in, some_in),
        }
    }

    /// Appends those of the rows for whose bits the comparison is true. Rows are in order. Asks
    /// `other` about bits that are no number.
    pub fn filter(
        &self,
        raw: &[u64],
        rows: &[u16],
        out: &mut Vec<u16>,
        other: impl FnMut(u64) -> bool,
    ) {
        match self.numbers.order {
            Order::Signed => self.filter_by(Order::Signed, raw, rows, out, other),
            Order::Unsigned => self.filter_by(Order::Unsigned, raw, rows, out, other),
            Order::Double => self.filter_by(Order::Double, raw, rows, out, other),
            Order::Single => self.filter_by(Order::Single, raw, rows, out, other),
        }
    }

    #[inline(always)]
    fn filter_by(
        &self,
        order: Order,
        raw: &[u64],
        rows: &[u16],
        out: &mut Vec<u16>,
        mut other: impl FnMut(u64) -> bool,
    ) {
        /// Rows that are looked at together: often none of them is wanted.
        const TOGETHER: usize = 32;
        let is_float = self.numbers.is_float;
        for rows in rows.chunks(TOGETHER) {
            let (first, last) = (usize::from(rows[0]), usize::from(rows[rows.len() - 1]));
            if last - first < rows.len() {
                let side_by_side = raw[first..=last].iter();
                let none = side_by_side.fold(true, |none, raw| {
                    let (has, is_number) = self.has(order, *raw);
                    none & !has & (is_number | is_float)
                });
                if none {
                    continue;
                }
            }
            for row in rows {
                let raw = raw[usize::from(*row)];
                let (has, is_number) = self.has(order, raw);
                if has || (!is_number && !is_float && other(raw)) {
                    out.push(*row);
                }
            }
        }
    }
}
