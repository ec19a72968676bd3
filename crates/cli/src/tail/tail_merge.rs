//! Follows all that was named, and merges the events by time.
//!
//! What is logged during a look may be seen in one timeline and not yet in another that was looked
//! at before. So of several, what is younger than the beginning of the look waits for the next one.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use timeline::Event;
use timeline_latency::intervals::Lack;
use timeline_reading::{EventTime, Log};
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
    signals: &'q Signals,
    before: Before,
    /// Which part the last event was of.
    last: Option<usize>,
    missed: u64,
}

/// One of them.
struct Place<'q> {
    part: TailSource<'q>,
    /// Events that are not printed yet, and how many of them may be.
    waiting: VecDeque<(Event, EventTime)>,
    ready: usize,
    end: Option<FollowEnd>,
}

impl<'q> TailMerge<'q> {
    /// At least one.
    pub fn new(origins: impl Iterator<Item = TailOrigin<'q>>) -> Result<TailMerge<'q>> {
        let place = |origin| -> Result<Place> {
            Ok(Place {
                part: TailSource::new(origin)?,
                waiting: VecDeque::new(),
                ready: 0,
                end: None,
            })
        };
        let places: Vec<_> = origins.map(place).collect::<Result<_>>()?;
        Ok(TailMerge {
            signals: places[0].part.origin().signals,
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
                self.keep_newest();
                // So that important events come first.
                self.places
                    .iter_mut()
                    .for_each(|place| place.ready = place.waiting.len());
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
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(u64::MAX, |now| now.as_nanos() as u64);
        let mut is_idle = true;
        for place in &mut self.places {
            // What waited for one look waits no longer, whatever the clock says.
            place.ready = place.waiting.len();
            is_idle &= place.ready == 0;
            if place.end.is_some() {
                continue;
            }
            let mut new = Vec::new();
            let look = place.part.look(&mut new)?;
            let is_old =
                |moment: &EventTime| is_one || moment.unix_nanos.is_none_or(|time| time <= now);
            place.ready += new.iter().take_while(|(_, moment)| is_old(moment)).count();
            place.waiting.extend(new);
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

    /// Of those to begin with, leaves the important events and the newest others of all.
    fn keep_newest(&mut self) {
        let Some(count) = self.places[0].part.origin().first else {
            return;
        };
        let others = self.places.iter().flat_map(|place| &place.waiting);
        let others = others.filter(|(event, _)| !event.important);
        let mut times: Vec<u64> = others.map(|(_, moment)| time(moment)).collect();
        let Some(surplus) = times
            .len()
            .checked_sub(count)
            .filter(|surplus| *surplus > 0)
        else {
            return;
        };
        times.sort_unstable();
        let newest = times.get(surplus).copied().unwrap_or(u64::MAX);
        // Of the same time, as many as there is place for.
        let mut same = times[..surplus]
            .iter()
            .filter(|time| **time == newest)
            .count();
        for place in &mut self.places {
            place.waiting.retain(|(event, moment)| {
                let is_surplus = time(moment) == newest && same > 0;
                let is_kept = event.important || (time(moment) >= newest && !is_surplus);
                same -= usize::from(!is_kept && is_surplus);
                is_kept && (event.important || count > 0)
            });
        }
    }

    /// Prints what may be printed, the oldest first.
    fn print(&mut self, is_first: bool, out: &mut SignalledOutput) -> io::Result<()> {
        let key = |place: &Place| {
            let (event, moment) = place.waiting.front().filter(|_| place.ready > 0)?;
            Some((!(is_first && event.important), time(moment)))
        };
        loop {
            let places = self.places.iter().enumerate();
            let next = places.filter_map(|(number, place)| Some((key(place)?, number)));
            let Some((_, number)) = next.min() else {
                return Ok(());
            };
            let place = &mut self.places[number];
            let Some((event, moment)) = place.waiting.pop_front() else {
                return Ok(());
            };
            place.ready -= 1;
            let before = Before {
                is_own: self.last.is_none_or(|last| last == number),
                ..self.before
            };
            place
                .part
                .printed(|printer| printer.print(&event, before, out))?;
            self.before.first.get_or_insert(moment);
            self.before.last = Some(moment);
            self.last = Some(number);
        }
    }

    /// Goes on to timelines that have taken the names of others. Returns whether no more comes.
    fn turn(&mut self) -> Result<bool> {
        let mut is_over = true;
        for place in &mut self.places {
            let is_empty = place.waiting.is_empty();
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

/// The time of an event; the least if it is not known.
fn time(moment: &EventTime) -> u64 {
    moment.unix_nanos.unwrap_or(0)
}
