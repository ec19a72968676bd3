//! Workers: starts and stops them, has them write, and says how they are getting on.
use crate::convert::{place, shared};
use crate::error::{CallFailure, TIMELINE_END, TIMELINE_OK, guard, last_error, timeline_status_t};
use crate::exit;
use crate::handle::{attach, timeline_t};
use crate::object::{ObjectRecording, WorkerObject};
use crate::options::{options_of, timeline_worker_options_t};
use crate::text::floor;
use std::ffi::c_char;
use std::sync::Arc;
use std::time::Duration;
use timeline_archive::Totals;
use timeline_core::ErrorKind;
use worker_core::{Pump, Worker};

/// A recording of a timeline by its own program, from `timeline_worker_start` until
/// `timeline_worker_stop`. Any thread may use it.
pub struct timeline_worker_t {
    _private: [u8; 0],
}

/// What was recorded so far, or in all.
#[repr(C)]
#[derive(Default, Clone, Copy)]
pub struct timeline_worker_totals_t {
    /// Events recorded.
    pub events: u64,
    /// Entries of the ring that were overwritten before the recording began. An event takes one
    /// entry, or several with a payload.
    pub overwritten: u64,
    /// Entries that were overwritten since, before they were recorded.
    pub missed: u64,
    /// Places where events may be missing whose number is not known: between runs of the program.
    pub missed_unknown: u64,
    /// At the end: entries that stay in the ring, because there was no time for them.
    pub left: u64,
    /// At the end: events that were sent and not acknowledged by the store.
    pub unsent: u64,
    /// Bytes written.
    pub bytes: u64,
}

impl From<Totals> for timeline_worker_totals_t {
    fn from(totals: Totals) -> timeline_worker_totals_t {
        timeline_worker_totals_t {
            events: totals.events,
            overwritten: totals.overwritten,
            missed: totals.missed,
            missed_unknown: totals.missed_unknown,
            left: totals.left,
            unsent: totals.unsent,
            bytes: totals.bytes,
        }
    }
}

/// The worker behind a handle; none for NULL.
///
/// # Safety
/// `worker` is NULL or a handle from `timeline_worker_start` that was not stopped.
unsafe fn object<'a>(
    worker: *const timeline_worker_t,
) -> Result<Option<&'a WorkerObject>, CallFailure> {
    if worker.is_null() {
        return Ok(None);
    }
    // SAFETY: handed on from the caller.
    unsafe {
        shared(
            worker.cast::<WorkerObject>(),
            "worker",
            "timeline_worker_start",
        )
        .map(Some)
    }
}

/// Starts to record a timeline of this program: to a file, or to a store, in a thread of its own
/// unless `options->without_thread` is set. It begins with the oldest event in the ring. An archive
/// of the same timeline that is there is continued. What the ring of the last run still has that
/// the archive lacks is recorded before: of a program that was killed, nothing is lost that way.
///
/// `tl`: the timeline. It may be freed before the worker is stopped; its name must not be removed
/// before this returns. `options`: where to, and how; NULL is the same as options that are all 0:
/// the environment is asked. `out`: receives the worker, or NULL if the environment asks for none;
/// untouched when the call fails.
///
/// A recording to a file has begun when this returns, so that all that is wrong with the file is an
/// error here. That takes the time to read and hash the file of the program.
///
/// Returns `TIMELINE_OK`; `TIMELINE_END` if nobody says where to record to; `TIMELINE_E_ARGUMENT`
/// for options that contradict themselves, or a file that is something else than an archive of this
/// timeline; `TIMELINE_E_BUSY` (another recorder writes the file); `TIMELINE_E_FULL` (64 workers
/// run in this process) or `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `tl` is NULL or was returned by `timeline_new` or `timeline_open` and not freed yet; `options`
/// is NULL or readable, and its texts are NULL or NUL-terminated strings; `out` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_worker_start(
    tl: *const timeline_t,
    options: *const timeline_worker_options_t,
    out: *mut *mut timeline_worker_t,
) -> timeline_status_t {
    guard(|| {
        place(out, "out")?;
        // SAFETY: the contract of this function.
        let Some((options, has_thread)) = (unsafe { options_of(options)? }) else {
            // SAFETY: checked by `place`, and writable by contract.
            unsafe { out.write(std::ptr::null_mut()) };
            return Ok(TIMELINE_END);
        };
        // SAFETY: the contract of this function.
        let at = unsafe { attach(tl)? };
        let recording = match has_thread {
            true => ObjectRecording::Thread(Worker::record(at, &options)?),
            false => ObjectRecording::Pump(Box::new(Pump::record(at, &options)?)),
        };
        let object = Arc::new(WorkerObject::new(recording));
        if !exit::add(&object) {
            object.stop()?;
            return Err(CallFailure::of_kind(
                ErrorKind::Full,
                format!("this process has {} workers: stop one first", exit::MOST),
            ));
        }
        let handle = Arc::into_raw(object).cast_mut().cast();
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { out.write(handle) };
        Ok(TIMELINE_OK)
    })
}

