//! Opens the files of archives, the first time and again.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use timeline::internal::files;

use crate::error::{Error, Result};

/// Opens a file for reading. It refuses pipes, because reading one would wait for a writer.
pub fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK);
    files::open_as(&options, path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NoArchive { path: path.into() },
        _ => Error::io("open", path, error),
    })
}

/// Opens a file again. Another one that has its name meanwhile is not read for it.
pub fn open_again(path: &Path, identity: (u64, u64)) -> io::Result<File> {
    let file = files::open_to_read(path)?;
    match identity_of(&file.metadata()?) == identity {
        true => Ok(file),
        false => Err(io::Error::other("another file has its name by now")),
    }
}

/// What tells a file from all others that exist at the same time.
pub fn identity_of(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
