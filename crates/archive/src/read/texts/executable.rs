//! Executables that logged: their fingerprints, and files that may be one of them.
//!
//! A ring or an archive names the file, so another user may have written the name: only a regular
//! file of a bounded size is read, and without waiting.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use timeline::internal::executable::MAX_EXECUTABLE;
use timeline::internal::files::open_regular;

use crate::format::preamble::Preamble;
use crate::format::process::ProcessRecord;

/// An executable, as an archive names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Executable {
    pub path: PathBuf,
    pub size: u64,
    pub sha1: [u8; 20],
}

/// Why a file is not an executable that logged, or cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// There is no such file, or no right to read it.
    Unreadable(String),
    /// It is a directory, a pipe or a device.
    NoFile,
    /// It has other bytes.
    Size {
        /// How many it has.
        found: u64,
        /// How many the executable has.
        expected: u64,
    },
    /// It has as many bytes, but not the same.
    Digest,
    /// It is too large, or all files together are.
    TooLarge,
    /// It is not the file that a process had loaded.
    Module,
    /// The archive has no fingerprint of any executable.
    Unknown,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Misfit::NoFile => f.write_str("is no file"),
            Misfit::Size { found, expected } => write!(
                f,
                "is not the executable that logged: it has {found} bytes, not {expected}"
            ),
            Misfit::Digest => {
                f.write_str("is not the executable that logged: it has another SHA-1")
            }
            Misfit::Module => {
                f.write_str("is not the file that was loaded: it has another build id")
            }
            Misfit::TooLarge => f.write_str("is too large to be read"),
            Misfit::Unknown => f.write_str(
                "cannot be compared: the archive has no fingerprint of the executable that logged",
            ),
        }
    }
}

impl Executable {
    /// That of a preamble, if all is known of it.
    pub fn of(preamble: &Preamble) -> Option<Executable> {
        Executable::new(&preamble.path, preamble.size, &preamble.sha1)
    }

    /// That of a process, if all is known of it.
    pub fn of_process(process: &ProcessRecord) -> Option<Executable> {
        Executable::new(&process.path, process.size, &process.sha1)
    }

    fn new(path: &Option<String>, size: Option<u64>, sha1: &Option<Vec<u8>>) -> Option<Executable> {
        Some(Executable {
            path: PathBuf::from(path.as_deref()?),
            size: size?,
            sha1: sha1.as_deref()?.try_into().ok()?,
        })
    }
}

/// Opens a file that may be an executable, and tells its size.
pub fn open(path: &Path) -> Result<(File, u64), Misfit> {
    let unreadable = |error: io::Error| Misfit::Unreadable(error.to_string());
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Misfit::NoFile);
    }
    let denied = || Misfit::Unreadable("no permission".into());
    let file = open_regular(path).ok_or_else(denied)?;
    let size = file.metadata().map_err(unreadable)?.len();
    match size > MAX_EXECUTABLE {
        true => Err(Misfit::TooLarge),
        false => Ok((file, size)),
    }
}
