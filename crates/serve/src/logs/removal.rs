//! Removes the files of an archive, and finds them one by one.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{UnlinkatFlags, unlinkat};
use timeline_archive::has_archive_name;

use super::containment::{open_in, path_of};
use super::discovery::LogKind;
use super::log::LogHandle;
use crate::error::{Error, Result};

impl LogHandle {
    /// The files that an archive consists of, and their bytes.
    pub fn files(&self) -> Result<Vec<(String, u64)>> {
        self.refuse_live()?;
        let Some(folder) = self.folder_of_files()? else {
            let file = self.file()?;
            let bytes = file.metadata().map_or(0, |found| found.len());
            return Ok(vec![(self.found.name().to_owned(), bytes)]);
        };
        let mut files = archives_in(&folder);
        files.sort();
        Ok(files)
    }

    /// One of these files, opened through no link.
    pub fn one_file(&self, name: &str) -> Result<File> {
        self.refuse_live()?;
        let gone = || Error::NoLog { id: name.into() };
        let Some(folder) = self.folder_of_files()? else {
            return match name == self.found.name() {
                true => self.file(),
                false => Err(gone()),
            };
        };
        let is_one = has_archive_name(Path::new(name)) && !name.contains('/');
        let file = open_in(&folder, OsStr::new(name)).ok().filter(|_| is_one);
        let is_file = |file: &File| file.metadata().is_ok_and(|found| found.is_file());
        file.filter(is_file).ok_or_else(gone)
    }

    /// Removes the archive with its indexes. Returns how many files it had, and their bytes.
    ///
    /// # Errors
    /// `Busy` if somebody writes it; `Io`.
    pub fn remove(&self) -> Result<(usize, u64)> {
        self.refuse_live()?;
        let failed = |error: nix::Error| Error::io("remove a file", error.into());
        let busy = || Error::Busy {
            id: self.found.id.clone(),
        };
        // Whoever writes an archive holds this lock, and nobody begins to meanwhile.
        let lock =
            |file: File| Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| busy());
        let parent = self.found.folder()?;
        let name = self
            .found
            .path
            .file_name()
            .ok_or_else(|| self.found.gone())?;
        let Some(folder) = self.folder_of_files()? else {
            let held = lock(self.file()?)?;
            let bytes = held.metadata().map_or(0, |found| found.len());
            unlinkat(&parent, name, UnlinkatFlags::NoRemoveDir).map_err(failed)?;
            let index = [name.as_encoded_bytes(), b".idx"].concat();
            let _ = unlinkat(&parent, &index[..], UnlinkatFlags::NoRemoveDir);
            return Ok((1, bytes));
        };
        let held = lock(folder)?;
        let files = archives_in(&held);
        let bytes = files.iter().map(|(_, bytes)| bytes).sum();
        for entry in fs::read_dir(path_of(&held)).into_iter().flatten().flatten() {
            unlinkat(&*held, &*entry.file_name(), UnlinkatFlags::NoRemoveDir).map_err(failed)?;
        }
        unlinkat(&parent, name, UnlinkatFlags::RemoveDir).map_err(failed)?;
        Ok((files.len(), bytes))
    }

    fn refuse_live(&self) -> Result<()> {
        match self.found.kind {
            LogKind::Live => Err(Error::request("a live timeline has no files")),
            _ => Ok(()),
        }
    }

    /// The directory of a rotated archive.
    fn folder_of_files(&self) -> Result<Option<File>> {
        let opened = match self.found.opened()? {
            Some(opened) => opened,
            None => {
                let opened = File::open(&self.found.path);
                opened.map_err(|error| Error::io("open the archive", error))?
            }
        };
        Ok(opened
            .metadata()
            .is_ok_and(|it| it.is_dir())
            .then_some(opened))
    }
}

/// The archives in a directory, and their bytes.
fn archives_in(folder: &File) -> Vec<(String, u64)> {
    let entries = fs::read_dir(path_of(folder))
        .into_iter()
        .flatten()
        .flatten();
    let archives = entries.filter(|entry| has_archive_name(&entry.path()));
    let files = archives.filter_map(|entry| {
        let found = entry.metadata().ok().filter(|found| found.is_file())?;
        Some((entry.file_name().into_string().ok()?, found.size()))
    });
    files.collect()
}
