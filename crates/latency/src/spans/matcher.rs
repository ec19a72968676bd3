//! Finds durations in a stream of events, the oldest first.

use timeline::internal::{PerEvent, SpanKey, Unknown};
use timeline::{Event, EventId, Passage, Source, Value};

use super::keys::Keys;
use super::losses::Losses;
use super::measure::{Measure, Series};
use super::measurement::{Measurement, OpenSpan};
use super::roles::{NoNumber, Role, RoleAction, Roles, number_in};
use super::threads::{ThreadKey, Threads};
use super::times::{Begun, SpanTimes};

/// Spans that may be open in one thread. Those of a program that never ends any are forgotten.
const MOST_NESTED: usize = 4096;
/// Keys that may be open.
const MOST_KEYS: usize = 1 << 20;

/// Finds durations in a stream of events, the oldest first.
///
/// Each event belongs to one pair at most for each measure. An end belongs to the innermost open
/// begin of its name in its thread, or to the begin with its key. Where entries are missing
/// ([`Event::missed`]), nobody knows what they ended or began: everything that is open is forgotten
/// and counted. Important events are passed over, because readers get them first.
///
/// Memory is bounded: 4,096 spans can be open in a thread, and 1,048,576 keys. Beyond that the
/// oldest are forgotten and counted.
///
/// # Example
/// ```
/// use timeline::{Attached, Order, Priority, Timeline, event};
/// use timeline_latency::{Matcher, Measure};
/// # let path = format!("/timeline-doc-matcher-{}", std::process::id());
/// # let path = path.as_str();
/// let tl = Timeline::with_size(path, 1024, 16384)?; // "/timeline", say
/// for packets in [10, 20] {
///     event!(tl, Priority::Info, "engine", "begin breath {packets}", packets);
///     event!(tl, Priority::Info, "engine", "end breath {packets}", packets);
/// }
///
/// let at = Attached::open(path)?;
/// let measures = [Measure::Spans("engine.*".into())];
/// let mut matcher = Matcher::new(&measures, &at);
/// let mut found = Vec::new();
/// for event in at.events(Order::OldestFirst) {
///     matcher.add(&event, |duration| found.push(duration.value));
/// }
/// assert_eq!(found.len(), 2);
/// assert_eq!(matcher.series()[0].name, "engine.breath");
/// assert_eq!((matcher.open(), matcher.losses().total()), (0, 0));
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Matcher<'a> {
    source: &'a dyn Source,
    measures: &'a [Measure],
    /// By the number of the event, of those that are defined.
    roles: PerEvent<Roles>,
    series: Vec<Series>,
    pub(super) threads: Threads,
    /// By measure.
    keys: Vec<Keys>,
    times: SpanTimes<'a>,
    /// That of the last event.
    passage: Passage,
    /// The number of the first series with a fraction.
    fraction: Option<usize>,
    /// The time of the last event that plays a part.
    reached: u64,
    missed_since: Option<u64>,
    losses: Losses,
}

