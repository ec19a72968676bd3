//! Analyses: opens logs, adds analysers, and runs to the end, step by step, or event by event.
use crate::analyzer::{
    CallbackAnalyzer, TIMELINE_ANALYSIS_IDLE, TIMELINE_ANALYSIS_MORE, end_number, loss_of,
    timeline_analysis_gap_t, timeline_analysis_loss_t, timeline_analyzer_t,
};
use crate::convert::{path, place, shared};
use crate::error::{CallFailure, TIMELINE_OK, guard, last_error, timeline_status_t};
use crate::event::timeline_analysis_event_t;
use crate::optional::optional_place;
use crate::pass::{Pass, PassExtent, PassItem, PassParts};
use crate::subscriptions::timeline_subscriptions_t;
use analysis_core::{Extent, Log, StepOutcome};
use std::ffi::{CString, c_char, c_int};
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;
use timeline_core::{ErrorKind, FollowFrom};

/// For `timeline_analysis_open`: what the logs hold by now.
pub const TIMELINE_ANALYSIS_HELD: u32 = 0;
/// What comes to the logs: of timelines from the oldest event in the ring on, of archives that are
/// recorded what comes behind what they held when they were opened.
pub const TIMELINE_ANALYSIS_FROM_OLDEST: u32 = 1;
/// What comes to the logs: of timelines from the first call on that runs the analysis, steps, or
/// asks for an event, of archives as above.
pub const TIMELINE_ANALYSIS_FROM_NOW: u32 = 2;

/// What `timeline_analysis_next` gives: an event that is wanted.
pub const TIMELINE_ANALYSIS_EVENT: u32 = 5;
/// What it gives: a place where events are missing.
pub const TIMELINE_ANALYSIS_GAP: u32 = 6;
/// What it gives: how much of a log is missing.
pub const TIMELINE_ANALYSIS_LOSS: u32 = 7;

/// An analysis of logs, from `timeline_analysis_open` until `timeline_analysis_free`.
pub struct timeline_analysis_t {
    _private: [u8; 0],
}

/// What `timeline_analysis_next` gives.
#[repr(C)]
pub struct timeline_analysis_item_t {
    /// `TIMELINE_ANALYSIS_EVENT`, `TIMELINE_ANALYSIS_GAP`, `TIMELINE_ANALYSIS_LOSS`,
    /// `TIMELINE_ANALYSIS_IDLE`, or an end: `TIMELINE_ANALYSIS_WHOLE` or
    /// `TIMELINE_ANALYSIS_CANCELLED`.
    pub kind: u32,
    /// Of an event: valid until the next call of `timeline_analysis_next`. Else NULL.
    pub event: *const timeline_analysis_event_t,
    /// Of a gap.
    pub gap: timeline_analysis_gap_t,
    /// Of a loss.
    pub loss: timeline_analysis_loss_t,
}

/// The object behind a `timeline_analysis_t *`.
pub(crate) struct AnalysisObject {
    is_cancelled: Arc<AtomicBool>,
    pass: Mutex<PassDesk>,
}

/// What one thread at a time uses.
struct PassDesk {
    pass: Pass,
    /// The text of the last loss, to which C has a pointer.
    loss: CString,
}

impl AnalysisObject {
    /// Whatever goes on, nobody waits for it: the thread that asks may be in one of its callbacks.
    fn desk(&self) -> Result<MutexGuard<'_, PassDesk>, CallFailure> {
        self.pass.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => CallFailure::of_kind(
                ErrorKind::Busy,
                "the analysis is in use: expected a call when no other one runs, neither on \
                 another thread nor around a callback"
                    .to_owned(),
            ),
            TryLockError::Poisoned(_) => {
                CallFailure::argument("the analysis has failed before: open another one")
            }
        })
    }
}

/// # Safety
/// `analysis` is NULL or a handle that was not freed.
unsafe fn object<'a>(
    analysis: *const timeline_analysis_t,
) -> Result<&'a AnalysisObject, CallFailure> {
    let analysis = analysis.cast::<AnalysisObject>();
    // SAFETY: handed on from the caller.
    unsafe { shared(analysis, "the analysis", "timeline_analysis_open") }
}

