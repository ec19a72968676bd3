//! A pass over logs, with several analysers.

use std::thread;
use std::time::Duration;

use timeline_reading::Log;

use super::desk::Desk;
use super::input::AnalysisInput;
use super::seat::{Apart, Seat};
use super::sink::AnalyzerSink;
use super::source::{EventSource, SourceStep};
use super::workers::Workers;
use crate::analyzer::{AnalysisEnd, Analyzer};
use crate::error::Result;

/// The pause between two looks at logs to which nothing comes.
const PAUSE: Duration = Duration::from_millis(10);

/// Gives the events of logs to analysers, in one pass.
///
/// # Example
/// ```
/// use timeline::{Priority, Timeline};
/// use timeline_analysis::{
///     Analysis, AnalysisInput, Analyzer, EventContext, FieldHandle, Result, Subscriptions,
/// };
/// use timeline_reading::{Extent, Log};
///
/// /// Adds up what was sent.
/// #[derive(Default)]
/// struct Traffic {
///     bytes: FieldHandle<u64>,
///     sum: u64,
/// }
///
/// impl Analyzer for Traffic {
///     fn begin(&mut self, wanted: &mut Subscriptions) {
///         wanted.events("net", "net.sent*");
///         self.bytes = wanted.field("bytes");
///     }
///
///     fn event(&mut self, event: &EventContext) -> Result {
///         self.sum += event.get(self.bytes)?.unwrap_or(0);
///         Ok(())
///     }
/// }
///
/// # let path = format!("/timeline-doc-analysis-{}", std::process::id());
/// let timeline = Timeline::with_size(&path, 1024, 4096)?;
/// let sent = timeline.define("net", Priority::Info, "sent $bytes:u32")?;
/// timeline.log(sent, [1500]);
/// timeline.log(sent, [40]);
///
/// let log = Log::open(path.as_ref(), Extent::Whole)?;
/// let mut traffic = Traffic::default();
/// Analysis::new(AnalysisInput::whole([&log])).with(&mut traffic).run()?;
/// assert_eq!(traffic.sum, 1540);
/// # timeline::unlink(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Analysis<'a> {
    is_cancelled: Option<&'a dyn Fn() -> bool>,
    logs: Vec<&'a Log>,
    input: Option<AnalysisInput<'a>>,
    source: EventSource<'a>,
    desk: Desk<'a, dyn Analyzer + 'a>,
    apart: Vec<Seat<'a, Apart<'a>>>,
    end: Option<AnalysisEnd>,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// There may be more.
    More,
    /// Nothing was new, and something may come: wait before the next step.
    Idle,
    /// Nothing more comes. The analysers were told.
    End(AnalysisEnd),
}

impl<'a> Analysis<'a> {
    /// Of these logs. It takes analysers, and then steps.
    pub fn new(input: AnalysisInput<'a>) -> Analysis<'a> {
        Analysis {
            is_cancelled: input.is_cancelled,
            desk: Desk::new(&input.logs),
            logs: input.logs.clone(),
            input: Some(input),
            source: EventSource::Over,
            apart: Vec::new(),
            end: None,
        }
    }

    /// With this analyser as well, which it asks what it wants. To be called before any step.
    #[must_use]
    pub fn with(mut self, analyzer: &'a mut (dyn Analyzer + 'a)) -> Analysis<'a> {
        self.desk.seats.push(Seat::new(analyzer));
        self
    }

    /// With an analyser that [`Analysis::run`] has on a thread of its own, because it takes long
    /// for an event and shares nothing with others. Some thousand events wait for it at most; then
    /// all wait.
    #[must_use]
    pub fn with_apart(mut self, analyzer: &'a mut (dyn Analyzer + Send + 'a)) -> Analysis<'a> {
        self.apart.push(Seat::new(analyzer));
        self
    }

    /// Runs to the end: until no more comes, it is cancelled, or no analyser wants more.
    ///
    /// # Errors
    /// `Reading` if a log cannot be read; that of the first analyser that fails.
    pub fn run(mut self) -> Result<AnalysisEnd> {
        self.open();
        if self.apart.is_empty() {
            return self.pass(&mut None);
        }
        let desks = std::mem::take(&mut self.apart).into_iter().map(|seat| {
            let mut desk = Desk::new(&self.logs);
            desk.seats.push(seat);
            desk
        });
        let desks: Vec<_> = desks.collect();
        thread::scope(|scope| {
            let mut workers = Some(Workers::begin(scope, desks));
            let passed = self.pass(&mut workers);
            let end = passed.as_ref().ok().copied();
            let ended = workers.map_or(Ok(()), |workers| workers.end(end));
            let end = passed?;
            ended.map(|()| end)
        })
    }

    /// Gives some thousand events, or what is new in logs that are followed. All analysers are
    /// called on this thread.
    ///
    /// # Errors
    /// Those of [`Analysis::run`]. Then no further step is of use.
    pub fn step(&mut self) -> Result<StepOutcome> {
        self.open();
        let apart = self.apart.drain(..).map(Seat::beside_others);
        self.desk.seats.extend(apart);
        self.step_with(&mut None)
    }

    /// Begins to read, once all analysers have said what they want.
    fn open(&mut self) {
        if let Some(input) = self.input.take() {
            let here = self.desk.seats.iter().map(|seat| &seat.wish);
            let wanted = here.chain(self.apart.iter().map(|seat| &seat.wish));
            let wanted = wanted.map(|wish| wish.subscriptions.clone());
            self.source = EventSource::new(input, wanted.collect());
        }
    }

    /// Steps until the end.
    fn pass(&mut self, workers: &mut Option<Workers>) -> Result<AnalysisEnd> {
        loop {
            match self.step_with(workers)? {
                StepOutcome::More => {}
                StepOutcome::Idle => thread::sleep(PAUSE),
                StepOutcome::End(end) => return Ok(end),
            }
        }
    }

    fn step_with(&mut self, workers: &mut Option<Workers>) -> Result<StepOutcome> {
        if let Some(end) = self.end {
            return Ok(StepOutcome::End(end));
        }
        if let Some(end) = self.early_end(workers.as_ref()) {
            return self.end_with(end);
        }
        let step = self.source.step(&mut AnalyzerSink {
            desk: &mut self.desk,
            workers: workers.as_mut(),
        })?;
        match step {
            SourceStep::More => return Ok(StepOutcome::More),
            SourceStep::Idle => {
                // What came does not wait for what may never come.
                workers.iter_mut().for_each(Workers::flush);
                return Ok(StepOutcome::Idle);
            }
            SourceStep::Over => {}
        }
        // Streams end when they are cancelled, and when nobody wants more of them.
        let early = self.early_end(workers.as_ref());
        self.end_with(early.unwrap_or(AnalysisEnd::Whole))
    }

    /// Whether nobody wants more, although it may come.
    fn early_end(&self, workers: Option<&Workers>) -> Option<AnalysisEnd> {
        if self.is_cancelled.is_some_and(|is_cancelled| is_cancelled()) {
            return Some(AnalysisEnd::Cancelled);
        }
        let has_enough = self.desk.has_enough() && workers.is_none_or(Workers::have_enough);
        let is_over = has_enough || workers.is_some_and(Workers::have_failed);
        is_over.then_some(AnalysisEnd::Enough)
    }

    fn end_with(&mut self, end: AnalysisEnd) -> Result<StepOutcome> {
        self.end = Some(end);
        self.desk.end(end)?;
        Ok(StepOutcome::End(end))
    }
}
