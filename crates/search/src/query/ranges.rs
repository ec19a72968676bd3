//! Decides by the ranges of a block whether any of its events may be wanted.
//!
//! A condition is asked what it may answer for the values between the least and the greatest: true,
//! false, or both. Where nothing is known of a value, it may be both.

use std::ops::RangeInclusive;

use timeline::internal::ValueKind;
use timeline_archive::BlockRanges;

use super::filter::{Decision, Filter};
use super::program::{CompiledQueries, CompiledQuery, Test};

impl<'a> Filter<'a> {
    /// Whether a block may have wanted events.
    pub(super) fn may_want_of(&mut self, ranges: &BlockRanges) -> bool {
        let mut programs = std::mem::take(&mut self.programs);
        let mut shapes = 0..ranges.definitions().len();
        let is_wanted = shapes.any(|shape| self.may_want(shape, ranges, &mut programs));
        self.programs = programs;
        is_wanted
    }

    /// Whether events of a shape may be wanted.
    fn may_want(
        &mut self,
        shape: usize,
        ranges: &BlockRanges,
        programs: &mut CompiledQueries<'a>,
    ) -> bool {
        let id = ranges.definitions()[shape];
        self.decide(id);
        let program = match self.decision(id) {
            Some(Decision::Never) => return false,
            Some(Decision::Always) => return true,
            _ => self.program(id, ranges.shape_values(shape), programs),
        };
        let Some(program) = program else {
            return true;
        };
        // What is not shown meets other conditions.
        let last = program.positions.last();
        last.is_some_and(|last| !ranges.are_shown(shape, *last))
            || program.may_accept(&|position| ranges.range(shape, position))
    }
}

impl CompiledQuery<'_> {
    /// Whether events may meet all conditions whose values at a position are of a kind, and between
    /// these bits, as far as `range` knows.
    fn may_accept(
        &self,
        range: &impl Fn(usize) -> Option<(ValueKind, RangeInclusive<u64>)>,
    ) -> bool {
        self.parts.iter().all(|part| part.answers(range).0)
    }
}

impl Test<'_> {
    /// Whether the answer may be true, and whether it may be false.
    fn answers(
        &self,
        range: &impl Fn(usize) -> Option<(ValueKind, RangeInclusive<u64>)>,
    ) -> (bool, bool) {
        let each = |parts: &[Test]| -> Vec<(bool, bool)> {
            parts.iter().map(|part| part.answers(range)).collect()
        };
        match self {
            Test::All(parts) => {
                let parts = each(parts);
                (
                    parts.iter().all(|(yes, _)| *yes),
                    parts.iter().any(|(_, no)| *no),
                )
            }
            Test::Any(parts) => {
                let parts = each(parts);
                (
                    parts.iter().any(|(yes, _)| *yes),
                    parts.iter().all(|(_, no)| *no),
                )
            }
            Test::Not(part) => {
                let (yes, no) = part.answers(range);
                (no, yes)
            }
            Test::Constant(answer) => (*answer, !answer),
            Test::Number(position, _, Some(bounds), _) => match range(*position) {
                Some((kind, bits)) => bounds.over(kind, &bits),
                None => (true, true),
            },
            Test::Number(..) | Test::Pair(..) | Test::Values(..) => (true, true),
        }
    }
}
