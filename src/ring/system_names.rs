//! Reads the names that the kernel has for threads. Only it knows when one changes.
//!
//! A writer stores the system's name of a thread when it registers, at calls that make system calls
//! anyway, and at its end. Between these, readers ask the kernel. It answers for the processes of
//! the reader's pid namespace. For others, and for threads that were killed, the stored name
//! counts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::life::{Liveness, ProcessView, proc_path};
use super::processes;
use super::threads::{self, ThreadEntry};
use crate::layout::Geometry;
use crate::shm::{Mapping, read_small};

/// The least time between two questions to the kernel.
const PAUSE: Duration = Duration::from_secs(1);
/// The pause is at least this many times as long as the last questions took, so that a reader of
/// many threads spends little of its time on them.
const SHARE: u32 = 64;

/// The most names that are kept, of threads that may all have ended.
const MOST: usize = 1 << 16;

/// The names of threads that were asked for, as the kernel told them last.
#[derive(Default)]
pub struct SystemNames {
    view: Option<ProcessView>,
    known: HashMap<u32, KernelName>,
    changes: u64,
    next: Option<Instant>,
}

struct KernelName {
    /// That of the record when the kernel was asked. Another one means that the record is newer.
    renames: u32,
    /// `None` if the kernel does not know.
    name: Option<String>,
}

impl SystemNames {
    /// The system's name of a thread; `None` if the one in its record counts.
    pub fn of(
        &mut self,
        map: &Mapping,
        geometry: &Geometry,
        recorded: &ThreadEntry,
    ) -> Option<&str> {
        if !recorded.is_system_named || recorded.process == 0 {
            return None;
        }
        let (identity, renames) = (recorded.thread.identity, recorded.renames);
        let is_known = matches!(self.known.get(&identity), Some(k) if k.renames == renames);
        if !is_known {
            if self.known.len() >= MOST {
                self.known.clear();
            }
            let name = self.ask(map, geometry, recorded);
            let name = name.or_else(|| stored_since(map, geometry, recorded));
            self.known.insert(identity, KernelName { renames, name });
        }
        self.known.get(&identity)?.name.as_deref()
    }

    /// Asks again for all threads, at most once in a second. Returns how many names have changed so
    /// far.
    pub fn changes(&mut self, map: &Mapping, geometry: &Geometry) -> u64 {
        let begin = Instant::now();
        let next = *self.next.get_or_insert(begin + PAUSE);
        if begin < next || self.known.is_empty() {
            return self.changes;
        }
        self.view = None;
        let mut known = std::mem::take(&mut self.known);
        known.retain(|identity, known| {
            let recorded = threads::lookup(map, geometry, *identity)
                .filter(|recorded| recorded.process != 0 && recorded.renames == known.renames);
            let Some(recorded) = recorded else {
                return false;
            };
            let name = self.ask(map, geometry, &recorded);
            if name.is_some() && name != known.name {
                known.name = name;
                self.changes += 1;
            }
            true
        });
        self.known = known;
        let end = Instant::now();
        self.next = Some(end + PAUSE.max((end - begin) * SHARE));
        self.changes
    }

    /// The name of a thread, as the kernel tells it.
    fn ask(
        &mut self,
        map: &Mapping,
        geometry: &Geometry,
        recorded: &ThreadEntry,
    ) -> Option<String> {
        let process = processes::lookup(map, geometry, recorded.process)?;
        let view = self.view.get_or_insert_with(ProcessView::here);
        if !matches!(view.see(&process), Liveness::Runs | Liveness::Headless) {
            return None;
        }
        let (mut path, mut text) = ([0; 32], [0; 32]);
        let leaf = format!("task/{}/comm", recorded.thread.tid);
        let line = read_small(proc_path(process.pid, &leaf, &mut path)?, &mut text);
        let name = String::from_utf8_lossy(line.strip_suffix(b"\n")?).into_owned();
        // Otherwise it has ended meanwhile, and the kernel may have told of another thread.
        let now = threads::lookup(map, geometry, recorded.thread.identity)?;
        (now.process == recorded.process).then_some(name)
    }
}

/// The name that a thread has stored since its record was read: it may have ended before the kernel
/// was asked.
fn stored_since(map: &Mapping, geometry: &Geometry, recorded: &ThreadEntry) -> Option<String> {
    let now = threads::lookup(map, geometry, recorded.thread.identity)?;
    now.thread.name.filter(|_| now.renames != recorded.renames)
}
