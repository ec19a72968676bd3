//! The events of a log that were asked for, and what came of reading them.

use timeline::{Definition, Event, Order, Source};
use timeline_archive::{Archive, ArchiveEvents, Select};
use timeline_latency::Lack;
use timeline_search::{Candidates, LineNumbers, PageSelection, SearchSelect};

use crate::durations::{EdgeSelect, WithDurations, select_with_edges};
use crate::error::{Error, Result};
use crate::log::{Holder, Log};
use crate::request::Request;
use crate::sieve::Sieve;

/// How many events are read before somebody is asked whether they are still waited for.
const LOOKS: u32 = 4096;

/// The events of a log that were asked for.
pub struct Stream<'a> {
    log: &'a Log,
    events: WithDurations<'a, LogEvents<'a>>,
    sieve: Sieve<'a>,
}

/// What came of reading events, up to the one that was read last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many entries were overwritten right before events that are not wanted, so that no event
    /// of the stream can say it.
    pub missed: u64,
    /// How many events of an archive could not be read.
    pub lost: u64,
}

/// What is read, whether it is wanted or not.
pub struct LogEvents<'a> {
    held: EventSource<'a>,
    is_cancelled: Option<&'a dyn Fn() -> bool>,
    /// How many come before somebody is asked again.
    left: u32,
}

enum EventSource<'a> {
    Ring(Box<timeline::Events<'a>>),
    Archive(Box<ArchiveEvents<'a>>),
}

impl Log {
    /// The events that are asked for.
    pub fn stream<'a>(&'a self, request: Request<'a>) -> Stream<'a> {
        Stream::new(self, request, None)
    }

    /// The same, of an archive only as far as they are selected as well. All of a timeline: nothing
    /// is known of its events before they are read.
    pub fn stream_of<'a>(&'a self, request: Request<'a>, selection: PageSelection) -> Stream<'a> {
        Stream::new(self, request, Some(selection))
    }
}

impl Log {
    /// The events of an archive whose definitions `wants` wants, and those right behind gaps, the
    /// oldest first: the others are not made. All of a timeline. The query of the request is not
    /// asked.
    pub fn stream_of_definitions<'a>(
        &'a self,
        request: Request<'a>,
        wants: impl FnMut(&Definition) -> bool + 'a,
    ) -> Stream<'a> {
        let all = Request {
            query: None,
            order: Order::OldestFirst,
            ..request
        };
        let Some(archive) = self.archive() else {
            return self.stream(all);
        };
        let is_cancelled = request.is_cancelled.unwrap_or(&|| false);
        let select = EdgeSelect::of_definitions(archive, is_cancelled, wants);
        let events = archive.events_by_time_where(Order::OldestFirst, Box::new(select));
        let events = LogEvents {
            held: EventSource::Archive(Box::new(events)),
            is_cancelled: request.is_cancelled,
            left: LOOKS,
        };
        Stream {
            log: self,
            events: WithDurations::None(events),
            sieve: Sieve::all(),
        }
    }

    /// The candidates among the events, or all that are asked for, the oldest first, and what
    /// numbers their lines. All of a timeline.
    pub fn numbered<'a>(
        &'a self,
        request: Request<'a>,
        candidates: Option<Candidates>,
    ) -> (Stream<'a>, LineNumbers) {
        match candidates {
            Some(found) => (self.stream_of(request, found.selection), found.lines),
            None => (self.stream(request), LineNumbers::new(request.order)),
        }
    }
}

