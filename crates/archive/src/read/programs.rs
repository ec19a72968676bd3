//! Tells which programs and processes an archive has events of.

use std::collections::HashMap;

use timeline::Module;

use crate::format::preamble::Preamble;
use crate::format::process::ProcessRecord;
use crate::read::archive::Archive;

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

    /// The processes that logged to a ring, with their executables.
    pub fn processes(&self, magic: u64) -> Vec<ProcessRecord> {
        self.names().processes(magic)
    }

    /// What the processes of a ring have loaded, and where.
    pub fn modules(&self, magic: u64) -> Vec<Module> {
        self.names().modules(magic)
    }

    /// How many symbols were found by modules: now, or before a copy was made.
    pub fn recovered_symbols(&self) -> u64 {
        self.names().recovered_symbols()
    }
}
