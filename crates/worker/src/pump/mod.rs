//! Records one run of a program after the other, a step at a time.
//!
//! A run may be recorded already, as far as another machine or an earlier recorder has it: so a
//! pump asks the output first. It records the rest of the run before, if that is still there and
//! concerns the archive, and then its own.
//!
//! room.rs opens the output as soon as there is room for it. calls.rs makes steps for a time, and
//! state.rs says what came of them.

mod calls;
mod room;
mod state;

use std::sync::Arc;

use timeline::{Attached, Timeline};
use timeline_archive::{ArchiveOutput, Form, Preamble, Recorder, Totals};

use crate::error::{Error, Result};
use crate::options::WorkerOptions;
use crate::run::{EventChoice, RunRecording};
use room::RoomWait;

/// The part of the ring that may wait while the output is waited for.
const PART: u64 = 4;

/// What a step of a [`Pump`] did.
pub enum PumpStep {
    /// Nothing yet: there is no room to begin, or another machine has still to say how far the run
    /// is recorded there.
    Waiting,
    /// It began to record a run, or began anew after [`PumpStep::CutOff`].
    Begun,
    /// It recorded events, or found that some were overwritten.
    New,
    /// There was nothing new, or no room for it.
    Idle,
    /// A store has lost what was sent before. What is still in the ring is sent again.
    CutOff,
    /// This run, the one before the run that was asked for, is recorded to its end.
    Former(Arc<Attached>),
}

/// Where a pump is.
enum PumpStage {
    /// There is no room to open the output.
    Room(Box<RoomWait>),
    /// Whether the run before is to be recorded has to be asked.
    Former(Box<ArchiveOutput>),
    /// How far a run is recorded has to be asked.
    Question(Box<ArchiveOutput>, Subject),
    Recording(RunRecording, Subject),
    Ended(Box<ArchiveOutput>),
}

/// What is recorded at present.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// The run before, and not the one that was asked for.
    Former,
    Own,
    /// That one once more, after the output lost it.
    OwnAgain,
}

/// Records a timeline, a step at a time: what [`Worker`](crate::Worker) does in a thread.
///
/// It costs no memory to call it rarely, because the ring is the buffer; what the ring overwrites
/// meanwhile is counted as missed. Dropping it records what is in the ring, for at most a second
/// and a half, and waits two more for a store.
///
/// After a fork, the child's copy records nothing: its functions fail with
/// [`Error::ForkedProcess`], and dropping it does nothing. The parent goes on, and records what the
/// child logs to the same timeline.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use timeline::{Priority, Timeline};
/// use timeline_archive::Archive;
/// use timeline_worker::{Pump, WorkerOptions};
/// # let path = format!("/timeline-doc-pump-{}", std::process::id());
/// # let path = path.as_str();
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("flight.tla");
/// let timeline = Timeline::with_size(path, 1024, 4096)?;
/// let got = timeline.define("net", Priority::Info, "got $bytes")?;
///
/// let mut pump = Pump::start(&timeline, &WorkerOptions::to_file(&file))?; // flight.tla, say
/// for frame in 0..3 {
///     timeline.log(got, [frame]);
///     pump.update(Duration::from_millis(2))?; // between two frames of a game, say
/// }
/// let totals = pump.end()?;
/// assert_eq!((totals.events, totals.overwritten, totals.missed), (3, 0, 0));
/// assert_eq!(Archive::open(&file)?.events().count(), 3);
/// # timeline::unlink(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pump {
    process: u32,
    form: Form,
    choice: Option<Arc<dyn EventChoice>>,
    at: Arc<Attached>,
    /// The run right before it, if that is known.
    before: Option<Arc<Attached>>,
    /// None only while a step is made, or if the output could not be opened in the end.
    stage: Option<PumpStage>,
    /// The results of the recorders that have ended.
    totals: Totals,
    gap: Option<Preamble>,
    /// How many entries may wait in the ring while the output is waited for.
    most_unread: u64,
}

impl Pump {
    /// Records a timeline of this process. An archive that has a part of this run is continued.
    /// What the ring of the last run still has that the archive lacks is recorded before, so that
    /// nothing of a program that was killed is lost if it starts again. If the disk is full or
    /// read-only, it waits until that is over, also before it begins.
    ///
    /// # Errors
    /// `BadOption`; those of [`ArchiveOutput::open`]; `OtherRing` if the archive is of another
    /// timeline; `Io`.
    pub fn start(timeline: &Timeline, options: &WorkerOptions) -> Result<Pump> {
        Pump::record(timeline.attach()?, options)
    }

