//! What is behind an analysis: the logs, who is told of their events, and how far it is.
use crate::analyzer::{BeginFailure, CallbackAnalyzer};
use crate::descriptor::DescriptorReader;
use crate::error::CallFailure;
use crate::event::EventHandle;
use crate::subscriptions::{FieldSet, SubscriptionsObject};
use crate::texts::EventTexts;
use analysis_core::{
    Analysis, AnalysisCursor, AnalysisEnd, AnalysisInput, CursorItem, EventContext, EventLoan,
    Lack, Log, StepOutcome, StreamGap, Subscriptions,
};
use self_cell::{MutBorrow, self_cell};
use std::fs::File;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use timeline_core::FollowFrom;

/// The pause between two looks at logs to which nothing comes.
const PAUSE: Duration = Duration::from_millis(10);

/// How far the logs are read.
pub enum PassExtent {
    /// What they hold.
    Whole,
    /// What comes to them.
    Growth(FollowFrom),
    /// Of the only log, the bytes that come.
    Bytes(File),
}

/// What a pass reads, and who is told.
pub struct PassParts {
    logs: Vec<Log>,
    extent: PassExtent,
    analyzers: MutBorrow<Vec<CallbackAnalyzer>>,
    begin_failure: BeginFailure,
    is_cancelled: Box<dyn Fn() -> bool>,
}

impl PassParts {
    /// Without analysers.
    pub fn new(logs: Vec<Log>, extent: PassExtent, flag: &Arc<AtomicBool>) -> PassParts {
        let flag = Arc::clone(flag);
        PassParts {
            logs,
            extent,
            analyzers: MutBorrow::new(Vec::new()),
            begin_failure: BeginFailure::default(),
            // Relaxed: a flag by itself.
            is_cancelled: Box::new(move || flag.load(Ordering::Relaxed)),
        }
    }

    /// Bytes of an archive that come from here.
    pub fn of_bytes(from: File, flag: &Arc<AtomicBool>) -> PassParts {
        let log = Log::incoming(Path::new("-"));
        PassParts::new(vec![log], PassExtent::Bytes(from), flag)
    }

    fn input(&self) -> Result<AnalysisInput<'_>, CallFailure> {
        let input = match &self.extent {
            PassExtent::Whole => AnalysisInput::whole(&self.logs),
            PassExtent::Growth(from) => AnalysisInput::growth(&self.logs, *from)?,
            PassExtent::Bytes(from) => {
                let logs = self.logs.iter();
                let logs = logs.map(|log| Ok((log, log.follow_bytes(DescriptorReader(from))?)));
                AnalysisInput::followed(logs.collect::<Result<Vec<_>, CallFailure>>()?)
            }
        };
        Ok(input.unless(&*self.is_cancelled))
    }
}

/// None once it has run to its end.
type RunningAnalysis<'a> = Option<Analysis<'a>>;

self_cell!(
    /// An analysis with the logs that it reads.
    struct AnalysisCell {
        owner: Box<PassParts>,
        #[not_covariant]
        dependent: RunningAnalysis,
    }
);

self_cell!(
    /// A cursor with the logs that it reads.
    struct CursorCell {
        owner: Box<PassParts>,
        #[not_covariant]
        dependent: AnalysisCursor,
    }
);

/// What a cursor gives C, which has pointers into it: each of them leads into the one below.
struct CursorEvent {
    handle: *mut EventHandle<'static, 'static>,
    context: *mut EventContext<'static, 'static>,
    loan: *mut EventLoan<'static>,
}

/// A cursor, and what it has given.
pub struct PassCursor {
    /// Declared before what it leads into.
    given: Option<CursorEvent>,
    texts: Box<EventTexts>,
    fields: Box<[FieldSet]>,
    cell: CursorCell,
    /// C has a pointer to it.
    _subscriptions: Box<SubscriptionsObject>,
}

/// What comes next.
pub enum PassItem {
    Event(*const EventHandle<'static, 'static>),
    Gap(StreamGap),
    Loss(usize, Lack),
    Idle,
    End(AnalysisEnd),
}

/// How far it is.
enum PassPhase {
    /// Nothing was read yet.
    Beginning(PassBeginning),
    Calls(AnalysisCell),
    Cursor(Box<PassCursor>),
    End(AnalysisEnd),
    /// It has failed, or is changing.
    Failure,
}

/// What is to be read, and by whom, as far as that was said.
struct PassBeginning {
    parts: Box<PassParts>,
    analyzers: Vec<CallbackAnalyzer>,
    /// Of a cursor.
    subscriptions: Option<Box<SubscriptionsObject>>,
}

