//! The name of a timeline as a user writes it, and its file.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::descriptor::read_dir;
use super::file::unguessable;
use crate::access::{SHM_DIR, live_file};
use crate::error::{Error, Result};

/// Names plus our suffixes must fit into a file name of 255 bytes.
const MAX_NAME: usize = 210;
/// Digits of the numbers in some suffixes.
const DIGITS: usize = 16;

/// The name of a timeline in shared memory (`/timeline`), or of a file.
#[derive(Debug, Clone)]
pub struct Name {
    given: PathBuf,
    file: PathBuf,
    c_file: CString,
}

impl Name {
    /// A name with one leading slash and no other is a shared-memory object. Any other is a file.
    pub fn new(given: &Path) -> Result<Name> {
        let bytes = given.as_os_str().as_bytes();
        let bad = |why| {
            Err(Error::BadName {
                name: given.display().to_string(),
                why,
            })
        };
        if bytes.is_empty() {
            return bad("it is empty; expected a name like /timeline, or the path of a file");
        }
        if bytes.contains(&0) {
            return bad("it holds a NUL byte");
        }
        let file = match bytes.strip_prefix(b"/") {
            Some(b"" | b"." | b"..") => {
                return bad("expected a name behind the slash, like /timeline");
            }
            Some(name) if !name.contains(&b'/') && name.len() > MAX_NAME => {
                return bad("expected at most 210 bytes");
            }
            _ => match live_file(given) {
                Some(file) => file,
                None => {
                    let name = given.file_name().map_or(0, OsStr::len);
                    if name == 0 || bytes.ends_with(b"/") {
                        return bad("expected a file, this is a directory");
                    }
                    if name > MAX_NAME {
                        return bad("expected a file name of at most 210 bytes");
                    }
                    std::path::absolute(given).map_err(|e| Error::io("find", given, e))?
                }
            },
        };
        let c_file = match CString::new(file.as_os_str().as_bytes()) {
            Ok(c_file) => c_file,
            Err(_) => return bad("it holds a NUL byte"),
        };
        Ok(Name {
            given: given.to_path_buf(),
            file,
            c_file,
        })
    }

    /// As the user wrote it.
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// The file in the file system.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The file, NUL-terminated, for callers that must not allocate.
    pub fn c_file(&self) -> &CString {
        &self.c_file
    }

    /// The file of a sibling: this one with `suffix`.
    pub fn sibling(&self, suffix: &str) -> PathBuf {
        appended(&self.file, suffix)
    }

    /// The name of that sibling as a user would write it.
    pub fn given_sibling(&self, suffix: &str) -> PathBuf {
        appended(&self.given, suffix)
    }

    /// That sibling as a name, however long it is.
    pub fn beside(&self, suffix: &str) -> Name {
        let file = self.sibling(suffix);
        let c_file = CString::new(file.as_os_str().as_bytes());
        Name {
            given: self.given_sibling(suffix),
            c_file: c_file.expect("suffixes have no NUL, and neither has a name"),
            file,
        }
    }

    /// The suffixes of existing siblings that consist of this mark and a number.
    pub fn numbered_siblings(&self, mark: &str) -> Vec<String> {
        let (Some(folder), Some(name)) = (self.file.parent(), self.file.file_name()) else {
            return Vec::new();
        };
        let entries = read_dir(folder).into_iter().flatten().flatten();
        let suffix = |found: &OsStr| {
            let found = found.as_bytes();
            let is_sibling = without_number(found, mark) == Some(name.as_bytes());
            let suffix = found.strip_prefix(name.as_bytes())?;
            is_sibling.then(|| String::from_utf8_lossy(suffix).into_owned())
        };
        entries
            .filter_map(|entry| suffix(&entry.file_name()))
            .collect()
    }
}

fn appended(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from_vec(path.as_os_str().as_bytes().to_vec());
    name.push(suffix);
    PathBuf::from(name)
}

/// A suffix that cannot be guessed: a mark and a number.
pub fn numbered(mark: &str) -> String {
    format!("{mark}{:0DIGITS$x}", unguessable())
}

/// The part of a name before a mark and a number, if it ends in them.
pub fn without_number<'a>(name: &'a [u8], mark: &str) -> Option<&'a [u8]> {
    let (rest, digits) = name.split_last_chunk::<DIGITS>()?;
    let hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    rest.strip_suffix(mark.as_bytes())
        .filter(|_| digits.iter().all(hex))
}

/// The names of all shared-memory objects, sorted.
pub fn live_names() -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in read_dir(Path::new(SHM_DIR))? {
        let entry = entry?;
        if entry.file_type().is_ok_and(|t| t.is_file()) {
            names.push(Path::new("/").join(entry.file_name()));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(given: &str) -> Option<PathBuf> {
        Name::new(Path::new(given)).ok().map(|n| n.file)
    }

    #[test]
    fn one_leading_slash_is_shared_memory_and_the_rest_are_files() {
        assert_eq!(file("/timeline"), Some("/dev/shm/timeline".into()));
        assert_eq!(file("/tmp/timeline"), Some("/tmp/timeline".into()));
        let here = std::env::current_dir().unwrap();
        assert_eq!(file("a.timeline"), Some(here.join("a.timeline")));
        assert_eq!(file("./a"), Some(here.join("a")));
    }

    #[test]
    fn what_cannot_be_a_name_is_refused() {
        let long = format!("/{}", "x".repeat(211));
        for bad in ["", "/", "/.", "/..", "a/", "..", "/x\0y", &long] {
            assert!(file(bad).is_none(), "{bad:?}");
        }
    }
}
