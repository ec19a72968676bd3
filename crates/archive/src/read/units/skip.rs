//! Passes over events of a block that nobody wants, column by column.
//!
//! It takes a fraction of the time of reading them one by one, because most numbers of a column are
//! small, and eight of them are added at once.

use crate::format::block::{
    BACKTRACE, CORE, FIXED, HAS_CORE, HAS_LANE, HAS_NUMBER, HAS_TICKS, HAS_TIME, LANE, NUMBER,
    PreviousValues, SHAPE, Shape, THREAD, TICKS, TIME,
};
use crate::format::storage::ColumnEncoding;
use crate::format::varint::{NumberReader, WORD};
use crate::read::units::stored_values::skip_by_kind;
use crate::read::units::unpack::{IndexedEvent, UnpackedEvents};

impl UnpackedEvents<'_> {
    /// Whether columns can be passed over one by one, because all events have the same ones.
    pub fn are_alike(&self) -> bool {
        let first = self.shapes.first().map(|shape| shape.has);
        let is_other = |shape: &Shape| Some(shape.has) != first || has_counts(shape);
        !self.shapes.iter().any(is_other)
    }

    /// Passes over the next events, of these shapes, which [are alike](Self::are_alike) or not.
    /// `None` if one of them cannot be read; then nobody can say what is left.
    pub fn skip(&mut self, shapes: &[u16], are_alike: bool) -> Option<()> {
        let first = self.shapes.first()?.has;
        if !are_alike {
            let mut event = IndexedEvent::default();
            return shapes.iter().try_for_each(|_| self.next_event(&mut event));
        }
        let (count, steps) = (shapes.len(), self.pace().steps());
        let (fixed, arguments) = self.columns.split_at_mut(FIXED);
        let previous = &mut self.previous;
        fixed[SHAPE].skip(count)?;
        let threads = self.threads.len() as u64;
        fixed[THREAD].are_below(count, threads)?.then_some(())?;
        if first & HAS_TICKS != 0 {
            previous.ticks = fixed[TICKS].last_difference(count, previous.ticks)?;
        }
        match steps {
            _ if first & HAS_TIME == 0 => {}
            Some((unit, _)) => {
                let passed = fixed[TIME].last_difference(count, 0)?;
                self.time = self.time.wrapping_add(passed.wrapping_mul(unit));
            }
            None => fixed[TIME].skip(count)?,
        }
        if first & HAS_CORE != 0 {
            previous.core = fixed[CORE].last_difference(count, previous.core)?;
        }
        skip_numbers(fixed, first, count, previous)?;
        let mut at = 0;
        while let Some(number) = shapes.get(at) {
            let rest = shapes[at..].iter();
            let count = match self.shapes.len() {
                1 => rest.len(),
                _ => rest.take_while(|other| *other == number).count(),
            };
            at += count;
            let number = usize::from(*number);
            let shape = self.shapes.get(number)?;
            if shape.backtrace > 0 {
                let addresses = usize::try_from(shape.backtrace).ok()?.checked_mul(count)?;
                previous.address = fixed[BACKTRACE].last_difference(addresses, previous.address)?;
            }
            let before = &mut previous.args[number];
            match shape.stored.is_empty() {
                true => skip_values(shape, count, arguments, before)?,
                false => (self.stored).skip((number, shape), count, arguments, before)?,
            }
            if shape.payload {
                for _ in 0..count {
                    let length = self.payloads.get()?;
                    self.payloads.take(length)?;
                }
            }
        }
        Some(())
    }
}

/// Passes over lanes and numbers in them.
fn skip_numbers(
    fixed: &mut [NumberReader],
    has: u64,
    count: usize,
    previous: &mut PreviousValues,
) -> Option<()> {
    match (has & HAS_LANE != 0, has & HAS_NUMBER != 0) {
        (_, false) if has & HAS_LANE == 0 => return Some(()),
        (_, false) => return fixed[LANE].skip(count),
        (false, true) => {
            let next = previous.next_number(None);
            let last = fixed[NUMBER].last_difference(count, *next)?;
            *next = last.wrapping_add(count as u64);
            return Some(());
        }
        (true, true) => {}
    }
    let mut left = count;
    while left > 0 {
        // Most are of one lane, without a gap.
        if left >= WORD
            && fixed[NUMBER].word() == Some(0)
            && let Some(lanes) = fixed[LANE].word()
            && lanes == (lanes & 0x7f) * 0x0101_0101_0101_0101
        {
            let next = previous.next_number(Some(lanes & 0x7f));
            *next = next.wrapping_add(WORD as u64);
            fixed[LANE].take(WORD as u64)?;
            fixed[NUMBER].take(WORD as u64)?;
            left -= WORD;
            continue;
        }
        let next = previous.next_number(Some(fixed[LANE].get()?));
        *next = fixed[NUMBER].difference(*next)?.wrapping_add(1);
        left -= 1;
    }
    Some(())
}

