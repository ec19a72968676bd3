//! Keeps what a reader knows of the processes of a timeline: their executables and digests.

#[cfg(feature = "digests")]
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "digests")]
use crate::event::FileVersion;
#[cfg(feature = "digests")]
use crate::executable;
use crate::layout::Geometry;
use crate::ring::executables::{self, JoinedProcess, ProcessExecutable};
use crate::ring::threads::ThreadEntry;
use crate::segment::TimelineMapping;
use crate::shm::Mapping;

/// What was found of a file; `None` if it is another one by now.
#[cfg(feature = "digests")]
type Sha1 = Option<[u8; 20]>;

/// The processes of a timeline, as they were when they were last looked at.
#[derive(Default)]
pub struct ProcessCache {
    known: Mutex<ProcessTable>,
    #[cfg(feature = "digests")]
    digests: Mutex<HashMap<(String, FileVersion), Sha1>>,
}

#[derive(Default)]
struct ProcessTable {
    /// How many had joined then.
    joins: Option<u64>,
    table: Vec<JoinedProcess>,
    /// The last one that was looked for in vain: it may have been joining.
    missed: u32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProcessCache {
    /// The executable of the process of a thread. The table is read again if a process has joined.
    pub fn executable(
        &self,
        map: &Mapping,
        geometry: &Geometry,
        thread: &ThreadEntry,
    ) -> Option<Arc<ProcessExecutable>> {
        let mut known = lock(&self.known);
        let joins = executables::joins(map);
        if known.joins != Some(joins) {
            known.table = executables::table(map, geometry);
            known.joins = Some(joins);
        }
        let (identity, pid) = (thread.process, thread.thread.pid);
        let find = |table: &[JoinedProcess]| {
            let found = executables::find(table, identity, pid, thread.start)?;
            Some(found.executable.clone())
        };
        if let Some(found) = find(&known.table) {
            return found;
        }
        if known.missed != identity && identity != 0 {
            known.missed = identity;
            known.table = executables::table(map, geometry);
        }
        find(&known.table).flatten()
    }

    /// The identities of processes, and the SHA-1 of their executables, of a timeline in use: a
    /// snapshot has them.
    #[cfg(feature = "digests")]
    pub fn digests(&self, segment: &TimelineMapping) -> Vec<(u32, [u8; 20])> {
        if segment.facts.snapshot {
            return Vec::new();
        }
        let table = executables::table(&segment.map, &segment.geometry);
        let of = |joined: &JoinedProcess| Some((joined.identity, self.sha1(joined)?));
        table.iter().filter_map(of).collect()
    }

    #[cfg(not(feature = "digests"))]
    pub fn digests(&self, _: &TimelineMapping) -> Vec<(u32, [u8; 20])> {
        Vec::new()
    }

    /// The SHA-1 of the executable of a process, which is looked up once for each file.
    #[cfg(feature = "digests")]
    pub fn sha1(&self, joined: &JoinedProcess) -> Option<[u8; 20]> {
        let path = joined.executable.as_ref()?.path.clone();
        let key = (path, joined.version?);
        if let Some(known) = lock(&self.digests).get(&key) {
            return *known;
        }
        let sha1 = executable::sha1_of(joined);
        lock(&self.digests).insert(key, sha1);
        sha1
    }
}
