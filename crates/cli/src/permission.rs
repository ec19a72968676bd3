//! The owner of a file that may not be used, by name.

use std::io;
use std::path::Path;

use nix::unistd::{Gid, Group, Uid, User};
use serde_json::{Value, json};
use timeline::{Error, Owner, Refusal};

/// The error, as a person is told of it.
pub fn told(error: &Error) -> String {
    match error {
        Error::NotTrusted { owner, .. } | Error::Locked { owner, .. } => {
            with_names(error.to_string(), owner)
        }
        other => match refused(other) {
            Some(refusal) => with_names(other.to_string(), &refusal.owner),
            None => other.to_string(),
        },
    }
}

/// An error of the system that came of doing this with a file.
pub fn failed(doing: &str, path: &Path, error: &io::Error) -> String {
    let path_shown = path.display();
    match Refusal::of(doing, path, error) {
        Some(refusal) => with_names(
            format!("cannot {doing} {path_shown}: {refusal}"),
            &refusal.owner,
        ),
        None => format!("cannot {doing} {path_shown}: {error}"),
    }
}

/// Why it failed, if that was for want of permission.
pub fn refused(error: &Error) -> Option<&Refusal> {
    match error {
        Error::Io { refusal, .. } => refusal.as_deref(),
        _ => None,
    }
}

/// Owner, group and mode, in words.
pub fn owner(owner: &Owner) -> String {
    let (user, group) = names(owner);
    format!("{user} (group {group}, mode {:04o})", owner.mode)
}

/// The same for programs.
pub fn object(owner: &Owner) -> Value {
    let (user, group) = names(owner);
    json!({ "user": user, "group": group, "mode": format!("{:04o}", owner.mode) })
}

/// The library's words on an owner, with names in the place of numbers.
fn with_names(message: String, of: &Owner) -> String {
    message.replace(&of.to_string(), &owner(of))
}

/// Of user and group; the number where there is no name.
fn names(owner: &Owner) -> (String, String) {
    let user = User::from_uid(Uid::from_raw(owner.user));
    let user = user.ok().flatten().map(|user| user.name);
    let group = Group::from_gid(Gid::from_raw(owner.group));
    let group = group.ok().flatten().map(|group| group.name);
    (
        user.unwrap_or_else(|| format!("user {}", owner.user)),
        group.unwrap_or_else(|| owner.group.to_string()),
    )
}
