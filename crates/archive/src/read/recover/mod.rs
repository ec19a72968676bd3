//! Finds lost texts of an archive again, in the executables that logged them.
//!
//! The number of a text is a digest of it. So whoever has the executable hashes the texts in it
//! (texts.rs, variants.rs), and looks which of the numbers that events refer to and that have no
//! text (lost_texts.rs) come out. The archive says which file it was (../texts/executable.rs):
//! nothing is taken from another one.
//!
//! rows.rs finds the numbers without a text, addresses.rs names addresses whose symbols are lost,
//! and types.rs tries the types that a message may have had.
//!
//! **What may a hostile archive or executable cost?** The archive names the file, and the file says
//! anything. Only a regular file is opened, without waiting, and only if its size fits; reading and
//! hashing have budgets, and so has the memory for what is found. No header of the file is
//! believed: its texts are what stands between zero bytes.

mod addresses;
mod lost_texts;
mod rows;
mod texts;
mod types;
mod variants;

use std::path::{Path, PathBuf};

use timeline::Module;
use timeline::internal::symbols::{ProgramFiles, is_of};

use crate::format::record::Record;
use crate::format::string::StringDefinition;
use crate::read::open::archive::Archive;
use crate::read::texts::executable::Executable;
use crate::read::texts::recovery::{ExecutableSearch, Recovery};
use lost_texts::LostTexts;
use texts::Budget;

/// Most executables that are looked at: archives of many runs name many.
const MOST_EXECUTABLES: usize = 64;
/// Most libraries likewise.
const MOST_MODULES: usize = 1024;

impl Archive {
    /// Finds texts again that the archive lacks: in these executables, and in those that its
    /// preambles name. A file is believed only if it has the size and the SHA-1 of one that logged.
    /// What is missing is looked for only if something of the archive may be, or executables are
    /// given. To be called before events are read: definitions that were made keep their texts.
    pub fn recover(&mut self, given: &[PathBuf]) {
        if given.is_empty() && !self.may_lack_texts() {
            return;
        }
        let mut wanted = rows::wanted(self);
        let mut recovery = Recovery {
            lost: wanted.lost(),
            ..Recovery::default()
        };
        if recovery.lost > 0 {
            let programs = self.programs();
            let processes = programs.iter();
            let processes = processes.flat_map(|of| self.processes(of.magic.unwrap_or(0)));
            let processes: Vec<_> = processes.collect();
            let paths = programs.iter().map(|program| &program.path);
            for path in paths.chain(processes.iter().map(|process| &process.path)) {
                wanted.take_name_of(path.as_deref());
            }
            for process in &processes {
                wanted.try_text(process.name.as_deref().unwrap_or_default());
            }
            let all = programs.iter().filter_map(Executable::of);
            let known = executables(all.chain(processes.iter().filter_map(Executable::of_process)));
            let loaded = programs
                .iter()
                .flat_map(|of| self.modules(of.magic.unwrap_or(0)));
            let magics = programs.iter().map(|program| program.magic.unwrap_or(0));
            let contents = self.contents_of_programs(magics);
            // Of executables, more is known than a build id, which a changed file may still have.
            let is_library = |module: &Module| {
                // No text of the recorder's own library ends with a zero byte.
                let name = module
                    .path
                    .file_name()
                    .unwrap_or_default()
                    .as_encoded_bytes();
                let is_own = name.starts_with(b"libtimeline.so");
                let known = contents.contents(module).unwrap_or_default();
                !is_own && known.iter().all(|one| one.sha1.is_none())
            };
            let modules = modules(loaded.filter(is_library));
            let places = (given, &known[..], &modules[..], &contents);
            Archive::search(places, &mut wanted, &mut recovery);
        }
        for (magic, id, text) in wanted.found() {
            recovery.recovered += 1;
            recovery.texts.push((magic, id));
            self.names().take(Record::String(StringDefinition {
                magic: Some(magic),
                id: Some(id),
                string: Some(text.to_string()),
                recovered: true,
            }));
        }
        addresses::recover(self, given, &mut recovery);
        self.set_recovery(recovery);
    }

    /// Looks into the executables that logged, and then into the libraries that they had loaded.
    fn search(
        (given, known, modules, contents): (&[PathBuf], &[Executable], &[Module], &ProgramFiles),
        wanted: &mut LostTexts,
        recovery: &mut Recovery,
    ) {
        let mut budget = Budget::default();
        let own = known
            .iter()
            .map(|one| (one.path.as_path(), std::slice::from_ref(one)));
        let places = given.iter().map(|path| (path.as_path(), known)).chain(own);
        let mut read = Vec::new();
        for (number, (path, expected)) in places.enumerate() {
            if wanted.is_done() {
                return;
            }
            if number >= given.len() && expected.iter().all(|one| read.contains(one)) {
                continue;
            }
            let before = wanted.count();
            let mut found = texts::search(path, expected, wanted, &mut budget);
            let loaded = found
                .is_err()
                .then(|| modules.iter().find(|of| is_module(path, of, contents)));
            let found = match (&mut found, loaded.flatten()) {
                (_, Some(module)) => {
                    texts::search_module(path, (module, contents), wanted, &mut budget)
                }
                (Ok(file), None) => {
                    read.push(file.clone());
                    Ok(())
                }
                (Err(misfit), None) => Err(misfit.clone()),
            };
            recovery.searched.push(ExecutableSearch {
                path: path.to_path_buf(),
                found: found.map(|()| wanted.count() - before),
            });
        }
        for module in modules {
            if wanted.is_done() {
                return;
            }
            let before = wanted.count();
            let found = texts::search_module(&module.path, (module, contents), wanted, &mut budget);
            let count = wanted.count() - before;
            // Most libraries log nothing.
            if found.is_ok() && count > 0 {
                recovery.searched.push(ExecutableSearch {
                    path: module.path.clone(),
                    found: Ok(count),
                });
            }
        }
    }

    /// Whether strings may be gone with what is damaged or missing. The end of a file that a
    /// recorder was killed at has none that events before it refer to.
    fn may_lack_texts(&self) -> bool {
        let is_cut = match self.damage() {
            [] => false,
            [tail] => tail.end < self.bytes().len(),
            _ => true,
        };
        let has_texts = |magic| self.names().has_strings(magic);
        is_cut || self.gone() > 0 || self.missing_files() > 0 || !self.magics().all(has_texts)
    }
}

/// Each once.
fn executables(all: impl Iterator<Item = Executable>) -> Vec<Executable> {
    let mut known: Vec<Executable> = Vec::new();
    for one in all {
        if known.len() < MOST_EXECUTABLES && !known.contains(&one) {
            known.push(one);
        }
    }
    known
}

/// Each file once, wherever it was loaded.
fn modules(all: impl Iterator<Item = Module>) -> Vec<Module> {
    let mut known: Vec<Module> = Vec::new();
    for one in all {
        let is_file = |other: &Module| {
            (&one.path, &one.build_id, one.version) == (&other.path, &other.build_id, other.version)
        };
        if known.len() < MOST_MODULES && !known.iter().any(is_file) {
            known.push(one);
        }
    }
    known
}

/// Whether a file is that of a module.
fn is_module(path: &Path, module: &Module, programs: &ProgramFiles) -> bool {
    std::path::absolute(path).is_ok_and(|path| is_of(&path, module, programs))
}
