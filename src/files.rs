//! Files outside of shared memory: open them above the standard streams, and replace them whole.

use std::fs::{File, symlink_metadata};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Error, Result};
use crate::lifecycle;
use crate::shm::{self, Name, Temporary};

pub use crate::shm::{open_as, open_regular, open_to_read, read_dir, read_to_string};

/// A file that is written beside its name, and gets the name once it is whole. Only its owner may
/// read it.
///
/// ```
/// use std::io::Write;
/// use timeline::files::Replacement;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("report");
///
/// Replacement::of(&path)?.write(|mut file| file.write_all(b"whole"))?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replacement(Name);

impl Replacement {
    /// Replaces the file at `path`, which need not exist.
    ///
    /// # Errors
    ///
    /// The path leads to a timeline in use, or to something other than a file.
    pub fn of(path: &Path) -> Result<Replacement> {
        let name = Name::new(path)?;
        lifecycle::refuse_living(&name)?;
        if symlink_metadata(name.file()).is_ok_and(|m| !m.is_file()) {
            return Err(Error::BadName {
                name: path.display().to_string(),
                why: "a snapshot replaces a file; this is a directory, a link, a device or a pipe",
            });
        }
        Ok(Replacement(name))
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        self.0.file()
    }

    /// Writes the file, flushes it to the disk, and renames it.
    ///
    /// # Errors
    ///
    /// The file cannot be written. A file that has the name already is left as it was.
    pub fn write<T>(&self, write: impl FnOnce(&File) -> io::Result<T>) -> Result<T> {
        let fail = |doing| move |e| Error::io(doing, self.0.given(), e);
        let (temporary, out) = self.temporary().map_err(fail("create"))?;
        let written = write(&out).map_err(fail("write"))?;
        out.sync_all().map_err(fail("write"))?;
        std::fs::rename(temporary.path(), self.path()).map_err(fail("rename"))?;
        temporary.keep();
        Ok(written)
    }

    /// A new file beside the final one. Several processes may write to the same name at once.
    fn temporary(&self) -> io::Result<(Temporary, File)> {
        loop {
            let path = self.0.sibling(&shm::numbered(".tmp-"));
            match shm::create(&path) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                other => return Ok((Temporary::new(path), other?)),
            }
        }
    }
}
