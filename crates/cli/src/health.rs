//! Reports what an archive lacks: entries that were missed, those that are gone, and damaged bytes.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use timeline::internal::files::folder_of;
use timeline_archive::{Archive, has_archive_name};
use timeline_reading::{Holder, Log, Stream};

use crate::failure::{Failure, Result};
use crate::format::{Count, agree, things};
use crate::output;
use crate::recovery;
use crate::unread_lines;

/// Whether something that was recorded could not be read: the exit status says so.
static IS_INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Whether something that was recorded could not be read up to now.
pub fn is_incomplete() -> bool {
    // Relaxed: a flag by itself.
    IS_INCOMPLETE.load(Ordering::Relaxed)
}

/// Notes that something that was recorded could not be read.
pub fn note_incomplete() {
    // Relaxed: a flag by itself.
    IS_INCOMPLETE.store(true, Ordering::Relaxed);
}

/// Says on standard error how much was missed and how much is damaged, if anything. `lost` is the
/// number of events that could not be read.
pub fn report(path: &Path, archive: &Archive, lost: u64) {
    let path = path.display();
    if archive.missed() > 0 {
        let missed = things(archive.missed(), "entry");
        say(format_args!(
            "{path}: {missed} missed, overwritten before they were recorded"
        ));
    }
    if archive.missed_unknown() > 0 {
        let places = things(archive.missed_unknown(), "place");
        say(format_args!(
            "{path}: events before {places} may be missing, because no recorder ran between two \
             runs"
        ));
    }
    if archive.repeated() > 0 {
        let entries = things(archive.repeated(), "entry");
        say(format_args!(
            "{path}: {entries} stand in more than one frame, so events may come twice"
        ));
    }
    if let Some(texts) = recovery::told(archive).filter(|_| archive.recovery().is_some()) {
        say(format_args!("{path}: recovered {texts}"));
    }
    if let Some(damage) = damage(archive, lost) {
        say(format_args!("{path}: {damage}"));
    }
}

/// Says it, unless it was said before: some verbs read a log twice.
fn say(what: fmt::Arguments) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(what.to_string()) {
        output::say(what);
    }
}

/// Says on standard error what a log lacks that was read. Fails if a timeline was damaged while it
/// was read.
pub fn report_stream(stream: &Stream) -> Result {
    report_log(stream.log(), stream.outcome()?.lost);
    Ok(())
}

/// Says on standard error what a log lacks of which `lost` events could not be read.
pub fn report_log(log: &Log, lost: u64) {
    match log.holder() {
        Holder::Ring(at) => unread_lines::tell(at),
        Holder::Archive(archive) => report(log.path(), archive, lost),
    }
}

/// The number of entries that were missed, as far as it is known.
pub fn missed(counted: u64, unknown: u64) -> String {
    let counted = Count(counted);
    match unknown {
        0 => counted.to_string(),
        places => format!(
            "{counted}, and an unknown number in {}",
            things(places, "place")
        ),
    }
}

/// Refuses to write a file into the directory of the archive, which would then hold its events
/// twice.
pub fn refuse_own_file(archive: &Path, out: &Path) -> Result {
    let same = |one: &Path, other: &Path| {
        one.canonicalize()
            .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
    };
    if has_archive_name(out) && same(archive, folder_of(out)) {
        let (out, archive) = (out.display(), archive.display());
        return Err(Failure::Message(format!(
            "{out} would become one of the files of {archive}, which would then hold its events \
             twice; choose a file outside of it"
        )));
    }
    Ok(())
}

/// Refuses an archive without a whole frame.
pub fn refuse_empty(path: &Path, archive: &Archive) -> Result {
    match archive.frames() {
        0 => Err(Failure::Message(format!(
            "{} has no whole frame, so there is nothing to write",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// The damage, in one line. That something is damaged or gone counts for the exit status.
pub fn damage(archive: &Archive, lost: u64) -> Option<String> {
    let places = archive.damage_at_rest();
    let count = places.iter().map(ExactSizeIterator::len).sum::<usize>() as u64;
    let bytes = things(count, "byte");
    let mut told = Vec::new();
    match places {
        [] => {}
        [tail] if tail.end == archive.bytes().len() => {
            let are = agree(count, "is", "are");
            told.push(format!("the last {bytes} {are} not a whole frame"));
        }
        _ => {
            let places = things(places.len() as u64, "place");
            let belong = agree(count, "belongs", "belong");
            told.push(format!("{bytes} in {places} {belong} to no whole frame"));
        }
    }
    told.extend(unreadable(archive, lost));
    if archive.gone() > 0 {
        let entries = things(archive.gone(), "entry");
        let are = agree(archive.gone(), "is", "are");
        let were = agree(archive.gone(), "was", "were");
        let places = things(archive.holes().len() as u64, "place");
        told.push(format!(
            "{entries} that {were} recorded {are} gone in {places}, damaged or removed"
        ));
    }
    if archive.missing_files() > 0 {
        let files = things(archive.missing_files(), "file");
        let are = agree(archive.missing_files(), "is", "are");
        told.push(format!("{files} {are} missing between the others"));
    }
    if archive.has_unknown_holes() {
        told.push("nobody knows how many entries are gone in how many places".into());
    }
    if told.is_empty() {
        return None;
    }
    note_incomplete();
    Some(told.join(", and "))
}

/// Why `lost` events cannot be read from their blocks: the codec is not known, or the block is
/// damaged.
pub fn unreadable(archive: &Archive, lost: u64) -> Vec<String> {
    let other = archive.other_codecs().min(lost);
    let told = |count, why: &str| (count > 0).then(|| format!("{} {why}", things(count, "event")));
    let broken = told(lost - other, "cannot be read from their blocks");
    let other = told(
        other,
        "in blocks of a codec not known here; a later version may read them",
    );
    broken.into_iter().chain(other).collect()
}
