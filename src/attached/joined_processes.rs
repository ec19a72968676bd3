//! Tells which processes have joined a timeline, their executables, and what they have loaded.

#[cfg(feature = "symbols")]
use std::path::PathBuf;

use super::Attached;
use crate::event::Module;
use crate::ring::executables::{self, JoinedProcess};
#[cfg(feature = "symbols")]
use crate::symbols::{FileContents, ProgramFiles};

impl Attached {
    /// The objects that its processes have loaded, of those that were defined since there were so
    /// many definitions; and how many there are now.
    pub fn modules_since(&self, defined: u32) -> (Vec<Module>, u32) {
        let definitions = &self.segment.definitions;
        let count = definitions.count();
        let texts = definitions.modules_in(defined.max(1)..count);
        let modules = texts.filter_map(|text| Module::parse(&text));
        (modules.collect(), count)
    }

    /// The processes that write, and those that wrote, as long as no other process has their place.
    /// The SHA-1 of their executables is known in snapshots, and may be looked up:
    /// [`Attached::sha1`].
    pub fn processes(&self) -> Vec<JoinedProcess> {
        executables::table(&self.segment.map, &self.segment.geometry)
    }

    /// The files that lines of call stacks were looked for in, in vain, because their debug
    /// information is compressed with zstd, which the library does not expand.
    #[cfg(feature = "symbols")]
    pub fn compressed_with_zstd(&self) -> Vec<PathBuf> {
        self.frames.compressed_with_zstd()
    }

    /// What is known of the executables of its processes.
    #[cfg(feature = "symbols")]
    pub(super) fn programs(&self) -> ProgramFiles {
        let mut programs = ProgramFiles::default();
        for joined in self.processes() {
            if let Some(executable) = joined.executable
                && let Some(size) = executable.size
            {
                let sha1 = executable.sha1;
                programs.add(
                    Some(joined.pid),
                    &executable.path,
                    FileContents { size, sha1 },
                );
            }
        }
        programs
    }

    /// Changes when a process has joined.
    pub fn joins(&self) -> u64 {
        executables::joins(&self.segment.map)
    }

    /// The SHA-1 of the executable of a process of this timeline, if it is known or can still be
    /// found. Reads the file, once for all processes that have it.
    #[cfg(feature = "digests")]
    pub fn sha1(&self, joined: &JoinedProcess) -> Option<[u8; 20]> {
        match self.is_snapshot() {
            true => joined.executable.as_ref()?.sha1,
            false => self.processes.sha1(joined),
        }
    }
}
