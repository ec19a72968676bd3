//! What a list says of an archive without opening it for good: whose it is, and how far.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use timeline_archive::{Archive, Preamble};
use timeline_search::open_archive;
use utoipa::ToSchema;

use super::events::Moment;
use crate::logs::{LogKind, LogSource};

/// How long one request looks into archives. The next one goes on.
const TURN: Duration = Duration::from_millis(200);
/// Bytes of an archive that is read whole for it; of a larger one without an index, nothing is
/// known.
const MOST: u64 = 8 << 20;

/// What is known of an archive: of the last program in it, if there are several.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Trace)]
pub struct TraceObject {
    /// The machine.
    pub host: Option<String>,
    /// The executable.
    pub program: Option<String>,
    /// The process that created the ring.
    pub pid: Option<u64>,
    /// The user that the ring belongs to.
    pub user: Option<String>,
    /// The timeline.
    pub timeline: Option<String>,
    /// When the ring was created.
    pub created: Option<Moment>,
    /// The time of the first event.
    pub first: Option<Moment>,
    /// The time of the last event.
    pub last: Option<Moment>,
    /// How long it is from the first event to the last, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// How many events it has.
    pub events: u64,
    /// How many entries were overwritten before they could be recorded.
    pub missed: u64,
    /// How many entries of a damaged part or a removed file are gone.
    pub gone: u64,
    /// How the clock of the machine compared with that of the store; null if nobody has compared
    /// them.
    pub clock: Option<TraceClock>,
    /// Whether more may come; null for an archive that no store has received.
    /// It is `receiving`, `ended` or `broken off`.
    pub state: Option<&'static str>,
    /// What its sender was given to be kept with it.
    pub labels: BTreeMap<String, String>,
}

/// The last comparison of two clocks.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TraceClock {
    /// The machine that has the other clock.
    pub host: Option<String>,
    /// What is added to a time for the time of the other clock, in nanoseconds.
    pub offset_ns: i64,
    /// By how much that may be wrong in either direction.
    pub error_ns: u64,
}

/// What was found in archives, as long as they have not changed since.
#[derive(Default)]
pub struct TraceCache(Mutex<TraceMap>);

/// By the ids of logs.
type TraceMap = HashMap<String, (TraceStamp, TraceObject)>;

/// The bytes of the files, and when one was written last.
type TraceStamp = (Option<u64>, Option<SystemTime>);

impl TraceCache {
    /// What is known of each log of a list. Of what was not looked at before, it is looked at some.
    pub fn of_all(&self, sources: &[LogSource]) -> Vec<Option<TraceObject>> {
        let begun = Instant::now();
        let mut cache = self.lock();
        if cache.len() > 2 * sources.len() + 16 {
            let ids: HashSet<_> = sources.iter().map(|source| &source.id).collect();
            cache.retain(|id, _| ids.contains(id));
        }
        let of = |source| known(&mut cache, source, begun.elapsed() <= TURN);
        sources.iter().map(of).collect()
    }

    /// What is known of a log.
    pub fn of(&self, source: &LogSource) -> Option<TraceObject> {
        known(&mut self.lock(), source, true)
    }

    fn lock(&self) -> MutexGuard<'_, TraceMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a log, or found if it may be looked for.
fn known(cache: &mut TraceMap, source: &LogSource, may_look: bool) -> Option<TraceObject> {
    if source.kind != LogKind::Archive {
        return None;
    }
    let stamp = (source.bytes, source.modified);
    let before = cache
        .get(&source.id)
        .map(|(of, trace)| (*of == stamp, trace));
    // The end of what receives changes no file.
    let is_final = |trace: &TraceObject| trace.state != Some("receiving");
    match before {
        Some((is_same, trace)) if !may_look || (is_same && is_final(trace)) => Some(trace.clone()),
        None if !may_look => None,
        _ => {
            let trace = look(source)?;
            cache.insert(source.id.clone(), (stamp, trace.clone()));
            Some(trace)
        }
    }
}

fn look(source: &LogSource) -> Option<TraceObject> {
    let file = source.reached().ok()?;
    let is_small = source.bytes.is_some_and(|bytes| bytes <= MOST);
    if !is_small && !has_index(file.path(), source) {
        return None;
    }
    let archive = open_archive(file.path()).ok()?;
    Some(object(&archive))
}

/// Whether there is an index of any file.
fn has_index(path: &Path, source: &LogSource) -> bool {
    let is_index = |entry: &std::fs::DirEntry| entry.path().extension() == Some("idx".as_ref());
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| is_index(&entry)),
        Err(_) => source.within.is_none() && path.with_extension("tla.idx").exists(),
    }
}

/// What is known of an archive.
fn object(archive: &Archive) -> TraceObject {
    let programs = archive.programs();
    let last = programs.last();
    let session = last
        .and_then(|run| run.magic)
        .and_then(|magic| archive.session(magic));
    let times = archive.times();
    let (first, end) = times.unzip();
    let text = |of: fn(&Preamble) -> &Option<String>| last.and_then(|run| of(run).clone());
    TraceObject {
        host: text(|run| &run.host),
        program: text(|run| &run.path),
        pid: last.and_then(|run| run.pid),
        user: text(|run| &run.user),
        timeline: text(|run| &run.timeline),
        created: last.and_then(|run| run.created).map(Moment::of),
        first: first.map(Moment::of),
        last: end.map(Moment::of),
        duration_ns: times.map(|(first, last)| last.saturating_sub(first)),
        events: archive.units().map(|unit| unit.count).sum(),
        missed: archive.missed(),
        gone: archive.gone(),
        clock: last.and_then(|run| clock(archive, run.magic?)),
        state: session
            .as_ref()
            .map(|session| session.state(archive.is_recorded())),
        labels: session
            .map(|session| session.file.metadata.into_iter().collect())
            .unwrap_or_default(),
    }
}

/// The last comparison of a ring's clock.
fn clock(archive: &Archive, magic: u64) -> Option<TraceClock> {
    let last = archive.clocks(magic).pop()?;
    Some(TraceClock {
        offset_ns: last.offset()?,
        error_ns: last.error.filter(|error| *error <= 1 << 53)?,
        host: last.host,
    })
}
