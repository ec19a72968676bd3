//! Names the files of an archive: NAME.tla, and with numbers timeline-000001.tla and so on.

use std::path::{Path, PathBuf};

/// Most numbers between two files of which names are looked for.
const MOST_OTHERS: usize = 100;

/// Whether a file is named as the files of an archive are in a directory: `NAME.tla`.
pub fn has_archive_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tla")
}

/// The name of the file with this number.
pub fn file_name(number: u64) -> String {
    format!("timeline-{number:06}.tla")
}

/// The number in the name of a file, if the name has the form of a numbered file.
pub fn file_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("timeline-")?.strip_suffix(".tla")?;
    let number = digits.parse().ok()?;
    (format!("{number:06}") == digits).then_some(number)
}

/// How many numbers the names of files leave out that nothing has.
pub fn missing_between(files: &[PathBuf]) -> u64 {
    let number = |path: &PathBuf| file_number(path.file_name()?.to_str()?);
    let numbered: Vec<_> = files
        .iter()
        .filter_map(|file| Some((number(file)?, file)))
        .collect();
    let between = numbered.windows(2).map(|pair| {
        let ((first, path), (next, _)) = (pair[0], pair[1]);
        // A recorder passes over what is no file.
        let named = |number: &u64| path.with_file_name(file_name(*number));
        let is_there = |number: &u64| named(number).symlink_metadata().is_ok();
        let missing = next.saturating_sub(first).saturating_sub(1);
        let others = (first + 1..next).take(MOST_OTHERS).filter(is_there).count();
        missing - others as u64
    });
    between.sum()
}
