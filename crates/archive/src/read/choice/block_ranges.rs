//! What a block says about the values of its events, without being expanded.

use std::ops::RangeInclusive;

use timeline::EventId;
use timeline::internal::ValueKind;

use crate::format::ranges::{ShapeRanges, bits, decode};
use crate::format::record;
use crate::read::choice::columns::ShapeValues;
use crate::read::file::bytes::ArchiveBytes;
use crate::read::units::ordered::PAYLOAD;
use crate::read::units::unit::Unit;

/// So many bytes of a record are read at first. Few blocks have larger ranges.
const FIRST: usize = 2048;

/// The definitions in a block, and between which values those of its events are.
pub struct BlockRanges {
    shapes: Vec<ShapeRanges>,
    definitions: Vec<EventId>,
    forms: Vec<ShapeValues>,
}

impl BlockRanges {
    /// Those of these shapes. `definitions` has theirs, and whether the messages were lost.
    pub(crate) fn new(
        shapes: Vec<ShapeRanges>,
        definitions: impl Iterator<Item = (EventId, bool)>,
    ) -> BlockRanges {
        let forms = definitions
            .zip(&shapes)
            .map(|((id, is_lost), of)| (id, ShapeValues::of(&of.shape, is_lost)));
        let (definitions, forms) = forms.unzip();
        BlockRanges {
            shapes,
            definitions,
            forms,
        }
    }

    /// The definitions of the shapes of the block.
    pub fn definitions(&self) -> &[EventId] {
        &self.definitions
    }

    /// What the events of a shape have as their values.
    pub fn shape_values(&self, shape: usize) -> &ShapeValues {
        &self.forms[shape]
    }

    /// The kind of the values of a shape at a position, and the bits of the least and the greatest
    /// of them. `None` if nothing is known, and for texts.
    pub fn range(&self, shape: usize, position: usize) -> Option<(ValueKind, RangeInclusive<u64>)> {
        let of = self.shapes.get(shape)?;
        let kind = of.shape.value_kinds().nth(position)?;
        let range = of.values.get(position)?.as_ref()?;
        let ends = [range.start(), range.end()].map(|place| bits(kind, *place));
        (kind != ValueKind::Text).then_some((kind, ends[0]..=ends[1]))
    }

    /// Whether the values of a shape up to a position are all shown; see
    /// [`BlockColumns::are_shown`](crate::BlockColumns::are_shown).
    pub fn are_shown(&self, shape: usize, position: usize) -> bool {
        let of = &self.shapes[shape];
        let up_to = of.shape.value_kinds().zip(&of.values);
        let mut bytes = 0_u64;
        for (kind, range) in up_to.take(position.saturating_add(1)) {
            // No value takes more bytes, but for those of a text.
            let most = match (kind, range) {
                (ValueKind::Text, Some(lengths)) => *lengths.end(),
                (ValueKind::Text, None) => u64::MAX,
                _ => 0,
            };
            bytes = bytes.saturating_add(20).saturating_add(most);
        }
        matches!(self.forms[shape], ShapeValues::Words(_)) || bytes < PAYLOAD as u64
    }
}

/// The magic and the ranges of a block, if its record has them and they are whole.
pub fn read(
    bytes: &ArchiveBytes,
    unit: &Unit,
    buffer: &mut Vec<u8>,
) -> Option<(u64, Vec<ShapeRanges>)> {
    let place = &unit.place;
    let mut length = FIRST.min(place.len());
    loop {
        let first = bytes.read(place.start..place.start + length, buffer).ok()?;
        match record::ranges(first) {
            Some((magic, ranges)) => return Some((magic, decode(ranges?)?)),
            None if length < place.len() => length = place.len(),
            None => return None,
        }
    }
}
