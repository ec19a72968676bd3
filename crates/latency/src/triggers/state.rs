//! What is kept for each condition of a stream.

use timeline::{Definition, Event, EventId, Passage, Source};
use timeline_search::Filter;

use super::condition::Condition;
use super::firing::{Firing, FiringValue};
use super::kind::{ConditionKind, Limit};
use super::level::LevelState;
use super::window::{InWindow, StepRun, Window};
use crate::spans::{Matcher, Measurement, Need, ThreadKey};

/// A condition, and what it knows of the stream.
pub struct ConditionState<'a> {
    number: usize,
    /// Nothing is judged after this time: the stream has ended.
    until: u64,
    watched: WatchState<'a>,
}

enum WatchState<'a> {
    Spans {
        matcher: Box<Matcher<'a>>,
        limit: Limit<u64>,
    },
    Percentile {
        matcher: Box<Matcher<'a>>,
        window: Window,
        limit: Limit<u64>,
        level: LevelState,
        name: String,
    },
    Rate {
        events: &'a str,
        window: Window,
        limit: Limit<f64>,
        level: LevelState,
    },
    Event {
        events: &'a str,
        filter: Box<Filter<'a>>,
    },
    Missing {
        events: &'a str,
        /// How long it is to be missing, with the time for which that must hold.
        time: u64,
        /// When the last one came, or nobody could have seen it.
        last: Option<u64>,
        told: bool,
    },
}

/// An event for a condition.
#[derive(Clone, Copy)]
pub struct ConditionInput<'a> {
    pub event: &'a Event,
    pub time: u64,
    /// Whether the filters of the person want it.
    pub is_wanted: bool,
    pub source: &'a dyn Source,
}

