//! Goes on with the events that come to a live timeline, or to an archive that is recorded.
//! It also goes on with the next runs of a program.

use timeline::{Event, FollowFrom};
use timeline_archive::Archive;
use timeline_latency::Measure;
use timeline_latency::intervals::Missed;
use timeline_search::Query;

use super::Args;
use super::output::{About, Output};
use super::recording::{Recording, check_series, unit};
use crate::durations::{Finding, refuse_unknown};
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::output as messages;
use crate::reading::Reading;
use crate::restart::{self, Ended, Restart};
use crate::signals::{Pause, Signals, Woken};
use crate::target::Opened;
use crate::time::now;

/// Prints or writes intervals until a signal comes, or nothing can come any more.
pub fn run(args: &Args) -> Result {
    let signals = Signals::catch()?;
    let query = args.filters.query();
    let measures = args.measures()?;
    let mut reading = Reading::open_whole(&args.target)?;
    refuse_unknown(reading.source(), &measures, reading.can_grow())?;
    let mut following = Following {
        args,
        signals: &signals,
        query: &query,
        measures: &measures,
        recording: Recording::new(args, &measures)?,
        output: Output::new(args, About::of(&args.target, &measures))?,
        end: None,
    };
    let mut from = FollowFrom::Now;
    while let Ended::Replaced(next) = following.run(&reading, from)? {
        if let Some(before) = reading.ring() {
            restart::report(before, &next);
        }
        reading = Reading::of(&args.target, Opened::Ring(next));
        following.recording.next_source();
        // Of the next run, even the first events matter.
        from = FollowFrom::Start;
    }
    following.output.finish()?;
    following.recording.report();
    Ok(())
}

/// What goes on from one run of the program to the next.
struct Following<'a> {
    args: &'a Args,
    signals: &'a Signals,
    query: &'a Query,
    measures: &'a [Measure],
    recording: Recording,
    output: Output<'a>,
    /// The time of the signal. Events that were logged before it are still read.
    end: Option<u64>,
}

impl Following<'_> {
    /// Follows one timeline or archive until it ends, or another timeline takes its name.
    fn run(&mut self, reading: &Reading, from: FollowFrom) -> Result<Ended> {
        let args = self.args;
        let mut events = New::of(reading, from)?;
        let mut finding = Finding::new(reading, self.measures, &args.durations, self.query);
        let live = reading.ring().filter(|at| !at.is_snapshot());
        let mut restart = live.map(|at| Restart::new(at, args.target.path()));
        let (mut pause, mut batch, mut next) = (Pause::new(), Vec::new(), None);
        let mut read_at = now();
        let ended = loop {
            // Before the last look, so that no event is left that came before this.
            let (is_live, time) = (events.are_to_come(), now());
            if let Some(restart) = restart.as_mut().filter(|_| next.is_none())
                && restart.is_due()
            {
                next = restart.next();
            }
            batch.clear();
            let missed = events.poll(&mut batch)?;
            if missed > 0 {
                self.miss(missed, (read_at, now()))?;
            }
            for event in &batch {
                let recording = &mut self.recording;
                finding.add(event, |series, found| recording.add(series, &found));
            }
            self.recording.check()?;
            check_series(args, &finding.matcher)?;
            // A batch need not have all events that were logged before `time`.
            let newest = batch.last();
            let reached = newest.map_or(Some(time), |event| reading.source().time(event));
            if let Some(reached) = reached {
                self.recording.intervals.pass(reached);
            }
            read_at = reached.unwrap_or(read_at);
            let intervals = &mut self.recording.intervals;
            self.output
                .take(intervals, unit(finding.matcher.series()))?;
            let end = self.end;
            if end.is_some_and(|end| reached.is_some_and(|reached| reached >= end)) {
                break Ended::Done;
            }
            let is_idle = batch.is_empty() && missed == 0;
            if is_idle && let Some(next) = next {
                break Ended::Replaced(Box::new(next));
            }
            if is_idle && !is_live {
                break Ended::Done;
            }
            match self.signals.wait(pause.after(!batch.is_empty())) {
                Woken::Timeout => {}
                Woken::Interrupted => {
                    self.end.get_or_insert_with(now);
                    // Somebody who asks again does not want to wait.
                    self.signals.end_at_once(true);
                }
                Woken::OutputClosed => return Err(Failure::ClosedPipe),
            }
        };
        if let Ended::Done = ended {
            self.recording.intervals.finish();
        }
        let intervals = &mut self.recording.intervals;
        self.output
            .take(intervals, unit(finding.matcher.series()))?;
        finding.report();
        Ok(ended)
    }

    /// Says where entries are missing, wherever durations are shown.
    fn miss(&mut self, entries: u64, (since, until): (u64, u64)) -> Result {
        let what = things(entries, "entry");
        messages::say(format_args!(
            "{what} missed here, overwritten before they were read: open spans are forgotten"
        ));
        self.output.miss(&Missed {
            entries,
            since,
            until,
        })
    }
}

/// The events that come.
enum New<'a> {
    Ring(&'a timeline::Attached, Box<timeline::Follow<'a>>),
    Archive(Box<timeline_archive::ArchiveFollow<'a>>),
}

impl<'a> New<'a> {
    fn of(reading: &'a Reading, from: FollowFrom) -> Result<New<'a>> {
        let of_archive = |archive: &'a Archive| -> Result<New<'a>> {
            Ok(New::Archive(Box::new(archive.follow()?)))
        };
        match (reading.ring(), reading.archive()) {
            (Some(at), _) => Ok(New::Ring(at, Box::new(at.follow(from)))),
            (_, Some(archive)) => of_archive(archive),
            (None, None) => Err(Failure::Message("nothing can be followed here".into())),
        }
    }

    /// Whether more may come than is there now.
    fn are_to_come(&self) -> bool {
        match self {
            New::Ring(at, _) => !at.is_snapshot(),
            New::Archive(follow) => follow.is_recorded(),
        }
    }

    /// Appends the events that are new. Returns how many entries were missed.
    fn poll(&mut self, batch: &mut Vec<Event>) -> Result<u64> {
        match self {
            New::Ring(at, follow) => {
                let missed = follow.poll(batch);
                at.intact()?;
                Ok(missed)
            }
            New::Archive(follow) => Ok(follow.poll(batch)?),
        }
    }
}
