//! What a worker is told by a program, and by the person who starts it.
use crate::convert::{exclusive, path, shared, text};
use crate::error::{CallFailure, TIMELINE_END, TIMELINE_OK, guard, timeline_status_t};
use std::ffi::c_char;
use std::time::Duration;
use timeline_net::{Acknowledge, Fingerprint, StoreToken, StoreTrust};
use worker_core::{Error, Pause, WorkerDestination, WorkerOptions};

/// A store tells when the events are in its file.
pub const TIMELINE_WORKER_WRITTEN: u32 = 0;
/// A store tells when the events are on its disk.
pub const TIMELINE_WORKER_DURABLE: u32 = 1;
/// A store tells nothing: any program that writes what it reads to a file is one.
pub const TIMELINE_WORKER_NOTHING: u32 = 2;

/// Options of a worker; in `timeline_worker_options_t options = {0}` all have their defaults. The
/// texts are needed only until `timeline_worker_start` returns. Options for a directory are not
/// looked at for a store, and the other way round: so a program may give both, and leave to who
/// starts it where to record to.
///
/// If neither `file` nor `store` is given, the environment is asked: `TIMELINE_FILE=PATH` or
/// `TIMELINE_TO=HOST[:PORT]`, of which only one may be set. A program that has more rights than who
/// started it does not read them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct timeline_worker_options_t {
    /// A file to record to; or a directory of numbered files, if there is one or if the path ends
    /// with `/`. An archive of the same timeline that is there is continued.
    pub file: *const c_char,
    /// A store to send to, and not to a file: `HOST` or `HOST:PORT`; the port is 1980 if none is
    /// given.
    pub store: *const c_char,
    /// For a directory: begin a new file before a file becomes larger than this, in bytes; at least
    /// 65,536. 0: never.
    pub rotate_size: u64,
    /// For a directory: begin a new file after this time, in nanoseconds. 0: never.
    pub rotate_every_ns: u64,
    /// For a directory: remove the oldest files when all together become larger than this, in
    /// bytes; at least 65,536. 0: never.
    pub keep_size: u64,
    /// For a store: most bytes that wait for its answers. Beyond that, events stay in the ring. 0:
    /// 64 MiB.
    pub buffer: u64,
    /// For a store: what it tells, so that events need not be sent again:
    /// `TIMELINE_WORKER_WRITTEN`, `TIMELINE_WORKER_DURABLE` or `TIMELINE_WORKER_NOTHING`.
    pub acknowledge: u32,
    /// Start no thread: `timeline_worker_update` records.
    pub without_thread: bool,
    /// For a store: what it keeps with the recording, as `NAME=VALUE,NAME=VALUE`; or NULL.
    pub labels: *const c_char,
    /// For a store on another machine: the fingerprint of its certificate, as the store printed it;
    /// or NULL. Then `~/.config/timeline/stores` has to name it.
    pub fingerprint: *const c_char,
    /// For a store: a file with the token that it asks for; or NULL. Then it is the one in the
    /// variable `TIMELINE_TOKEN`, if that is set.
    pub token_file: *const c_char,
    /// How long the thread waits at least and at most before it looks into the ring again, in
    /// nanoseconds; 0: 1 and 50 milliseconds. It waits longer as long as nothing is logged. What is
    /// logged in the longest of these times has to fit in the ring.
    pub shortest_wait_ns: u64,
    /// See `shortest_wait_ns`.
    pub longest_wait_ns: u64,
}

/// Fills options in from an argument of the command line of a program, if it is meant for a worker:
/// `-tracefile=PATH` records to a file, `-tracehost=HOST[:PORT]` sends to a store; both may begin
/// with two dashes. The last of several counts. (`timeline_option` follows `-trace=`.) Who passes
/// arguments of its command line to this lets whoever starts it decide which files are written.
///
/// `options`: gets `file` or `store`, which lead into `argument`, and the other becomes NULL.
///
/// Returns `TIMELINE_OK`, `TIMELINE_END` if the argument is another one, or `TIMELINE_E_ARGUMENT`
/// if there is no path or address in it; then the options stay as they are. Any thread.
///
/// # Safety
/// `options` is NULL or can be written; `argument` is NULL or a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn timeline_worker_option(
    options: *mut timeline_worker_options_t,
    argument: *const c_char,
) -> timeline_status_t {
    guard(|| {
        // SAFETY: the contract of this function.
        let (options, words) = unsafe {
            (
                exclusive(options, "options", "the caller filled in")?,
                text(argument, "argument")?,
            )
        };
        let Some(asked) = WorkerOptions::from_argument(words)? else {
            return Ok(TIMELINE_END);
        };
        let begin = words.find('=').map_or(words.len(), |at| at + 1);
        // SAFETY: within the string.
        let value = unsafe { argument.add(begin) };
        (options.file, options.store) = match asked.destination {
            WorkerDestination::File(_) => (value, std::ptr::null()),
            WorkerDestination::Store(_) => (std::ptr::null(), value),
        };
        Ok(TIMELINE_OK)
    })
}

