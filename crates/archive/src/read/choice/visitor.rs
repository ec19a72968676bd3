//! Takes events by the columns of their units, so that these are not made.

use timeline::Event;

use crate::read::choice::columns::BlockColumns;
use crate::read::choice::select::Places;
use crate::read::units::unit::UnitInfo;

/// Takes the wanted events of an archive, most of them by columns; see [`Archive::visit`].
///
/// A unit may be read several times.
///
/// [`Archive::visit`]: crate::Archive::visit
pub trait UnitVisitor {
    /// Whether to visit a unit that may have wanted events. Nobody asks this about important
    /// events.
    fn wants_unit(&mut self, _unit: &UnitInfo) -> bool {
        true
    }

    /// A block has no wanted event, as its ranges say.
    fn pass(&mut self, _unit: &UnitInfo) {}

    /// Takes wanted events of a unit, and clears the places of these. The others are made.
    /// `columns` are those of a block. Nobody asks this about important events.
    fn take(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    );

    /// Takes an event that was made; the events that are made come by time, the important ones
    /// first. Returns whether to go on.
    fn event(&mut self, event: Event) -> bool;
}

impl<V: UnitVisitor + ?Sized> UnitVisitor for &mut V {
    fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
        (**self).wants_unit(unit)
    }

    fn pass(&mut self, unit: &UnitInfo) {
        (**self).pass(unit);
    }

    fn take(
        &mut self,
        unit: &UnitInfo,
        columns: Option<&mut BlockColumns<'_>>,
        places: &mut Places,
    ) {
        (**self).take(unit, columns, places);
    }

    fn event(&mut self, event: Event) -> bool {
        (**self).event(event)
    }
}
