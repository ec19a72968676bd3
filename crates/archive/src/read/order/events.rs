//! Gives the events of an archive by time or unit by unit, in the form of events of a ring.

use timeline::{Event, Order, Passage};

use crate::read::choice::select::Select;
use crate::read::choice::visitor::UnitVisitor;
use crate::read::open::archive::Archive;
use crate::read::open::decode::Decoder;
use crate::read::open::holes::Holes;
use crate::read::order::ahead;
use crate::read::order::chooser::EventChooser;
use crate::read::order::merge::ByTime;
use crate::read::order::recorded_event::RecordedEvent;
use crate::read::units::ordered::OrderedEvent;
use crate::read::units::unit::{Unit, UnitInfo};

impl Archive {
    /// The events, the important ones first, each merged by time, in the form of events of a ring.
    ///
    /// For any archive, at most 128 MiB of events are in memory at once, and those of one block. If
    /// blocks that overlap in time have more events than this, they are read several times. That
    /// can happen if somebody joined hundreds of archives of the same time.
    pub fn events_by_time(&self, order: Order) -> ArchiveEvents<'_> {
        ArchiveEvents::of(self, ByTime::new(self, order))
    }

    /// The events that `select` wants, otherwise as [`Archive::events_by_time`]. What it does not
    /// want is not made, and units without wanted events are not even read.
    pub fn events_by_time_where<'a>(
        &'a self,
        order: Order,
        select: Box<dyn Select + 'a>,
    ) -> ArchiveEvents<'a> {
        ArchiveEvents::of(
            self,
            ByTime::new(self, order).chosen_by(EventChooser::by(select)),
        )
    }

    /// Passes the events to `read` that the selects of `make` want, otherwise as
    /// [`Archive::events_by_time_where`]. Several threads read blocks, each with a select of its
    /// own, and one of these is asked about all units. With few blocks, or on one CPU, this thread
    /// reads them itself. At most 32 MiB of events more are in memory, and those of a block of each
    /// thread.
    ///
    /// # Panics
    /// If `make` or a select panics.
    pub fn read_ahead<S: Select, R>(
        &self,
        order: Order,
        make: impl Fn() -> S + Sync,
        read: impl FnOnce(ArchiveEvents) -> R,
    ) -> R {
        self.ahead(order, || EventChooser::by(Box::new(make())), read)
    }

    fn ahead<'s, R>(
        &self,
        order: Order,
        make: impl Fn() -> EventChooser<'s> + Sync,
        read: impl FnOnce(ArchiveEvents) -> R,
    ) -> R {
        let mut chooser = make();
        let blocks = ahead::blocks_to_read(self, order, &mut chooser);
        let merged = ByTime::new(self, order).chosen_by(chooser);
        match ahead::threads_for(blocks.len()) {
            0 | 1 => read(ArchiveEvents::of(self, merged)),
            threads => ahead::read_on(threads, (self, &blocks), make, |ahead| {
                let merged = merged.ahead_by(ahead);
                read(ArchiveEvents::of(self, merged))
            }),
        }
    }

    /// Has a visitor take the events that `select` wants, or all, in the order of
    /// [`Archive::events_by_time`], until it has enough. It takes most of them by columns, many
    /// times faster than they are made. Returns how many could not be read up to there.
    pub fn visit<'a>(
        &'a self,
        order: Order,
        select: Option<Box<dyn Select + 'a>>,
        visitor: &'a mut dyn UnitVisitor,
    ) -> u64 {
        let chooser = EventChooser::visited(select, visitor);
        let merged = ByTime::new(self, order).chosen_by(chooser);
        let mut events = ArchiveEvents::of(self, merged);
        while let Some(event) = events.next() {
            if !events.merged.chooser().visit(event) {
                break;
            }
        }
        events.lost()
    }

    /// Has visitors take the events that selects want, in no order. Several threads read blocks,
    /// each with a select and a visitor of its own, which `make` gives. Nobody gets the events that
    /// visitors leave.
    ///
    /// # Panics
    /// If `make`, a select or a visitor panics.
    pub fn visit_ahead<S: Select, V: UnitVisitor>(&self, make: impl Fn() -> (S, V) + Sync) {
        let make = || {
            let (select, visitor) = make();
            EventChooser::visited(Some(Box::new(select)), visitor)
        };
        self.ahead(Order::OldestFirst, make, |events| events.for_each(drop));
    }

    /// The passage of events of these ticks and this time, in nanoseconds since 1970; 0 stands for
    /// one that is not known. Between two passages events are missing: they were not recorded,
    /// the file is damaged or lacks its end, or the run of the program ended.
    #[inline]
    pub fn passage(&self, ticks: u64, time: u64) -> Passage {
        self.passages().passage(ticks, time)
    }

    /// The events, merged by time, with everything that the archive has about them. It uses as much
    /// memory as [`Archive::events_by_time`].
    pub fn by_time(&self, order: Order) -> impl Iterator<Item = RecordedEvent> {
        ByTime::new(self, order)
    }
}