    /// Likewise, of a timeline that is attached already.
    ///
    /// # Errors
    /// Those of [`Pump::start`].
    pub fn record(at: Attached, options: &WorkerOptions) -> Result<Pump> {
        let stage = match RoomWait::open(options.clone())? {
            Ok(output) => PumpStage::Former(output),
            Err(wait) => PumpStage::Room(wait),
        };
        let mut pump = Pump::at_stage(stage, Arc::new(at), options.form, None);
        if options.is_local() {
            // What is wrong with an archive is told at once.
            pump.step()?;
        }
        Ok(pump)
    }

    /// Records a timeline to an output, and of its events only those that are chosen, if there is a
    /// choice.
    pub fn new(
        output: ArchiveOutput,
        at: Arc<Attached>,
        form: Form,
        choice: Option<Arc<dyn EventChoice>>,
    ) -> Pump {
        Pump::at_stage(PumpStage::Former(Box::new(output)), at, form, choice)
    }

    fn at_stage(
        stage: PumpStage,
        at: Arc<Attached>,
        form: Form,
        choice: Option<Arc<dyn EventChoice>>,
    ) -> Pump {
        Pump {
            process: std::process::id(),
            form,
            choice,
            before: at.former().map(Arc::new),
            most_unread: at.info().entries / PART,
            at,
            stage: Some(stage),
            totals: Totals::default(),
            gap: None,
        }
    }

    /// Goes on with the next run of the program, once the present one is recorded.
    ///
    /// # Errors
    /// `ForkedProcess`.
    pub fn go_on(&mut self, next: Arc<Attached>) -> Result<()> {
        self.finish(true)?;
        let last = run_id(&self.at);
        self.most_unread = next.info().entries / PART;
        self.at = next;
        self.before = self.at.former().map(Arc::new);
        let is_recorded = self.before.as_ref().is_some_and(|it| run_id(it) == last);
        self.stage = self.stage.take().map(|stage| match stage {
            PumpStage::Ended(output) if is_recorded => PumpStage::Question(output, Subject::Own),
            PumpStage::Ended(output) => PumpStage::Former(output),
            other => other,
        });
        Ok(())
    }

    /// Records what was logged since, without waiting: at most 16 chunks (16,384 events) and one
    /// more for each core or thread that logs.
    ///
    /// # Errors
    /// `ForkedProcess`; those of [`Pump::start`] when it begins; `Truncated` and `Io` if the file
    /// of the timeline was cut. After any of them it has ended.
    pub fn step(&mut self) -> Result<PumpStep> {
        self.refuse_child()?;
        loop {
            let step = match self.stage.take() {
                None => return Ok(PumpStep::Idle),
                Some(PumpStage::Room(wait)) => self.open(wait),
                Some(PumpStage::Former(output)) => self.ask_for_former(output),
                Some(PumpStage::Question(output, subject)) => self.begin(output, subject),
                Some(PumpStage::Recording(run, subject)) => {
                    self.record_more(run, subject).map(Some)
                }
                Some(PumpStage::Ended(output)) => {
                    self.stage = Some(PumpStage::Ended(output));
                    Ok(Some(PumpStep::Idle))
                }
            };
            if let Some(step) = step? {
                return Ok(step);
            }
        }
    }

    /// Opens the output, if there is room for it by now.
    fn open(&mut self, wait: Box<RoomWait>) -> Result<Option<PumpStep>> {
        let (stage, step) = match wait.again()? {
            Ok(output) => (PumpStage::Former(output), None),
            Err(wait) => (PumpStage::Room(wait), Some(PumpStep::Waiting)),
        };
        self.stage = Some(stage);
        Ok(step)
    }

    /// Finds out whether the run before is to be recorded, too.
    fn ask_for_former(&mut self, mut output: Box<ArchiveOutput>) -> Result<Option<PumpStep>> {
        let before = self.before.as_ref();
        let wanted = before.map(|before| output.continues_with(before, &self.at));
        let (stage, step) = match wanted {
            Some(Err(error)) if error.is_pending() => {
                (PumpStage::Former(output), Ok(Some(PumpStep::Waiting)))
            }
            Some(Err(error)) => (PumpStage::Ended(output), Err(error.into())),
            Some(Ok(true)) => (PumpStage::Question(output, Subject::Former), Ok(None)),
            Some(Ok(false)) | None => (PumpStage::Question(output, Subject::Own), Ok(None)),
        };
        self.stage = Some(stage);
        step
    }