/// The pass of an analysis over its logs.
pub struct Pass(PassPhase);

impl Pass {
    /// Nothing is read yet.
    pub fn new(parts: PassParts) -> Pass {
        Pass(PassPhase::Beginning(PassBeginning {
            parts: Box::new(parts),
            analyzers: Vec::new(),
            subscriptions: None,
        }))
    }

    /// With this analyser as well.
    pub fn add(
        &mut self,
        analyzer: impl FnOnce(&BeginFailure) -> Result<CallbackAnalyzer, CallFailure>,
    ) -> Result<(), CallFailure> {
        match &mut self.0 {
            PassPhase::Beginning(beginning) if beginning.subscriptions.is_none() => {
                let analyzer = analyzer(&beginning.parts.begin_failure)?;
                beginning.analyzers.push(analyzer);
                Ok(())
            }
            PassPhase::Beginning(_) | PassPhase::Cursor(_) => Err(of_cursor()),
            _ => Err(CallFailure::argument(
                "the analysis has begun: expected all analysers to be added before its first step",
            )),
        }
    }

    /// What `next` is to give. The address stays.
    pub fn subscriptions(&mut self) -> Result<*mut SubscriptionsObject, CallFailure> {
        match &mut self.0 {
            PassPhase::Beginning(beginning) if beginning.analyzers.is_empty() => {
                Ok(&raw mut **beginning.subscriptions.get_or_insert_default())
            }
            PassPhase::Cursor(_) => Err(CallFailure::argument(
                "the first event was asked for already: expected all subscriptions before",
            )),
            _ => Err(of_calls()),
        }
    }

    /// Runs to the end.
    pub fn run(&mut self) -> Result<AnalysisEnd, CallFailure> {
        self.begin_calls()?;
        let result = match &mut self.0 {
            PassPhase::End(end) => return Ok(*end),
            PassPhase::Calls(cell) => cell.with_dependent_mut(|_, analysis| {
                let analysis = analysis.take().ok_or_else(failed_before)?;
                Ok(analysis.run()?)
            }),
            _ => Err(failed_before()),
        };
        self.0 = match &result {
            Ok(end) => PassPhase::End(*end),
            Err(_) => PassPhase::Failure,
        };
        result
    }

    /// Steps until this time is over, nothing is new, or it has ended.
    pub fn step(&mut self, most: Duration) -> Result<StepOutcome, CallFailure> {
        self.begin_calls()?;
        let cell = match &mut self.0 {
            PassPhase::End(end) => return Ok(StepOutcome::End(*end)),
            PassPhase::Calls(cell) => cell,
            _ => return Err(failed_before()),
        };
        let begin = Instant::now();
        let stepped = cell.with_dependent_mut(|_, analysis| {
            let analysis = analysis.as_mut().ok_or_else(failed_before)?;
            loop {
                let outcome = analysis.step()?;
                if outcome != StepOutcome::More || begin.elapsed() >= most {
                    return Ok(outcome);
                }
            }
        });
        if stepped.is_err() {
            self.0 = PassPhase::Failure;
        }
        stepped
    }

    /// Gives what comes next, in place of calling anybody. Waits for so long at most.
    pub fn next(&mut self, most: Duration) -> Result<PassItem, CallFailure> {
        let phase = std::mem::replace(&mut self.0, PassPhase::Failure);
        let mut cursor = match phase {
            PassPhase::Cursor(cursor) => cursor,
            PassPhase::Beginning(PassBeginning {
                parts,
                subscriptions: Some(subscriptions),
                ..
            }) => PassCursor::begin(parts, subscriptions)?,
            other => {
                let failure = match &other {
                    PassPhase::Failure => failed_before(),
                    PassPhase::Beginning(beginning) if beginning.analyzers.is_empty() => {
                        CallFailure::argument(
                            "nothing was subscribed to: expected timeline_analysis_subscriptions \
                             before timeline_analysis_next",
                        )
                    }
                    _ => of_calls(),
                };
                self.0 = other;
                return Err(failure);
            }
        };
        let begin = Instant::now();
        let item = loop {
            let item = cursor.advance()?;
            let left = most.saturating_sub(begin.elapsed());
            if !matches!(item, PassItem::Idle) || left.is_zero() {
                break item;
            }
            thread::sleep(PAUSE.min(left));
        };
        self.0 = PassPhase::Cursor(cursor);
        Ok(item)
    }

