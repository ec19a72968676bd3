//! Tells which programs and processes an archive has events of.

use std::collections::HashMap;

use timeline::Module;
use timeline::internal::symbols::{FileContents, ProgramFiles};

use crate::format::clock::ClockComparison;
use crate::format::preamble::Preamble;
use crate::format::process::ProcessRecord;
use crate::read::open::archive::Archive;

impl Archive {
    /// One preamble for each program and ring: the last that the archive has. If all its preambles
    /// were lost, it has only the magic.
    pub fn programs(&self) -> Vec<Preamble> {
        let (mut programs, mut places) = (Vec::<Preamble>::new(), HashMap::new());
        for preamble in self.names().preambles() {
            let place = *places.entry(preamble.magic).or_insert(programs.len());
            match programs.get_mut(place) {
                Some(known) => known.clone_from(preamble),
                None => programs.push(preamble.clone()),
            }
        }
        for magic in self.magics() {
            if self.preamble(magic).is_none() {
                programs.push(Preamble {
                    magic: Some(magic),
                    ..Preamble::default()
                });
            }
        }
        programs
    }

    /// What the clocks of other machines showed at moments of a ring, in the order of their
    /// records: see [`ClockComparison`]. Of more than 4,096, some are left out.
    pub fn clocks(&self, magic: u64) -> Vec<ClockComparison> {
        self.names().clocks(magic)
    }

    /// The processes that logged to a ring, with their executables.
    pub fn processes(&self, magic: u64) -> Vec<ProcessRecord> {
        self.names().processes(magic)
    }

    /// What the processes of a ring have loaded, and where.
    pub fn modules(&self, magic: u64) -> Vec<Module> {
        self.names().modules(magic)
    }

    /// What is known of the executables of rings.
    pub(crate) fn contents_of_programs(&self, magics: impl Iterator<Item = u64>) -> ProgramFiles {
        let mut programs = ProgramFiles::default();
        let mut add = |pid: Option<u64>, path: Option<&str>, size, sha1: Option<&[u8]>| {
            let pid = pid.and_then(|pid| u32::try_from(pid).ok());
            if let (Some(path), Some(size)) = (path, size) {
                let sha1 = sha1.and_then(|sha1| sha1.try_into().ok());
                programs.add(pid, path, FileContents { size, sha1 });
            }
        };
        for magic in magics {
            for process in self.processes(magic) {
                let (path, sha1) = (process.path.as_deref(), process.sha1.as_deref());
                add(process.pid, path, process.size, sha1);
            }
            if let Some(program) = self.preamble(magic) {
                let (path, sha1) = (program.path.as_deref(), program.sha1.as_deref());
                add(None, path, program.size, sha1);
            }
        }
        programs
    }

    /// How many symbols were found by modules: now, or before a copy was made.
    pub fn recovered_symbols(&self) -> u64 {
        self.names().recovered_symbols()
    }
}
