//! Says what happens to a recording.

use std::path::Path;

use timeline::{Attached, is_former};
use timeline_archive::{FileChange, OutputTrouble, Preamble, Totals};

use super::Args;
use super::progress::RecordProgress;
use crate::format::{Bytes, Count, things};
use crate::output;
use crate::permission;
use crate::time::{self, WallClock};

/// Says that it began, and what ends it, unless it ends as soon as it has read the ring.
pub fn begin(at: &Attached, args: &Args) {
    let has_users = || timeline::users(at.path()).is_ok_and(|users| !users.is_empty());
    let until = match args.once {
        _ if at.is_snapshot() || is_former(at.path()) => return,
        false => "",
        true if has_users() => " until its program ends",
        true => return,
    };
    let (from, to) = (args.target.path().display(), args.destination().display());
    output::say(format_args!(
        "recording {from} to {to}{until}; Ctrl-C stops"
    ));
}

/// Says that events between two runs may be missing.
pub fn gap(path: &Path, last: &Preamble, at: &Attached) {
    let (last, this) = (
        moment(last.created),
        moment(Some(at.info().created_unix_nanos)),
    );
    output::say(format_args!(
        "events of {} between its runs of {last} and {this} may be missing, and are not counted",
        path.display()
    ));
}

/// Says that the last file of the directory is no archive, or that nobody may change it.
pub fn passed_over(passed: &Path, present: &Path) {
    let (passed, present) = (passed.display(), present.display());
    output::say(format_args!(
        "{passed} is not an archive (a power cut may leave a file of zeros), or nobody may change \
         it; it stays as it is, and recording continues in {present}"
    ));
}

/// Says that a store has lost what was sent before.
pub fn cut_off(args: &Args) {
    let (to, from) = (
        args.destination().display(),
        match args.remote.spool() {
            Some(_) => "in the spool and the ring",
            None => "in the ring",
        },
    );
    output::say(format_args!(
        "{to} does not have what was sent before; recording goes on from there with what is still \
         {from}"
    ));
}

/// Says that the file was opened again.
pub fn change(change: FileChange, args: &Args) {
    let output = args.destination().display();
    output::say(match change {
        FileChange::Gone => {
            format!("{output} was removed or moved; recording continues in a new file")
        }
        FileChange::Cut => format!("{output} was truncated; recording continues at its end"),
    });
}

/// The sentences about a failing step that were said, until it works again.
#[derive(Default)]
pub struct ToldTroubles(Vec<String>);

/// Most different sentences about one failure: a step may fail in turn for two reasons.
const MOST_TOLD: usize = 8;

impl ToldTroubles {
    /// Whether nothing fails, as far as was said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reports once that a step fails, again if it fails for another reason, and that it works again.
pub fn trouble(
    told: &mut ToldTroubles,
    progress: &mut RecordProgress,
    trouble: Option<&OutputTrouble>,
) {
    let Some(trouble) = trouble else {
        if !told.is_empty() {
            progress.clear();
            output::say("recording continues");
            told.0.clear();
        }
        return;
    };
    let sentence = permission::failed(trouble.doing, &trouble.path, &trouble.error);
    if told.0.len() < MOST_TOLD && !told.0.contains(&sentence) {
        progress.clear();
        output::say(format_args!("{sentence}; trying again until it works"));
        told.0.push(sentence);
    }
}

/// Says what the store has still to get, if there is a spool.
pub fn waiting(args: &Args, bytes: u64) {
    if let Some(spool) = args.remote.spool().filter(|_| bytes > 0) {
        output::say(format_args!(
            "{} waits in {} for {}; the next recording with this --spool sends it",
            Bytes(bytes),
            spool.display(),
            args.destination().display()
        ));
    }
}

/// Says what came of it.
pub fn end(args: &Args, totals: &Totals, is_filtered: bool) {
    let Totals {
        events,
        missed,
        missed_unknown,
        left_out,
        left,
        unsent,
        bytes,
        overwritten: _,
    } = *totals;
    let (from, to) = (args.target.path().display(), args.destination().display());
    let (events, missed) = (things(events, "event"), Count(missed));
    let size = Bytes(bytes);
    let unknown = match missed_unknown {
        0 => String::new(),
        places => format!(", and an unknown number in {}", things(places, "place")),
    };
    let left = match left {
        0 => String::new(),
        left => format!(", {} left in the ring", things(left, "entry")),
    };
    let unsent = match unsent {
        0 => String::new(),
        events => format!(
            ", {} not acknowledged: the next recording sends what is still in the ring",
            things(events, "event")
        ),
    };
    let left_out = match is_filtered {
        false => String::new(),
        true => format!(", {} left out by the filter", things(left_out, "event")),
    };
    output::say(format_args!(
        "recorded {events} of {from} to {to} ({size}), {missed} missed{unknown}{left}{left_out}\
         {unsent}"
    ));
}

/// The time at which a run began.
fn moment(created: Option<u64>) -> String {
    let Some(created) = created else {
        return "an unknown time".into();
    };
    let mut clock = WallClock::new(time::TimeFormat::DateTime);
    let text = clock.format(created);
    text.split('.').next().unwrap_or_default().to_string()
}
