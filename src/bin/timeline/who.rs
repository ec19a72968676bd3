//! Who logged an event, when, and how grave it is: what `--long` adds.

use std::collections::HashMap;
use std::fmt::{self, Write};

use timeline::{Attached, Event, Thread, ThreadRef};

use crate::time::{Form, WallClock};

/// A number of a core or node, unless it stands for an unknown one.
pub fn known(number: u16) -> Option<u16> {
    (number != u16::MAX).then_some(number)
}

/// The threads of a timeline, looked up once each.
pub struct Threads<'a> {
    at: &'a Attached,
    // A reference names one thread for good, until its record is reused: then it names nobody.
    found: HashMap<(ThreadRef, u32), Option<Thread>>,
}

impl<'a> Threads<'a> {
    /// None looked up yet.
    pub fn new(at: &'a Attached) -> Threads<'a> {
        Threads {
            at,
            found: HashMap::new(),
        }
    }

    /// The thread that logged this event, if it is still known.
    pub fn of(&mut self, event: &Event) -> Option<&Thread> {
        let at = self.at;
        let key = (event.thread, event.tid);
        self.found
            .entry(key)
            .or_insert_with(|| at.thread(event))
            .as_ref()
    }
}

/// Writes the columns that come before those of a dump.
pub struct Who<'a> {
    at: &'a Attached,
    threads: Threads<'a>,
    clock: WallClock,
}

/// Enough for names of the usual length; longer ones push the rest of their line aside.
const THREAD_WIDTH: usize = 26;

impl<'a> Who<'a> {
    /// The names of the columns.
    pub fn heading() -> String {
        format!(
            "{:<29} {:<THREAD_WIDTH$} {:<8} ",
            "time", "thread", "priority"
        )
    }

    /// For the events of this timeline.
    pub fn new(at: &'a Attached) -> Who<'a> {
        let (threads, clock) = (Threads::new(at), WallClock::new(Form::DateTime));
        Who { at, threads, clock }
    }

    /// Writes the columns of one event.
    pub fn write(&mut self, event: &Event, out: &mut String) -> fmt::Result {
        match self.at.unix_nanos(event.ticks) {
            Some(nanos) => out.push_str(self.clock.format(nanos)),
            None => write!(out, "{:>23} ticks", event.ticks)?,
        }
        let start = out.len() + 1;
        match self.threads.of(event) {
            Some(Thread { name, process, .. }) if name == process => {
                write!(out, " {name} {}", event.tid)?;
            }
            Some(Thread { name, process, .. }) => write!(out, " {process}/{name} {}", event.tid)?,
            None => write!(out, " ? {}", event.tid)?,
        }
        let width = out[start..].chars().count();
        let padding = THREAD_WIDTH.saturating_sub(width);
        let priority = self
            .at
            .definition(event.id)
            .map_or("?", |d| d.priority.name());
        write!(out, "{:padding$} {priority:<8} ", "")
    }
}
