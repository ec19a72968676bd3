//! Logs: which there are, and how they are opened.
//!
//! `roots` are the places that are served; `discovery` lists the logs in them, and opens them
//! through no link (`containment`). A `log` is opened when somebody asks for it, and again when its
//! files change; each time is a `version`, which does not change, of an archive in a `place`.
//! `indexing` makes its index. `recording` makes an archive of a ring, so that everything that is
//! read is an archive; `scratch` is where it lies. `removal` removes files.

mod containment;
mod discovery;
mod indexing;
mod log;
mod place;
mod recording;
mod removal;
mod roots;
mod scratch;
mod version;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use discovery::{LogFile, LogKind, LogSource};
pub use log::LogHandle;
pub use recording::Trouble;
pub use version::Version;

use crate::error::{Error, Result};
use roots::ServeRoot;
use scratch::{Scratch, remove_dead};

/// All logs that are served.
pub struct Logs {
    roots: Vec<ServeRoot>,
    executables: Arc<[PathBuf]>,
    scratch: Arc<Scratch>,
    opened: Mutex<HashMap<String, Arc<LogHandle>>>,
    listed: Mutex<Option<(Instant, Arc<[LogSource]>)>>,
}

/// How long a list of all logs is kept, and how long it counts if a log is not in it.
const LISTED: Duration = Duration::from_secs(1);
const UNLISTED: Duration = Duration::from_millis(100);

impl Logs {
    /// Those at these paths; all timelines in shared memory if there are none, or if they are
    /// wanted as well. `executables`: where damaged archives find texts and names again.
    pub fn new(paths: &[PathBuf], has_shared: bool, executables: &[PathBuf]) -> Result<Logs> {
        let roots = paths
            .iter()
            .map(|path| ServeRoot::of(path, paths.len() == 1));
        let mut roots = roots.collect::<Result<Vec<_>>>()?;
        if has_shared || paths.is_empty() {
            roots.push(ServeRoot::SharedMemory);
        }
        remove_dead();
        Ok(Logs {
            roots,
            executables: executables.into(),
            scratch: Arc::default(),
            opened: Mutex::default(),
            listed: Mutex::default(),
        })
    }

    /// All logs, by name, as they were at most a second ago.
    pub fn list(&self) -> Arc<[LogSource]> {
        self.list_within(LISTED)
    }

    fn list_within(&self, age: Duration) -> Arc<[LogSource]> {
        // Held while they are looked for, so that nobody else does the same.
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, all)) = &*listed
            && at.elapsed() < age
        {
            return Arc::clone(all);
        }
        let mut all: Vec<LogSource> = self.roots.iter().flat_map(ServeRoot::list).collect();
        all.sort_by(|left, right| left.id.cmp(&right.id));
        all.dedup_by(|left, right| left.id == right.id);
        let all: Arc<[LogSource]> = all.into();
        *listed = Some((Instant::now(), Arc::clone(&all)));
        all
    }

    /// The log of this name.
    pub fn get(&self, id: &str) -> Result<Arc<LogHandle>> {
        let known = self.lock().get(id).cloned();
        if let Some(log) = known.as_ref().filter(|log| log.is_there()) {
            return Ok(Arc::clone(log));
        }
        let find = |all: Arc<[LogSource]>| all.iter().find(|found| found.id == id).cloned();
        let found = find(self.list()).or_else(|| find(self.list_within(UNLISTED)));
        let Some(found) = found else {
            self.lock().remove(id);
            return Err(Error::NoLog { id: id.into() });
        };
        let mut opened = self.lock();
        // Another request may have made it meanwhile. A second one would be recorded and numbered
        // apart.
        if let Some(made) = opened.get(id)
            && known.is_none_or(|known| !Arc::ptr_eq(&known, made))
        {
            return Ok(Arc::clone(made));
        }
        let executables = Arc::clone(&self.executables);
        let log = Arc::new(LogHandle::new(
            found,
            Arc::clone(&self.scratch),
            executables,
        ));
        opened.insert(id.into(), Arc::clone(&log));
        Ok(log)
    }

    /// Gives up a log that was removed, and looks anew which there are.
    pub fn forget(&self, id: &str) {
        self.lock().remove(id);
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Gives up what nobody has read for a while.
    pub fn forget_idle(&self) {
        self.lock().retain(|_, log| !log.is_idle());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<LogHandle>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn requests_at_the_same_time_have_the_same_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.tla");
        std::fs::write(&path, b"").unwrap();
        let id = path.display().to_string();
        for _ in 0..100 {
            let logs = Logs::new(std::slice::from_ref(&path), false, &[]).unwrap();
            let at_once = Barrier::new(4);
            let got: Vec<Arc<LogHandle>> = thread::scope(|scope| {
                let ask = || {
                    at_once.wait();
                    logs.get(&id).unwrap()
                };
                let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
                asked.into_iter().map(|one| one.join().unwrap()).collect()
            });
            assert!(got.iter().all(|log| Arc::ptr_eq(log, &got[0])));
        }
    }
}
