//! Gives the events of a stream to the conditions that they concern.

use timeline::{Definition, Event, EventId, Source};
use timeline_search::{Filter, Query};

use super::condition::Condition;
use super::fired::Fired;
use super::state::{Given, State};
use crate::spans::Times;

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
/// use timeline_latency::{Condition, Seen, Triggers};
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
/// assert!(matches!(fired[0].seen, Seen::Nanoseconds(_)));
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Triggers<'a> {
    source: &'a dyn Source,
    states: Vec<State<'a>>,
    /// By the number of the event, of those that are defined: the conditions that it concerns.
    concerned: Vec<Option<Box<[usize]>>>,
    wanted: Option<Filter<'a>>,
    is_left_out: fn(&Definition) -> bool,
    times: Times<'a>,
    /// The last time that was seen.
    now: u64,
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
        let states = states.map(|(number, condition)| State::new(number, condition, source));
        Triggers {
            source,
            states: states.collect(),
            concerned: Vec::new(),
            wanted: (!wanted.is_empty()).then(|| wanted.on(source)),
            is_left_out: |_| false,
            times: Times::of(source),
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

    /// Whether an event with this definition matters. Others need not be added, unless entries are
    /// missing before them.
    #[inline]
    pub fn concerns(&mut self, id: EventId) -> bool {
        match self.concerned.get(id.0 as usize) {
            Some(Some(conditions)) => !conditions.is_empty(),
            _ => self.learn(id),
        }
    }

    #[cold]
    fn learn(&mut self, id: EventId) -> bool {
        let Some(definition) = self.source.definition(id) else {
            return false;
        };
        let states = self.states.iter_mut().enumerate();
        let concerned = states.filter_map(|(number, state)| {
            let is_in = !(self.is_left_out)(definition) && state.concerns(id, definition);
            is_in.then_some(number)
        });
        let (concerned, place): (Box<[usize]>, usize) = (concerned.collect(), id.0 as usize);
        let concerns = !concerned.is_empty();
        // Only defined events make this longer.
        if self.concerned.len() <= place {
            self.concerned.resize_with(place + 1, || None);
        }
        self.concerned[place] = Some(concerned);
        concerns
    }

    /// Takes the next event, and tells `fired` of each condition that it meets.
    #[inline]
    pub fn add(&mut self, event: &Event, fired: &mut dyn FnMut(Fired)) {
        let concerns = self.concerns(event.id);
        if !concerns && event.missed == 0 {
            return;
        }
        let time = self.times.time(event);
        // Important ones come first, whenever they were logged.
        if let Some(time) = time.filter(|_| !event.important) {
            self.now = self.now.max(time);
        }
        if event.missed > 0 {
            let time = time.unwrap_or(self.now);
            self.states.iter_mut().for_each(|state| state.gap(time));
        }
        let Some(time) = time.filter(|_| concerns) else {
            return;
        };
        let wanted = self.wanted.as_mut();
        let given = Given {
            event,
            time,
            is_wanted: wanted.is_none_or(|filter| filter.matches(event)),
            source: self.source,
        };
        let concerned = self.concerned[event.id.0 as usize].iter().flatten();
        for number in concerned {
            self.states[*number].add(given, fired);
        }
    }

    /// Takes the next event of a recording, in which nothing but events tells the time.
    pub fn add_recorded(&mut self, event: &Event, fired: &mut dyn FnMut(Fired)) {
        let time = self.times.time(event).filter(|_| !event.important);
        if let Some(time) = time.filter(|time| *time > self.now) {
            self.advance(time, fired);
        }
        self.add(event, fired);
    }

    /// Looks at conditions that time alone may meet: no event before this time, in nanoseconds
    /// since 1970, is still to come. Not at open spans: an archive has their ends as well.
    pub fn advance(&mut self, time: u64, fired: &mut dyn FnMut(Fired)) {
        self.now = self.now.max(time);
        let states = self.states.iter_mut();
        states.for_each(|state| state.advance(self.now, fired));
    }

    /// As [`Triggers::advance`], and looks at open spans too. Call it every few milliseconds while
    /// a program runs, or once at the end of an archive.
    pub fn tick(&mut self, now: u64, fired: &mut dyn FnMut(Fired)) {
        self.advance(now, fired);
        if self.wanted.is_some() {
            return;
        }
        for state in &mut self.states {
            state.look_at_open(self.now, self.source, fired);
        }
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
        self.states.iter_mut().for_each(State::notice_renames);
    }
}
