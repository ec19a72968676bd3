//! Gives the events of a stream to the conditions that they concern.

use timeline::internal::{EntryEvent, PerEvent};
use timeline::{Definition, Event, EventId, Passage, Source};
use timeline_search::{Filter, Query};

use super::condition::Condition;
use super::firing::Firing;
use super::state::{ConditionInput, ConditionState};
use crate::spans::{Need, SpanTimes};

/// Conditions on a stream of events, the oldest first.
///
/// A condition on one span or event is met again and again. One that lasts (see
/// [`Condition::is_lasting`]) fires when it begins to hold, and again after it did not hold in
/// between. A window is judged ten times in its length, at whole tenths since 1970; a rate below a
/// limit is judged only when all of the window is known. A percentile of no durations meets
/// nothing. An event is missing from the last one on, or from the first time that was seen.
///
/// Where entries are missing ([`Event::missed`]), open spans are forgotten, no event is missing,
/// and no window is whole.
///
/// # Example
/// ```
/// use timeline::{Attached, Order, Priority, Timeline, event};
/// use timeline_latency::{Condition, FiringValue, Triggers};
/// use timeline_search::Query;
/// # let path = format!("/timeline-doc-triggers-{}", std::process::id());
/// # let path = path.as_str();
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// event!(tl, Priority::Info, "engine", "begin breath");
/// event!(tl, Priority::Info, "engine", "end breath");
///
/// let at = Attached::open(path)?;
/// let (conditions, all) = ([Condition::parse("span engine.* >= 0s")?], Query::default());
/// let mut triggers = Triggers::new(&conditions, &all, &at);
/// let mut fired = Vec::new();
/// for event in at.events(Order::OldestFirst) {
///     triggers.add(&event, &mut |one| fired.push(one));
/// }
/// assert_eq!((fired.len(), fired[0].name.as_str()), (1, "engine.breath"));
/// assert!(matches!(fired[0].seen, FiringValue::Nanoseconds(_)));
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Triggers<'a> {
    source: &'a dyn Source,
    states: Vec<ConditionState<'a>>,
    /// By the number of the event, of those that are defined.
    concerned: PerEvent<Concerned>,
    wanted: Option<Filter<'a>>,
    is_left_out: fn(&Definition) -> bool,
    times: SpanTimes<'a>,
    /// That of the last event.
    passage: Passage,
    /// The last time that was seen.
    now: u64,
}

/// The conditions that the events of a definition concern.
struct Concerned {
    conditions: Box<[usize]>,
    /// What they need of such an event.
    need: Need,
}

