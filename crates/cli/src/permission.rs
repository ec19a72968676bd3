//! Errors about files that this user may not use, with the names of their owners.

use std::io;
use std::path::Path;

use nix::unistd::{Gid, Group, Uid, User};
use serde_json::{Value, json};
use timeline::{Error, Owner, Refusal};

/// The message of an error.
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

/// The message of a system error: `doing` failed for a file.
pub fn failed(doing: &str, path: &Path, error: &io::Error) -> String {
    let path_shown = path.display();
    match Refusal::of_file(doing, path, error) {
        Some(refusal) => with_names(
            format!("cannot {doing} {path_shown}: {refusal}"),
            &refusal.owner,
        ),
        None => format!("cannot {doing} {path_shown}: {error}"),
    }
}

/// The reason, if a permission is missing.
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

/// Owner, group and mode, for programs.
pub fn object(owner: &Owner) -> Value {
    let (user, group) = names(owner);
    json!({ "user": user, "group": group, "mode": format!("{:04o}", owner.mode) })
}

/// The description of an owner by the library, with names instead of numbers.
fn with_names(message: String, of: &Owner) -> String {
    message.replace(&of.to_string(), &owner(of))
}

/// The names of a user and a group, or their numbers if they have no names.
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
