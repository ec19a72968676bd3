//! One of the timelines and archives that are followed, with all that reads and shows its events.

use self_cell::self_cell;
use timeline::Event;
use timeline_reading::{EventTime, Holder};

use super::archive::ArchiveTail;
use super::origin::{PollResult, TailOrigin};
use super::printer::TailPrinter;
use super::ring::RingTail;
use crate::failure::Result;

/// What reads its events, and what shows them.
struct Following<'a> {
    reader: Reader<'a>,
    printer: TailPrinter<'a>,
}

enum Reader<'a> {
    Ring(Box<RingTail<'a>>),
    Archive(Box<ArchiveTail<'a>>),
}

self_cell!(
    struct Cell<'q> {
        owner: Box<TailOrigin<'q>>,
        #[not_covariant]
        dependent: Following,
    }
);

/// A timeline or an archive that is followed.
pub struct TailSource<'q>(Cell<'q>);

impl<'q> TailSource<'q> {
    pub fn new(origin: TailOrigin<'q>) -> Result<TailSource<'q>> {
        let cell = Cell::try_new(Box::new(origin), |origin| {
            let reader = match origin.log.holder() {
                Holder::Ring(at) => Reader::Ring(Box::new(RingTail::new(at, origin))),
                Holder::Archive(archive) => {
                    Reader::Archive(Box::new(ArchiveTail::new(archive, origin)?))
                }
            };
            let printer = TailPrinter::new(origin);
            Ok(Following { reader, printer })
        });
        cell.map(TailSource)
    }

    pub fn origin(&self) -> &TailOrigin<'q> {
        self.0.borrow_owner()
    }

    /// Appends new events, as far as they are wanted, and says when they were logged.
    pub fn look(&mut self, new: &mut Vec<(Event, EventTime)>) -> Result<PollResult> {
        self.0.with_dependent_mut(|origin, following| {
            let mut batch = Vec::new();
            let look = match &mut following.reader {
                Reader::Ring(ring) => ring.look(&mut batch)?,
                Reader::Archive(recorded) => recorded.look(&mut batch)?,
            };
            following.printer.notice_renames();
            new.extend(batch.into_iter().map(|event| {
                let time = EventTime::of(origin.log.source(), &event);
                (event, time)
            }));
            Ok(look)
        })
    }

    /// Does something with what shows its events.
    pub fn printed<T>(&mut self, print: impl FnOnce(&mut TailPrinter) -> T) -> T {
        self.0
            .with_dependent_mut(|_, following| print(&mut following.printer))
    }
}
