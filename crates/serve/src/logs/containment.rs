//! Opens what is below a served directory, and follows no link on the way there.
//!
//! A path that was checked may lead elsewhere a moment later. So directories are opened one below
//! the other, none of them through a link, and what is open is read.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use timeline_archive::has_archive_name;

/// Opens the file or directory at a path below a directory.
///
/// # Errors
/// Those of the system; `FilesystemLoop` or `NotADirectory` for a link; `InvalidInput` for a path
/// that leads up.
pub fn open(folder: &Path, below: &Path) -> io::Result<File> {
    let mut at = File::open(folder)?;
    for component in below.components() {
        let Component::Normal(name) = component else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        at = open_in(&at, name)?;
    }
    Ok(at)
}

/// Opens what has a name in a directory, unless that is a link. Reading a pipe does not wait.
pub fn open_in(folder: &File, name: &OsStr) -> io::Result<File> {
    let how = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    Ok(openat(folder, name, how, Mode::empty())?.into())
}

/// A path that leads to what is open, whatever has its name, for as long as it is open.
pub fn path_of(open: &File) -> PathBuf {
    format!("/proc/self/fd/{}", open.as_raw_fd()).into()
}

/// Whether both are the same file or directory.
pub fn is_same(one: &File, other: &File) -> bool {
    let identity = |file: &File| Some((file.metadata().ok()?.dev(), file.metadata().ok()?.ino()));
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Whether any archive in a directory is a link: it would lead out of it.
pub fn has_links(folder: &File) -> bool {
    let entries = fs::read_dir(path_of(folder))
        .into_iter()
        .flatten()
        .flatten();
    let mut archives = entries.filter(|entry| has_archive_name(&entry.path()));
    archives.any(|entry| !entry.file_type().is_ok_and(|kind| kind.is_file()))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_opened_through_a_link_or_above() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/own"), "own").unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("b", root.join("a/inside")).unwrap();
        symlink("../..", root.join("a/up")).unwrap();
        let mut text = String::new();
        let mut own = open(&root, "a/b/own".as_ref()).unwrap();
        own.read_to_string(&mut text).unwrap();
        assert_eq!(text, "own");
        for below in [
            "link",
            "a/inside/own",
            "a/up/secret",
            "../secret",
            "a/../../secret",
            "/etc/passwd",
            "a/b/own/x",
        ] {
            assert!(open(&root, below.as_ref()).is_err(), "{below}");
        }
    }

    #[test]
    fn what_is_open_is_read_whatever_takes_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (root, secret) = (folder.path().join("root"), folder.path().join("secret"));
        for (folder, text) in [(&root, "own"), (&secret, "secret")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), text).unwrap();
        }
        let opened = open(folder.path(), "root".as_ref()).unwrap();
        let file = open_in(&opened, "file".as_ref()).unwrap();
        fs::rename(&root, folder.path().join("away")).unwrap();
        symlink(&secret, &root).unwrap();
        assert_eq!(fs::read(path_of(&opened).join("file")).unwrap(), b"own");
        let taken = open_in(&opened, "file".as_ref()).unwrap();
        assert!(is_same(&file, &taken) && !is_same(&file, &opened));
        assert!(open(folder.path(), "root/file".as_ref()).is_err());
    }
}
