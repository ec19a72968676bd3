//! The users and groups that a verb trusts when it changes a timeline: by name or by number.

use nix::unistd::{Group, User};
use timeline::Trust;

/// The user and the group whose timelines are changed beside those of root and of the caller.
#[derive(clap::Args)]
pub struct TrustArgs {
    /// Also change timelines of this user, given by name or number. That user could forge the
    /// events shown, or end this command
    #[arg(long, value_name = "USER", value_parser = user)]
    trust_user: Option<u32>,

    /// Also change timelines of this group, whichever user owns them
    #[arg(long, value_name = "GROUP", value_parser = group)]
    trust_group: Option<u32>,
}

impl TrustArgs {
    /// As an option of the library.
    pub fn trust(&self) -> Trust {
        Trust {
            user: self.trust_user,
            group: self.trust_group,
        }
    }
}

fn user(given: &str) -> Result<u32, String> {
    let named = || User::from_name(given).ok().flatten();
    let number = given.parse().ok();
    number
        .or_else(|| named().map(|user| user.uid.as_raw()))
        .ok_or_else(|| "expected the name or the number of a user".into())
}

fn group(given: &str) -> Result<u32, String> {
    let named = || Group::from_name(given).ok().flatten();
    let number = given.parse().ok();
    number
        .or_else(|| named().map(|group| group.gid.as_raw()))
        .ok_or_else(|| "expected the name or the number of a group".into())
}
