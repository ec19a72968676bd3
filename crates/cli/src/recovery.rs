//! Texts that an archive lacks, found again in the executables that logged them.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};
use timeline_archive::{Archive, ExecutableSearch, Recovery};

use crate::format::{Count, agree, things};
use crate::output;
use crate::permission;

/// Where lost texts are looked for, beside the paths that the archive names.
#[derive(clap::Args)]
pub struct Executables {
    /// Executable that logged, to find the texts again that a damaged archive lacks; for several,
    /// repeat it. Without it, those are looked at that the archive names. One that has changed
    /// since is not believed
    #[arg(long = "executable", value_name = "FILE")]
    files: Vec<PathBuf>,
}

static GIVEN: OnceLock<Vec<PathBuf>> = OnceLock::new();

impl Executables {
    /// The files that are given.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Has all archives that are opened from now on look at these files.
    pub fn give(&self) {
        for file in &self.files {
            // A pipe is not opened: that would wait for a writer.
            let opened = fs::metadata(file).and_then(|metadata| match metadata.is_file() {
                true => File::open(file).map(|_| ()),
                false => Ok(()),
            });
            if let Err(error) = opened {
                output::say(permission::failed("read", file, &error));
            }
        }
        // A second verb in one process there is not.
        let _ = GIVEN.set(self.files.clone());
    }
}

/// The files that were given.
pub fn given() -> &'static [PathBuf] {
    GIVEN.get().map_or(&[], Vec::as_slice)
}

/// What became of the texts and symbols that an archive lacks, in one line; `None` if it lacks
/// none.
pub fn told(archive: &Archive) -> Option<String> {
    let found = archive.recovery().cloned().unwrap_or_default();
    if found.lost == 0 && found.lost_symbols == 0 {
        let (texts, symbols) = (archive.recovered_texts(), archive.recovered_symbols());
        let parts = [(texts, "text"), (symbols, "symbol")];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let told: Vec<_> = parts.map(|(count, what)| things(count, what)).collect();
        let come = agree(texts + symbols, "comes", "come");
        let told = told.join(" and ");
        return (texts + symbols > 0).then(|| format!("{told} {come} from executables"));
    }
    let parts = [
        (found.recovered, found.lost, "lost text"),
        (found.recovered_symbols, found.lost_symbols, "lost symbol"),
    ];
    let parts = parts.into_iter().filter(|(_, lost, _)| *lost > 0);
    let part = |(known, lost, what)| {
        let known = match known {
            0 => "none".into(),
            some => Count(some).to_string(),
        };
        format!("{known} of {}", things(lost, what))
    };
    let mut told = parts.map(part).collect::<Vec<_>>().join(" and ");
    let from = found.searched.iter().filter(|place| place.found.is_ok());
    let from: Vec<_> = from.map(ExecutableSearch::to_string).collect();
    if !from.is_empty() {
        told += &format!(" from {}", from.join(" and "));
    }
    if found.recovered < found.lost {
        told += &why(&found);
    }
    Some(told)
}

/// Why texts were not found.
fn why(found: &Recovery) -> String {
    let misfits = found.searched.iter().filter(|place| place.found.is_err());
    let misfits: Vec<_> = misfits.map(|place| format!("; {place}")).collect();
    match found.searched.is_empty() {
        true => "; the archive has no fingerprint of the executable that logged".into(),
        false => misfits.concat(),
    }
}

/// The same for programs. The field names are part of the interface.
pub fn object(archive: &Archive) -> Value {
    let found = archive.recovery().cloned().unwrap_or_default();
    let searched = found.searched.iter().map(|place| {
        json!({
            "path": place.path.display().to_string(),
            "texts": place.found.as_ref().ok(),
            "refused": place.found.as_ref().err().map(ToString::to_string),
        })
    });
    json!({
        "lost": found.lost,
        "recovered": archive.recovered_texts(),
        "lost_symbols": found.lost_symbols,
        "recovered_symbols": archive.recovered_symbols(),
        "executables": searched.collect::<Vec<_>>(),
    })
}