/// Gives C a new analysis.
///
/// # Safety
/// `out` was checked by `place`, and can be written.
unsafe fn give(
    out: *mut *mut timeline_analysis_t,
    parts: impl FnOnce(&Arc<AtomicBool>) -> PassParts,
) {
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let pass = Mutex::new(PassDesk {
        pass: Pass::new(parts(&is_cancelled)),
        loss: CString::default(),
    });
    let object = AnalysisObject { is_cancelled, pass };
    // SAFETY: the contract of this function.
    unsafe { out.write(Box::into_raw(Box::new(object)).cast()) };
}

/// Opens logs to analyse them together: timelines, snapshots, archives, directories of archives.
///
/// `paths` and `count`: the names of timelines or paths of files, at least one. `extent`: how far
/// they are read: `TIMELINE_ANALYSIS_HELD`, `TIMELINE_ANALYSIS_FROM_OLDEST` or
/// `TIMELINE_ANALYSIS_FROM_NOW`. Of logs that are followed, the events that a look finds come in
/// the order of time; one may be a little older than the last one of the look before, but comes
/// before none that happened before it. A timeline never ends by itself, an archive ends when its
/// recorder does. `out`: receives the analysis; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE` (it is something
/// else), `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
/// thread.
///
/// # Safety
/// `paths` is NULL or has `count` pointers that are NULL or NUL-terminated strings; `out` is NULL
/// or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_open(
    paths: *const *const c_char,
    count: usize,
    extent: u32,
    out: *mut *mut timeline_analysis_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        place(paths.cast_mut(), "paths")?;
        if count == 0 {
            return Err(CallFailure::argument(
                "count is 0: expected one path at least",
            ));
        }
        let extent = match extent {
            TIMELINE_ANALYSIS_HELD => PassExtent::Whole,
            TIMELINE_ANALYSIS_FROM_OLDEST => PassExtent::Growth(FollowFrom::Oldest),
            TIMELINE_ANALYSIS_FROM_NOW => PassExtent::Growth(FollowFrom::Now),
            other => {
                return Err(CallFailure::argument(format!(
                    "extent is {other}: expected TIMELINE_ANALYSIS_HELD, \
                     TIMELINE_ANALYSIS_FROM_OLDEST or TIMELINE_ANALYSIS_FROM_NOW"
                )));
            }
        };
        // SAFETY: the contract of this function.
        let open = |number: usize| unsafe {
            let path = path(*paths.add(number), "a path")?;
            Ok::<_, CallFailure>(Log::open(path, Extent::Whole)?)
        };
        let logs = (0..count).map(open).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { give(out, |flag| PassParts::new(logs, extent, flag)) };
        Ok(TIMELINE_OK)
    })
}

/// Opens an archive whose bytes come: through a pipe, over a connection to which `timeline record
/// --to` sends, or of a file. At most a frame waits for its rest.
///
/// `descriptor`: what they are read from until they end. The program may close it once this has
/// returned. `out`: receives the analysis; untouched when the call fails.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_open_descriptor(
    descriptor: c_int,
    out: *mut *mut timeline_analysis_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        if descriptor < 0 {
            return Err(CallFailure::argument(format!(
                "the descriptor is {descriptor}: expected one that is open"
            )));
        }
        // SAFETY: not -1; if it is not open, the copy fails.
        let own = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned();
        let own = own.map_err(|error| CallFailure::io("cannot read the descriptor", error))?;
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { give(out, |flag| PassParts::of_bytes(File::from(own), flag)) };
        Ok(TIMELINE_OK)
    })
}

/// Adds an analyser. Several take part in one pass: each is given the events that it wants.
///
/// `analyzer`: its callbacks, which are copied. They are called by `timeline_analysis_run` and
/// `timeline_analysis_step`, on the thread that calls these, and not for this analysis again.
///
/// Returns `TIMELINE_OK`, or `TIMELINE_E_ARGUMENT`, also if the analysis has begun;
/// `TIMELINE_E_BUSY` in a callback.
///
/// # Safety
/// `analysis` is NULL or was opened and not freed yet; `analyzer` is NULL or readable; its
/// functions can be called until the analysis is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_add(
    analysis: *mut timeline_analysis_t,
    analyzer: *const timeline_analyzer_t,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let (object, calls) = unsafe {
            (
                object(analysis)?,
                shared(
                    analyzer,
                    "the analyzer",
                    "the caller filled in, and not one",
                )?,
            )
        };
        let pass = &mut object.desk()?.pass;
        pass.add(|failure| CallbackAnalyzer::new(calls, failure))?;
        Ok(TIMELINE_OK)
    })
}

