//! The events that come to a log.

use std::io::Read;
use std::path::Path;

use timeline::{Attached, Event, Follow, FollowFrom};
use timeline_archive::Archive;
use timeline_latency::Lack;

use super::growth::GrowthReader;
use super::inflow::ByteInflow;
use crate::error::{Error, Result};
use crate::log::{Holder, Log};

/// The events that come to a log: to a timeline, to an archive that is recorded, or to one that
/// comes as bytes.
///
/// What a look gives is sorted by time, the important events first. An event may be a little older
/// than the last one of the look before, and comes before none that happened before it.
pub struct LogFollow<'a> {
    path: &'a Path,
    growing: Growing<'a>,
}

enum Growing<'a> {
    Ring(&'a Attached, Box<Follow<'a>>),
    Archive(GrowthReader<'a>),
    Bytes(Box<ByteInflow<'a>>),
}

/// What a look at new events has found.
#[derive(Debug, Default)]
pub struct FollowLook {
    /// What is missing.
    pub lacks: Vec<Lack>,
    /// Whether nothing was new.
    pub is_idle: bool,
}

impl Log {
    /// The events that come to it: of a timeline from a place on, of an archive behind those that
    /// it had when it was opened.
    ///
    /// # Errors
    /// `Archive` if the archive is in memory, or its file cannot be opened again.
    pub fn follow(&self, from: FollowFrom) -> Result<LogFollow<'_>> {
        let growing = match self.holder() {
            Holder::Ring(at) => Growing::Ring(at, Box::new(at.follow(from))),
            Holder::Archive(archive) => Growing::Archive(GrowthReader::of(archive)?),
        };
        let path = self.path();
        Ok(LogFollow { path, growing })
    }

    /// An archive whose bytes are still to come. People know it by this path.
    ///
    /// # Example
    /// ```
    /// use timeline_archive::{Form, RawEvent, Writer};
    /// use timeline_reading::Log;
    ///
    /// let mut sent = Vec::new();
    /// let mut writer = Writer::new(&mut sent, 7, Form::Blocks);
    /// writer.event(&RawEvent { args: vec![42], ..RawEvent::default() })?;
    /// writer.flush()?;
    ///
    /// let log = Log::incoming("-".as_ref());
    /// let mut follow = log.follow_bytes(&sent[..])?;
    /// let mut events = Vec::new();
    /// while follow.goes_on() {
    ///     follow.look(&mut events)?;
    /// }
    /// assert_eq!(events[0].args[0], 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn incoming(path: &Path) -> Log {
        Log::of_archive(path, Archive::from_bytes([]))
    }

    /// The events that come with these bytes, which are frames of an archive: a pipe or a
    /// connection, say. Of one that does not block, or blocks for a limited time, a look finds
    /// nothing while nothing comes.
    ///
    /// # Errors
    /// `Bytes` if it is a timeline or a snapshot, behind which no frame can come.
    pub fn follow_bytes<'a>(&'a self, from: impl Read + Send + 'a) -> Result<LogFollow<'a>> {
        let path = self.path();
        let Holder::Archive(archive) = self.holder() else {
            let message = "a timeline cannot go on with the frames of an archive; begin with \
                           Log::incoming";
            return Err(Error::Bytes {
                path: path.into(),
                error: std::io::Error::other(message),
            });
        };
        let growing = Growing::Bytes(Box::new(ByteInflow::new(archive, Box::new(from))));
        Ok(LogFollow { path, growing })
    }
}

impl LogFollow<'_> {
    /// Whether more may come than is there now. To be asked before a look: if it is false, and that
    /// look finds nothing, no more comes.
    pub fn goes_on(&mut self) -> bool {
        match &mut self.growing {
            Growing::Ring(at, _) => !at.is_snapshot(),
            Growing::Archive(growth) => growth.is_recorded(),
            Growing::Bytes(bytes) => bytes.goes_on(),
        }
    }

    /// Appends the events that are new, and says what is missing among them. Bytes are waited for
    /// as long as their reader blocks, and nothing else.
    ///
    /// # Errors
    /// `Timeline` if it was damaged meanwhile; `Archive` or `Bytes` if it cannot be read.
    pub fn look(&mut self, batch: &mut Vec<Event>) -> Result<FollowLook> {
        let known = batch.len();
        let (lacks, is_new) = match &mut self.growing {
            Growing::Ring(at, follow) => {
                let missed = follow.poll(batch);
                at.intact().map_err(Error::Timeline)?;
                let lack = (missed > 0).then_some(Lack::Unread(missed));
                (lack.into_iter().collect(), false)
            }
            Growing::Archive(growth) => (growth.poll(batch)?, false),
            Growing::Bytes(bytes) => bytes.poll(batch).map_err(|error| Error::Bytes {
                path: self.path.into(),
                error,
            })?,
        };
        Ok(FollowLook {
            is_idle: batch.len() == known && lacks.is_empty() && !is_new,
            lacks,
        })
    }
}
