//! Keeps the former timeline of a name: at NAME.prev, or at NAME.prev- and a number.
//!
//! The first name is known in advance, so another user who may write to the folder can put a file
//! there that we must not replace. Or a program logs to a timeline that it created at that name.
//! Then the second name is used, which cannot be guessed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::file_lock::{FileLock, living};
use super::{magic, open_existing, trusted, users};
use crate::access::Owner;
use crate::layout;
use crate::segment::{TimelineMapping, Use};
use crate::shm::{self, Name, Patience, Trust};

const SUFFIX: &str = ".prev";
/// Between the name and a number.
const MARK: &str = ".prev-";
/// The most numbered files that are opened. One is kept; only trusted users can add more.
const MOST: usize = 64;

/// The name that a timeline had before [`Timeline::new`](crate::Timeline::new) moved it aside:
/// `/timeline` for `/timeline.prev` and for `/timeline.prev-0123456789abcdef`. `None` for any other
/// name. Reads no file.
///
/// # Example
/// ```
/// use std::path::{Path, PathBuf};
/// use timeline::internal::name_before;
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

/// Whether the timeline at `path` was kept there when a program started again: it has such a name,
/// and no writer. (A program may log to a timeline that it created at that name.)
pub fn is_former(path: &Path) -> bool {
    name_before(path).is_some() && users(path).is_ok_and(|users| users.is_empty())
}

/// The suffixes of names that may be kept timelines: `.prev`, and at most [`MOST`] others.
///
/// Any user may put files there, in any number. So the owner of each numbered file is looked up by
/// name, and only files that `trust` may include are returned: no other file is ever opened.
fn suffixes(name: &Name, trust: &Trust) -> Vec<String> {
    let is_known = |suffix: &String| {
        let found = name.sibling(suffix).symlink_metadata();
        found.is_ok_and(|found| trust.may_include(&Owner::of(&found)))
    };
    let numbered = name.numbered_siblings(MARK).into_iter().filter(is_known);
    let usual = std::iter::once(SUFFIX.to_owned());
    usual.chain(numbered.take(MOST)).collect()
}

/// Maps for reading, one by one, the kept timelines of `name`: those of root, of our own user, and
/// of `user`. One with a writer was not kept: a program created it at that name.
pub fn attach_kept(
    name: &Name,
    user: Option<u32>,
) -> impl Iterator<Item = (TimelineMapping, File)> {
    let trust = Trust { user, group: None };
    let attach = move |suffix: String| {
        let name = name.beside(&suffix);
        let file = open_existing(&name, false).ok()?;
        // The name may lead to another file by now, or be a link.
        trusted(name.given(), &file, &trust).ok()?;
        let segment = TimelineMapping::load(&name, &file, Use::Read).ok()?;
        living(&name, &file).is_empty().then_some((segment, file))
    };
    suffixes(name, &trust).into_iter().filter_map(attach)
}

/// Moves the file at `name` aside, replacing the one kept before, and returns its new path. The
/// caller holds its lifecycle lock.
pub fn keep(name: &Name, trust: &Trust) -> io::Result<PathBuf> {
    for suffix in suffixes(name, trust) {
        let to = name.beside(&suffix);
        let moved = match found_at(&to, trust) {
            // Held until it is replaced.
            FormerState::Replaceable(_former) => std::fs::rename(name.file(), to.file()),
            FormerState::Nothing => shm::rename_new(name.file(), to.file()),
            FormerState::Other => continue,
        };
        match moved.map_err(|e| (e.kind(), e)) {
            Ok(()) => return Ok(to.file().to_path_buf()),
            // Taken just now; or we may not replace it in this folder, although we trust its owner.
            Err((ErrorKind::AlreadyExists | ErrorKind::PermissionDenied, _)) => continue,
            Err((_, error)) => return Err(error),
        }
    }
    let to = name.sibling(&shm::numbered(MARK));
    shm::rename_new(name.file(), &to).map(|()| to)
}

/// Removes the timeline that [`keep`] would replace, if it has at least so many bytes. Returns
/// whether it did. The caller holds the lifecycle lock of the one that is to be kept.
pub fn make_room(name: &Name, trust: &Trust, bytes: u64) -> bool {
    replaceable(name, trust).is_some_and(|(at, held)| {
        taken(held.file()) >= bytes && std::fs::remove_file(at.file()).is_ok()
    })
}

/// The bytes of the timeline that [`keep`] would replace.
pub fn replaceable_bytes(name: &Name, trust: &Trust) -> u64 {
    replaceable(name, trust).map_or(0, |(_, held)| taken(held.file()))
}

/// The bytes that a file takes in its file system.
pub fn taken(file: &File) -> u64 {
    // Blocks have 512 bytes, whatever the file system.
    let blocks = file.metadata().map_or(0, |found| found.blocks());
    blocks.saturating_mul(512)
}

fn replaceable(name: &Name, trust: &Trust) -> Option<(Name, FileLock)> {
    suffixes(name, trust).into_iter().find_map(|suffix| {
        let at = name.beside(&suffix);
        match found_at(&at, trust) {
            FormerState::Replaceable(held) => Some((at, held)),
            _ => None,
        }
    })
}

/// What stands at the name of a kept timeline.
enum FormerState {
    Nothing,
    /// A timeline that we may replace, and that nobody writes to.
    Replaceable(FileLock),
    Other,
}

fn found_at(to: &Name, trust: &Trust) -> FormerState {
    let path = to.file();
    // Its owner is checked before it is locked.
    let file = match shm::open_nofollow(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return FormerState::Nothing,
        Err(_) => return FormerState::Other,
        Ok(file) => file,
    };
    let may_replace = |file: &File| {
        let is_timeline = magic(path, file).is_ok_and(|found| found == layout::MAGIC);
        is_timeline && trusted(path, file, trust).is_ok()
    };
    if !may_replace(&file) {
        return FormerState::Other;
    }
    // Who has its lock for longer is about to join it, or wants to harm us.
    let held = FileLock::at(to, "replace", || Patience::MOMENT).and_then(|held| {
        let unused = held.map(|held| held.unused(to));
        unused.transpose()
    });
    match held {
        Ok(None) => FormerState::Nothing,
        // It may be another one by now.
        Ok(Some(held)) if may_replace(held.file()) => FormerState::Replaceable(held),
        _ => FormerState::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_many_numbered_files_are_opened_and_none_of_an_unknown_user() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = Name::new(&folder.path().join("ring")).expect("a name");
        let plant = |number: usize| {
            let path = name.sibling(&format!("{MARK}{number:016x}"));
            std::fs::write(&path, "planted").expect("written");
            path
        };
        let ours: Vec<_> = (0..2 * MOST).map(plant).collect();
        let trust = Trust::default();
        assert_eq!(suffixes(&name, &trust).len(), 1 + MOST);
        if ours[0].metadata().expect("written").uid() != 0 {
            eprintln!("in part only: root alone can give files to another user");
            return;
        }
        const OTHER: u32 = 65534;
        for path in &ours[1..] {
            std::os::unix::fs::lchown(path, Some(OTHER), Some(OTHER)).expect("given away");
        }
        let only_ours = [SUFFIX.to_owned(), format!("{MARK}{:016x}", 0)];
        assert_eq!(suffixes(&name, &trust), only_ours);
        let user = Some(OTHER);
        let named = Trust { user, group: None };
        assert_eq!(suffixes(&name, &named).len(), 1 + MOST);
    }

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
