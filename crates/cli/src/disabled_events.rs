//! Says which of the events that somebody waits for are not logged at present.

use timeline::{Attached, Definition};

use crate::format::agree;
use crate::output;

/// At most so many are named.
const MOST: usize = 3;

/// Which of the wanted events are to be disabled, or nothing is said.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Least {
    One,
    All,
}

/// Says of a live timeline which wanted events its level, its rules and its channels disable.
pub fn tell(at: &Attached, least: Least, is_wanted: impl Fn(&Definition) -> bool) {
    if at.is_snapshot() {
        return;
    }
    let wanted = at.definitions().filter(|one| one.has_name());
    let wanted = wanted.filter(|one| is_wanted(one));
    let (on, off): (Vec<_>, Vec<_>) = wanted.partition(|one| at.is_enabled(one.id));
    if off.is_empty() || least == Least::All && !on.is_empty() {
        return;
    }
    let (count, path) = (off.len() as u64, at.path().display());
    let named: Vec<_> = off.iter().take(MOST).map(|one| one.name()).collect();
    let more = match off.len().checked_sub(MOST) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    let (named, are) = (named.join(", "), agree(count, "is", "are"));
    let channels = match off.iter().any(|one| !one.channels.is_empty()) {
        true => ", and `timeline channel` their channels",
        false => "",
    };
    output::say(format_args!(
        "{named}{more} {are} not logged at present: the level of {path} is {} (`timeline priority` \
         and `timeline enable` change that{channels})",
        at.info().rules
    ));
}
