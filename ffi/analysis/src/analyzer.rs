//! An analyser that C has: callbacks.
use crate::error::{CallFailure, TIMELINE_OK, timeline_status_t};
use crate::event::{EventHandle, timeline_analysis_event_t};
use crate::failure::{CallbackFailure, has_enough};
use crate::subscriptions::{FieldSet, SubscriptionsObject, timeline_subscriptions_t};
use crate::text::to_c_string;
use crate::texts::EventTexts;
use analysis_core::{
    AnalysisEnd, Analyzer, Error, EventContext, Lack, Result, StreamGap, Subscriptions,
};
use std::cell::Cell;
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::rc::Rc;

/// Something may come at once.
pub const TIMELINE_ANALYSIS_MORE: u32 = 0;
/// Nothing was new, and something may come: wait before asking again.
pub const TIMELINE_ANALYSIS_IDLE: u32 = 1;
/// The end: no more events come.
pub const TIMELINE_ANALYSIS_WHOLE: u32 = 2;
/// The end: the analysis was cancelled.
pub const TIMELINE_ANALYSIS_CANCELLED: u32 = 3;
/// The end: all analysers have enough.
pub const TIMELINE_ANALYSIS_ENOUGH: u32 = 4;

/// A loss: so many entries were overwritten before they were read.
pub const TIMELINE_LACK_UNREAD: u32 = 1;
/// A loss: so many entries were overwritten before a recorder read them.
pub const TIMELINE_LACK_UNRECORDED: u32 = 2;
/// A loss of which nobody knows how much it is: no recorder ran between two runs of a program.
pub const TIMELINE_LACK_UNKNOWN: u32 = 3;
/// A loss: so many bytes of an archive belong to no whole frame.
pub const TIMELINE_LACK_DAMAGED: u32 = 4;
/// A loss: so many files of an archive were removed before they were read.
pub const TIMELINE_LACK_REMOVED: u32 = 5;
/// A loss: so many entries that were recorded are gone, with a frame or a file.
pub const TIMELINE_LACK_GONE: u32 = 6;
/// A loss: so many events of an archive cannot be read from their blocks.
pub const TIMELINE_LACK_UNREADABLE: u32 = 7;

/// A place where events are missing: overwritten, missed, damaged, or removed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_analysis_gap_t {
    /// The number of the log, in the order of the paths.
    pub log: usize,
    /// How many entries are missing right before the next event of its lane, if `knows_entries`. An
    /// event takes one entry, or several with a payload.
    pub entries: u64,
    /// When the next event was logged, in nanoseconds since 1970, if `knows_before`.
    pub before: u64,
    /// Whether it is known how many entries are missing.
    pub knows_entries: bool,
    /// Whether it is known when the next event was logged.
    pub knows_before: bool,
}

/// How much of a log is missing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_analysis_loss_t {
    /// The number of the log, in the order of the paths.
    pub log: usize,
    /// What is missing: `TIMELINE_LACK_UNREAD` to `TIMELINE_LACK_UNREADABLE`.
    pub what: u32,
    /// Whether it is known how much: not of `TIMELINE_LACK_UNKNOWN`.
    pub knows_amount: bool,
    /// How much, if that is known.
    pub amount: u64,
    /// The same in words. Valid until the callback returns, or until the next call of
    /// `timeline_analysis_next`.
    pub text: *const c_char,
}

/// An analyser: callbacks, which are all given `user`. `begin` and `event` must not be NULL.
///
/// A callback returns `TIMELINE_OK`, or what a call returned that failed: `timeline_analysis_fail`,
/// or a read of a field that has another type. Then the analysis ends for all of its analysers, and
/// fails with that status and message.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_analyzer_t {
    /// What the callbacks are given.
    pub user: *mut c_void,
    /// Says which events are wanted, and asks for handles of their fields. Called once, before all
    /// others. `subscriptions` is valid until it returns.
    pub begin: Option<
        unsafe extern "C" fn(
            subscriptions: *mut timeline_subscriptions_t,
            user: *mut c_void,
        ) -> timeline_status_t,
    >,
    /// Takes the next event that is wanted. The important ones come first, the others in the order
    /// of time. `event`, and all that its getters give, is valid until it returns. If it returns
    /// `TIMELINE_END`, the analyser wants no more; the analysis ends when none wants more.
    pub event: Option<
        unsafe extern "C" fn(
            event: *const timeline_analysis_event_t,
            user: *mut c_void,
        ) -> timeline_status_t,
    >,
    /// Between the event before and the next one, others may be missing, of any thread: what began
    /// before may have ended unseen. Called for all gaps, whatever is wanted; may be NULL.
    pub gap: Option<
        unsafe extern "C" fn(
            gap: *const timeline_analysis_gap_t,
            user: *mut c_void,
        ) -> timeline_status_t,
    >,
    /// So much of a log is missing. Of a log that is followed, this comes before the events that
    /// were read together with the loss; otherwise behind the last event. May be NULL.
    pub loss: Option<
        unsafe extern "C" fn(
            loss: *const timeline_analysis_loss_t,
            user: *mut c_void,
        ) -> timeline_status_t,
    >,
    /// All that came was given: `end` is `TIMELINE_ANALYSIS_WHOLE`, `TIMELINE_ANALYSIS_CANCELLED`
    /// or `TIMELINE_ANALYSIS_ENOUGH`. Not called if the analysis failed; may be NULL.
    pub end: Option<unsafe extern "C" fn(end: u32, user: *mut c_void) -> timeline_status_t>,
}

