//! Finds lost texts of an archive again, in the executables that logged them.
//!
//! The number of a text is a digest of it. So whoever has the executable hashes the texts in it
//! (texts.rs, variants.rs), and looks which of the numbers that events refer to and that have no
//! text (wanted.rs) come out. The archive says which file it was (executable.rs): nothing is taken
//! from another one.
//!
//! **What may a hostile archive or executable cost?** The archive names the file, and the file says
//! anything. Only a regular file is opened, without waiting, and only if its size fits; reading and
//! hashing have budgets, and so has the memory for what is found. No header of the file is
//! believed: its texts are what stands between zero bytes.

mod rows;
mod texts;
mod variants;
mod wanted;

use std::path::{Path, PathBuf};

use crate::format::record::Record;
use crate::format::string::StringDefinition;
use crate::read::archive::Archive;
use crate::read::executable::Executable;
use crate::read::recovery::{Recovery, Searched};
use texts::Budget;
use wanted::Wanted;

/// Most executables that are looked at: archives of many runs name many.
const MOST_EXECUTABLES: usize = 64;

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
            Archive::search(given, &known, &mut wanted, &mut recovery);
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
        self.set_recovery(recovery);
    }

    fn search(
        given: &[PathBuf],
        known: &[Executable],
        wanted: &mut Wanted,
        recovery: &mut Recovery,
    ) {
        let mut budget = Budget::default();
        let mut places: Vec<(&Path, &[Executable])> = Vec::new();
        places.extend(given.iter().map(|path| (path.as_path(), known)));
        let own = known.iter().map(std::slice::from_ref);
        places.extend(own.map(|one| (one[0].path.as_path(), one)));
        let mut read = Vec::new();
        for (path, expected) in places {
            if wanted.is_done() {
                break;
            }
            if matches!(expected, [one] if read.contains(one)) {
                continue;
            }
            let before = wanted.count();
            let found = texts::search(path, expected, wanted, &mut budget);
            let found = found.map(|file| {
                read.push(file);
                wanted.count() - before
            });
            recovery.searched.push(Searched {
                path: path.to_path_buf(),
                found,
            });
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