impl<'a> ConditionState<'a> {
    pub fn new(
        number: usize,
        condition: &'a Condition,
        source: &'a dyn Source,
    ) -> ConditionState<'a> {
        let matcher = |measure| Box::new(Matcher::new(std::slice::from_ref(measure), source));
        let level = LevelState::default();
        let watched = match &condition.kind {
            ConditionKind::Span { measure, limit } => WatchState::Spans {
                matcher: matcher(measure),
                limit: *limit,
            },
            ConditionKind::Percentile {
                measure,
                percentile,
                window,
                limit,
            } => WatchState::Percentile {
                matcher: matcher(measure),
                window: Window::of_durations(*window, *percentile),
                limit: *limit,
                level,
                name: measure.name(),
            },
            ConditionKind::Rate {
                events,
                window,
                limit,
            } => WatchState::Rate {
                events,
                window: Window::of_counts(*window),
                limit: *limit,
                level,
            },
            ConditionKind::Event(query) => WatchState::Event {
                events: query.events.first().map_or("*", String::as_str),
                filter: Box::new(query.on(source)),
            },
            ConditionKind::Missing { events, time } => WatchState::Missing {
                events,
                time: *time,
                last: None,
                told: false,
            },
        };
        ConditionState {
            number,
            until: u64::MAX,
            watched,
        }
    }

    /// A condition that lasts must hold for so long, in nanoseconds.
    pub fn hold(&mut self, hold: u64) {
        match &mut self.watched {
            WatchState::Spans { .. } | WatchState::Event { .. } => {}
            WatchState::Percentile { level, .. } | WatchState::Rate { level, .. } => {
                level.hold = hold
            }
            WatchState::Missing { time, .. } => *time = time.saturating_add(hold),
        }
    }

    /// What is needed of the events of a definition. `is_filtered`: whether some may not be wanted.
    pub fn need(&mut self, id: EventId, definition: &Definition, is_filtered: bool) -> Need {
        match &mut self.watched {
            WatchState::Spans { matcher, .. } => matcher.need(id, is_filtered),
            // The window has to know the time.
            WatchState::Percentile { matcher, .. } => match matcher.concerns_all(id) {
                true => Need::Event,
                false => Need::Nothing,
            },
            WatchState::Rate { events, .. }
            | WatchState::Event { events, .. }
            | WatchState::Missing { events, .. }
                if definition.is_named(events) =>
            {
                Need::Event
            }
            _ => Need::Nothing,
        }
    }

    /// Takes an event of which no more than this is needed.
    #[inline]
    pub fn add_row(
        &mut self,
        passage: Passage,
        row: (EventId, ThreadKey, Option<u64>),
        source: &dyn Source,
        fired: &mut dyn FnMut(Firing),
    ) {
        let WatchState::Spans { matcher, limit } = &mut self.watched else {
            return;
        };
        let mut met = None;
        matcher.add_row(passage, row, |_, found| {
            if limit.is_met_by(found.value) && !found.told {
                met = Some(found);
            }
        });
        if let Some(found) = met {
            let thread = source.thread_of(found.thread, found.tid);
            fired(of_span(self.number, matcher, found, thread));
        }
    }

    /// Takes an event that matters.
    #[inline]
    pub fn add(&mut self, given: ConditionInput<'_>, fired: &mut dyn FnMut(Firing)) {
        self.advance(given.time, fired);
        let number = self.number;
        let ConditionInput {
            event,
            time,
            is_wanted,
            source,
        } = given;
        match &mut self.watched {
            WatchState::Spans { matcher, limit } => {
                let mut met = None;
                matcher.add(event, |found| {
                    if limit.is_met_by(found.value) && !found.told && is_wanted {
                        met = Some(found);
                    }
                });
                if let Some(found) = met {
                    fired(of_span(number, matcher, found, source.thread(event)));
                }
            }
            WatchState::Percentile {
                matcher, window, ..
            } => matcher.add(event, |found| {
                if is_wanted {
                    window.add(found.value);
                }
            }),
            WatchState::Rate { window, .. } if is_wanted => window.add(0),
            WatchState::Event { filter, .. } => {
                if is_wanted && filter.matches(event) {
                    let definition = source.definition(event.id);
                    fired(Firing {
                        name: definition.map_or_else(String::new, Definition::name),
                        thread: source.thread(event),
                        ..plain(number, time, FiringValue::Event)
                    });
                }
            }
            WatchState::Missing { last, told, .. } if is_wanted => {
                (*last, *told) = (Some(time.max(last.unwrap_or(0))), false);
            }
            WatchState::Rate { .. } | WatchState::Missing { .. } => {}
        }
    }

    /// Nothing else has come up to this time.
    #[inline]
    pub fn advance(&mut self, time: u64, fired: &mut dyn FnMut(Firing)) {
        // Asked for each event.
        if !matches!(
            self.watched,
            WatchState::Spans { .. } | WatchState::Event { .. }
        ) {
            self.pass(time, fired);
        }
    }

    /// The stream has ended at this time. Returns until when this is to be advanced: windows to the
    /// last that has a part of the stream.
    pub fn end(&mut self, now: u64) -> u64 {
        self.until = match &mut self.watched {
            WatchState::Percentile { window, .. } | WatchState::Rate { window, .. } => {
                window.end(now)
            }
            WatchState::Spans { .. } | WatchState::Event { .. } | WatchState::Missing { .. } => now,
        };
        self.until
    }

    fn pass(&mut self, time: u64, fired: &mut dyn FnMut(Firing)) {
        let (number, time) = (self.number, time.min(self.until));
        match &mut self.watched {
            WatchState::Spans { .. } | WatchState::Event { .. } => {}
            WatchState::Percentile {
                window,
                limit,
                level,
                name,
                ..
            } => window.pass(time, |ended| {
                let InWindow::Nanoseconds(value) = ended.content else {
                    return;
                };
                let met = value.filter(|value| limit.is_met_by(*value));
                judge(
                    level,
                    met.map(FiringValue::Nanoseconds),
                    ended,
                    |at, seen| {
                        fired(named(name, plain(number, at, seen)));
                    },
                );
            }),
            WatchState::Rate {
                events,
                window,
                limit,
                level,
            } => window.pass(time, |ended| {
                let InWindow::PerSecond(rate) = ended.content else {
                    return;
                };
                // Those that nobody saw can only make it more.
                let is_sure = ended.is_whole || !limit.comparison.is_below();
                let met = Some(rate).filter(|rate| is_sure && limit.is_met_by(*rate));
                judge(level, met.map(FiringValue::PerSecond), ended, |at, seen| {
                    fired(named(events, plain(number, at, seen)));
                });
            }),
            WatchState::Missing {
                events,
                time: least,
                last,
                told,
            } => {
                let since = *last.get_or_insert(time);
                let missing = time.saturating_sub(since);
                if missing >= *least && !*told {
                    *told = true;
                    let at = since.saturating_add(*least);
                    fired(named(
                        events,
                        plain(number, at, FiringValue::Nanoseconds(missing)),
                    ));
                }
            }
        }
    }

    /// Looks at the spans that are open at this time.
    pub fn look_at_open(&mut self, now: u64, source: &dyn Source, fired: &mut dyn FnMut(Firing)) {
        let number = self.number;
        let WatchState::Spans { matcher, limit } = &mut self.watched else {
            return;
        };
        // The next nanosecond is longer than the limit.
        let least = limit
            .value
            .saturating_add(u64::from(!limit.is_met_by(limit.value)));
        if limit.comparison.is_below() {
            return;
        }
        let mut late = Vec::new();
        matcher.overdue(now, least, |open| late.push(open));
        for open in late {
            let thread = open.thread;
            let thread = thread.and_then(|(thread, tid)| source.thread_of(thread, tid));
            fired(Firing {
                name: matcher.series()[open.series].name.clone(),
                begin: Some(open.begin),
                thread,
                key: open.key,
                ..plain(
                    number,
                    open.begin + least,
                    FiringValue::Nanoseconds(now - open.begin),
                )
            });
        }
    }

    /// What fired, as it is at this time, if it still holds: a span is open, no event has come, or
    /// a window that is judged is beyond the limit.
    pub fn still(&self, fired: &Firing, now: u64) -> Option<Firing> {
        if now > self.until {
            return None;
        }
        let seen = match &self.watched {
            WatchState::Spans { matcher, .. } => {
                let begin = fired.begin.filter(|_| fired.end.is_none())?;
                let tid = fired.thread.as_ref().map(|thread| thread.tid);
                let is_open = matcher.is_open(&fired.name, begin, tid, fired.key.as_ref());
                is_open.then_some(FiringValue::Nanoseconds(now.saturating_sub(begin)))?
            }
            WatchState::Percentile { level, .. } | WatchState::Rate { level, .. } => {
                level.lasting()?
            }
            WatchState::Event { .. } => return None,
            WatchState::Missing { last, told, .. } => {
                let since = last.filter(|_| *told)?;
                FiringValue::Nanoseconds(now.saturating_sub(since))
            }
        };
        Some(Firing {
            time: now,
            seen,
            ..fired.clone()
        })
    }

    /// Entries are missing here: nobody knows what was in them.
    pub fn gap(&mut self, time: u64) {
        match &mut self.watched {
            WatchState::Spans { matcher, .. } | WatchState::Percentile { matcher, .. } => {
                matcher.gap()
            }
            WatchState::Rate { window, .. } => window.gap(time),
            WatchState::Event { .. } => {}
            WatchState::Missing { last, told, .. } => {
                (*last, *told) = (Some(time.max(last.unwrap_or(0))), false);
            }
        }
    }

    /// Asks for the names of threads anew, if one may have changed.
    pub fn notice_renames(&mut self) {
        if let WatchState::Event { filter, .. } = &mut self.watched {
            filter.notice_renames();
        }
    }
}

fn judge(
    level: &mut LevelState,
    seen: Option<FiringValue>,
    ended: StepRun,
    mut fire: impl FnMut(u64, FiringValue),
) {
    let at = level.judge(seen, ended.first, ended.last, ended.step);
    if let (Some(at), Some(seen)) = (at, seen) {
        fire(at, seen);
    }
}

fn plain(condition: usize, time: u64, seen: FiringValue) -> Firing {
    Firing {
        condition,
        time,
        name: String::new(),
        seen,
        begin: None,
        end: None,
        thread: None,
        key: None,
    }
}

fn named(name: &str, fired: Firing) -> Firing {
    Firing {
        name: name.to_owned(),
        ..fired
    }
}

#[cold]
fn of_span(
    number: usize,
    matcher: &Matcher<'_>,
    found: Measurement,
    thread: Option<timeline::Thread>,
) -> Firing {
    Firing {
        name: matcher.series()[found.series].name.clone(),
        begin: Some(found.begin),
        end: Some(found.end),
        thread,
        key: found.key,
        ..plain(number, found.end, FiringValue::Nanoseconds(found.value))
    }
}
