//! The directory in which an agent writes files, and nowhere else.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Most bytes of a name.
const LONGEST: usize = 128;

/// Where a file of this name lies: right below the directory. A name that ends with `/` is one of a
/// directory of numbered files.
///
/// # Errors
/// `FileName` for a name that could lead elsewhere: only letters, digits, `.`, `_` and `-` are
/// allowed, and no `.` at the beginning; and for one that is a link.
pub fn place_below(folder: &Path, name: &str) -> Result<PathBuf> {
    let wrong = |why| Error::FileName {
        name: name.into(),
        why,
    };
    let plain = name.strip_suffix('/').unwrap_or(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if plain.is_empty() || plain.len() > LONGEST || !plain.chars().all(is_plain) {
        return Err(wrong(
            "it has 1 to 128 letters, digits, dots, underscores and hyphens, and no directory",
        ));
    }
    if plain.starts_with('.') {
        return Err(wrong("it begins with a dot"));
    }
    let path = folder.join(plain);
    if path.is_symlink() {
        return Err(wrong("a link has this name"));
    }
    match name.ends_with('/') {
        true => Ok(folder.join(name)),
        false => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| place_below(folder.path(), name);
        for name in ["flight.tla", "a", "A-b_c.1", "flights/"] {
            assert_eq!(at(name).unwrap(), folder.path().join(name));
        }
        let long = "x".repeat(129);
        for name in [
            "",
            "/",
            ".",
            "..",
            "../x",
            "a/b",
            "/etc/passwd",
            ".hidden",
            "a b",
            "a\0",
            "ä",
            "a//",
            "X:\\",
            &long,
        ] {
            assert!(at(name).is_err(), "{name:?}");
        }
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
        assert!(at("link").is_err() && at("link/").is_err());
    }
}
