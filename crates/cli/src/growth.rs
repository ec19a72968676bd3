//! Follows an archive that grows, and says what followers miss: the same for all verbs.

use std::mem;
use std::time::{Duration, Instant};

use timeline::Event;
use timeline_archive::{Archive, ArchiveFollow, WatchMark};
use timeline_latency::intervals::Lack;

use crate::failure::Result;
use crate::format::{agree, things};
use crate::health;
use crate::output;

/// How often the recorder is told that somebody waits for events.
const RENEW: Duration = Duration::from_secs(1);

/// The events that are recorded from now on, and what is missing among them. Their recorder writes
/// them at once while somebody has this.
pub struct GrowthReader<'a> {
    follow: Box<ArchiveFollow<'a>>,
    watched: WatchMark,
    /// When the recorder was told last.
    told_at: Option<Instant>,
    /// What was told of places that nobody can count, of bytes, of files and of entries.
    told: [u64; 4],
}

impl<'a> GrowthReader<'a> {
    /// Begins behind the events that the archive had when it was opened.
    pub fn of(archive: &'a Archive) -> Result<GrowthReader<'a>> {
        let follow = Box::new(archive.follow()?);
        Ok(GrowthReader {
            watched: WatchMark::new(follow.path()),
            follow,
            told_at: None,
            told: [0; 4],
        })
    }

    /// Whether a recorder writes to it. To be asked before a poll.
    pub fn is_recorded(&mut self) -> bool {
        let is_recorded = self.follow.is_recorded();
        if is_recorded && self.told_at.is_none_or(|told| told.elapsed() > RENEW) {
            self.told_at = Some(Instant::now());
            // Where no file can be made, events come up to a second late.
            let _ = self.watched.renew();
        }
        is_recorded
    }

    /// Appends the events that are new. Returns what is missing since the last poll.
    pub fn poll(&mut self, batch: &mut Vec<Event>) -> Result<Vec<Lack>> {
        let missed = self.follow.poll(batch)?;
        let follow = &self.follow;
        let now = [
            follow.missed_unknown(),
            follow.damaged(),
            follow.removed(),
            follow.gone(),
        ];
        let before = mem::replace(&mut self.told, now);
        let [unknown, damaged, removed, gone] =
            [0, 1, 2, 3].map(|one: usize| now[one].saturating_sub(before[one]));
        let lacks = [
            (missed, Lack::Unrecorded(missed)),
            (unknown, Lack::Unknown),
            (damaged, Lack::Damaged(damaged)),
            (removed, Lack::Removed(removed)),
            (gone, Lack::Gone(gone)),
        ];
        let lacks = lacks.into_iter().filter(|(count, _)| *count > 0);
        Ok(lacks.map(|(_, lack)| lack).collect())
    }
}

impl Drop for GrowthReader<'_> {
    fn drop(&mut self) {
        if self.told_at.is_some() {
            self.watched.end();
        }
    }
}

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
    }
}

/// What comes of it where spans are measured.
pub const SPANS: &str = ": open spans are forgotten";
