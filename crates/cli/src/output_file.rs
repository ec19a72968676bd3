//! Files that options name: written beside their names, which they get once they are whole.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use timeline::internal::files::{PendingFile, Replacement};

use crate::failure::{Failure, Result};
use crate::permission;
use crate::signals::take_limits_for_errors;

/// Names of open files, which are written to as they are.
const OPEN: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];

/// Who may read a new file. One that is replaced keeps its permissions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    Owner,
    /// Whoever may read the files of this user, by the umask.
    Usual,
}

/// A file that is being written. Unless it is finished, what was there before stays.
pub struct OutputFile {
    file: File,
    /// `None` if it is a device, a pipe or an open file, and written to at once.
    unfinished: Option<PendingFile>,
}

impl OutputFile {
    /// Begins a file at this path, in the place of one that is there. A link leads to its file.
    pub fn begin(path: &Path, readers: Readers) -> Result<OutputFile> {
        let fail = |error| Failure::Message(permission::failed("write", path, &error));
        take_limits_for_errors()?;
        let former = fs::metadata(path).ok();
        let is_open = OPEN.iter().any(|open| path.starts_with(open));
        if is_open || former.as_ref().is_some_and(|former| !former.is_file()) {
            let file = OpenOptions::new().write(true).truncate(true).open(path);
            return Ok(OutputFile {
                file: file.map_err(fail)?,
                unfinished: None,
            });
        }
        let unfinished = Replacement::of(&at(path))?.begin()?;
        let mode = match (former, readers) {
            (Some(former), _) => Some(former.permissions().mode() & 0o777),
            (None, Readers::Usual) => Some(0o666 & !umask()),
            (None, Readers::Owner) => None,
        };
        let file = unfinished.file();
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode))
                .map_err(fail)?;
        }
        Ok(OutputFile {
            file: file.try_clone().map_err(fail)?,
            unfinished: Some(unfinished),
        })
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives it its name.
    pub fn finish(self) -> Result {
        match self.unfinished {
            Some(unfinished) => Ok(unfinished.finish()?),
            None => Ok(()),
        }
    }
}

/// Where the file is. A file in / would be a name in shared memory.
fn at(path: &Path) -> PathBuf {
    let found = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    match (found.parent(), found.file_name()) {
        (Some(parent), Some(name)) if parent == Path::new("/") => Path::new("/.").join(name),
        _ => found,
    }
}

/// Which permissions this process gives to no new file.
fn umask() -> u32 {
    let status = timeline::internal::files::read_to_string(Path::new("/proc/self/status"));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let mask = line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok());
    mask.unwrap_or(0o077)
}