    /// Begins to record a run, as soon as it is known from where on.
    fn begin(
        &mut self,
        mut output: Box<ArchiveOutput>,
        subject: Subject,
    ) -> Result<Option<PumpStep>> {
        let (at, before) = match (subject, &self.before) {
            // The runs before that one are not kept.
            (Subject::Former, Some(before)) => (before, None),
            _ => (&self.at, self.before.as_deref()),
        };
        let begun = match output.prepare(at) {
            Err(error) => Err((output, error)),
            Ok(()) => RunRecording::begin(
                output,
                Arc::clone(at),
                before,
                self.choice.clone(),
                self.form,
            ),
        };
        let (stage, step) = match begun {
            Ok(mut run) => {
                self.gap = run.with(|recorder| recorder.gap().cloned()).flatten();
                (PumpStage::Recording(run, subject), Ok(PumpStep::Begun))
            }
            Err((output, error)) if error.is_pending() => {
                (PumpStage::Question(output, subject), Ok(PumpStep::Waiting))
            }
            Err((output, error)) => (PumpStage::Ended(output), Err(error.into())),
        };
        self.stage = Some(stage);
        step.map(Some)
    }

    /// Records what is new of a run, and goes on to the next one behind the end of the run before.
    fn record_more(&mut self, mut run: RunRecording, subject: Subject) -> Result<PumpStep> {
        let is_former = subject == Subject::Former;
        let look = |recorder: &mut Recorder| {
            let is_new = recorder.step();
            // Who waits for the end of that run cannot lift a limit on its file.
            let is_done = !is_new && is_former && (recorder.flush() || recorder.is_over());
            (is_new, is_done, recorder.is_cut_off())
        };
        let (is_new, is_done, is_cut_off) = run.with(look).unwrap_or_default();
        if let Err(error) = self.of(subject).intact() {
            let output = self.close(run, subject, true);
            self.stage = Some(PumpStage::Ended(output));
            return Err(error.into());
        }
        let (stage, step) = if is_cut_off {
            // What the output did not have comes again, from the ring.
            let unsent = self.totals.unsent;
            let output = self.close(run, subject, false);
            self.totals.unsent = unsent;
            let again = match subject {
                Subject::Former => Subject::Former,
                _ => Subject::OwnAgain,
            };
            (PumpStage::Question(output, again), PumpStep::CutOff)
        } else if is_done {
            let at = Arc::clone(self.of(subject));
            let output = self.close(run, subject, true);
            let step = PumpStep::Former(at);
            (PumpStage::Question(output, Subject::Own), step)
        } else {
            let step = match is_new {
                true => PumpStep::New,
                false => PumpStep::Idle,
            };
            (PumpStage::Recording(run, subject), step)
        };
        self.stage = Some(stage);
        Ok(step)
    }

    /// The timeline of a subject.
    fn of(&self, subject: Subject) -> &Arc<Attached> {
        match (subject, &self.before) {
            (Subject::Former, Some(before)) => before,
            _ => &self.at,
        }
    }

    /// Ends a recorder, and adds its results.
    fn close(
        &mut self,
        run: RunRecording,
        subject: Subject,
        is_durable: bool,
    ) -> Box<ArchiveOutput> {
        let (output, totals) = run.end(is_durable);
        self.totals = self.totals + counted(totals, subject);
        output
    }

    fn ask<T>(&mut self, ask: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
        match &mut self.stage {
            Some(PumpStage::Recording(run, _)) => run.with(ask),
            _ => None,
        }
    }

    fn is_child(&self) -> bool {
        self.process != std::process::id()
    }

    fn refuse_child(&self) -> Result<()> {
        match self.is_child() {
            false => Ok(()),
            true => Err(Error::ForkedProcess {
                process: self.process,
            }),
        }
    }
}

/// The results of a recorder. What was overwritten before a run began counts once.
fn counted(totals: Totals, subject: Subject) -> Totals {
    match subject {
        Subject::OwnAgain => Totals {
            overwritten: 0,
            ..totals
        },
        Subject::Former | Subject::Own => totals,
    }
}

/// Identifies the run of a program that a timeline is of.
fn run_id(at: &Attached) -> (u64, u32) {
    let info = at.info();
    (info.created_unix_nanos, info.creator_pid)
}
