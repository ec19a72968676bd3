//! The programs of an archive, if it holds several, and the program of an event.

use std::collections::HashSet;
use std::hash::Hash;

use timeline::Event;
use timeline_archive::{Archive, Preamble};

/// The programs of an archive, and how they differ. Several runs of one program count as one.
#[derive(Clone, Copy)]
pub struct Programs<'a> {
    archive: &'a Archive,
    hosts: bool,
    /// Whether they have several names or machines.
    timelines: bool,
    /// Whether ticks are of several clocks.
    clocks: bool,
}

impl<'a> Programs<'a> {
    /// The programs that are recorded by now.
    pub fn of(archive: &'a Archive) -> Programs<'a> {
        let programs = archive.programs();
        // A program whose preamble was lost counts as another one. Its machine is not known.
        let known = programs.iter().filter(|program| program.host.is_some());
        Programs {
            archive,
            hosts: differ(known.map(|p| &p.host)),
            timelines: differ(programs.iter().map(|p| (&p.host, &p.timeline))),
            clocks: differ(programs.iter().map(|p| (&p.host, &p.boot_id))),
        }
    }

    /// The machine of an event, if there are several.
    pub fn host(&self, event: &Event) -> Option<&'a str> {
        let host = || self.archive.program(event.thread)?.host.as_deref();
        self.hosts.then(|| host().unwrap_or("?"))
    }

    /// The program of an event, if there are several. The inner option is empty if its preamble was
    /// lost.
    pub fn program(&self, event: &Event) -> Option<Option<&'a Preamble>> {
        self.timelines.then(|| self.archive.program(event.thread))
    }

    /// Whether the ticks of all events are of one clock.
    pub fn share_a_clock(&self) -> bool {
        !self.clocks
    }

    /// Whether the ticks of two events are of one clock.
    pub fn have_one_clock(&self, one: &Event, other: &Event) -> bool {
        let clock = |event: &Event| {
            let program = self.archive.program(event.thread);
            program.map(|program| (&program.host, &program.boot_id))
        };
        !self.clocks || one.thread == other.thread || clock(one) == clock(other)
    }
}

fn differ<T: Eq + Hash>(what: impl Iterator<Item = T>) -> bool {
    what.collect::<HashSet<T>>().len() > 1
}
