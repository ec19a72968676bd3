//! Records a ring, and goes on where an earlier recorder of it was stopped.
//!
//! What there is no room for stays where it is: a few frames here, the rest in the ring, which is not read
//! on before they are written. So a full disk costs what the ring overwrites meanwhile, which is counted like
//! all else that comes too late, and no memory.

mod anew;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::output::{Change, Output, Trouble};
use super::preamble::Preamble;
use super::record::{Data, Kind, PRINTF, Source, events_in};
use super::times::Times;
use super::writer::{Form, Writer};
use crate::attached::Attached;
use crate::error::Result;
use crate::event::{EventId, Syntax};
use crate::source::{Event, Follow, From, Placed, Source as _, ThreadRef};

/// How long events wait for others to share a block with.
const PATIENCE: Duration = Duration::from_secs(1);
/// Threads whose names are remembered; then they are looked up anew.
const MOST_SOURCES: usize = 1 << 16;
/// What a preamble takes, about.
const INTRODUCTION: u64 = 2048;
/// Of them, those that are found without a hash.
const RECENT: usize = 64;

/// What a recorder has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Events recorded.
    pub events: u64,
    /// Entries of the ring that were overwritten before they could be recorded: of an event with a payload, several, and
    /// what fills up a chunk counts as well. At the end, also events and entries for which there was no room.
    pub missed: u64,
    /// Places where runs or the end of one may be missing, and nobody knows how much.
    pub missed_unknown: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Records a ring. Dropped without [`Recorder::finish`], it leaves what was written so far, as a kill does.
///
/// # Example
/// ```
/// use timeline::archive::{Archive, Form, Keeping, Output, Recorder};
/// use timeline::{Attached, Priority, Timeline};
/// # let path = format!("/timeline-doc-recorder-{}", std::process::id());
/// # let path = path.as_str();
/// # let folder = std::env::temp_dir().join(path.trim_start_matches('/'));
/// # std::fs::create_dir(&folder)?;
/// let timeline = Timeline::with_size(path, 1024, 4096)?;
/// let got = timeline.define("net", Priority::Info, "got $bytes")?;
/// let attached = Attached::open(path)?;
///
/// let mut output = Output::open(folder.join("flight.tla"), Keeping::default())?;
/// let mut recorder = Recorder::new(&attached, &mut output, Form::Blocks)?;
/// timeline.log(got, [1500]);
/// while recorder.step() {}
/// assert_eq!(recorder.finish().events, 1);
///
/// let archive = Archive::open(folder.join("flight.tla"))?;
/// assert_eq!(archive.events().count(), 1);
/// # timeline::unlink(path)?;
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder<'a> {
    at: &'a Attached,
    follow: Follow<'a>,
    writer: Writer<&'a mut Output>,
    preamble: Preamble,
    /// Whether the file says whose events these are.
    introduced: bool,
    /// Whether the archive held nothing of them before.
    is_new: bool,
    /// Between which run and this one something may be missing.
    gap: Option<Preamble>,
    /// Whether the file is still to say so.
    unsaid: bool,
    times: Times,
    /// By event, what it says, and how many arguments it has.
    kinds: Vec<Option<(Kind, usize)>>,
    sources: HashMap<Thread, Source>,
    recent: Vec<Option<(Thread, Source)>>,
    batch: Vec<Placed>,
    /// The event that is just being written.
    data: Data,
    /// What of it is that of the one before, if this is the same: what it says with how many arguments, and who.
    said: Option<(EventId, usize)>,
    by: Option<Thread>,
    /// Since when events wait.
    waiting: Option<Instant>,
    totals: Totals,
    /// What happened to the file, and was not told yet.
    change: Option<Change>,
}

/// A thread, by its identity in the ring and the id that the kernel gave it.
type Thread = (ThreadRef, u32);

