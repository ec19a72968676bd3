//! Leaves out the events of an archive that play no part in any duration, before they are made.

use std::collections::HashMap;
use std::ops::Range;

use timeline::{EventId, Source};
use timeline_archive::{BlockColumns, Places, Select, UnitInfo};
use timeline_latency::{Measure, concerns};

pub struct Concerned<'a> {
    pub source: &'a dyn Source,
    pub measures: &'a [Measure],
    /// Units of other times are left out.
    pub times: Range<u64>,
    pub definitions: HashMap<EventId, bool>,
}

impl Concerned<'_> {
    fn concerns(&mut self, id: EventId) -> bool {
        let Concerned {
            source, measures, ..
        } = *self;
        *self.definitions.entry(id).or_insert_with(|| {
            let definition = source.definition(id);
            definition.is_some_and(|definition| concerns(definition, measures))
        })
    }
}

impl Select for Concerned<'_> {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        let (first, last) = unit.unix;
        // 0 is a time that is not known.
        let is_known = first != 0 && last != 0;
        !is_known || (first < self.times.end && self.times.start <= last)
    }

    fn choose(&mut self, _: &UnitInfo, columns: Option<&mut BlockColumns>, places: &mut Places) {
        let Some(columns) = columns else {
            return;
        };
        let shapes: Vec<bool> = columns
            .definitions()
            .iter()
            .map(|id| self.concerns(*id))
            .collect();
        if shapes.iter().all(|is_one| *is_one) {
            return;
        }
        let mut wanted = places.none_of();
        // The first event says how many are missing before it.
        wanted.add(0);
        for (shape, _) in shapes.iter().enumerate().filter(|(_, is_one)| **is_one) {
            let of_shape = columns.places(shape).iter();
            of_shape.for_each(|place| wanted.add((*place).into()));
        }
        places.intersect(&wanted);
    }
}