impl From<StreamGap> for timeline_analysis_gap_t {
    fn from(gap: StreamGap) -> timeline_analysis_gap_t {
        timeline_analysis_gap_t {
            log: gap.log,
            entries: gap.entries,
            before: gap.before.unwrap_or(0),
            knows_entries: gap.entries > 0,
            knows_before: gap.before.is_some(),
        }
    }
}

/// A loss for C, with its text, which it points into.
pub(crate) fn loss_of(log: usize, lack: Lack) -> (timeline_analysis_loss_t, CString) {
    let text = to_c_string(&lack.to_string());
    let (what, amount) = match lack {
        Lack::Unread(entries) => (TIMELINE_LACK_UNREAD, Some(entries)),
        Lack::Unrecorded(entries) => (TIMELINE_LACK_UNRECORDED, Some(entries)),
        Lack::Unknown => (TIMELINE_LACK_UNKNOWN, None),
        Lack::Damaged(bytes) => (TIMELINE_LACK_DAMAGED, Some(bytes)),
        Lack::Removed(files) => (TIMELINE_LACK_REMOVED, Some(files)),
        Lack::Gone(entries) => (TIMELINE_LACK_GONE, Some(entries)),
        Lack::Unreadable(events) => (TIMELINE_LACK_UNREADABLE, Some(events)),
    };
    let loss = timeline_analysis_loss_t {
        log,
        what,
        knows_amount: amount.is_some(),
        amount: amount.unwrap_or(0),
        text: text.as_ptr(),
    };
    (loss, text)
}

/// The number of an end.
pub(crate) fn end_number(end: AnalysisEnd) -> u32 {
    match end {
        AnalysisEnd::Whole => TIMELINE_ANALYSIS_WHOLE,
        AnalysisEnd::Cancelled => TIMELINE_ANALYSIS_CANCELLED,
        AnalysisEnd::Enough => TIMELINE_ANALYSIS_ENOUGH,
    }
}

/// Why a callback `begin` failed, which the trait cannot say.
pub(crate) type BeginFailure = Rc<Cell<Option<CallbackFailure>>>;

/// The analyser behind such callbacks.
pub(crate) struct CallbackAnalyzer {
    calls: timeline_analyzer_t,
    fields: Vec<FieldSet>,
    texts: EventTexts,
    failure: BeginFailure,
}

impl CallbackAnalyzer {
    /// Of callbacks that C gave.
    pub fn new(
        calls: &timeline_analyzer_t,
        failure: &BeginFailure,
    ) -> std::result::Result<CallbackAnalyzer, CallFailure> {
        for (is_there, name) in [
            (calls.begin.is_some(), "begin"),
            (calls.event.is_some(), "event"),
        ] {
            if !is_there {
                return Err(CallFailure::argument(format!(
                    "{name} of the analyzer is NULL: expected a function"
                )));
            }
        }
        Ok(CallbackAnalyzer {
            calls: *calls,
            fields: Vec::new(),
            texts: EventTexts::default(),
            failure: Rc::clone(failure),
        })
    }

    /// Calls a callback, if there is one.
    fn tell<C>(
        &self,
        callback: Option<C>,
        call: impl FnOnce(C, *mut c_void) -> timeline_status_t,
    ) -> std::result::Result<bool, CallbackFailure> {
        has_enough(callback.map_or(TIMELINE_OK, |callback| call(callback, self.calls.user)))
    }
}

impl Analyzer for CallbackAnalyzer {
    fn begin(&mut self, wanted: &mut Subscriptions) {
        let mut object = SubscriptionsObject {
            wanted: std::mem::take(wanted),
            ..SubscriptionsObject::default()
        };
        let given = (&raw mut object).cast();
        // SAFETY: the contract of `timeline_analysis_add`; the object lives until it returns.
        let told = self.tell(self.calls.begin, |begin, user| unsafe {
            begin(given, user)
        });
        *wanted = object.wanted;
        self.fields = object.fields;
        if let Err(failure) = told {
            self.failure.set(Some(failure));
        }
    }

    fn event(&mut self, event: &EventContext) -> Result {
        self.texts.clear();
        let object = EventHandle::new(event, &self.fields, &self.texts);
        let given = ptr::from_ref(&object).cast();
        // SAFETY: the contract of `timeline_analysis_add`; the object lives until it returns.
        let told = self.tell(self.calls.event, |call, user| unsafe { call(given, user) });
        if told.map_err(Error::own)? {
            event.enough();
        }
        Ok(())
    }

    fn gap(&mut self, gap: &StreamGap) -> Result {
        let gap = timeline_analysis_gap_t::from(*gap);
        // SAFETY: as above.
        let told = self.tell(self.calls.gap, |call, user| unsafe {
            call(&raw const gap, user)
        });
        told.map(drop).map_err(Error::own)
    }

    fn loss(&mut self, log: usize, what: Lack) -> Result {
        let (loss, _text) = loss_of(log, what);
        // SAFETY: as above; so does its text.
        let told = self.tell(self.calls.loss, |call, user| unsafe {
            call(&raw const loss, user)
        });
        told.map(drop).map_err(Error::own)
    }

    fn end(&mut self, end: AnalysisEnd) -> Result {
        // SAFETY: the contract of `timeline_analysis_add`.
        let told = self.tell(self.calls.end, |call, user| unsafe {
            call(end_number(end), user)
        });
        told.map(drop).map_err(Error::own)
    }
}
