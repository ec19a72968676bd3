//! The names that the numbers of an enum or of flags have.

use std::collections::HashSet;

/// The names of an enum or of flags, each with its number: `red=1,green=2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels<'a>(&'a str);

impl<'a> Labels<'a> {
    /// Labels as a message has them between the parentheses. Each needs a name and a number, in
    /// base 10, or in base 16 behind `0x`.
    pub fn parse(list: &'a str) -> Option<Labels<'a>> {
        let labels = Labels(list);
        list.split(',')
            .all(|label| split_label(label).is_some())
            .then_some(labels)
    }

    /// Labels of a list that was checked.
    pub(crate) const fn checked(list: &'a str) -> Labels<'a> {
        Labels(list)
    }

    /// Name and number of each, in their order.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, i64)> {
        self.0.split(',').filter_map(split_label)
    }

    /// The name of a number.
    pub fn name(self, number: i64) -> Option<&'a str> {
        let mut labels = self.iter();
        labels.find_map(|(name, own)| (own == number).then_some(name))
    }

    /// A name that two of them have.
    pub(crate) fn repeated(self) -> Option<&'a str> {
        let mut seen = HashSet::new();
        let mut names = self.iter().map(|(name, _)| name);
        names.find(|name| !seen.insert(*name))
    }

    /// The names whose bits are all set, in their order, and the bits that no name covers.
    pub fn names(self, bits: u64) -> (Vec<&'a str>, u64) {
        let set = self.iter().map(|(name, number)| (name, number as u64));
        let set: Vec<_> = set
            .filter(|(_, own)| *own != 0 && bits & own == *own)
            .collect();
        let rest = set.iter().fold(bits, |rest, (_, own)| rest & !own);
        (set.into_iter().map(|(name, _)| name).collect(), rest)
    }

    /// The list, as the message has it.
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

fn split_label(label: &str) -> Option<(&str, i64)> {
    let (name, number) = label.split_once('=')?;
    let (name, number) = (name.trim(), number.trim());
    let number = match number.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()? as i64,
        None => number.parse().ok()?,
    };
    // A `$` would begin an argument for those that only count them.
    (!name.is_empty() && !name.contains('$')).then_some((name, number))
}
