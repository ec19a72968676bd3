//! Records a ring, and goes on where an earlier recorder of it was stopped.
//!
//! What there is no room for stays where it is: a few frames here, the rest in the ring, which is
//! not read on before they are written. So a full disk costs what the ring overwrites meanwhile,
//! which is counted like all else that comes too late, and no memory.

mod definitions;
mod next_file;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use timeline::{Attached, Follow, FollowFrom, PlacedEvent, Result, ThreadRef};

use crate::format::event::Data;
use crate::format::preamble::Preamble;
use crate::format::record::events_in;
use crate::record::output::{Change, Next, Output, Trouble};
use crate::record::tick_clock::Times;
use crate::write::event::Event;
use crate::write::interned::{DefinitionId, ThreadId};
use crate::write::writer::{Form, Writer};

/// How long events wait for others to share a block with.
const PATIENCE: Duration = Duration::from_secs(1);
/// Threads whose names are remembered; then they are looked up anew.
const MOST_THREADS: usize = 1 << 16;
/// Of them, those that are found without a hash.
const RECENT: usize = 64;
/// What an event takes with what it refers to, about.
const BEHIND_GAP: u64 = 2048;

/// What a recorder has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Events recorded.
    pub events: u64,
    /// Entries of the ring that were overwritten before they could be recorded: of an event with a
    /// payload, several, and what fills up a chunk counts as well. At the end, also events and
    /// entries for which there was no room.
    pub missed: u64,
    /// Places where runs or the end of one may be missing, and nobody knows how much.
    pub missed_unknown: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Records a ring. Dropped without [`Recorder::finish`], it leaves what was written so far, as a
/// kill does.
///
/// # Example
/// ```
/// use timeline_archive::{Archive, Form, Keeping, Output, Recorder};
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
    /// Lanes in which an earlier recorder of this run told of a gap, and did not write the event
    /// behind it. Before the next event of each stands a record of its own, which shows the gap to
    /// belong to it.
    resumed: HashSet<u32>,
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
    /// By event: its definition, and how many arguments it has.
    definitions: Vec<Option<(DefinitionId, usize)>>,
    threads: HashMap<Thread, ThreadId>,
    /// Of them, those that are found without a hash.
    recent: Vec<Option<(Thread, ThreadId)>>,
    /// Since when events wait.
    waiting: Option<Instant>,
    totals: Totals,
    /// What happened to the file, and was not told yet.
    change: Option<Change>,
}

/// A thread, by its identity in the ring and the id that the kernel gave it.
type Thread = (ThreadRef, u32);

