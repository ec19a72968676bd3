//! Records a ring, and continues where an earlier recorder of it stopped.
//!
//! If the disk is full, a recorder keeps a few frames in memory and leaves the rest in the ring: it
//! reads on only when these frames are written. So a full disk costs no memory. Entries that the
//! ring overwrites meanwhile are counted as missed, like all others that the recorder reads too
//! late.
//!
//! definitions.rs writes the strings and threads that events refer to, processes.rs who logs,
//! gaps.rs which entries are missing. words.rs records many events of one definition at once, and
//! pointees.rs remembers which of their pointers are looked up already. filter.rs leaves events
//! out, next_file.rs goes on in another file, clocks.rs compares the clock with that of another
//! machine, and totals.rs has the results.

mod clocks;
mod definitions;
mod filter;
mod gaps;
mod next_file;
mod pointees;
mod processes;
pub(crate) mod totals;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use timeline::internal::PlacedEvent;
use timeline::{Attached, Event, Follow, FollowFrom, ThreadRef};

use crate::error::Result;
use crate::format::clock::ClockComparison;
use crate::format::preamble::Preamble;
use crate::format::record::events_in;
use crate::record::output::{ArchiveOutput, FileChange, Handover, OutputTrouble};
use crate::record::tick_clock::TickClock;
use crate::record::watch_mark::WatchMark;
use crate::write::event::InternedEvent;
use crate::write::interner::ThreadId;
use crate::write::writer::{Form, Writer};
use definitions::DefinitionEntry;
use filter::RecordFilter;
use pointees::Pointees;
use processes::RingProcesses;
use totals::Totals;

/// Threads that are remembered. If there are more, all are looked up again.
const MAX_THREADS: usize = 1 << 16;
/// The number of these threads that are found without a hash.
const RECENT: usize = 64;

/// Records a ring. If it is dropped without [`Recorder::finish`], the file is as after a kill: it
/// holds the frames that were written so far.
///
/// # Example
/// ```
/// use timeline_archive::{Archive, Form, Keeping, ArchiveOutput, Recorder};
/// use timeline::{Attached, Priority, Timeline};
/// # let path = format!("/timeline-doc-recorder-{}", std::process::id());
/// # let path = path.as_str();
/// # let folder = std::env::temp_dir().join(path.trim_start_matches('/'));
/// # std::fs::create_dir(&folder)?;
/// let timeline = Timeline::with_size(path, 1024, 4096)?;
/// let got = timeline.define("net", Priority::Info, "got $bytes")?;
/// let attached = Attached::open(path)?;
///
/// let mut output = ArchiveOutput::open(folder.join("flight.tla"), Keeping::default())?;
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
    /// Which events are recorded, if not all are.
    wanted: Option<RecordFilter<'a>>,
    /// Lanes that end with a gap: an earlier recorder of this run wrote the gap, but not the event
    /// behind it. The next event of such a lane begins with a gap record of its own, so that the
    /// earlier gap belongs to it.
    resumed: HashSet<u32>,
    /// The numbers of the important events that were recorded. Each further file has them as well.
    important: BTreeSet<u64>,
    writer: Writer<&'a mut ArchiveOutput>,
    preamble: Preamble,
    /// Whether the file has the preamble of this run.
    introduced: bool,
    /// Whether the archive held no event of this run before.
    is_new: bool,
    /// The run after which something may be missing.
    gap: Option<Preamble>,
    /// Whether the record of that gap is still to be written.
    gap_unwritten: bool,
    clock: TickClock,
    /// [`Attached::clock_changes`] when the steps of the wall clock were written.
    clock_changes: u64,
    /// What the file says last of the clock of another machine, and how many events came before.
    clock_told: Option<(ClockComparison, u64)>,
    /// By the number of the event: its definition, and its number of arguments.
    definitions: Vec<Option<DefinitionEntry>>,
    undefined: DefinitionEntry,
    /// Each with the number of renames when it was looked up.
    threads: HashMap<Thread, (ThreadId, u64)>,
    /// How often threads were renamed.
    renames: u64,
    /// The threads that are found without a hash.
    recent: Vec<Option<(Thread, ThreadId)>>,
    pointees: Pointees,
    processes: RingProcesses,
    /// Memory for the event that is written, for the times of several, and for the threads of
    /// their runs.
    event: InternedEvent,
    times: Vec<u64>,
    threads_of_runs: Vec<ThreadId>,
    /// When the first of the waiting events came.
    waiting: Option<Instant>,
    totals: Totals,
    /// A change of the file that was not reported yet.
    change: Option<FileChange>,
}

