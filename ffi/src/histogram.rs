//! Percentiles of the durations in a timeline.
use crate::convert::{exclusive, path, place, text};
use crate::error::{CallFailure, TIMELINE_OK, guard, timeline_status_t};
use crate::reader::start_of;
use std::ffi::c_char;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use timeline_core::internal::without_cancellation;
use timeline_core::{Attached, Event, Follow, FollowFrom};
use timeline_latency::intervals::{HistogramShape, record};
use timeline_latency::{Histogram, Matcher, Measure, percentile};

/// A histogram of the durations in a timeline, from `timeline_histogram`. One thread at a time may
/// use it.
pub struct timeline_histogram_t {
    // Declared before what they borrow, so dropped before it.
    follow: Follow<'static>,
    matcher: Matcher<'static>,
    durations: Histogram,
    fresh: Vec<Event>,
    measures: Arc<[Measure; 1]>,
    at: Arc<Attached>,
    /// The name that was given.
    path: PathBuf,
    /// What the timelines before this one lost.
    lost_before: u64,
    missed: EntryLoss,
}

/// The entries that were overwritten before they were read. Times are in nanoseconds since 1970.
struct EntryLoss {
    entries: u64,
    /// When all was read for the last time before the first of them.
    since: u64,
    /// When all was read for the last time.
    read_at: u64,
}

impl EntryLoss {
    fn from_now() -> EntryLoss {
        EntryLoss {
            entries: 0,
            since: 0,
            read_at: now(),
        }
    }

