//! Goes on with the events that come to a live timeline, or to an archive that is recorded.

use timeline::{Event, FollowFrom};
use timeline_archive::Archive;

use super::Args;
use super::output::{About, Output};
use super::recording::{Recording, check_series, unit};
use crate::durations::Finding;
use crate::failure::{Failure, Result};
use crate::reading::Reading;
use crate::signals::{Pause, Signals, Woken};
use crate::time::now;

/// Prints or writes intervals until a signal comes, or nothing can come any more.
pub fn run(args: &Args) -> Result {
    let signals = Signals::catch()?;
    let query = args.filters.query();
    let measures = args.measures()?;
    let reading = Reading::open_whole(&args.target)?;
    let mut events = New::of(&reading)?;
    let mut finding = Finding::new(&reading, &measures, &args.durations, &query);
    let mut recording = Recording::new(args, &measures)?;
    let mut output = Output::new(args, About::of(&args.target, &measures))?;
    let (mut pause, mut batch) = (Pause::new(), Vec::new());
    // The time of the signal. Events that were logged before it are still read.
    let mut end = None;
    loop {
        // Before the last look, so that no event is left that came before this.
        let (is_live, time) = (events.are_to_come(), now());
        batch.clear();
        events.poll(&mut batch)?;
        for event in &batch {
            finding.add(event, |series, found| recording.add(series, &found));
        }
        recording.check()?;
        check_series(args, &finding.matcher)?;
        // A batch need not have all events that were logged before `time`.
        let newest = batch.last();
        let reached = newest.map_or(Some(time), |event| reading.source().time(event));
        if let Some(reached) = reached {
            recording.intervals.pass(reached);
        }
        output.take(&mut recording.intervals, unit(finding.matcher.series()))?;
        let is_over = end.is_some_and(|end| reached.is_some_and(|reached| reached >= end));
        if is_over || (batch.is_empty() && !is_live) {
            break;
        }
        match signals.wait(pause.after(!batch.is_empty())) {
            Woken::Timeout => {}
            Woken::Interrupted => {
                end.get_or_insert_with(now);
                // Somebody who asks again does not want to wait.
                signals.end_at_once(true);
            }
            Woken::OutputClosed => return Err(Failure::ClosedPipe),
        }
    }
    recording.intervals.finish();
    output.take(&mut recording.intervals, unit(finding.matcher.series()))?;
    output.finish()?;
    finding.report();
    recording.report();
    Ok(())
}

/// The events that come.
enum New<'a> {
    Ring(&'a timeline::Attached, Box<timeline::Follow<'a>>),
    Archive(Box<timeline_archive::ArchiveFollow<'a>>),
}

impl<'a> New<'a> {
    fn of(reading: &'a Reading) -> Result<New<'a>> {
        let of_archive = |archive: &'a Archive| -> Result<New<'a>> {
            Ok(New::Archive(Box::new(archive.follow()?)))
        };
        match (reading.ring(), reading.archive()) {
            (Some(at), _) => Ok(New::Ring(at, Box::new(at.follow(FollowFrom::Now)))),
            (_, Some(archive)) => of_archive(archive),
            (None, None) => Err(Failure::Message("nothing can be followed here".into())),
        }
    }

    /// Whether more may come than is there now.
    fn are_to_come(&self) -> bool {
        match self {
            New::Ring(at, _) => !at.is_snapshot() && !at.replaced(),
            New::Archive(follow) => follow.is_recorded(),
        }
    }

    /// Appends the events that are new.
    fn poll(&mut self, batch: &mut Vec<Event>) -> Result {
        match self {
            New::Ring(at, follow) => {
                follow.poll(batch);
                at.intact()?;
            }
            New::Archive(follow) => {
                follow.poll(batch)?;
            }
        }
        Ok(())
    }
}
