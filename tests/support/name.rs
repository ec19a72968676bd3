//! Names in shared memory.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use timeline::{Attached, Timeline};

use super::attach;

/// A name in shared memory that is the test's own; removed, with all that stands beside it, when
/// dropped.
pub struct Name(String);

impl Name {
    pub fn new(purpose: &str) -> Name {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Name(format!(
            "/timeline-test-{purpose}-{}-{number}",
            std::process::id()
        ))
    }

    /// One that a program under test has chosen.
    pub fn chosen(path: String) -> Name {
        Name(path)
    }

    pub fn path(&self) -> &str {
        &self.0
    }

    /// A timeline of this name, with room for so many entries.
    pub fn create(&self, entries: u64) -> Timeline {
        Timeline::with_size(self.path(), entries, 64 * 1024).expect("created")
    }

    pub fn attach(&self) -> Attached {
        attach(self.path())
    }

    /// The name of what stands beside it: `.prev`.
    pub fn beside(&self, suffix: &str) -> String {
        format!("{}{suffix}", self.0)
    }

    /// The file behind it.
    pub fn file(&self) -> PathBuf {
        self.file_beside("")
    }

    pub fn file_beside(&self, suffix: &str) -> PathBuf {
        PathBuf::from(format!("/dev/shm{}{suffix}", self.0))
    }

    /// The files in which it is being created, or was when its creator was killed.
    pub fn staged(&self) -> Vec<PathBuf> {
        self.files_beside(".creating-")
    }

    /// What is kept of the run before where `.prev` is not ours.
    pub fn kept(&self) -> Vec<PathBuf> {
        self.files_beside(".prev-")
    }

    /// All whose names begin with this one and a suffix.
    fn files_beside(&self, suffix: &str) -> Vec<PathBuf> {
        let begin = self.beside(suffix).split_off(1);
        let entries = std::fs::read_dir("/dev/shm").expect("listed").flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin))
            .map(|entry| entry.path())
            .collect()
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let beside = ["", ".prev", ".creating"].map(|suffix| self.file_beside(suffix));
        // What a save had begun that was killed.
        let saved = self.files_beside(".tmp-");
        let others = self.staged().into_iter().chain(self.kept()).chain(saved);
        for file in beside.into_iter().chain(others) {
            let _ = std::fs::remove_file(file);
        }
    }
}