/// Passes over the values of events of a shape. `before` has the integers of the event before.
fn skip_values(
    shape: &Shape,
    count: usize,
    columns: &mut [NumberReader],
    before: &mut Vec<i64>,
) -> Option<()> {
    if shape.kinds.is_empty() {
        let integers = usize::try_from(shape.args).ok()?;
        let columns = columns.get_mut(..integers)?;
        before.resize(integers, 0);
        for (before, column) in before.iter_mut().zip(columns) {
            *before = column.last_difference(count, *before as u64)? as i64;
        }
        return Some(());
    }
    let columns = columns.get_mut(..shape.kinds.len())?;
    before.resize(shape.kinds.len(), 0);
    let places = shape.kinds.iter().zip(before).zip(columns);
    for ((kind, before), column) in places {
        skip_by_kind(*kind, count, column, before)?;
    }
    Some(())
}

/// Whether the text of a time has a count in it, whose length depends on the time.
fn has_counts(shape: &Shape) -> bool {
    let is_count =
        |stored: &ColumnEncoding| matches!(stored, ColumnEncoding::Time(form) if form.is_count());
    shape.stored.iter().any(is_count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::event::{PRINTF, RawDefinition, RawEvent, RawThread};
    use crate::format::time_text::TimeForm;
    use crate::read::units::unpack::tests::{event, of_kinds};
    use crate::write::lines::{BlockLine, LineBlock, LineShape, LineTexts, LineValues};
    use crate::write::packer::pack;
    use timeline::internal::ValueKind;

    /// A block of events that differ in everything. `alike`: but not in which fields they have.
    fn block(alike: bool, seed: u64) -> Vec<u8> {
        let events = (0..120).map(|i| {
            let mixed = (i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let mut event = RawEvent {
                lane: Some(if seed.is_multiple_of(2) {
                    i / 20
                } else {
                    mixed % 130
                }),
                number: Some(if mixed.is_multiple_of(40) { mixed } else { i }),
                args: vec![mixed as i64; (mixed % 3) as usize],
                backtrace: vec![mixed; usize::from(mixed.is_multiple_of(9))],
                ..event(i)
            };
            event.thread.tid = Some(i / 7 % 5);
            event.definition.format = Some(mixed % 4);
            if mixed.is_multiple_of(5) {
                event.payload = vec![0xd9, 2, b'h', b'i'];
                event.args.clear();
            }
            if !alike && mixed.is_multiple_of(4) {
                (event.lane, event.core) = (None, None);
            }
            event
        });
        pack(&events.collect::<Vec<_>>())
    }

    /// A block of imported lines, whose values are stored in all ways, some in columns together.
    fn of_lines(count: u64, seed: u64) -> Vec<u8> {
        let form = TimeForm::new("%b %d %H:%M:%S.%3f", 3600).unwrap();
        let mut values: Vec<Vec<LineValues>> = (0..6).map(|_| Vec::new()).collect();
        let mut block = LineBlock {
            threads: vec![RawThread::default(); 2],
            first_ticks: seed,
            ..LineBlock::default()
        };
        let mixed = |i: u64| (i ^ seed << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
        let shape_of = |i: u64| [0, 0, 1, 1, 2, 2, 3, 4, 5][mixed(i) as usize % 9];
        for (shape, values) in values.iter_mut().enumerate() {
            let lines: Vec<u64> = (0..count).filter(|i| shape_of(*i) == shape).collect();
            let numbers = |kind, number: &dyn Fn(u64) -> u64| {
                LineValues::Numbers(kind, lines.iter().map(|i| number(*i)).collect())
            };
            let texts = |text: &dyn Fn(u64) -> String| {
                let mut texts = LineTexts::default();
                (lines.iter()).for_each(|i| texts.push(text(*i).as_bytes()));
                LineValues::Texts(texts)
            };
            if shape % 2 == 0 {
                values.push(LineValues::Time(form.clone()));
            }
            values.push(numbers(ValueKind::Int, &|i| (7 * i).wrapping_neg()));
            // Most are small, and some are not.
            let seldom = |i| mixed(i) % [90, u64::MAX][usize::from(mixed(i) % 16 == 0)];
            values.push(numbers(ValueKind::Uint, &seldom));
            values.push(texts(&|i| format!("{:04x}", mixed(i) as u16)));
            values.push(numbers(ValueKind::Uint, &|i| (mixed(i) % 3) << 40));
            values.push(texts(&|i| ["a", "", "größe"][mixed(i) as usize % 3].into()));
            values.push(numbers(ValueKind::Float, &|i| {
                // Of one shape, one in between has no decimal places that could be counted.
                let third = if i == 77 && shape == 1 { 3.0 } else { 1.0 };
                (mixed(i) as u16 as f64 / 100.0 / third).to_bits()
            }));
            values.push(numbers(ValueKind::Uint, &mixed));
            values.push(texts(&|i| "x".repeat(mixed(i) as usize % 9 + i as usize)));
            values.truncate(shape + 3);
        }
        for (number, values) in values.into_iter().enumerate() {
            let mut definition = RawDefinition::default();
            (definition.format, definition.syntax) = (Some(number as u64), Some(PRINTF));
            block.shapes.push(LineShape { definition, values });
        }
        for i in 0..count {
            let (lane, thread) = (mixed(i) % 2, mixed(i) as u32 % 2);
            let shape = shape_of(i) as u32;
            block.lines.push(BlockLine {
                shape,
                thread,
                lane,
                number: i + seed,
            });
            block.times.push(1_000_000 * (seed + 3 * i) + 5);
        }
        let mut packed = Vec::new();
        block.encode(&mut packed, &mut Vec::new());
        packed
    }

    /// The shape of each event, as far as they are known.
    fn shapes(unpacked: &UnpackedEvents) -> Vec<u16> {
        let mut column = unpacked.columns[SHAPE];
        let numbers = std::iter::from_fn(|| column.get());
        let known = numbers.take_while(|number| *number < unpacked.shapes.len() as u64);
        known.map(|number| number as u16).collect()
    }

    /// Reads a block with gaps that are passed over. Each event is the same as if none were; if
    /// passing over some is not possible, neither is reading them.
    fn agree(packed: &[u8], gaps: &[usize]) {
        let all = (UnpackedEvents::new(packed), UnpackedEvents::new(packed));
        let (Some(mut one_by_one), Some(mut some)) = all else {
            return;
        };
        let (shapes, mut at) = (shapes(&some), 0);
        let (mut expected, mut found) = (IndexedEvent::default(), IndexedEvent::default());
        for gap in gaps {
            let Some(passed) = shapes.get(at..at + gap) else {
                return;
            };
            let is_passed = some.skip(passed, some.are_alike());
            let read = passed
                .iter()
                .try_for_each(|_| one_by_one.next_event(&mut expected));
            assert_eq!(is_passed, read);
            let (Some(()), true) = (read, at + gap < shapes.len()) else {
                return;
            };
            let read = one_by_one.next_event(&mut expected);
            assert_eq!(some.next_event(&mut found), read);
            if read.is_none() {
                return;
            }
            assert_eq!(found, expected);
            at += gap + 1;
        }
    }

    proptest! {
        #[test]
        fn an_event_is_the_same_behind_events_that_were_passed_over(
            gaps in prop::collection::vec(0_usize..40, 1..20),
            seed in 0_u64..1_000,
            entries in 1_u64..4,
        ) {
            let blocks = [block(true, seed), block(false, seed), of_kinds(120, entries)];
            for packed in blocks.into_iter().chain([of_lines(400, seed)]) {
                agree(&packed, &gaps);
            }
            // Of one shape and one lane.
            agree(&pack(&(0..90).map(event).collect::<Vec<_>>()), &gaps);
        }

        #[test]
        fn what_cannot_be_read_cannot_be_passed_over(
            gaps in prop::collection::vec(0_usize..40, 1..6),
            (seed, at, bit) in (0_u64..20, any::<prop::sample::Index>(), 0_u32..8),
            cut: bool,
        ) {
            let blocks = [block(true, seed), block(false, seed), of_kinds(60, 1)];
            for mut packed in blocks.into_iter().chain([of_lines(100, seed)]) {
                let at = at.index(packed.len());
                packed[at] ^= 1_u8 << bit;
                agree(&packed, &gaps);
                if cut {
                    agree(&packed[..at], &gaps);
                }
            }
        }
    }
}
