//! Files outside of shared memory: open them above the standard streams, and write them whole.

use std::fs::{File, symlink_metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub use crate::access::folder_of;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::shm::{self, Name, Temporary};

pub use crate::shm::{open_as, open_regular, open_to_read, read_dir, read_to_string};

/// A file that gets its name once it is whole, also if there is one of that name. Until then it has
/// none, and is gone if the process is killed. Where the file system has no such files, it has a
/// temporary name beside the final one. Only its owner may read it.
///
/// ```
/// use std::io::Write;
/// use timeline::internal::files::Replacement;
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
        if symlink_metadata(name.file()).is_ok_and(|m| !m.is_file()) {
            return Err(Error::BadName {
                name: path.display().to_string(),
                why: "only a file is replaced; this is a directory, a link, a device or a pipe",
            });
        }
        lifecycle::refuse_living(&name)?;
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
    /// The file cannot be written, or the name is that of a timeline in use by now. A file that has
    /// the name already is left as it was.
    pub fn write<T>(&self, write: impl FnOnce(&File) -> io::Result<T>) -> Result<T> {
        let unfinished = self.begin()?;
        let written = write(unfinished.file());
        let written = written.map_err(|e| Error::io("write", self.0.given(), e))?;
        unfinished.finish()?;
        Ok(written)
    }

    /// Begins a file that is written piece by piece. Unless it is finished, a file that has the
    /// name already is left as it was.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn begin(&self) -> Result<PendingFile> {
        let created = match shm::create_unnamed(folder_of(self.0.file())) {
            Some(file) => Ok((None, file)),
            None => beside(&self.0, shm::create).map(|(name, file)| (Some(name), file)),
        };
        let (temporary, file) = created.map_err(|e| Error::io("create", self.0.given(), e))?;
        Ok(PendingFile {
            name: self.0.clone(),
            temporary,
            file,
        })
    }
}

/// Makes a file beside the final one. Several processes may write to the same name at once.
fn beside<T>(name: &Name, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(Temporary, T)> {
    loop {
        let path = name.sibling(&shm::numbered(".tmp-"));
        match make(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
            made => return made.map(|made| (Temporary::new(path), made)),
        }
    }
}

/// A file that is being written and has not its name yet. If it is dropped, it is gone.
pub struct PendingFile {
    name: Name,
    temporary: Option<Temporary>,
    file: File,
}

impl PendingFile {
    /// The file, to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Flushes the file to the disk, and gives it its name. Whoever has the file open goes on
    /// writing to it.
    ///
    /// # Errors
    ///
    /// Those of the disk; the name is that of a timeline in use by now. A file that has the name
    /// already is left as it was.
    pub fn finish(self) -> Result<()> {
        let synced = self.file.sync_all();
        synced.map_err(|e| Error::io("write", self.name.given(), e))?;
        let temporary = match self.temporary {
            Some(temporary) => temporary,
            // A file without a name cannot replace another by itself.
            None => {
                let named = beside(&self.name, |path| shm::name_new(&self.file, path));
                named
                    .map_err(|e| Error::io("write", self.name.given(), e))?
                    .0
            }
        };
        lifecycle::replace(&self.name, temporary.path())?;
        temporary.keep();
        Ok(())
    }
}

/// Removes a file that this program made, unless another one writes to a timeline of that name.
///
/// # Errors
/// `ResourceBusy` if a program does; those of removing a file.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = Name::new(path).and_then(|name| lifecycle::remove_file(&name));
    removed.map_err(|error| match error {
        Error::Io { source, .. } => source,
        Error::InUse { .. } | Error::Locked { .. } => {
            io::Error::new(ErrorKind::ResourceBusy, error)
        }
        other => io::Error::other(other),
    })
}

/// A file that gets its name once it is whole. Until then it has none, and is gone if the process
/// is killed. Where the file system has no such files, it has a temporary name beside the final
/// one. Only its owner may read it.
///
/// ```
/// use std::io::Write;
/// use timeline::internal::files::NewFile;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("report");
///
/// let file = NewFile::at(&path)?;
/// file.file().write_all(b"whole")?;
/// assert!(!path.exists());
/// file.keep()?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NewFile {
    path: PathBuf,
    file: File,
    temporary: Option<Temporary>,
}

impl NewFile {
    /// A file that will be at `path`.
    ///
    /// # Errors
    ///
    /// There is a file of this name already (`AlreadyExists`), or none can be created.
    pub fn at(path: &Path) -> io::Result<NewFile> {
        if symlink_metadata(path).is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let folder = folder_of(path);
        if let Some(file) = shm::create_unnamed(folder).filter(|_| path.file_name().is_some()) {
            return Ok(NewFile {
                path: path.into(),
                file,
                temporary: None,
            });
        }
        let mut name = path.as_os_str().to_owned();
        name.push(shm::numbered(".tmp-"));
        let file = shm::create(name.as_ref())?;
        Ok(NewFile {
            path: path.into(),
            file,
            temporary: Some(Temporary::new(name.into())),
        })
    }

    /// The file, to write to.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Flushes the file to the disk, and gives it its name.
    ///
    /// # Errors
    ///
    /// Those of the disk. There is a file of this name by now (`AlreadyExists`); it stays.
    pub fn keep(self) -> io::Result<()> {
        self.file.sync_all()?;
        match self.temporary {
            None => shm::name_new(&self.file, &self.path),
            Some(temporary) => {
                shm::rename_new(temporary.path(), &self.path)?;
                temporary.keep();
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn what_is_not_whole_leaves_nothing_behind_whoever_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("saved");
        let count = || std::fs::read_dir(folder.path()).unwrap().count();
        std::fs::write(&path, "before").unwrap();
        let pending = Replacement::of(&path).unwrap().begin().unwrap();
        pending.file().write_all(b"half").unwrap();
        // As if it were killed: nothing is removed. Some file systems have only files with names.
        let is_unnamed = pending.temporary.is_none();
        assert_eq!(is_unnamed, shm::create_unnamed(folder.path()).is_some());
        assert_eq!(count(), 2 - usize::from(is_unnamed));
        let mut file = pending.file().try_clone().unwrap();
        pending.finish().unwrap();
        assert_eq!(
            (count(), std::fs::read(&path).unwrap()),
            (1, b"half".to_vec())
        );
        // Whoever has it open goes on with the file that has the name.
        file.write_all(b" and half").unwrap();
        file.rewind().unwrap();
        let mut read = String::new();
        file.read_to_string(&mut read).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), read);
    }
}
