//! Follows all that was named, and prints the events by time.

use std::io::{self, Write};

use timeline_latency::Lack;
use timeline_reading::{FollowMerge, Log, LogEvent};
use timeline_worker::Pause;

use super::origin::TailOrigin;
use super::part::TailSource;
use super::printer::Before;
use crate::disabled_events::{self, Least};
use crate::failure::{Failure, Result};
use crate::growth;
use crate::restart::{self, FollowEnd};
use crate::signals::{self, SignalledOutput, Signals, WakeReason};
use crate::unknown_names;

/// All that is followed.
pub struct TailMerge<'q> {
    places: Vec<Place<'q>>,
    events: FollowMerge,
    signals: &'q Signals,
    before: Before,
    /// Which part the last event was of.
    last: Option<usize>,
    missed: u64,
}

/// One of them.
struct Place<'q> {
    part: TailSource<'q>,
    end: Option<FollowEnd>,
}

impl<'q> TailMerge<'q> {
    /// At least one.
    pub fn new(origins: impl Iterator<Item = TailOrigin<'q>>) -> Result<TailMerge<'q>> {
        let place = |origin| -> Result<Place> {
            Ok(Place {
                part: TailSource::new(origin)?,
                end: None,
            })
        };
        let places: Vec<_> = origins.map(place).collect::<Result<_>>()?;
        Ok(TailMerge {
            signals: places[0].part.origin().signals,
            events: FollowMerge::new(places.len()),
            places,
            before: Before::default(),
            last: None,
            missed: 0,
        })
    }

    /// Prints events until no more can come, or a signal comes. Returns how many entries were
    /// missed.
    pub fn follow(mut self, out: &mut SignalledOutput) -> Result<u64> {
        let mut pause = Pause::new();
        let mut is_first = true;
        loop {
            let is_idle = self.look()?;
            if is_first {
                self.tell_unmatched();
                if let Some(count) = self.places[0].part.origin().first {
                    self.events.keep_newest(count);
                }
                // So that important events come first.
                self.events.give_all();
            }
            match self.print(is_first, out).and_then(|()| out.flush()) {
                Err(error) if signals::is_interrupted(&error) => return Ok(self.missed),
                other => other?,
            }
            is_first = false;
            if self.turn()? {
                return Ok(self.missed);
            }
            match self.signals.wait(pause.after(!is_idle)) {
                WakeReason::Timeout => {}
                WakeReason::Interrupted => return Ok(self.missed),
                WakeReason::OutputClosed => return Err(Failure::ClosedPipe),
            }
        }
    }

    /// Looks for new events everywhere. Returns whether there are none.
    fn look(&mut self) -> Result<bool> {
        let is_one = self.places.len() == 1;
        let mut is_idle = !self.events.begin_look();
        for (number, place) in self.places.iter_mut().enumerate() {
            if place.end.is_some() {
                continue;
            }
            let mut new = Vec::new();
            let look = place.part.look(&mut new)?;
            self.events.add(number, new);
            place.end = look.end;
            is_idle &= look.is_idle;
            let path = place.part.origin().log.path().display();
            let so = if is_one {
                String::new()
            } else {
                format!(" ({path})")
            };
            for lack in look.lacks {
                if let Lack::Unread(entries) | Lack::Unrecorded(entries) = lack {
                    self.missed += entries;
                }
                growth::say(lack, &so);
            }
        }
        Ok(is_idle)
    }

    /// Says which names of filters are nowhere.
    fn tell_unmatched(&self) {
        let origins = || self.places.iter().map(|place| place.part.origin());
        let logs: Vec<_> = origins().map(|one| &one.log).collect();
        let query = origins().next().expect("at least one").query;
        match logs.iter().any(|log| log.ring().is_some()) {
            true => unknown_names::tell_so_far(query, &logs),
            false => unknown_names::tell(query, &logs),
        }
        for at in logs.iter().filter_map(|log| log.ring()) {
            disabled_events::tell(at, Least::All, |definition| query.may_want(definition));
        }
    }

    /// Prints what may be printed, the oldest first.
    fn print(&mut self, is_first: bool, out: &mut SignalledOutput) -> io::Result<()> {
        while let Some(next) = self.events.next(is_first) {
            let LogEvent {
                log, event, time, ..
            } = next;
            let before = Before {
                is_own: self.last.is_none_or(|last| last == log),
                ..self.before
            };
            let part = &mut self.places[log].part;
            part.printed(|printer| printer.print(&event, before, out))?;
            self.before.first.get_or_insert(time);
            self.before.last = Some(time);
            self.last = Some(log);
        }
        Ok(())
    }

    /// Goes on to timelines that have taken the names of others. Returns whether no more comes.
    fn turn(&mut self) -> Result<bool> {
        let mut is_over = true;
        for (number, place) in self.places.iter_mut().enumerate() {
            let is_empty = self.events.is_empty(number);
            if is_empty && matches!(place.end, Some(FollowEnd::Replaced(_))) {
                let Some(FollowEnd::Replaced(next)) = place.end.take() else {
                    continue;
                };
                let origin = place.part.origin();
                if let Some(at) = origin.log.ring() {
                    restart::report(at, &next);
                }
                // The next event comes after none: its ticks may be of another clock.
                self.before.last = None;
                place.part = TailSource::new(TailOrigin {
                    log: Log::of_ring(origin.log.path(), next),
                    // Even its first events are wanted, and missed if they are overwritten.
                    first: None,
                    ..*origin
                })?;
            }
            is_over &= is_empty && place.end.is_some();
        }
        Ok(is_over)
    }
}