/// Runs to the end: until no more events come, it is cancelled, or no analyser wants more. Waits
/// for what comes to logs that are followed.
///
/// `end`: receives `TIMELINE_ANALYSIS_WHOLE`, `TIMELINE_ANALYSIS_CANCELLED` or
/// `TIMELINE_ANALYSIS_ENOUGH`; may be NULL. Untouched when the call fails.
///
/// Returns `TIMELINE_OK`; what a callback returned that failed; `TIMELINE_E_CORRUPT` or
/// `TIMELINE_E_IO` if a log cannot be read; `TIMELINE_E_ARGUMENT`, also if it has failed before;
/// `TIMELINE_E_BUSY` in a callback. One thread at a time.
///
/// # Safety
/// `analysis` is NULL or was opened and not freed yet; `end` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_run(
    analysis: *mut timeline_analysis_t,
    end: *mut u32,
) -> timeline_status_t {
    guard(|| {
        optional_place(end, "end")?;
        // SAFETY: the contract of this function.
        let ended = unsafe { object(analysis)? }.desk()?.pass.run()?;
        if !end.is_null() {
            // SAFETY: checked by `optional_place`, and writable by contract.
            unsafe { end.write(end_number(ended)) };
        }
        Ok(TIMELINE_OK)
    })
}

/// Gives analysers what is there, for a limited time. It makes at least one step, of some thousand
/// events or of what is new in logs that are followed, and begins none behind the given time. It
/// waits for nothing, except that it waits ten milliseconds for a descriptor.
///
/// `most_ns`: how long it may take, in nanoseconds. `outcome`: receives `TIMELINE_ANALYSIS_MORE`,
/// `TIMELINE_ANALYSIS_IDLE` (wait before the next step), or an end: `TIMELINE_ANALYSIS_WHOLE`,
/// `TIMELINE_ANALYSIS_CANCELLED` or `TIMELINE_ANALYSIS_ENOUGH`, also of each later step. Untouched
/// when the call fails.
///
/// Returns what `timeline_analysis_run` returns. One thread at a time.
///
/// # Safety
/// `analysis` is NULL or was opened and not freed yet; `outcome` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_step(
    analysis: *mut timeline_analysis_t,
    most_ns: u64,
    outcome: *mut u32,
) -> timeline_status_t {
    guard(|| {
        place(outcome, "outcome")?;
        let most = Duration::from_nanos(most_ns);
        // SAFETY: the contract of this function.
        let stepped = unsafe { object(analysis)? }.desk()?.pass.step(most)?;
        let number = match stepped {
            StepOutcome::More => TIMELINE_ANALYSIS_MORE,
            StepOutcome::Idle => TIMELINE_ANALYSIS_IDLE,
            StepOutcome::End(end) => end_number(end),
        };
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { outcome.write(number) };
        Ok(TIMELINE_OK)
    })
}

/// Has the program ask for events by `timeline_analysis_next`, in place of analysers that are
/// called. What it wants is said to the result.
///
/// `out`: receives what takes subscriptions and gives handles of fields; valid until the analysis
/// is freed. Untouched when the call fails.
///
/// Returns `TIMELINE_OK`; `TIMELINE_E_ARGUMENT`, also if there are analysers, or the first event
/// was asked for; `TIMELINE_E_BUSY`. One thread at a time.
///
/// # Safety
/// `analysis` is NULL or was opened and not freed yet; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_subscriptions(
    analysis: *mut timeline_analysis_t,
    out: *mut *mut timeline_subscriptions_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        // SAFETY: the contract of this function.
        let subscriptions = unsafe { object(analysis)? }.desk()?.pass.subscriptions()?;
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(subscriptions.cast()) };
        Ok(TIMELINE_OK)
    })
}

