//! The parts of the texts of errors: owners, causes, and the users of a timeline.

use std::io;
use std::path::Path;

use crate::access::{Owner, Refusal};

/// A process named in an error: its id and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The process id in the pid namespace of that process.
    pub pid: u32,
    /// The name of the process (`comm`), at most 15 bytes.
    pub name: String,
}

/// Why a writer refuses a file, and the remedy.
pub fn not_trusted(path: &Path, owner: &Owner) -> String {
    let path = path.display();
    match owner.mode & 0o002 {
        0 => format!(
            "{path} belongs to {owner}, who could damage every program that writes to it; expected \
             a file of our own user or of root. Name that user or group as trusted, or have the \
             file removed"
        ),
        _ => format!(
            "{path} belongs to {owner}: everybody may write to it, and could damage every program \
             that does; expected a file that only its user or a group may write to. Remove \
             that permission (`chmod o-w`) and share the file with a group, or have it removed"
        ),
    }
}

/// The system's words, or the refusal.
pub fn told(source: &io::Error, refusal: Option<&Refusal>) -> String {
    refusal.map_or(source.to_string(), Refusal::to_string)
}

pub fn users(by: &[User]) -> String {
    if by.is_empty() {
        return "another process that is just creating or joining it".to_string();
    }
    let mut text = String::new();
    for (i, user) in by.iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(&format!("{} (pid {})", user.name, user.pid));
    }
    text
}

/// The priorities that are expected, and the one that may have been meant.
pub fn priorities(last: &str, meant: Option<&str>) -> String {
    let meant = meant.map(|meant| format!("; did you mean {meant}?"));
    let meant = meant.unwrap_or_default();
    format!("expected error, warning, info, trace, app, packet{last}{meant}")
}

const MIB: u64 = 1 << 20;

/// A number of bytes that are needed; not less, where it is rounded.
pub fn at_least(bytes: u64) -> String {
    mebibytes(bytes, (u128::from(bytes) * 10).div_ceil(MIB.into()))
}

/// A number of bytes that there are; not more, where it is rounded.
pub fn at_most(bytes: u64) -> String {
    mebibytes(bytes, u128::from(bytes) * 10 / u128::from(MIB))
}

fn mebibytes(bytes: u64, tenths: u128) -> String {
    match bytes {
        0..MIB => format!("{bytes} bytes"),
        _ => format!("{}.{} MiB", tenths / 10, tenths % 10),
    }
}

/// How to make room for a timeline: without the one of an earlier run that has its name.
pub fn removal(path: &Path, replaces: bool) -> String {
    match replaces {
        true => format!(
            "remove the one of the last run (`timeline rm {}`), ",
            path.display()
        ),
        false => String::new(),
    }
}
