//! One of the timelines and archives that are followed, with all that reads and shows its events.

use self_cell::self_cell;
use timeline::Event;

use super::archive::Recorded;
use super::origin::{Look, Origin};
use super::printer::Printer;
use super::ring::Ring;
use crate::failure::Result;
use crate::programs::Programs;
use crate::target::Opened;
use crate::text_lines::Moment;

/// What reads its events, and what shows them.
struct Following<'a> {
    reader: Reader<'a>,
    printer: Printer<'a>,
}

enum Reader<'a> {
    Ring(Box<Ring<'a>>),
    Archive(Box<Recorded<'a>>),
}

self_cell!(
    struct Cell<'q> {
        owner: Box<Origin<'q>>,
        #[not_covariant]
        dependent: Following,
    }
);

/// A timeline or an archive that is followed.
pub struct Part<'q>(Cell<'q>);

impl<'q> Part<'q> {
    pub fn new(origin: Origin<'q>) -> Result<Part<'q>> {
        let cell = Cell::try_new(Box::new(origin), |origin| {
            let (reader, programs) = match &origin.opened {
                Opened::Ring(at) => (Reader::Ring(Box::new(Ring::new(at, origin))), None),
                Opened::Archive(archive) => {
                    let recorded = Recorded::new(archive, origin)?;
                    let programs = Programs::of(archive);
                    (Reader::Archive(Box::new(recorded)), Some(programs))
                }
            };
            let printer = Printer::new(origin.source(), programs, origin);
            Ok(Following { reader, printer })
        });
        cell.map(Part)
    }

    pub fn origin(&self) -> &Origin<'q> {
        self.0.borrow_owner()
    }

    /// Appends new events, as far as they are wanted, and says when they were logged.
    pub fn look(&mut self, new: &mut Vec<(Event, Moment)>) -> Result<Look> {
        self.0.with_dependent_mut(|origin, following| {
            let mut batch = Vec::new();
            let look = match &mut following.reader {
                Reader::Ring(ring) => ring.look(&mut batch)?,
                Reader::Archive(recorded) => recorded.look(&mut batch)?,
            };
            following.printer.notice_renames();
            let moment = |event: &Event| Moment::of(origin.source(), event);
            new.extend(batch.into_iter().map(|event| {
                let moment = moment(&event);
                (event, moment)
            }));
            Ok(look)
        })
    }

    /// Does something with what shows its events.
    pub fn printed<T>(&mut self, print: impl FnOnce(&mut Printer) -> T) -> T {
        self.0
            .with_dependent_mut(|_, following| print(&mut following.printer))
    }
}