/// A thread: its identity in the ring, and the id that the kernel gave it.
type Thread = (ThreadRef, u32);

impl<'a> Recorder<'a> {
    /// Records into `output`. If the archive holds a part of this run, the recorder continues
    /// behind it. Otherwise it begins with the oldest event in the ring; if the archive holds other
    /// runs, events that the ring has overwritten count as missed.
    ///
    /// # Errors
    /// `Io`; `OtherRing` if the archive is of another timeline.
    pub fn new(
        at: &'a Attached,
        output: &'a mut ArchiveOutput,
        form: Form,
    ) -> Result<Recorder<'a>> {
        Recorder::start(at, output, form, None)
    }

    /// Like [`Recorder::new`], for one of several runs of a program. `before` is the run right
    /// before this one, if it is known. The caller has recorded everything of it that still exists.
    /// If the archive ends with another run, the recorder writes that something may be missing in
    /// between: see [`Recorder::gap`].
    ///
    /// # Errors
    /// Those of [`Recorder::new`].
    pub fn after(
        before: Option<&Attached>,
        at: &'a Attached,
        output: &'a mut ArchiveOutput,
        form: Form,
    ) -> Result<Recorder<'a>> {
        let gap = output.gap(at, before)?;
        Recorder::start(at, output, form, gap)
    }

    fn start(
        at: &'a Attached,
        output: &'a mut ArchiveOutput,
        form: Form,
        gap: Option<Preamble>,
    ) -> Result<Recorder<'a>> {
        let resume = output.resume(at)?;
        let mut follow = match (resume.is_new, resume.later) {
            (false, _) => {
                let lane = |(lane, next): &(u64, u64)| Some((u32::try_from(*lane).ok()?, *next));
                let next: Vec<_> = resume.next.iter().filter_map(lane).collect();
                at.follow_at(&next)
            }
            (true, true) => at.follow(FollowFrom::Start),
            (true, false) => at.follow(FollowFrom::Oldest),
        };
        follow.leave_out(|number| resume.important.contains(&number));
        let mut writer = Writer::new(output, resume.run.magic.unwrap_or(0), form);
        writer.knows(resume.known);
        for (lane, next) in resume.next {
            writer.note_position(lane, next);
        }
        for (lane, next) in follow.positions().filter(|(_, next)| *next > 0) {
            writer.note_position(lane.into(), next);
        }
        writer.settle_positions();
        let totals = Totals {
            overwritten: follow.overwritten(),
            missed_unknown: u64::from(gap.is_some()),
            ..Totals::default()
        };
        let mut recorder = Recorder {
            at,
            follow,
            wanted: None,
            resumed: resume.gaps,
            important: resume.important,
            writer,
            preamble: resume.run,
            introduced: resume.introduced,
            is_new: resume.is_new,
            totals,
            gap_unwritten: gap.is_some(),
            gap,
            clock: TickClock::default(),
            clock_changes: 0,
            clock_told: None,
            definitions: Vec::new(),
            undefined: DefinitionEntry::undefined(),
            threads: HashMap::new(),
            renames: 0,
            recent: vec![None; RECENT],
            pointees: Pointees::new(),
            processes: RingProcesses::default(),
            event: InternedEvent::default(),
            times: Vec::new(),
            threads_of_runs: Vec::new(),
            waiting: None,
            change: None,
        };
        if resume.is_new {
            recorder.begin();
            // If there is no room, it is written later.
            let _ = recorder.writer.write();
        }
        Ok(recorder)
    }

    /// Records the events that were logged since the last call, without waiting. Returns whether
    /// there were any. If frames cannot be written, the next call tries again, and does not read
    /// the ring before: see [`Recorder::trouble`].
    pub fn step(&mut self) -> bool {
        if !self.reopen_if_changed() || self.writer.write().is_err() {
            return false;
        }
        let missed = self.follow.poll_placed();
        self.notice_renames();
        self.tell_processes();
        self.pointees.forget();
        let new = self.follow.has_placed() || missed > 0;
        self.forget_if_many_threads();
        self.totals.missed = self.totals.missed.saturating_add(missed);
        match self.wanted.is_some() {
            true => self.record_wanted(),
            // Only if there are new events: a file that begins with a run that has ended would hide
            // that an earlier file holds a later run.
            false if new => self.record_all(),
            false => {}
        }
        self.tell_steps();
        self.tell_clock();
        if self.writer.waiting() == 0 {
            self.waiting = None;
        } else if self.waiting.get_or_insert_with(Instant::now).elapsed()
            >= WatchMark::wait_of(self.is_watched())
        {
            let _ = self.writer.flush();
            self.waiting = None;
        }
        let _ = self.writer.write();
        new
    }

    /// Whether somebody watches the archive, so that events should not stay in the ring for long.
    pub fn is_watched(&mut self) -> bool {
        self.writer.output().destination().is_watched()
    }

    /// Records the events of a poll.
    fn record_all(&mut self) {
        self.begin_batch();
        while let Some(placed) = self.follow.next_important() {
            self.totals.events += 1;
            self.record(&placed);
        }
        if let Some(until) = self.follow.hole().filter(|_| self.follow.has_placed()) {
            self.write_hole(until);
        }
        while let Some(found) = self.follow.next_entry() {
            self.totals.events += 1;
            if !found.is_behind_gap() && self.resumed.is_empty() && self.record_words(&found) {
                continue;
            }
            let placed = self.follow.placed_event(&found);
            if self.begins_with_gap(&placed) {
                self.write_gap_before(&placed);
            }
            self.record(&placed);
        }
    }

    /// Records the events that were logged before this call. Stops at the time `until`, if there is
    /// no room, or when `go_on` returns false. Returns how many of these entries are left in the
    /// ring. `go_on` is called after some thousand entries each.
    pub fn wind_up(&mut self, until: Instant, go_on: impl Fn() -> bool) -> u64 {
        let committed = self.follow.committed();
        let is_due = || Instant::now() < until && go_on();
        while self.follow.left_of(&committed) > 0 && is_due() && self.step() {}
        self.totals.left = self.follow.left_of(&committed);
        self.totals.left
    }

    /// Writes the events that wait for others to fill a block. Returns whether all is written, and
    /// has arrived if it is written elsewhere.
    pub fn flush(&mut self) -> bool {
        self.tell_positions();
        self.writer.flush().is_ok() && self.writer.output().destination().is_settled()
    }

    /// The run that the archive ends with, if something may be missing behind it: other runs may
    /// have come between it and this one, and its own end may be missing.
    pub fn gap(&self) -> Option<&Preamble> {
        self.gap.as_ref()
    }

    /// Whether events are waiting because they could not be written.
    pub fn is_full(&mut self) -> bool {
        self.writer.output().destination().is_full()
    }

    /// Whether nothing will ever be written again, unlike to a full disk, of which that may pass:
    /// the file has the largest size that this process may write (`ulimit -f`), say.
    pub fn is_over(&mut self) -> bool {
        self.writer.output().destination().is_over()
    }

    /// Whether this recorder cannot go on, because the destination has lost what it goes on with.
    /// Another recorder of the ring goes on from where the destination is.
    pub fn is_cut_off(&mut self) -> bool {
        self.writer.output().destination().is_cut_off()
    }

    /// Bytes that lie on this machine until another one has them.
    pub fn waiting(&mut self) -> u64 {
        self.writer.output().waiting()
    }

    /// The step that fails at present. It is tried again and again.
    pub fn trouble(&mut self) -> Option<&OutputTrouble> {
        self.writer.output().trouble()
    }

    /// The number of entries of the ring that are not read yet, including those that are
    /// overwritten already.
    pub fn unread(&self) -> u64 {
        self.follow.unread()
    }

    /// The results so far.
    pub fn totals(&self) -> Totals {
        Totals {
            bytes: self.writer.written(),
            ..self.totals
        }
    }

    /// Writes the events that wait for others. If there is no room for them, they count as missed,
    /// and so do the unread entries of the ring; a later recorder can still find those in the ring,
    /// unless they are overwritten first.
    pub fn finish(self) -> Totals {
        self.end(true)
    }

    /// Like [`Recorder::finish`], but does not wait until the written frames are durable.
    pub fn finish_at_once(self) -> Totals {
        self.end(false)
    }

    fn end(mut self, durable: bool) -> Totals {
        let untold = self.follow.untold();
        for (lane, number, missed, earlier) in &untold {
            self.write_gap((*lane, *number), None, (*missed, *earlier));
        }
        self.tell_positions();
        if self.introduced {
            self.processes.wait(&self.preamble, &mut self.writer);
        }
        if self.writer.flush().is_err() {
            let lost = self.writer.waiting() as u64 + events_in(self.writer.unwritten());
            self.totals.events = self.totals.events.saturating_sub(lost);
            self.totals.missed += lost.saturating_add(self.follow.unread());
            self.totals.left = 0;
        } else {
            let magic = self.preamble.magic.unwrap_or(0);
            let gaps = untold
                .iter()
                .map(|(lane, number, ..)| (u64::from(*lane), *number));
            let left = Handover {
                positions: self.writer.positions().to_vec(),
                gaps: gaps.collect(),
                known: self.writer.known().clone(),
                important: std::mem::take(&mut self.important),
            };
            self.writer.output().leave(magic, left);
        }
        let destination = self.writer.output().destination();
        destination.finish(durable);
        let lost = destination.take_lost();
        self.totals.events = self.totals.events.saturating_sub(lost);
        self.totals.unsent = lost;
        self.totals()
    }

    /// Writes an event. If there is no room, it waits with the others of its batch.
    #[inline]
    fn record(&mut self, placed: &PlacedEvent) {
        let from = &placed.event;
        let before = self.writer.unwritten().len();
        self.take(placed);
        let is_small = from.payload.is_none();
        if !(is_small && self.writer.has_room(1, |output| output.room())) {
            let more = Writer::<&mut ArchiveOutput>::most_of(&self.event);
            if self.make_room(more, before) {
                self.take_again(placed);
            }
        }
        self.event.unix_nanos = self.clock.unix_nanos(self.at, from.ticks);
        let _ = self.writer.log(&self.event);
        if from.important {
            self.important.insert(placed.number);
        }
    }

    /// Converts an event for the writer, without its time, and writes the definitions and strings
    /// that it refers to.
    // Inlined: it is most of the work of recording a plain event.
    #[inline(always)]
    fn take(&mut self, placed: &PlacedEvent) {
        let from = &placed.event;
        let definition = self.definition(from.id);
        let thread = self.thread(from);
        let event = &mut self.event;
        event.clear();
        (event.definition, event.thread) = (definition, thread);
        event.ticks = Some(from.ticks);
        event.core = from.known_core().map(u64::from);
        event.lane = Some(placed.lane.into());
        event.number = Some(placed.number);
        event.next = (placed.next != placed.number.saturating_add(1)).then_some(placed.next);
        let known = self.definitions.get(from.id.0 as usize);
        let known = known.and_then(Option::as_ref).unwrap_or(&self.undefined);
        if from.payload.is_none() && known.is_plain {
            event.args.extend_from_slice(&from.args[..known.arguments]);
        } else {
            self.take_values(from, thread);
        }
    }

    /// Converts an event once more, after definitions were written anew.
    #[cold]
    #[inline(never)]
    fn take_again(&mut self, placed: &PlacedEvent) {
        self.take(placed);
    }

    /// Converts the values of an event, and writes the symbols of its addresses.
    #[inline(never)]
    fn take_values(&mut self, from: &Event, thread: ThreadId) {
        let known = self.definitions.get(from.id.0 as usize);
        let known = known.and_then(Option::as_ref).unwrap_or(&self.undefined);
        let has_pointers = !known.pointers.is_empty();
        let event = &mut self.event;
        if from.payload.is_none() && !known.is_printf {
            event.args.extend_from_slice(&from.args[..known.arguments]);
        } else {
            from.values(&known.layout).encode(&mut event.payload);
        }
        if !from.backtrace().is_empty() {
            event.backtrace.extend_from_slice(from.backtrace());
            self.define_addresses(from, thread);
        }
        if has_pointers {
            self.define_pointees(from, thread);
        }
    }
}