impl<'a> Triggers<'a> {
    /// For the events of `source`. Of these, `wanted` chooses those that count: for a span the
    /// event that ends it. A span that is still open meets a condition only if all are wanted.
    pub fn new(
        conditions: &'a [Condition],
        wanted: &'a Query,
        source: &'a dyn Source,
    ) -> Triggers<'a> {
        let states = conditions.iter().enumerate();
        let states =
            states.map(|(number, condition)| ConditionState::new(number, condition, source));
        Triggers {
            source,
            states: states.collect(),
            concerned: PerEvent::new(),
            wanted: (!wanted.is_empty()).then(|| wanted.on(source)),
            is_left_out: |_| false,
            times: SpanTimes::of(source),
            passage: Passage::default(),
            now: 0,
        }
    }

    /// A condition that lasts must hold for so many nanoseconds. Others are not changed.
    #[must_use]
    pub fn holding(mut self, hold: u64) -> Triggers<'a> {
        self.states.iter_mut().for_each(|state| state.hold(hold));
        self
    }

    /// Passes over the events of these definitions.
    #[must_use]
    pub fn leaving_out(mut self, is_left_out: fn(&Definition) -> bool) -> Triggers<'a> {
        self.is_left_out = is_left_out;
        self
    }

    #[inline]
    fn need(&mut self, id: EventId) -> Need {
        match self.concerned.get(id) {
            Some(concerned) => concerned.need,
            _ => self.learn(id),
        }
    }

    #[cold]
    fn learn(&mut self, id: EventId) -> Need {
        let Some(definition) = self.source.definition(id) else {
            return Need::Nothing;
        };
        let mut conditions = Vec::new();
        let is_filtered = self.wanted.is_some();
        let mut need = Need::Nothing;
        for (number, state) in self.states.iter_mut().enumerate() {
            let of_state = match (self.is_left_out)(definition) {
                true => Need::Nothing,
                false => state.need(id, definition, is_filtered),
            };
            if of_state != Need::Nothing {
                conditions.push(number);
                need = need.max(of_state);
            }
        }
        let conditions = conditions.into();
        (self.concerned).insert(id, definition, Concerned { conditions, need });
        need
    }

    /// Takes the next event of a ring by its entry, and tells `fired` of each condition that it
    /// meets. Important events are to be added whole. `make` makes the event of its entries: that
    /// takes longer than finding out what most events mean, so it is called for few.
    ///
    /// # Example
    /// ```
    /// use timeline::{Attached, FollowFrom, Priority, Timeline, event};
    /// use timeline_latency::{Condition, Triggers};
    /// use timeline_search::Query;
    /// # let path = format!("/timeline-doc-entries-{}", std::process::id());
    /// # let path = path.as_str();
    /// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
    /// event!(tl, Priority::Info, "engine", "begin breath");
    /// event!(tl, Priority::Info, "engine", "end breath");
    ///
    /// let at = Attached::open(path)?;
    /// let (conditions, all) = ([Condition::parse("span engine.* >= 0s")?], Query::default());
    /// let mut triggers = Triggers::new(&conditions, &all, &at);
    /// let (mut follow, mut fired) = (at.follow(FollowFrom::Start), Vec::new());
    /// follow.poll_placed();
    /// while let Some(entry) = follow.next_entry() {
    ///     let make = || follow.placed_event(&entry).event;
    ///     triggers.add_entry(&entry, make, &mut |one| fired.push(one));
    /// }
    /// assert_eq!((fired.len(), fired[0].name.as_str()), (1, "engine.breath"));
    /// # timeline::unlink(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn add_entry(
        &mut self,
        entry: &EntryEvent,
        make: impl FnOnce() -> Event,
        fired: &mut dyn FnMut(Firing),
    ) {
        let need = self.need(entry.id());
        if entry.is_behind_gap() || !entry.passage().goes_on(self.passage) {
            return self.add(&make(), fired);
        }
        match (need, self.times.at(entry.ticks())) {
            (Need::Nothing, _) => {}
            (Need::Row, Some(time)) => {
                self.now = self.now.max(time);
                let concerned = self.concerned.get(entry.id()).into_iter();
                for number in concerned.flat_map(|it| &it.conditions) {
                    let row = (entry.id(), entry.thread(), Some(time));
                    self.states[*number].add_row(entry.passage(), row, self.source, fired);
                }
            }
            _ => self.add(&make(), fired),
        }
    }

    /// Takes the next event, and tells `fired` of each condition that it meets.
    #[inline]
    pub fn add(&mut self, event: &Event, fired: &mut dyn FnMut(Firing)) {
        let concerns = self.need(event.id) != Need::Nothing;
        let is_behind_hole = !event.important && !event.passage.goes_on(self.passage);
        if is_behind_hole {
            self.passage = event.passage;
        }
        let is_behind_hole = is_behind_hole || event.missed > 0;
        if !concerns && !is_behind_hole {
            return;
        }
        let time = self.times.time(event);
        // Important ones come first, whenever they were logged.
        if let Some(time) = time.filter(|_| !event.important) {
            self.now = self.now.max(time);
        }
        if is_behind_hole {
            let time = time.unwrap_or(self.now);
            self.states.iter_mut().for_each(|state| state.gap(time));
        }
        let Some(time) = time.filter(|_| concerns) else {
            return;
        };
        let wanted = self.wanted.as_mut();
        let given = ConditionInput {
            event,
            time,
            is_wanted: wanted.is_none_or(|filter| filter.matches(event)),
            source: self.source,
        };
        let concerned = self.concerned.get(event.id).into_iter();
        for number in concerned.flat_map(|it| &it.conditions) {
            self.states[*number].add(given, fired);
        }
    }

    /// Takes the next event of a recording, in which nothing but events tells the time.
    pub fn add_recorded(&mut self, event: &Event, fired: &mut dyn FnMut(Firing)) {
        let time = self.times.time(event).filter(|_| !event.important);
        if let Some(time) = time.filter(|time| *time > self.now) {
            self.advance(time, fired);
        }
        self.add(event, fired);
    }

    /// Looks at conditions that time alone may meet: no event before this time, in nanoseconds
    /// since 1970, is still to come. Not at open spans: an archive has their ends as well.
    pub fn advance(&mut self, time: u64, fired: &mut dyn FnMut(Firing)) {
        self.now = self.now.max(time);
        let states = self.states.iter_mut();
        states.for_each(|state| state.advance(self.now, fired));
    }

    /// As [`Triggers::advance`], and looks at open spans too. Call it every few milliseconds while
    /// a program runs.
    pub fn tick(&mut self, now: u64, fired: &mut dyn FnMut(Firing)) {
        self.advance(now, fired);
        if self.wanted.is_some() {
            return;
        }
        for state in &mut self.states {
            state.look_at_open(self.now, self.source, fired);
        }
    }

    /// The stream has ended, with the last time that was seen: looks at what is still open, and
    /// returns a time to [`Triggers::advance`] to. Until then windows are judged that have a part
    /// of the stream, as they would be if nothing else came; but no event is known to be missing,
    /// and no rate to be low. At any later time, nothing holds any more.
    ///
    /// # Example
    /// ```
    /// use timeline::{Attached, Order, Priority, Timeline, event};
    /// use timeline_latency::{Condition, Triggers};
    /// use timeline_search::Query;
    /// # let path = format!("/timeline-doc-ended-{}", std::process::id());
    /// # let path = path.as_str();
    /// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
    /// event!(tl, Priority::Info, "engine", "breath");
    ///
    /// let at = Attached::open(path)?;
    /// let (conditions, all) = ([Condition::parse("rate(engine.*) > 0/s")?], Query::default());
    /// let mut triggers = Triggers::new(&conditions, &all, &at);
    /// let mut fired = 0;
    /// for event in at.events(Order::OldestFirst) {
    ///     triggers.add_recorded(&event, &mut |_| fired += 1);
    /// }
    /// assert_eq!(fired, 0); // a window is judged at a tenth of a second
    /// let end = triggers.end(&mut |_| fired += 1);
    /// triggers.advance(end, &mut |_| fired += 1);
    /// assert_eq!(fired, 1);
    /// # timeline::unlink(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn end(&mut self, fired: &mut dyn FnMut(Firing)) -> u64 {
        self.tick(self.now, fired);
        let ends = self.states.iter_mut().map(|state| state.end(self.now));
        ends.max().unwrap_or(self.now)
    }

    /// What fired before, as it is at the time `now`, if it still holds: a span that is still open,
    /// or a condition that lasts. So whoever ignores firings for a while can tell of them later.
    pub fn still(&self, fired: &Firing, now: u64) -> Option<Firing> {
        self.states.get(fired.condition)?.still(fired, now)
    }

    /// The last time that was seen, of an event or of a tick, in nanoseconds since 1970.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Asks for the names of threads anew, if one may have changed. Worth calling from time to time
    /// while a live timeline is followed.
    pub fn notice_renames(&mut self) {
        if let Some(filter) = &mut self.wanted {
            filter.notice_renames();
        }
        self.states
            .iter_mut()
            .for_each(ConditionState::notice_renames);
    }
}
