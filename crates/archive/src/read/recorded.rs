//! Events with everything that an archive says of them, in its own terms.

use std::sync::Arc;

use timeline::Priority;

use crate::format::event::{Kind, Source};
use crate::read::archive::Archive;
use crate::read::decode::{Loader, Made, Moment, Of, Unit};
use crate::read::gaps::Gap;
use crate::read::names::Names;
use crate::read::unpack::Row;

/// Text of an event. Where its definition was lost, its number stands in its place: `<string
/// 0x1a40?>`.
pub type Text = Arc<str>;

/// What the events of one statement share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Which program and ring; see [`Archive::preamble`].
    pub magic: u64,
    /// The part of the program.
    pub category: Option<Text>,
    /// The message as it was defined.
    pub message: Option<Text>,
    /// How much detail it is.
    pub priority: Option<Priority>,
    /// The file of the statement.
    pub file: Option<Text>,
    /// The line of the statement.
    pub line: Option<u64>,
    /// The number of the event in its ring.
    pub event: Option<u64>,
    /// How the message is written: [`PRINTF`](crate::PRINTF), or with names of arguments (`$name`)
    /// if there is none.
    pub syntax: Option<u64>,
}

/// What the events of one thread share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The thread's name.
    pub thread: Option<Text>,
    /// The kernel's id of the thread.
    pub tid: Option<u64>,
    /// The id of its process.
    pub pid: Option<u64>,
    /// The name of its process.
    pub process: Option<Text>,
}

/// An event of an archive. What is not known is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// What it says.
    pub statement: Arc<Statement>,
    /// Who says it.
    pub author: Arc<Author>,
    /// Ticks of the ring's clock.
    pub ticks: Option<u64>,
    /// Nanoseconds since the epoch.
    pub unix_nanos: Option<u64>,
    /// The CPU it was logged on.
    pub core: Option<u64>,
    /// The lane of the ring it was logged through.
    pub lane: Option<u64>,
    /// How many events were logged through that lane before it.
    pub number: Option<u64>,
    /// Its arguments, if all are integers and there is no payload.
    pub args: Vec<i64>,
    /// Its arguments as msgpack, one value after the other.
    pub payload: Vec<u8>,
    /// Return addresses, innermost first.
    pub backtrace: Vec<u64>,
    /// How many entries of its lane are missing right before it: they were overwritten.
    pub missed: u64,
}

impl Made for Recorded {
    type Statement = Arc<Statement>;
    type Author = Arc<Author>;

    fn statement(names: &Names, magic: u64, kind: &Kind) -> Arc<Statement> {
        let text = |id| names.text(magic, id);
        let level = kind.level.and_then(|level| u8::try_from(level).ok());
        Arc::new(Statement {
            magic,
            category: text(kind.category),
            message: text(kind.format),
            priority: level.and_then(Priority::from_u8),
            file: text(kind.file),
            line: kind.line,
            event: kind.event,
            syntax: kind.syntax,
        })
    }

    fn author(names: &Names, magic: u64, source: &Source) -> Arc<Author> {
        let text = |id| names.text(magic, id);
        Arc::new(Author {
            thread: text(source.thread),
            tid: source.tid,
            pid: source.pid,
            process: text(source.process),
        })
    }

    fn make(_: &Of, statement: &Arc<Statement>, author: &Arc<Author>, row: &mut Row) -> Recorded {
        Recorded {
            statement: Arc::clone(statement),
            author: Arc::clone(author),
            ticks: row.ticks,
            unix_nanos: row.unix_nanos,
            core: row.core,
            lane: row.lane,
            number: row.number,
            args: std::mem::take(&mut row.args),
            payload: std::mem::take(&mut row.payload),
            backtrace: std::mem::take(&mut row.backtrace),
            missed: 0,
        }
    }

    fn moment(&self) -> Moment {
        (
            self.unix_nanos.unwrap_or(0),
            self.ticks.unwrap_or(0),
            self.statement.magic,
            self.lane.unwrap_or(0),
            self.number.unwrap_or(0),
        )
    }

    fn miss(&mut self, gap: &Gap) {
        let place = self.lane.zip(self.number);
        self.missed = place.map_or(0, |(lane, number)| {
            gap.before(self.statement.magic, lane, number)
        });
    }

    fn take(&mut self) -> Recorded {
        Recorded {
            statement: Arc::clone(&self.statement),
            author: Arc::clone(&self.author),
            args: std::mem::take(&mut self.args),
            payload: std::mem::take(&mut self.payload),
            backtrace: std::mem::take(&mut self.backtrace),
            ..*self
        }
    }

    fn heap(&self) -> usize {
        let words = self.args.capacity() + self.backtrace.capacity();
        size_of::<u64>() * words + self.payload.capacity()
    }
}

impl Archive {
    /// The events in the order of the file.
    pub fn events(&self) -> InFile<'_> {
        InFile {
            units: self.units().iter(),
            loader: self.loader(),
            ready: Vec::new(),
        }
    }
}

/// The events of an archive in the order of the file.
pub struct InFile<'a> {
    units: std::slice::Iter<'a, Unit>,
    loader: Loader<'a, Recorded>,
    /// Of the present frames, the next one last.
    ready: Vec<Recorded>,
}

impl Iterator for InFile<'_> {
    type Item = Recorded;

    fn next(&mut self) -> Option<Recorded> {
        loop {
            if let Some(event) = self.ready.pop() {
                return Some(event);
            }
            self.loader.load(self.units.next()?, &mut self.ready);
            self.ready.reverse();
        }
    }
}