impl<'a> Recorder<'a> {
    /// Records into `output`. A run of which it holds a part is continued where that ends. Of
    /// another one, what is in the ring is recorded; if others were recorded before, what is no
    /// longer there counts as missed.
    ///
    /// # Errors
    /// `Io`; `OtherRing` where the archive is of another timeline.
    pub fn new(at: &'a Attached, output: &'a mut Output, form: Form) -> Result<Recorder<'a>> {
        Recorder::start(at, output, form, None)
    }

    /// As [`Recorder::new`], one of several runs of a program: of `before`, the one right before
    /// this as far as it is known, all is in the archive that there is. If the archive ends with
    /// another run than that one, it says that something may be missing in between; see
    /// [`Recorder::gap`].
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
        let resume = output.resume(at)?;
        let follow = match (resume.is_new, resume.later) {
            (false, _) => {
                let lane = |(lane, next): &(u64, u64)| Some((u32::try_from(*lane).ok()?, *next));
                let next: Vec<_> = resume.next.iter().filter_map(lane).collect();
                at.follow_at(&next)
            }
            (true, true) => at.follow(FollowFrom::Start),
            (true, false) => at.follow(FollowFrom::Oldest),
        };
        let mut writer = Writer::new(output, resume.run.magic.unwrap_or(0), form);
        writer.knows(resume.known);
        for (lane, next) in resume.next {
            writer.place(lane, next);
        }
        for (lane, next) in follow.places().filter(|(_, next)| *next > 0) {
            writer.place(lane.into(), next);
        }
        let mut recorder = Recorder {
            at,
            follow,
            resumed: resume.gaps,
            writer,
            preamble: resume.run,
            introduced: resume.introduced,
            is_new: resume.is_new,
            totals: Totals {
                missed_unknown: u64::from(gap.is_some()),
                ..Totals::default()
            },
            unsaid: gap.is_some(),
            gap,
            times: Times::default(),
            definitions: Vec::new(),
            threads: HashMap::new(),
            recent: vec![None; RECENT],
            waiting: None,
            change: None,
        };
        if resume.is_new {
            recorder.begin();
            // If there is no room, it waits.
            let _ = recorder.writer.write();
        }
        Ok(recorder)
    }

    /// Records what was logged since the last call; whether there was anything. Does not wait. What
    /// cannot be written is tried again by the next call, and until then the ring is not read: see
    /// [`Recorder::trouble`].
    pub fn step(&mut self) -> bool {
        if !self.keep_place() || self.writer.write().is_err() {
            return false;
        }
        let missed = self.follow.poll_placed();
        let new = self.follow.placed() > 0 || missed > 0;
        if new {
            // Only then: a file that begins with a run that is over would hide that a later one is
            // in those before.
            let rotated = self.is_due(Next::Batch) && self.rotate();
            if !rotated && !self.introduced {
                self.begin();
            }
        }
        self.forget_many_threads();
        self.totals.events += self.follow.placed() as u64;
        self.totals.missed = self.totals.missed.saturating_add(missed);
        while let Some(placed) = self.follow.next_placed() {
            let resumes = !self.resumed.is_empty() && self.resumed.remove(&placed.lane);
            if placed.event.missed > 0 || resumes {
                let earlier = placed.event.missed.saturating_sub(placed.missed);
                let place = (placed.lane, placed.number);
                self.write_gap(place, Some(placed.event.ticks), (placed.missed, earlier));
            }
            self.record(&placed);
        }
        if self.writer.waiting() == 0 {
            self.waiting = None;
        } else if self.waiting.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            let _ = self.writer.flush();
            self.waiting = None;
        }
        let _ = self.writer.write();
        new
    }

    /// Records the events that were logged until now, and none that are logged meanwhile. Stops at
    /// this moment, or when there is no room, or when `go_on` says no. Returns how many of these
    /// entries are left in the ring. Each look takes some thousand entries.
    pub fn wind_up(&mut self, until: Instant, go_on: impl Fn() -> bool) -> u64 {
        let committed = self.follow.committed();
        let is_due = || Instant::now() < until && go_on();
        while self.follow.left_of(&committed) > 0 && is_due() && self.step() {}
        self.follow.left_of(&committed)
    }

    /// Writes what still waits for others to share a block with; whether nothing is left to be
    /// written.
    pub fn flush(&mut self) -> bool {
        self.writer.flush().is_ok()
    }

    /// The run after which something may be missing: it is the last one in the archive, and whether
    /// this one follows right upon it, and where it ended, is not known.
    pub fn gap(&self) -> Option<&Preamble> {
        self.gap.as_ref()
    }

    /// Whether something is still to be written that was taken from the ring, for want of room.
    pub fn is_full(&mut self) -> bool {
        self.writer.output().rotation().is_full()
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

    /// Writes what still waits for others. What there is no room for counts as missed, as does then
    /// what is unread in the ring; a later recorder finds it there, if that is soon enough.
    pub fn finish(self) -> Totals {
        self.end(true)
    }

    /// As [`Recorder::finish`], but does not wait until the written frames survive the machine.
    pub fn finish_at_once(self) -> Totals {
        self.end(false)
    }

    fn end(mut self, durable: bool) -> Totals {
        let untold = self.follow.untold();
        for (lane, number, missed, earlier) in &untold {
            self.write_gap((*lane, *number), None, (*missed, *earlier));
        }
        if self.writer.flush().is_err() {
            let lost = self.writer.waiting() as u64 + events_in(self.writer.unwritten());
            self.totals.events = self.totals.events.saturating_sub(lost);
            self.totals.missed += lost.saturating_add(self.follow.unread());
        } else {
            let places = self.writer.places().to_vec();
            let known = self.writer.known().clone();
            let magic = self.preamble.magic.unwrap_or(0);
            let gaps = untold
                .iter()
                .map(|(lane, number, ..)| (u64::from(*lane), *number));
            self.writer
                .output()
                .leave(magic, &places, gaps.collect(), known);
        }
        if durable {
            self.writer.output().rotation().finish();
        }
        self.totals()
    }

    /// Writes how many entries are missing before an event: since the recording began, and from
    /// before.
    #[cold]
    fn write_gap(
        &mut self,
        (lane, number): (u32, u64),
        ticks: Option<u64>,
        (missed, earlier): (u64, u64),
    ) {
        let event = Data {
            ticks,
            lane: Some(lane.into()),
            number: Some(number),
            ..Data::default()
        };
        // And for the event, as most are: a reader of the file that it is in is to find the gap
        // there.
        let most = self.writer.most_of_missed(1) + BEHIND_GAP;
        self.make_room(most, self.writer.unwritten().len());
        let _ = self.writer.gap(&event, missed, earlier);
    }

    /// Writes an event; if there is no room, it waits with the others of its batch.
    #[inline]
    fn record(&mut self, placed: &PlacedEvent) {
        let from = &placed.event;
        let before = self.writer.unwritten().len();
        let mut event = self.event(placed);
        let is_small = from.payload.is_none();
        if !(is_small && self.writer.has_room(|output| output.room())) {
            let more = Writer::<&mut Output>::most_of(&event);
            if self.make_room(more, before) {
                event = self.event(placed);
            }
        }
        event.unix_nanos = self.times.at(self.at, from.ticks);
        let _ = self.writer.log(&event);
    }

    /// An event as the writer takes it, without its time. What it refers to is defined in the file.
    #[inline]
    fn event<'e>(&mut self, placed: &'e PlacedEvent) -> Event<'e> {
        let event = &placed.event;
        let (definition, arguments) = self.definition(event.id);
        let thread = self.thread(event);
        let mut made = Event {
            definition,
            thread,
            ticks: Some(event.ticks),
            unix_nanos: None,
            core: (event.core != u16::MAX).then_some(event.core.into()),
            lane: Some(placed.lane.into()),
            number: Some(placed.number),
            next: (placed.next != placed.number.saturating_add(1)).then_some(placed.next),
            args: &event.args[..arguments],
            payload: &[],
            backtrace: &[],
        };
        if let Some(payload) = &event.payload {
            made.args = &[];
            made.payload = &payload.values;
            made.backtrace = &payload.backtrace;
            self.define_addresses(event, thread);
        }
        made
    }
}
