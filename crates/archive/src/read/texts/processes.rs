//! The processes of an archive, their executables, and what they have loaded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use timeline::{Module, ProcessExecutable};

use crate::format::module::ModuleRecord;
use crate::format::process::ProcessRecord;

/// Most processes that are known: an archive may name more than can be.
const MOST: usize = 1 << 16;

/// The processes of all rings.
#[derive(Default)]
pub struct Processes {
    all: Vec<ProcessRecord>,
    /// By magic and pid: their places.
    places: HashMap<(u64, u64), Vec<usize>>,
    /// What they have loaded, by magic, each once.
    modules: HashMap<u64, Vec<Module>>,
    loaded: HashSet<(u64, Module)>,
}

impl Processes {
    /// Adds a process. What was known of it before counts no more.
    pub fn take(&mut self, process: ProcessRecord) {
        let Some(pid) = process.pid else {
            return;
        };
        let places = self.places.entry((process.magic.unwrap_or(0), pid));
        let places = places.or_default();
        let known = places
            .iter()
            .find(|at| self.all[**at].joined == process.joined);
        if let Some(known) = known {
            let known = &mut self.all[*known];
            // Another recorder may not have found the file any more.
            let sha1 = process.sha1.clone().or(known.sha1.take());
            *known = ProcessRecord { sha1, ..process };
        } else if self.all.len() < MOST {
            places.push(self.all.len());
            self.all.push(process);
        }
    }

    /// Adds what a process has loaded.
    pub fn load(&mut self, module: ModuleRecord) {
        let (magic, Some(module)) = (module.magic.unwrap_or(0), module.module) else {
            return;
        };
        if self.loaded.len() < MOST && self.loaded.insert((magic, module.clone())) {
            self.modules.entry(magic).or_default().push(module);
        }
    }

    /// What the processes of a ring have loaded.
    pub fn modules(&self, magic: u64) -> &[Module] {
        self.modules.get(&magic).map_or(&[], Vec::as_slice)
    }

    /// Those of a ring.
    pub fn of(&self, magic: u64) -> impl Iterator<Item = &ProcessRecord> {
        let of_ring = move |process: &&ProcessRecord| process.magic.unwrap_or(0) == magic;
        self.all.iter().filter(of_ring)
    }

    /// The executable of a process of this id and name. A process may have had another name when
    /// it joined. `None` if several fit, with several executables: an event does not say which.
    pub fn executable(
        &self,
        magic: u64,
        pid: Option<u64>,
        name: Option<&str>,
    ) -> Option<Arc<ProcessExecutable>> {
        let places = self.places.get(&(magic, pid?))?;
        let all = || places.iter().map(|at| &self.all[*at]);
        let is_named = |process: &&ProcessRecord| name.is_some() && process.name.as_deref() == name;
        match all().any(|process| is_named(&process)) {
            true => only(all().filter(is_named)),
            false => only(all()),
        }
    }
}

/// The executable of all of these processes, if it is one.
fn only<'a>(
    mut processes: impl Iterator<Item = &'a ProcessRecord>,
) -> Option<Arc<ProcessExecutable>> {
    let first = executable(processes.next()?)?;
    let is_same = |process: &ProcessRecord| {
        let other = executable(process);
        other.is_some_and(|other| (&other.path, other.size) == (&first.path, first.size))
    };
    processes.all(is_same).then(|| Arc::new(first))
}

fn executable(process: &ProcessRecord) -> Option<ProcessExecutable> {
    Some(ProcessExecutable {
        path: process.path.clone()?,
        size: process.size,
        sha1: process
            .sha1
            .as_deref()
            .and_then(|sha1| sha1.try_into().ok()),
    })
}
