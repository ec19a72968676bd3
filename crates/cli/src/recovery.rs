//! Texts that an archive lacks, found again in the executables that logged them.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};
use timeline_archive::{Archive, Recovery, Searched};

use crate::format::{agree, things};

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
    /// Has all archives that are opened from now on look at these files.
    pub fn give(&self) {
        // A second verb in one process there is not.
        let _ = GIVEN.set(self.files.clone());
    }
}

/// Finds the texts again that an archive lacks.
pub fn recover(archive: &mut Archive) {
    archive.recover(GIVEN.get().map_or(&[], Vec::as_slice));
}

/// What became of the texts that an archive lacks, in one line; `None` if it lacks none.
pub fn told(archive: &Archive) -> Option<String> {
    let Some(found) = archive.recovery().filter(|found| found.lost > 0) else {
        let earlier = archive.recovered_texts();
        let come = agree(earlier, "comes", "come");
        let texts = things(earlier, "text");
        return (earlier > 0).then(|| format!("{texts} {come} from executables"));
    };
    let lost = things(found.lost, "lost text");
    let mut told = format!("{} of {lost}", things_known(found));
    let from = found.searched.iter().filter(|place| place.found.is_ok());
    let from: Vec<_> = from.map(Searched::to_string).collect();
    if !from.is_empty() {
        told += &format!(" from {}", from.join(" and "));
    }
    if found.recovered < found.lost {
        let misfits = found.searched.iter().filter(|place| place.found.is_err());
        let misfits: Vec<_> = misfits.map(Searched::to_string).collect();
        if !misfits.is_empty() {
            told += &format!("; {}", misfits.join("; "));
        } else if found.searched.is_empty() {
            told += "; the archive has no fingerprint of the executable that logged";
        }
    }
    Some(told)
}

fn things_known(found: &Recovery) -> String {
    match found.recovered {
        0 => "none".into(),
        some => crate::format::Count(some).to_string(),
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
        "executables": searched.collect::<Vec<_>>(),
    })
}
