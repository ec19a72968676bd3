//! Keeps the definitions that an import has made.

use std::collections::{HashMap, HashSet};

use timeline::Priority;
use timeline_archive::{PRINTF, RawDefinition};

use super::skeleton::{Skeleton, SkeletonId};
use super::template::{VariableForm, format};

/// Most definitions of an import. Further lines are one text behind their time.
const MOST: usize = 4096;

/// Writes a string, and returns its number.
pub type PutString<'a> = &'a mut dyn FnMut(&str) -> u64;

/// The definitions of an import.
#[derive(Default)]
pub struct DefinitionCache {
    /// The last one of each skeleton and priority.
    made: HashMap<(SkeletonId, Option<Priority>), (Vec<VariableForm>, RawDefinition)>,
    skeletons: HashSet<SkeletonId>,
    /// By format and priority, also those of skeletons that were forgotten.
    all: HashMap<(String, Option<Priority>), RawDefinition>,
    /// How many definitions have numbers, also those of JSON.
    pub numbers: u64,
}

/// The number of the next definition.
pub fn next(numbers: &mut u64) -> u64 {
    *numbers += 1;
    *numbers
}

impl DefinitionCache {
    /// Whether more may be made.
    pub fn have_room(&self) -> bool {
        self.all.len() < MOST
    }

    /// Whether there is one of a skeleton.
    pub fn has(&self, id: SkeletonId) -> bool {
        self.skeletons.contains(&id)
    }

    /// The last conversions of a skeleton.
    pub fn conversions(
        &self,
        id: SkeletonId,
        priority: Option<Priority>,
    ) -> Option<&[VariableForm]> {
        self.made
            .get(&(id, priority))
            .map(|(conversions, _)| &conversions[..])
    }

    /// Forgets the skeletons, because they get other numbers.
    pub fn forget_skeletons(&mut self) {
        self.made.clear();
        self.skeletons.clear();
    }

    /// The definition of lines with this skeleton and these conversions.
    pub fn define(
        &mut self,
        (id, skeleton): (SkeletonId, &Skeleton),
        priority: Option<Priority>,
        conversions: Vec<VariableForm>,
        put: PutString,
    ) -> RawDefinition {
        let key = (id, priority);
        if let Some((known, definition)) = self.made.get(&key)
            && *known == conversions
        {
            return definition.clone();
        }
        let format = format(skeleton, &conversions);
        let numbers = &mut self.numbers;
        let definition = self
            .all
            .entry((format, priority))
            .or_insert_with_key(|(format, _)| RawDefinition {
                format: Some(put(format)),
                level: priority.map(|priority| priority as u64),
                event: Some(next(numbers)),
                syntax: Some(PRINTF),
                ..RawDefinition::default()
            });
        let definition = definition.clone();
        self.made.insert(key, (conversions, definition.clone()));
        self.skeletons.insert(id);
        definition
    }
}