/// What C has given, or what the environment asks for. `None` if nobody says where to record to.
/// Whether there is to be a thread.
///
/// # Safety
/// `given` is NULL or readable, and its texts are NULL or NUL-terminated strings.
pub(crate) unsafe fn options_of(
    given: *const timeline_worker_options_t,
) -> Result<Option<(WorkerOptions, bool)>, CallFailure> {
    if given.is_null() {
        return Ok(WorkerOptions::from_environment()?.map(|options| (options, true)));
    }
    // SAFETY: the contract of this function.
    let given = unsafe { shared(given, "options", "the caller filled in")? };
    let options = match (given.file.is_null(), given.store.is_null()) {
        (true, true) => WorkerOptions::from_environment()?,
        // SAFETY: the contract of this function.
        (false, true) => Some(WorkerOptions::to_file(unsafe { path(given.file, "file")? })),
        (true, false) => {
            // SAFETY: the contract of this function.
            let address = unsafe { text(given.store, "store")? };
            Some(WorkerOptions::to_store(address)?)
        }
        (false, false) => {
            let both =
                "options has a file and a store: expected one of them, and NULL for the other";
            return Err(CallFailure::argument(both));
        }
    };
    let Some(mut options) = options else {
        return Ok(None);
    };
    options.keeping.rotate_size = given_number(given.rotate_size);
    options.keeping.rotate_every = given_number(given.rotate_every_ns).map(Duration::from_nanos);
    options.keeping.keep_size = given_number(given.keep_size);
    tell_sender(&mut options, given)?;
    // SAFETY: the contract of this function.
    unsafe { tell_access(&mut options, given)? };
    if !given.labels.is_null() {
        // SAFETY: the contract of this function.
        options.labels = labels(unsafe { text(given.labels, "labels")? })?;
    }
    let wait = |nanos, default| given_number(nanos).map_or(default, Duration::from_nanos);
    let shortest = wait(given.shortest_wait_ns, Pause::SHORTEST);
    let longest = wait(given.longest_wait_ns, Pause::LONGEST);
    Ok(Some((
        options.pause(shortest, longest),
        !given.without_thread,
    )))
}

/// Tells the sender what concerns it.
fn tell_sender(
    options: &mut WorkerOptions,
    given: &timeline_worker_options_t,
) -> Result<(), CallFailure> {
    let acknowledge = match given.acknowledge {
        TIMELINE_WORKER_WRITTEN => Acknowledge::Written,
        TIMELINE_WORKER_DURABLE => Acknowledge::Durable,
        TIMELINE_WORKER_NOTHING => Acknowledge::Nothing,
        other => {
            return Err(CallFailure::argument(format!(
                "acknowledge is {other}: expected TIMELINE_WORKER_WRITTEN, TIMELINE_WORKER_DURABLE \
                 or TIMELINE_WORKER_NOTHING"
            )));
        }
    };
    if let WorkerDestination::Store(sender) = &mut options.destination {
        sender.acknowledge = acknowledge;
        if let Some(buffer) = given_number(given.buffer) {
            sender.buffer = usize::try_from(buffer).unwrap_or(usize::MAX);
        }
    }
    Ok(())
}

/// Tells the sender by what the store is known, and the other way round.
///
/// # Safety
/// The texts are NULL or NUL-terminated strings.
unsafe fn tell_access(
    options: &mut WorkerOptions,
    given: &timeline_worker_options_t,
) -> Result<(), CallFailure> {
    let WorkerDestination::Store(sender) = &mut options.destination else {
        return Ok(());
    };
    if !given.fingerprint.is_null() {
        // SAFETY: the contract of this function.
        let name = unsafe { text(given.fingerprint, "fingerprint")? };
        let name = name.parse::<Fingerprint>();
        let name = name.map_err(|why| CallFailure::argument(format!("fingerprint: {why}")))?;
        sender.trust = StoreTrust::Fingerprint(name);
    }
    if !given.token_file.is_null() {
        // SAFETY: the contract of this function.
        let file = unsafe { path(given.token_file, "token_file")? };
        let tokens = StoreToken::read_file(file);
        let tokens = tokens.map_err(|why| CallFailure::argument(format!("token_file: {why}")))?;
        sender.token = tokens.into_iter().next();
    }
    Ok(())
}

/// A number; none for 0.
fn given_number(number: u64) -> Option<u64> {
    (number != 0).then_some(number)
}

/// Names and values.
fn labels(text: &str) -> Result<Vec<(String, String)>, CallFailure> {
    let label = |part: &str| match part.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err(CallFailure::argument(format!(
            "labels has {part:?}: expected a name and a value, such as service=db"
        ))),
    };
    text.split(',').map(label).collect()
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> CallFailure {
        CallFailure::of_kind(error.kind(), error.to_string())
    }
}