impl<'a> Matcher<'a> {
    /// For the events of `source`.
    pub fn new(measures: &'a [Measure], source: &'a dyn Source) -> Matcher<'a> {
        Matcher::with_limits(measures, source, (MOST_NESTED, MOST_KEYS))
    }

    /// `limits`: how many spans can be open in a thread, and how many keys.
    pub(super) fn with_limits(
        measures: &'a [Measure],
        source: &'a dyn Source,
        limits: (usize, usize),
    ) -> Matcher<'a> {
        Matcher {
            source,
            measures,
            roles: PerEvent::new(),
            series: Vec::new(),
            threads: Threads::new(measures.len(), limits.0),
            keys: measures.iter().map(|_| Keys::new(limits.1)).collect(),
            times: SpanTimes::of(source),
            passage: Passage::default(),
            fraction: None,
            reached: 0,
            missed_since: None,
            losses: Losses::default(),
        }
    }

    /// What is measured.
    pub fn measures(&self) -> &'a [Measure] {
        self.measures
    }

    /// The series so far, in the order in which their events came.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// What was lost so far.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    /// The first series of which a value has a fraction, although nobody said what it is to be
    /// multiplied by. Such values are not recorded, and counted with [`Losses::values`].
    pub fn fraction(&self) -> Option<&Series> {
        self.series.get(self.fraction?)
    }

    /// The first name of the measures of which the source has nothing, if there is one. Asks the
    /// source for all definitions only if those that were seen so far do not have it.
    pub fn unknown(&self) -> Option<Unknown> {
        let seen = self.roles.ids().filter_map(|id| self.source.definition(id));
        let seen: Vec<_> = seen.collect();
        let mut unseen = self.measures.iter();
        let mut unseen = unseen
            .by_ref()
            .filter(|measure| measure.unknown_among(&seen).is_some());
        unseen.find_map(|measure| measure.unknown(self.source))
    }

    /// How many durations are open: they have begun, and their ends have not come yet.
    pub fn open(&self) -> usize {
        self.threads.open() + self.keys.iter().map(Keys::len).sum::<usize>()
    }

    /// Whether events of this definition matter.
    pub fn concerns(&mut self, event: &Event) -> bool {
        self.concerns_all(event.id)
    }

    /// Whether the events of a definition matter, by its number.
    pub fn concerns_all(&mut self, id: EventId) -> bool {
        self.learn(id);
        self.roles(id).is_some_and(|roles| !roles.list.is_empty())
    }

    /// Whether a duration of this name and begin is open: of this thread, or of this key.
    pub fn is_open(&self, name: &str, begin: u64, tid: Option<u32>, key: Option<&SpanKey>) -> bool {
        let all = self.series.iter().enumerate();
        let mut named = all.filter(|(_, series)| series.name == name);
        named.any(|(series, _)| match key {
            Some(key) => self
                .keys
                .iter()
                .any(|keys| keys.is_open(series, key, begin)),
            None => self.threads.is_open(tid, series, begin),
        })
    }

    /// Tells of each open duration that lasts `least` nanoseconds or longer at the time `now`,
    /// once. So a span is noticed that lasts too long and perhaps never ends.
    pub fn overdue(&mut self, now: u64, least: u64, mut tell: impl FnMut(OpenSpan)) {
        let Some(until) = now.checked_sub(least) else {
            return;
        };
        self.threads.overdue(until, |thread, series, begin| {
            tell(OpenSpan {
                series,
                begin,
                thread: Some(thread),
                key: None,
            });
        });
        for keys in &mut self.keys {
            keys.overdue((until, now), |key, series, begin| {
                tell(OpenSpan {
                    series,
                    begin,
                    thread: None,
                    key: Some(key.clone()),
                });
            });
        }
    }

    /// Forgets all that is open and counts it: events are missing here.
    pub fn gap(&mut self) {
        self.losses.begins += self.threads.clear();
        self.losses.begins += self.keys.iter_mut().map(Keys::clear).sum::<u64>();
    }

    #[cold]
    fn miss(&mut self, entries: u64) {
        self.gap();
        self.losses.entries = self.losses.entries.saturating_add(entries);
        self.missed_since.get_or_insert(self.reached);
    }

    /// Since when entries are missing that [`Losses::entries`] counts: the time of the last event
    /// before the first of them that plays a part, in nanoseconds since 1970; 0 if there was none.
    pub fn missed_since(&self) -> Option<u64> {
        self.missed_since
    }

    /// Goes on with an event of this passage.
    #[inline]
    fn enter(&mut self, passage: Passage) {
        if !passage.goes_on(self.passage) {
            self.gap();
            self.passage = passage;
        }
    }

    /// Takes the next event, and tells `found` of each duration that it ends.
    #[inline]
    pub fn add(&mut self, event: &Event, mut found: impl FnMut(Measurement)) {
        if event.important {
            return;
        }
        self.enter(event.passage);
        if event.missed > 0 {
            self.miss(event.missed);
        }
        let time = self.times.time(event);
        let thread = (event.thread, event.tid);
        let values = Some(event);
        self.play((event.id, thread, time, values), |_, duration| {
            found(duration)
        });
    }

    /// Takes the next event, of which only this is known: its passage, and its definition, its
    /// thread and its time.
    /// [`Matcher::need`] says of which definitions that is enough.
    #[inline]
    pub fn add_row(
        &mut self,
        passage: Passage,
        (id, thread, time): (EventId, ThreadKey, Option<u64>),
        found: impl FnMut(&[Series], Measurement),
    ) {
        self.enter(passage);
        self.play((id, thread, time, None), found);
    }

    #[inline]
    fn play(
        &mut self,
        (id, key, time, event): (EventId, ThreadKey, Option<u64>, Option<&Event>),
        mut found: impl FnMut(&[Series], Measurement),
    ) {
        self.learn(id);
        let Some(roles) = self.roles.get(id) else {
            return;
        };
        if roles.list.is_empty() {
            return;
        }
        let Some(time) = time else {
            self.losses.values += 1;
            return;
        };
        self.reached = time;
        let source = self.source;
        let is_known = || source.thread_of(key.0, key.1).is_some();
        let mut play = Play {
            event,
            time,
            key,
            thread: self.threads.number(key, is_known, &mut self.losses.begins),
            threads: &mut self.threads,
            fraction: &mut self.fraction,
            losses: &mut self.losses,
        };
        for role in &roles.list {
            let duration = play.role(role, roles, &mut self.keys[role.measure]);
            if let Some(duration) = duration {
                found(&self.series, duration);
            }
        }
    }

    /// What is needed of the events of a definition. `ends`: whether events that end a duration are
    /// needed whatever it is.
    pub fn need(&mut self, id: EventId, ends: bool) -> Need {
        self.learn(id);
        let roles = self.roles(id).map_or(&[][..], |roles| &roles.list);
        let needs_event = |role: &Role| match role.action {
            RoleAction::Begin => false,
            RoleAction::End | RoleAction::Every => ends,
            RoleAction::BeginKey(_) | RoleAction::EndKey(_) | RoleAction::Value(..) => true,
        };
        match roles {
            [] => Need::Nothing,
            roles if roles.iter().any(needs_event) => Need::Event,
            _ => Need::Row,
        }
    }

    fn roles(&self, id: EventId) -> Option<&Roles> {
        self.roles.get(id)
    }

    /// Looks at a definition, unless it is known.
    #[inline]
    fn learn(&mut self, id: EventId) {
        if self.roles(id).is_none() {
            self.learn_new(id);
        }
    }

    #[cold]
    fn learn_new(&mut self, id: EventId) {
        let Some(definition) = self.source.definition(id) else {
            return;
        };
        let roles = Roles::of(definition, self.measures, &mut self.series);
        self.roles.insert(id, definition, roles);
    }
}

