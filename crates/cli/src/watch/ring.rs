//! Watches a ring, and each one that takes its name later.

use std::sync::Arc;
use std::time::Duration;

use timeline::{Attached, Follow, FollowFrom};
use timeline_latency::Lack;
use timeline_latency::{Firing, Triggers};
use timeline_reading::Log;
use timeline_search::Query;

use super::note::is_own;
use super::session::Session;
use super::{Args, nanos};
use crate::disabled_events::{self, Least};
use crate::failure::{Failure, Result};
use crate::growth;
use crate::output;
use crate::restart::{self, FollowEnd, Restart};
use crate::signals::WakeReason;
use crate::time;
use crate::unknown_names;

/// Why a watch has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It has fired often enough.
    Enough,
    /// Its time is over, or a signal came.
    Stopped,
}

/// The pauses between two looks: while nothing is logged, while events come, and while so many come
/// that they could be overwritten unread.
const QUIET: Duration = Duration::from_millis(10);
const BUSY: Duration = Duration::from_millis(8);
const CROWDED: Duration = Duration::from_millis(1);
/// A look that finds one of so many parts of the ring is crowded.
const CROWD: u64 = 8;

/// Watches until it is enough, or interrupted.
pub fn watch(
    (mut at, mut from): (Arc<Attached>, FollowFrom),
    args: &Args,
    session: &mut Session<'_>,
) -> Result<End> {
    let query = args.filters.query();
    let mut is_first = true;
    loop {
        let this = Arc::clone(&at);
        let mut watcher = Watcher::new(&this, args, &query, from);
        if std::mem::replace(&mut is_first, false) {
            let path = args.target.path();
            output::say(format_args!("watching {}; Ctrl-C stops", path.display()));
            unknown_names::tell_so_far(&query, &[&Log::of_ring(path, Arc::clone(&this))]);
            disabled_events::tell(&this, Least::One, |definition| {
                let mut conditions = args.when.iter();
                conditions.any(|one| one.concerns(definition))
            });
        }
        let (ended, end) = watcher.run(session)?;
        match ended {
            FollowEnd::Done => return Ok(end),
            FollowEnd::Replaced(next) => {
                restart::report(&this, &next);
                at = Arc::from(next);
                session.next_timeline();
            }
        }
        // Of the next run, even the first events matter.
        from = FollowFrom::Start;
    }
}

/// Watches one timeline until it ends.
struct Watcher<'a> {
    at: &'a Arc<Attached>,
    follow: Follow<'a>,
    triggers: Triggers<'a>,
    fired: Vec<Firing>,
    restart: Restart<'a>,
    /// Important events before this time, in nanoseconds since 1970, are of before the watch.
    begin: u64,
    entries: u64,
}

/// What a look has found.
struct Look {
    missed: u64,
    entries: u64,
    /// Whether all that was logged by then is read.
    is_all: bool,
}

impl<'a> Watcher<'a> {
    fn new(
        at: &'a Arc<Attached>,
        args: &'a Args,
        query: &'a Query,
        from: FollowFrom,
    ) -> Watcher<'a> {
        let triggers = Triggers::new(&args.when, query, &**at)
            .holding(args.hold.map_or(0, nanos))
            .leaving_out(is_own);
        Watcher {
            at,
            begin: match from {
                FollowFrom::Now => time::now(),
                _ => 0,
            },
            follow: at.follow(from),
            triggers,
            fired: Vec::new(),
            restart: Restart::new(at, args.target.path()),
            entries: at.info().entries,
        }
    }

    fn look(&mut self) -> Look {
        // In this order: all events of before `now` are among those that are held.
        let now = time::now();
        let held = self.follow.committed();
        let missed = self.follow.poll_placed();
        let (triggers, fired) = (&mut self.triggers, &mut self.fired);
        let mut tell = |one| fired.push(one);
        let mut entries = 0;
        while let Some(placed) = self.follow.next_important() {
            entries += 1;
            let time = self.at.unix_nanos(placed.event.ticks);
            if time.is_some_and(|time| time >= self.begin) {
                triggers.add(&placed.event, &mut tell);
            }
        }
        while let Some(entry) = self.follow.next_entry() {
            entries += entry.entries() as u64;
            let make = || self.follow.placed_event(&entry).event;
            triggers.add_entry(&entry, make, &mut tell);
        }
        let is_all = self.follow.left_of(&held) == 0;
        if is_all {
            triggers.tick(now, &mut tell);
        }
        Look {
            missed,
            entries,
            is_all,
        }
    }

    fn run(&mut self, session: &mut Session<'_>) -> Result<(FollowEnd, End)> {
        let (mut next, mut is_last) = (None, false);
        loop {
            // Before the last look, so that no event is left that was logged before this check.
            if next.is_none() && self.restart.is_due() {
                next = self.restart.next();
            }
            self.triggers.notice_renames();
            let look = self.look();
            self.at.intact()?;
            if look.missed > 0 {
                growth::say(Lack::Unread(look.missed), growth::SPANS);
            }
            for fired in std::mem::take(&mut self.fired) {
                session.fire(self.at, &fired)?;
            }
            let now = time::now();
            for held in session.due(|held| self.triggers.still(held, now)) {
                session.fire(self.at, &held)?;
            }
            session.work();
            if session.gates.are_closed() {
                return Ok((FollowEnd::Done, End::Enough));
            }
            let is_idle = look.entries == 0 && look.missed == 0;
            if is_idle && let Some(next) = next {
                self.end(session)?;
                return Ok((FollowEnd::Replaced(Box::new(next)), End::Stopped));
            }
            if is_last {
                return Ok((FollowEnd::Done, End::Stopped));
            }
            let pause = self.pause(&look).min(session.rest().unwrap_or(QUIET));
            let woken = session.signals.wait(pause);
            if woken == WakeReason::OutputClosed {
                return Err(Failure::ClosedPipe);
            }
            // Once more, so that nothing is left that was logged before the signal.
            let is_over = session.left().is_some_and(|left| left.is_zero());
            is_last = is_over || woken == WakeReason::Interrupted;
        }
    }

    /// Judges the last windows of a timeline that nobody logs to any more, as if they were over.
    fn end(&mut self, session: &mut Session<'_>) -> Result {
        let mut fired = Vec::new();
        let end = self.triggers.end(&mut |one| fired.push(one));
        self.triggers.advance(end, &mut |one| fired.push(one));
        fired.iter().try_for_each(|one| session.fire(self.at, one))
    }

    fn pause(&self, look: &Look) -> Duration {
        match look {
            Look { is_all: false, .. } => Duration::ZERO,
            Look { entries: 0, .. } => QUIET,
            Look { entries, .. } if *entries > self.entries / CROWD => CROWDED,
            _ => BUSY,
        }
    }
}