/// Records what was logged since, by a worker that has no thread; a worker with a thread needs no
/// such call, and does nothing.
///
/// It waits neither for a disk to have room nor for a store. It makes at least one step, of some
/// ten thousand events, and begins none behind the given time; so it returns later than that by a
/// step at most, and by what the system takes to write a file. Rare calls cost no memory, because
/// the ring is the buffer; what the ring overwrites meanwhile is counted as missed. What was
/// recorded may wait up to a second for more to be written with it: `timeline_worker_flush` writes
/// it at once.
///
/// `worker`: NULL does nothing. `most_ns`: how long it may take, in nanoseconds.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (also in a forked child), `TIMELINE_E_CORRUPT` or
/// `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_worker_update(
    worker: *mut timeline_worker_t,
    most_ns: u64,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        if let Some(object) = unsafe { object(worker)? }
            && let ObjectRecording::Pump(pump) = &mut *object.recording()?
        {
            pump.update(Duration::from_nanos(most_ns))?;
        }
        Ok(TIMELINE_OK)
    })
}

/// Writes what was logged before this call, and waits until it is in the file, or until the store
/// has acknowledged it.
///
/// `worker`: NULL does nothing. `most_ns`: how long to wait, in nanoseconds.
///
/// Returns `TIMELINE_OK`; `TIMELINE_E_BUSY` if it was not done in this time, with what is in the
/// way if that is known; `TIMELINE_E_ARGUMENT` (also in a forked child), `TIMELINE_E_CORRUPT` or
/// `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_worker_flush(
    worker: *mut timeline_worker_t,
    most_ns: u64,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let Some(object) = (unsafe { object(worker)? }) else {
            return Ok(TIMELINE_OK);
        };
        let most = Duration::from_nanos(most_ns);
        let mut recording = object.recording()?;
        let is_done = match &mut *recording {
            ObjectRecording::Thread(worker) => worker.flush(most)?,
            ObjectRecording::Pump(pump) => pump.flush(most)?,
            ObjectRecording::Ended(_) => true,
        };
        if is_done {
            return Ok(TIMELINE_OK);
        }
        let trouble = recording.trouble()?;
        let trouble = trouble.unwrap_or_else(|| "call it again, or allow more time".into());
        let told = format!("not everything was written within {most:?}: {trouble}");
        Err(CallFailure::of_kind(ErrorKind::Busy, told))
    })
}

/// Says what was recorded so far.
///
/// `worker`: with NULL, all numbers are 0. `totals`: receives the numbers; untouched when the call
/// fails.
///
/// Returns `TIMELINE_OK` or `TIMELINE_E_ARGUMENT` (also in a forked child). Any thread.
///
/// # Safety
/// `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet; `totals` is
/// NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_worker_totals(
    worker: *mut timeline_worker_t,
    totals: *mut timeline_worker_totals_t,
) -> timeline_status_t {
    guard(|| {
        place(totals, "totals")?;
        // SAFETY: the contract of this function.
        let found = match unsafe { object(worker)? } {
            None => Totals::default(),
            Some(object) => match &mut *object.recording()? {
                ObjectRecording::Thread(worker) => worker.totals()?,
                ObjectRecording::Pump(pump) => pump.totals(),
                ObjectRecording::Ended(totals) => *totals,
            },
        };
        // SAFETY: checked by `place`, and writable by contract.
        unsafe { totals.write(found.into()) };
        Ok(TIMELINE_OK)
    })
}