/// Gives what comes next: an event that is wanted, a place where others are missing, a loss, that
/// nothing is new, or the end.
///
/// `most_ns`: how long it may wait for something new, in nanoseconds; with 0 it waits for nothing,
/// except ten milliseconds for a descriptor. `item`: receives it; untouched when the call fails.
/// What the item before led to is no longer valid.
///
/// Returns `TIMELINE_OK`; `TIMELINE_E_CORRUPT` or `TIMELINE_E_IO` if a log cannot be read;
/// `TIMELINE_E_ARGUMENT`, also without `timeline_analysis_subscriptions`, or if it has failed
/// before; `TIMELINE_E_BUSY`. One thread at a time.
///
/// # Safety
/// `analysis` is NULL or was opened and not freed yet; `item` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_next(
    analysis: *mut timeline_analysis_t,
    most_ns: u64,
    item: *mut timeline_analysis_item_t,
) -> timeline_status_t {
    guard(|| {
        place(item, "item")?;
        // SAFETY: the contract of this function.
        let mut desk = unsafe { object(analysis)? }.desk()?;
        let next = desk.pass.next(Duration::from_nanos(most_ns))?;
        // SAFETY: all 0 is a value of it: numbers, and pointers that are NULL.
        let mut given: timeline_analysis_item_t = unsafe { std::mem::zeroed() };
        given.event = ptr::null();
        match next {
            PassItem::Event(event) => {
                given.kind = TIMELINE_ANALYSIS_EVENT;
                given.event = event.cast();
            }
            PassItem::Gap(gap) => {
                given.kind = TIMELINE_ANALYSIS_GAP;
                given.gap = gap.into();
            }
            PassItem::Loss(log, what) => {
                given.kind = TIMELINE_ANALYSIS_LOSS;
                (given.loss, desk.loss) = loss_of(log, what);
            }
            PassItem::Idle => given.kind = TIMELINE_ANALYSIS_IDLE,
            PassItem::End(end) => given.kind = end_number(end),
        }
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { item.write(given) };
        Ok(TIMELINE_OK)
    })
}

/// Has an analysis end soon: what runs or is asked for next says `TIMELINE_ANALYSIS_CANCELLED`.
///
/// `analysis`: NULL does nothing. Any thread, also in a callback or in the handler of a signal.
///
/// # Safety
/// `analysis` is NULL or was opened and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_cancel(analysis: *mut timeline_analysis_t) {
    let analysis = analysis.cast::<AnalysisObject>();
    if !analysis.is_null() && analysis.is_aligned() {
        // SAFETY: the contract of this function.
        let object = unsafe { &*analysis };
        // Relaxed: a flag by itself.
        object.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// Frees an analysis, whether it has ended or not. Not in one of its callbacks: there, it does
/// nothing.
///
/// `analysis`: NULL does nothing. Freeing it twice is undefined behaviour.
///
/// # Safety
/// `analysis` is NULL or was opened and not freed yet, and no other thread uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_analysis_free(analysis: *mut timeline_analysis_t) {
    if analysis.is_null() {
        return;
    }
    guard(|| {
        // SAFETY: the contract of this function.
        if unsafe { object(analysis)? }
            .pass
            .try_lock()
            .is_err_and(is_in_use)
        {
            return Err(CallFailure::argument(
                "the analysis cannot be freed while it is in use",
            ));
        }
        // SAFETY: of `into_raw` in `give`, and by contract the last use of it.
        drop(unsafe { Box::from_raw(analysis.cast::<AnalysisObject>()) });
        Ok(TIMELINE_OK)
    });
}

fn is_in_use<T>(error: TryLockError<T>) -> bool {
    matches!(error, TryLockError::WouldBlock)
}

/// Returns the message of the last failed call of this thread to a function of this library: what
/// was expected, what came, what to do. `""` when none has failed yet; never NULL.
///
/// The text is UTF-8 and stays valid until the next failing call of the same thread, or the
/// thread's end. Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn timeline_analysis_last_error() -> *const c_char {
    last_error()
}
