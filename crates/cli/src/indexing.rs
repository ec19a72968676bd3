//! Opens the index of an archive, and brings it up to date.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use timeline_archive::Archive;
use timeline_search::Index;

use crate::format::{Bytes, percent};
use crate::output;

/// Bytes of an archive that are searched as fast as an index is read. A verb that reads an archive
/// indexes what is missing only if there is more.
const WORTHWHILE: u64 = 4 << 20;
/// How often the progress is shown.
const OFTEN: Duration = Duration::from_millis(100);

/// The index of an archive, and whether it was made or completed now: what is missing is indexed if
/// that is worthwhile. An index that cannot be written is no error: the archive is searched without
/// it, and a person learns why that takes so long.
pub fn of<'a>(path: &Path, archive: &'a Archive) -> (Index<'a>, bool) {
    let mut index = Index::open(archive);
    if !is_worthwhile(&index) {
        return (index, false);
    }
    let failed = update(&mut index, path, || true).err();
    if let Some(failed) = &failed
        && index.coverage().missing > WORTHWHILE
        && std::io::stderr().is_terminal()
    {
        output::say(format_args!("searching without an index: {}", told(failed)));
    }
    (index, failed.is_none())
}

/// Whether so much is missing that it is worthwhile to index it.
pub fn is_worthwhile(index: &Index) -> bool {
    let coverage = index.coverage();
    let is_outlined = coverage.bytes <= WORTHWHILE || !index.lacks_outlines();
    coverage.missing > WORTHWHILE || !is_outlined
}

/// What a person can do about an index that could not be written.
pub fn told((path, error): &(PathBuf, std::io::Error)) -> String {
    // Without a number, it is not of the system: the file was refused.
    let reason = match (error.kind(), error.raw_os_error()) {
        (std::io::ErrorKind::WouldBlock, _) => "another process is writing it".into(),
        (std::io::ErrorKind::AlreadyExists, _) => {
            "there is a file that is no index; remove it, or give it another name".into()
        }
        (std::io::ErrorKind::PermissionDenied, None) => {
            "others could have written it, or it is not yours; remove it".into()
        }
        _ => error.to_string(),
    };
    format!("cannot write {}: {reason}", path.display())
}

/// Indexes what is missing, as long as `goes_on` returns true, and shows the progress on a
/// terminal.
pub fn update(
    index: &mut Index,
    path: &Path,
    goes_on: impl Fn() -> bool,
) -> Result<(), (PathBuf, std::io::Error)> {
    let (total, mut shown) = (index.coverage().bytes, None::<Instant>);
    let begun = Instant::now();
    let result = index.update_while(|done| {
        if shown.unwrap_or(begun).elapsed() < OFTEN {
            return goes_on();
        }
        let mut terminal = std::io::stderr().lock();
        if terminal.is_terminal() {
            shown = Some(Instant::now());
            let (share, size) = (percent(done.min(total), total), Bytes(total));
            // The work goes on if standard error is closed.
            let _ = write!(
                terminal,
                "\r\x1b[Kindexing {}: {share} of {size}",
                path.display()
            );
        }
        goes_on()
    });
    if shown.is_some() {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
    }
    result
}