impl<'a> Stream<'a> {
    /// `part`: what is read of an archive, if not all.
    fn new(log: &'a Log, request: Request<'a>, part: Option<PageSelection>) -> Stream<'a> {
        let (source, order) = (log.source(), request.order);
        let is_part = part.is_some() && log.archive().is_some();
        let (held, sieve) = match log.holder() {
            Holder::Ring(at) => {
                let events = EventSource::Ring(Box::new(at.events(order)));
                (events, sieve(source, request))
            }
            Holder::Archive(archive) => {
                let (select, sieve) = select(archive, request, part);
                let events = match select {
                    Some(select) => archive.events_by_time_where(order, select),
                    None => archive.events_by_time(order),
                };
                (EventSource::Archive(Box::new(events)), sieve)
            }
        };
        let events = LogEvents {
            held,
            is_cancelled: request.is_cancelled,
            left: LOOKS,
        };
        let events = match (request.has_durations, log.archive()) {
            (false, _) => WithDurations::None(events),
            (true, Some(archive)) if is_part => WithDurations::of_part(archive, events),
            (true, _) => WithDurations::new(source, order, events),
        };
        Stream { log, events, sieve }
    }

    /// Events of an archive that somebody else chose.
    pub fn of(log: &'a Log, events: ArchiveEvents<'a>) -> Stream<'a> {
        let events = LogEvents {
            held: EventSource::Archive(Box::new(events)),
            is_cancelled: None,
            left: LOOKS,
        };
        Stream {
            log,
            events: WithDurations::None(events),
            sieve: Sieve::all(),
        }
    }

    /// The log that is read.
    pub fn log(&self) -> &'a Log {
        self.log
    }

    /// What came of it so far.
    ///
    /// # Errors
    /// If a timeline was damaged while it was read.
    pub fn outcome(&self) -> timeline::Result<Outcome> {
        let missed = self.sieve.missed();
        Ok(match (&self.events.get_ref().held, self.log.ring()) {
            (EventSource::Archive(events), _) => Outcome {
                missed: missed.saturating_add(events.missed_before_others()),
                lost: events.lost(),
            },
            (EventSource::Ring(_), at) => {
                at.map_or(Ok(()), timeline::Attached::intact)?;
                Outcome { missed, lost: 0 }
            }
        })
    }
}

impl Stream<'_> {
    /// What its log lacks, once it is read.
    ///
    /// # Errors
    /// If a timeline was damaged while it was read.
    pub fn lacks(&self) -> Result<Vec<Lack>> {
        let outcome = self.outcome().map_err(Error::Timeline)?;
        let lacks = match self.log.holder() {
            Holder::Ring(at) => {
                let info = at.info();
                let gone = info.entries_written.saturating_sub(info.entries_held);
                vec![(gone, Lack::Unread(gone))]
            }
            Holder::Archive(archive) => {
                let damage = archive.damage_at_rest().iter();
                let damaged = damage.map(|place| place.len() as u64).sum();
                let (missed, gone) = (archive.missed(), archive.gone());
                let (unknown, removed) = (archive.missed_unknown(), archive.missing_files());
                vec![
                    (missed, Lack::Unrecorded(missed)),
                    (unknown, Lack::Unknown),
                    (damaged, Lack::Damaged(damaged)),
                    (removed, Lack::Removed(removed)),
                    (gone, Lack::Gone(gone)),
                    (outcome.lost, Lack::Unreadable(outcome.lost)),
                ]
            }
        };
        let lacks = lacks.into_iter().filter(|(count, _)| *count > 0);
        Ok(lacks.map(|(_, lack)| lack).collect())
    }
}

fn sieve<'a>(source: &'a dyn Source, request: Request<'a>) -> Sieve<'a> {
    let query = request.query;
    query.map_or_else(Sieve::all, |query| Sieve::new(query, source))
}

type Selected<'a> = Option<Box<dyn Select + 'a>>;

/// What chooses events of an archive before they are made, and what lets them through then.
fn select<'a>(
    archive: &'a Archive,
    request: Request<'a>,
    part: Option<PageSelection>,
) -> (Selected<'a>, Sieve<'a>) {
    let Some(query) = request.query else {
        return (part.map(Into::into), Sieve::all());
    };
    match part {
        Some(part) if !request.has_durations => {
            let select = SearchSelect::of([part]).and(query.on(archive));
            (Some(Box::new(select)), Sieve::all())
        }
        // Which begins and ends are needed is only known of all events.
        Some(part) => (Some(part.into()), sieve(archive, request)),
        None => {
            let edges = request.has_durations;
            let edges = edges.then(|| select_with_edges(archive, request.order, query));
            match edges.flatten() {
                Some(edges) => (Some(edges), sieve(archive, request)),
                None => (Some(Box::new(query.on(archive))), Sieve::all()),
            }
        }
    }
}

impl Iterator for LogEvents<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        if let Some(is_cancelled) = self.is_cancelled {
            self.left -= 1;
            if self.left == 0 {
                self.left = LOOKS;
                if is_cancelled() {
                    return None;
                }
            }
        }
        match &mut self.held {
            EventSource::Ring(events) => events.next(),
            EventSource::Archive(events) => events.next(),
        }
    }
}

impl Iterator for Stream<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        let sieve = &mut self.sieve;
        match sieve.wants_all() {
            true => self.events.next(),
            false => self.events.find(|event| sieve.wants(event)),
        }
    }
}