    /// Asks all analysers what they want, before all else.
    fn begin_calls(&mut self) -> Result<(), CallFailure> {
        match &self.0 {
            PassPhase::Beginning(beginning) if beginning.subscriptions.is_none() => {}
            PassPhase::Beginning(_) | PassPhase::Cursor(_) => return Err(of_cursor()),
            PassPhase::Calls(_) | PassPhase::End(_) => return Ok(()),
            PassPhase::Failure => return Err(failed_before()),
        }
        let phase = std::mem::replace(&mut self.0, PassPhase::Failure);
        let PassPhase::Beginning(mut beginning) = phase else {
            return Err(failed_before());
        };
        beginning.parts.analyzers = MutBorrow::new(beginning.analyzers);
        self.0 = PassPhase::Calls(AnalysisCell::try_new(beginning.parts, |parts| {
            let mut analysis = Analysis::new(parts.input()?);
            for analyzer in parts.analyzers.borrow_mut() {
                analysis = analysis.with(analyzer);
                if let Some(failure) = parts.begin_failure.take() {
                    return Err(CallFailure::from(failure));
                }
            }
            Ok(Some(analysis))
        })?);
        Ok(())
    }
}

impl PassCursor {
    fn begin(
        parts: Box<PassParts>,
        mut subscriptions: Box<SubscriptionsObject>,
    ) -> Result<Box<PassCursor>, CallFailure> {
        subscriptions.is_over = true;
        let wanted: Subscriptions = std::mem::take(&mut subscriptions.wanted);
        let fields = std::mem::take(&mut subscriptions.fields);
        let cell = CursorCell::try_new(parts, |parts| {
            Ok::<_, CallFailure>(AnalysisCursor::new(parts.input()?, wanted))
        })?;
        Ok(Box::new(PassCursor {
            given: None,
            texts: Box::default(),
            fields: fields.into(),
            cell,
            _subscriptions: subscriptions,
        }))
    }

    fn advance(&mut self) -> Result<PassItem, CallFailure> {
        // It leads into the texts and the cursor.
        self.given = None;
        self.texts.clear();
        let (fields, texts) = (&*self.fields, &*self.texts);
        let (given, item) = self.cell.with_dependent_mut(|_, cursor| {
            let item = match cursor.advance()? {
                CursorItem::Event(loan) => {
                    // SAFETY: boxed, as the cursor is in its cell. All of them live longer than the
                    // event, and none is changed before that is dropped, except that texts are
                    // added to through a shared reference.
                    let event = unsafe { CursorEvent::new(loan, fields, texts) };
                    return Ok::<_, CallFailure>((Some(event), PassItem::Idle));
                }
                CursorItem::Gap(gap) => PassItem::Gap(gap),
                CursorItem::Loss(log, what) => PassItem::Loss(log, what),
                CursorItem::Idle => PassItem::Idle,
                CursorItem::End(end) => PassItem::End(end),
            };
            Ok((None, item))
        })?;
        self.given = given;
        let event = self.given.as_ref();
        Ok(event.map_or(item, |event| PassItem::Event(event.handle)))
    }
}

impl CursorEvent {
    /// # Safety
    /// What the loan, the fields and the texts lead into stays unchanged until this is dropped.
    unsafe fn new(loan: EventLoan<'_>, fields: &[FieldSet], texts: &EventTexts) -> CursorEvent {
        // SAFETY: only the lifetimes differ, for which the caller vouches.
        let (loan, fields, texts) = unsafe {
            (
                std::mem::transmute::<EventLoan<'_>, EventLoan<'static>>(loan),
                &*ptr::from_ref(fields),
                &*ptr::from_ref(texts),
            )
        };
        let loan = Box::into_raw(Box::new(loan));
        // SAFETY: of `into_raw`, and freed behind what leads into it; likewise below.
        let context = Box::into_raw(Box::new(unsafe { &*loan }.context()));
        // SAFETY: as above.
        let event = EventHandle::new(unsafe { &*context }, fields, texts);
        CursorEvent {
            handle: Box::into_raw(Box::new(event)),
            context,
            loan,
        }
    }
}

impl Drop for CursorEvent {
    fn drop(&mut self) {
        // SAFETY: of `into_raw` in `new`, each before what it leads into.
        unsafe {
            drop(Box::from_raw(self.handle));
            drop(Box::from_raw(self.context));
            drop(Box::from_raw(self.loan));
        }
    }
}

fn failed_before() -> CallFailure {
    CallFailure::argument("the analysis has failed before: open another one")
}

fn of_cursor() -> CallFailure {
    CallFailure::argument(
        "the program asks this analysis for events: expected timeline_analysis_next alone, without \
         analysers",
    )
}

fn of_calls() -> CallFailure {
    CallFailure::argument(
        "this analysis has analysers: expected timeline_analysis_run or timeline_analysis_step",
    )
}
