//! Chooses the events of a unit while it is decoded.

use timeline::Event;

use crate::read::choice::block_ranges::BlockRanges;
use crate::read::choice::columns::BlockColumns;
use crate::read::choice::select::{Places, Select};
use crate::read::choice::visitor::UnitVisitor;
use crate::read::loss::gaps::Gap;
use crate::read::units::form::DecodedEvent;
use crate::read::units::unit::UnitInfo;

/// The choice of the events of a unit.
pub struct UnitChoice<'s> {
    select: Option<&'s mut dyn Select>,
    visitor: Option<&'s mut dyn UnitVisitor>,
    unit: UnitInfo,
    gap: Option<Gap>,
    places: Places,
    /// The place of the event that is being made.
    at: Option<usize>,
    /// How many entries are missing right before events that are not wanted.
    missed: u64,
}

impl<'s> UnitChoice<'s> {
    pub fn new(unit: UnitInfo, gap: Option<Gap>) -> UnitChoice<'s> {
        UnitChoice {
            select: None,
            visitor: None,
            unit,
            gap,
            places: Places::default(),
            at: None,
            missed: 0,
        }
    }

    /// By what `select` wants; all events are wanted if there is none.
    pub fn by(self, select: Option<&'s mut dyn Select>) -> UnitChoice<'s> {
        UnitChoice { select, ..self }
    }

    /// Without those that a visitor takes, if there is one.
    pub fn without(self, visitor: Option<&'s mut dyn UnitVisitor>) -> UnitChoice<'s> {
        UnitChoice { visitor, ..self }
    }

    /// Whether a block may have wanted events. If not, its events count as not wanted.
    pub fn wants_block(&mut self, ranges: &BlockRanges) -> bool {
        let select = self.select.as_mut();
        let is_wanted = select.is_none_or(|select| select.wants_block(&self.unit, ranges));
        if !is_wanted {
            if let Some(visitor) = &mut self.visitor {
                visitor.pass(&self.unit);
            }
            self.missed += self.gap.take().map_or(0, |gap| gap.missed());
        }
        is_wanted
    }

    /// Chooses among so many events.
    pub fn choose(&mut self, count: usize, mut columns: Option<&mut BlockColumns<'_>>) {
        self.places = Places::all(count);
        let (unit, places) = (&self.unit, &mut self.places);
        if let Some(select) = &mut self.select {
            select.choose(unit, columns.as_deref_mut(), places);
        }
        if let Some(visitor) = &mut self.visitor {
            visitor.take(unit, columns, places);
        }
    }

    /// The next event that has to be made: a wanted one, or the first one, if it is behind a gap.
    /// [`UnitChoice::push`] takes it.
    #[inline]
    pub fn next(&mut self) -> Option<usize> {
        self.at = match self.gap {
            Some(_) if !self.places.is_empty() => Some(0),
            _ => self.places.next(self.at.map_or(0, |at| at + 1)),
        };
        self.at
    }

    fn wants(&mut self, event: &Event) -> bool {
        let select = self.select.as_mut();
        select.is_none_or(|select| select.wants(event))
    }

    /// How many entries are missing right before events that are not wanted.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Appends an event that was made, if it is wanted.
    #[inline]
    pub fn push<T: DecodedEvent>(&mut self, mut event: T, out: &mut Vec<T>) {
        let Some(place) = self.at else {
            return;
        };
        if let Some(gap) = self.gap.take() {
            event.miss(&gap);
        }
        let mut is_wanted = self.places.has(place);
        if let Some(event) = event.event() {
            is_wanted = is_wanted && (!self.places.asks(place) || self.wants(event));
            if !is_wanted {
                self.missed = self.missed.saturating_add(event.missed);
            }
        }
        if is_wanted {
            out.push(event);
        }
    }
}
