//! Follows an archive that is recorded.

use std::time::{Duration, Instant};

use timeline::Event;
use timeline_archive::{Archive, ArchiveFollow, WatchMark};
use timeline_latency::Lack;

use super::lack_meter::{AppendedLacks, LackMeter};
use crate::error::{Error, Result};

/// How often the recorder is told that somebody waits for events.
const RENEW: Duration = Duration::from_secs(1);

/// The events that are recorded from now on, and what is missing among them. Their recorder writes
/// them at once while somebody has this.
pub struct GrowthReader<'a> {
    follow: Box<ArchiveFollow<'a>>,
    watched: WatchMark,
    /// When the recorder was told last.
    told_at: Option<Instant>,
    meter: LackMeter,
}

impl<'a> GrowthReader<'a> {
    /// Begins behind the events that the archive had when it was opened.
    pub fn of(archive: &'a Archive) -> Result<GrowthReader<'a>> {
        let follow = Box::new(archive.follow().map_err(Error::Archive)?);
        Ok(GrowthReader {
            watched: WatchMark::new(follow.path()),
            follow,
            told_at: None,
            meter: LackMeter::default(),
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
        let follow = &mut self.follow;
        let missed = follow.poll(batch).map_err(Error::Archive)?;
        let now = AppendedLacks {
            unknown: follow.missed_unknown(),
            damaged: follow.damaged(),
            removed: follow.removed(),
            gone: follow.gone(),
        };
        Ok(self.meter.lacks(missed, now))
    }
}

impl Drop for GrowthReader<'_> {
    fn drop(&mut self) {
        if self.told_at.is_some() {
            self.watched.end();
        }
    }
}
