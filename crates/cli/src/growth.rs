//! Says what followers miss: the same for all verbs.

use timeline_latency::Lack;

use crate::format::{agree, things};
use crate::health;
use crate::output;

/// Says on standard error what a follower misses here, and what comes of it. What was recorded and
/// cannot be read counts for the exit status.
pub fn say(lack: Lack, so: &str) {
    let entries = |count| things(count, "entry");
    match lack {
        Lack::Unread(count) => output::say(format_args!(
            "{} missed here, overwritten before they were read{so}",
            entries(count)
        )),
        Lack::Unrecorded(count) => output::say(format_args!(
            "{} missed here, overwritten before they were recorded{so}",
            entries(count)
        )),
        Lack::Unknown => output::say(format_args!(
            "events before this may be missing, because no recorder ran between two runs{so}"
        )),
        Lack::Damaged(count) => {
            health::note_incomplete();
            let (what, belong) = (things(count, "byte"), agree(count, "belongs", "belong"));
            output::say(format_args!("{what} here {belong} to no whole frame{so}"));
        }
        Lack::Removed(count) => output::say(format_args!(
            "{} removed here before they were read{so}",
            things(count, "file")
        )),
        Lack::Gone(count) => {
            health::note_incomplete();
            let (were, are) = (agree(count, "was", "were"), agree(count, "is", "are"));
            output::say(format_args!(
                "{} that {were} recorded {are} gone here{so}",
                entries(count)
            ));
        }
        Lack::Unreadable(count) => {
            health::note_incomplete();
            let events = things(count, "event");
            output::say(format_args!(
                "{events} here cannot be read from their blocks{so}"
            ));
        }
    }
}

/// What comes of it where spans are measured.
pub const SPANS: &str = ": open spans are forgotten";
