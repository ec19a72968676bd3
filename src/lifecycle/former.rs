//! What is kept of the timeline that stood at a name before: NAME.prev, or NAME.prev- and a number.
//!
//! The first can be known beforehand, so whoever may write to the folder can put a file there, which is not ours to
//! replace. Then the other serves, which nobody can guess.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{magic, trusted};
use crate::layout;
use crate::shm::{self, Name, Trust};

const SUFFIX: &str = ".prev";
/// Between the name and a number.
const MARK: &str = ".prev-";

/// The name that a timeline had before [`Timeline::new`](crate::Timeline::new) moved it aside: `/timeline` of
/// `/timeline.prev`, and of `/timeline.prev-0123456789abcdef`. `None` of any other name. Looks at no file.
///
/// # Example
/// ```
/// use std::path::{Path, PathBuf};
/// use timeline::name_before;
/// assert_eq!(name_before(Path::new("/timeline.prev")), Some(Path::new("/timeline")));
/// assert_eq!(name_before(Path::new("/timeline")), None);
/// ```
pub fn name_before(path: &Path) -> Option<&Path> {
    let path = path.as_os_str().as_bytes();
    let name = path
        .strip_suffix(SUFFIX.as_bytes())
        .or_else(|| shm::without_number(path, MARK))?;
    let is_name = !name.is_empty() && !name.ends_with(b"/");
    is_name.then(|| Path::new(OsStr::from_bytes(name)))
}

/// The suffixes of names that may be those of what is kept.
pub fn suffixes(name: &Name) -> Vec<String> {
    let mut suffixes = name.numbered_siblings(MARK);
    suffixes.insert(0, SUFFIX.to_owned());
    suffixes
}

/// Moves the file at `name` aside, in the place of what was kept before, and says where it is now.
pub fn keep(name: &Name, trust: &Trust) -> io::Result<PathBuf> {
    for suffix in suffixes(name) {
        let to = name.sibling(&suffix);
        let moved = match is_ours(&to, trust) {
            Some(true) => std::fs::rename(name.file(), &to),
            Some(false) => continue,
            None => shm::rename_new(name.file(), &to),
        };
        match moved.map_err(|e| (e.kind(), e)) {
            Ok(()) => return Ok(to),
            // Taken just now; or not ours to replace in this folder, although we trust its owner.
            Err((ErrorKind::AlreadyExists | ErrorKind::PermissionDenied, _)) => continue,
            Err((_, error)) => return Err(error),
        }
    }
    let to = name.sibling(&shm::numbered(MARK));
    shm::rename_new(name.file(), &to).map(|()| to)
}

/// Whether what stands there is a timeline that we may replace; `None` if nothing does.
fn is_ours(path: &Path, trust: &Trust) -> Option<bool> {
    let file = match shm::open_nofollow(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return None,
        Err(_) => return Some(false),
        Ok(file) => file,
    };
    let is_timeline = magic(path, &file).is_ok_and(|found| found == layout::MAGIC);
    Some(is_timeline && trusted(path, &file, trust).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_what_is_kept_are_told_from_others() {
        let before = |path| name_before(Path::new(path)).map(|name| name.to_str().unwrap());
        assert_eq!(before("/a.prev"), Some("/a"));
        assert_eq!(before("/a.prev-0123456789abcdef"), Some("/a"));
        assert_eq!(before("b/a.prev.prev"), Some("b/a.prev"));
        for other in [
            "/a",
            "/.prev",
            ".prev",
            "b/.prev-0123456789abcdef",
            "/a.prev-0123456789abcde",
            "/a.prev-0123456789ABCDEF",
            "/a.prev-",
            "/a.previous",
        ] {
            assert_eq!(before(other), None, "{other}");
        }
    }
}