/// The events of an archive, merged by time; see [`Archive::events_by_time`].
///
/// If an archive has several rings, events are ordered by wall-clock time, otherwise by ticks.
pub struct ArchiveEvents<'a> {
    merged: ByTime<'a, OrderedEvent>,
    holes: &'a Holes,
    /// The unit of which events were lost last.
    lossy: Option<UnitInfo>,
}

impl<'a> ArchiveEvents<'a> {
    fn of(archive: &'a Archive, merged: ByTime<'a, OrderedEvent>) -> ArchiveEvents<'a> {
        ArchiveEvents {
            merged,
            holes: archive.passages(),
            lossy: None,
        }
    }

    fn passage(&mut self, event: &Event) -> Passage {
        let time = event.time.map_or(0, u64::from);
        if event.important {
            return Passage::default();
        }
        if let Some(lossy) = self.merged.take_lossy() {
            self.lossy = Some(lossy);
            return Passage::HOLE;
        }
        let is_inside = |unit: &UnitInfo| {
            (unit.ticks.0..=unit.ticks.1).contains(&event.ticks)
                || (unit.unix.0..=unit.unix.1).contains(&time)
        };
        match &self.lossy {
            Some(unit) if is_inside(unit) => Passage::HOLE,
            _ => self.holes.passage(event.ticks, time),
        }
    }
}

impl ArchiveEvents<'_> {
    /// The number of events, up to now, that could not be read: their blocks are damaged inside, or
    /// have a codec that this version does not know. Those of units that were not read do not
    /// count.
    pub fn lost(&self) -> u64 {
        self.merged.lost()
    }

    /// How many entries of the ring are missing, up to now, right before events that are not
    /// wanted: what [`Event::missed`] would say of these.
    pub fn missed_before_others(&self) -> u64 {
        self.merged.missed()
    }
}

impl Iterator for ArchiveEvents<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        let mut event = self.merged.next()?.event;
        event.passage = self.passage(&event);
        Some(event)
    }
}

impl Archive {
    /// The units of the archive, in the order of the file. If a block says nothing of its ticks or
    /// times, they may be any.
    pub fn units(&self) -> impl ExactSizeIterator<Item = UnitInfo> {
        let numbered = self.found_units().iter().enumerate();
        numbered.map(|(number, unit)| unit.info(number))
    }

    /// The first and the last time of its events, in nanoseconds since 1970, as far as its units
    /// say these.
    pub fn times(&self) -> Option<(u64, u64)> {
        let times = self.units().filter_map(|unit| unit.times());
        times.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Reads units one by one.
    pub fn unit_reader(&self) -> UnitReader<'_> {
        UnitReader {
            units: self.found_units(),
            decoder: self.decoder(),
            ordered: Vec::new(),
        }
    }
}

/// Reads units of an archive one by one; see [`Archive::unit_reader`].
pub struct UnitReader<'a> {
    units: &'a [Unit],
    decoder: Decoder<'a, OrderedEvent>,
    ordered: Vec<OrderedEvent>,
}

impl UnitReader<'_> {
    /// Appends the events of a unit, in the order in which it has them. Returns how many events it
    /// promises that cannot be read. A unit that is not there has no events.
    pub fn read(&mut self, number: usize, out: &mut Vec<Event>) -> u64 {
        let Some(unit) = self.units.get(number) else {
            return 0;
        };
        let lost = self.decoder.decode(unit, &mut self.ordered);
        out.extend(self.ordered.drain(..).map(|ordered| ordered.event));
        lost
    }
}
