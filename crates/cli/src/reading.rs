//! Reads the events of a timeline or an archive, whichever it is.

use std::path::{Path, PathBuf};

use timeline::{Attached, Event, Order, Source};
use timeline_archive::{Archive, ArchiveEvents, Select};
use timeline_search::Query;

use crate::durations::events_with_edges;
use crate::failure::{Failure, Result};
use crate::filters::{Wanted, wanted_events};
use crate::health;
use crate::programs::Programs;
use crate::target::{Opened, Target};
use crate::unmatched::Whole;

/// A timeline or an archive.
pub struct Reading {
    path: PathBuf,
    opened: Opened,
}

/// Its events, or the wanted ones.
pub enum Events<'a> {
    /// Of a timeline.
    Ring(&'a Attached, Box<timeline::Events<'a>>, Box<Wanted<'a>>),
    /// Of an archive.
    Archive(&'a Path, &'a Archive, Box<ArchiveEvents<'a>>),
}

impl Reading {
    /// Opens it. Of an archive that has an index, only a small part is read.
    pub fn open(target: &Target) -> Result<Reading> {
        Ok(Reading {
            path: target.path().into(),
            opened: target.open_indexed()?,
        })
    }

    /// Opens it to be read several times: of a timeline that programs log to, it opens a snapshot,
    /// which nobody else sees.
    pub fn open_still(target: &Target) -> Result<Reading> {
        let reading = Reading::open(target)?;
        let Opened::Ring(at) = &reading.opened else {
            return Ok(reading);
        };
        if at.is_snapshot() {
            return Ok(reading);
        }
        let failed = |error| Failure::Message(format!("cannot make a directory: {error}"));
        let directory = tempfile::tempdir().map_err(failed)?;
        let file = directory.path().join("still.timeline");
        at.save(&file)?;
        let still = Attached::open(&file)?;
        Ok(Reading {
            opened: Opened::Ring(Box::new(still)),
            ..reading
        })
    }

    /// Opens it, and reads all of an archive.
    pub fn open_whole(target: &Target) -> Result<Reading> {
        Ok(Reading {
            path: target.path().into(),
            opened: target.open()?,
        })
    }

    /// One that was opened by this name.
    pub fn of(target: &Target, opened: Opened) -> Reading {
        Reading {
            path: target.path().into(),
            opened,
        }
    }

    /// The name that was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What filters choose from.
    pub fn whole(&self) -> Whole<'_> {
        Whole::from(&self.opened)
    }

    /// What its events mean.
    pub fn source(&self) -> &dyn Source {
        match &self.opened {
            Opened::Ring(at) => &**at,
            Opened::Archive(archive) => &**archive,
        }
    }

    /// The programs of an archive.
    pub fn programs(&self) -> Option<Programs<'_>> {
        match &self.opened {
            Opened::Ring(_) => None,
            Opened::Archive(archive) => Some(Programs::of(archive)),
        }
    }

    /// Whether programs log to it, or a recorder writes to it.
    pub fn can_grow(&self) -> bool {
        match &self.opened {
            Opened::Ring(at) => !at.is_snapshot(),
            Opened::Archive(archive) => archive.is_recorded(),
        }
    }

    /// The timeline, if it is one.
    pub fn ring(&self) -> Option<&Attached> {
        match &self.opened {
            Opened::Ring(at) => Some(at),
            Opened::Archive(_) => None,
        }
    }

    /// The archive, if it is one.
    pub fn archive(&self) -> Option<&Archive> {
        match &self.opened {
            Opened::Ring(_) => None,
            Opened::Archive(archive) => Some(archive),
        }
    }

    /// Of an archive only the events that `select` wants; all events of a timeline.
    pub fn events_where<'a>(&'a self, order: Order, select: impl Select + 'a) -> Events<'a> {
        match &self.opened {
            Opened::Ring(_) => self.events(order),
            Opened::Archive(archive) => {
                let events = Box::new(archive.events_by_time_where(order, Box::new(select)));
                Events::Archive(&self.path, archive, events)
            }
        }
    }

    /// All its events, the important ones first.
    pub fn events(&self, order: Order) -> Events<'_> {
        match &self.opened {
            Opened::Ring(at) => {
                let wanted = Box::new(Wanted::all());
                Events::Ring(at, Box::new(at.events(order)), wanted)
            }
            Opened::Archive(archive) => {
                let events = Box::new(archive.events_by_time(order));
                Events::Archive(&self.path, archive, events)
            }
        }
    }

    /// Its wanted events, and the begins and ends that their durations depend on. The second value
    /// says which events are wanted. Drop the others once durations are known.
    pub fn with_edges<'a>(&'a self, order: Order, query: &'a Query) -> (Events<'a>, Wanted<'a>) {
        match &self.opened {
            Opened::Ring(at) => (self.events(order), Wanted::new(query, &**at)),
            Opened::Archive(archive) => {
                let (events, wanted) = events_with_edges(archive, order, query);
                let events = Events::Archive(&self.path, archive, Box::new(events));
                (events, wanted)
            }
        }
    }

    /// Those of its events that are wanted.
    pub fn wanted<'a>(&'a self, order: Order, query: &'a Query) -> Events<'a> {
        match &self.opened {
            Opened::Ring(at) => {
                let wanted = Box::new(Wanted::new(query, &**at));
                Events::Ring(at, Box::new(at.events(order)), wanted)
            }
            Opened::Archive(archive) => {
                let events = Box::new(wanted_events(archive, order, query));
                Events::Archive(&self.path, archive, events)
            }
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        match self {
            Events::Ring(_, events, wanted) => events.find(|event| wanted.has(event)),
            Events::Archive(_, _, events) => events.next(),
        }
    }
}

impl Events<'_> {
    /// How many entries were overwritten right before events that are not wanted.
    pub fn missed(&self) -> u64 {
        match self {
            Events::Ring(.., wanted) => wanted.missed(),
            Events::Archive(_, _, events) => events.missed_before_others(),
        }
    }

    /// Says on standard error which events were missed. Fails if the timeline was damaged while it
    /// was read.
    pub fn report(&self) -> Result {
        match self {
            Events::Ring(at, ..) => at.intact()?,
            Events::Archive(path, archive, events) => {
                health::report(path, archive, events.lost());
            }
        }
        Ok(())
    }
}