    fn add(&mut self, entries: u64) {
        if entries > 0 && self.entries == 0 {
            self.since = self.read_at;
        }
        self.entries = self.entries.saturating_add(entries);
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// What follows a timeline and measures its events. The caller drops both before what they borrow.
fn borrowed(
    at: &Arc<Attached>,
    measures: &Arc<[Measure; 1]>,
    from: FollowFrom,
) -> (Follow<'static>, Matcher<'static>) {
    let borrowed = (Arc::as_ptr(at), Arc::as_ptr(measures));
    // SAFETY: what an Arc holds does not move, and the histogram drops both borrows before it.
    let (attached, wanted) = unsafe { (&*borrowed.0, &*borrowed.1) };
    (attached.follow(from), Matcher::new(wanted, attached))
}

impl timeline_histogram_t {
    /// Reads what is new. Returns whether that was all.
    fn read(&mut self) -> bool {
        // Others may log faster than this reads: as many events as the ring holds are enough.
        let (mut read, most) = (0, self.at.info().entries);
        let started = now();
        let mut is_all = false;
        while read <= most && !is_all {
            self.fresh.clear();
            let missed = self.follow.poll(&mut self.fresh);
            self.missed.add(missed);
            read += self.fresh.len() as u64;
            for event in &self.fresh {
                let durations = &mut self.durations;
                self.matcher.add(event, |found| {
                    record(durations, found.value);
                });
            }
            is_all = self.fresh.is_empty() && missed == 0;
        }
        self.missed.read_at = self.missed.read_at.max(started);
        is_all
    }

    /// Reads what is new, also in the timelines that have taken the name since.
    fn update(&mut self) {
        loop {
            // Before the last look, so that nothing is left that was logged before this check.
            let next = self.next();
            match (self.read(), next) {
                (true, Some(next)) => self.go_on(next),
                // What is left of the former one is read first, by the next update.
                (false, _) | (true, None) => return,
            }
        }
    }

    /// The timeline that has the name now, if it is another one.
    fn next(&self) -> Option<Attached> {
        if self.at.is_snapshot() || !self.at.replaced() {
            return None;
        }
        // It may not be there, or not finished yet. The next update tells.
        Attached::open(&self.path).ok()
    }

    /// Goes on with another timeline, from its beginning. The program was started again.
    fn go_on(&mut self, next: Attached) {
        let next = Arc::new(next);
        // What is open now can end no more.
        let open = self.matcher.open() as u64;
        self.lost_before = self.lost().saturating_add(open);
        // What it has overwritten is missing since it began, and not since the former one was read.
        self.missed.read_at = next.info().created_unix_nanos;
        // Dropped here, before the timeline that they borrow.
        (self.follow, self.matcher) = borrowed(&next, &self.measures, FollowFrom::Start);
        self.at = next;
    }

    fn lost(&self) -> u64 {
        self.lost_before
            .saturating_add(self.matcher.losses().total())
    }
}

// What the matcher borrows is an `Attached`, behind a trait that does not say so.
const _: () = {
    const fn usable_from_any_thread<T: Send + Sync>() {}
    usable_from_any_thread::<Attached>();
    const fn movable<T: Send>() {}
    movable::<(Follow<'static>, Histogram, Vec<Event>)>();
};

/// Attaches to a timeline, to measure durations of its events: of one's own, or of any other
/// process.
///
/// `path`: the name or file of a timeline, live or left by a crash, or a snapshot. `what`: which
/// durations, see below. `from`: `TIMELINE_FROM_OLDEST` begins with the oldest event in the ring,
/// `TIMELINE_FROM_NOW` measures only what comes. `out`: receives the histogram, to be freed with
/// `timeline_histogram_free`; untouched when the call fails. It is empty until
/// `timeline_histogram_update`.
///
/// `what` is the name of a span (`engine.breath`), the names of two events of one thread
/// (`engine.got..engine.sent`), or of two events with the same value in a field
/// (`http.got..http.sent by id`), or `every` and the name of an event, for the time since the event
/// of that name before. In names, `*` is any text and `?` any one character.
///
/// A name that is not defined, and is like one that is, is refused: it is taken for misspelt. One
/// that is like none may be defined later, but not a field of an event that is defined without it.
///
/// Durations are in nanoseconds, exact to 0.1 %. A histogram takes some 20 to 300 KiB.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_NOT_FOUND`, `TIMELINE_E_NOT_A_TIMELINE`,
/// `TIMELINE_E_VERSION`, `TIMELINE_E_CORRUPT`, `TIMELINE_E_ARGUMENT` or `TIMELINE_E_IO`. Any
/// thread.
///
/// # Safety
/// `path` and `what` are NULL or NUL-terminated strings; `out` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram(
    path: *const c_char,
    what: *const c_char,
    from: i32,
    out: *mut *mut timeline_histogram_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        let from = start_of(from)?;
        // SAFETY: the contract of this function.
        let what = unsafe { text(what, "what")? };
        let measure =
            Measure::parse(what).map_err(|error| CallFailure::argument(error.to_string()))?;
        // SAFETY: the contract of this function.
        let path = unsafe { self::path(path, "path")? };
        let at = Arc::new(Attached::open(path)?);
        if let Some(unknown) = measure.unknown(&*at).filter(|one| !one.is_pattern()) {
            if at.is_snapshot() {
                return Err(CallFailure::argument(unknown.to_string()));
            } else if !unknown.may_come() {
                return Err(CallFailure::argument(unknown.while_it_goes_on()));
            }
        }
        let measures = Arc::new([measure]);
        let (follow, matcher) = borrowed(&at, &measures, from);
        let durations = HistogramShape::default().histogram();
        let histogram = timeline_histogram_t {
            follow,
            matcher,
            durations: durations.map_err(|error| CallFailure::argument(error.to_string()))?,
            fresh: Vec::new(),
            measures,
            at,
            path: path.to_path_buf(),
            lost_before: 0,
            missed: EntryLoss::from_now(),
        };
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(Box::into_raw(Box::new(histogram))) };
        Ok(TIMELINE_OK)
    })
}

/// Reads the events that are new, and records the durations that ended since the last update.
///
/// Call it often enough that the ring is not overwritten meanwhile: what was overwritten before it
/// was read is counted by `timeline_histogram_missed`, and nothing is guessed in its place. If
/// another timeline has the name now, because its program was started again, it goes on with that
/// one, from its first event. It never waits.
///
/// Returns `TIMELINE_OK`; `TIMELINE_E_CORRUPT` and `TIMELINE_E_IO` as `timeline_next` does; or
/// `TIMELINE_E_ARGUMENT`. One thread at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_update(
    histogram: *mut timeline_histogram_t,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let histogram = unsafe { exclusive(histogram, "the histogram", "timeline_histogram")? };
        histogram.update();
        histogram.at.intact()?;
        Ok(TIMELINE_OK)
    })
}