/// Says what is in the way of a worker at present: the disk is full, or there is no store, say. It
/// is tried again and again, and the ring keeps what is logged meanwhile.
///
/// `text`: receives a sentence, ended by a NUL and cut to fit; `""` if nothing is in the way.
/// `size`: how many bytes it may have, with the NUL; at least 1.
///
/// Returns `TIMELINE_OK`, `TIMELINE_END` if nothing is in the way, or `TIMELINE_E_ARGUMENT` (also
/// in a forked child). Any thread.
///
/// # Safety
/// `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet; `text` is NULL
/// or has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_worker_trouble(
    worker: *mut timeline_worker_t,
    text: *mut c_char,
    size: usize,
) -> timeline_status_t {
    guard(|| {
        place(text, "text")?;
        let Some(room) = size.checked_sub(1) else {
            return Err(CallFailure::argument(
                "size is 0: expected room for the NUL at least",
            ));
        };
        // SAFETY: the contract of this function.
        let trouble = match unsafe { object(worker)? } {
            None => None,
            Some(object) => object.recording()?.trouble()?,
        };
        let told = trouble
            .as_deref()
            .unwrap_or_default()
            .replace('\0', "\u{fffd}");
        let count = floor(told.as_bytes(), room);
        // SAFETY: `count` is below `size`, for which there is room by contract.
        unsafe {
            std::ptr::copy_nonoverlapping(told.as_ptr().cast(), text, count);
            text.add(count).write(0);
        }
        Ok(match trouble {
            Some(_) => TIMELINE_OK,
            None => TIMELINE_END,
        })
    })
}

/// Stops a worker: records what was logged before this call, for at most a second and a half,
/// writes it, makes it durable, and waits for a store for at most two seconds. The worker is freed.
///
/// `worker`: from `timeline_worker_start`, or NULL, which does nothing. Stopping it twice is
/// undefined behaviour. `totals`: receives what was recorded; untouched when the call fails; or
/// NULL.
///
/// Returns `TIMELINE_OK`, `TIMELINE_E_ARGUMENT` (in a forked child, where nothing is stopped),
/// `TIMELINE_E_CORRUPT` or `TIMELINE_E_IO`. Any thread.
///
/// # Safety
/// `worker` is NULL or was returned by `timeline_worker_start` and not stopped yet, and no other
/// thread uses it any more; `totals` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_worker_stop(
    worker: *mut timeline_worker_t,
    totals: *mut timeline_worker_totals_t,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        if unsafe { object(worker)? }.is_none() {
            return Ok(TIMELINE_OK);
        }
        if !totals.is_null() {
            place(totals, "totals")?;
        }
        // SAFETY: of `into_raw` in `timeline_worker_start`, and by contract the last use of it.
        let object = unsafe { Arc::from_raw(worker.cast::<WorkerObject>()) };
        // Before it is taken from there: a program that exits meanwhile waits for its end.
        let stopped = object.stop();
        exit::remove(&object);
        let stopped = stopped?;
        if !totals.is_null() {
            // SAFETY: checked by `place`, and writable by contract.
            unsafe { totals.write(stopped.into()) };
        }
        Ok(TIMELINE_OK)
    })
}

/// Returns the message of the last failed call of this thread to a function of this library: what
/// was expected, what came, what to do. `""` when none has failed yet; never NULL.
///
/// The text is UTF-8 and stays valid until the next failing call of the same thread, or the
/// thread's end. Any thread; each has its own.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn timeline_worker_last_error() -> *const c_char {
    last_error()
}