impl<'a> Recorder<'a> {
    /// Records into `output`. A run of which it holds a part is continued where that ends. Of another one, what is
    /// in the ring is recorded; if others were recorded before, what is no longer there counts as missed.
    ///
    /// # Errors
    /// `Io`; `OtherRing` where the archive is of another timeline.
    pub fn new(at: &'a Attached, output: &'a mut Output, form: Form) -> Result<Recorder<'a>> {
        Recorder::start(at, output, form, None)
    }

    /// As [`Recorder::new`], one of several runs of a program: of `before`, the one right before this as far as it is
    /// known, all is in the archive that there is. If the archive ends with another run than that one, it says that
    /// something may be missing in between; see [`Recorder::gap`].
    ///
    /// # Errors
    /// Those of [`Recorder::new`].
    pub fn after(
        before: Option<&Attached>,
        at: &'a Attached,
        output: &'a mut Output,
        form: Form,
    ) -> Result<Recorder<'a>> {
        let gap = output.gap(at, before)?;
        Recorder::start(at, output, form, gap)
    }

    fn start(
        at: &'a Attached,
        output: &'a mut Output,
        form: Form,
        gap: Option<Preamble>,
    ) -> Result<Recorder<'a>> {
        let place = output.place(at)?;
        let follow = match (place.is_new, place.later) {
            (false, _) => {
                let lane = |(lane, next): &(u64, u64)| Some((u32::try_from(*lane).ok()?, *next));
                let next: Vec<_> = place.next.iter().filter_map(lane).collect();
                at.follow_at(&next)
            }
            (true, true) => at.follow(From::Start),
            (true, false) => at.follow(From::Oldest),
        };
        let mut writer = Writer::new(output, place.run.magic.unwrap_or(0), form);
        writer.knows(place.known);
        for (lane, next) in place.next {
            writer.place(lane, next);
        }
        for (lane, next) in follow.places().filter(|(_, next)| *next > 0) {
            writer.place(lane.into(), next);
        }
        let mut recorder = Recorder {
            at,
            follow,
            writer,
            preamble: place.run,
            introduced: place.introduced,
            is_new: place.is_new,
            totals: Totals {
                missed_unknown: u64::from(gap.is_some()),
                ..Totals::default()
            },
            unsaid: gap.is_some(),
            gap,
            times: Times::default(),
            kinds: Vec::new(),
            sources: HashMap::new(),
            recent: vec![None; RECENT],
            batch: Vec::new(),
            data: Data::default(),
            said: None,
            by: None,
            waiting: None,
            change: None,
        };
        if place.is_new {
            recorder.begin();
            // If there is no room, it waits.
            let _ = recorder.writer.write();
        }
        Ok(recorder)
    }

    /// Records what was logged since the last call; whether there was anything. Does not wait. What cannot
    /// be written is tried again by the next call, and until then the ring is not read: see
    /// [`Recorder::trouble`].
    pub fn step(&mut self) -> bool {
        if !self.keep_place() || self.writer.write().is_err() {
            return false;
        }
        let mut batch = std::mem::take(&mut self.batch);
        let mut missed = self.follow.poll_placed(&mut batch);
        let new = !batch.is_empty() || missed > 0;
        if new {
            // Only then: a file that begins with a run that is over would hide that a later one is in those before.
            let expected = self.writer.expected();
            let old = self.writer.output().is_old(expected);
            let turned = old && self.rotate();
            if !turned && !self.introduced {
                self.begin();
            }
        }
        self.totals.events += batch.len() as u64;
        // Dropped one by one, while the processor has them at hand.
        for placed in batch.drain(..) {
            if placed.missed > 0 {
                missed = missed.saturating_sub(placed.missed);
                let next = (placed.lane.into(), placed.number);
                self.miss(placed.missed, Some(placed.event.ticks), &[next]);
            }
            self.record(&placed);
        }
        if missed > 0 {
            let next: Vec<_> = self.follow.places().map(|(l, n)| (l.into(), n)).collect();
            self.miss(missed, None, &next);
        }
        self.batch = batch;
        if self.writer.waiting() == 0 {
            self.waiting = None;
        } else if self.waiting.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            let _ = self.writer.flush();
            self.waiting = None;
        }
        let _ = self.writer.write();
        new
    }

    /// Writes what still waits for others to share a block with; whether nothing is left to be written.
    pub fn flush(&mut self) -> bool {
        self.writer.flush().is_ok()
    }

    /// The run after which something may be missing: it is the last one in the archive, and whether this one follows
    /// right upon it, and where it ended, is not known.
    pub fn gap(&self) -> Option<&Preamble> {
        self.gap.as_ref()
    }

    /// Whether something is still to be written that was taken from the ring, for want of room.
    pub fn is_full(&mut self) -> bool {
        self.writer.output().is_full()
    }

    /// What does not work at present, and is tried again and again.
    pub fn trouble(&mut self) -> Option<&Trouble> {
        self.writer.output().trouble()
    }

    /// How many entries of the ring are still to be read, with those that are overwritten already.
    pub fn unread(&self) -> u64 {
        self.follow.unread()
    }

    /// What it has done so far.
    pub fn totals(&self) -> Totals {
        Totals {
            bytes: self.writer.written(),
            ..self.totals
        }
    }

    /// Writes what still waits for others. What there is no room for counts as missed, as does then what is
    /// unread in the ring; a later recorder finds it there, if that is soon enough.
    pub fn finish(mut self) -> Totals {
        if self.writer.flush().is_err() {
            let lost = self.writer.waiting() as u64 + events_in(self.writer.unwritten());
            self.totals.events = self.totals.events.saturating_sub(lost);
            self.totals.missed += lost.saturating_add(self.follow.unread());
        } else {
            let places = self.writer.places().to_vec();
            let known = self.writer.known().clone();
            let magic = self.preamble.magic.unwrap_or(0);
            self.writer.output().leave(magic, &places, known);
        }
        self.writer.output().finish();
        self.totals()
    }

    /// Introduces the run, in a new file if this one has no room for that.
    fn begin(&mut self) {
        let (expected, more) = (self.writer.expected(), self.writer.most_of(None));
        let more = more + INTRODUCTION;
        if !(self.writer.output().is_long(expected, more) && self.rotate()) {
            self.introduce();
        }
    }

    /// Says in the file whose events follow, and where they begin.
    fn introduce(&mut self) {
        let before = self.writer.unwritten().len();
        if std::mem::take(&mut self.unsaid) {
            // Before the preamble: whoever finds that run here does not look for a gap again.
            self.writer.missed_unknown();
        }
        self.preamble.anchors = self.at.anchors();
        self.writer.preamble(&self.preamble);
        let _ = self.writer.missed(0, None, &[]);
        let bytes = self.writer.unwritten().len().saturating_sub(before);
        self.writer.output().introduce(&self.preamble, bytes as u64);
        self.introduced = true;
    }

    /// Begins a new file, which can be read without the one before; stays with that one if there is no room.
    fn rotate(&mut self) -> bool {
        if self.writer.flush().is_err() || !self.writer.output().rotate() {
            return false;
        }
        self.renew();
        true
    }

    /// Says how far a later run is recorded, of which this file holds nothing: whoever goes on with that one looks
    /// no further.
    fn remember(&mut self) {
        if let Some((run, next)) = self.writer.output().newest_after(&self.preamble) {
            let before = self.writer.unwritten().len();
            self.writer.preamble(&run);
            self.writer.other(run.magic, next);
            let bytes = self.writer.unwritten().len() - before;
            self.writer.output().introduce(&run, bytes as u64);
        }
    }

    /// Notes which entries come next in lanes, and that so many before them are gone.
    fn miss(&mut self, count: u64, ticks: Option<u64>, next: &[(u64, u64)]) {
        self.totals.missed = self.totals.missed.saturating_add(count);
        let _ = self.writer.missed(count, ticks, next);
    }

    /// Writes an event; if there is no room, it waits with the others of its batch.
    fn record(&mut self, placed: &Placed) {
        let event = &placed.event;
        let before = self.writer.unwritten().len();
        self.define(event);
        let (expected, more) = (
            self.writer.expected(),
            self.writer.most_of(Some(&self.data)),
        );
        if self.writer.output().is_long(expected, more) && self.turn(before, more) {
            self.define(event);
        }
        let unix_nanos = self.times.at(self.at, event.ticks);
        let data = &mut self.data;
        data.ticks = Some(event.ticks);
        data.unix_nanos = unix_nanos;
        data.core = (event.core != u16::MAX).then_some(event.core.into());
        data.lane = Some(placed.lane.into());
        data.number = Some(placed.number);
        let _ = self.writer.event_before(data, Some(placed.next));
    }

    /// Begins a new file before an event, whose definitions stand behind `before` bytes that are not written yet:
    /// they belong into that one. Not if there is room once what waits is compressed.
    #[cold]
    fn turn(&mut self, before: usize, more: u64) -> bool {
        let definitions = self.writer.take_back(before);
        self.writer.end_block();
        let waiting = self.writer.expected() + definitions.len() as u64;
        let turned = self.writer.output().is_really_long(waiting, more) && self.rotate();
        if !turned {
            self.writer.put_back(&definitions);
        }
        turned
    }

    /// Takes over what an event says, and defines what that refers to.
    fn define(&mut self, event: &Event) {
        let arguments = match self.said {
            Some((id, arguments)) if id == event.id => arguments,
            _ => self.say(event.id),
        };
        let thread = (event.thread, event.tid);
        if self.by != Some(thread) {
            self.turn_to(event, thread);
        }
        let pid = self.data.source.pid;
        for address in event.backtrace() {
            if !self.writer.knows_address(pid, *address) {
                self.writer.symbol(pid, &self.at.frame(event, *address));
            }
        }
        fill(event, arguments, &mut self.data);
    }

    /// Goes on with another event; how many arguments it has.
    fn say(&mut self, id: EventId) -> usize {
        let (kind, arguments) = self.kind(id);
        self.data.kind = kind;
        // What is not known may be soon.
        let known = self.kinds.get(id.0 as usize).is_some_and(Option::is_some);
        self.said = known.then_some((id, arguments));
        arguments
    }

    /// What an event says, and how many arguments it has: all there is room for, if that is not known.
    fn kind(&mut self, id: EventId) -> (Kind, usize) {
        if let Some(Some(made)) = self.kinds.get(id.0 as usize) {
            return made.clone();
        }
        self.new_kind(id)
    }

    #[cold]
    fn new_kind(&mut self, id: EventId) -> (Kind, usize) {
        let place = id.0 as usize;
        let unknown = Kind {
            event: Some(id.0.into()),
            ..Kind::default()
        };
        let Some(definition) = self.at.definition(id) else {
            return (unknown, 4);
        };
        let kind = Kind {
            level: Some(definition.priority as u64),
            format: Some(self.writer.string(&definition.message)),
            category: Some(self.writer.string(&definition.category)),
            file: definition.file.as_deref().map(|f| self.writer.string(f)),
            line: definition.line.map(u64::from),
            syntax: (definition.syntax == Syntax::Printf).then_some(PRINTF),
            ..unknown
        };
        let made = (kind, definition.argument_count().min(4));
        // Only what is defined makes this longer.
        if self.kinds.len() <= place {
            self.kinds.resize_with(place + 1, || None);
        }
        self.kinds[place] = Some(made.clone());
        made
    }

    /// Goes on with another thread.
    #[inline]
    fn turn_to(&mut self, event: &Event, thread: Thread) {
        match &self.recent[event.tid as usize % RECENT] {
            // Straight to its place: events of two threads often come in turn.
            Some((recent, source)) if *recent == thread => self.data.source.clone_from(source),
            _ => self.data.source = self.other_source(event),
        }
        self.by = Some(thread);
    }

    #[cold]
    fn other_source(&mut self, event: &Event) -> Source {
        let thread = (event.thread, event.tid);
        let made = match self.sources.get(&thread) {
            Some(made) => made.clone(),
            None => self.new_source(event),
        };
        self.recent[event.tid as usize % RECENT] = Some((thread, made.clone()));
        made
    }

    fn new_source(&mut self, event: &Event) -> Source {
        let tid = Some(event.tid.into());
        let made = match self.at.thread(event) {
            Some(thread) => Source {
                thread: Some(self.writer.string(&thread.name)),
                tid,
                pid: Some(thread.pid.into()),
                process: Some(self.writer.string(&thread.process)),
            },
            None => Source {
                tid,
                ..Source::default()
            },
        };
        if self.sources.len() >= MOST_SOURCES {
            self.forget_sources();
        }
        self.sources.insert((event.thread, event.tid), made.clone());
        made
    }

    fn forget_sources(&mut self) {
        self.sources.clear();
        self.recent.fill(None);
        self.by = None;
    }
}

/// What an event says: integers of its own, or a payload.
fn fill(event: &Event, arguments: usize, data: &mut Data) {
    data.args.clear();
    data.payload.clear();
    data.backtrace.clear();
    match &event.payload {
        None => data.args.extend(&event.args[..arguments]),
        Some(payload) => {
            data.payload.extend(&payload.values);
            data.backtrace.extend(&payload.backtrace);
        }
    }
}