/// Looks at a histogram, if there is one.
///
/// # Safety
/// `histogram` is NULL or live, and no other thread uses it during the call.
unsafe fn look<T: Default + Copy>(
    histogram: *const timeline_histogram_t,
    of: impl FnOnce(&timeline_histogram_t) -> T,
) -> T {
    // SAFETY: the contract of this function.
    without_cancellation(|| unsafe { histogram.as_ref() }.map_or_else(T::default, of))
}

/// Returns how many durations were recorded; 0 for NULL. One thread at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_count(
    histogram: *const timeline_histogram_t,
) -> u64 {
    // SAFETY: the contract of this function.
    unsafe { look(histogram, |it| it.durations.len()) }
}

/// Returns the duration in nanoseconds that `percent` of all durations do not exceed: 50 for the
/// median, 99.9, 0 for the shortest, 100 for the longest. 0 for NULL, and if there is no duration.
/// One thread at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_percentile(
    histogram: *const timeline_histogram_t,
    percent: f64,
) -> u64 {
    let of = |it: &timeline_histogram_t| match percent {
        _ if it.durations.is_empty() => 0,
        percent if percent > 0.0 => percentile(&it.durations, percent),
        _ => it.durations.min(),
    };
    // SAFETY: the contract of this function.
    unsafe { look(histogram, of) }
}

/// Returns the mean of all durations in nanoseconds; 0 for NULL, and if there is none. One thread
/// at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_mean(
    histogram: *const timeline_histogram_t,
) -> f64 {
    // SAFETY: the contract of this function.
    unsafe { look(histogram, |it| it.durations.mean()) }
}

/// Returns how many events have no other half, so that nothing was recorded: it was overwritten,
/// or never logged. Spans that are open do not count, but those do that were open in a timeline
/// when another one took its name. 0 for NULL. One thread at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_lost(
    histogram: *const timeline_histogram_t,
) -> u64 {
    // SAFETY: the contract of this function.
    unsafe { look(histogram, timeline_histogram_t::lost) }
}

/// Returns how many entries of the ring were overwritten before an update could read them, since
/// the histogram was made or reset: an event takes one, or several with a payload. What ended in
/// them is not among the durations. 0 for NULL. One thread at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_missed(
    histogram: *const timeline_histogram_t,
) -> u64 {
    // SAFETY: the contract of this function.
    unsafe { look(histogram, |it| it.missed.entries) }
}

/// Returns since when entries are missing, in nanoseconds since 1970: when the last update before
/// the first of those began that `timeline_histogram_missed` counts, or when their timeline was
/// made, if that was later. 0 for NULL, and if none is
/// missing. One thread at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_missed_since(
    histogram: *const timeline_histogram_t,
) -> u64 {
    // SAFETY: the contract of this function.
    unsafe { look(histogram, |it| it.missed.since) }
}

/// Forgets the durations, and the entries that were missed, to measure the next interval. Spans
/// that are open are still measured when they end.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT`. One thread at a time for each histogram.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet, and no other
/// thread uses it during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_reset(
    histogram: *mut timeline_histogram_t,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let histogram = unsafe { exclusive(histogram, "the histogram", "timeline_histogram")? };
        histogram.durations.reset();
        (histogram.missed.entries, histogram.missed.since) = (0, 0);
        Ok(TIMELINE_OK)
    })
}

/// Frees a histogram.
///
/// `histogram`: from `timeline_histogram`, or NULL, which does nothing. Freeing it twice is
/// undefined behaviour.
///
/// # Safety
/// `histogram` is NULL or was returned by `timeline_histogram` and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_histogram_free(histogram: *mut timeline_histogram_t) {
    if !histogram.is_null() {
        guard(|| {
            // SAFETY: from Box::into_raw in `timeline_histogram`, and by contract the last use.
            drop(unsafe { Box::from_raw(histogram) });
            Ok(TIMELINE_OK)
        });
    }
}
