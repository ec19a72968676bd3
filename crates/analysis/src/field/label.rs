//! Fields whose numbers have names: enums and flags.

use timeline::internal::Notation;
use timeline::{FieldType, Labels};

use super::value::{AnalysisValue, sealed::Sealed};

/// A number with names: that of an enum, or the bits of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelValue<'a> {
    /// The number.
    pub number: i64,
    labels: Labels<'a>,
    is_set: bool,
}

impl<'a> LabelValue<'a> {
    /// The name of the number of an enum, if it has one. Flags have several.
    pub fn name(&self) -> Option<&'a str> {
        let labels = Some(self.labels).filter(|_| !self.is_set);
        labels?.name(self.number)
    }

    /// The names of all bits that are set, or that of an enum.
    pub fn names(&self) -> Vec<&'a str> {
        match self.is_set {
            true => self.labels.names(self.number as u64).0,
            false => self.name().into_iter().collect(),
        }
    }
}

impl Sealed for LabelValue<'static> {}
impl AnalysisValue for LabelValue<'static> {
    type Of<'a> = LabelValue<'a>;
    const NAME: &'static str = "LabelValue";

    fn fits(kind: FieldType) -> bool {
        kind.labels().is_some()
    }

    #[inline]
    fn of_word<'a>(kind: FieldType<'a>, word: i64) -> Option<LabelValue<'a>> {
        Some(LabelValue {
            number: kind.integer(word),
            labels: kind.labels()?,
            is_set: kind.notation() == Notation::Names,
        })
    }
}