/// What is needed of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// It plays no part.
    Nothing,
    /// Its definition, its thread and its time.
    Row,
    /// All of it.
    Event,
}

/// An event that plays its roles.
struct Play<'m, 'e> {
    /// `None` if it has no values that matter.
    event: Option<&'e Event>,
    time: u64,
    key: ThreadKey,
    thread: Option<u32>,
    threads: &'m mut Threads,
    fraction: &'m mut Option<usize>,
    losses: &'m mut Losses,
}

impl<'e> Play<'_, 'e> {
    #[inline(always)]
    fn role(&mut self, role: &Role, roles: &Roles, keys: &mut Keys) -> Option<Measurement> {
        match role.action {
            RoleAction::Begin => {
                let thread = self.thread()?;
                let forgotten = self
                    .threads
                    .begin(thread, role.measure, role.series, self.time);
                self.losses.begins += forgotten;
                None
            }
            RoleAction::End => {
                let thread = self.thread()?;
                let Some((begin, depth, inside)) =
                    self.threads.end(thread, role.measure, role.series)
                else {
                    self.losses.ends += 1;
                    return None;
                };
                self.losses.begins += inside;
                self.duration(role, begin, depth, None)
            }
            RoleAction::BeginKey(position) => {
                let key = self.key(position, roles)?;
                self.losses.begins += keys.begin(role.series, key, self.time);
                None
            }
            RoleAction::EndKey(position) => {
                let key = self.key(position, roles)?;
                match keys.end(role.series, key) {
                    (key, Some(begin)) => self.duration(role, begin, 0, Some(key)),
                    _ => {
                        self.losses.ends += 1;
                        None
                    }
                }
            }
            RoleAction::Every => {
                let thread = self.thread()?;
                let before = self.threads.every(thread, role.series, self.time)?;
                self.duration(role, (before, false), 0, None)
            }
            RoleAction::Value(position, scale) => self.value(role, (position, scale), roles),
        }
    }

    fn thread(&mut self) -> Option<u32> {
        if self.thread.is_none() {
            self.losses.threads += 1;
        }
        self.thread
    }

    fn key(&mut self, position: usize, roles: &Roles) -> Option<SpanKey> {
        let value = self.value_at(position, roles);
        let key = value.as_ref().and_then(SpanKey::of);
        self.losses.values += u64::from(key.is_none());
        key
    }

    fn value_at<'v>(&self, position: usize, roles: &'v Roles) -> Option<Value<'v>>
    where
        'e: 'v,
    {
        self.event?.values(&roles.layout).nth(position)
    }

    fn value(
        &mut self,
        role: &Role,
        (position, scale): (usize, Option<u64>),
        roles: &Roles,
    ) -> Option<Measurement> {
        let value = self.value_at(position, roles);
        let number = value.map_or(Err(NoNumber::Other), |value| number_in(&value, scale));
        if number == Err(NoNumber::Fraction) {
            self.fraction.get_or_insert(role.series);
        }
        let Ok(value) = number else {
            self.losses.values += 1;
            return None;
        };
        Some(Measurement {
            value,
            ..self.found(role, (self.time, false), 0, None)
        })
    }

    #[inline]
    fn duration(
        &mut self,
        role: &Role,
        begun: Begun,
        depth: usize,
        key: Option<SpanKey>,
    ) -> Option<Measurement> {
        if begun.0 > self.time {
            self.losses.reversed += 1;
            return None;
        }
        Some(self.found(role, begun, depth, key))
    }

    #[inline]
    fn found(
        &self,
        role: &Role,
        (begin, told): Begun,
        depth: usize,
        key: Option<SpanKey>,
    ) -> Measurement {
        Measurement {
            series: role.series,
            begin,
            end: self.time,
            value: self.time - begin,
            thread: self.key.0,
            tid: self.key.1,
            key,
            depth,
            told,
        }
    }
}
