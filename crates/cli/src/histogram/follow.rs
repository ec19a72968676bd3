//! Goes on with the events that come to a live timeline, or to an archive that is recorded.
//! It also goes on with the next runs of a program.

use std::time::{Duration, Instant};

use timeline::FollowFrom;
use timeline_latency::intervals::IntervalLoss;
use timeline_latency::{Lack, Measure};
use timeline_reading::{Extent, Log};
use timeline_search::Query;
use timeline_worker::Pause;

use super::Args;
use super::output::{About, HistogramOutput};
use super::recording::{HistogramRecorder, check_series, unit};
use crate::durations::{Finding, refuse_unknown};
use crate::failure::{Failure, Result};
use crate::fetch::{self, Excerpt};
use crate::growth;
use crate::output;
use crate::restart::{self, FollowEnd, Restart};
use crate::signals::{Signals, WakeReason};
use crate::time::now;
use crate::unknown_names;

/// For this time events are still read after a signal.
const REST: Duration = Duration::from_millis(1000);

/// Prints or writes intervals until a signal comes, or nothing can come any more.
pub fn run(args: &Args) -> Result {
    let signals = Signals::catch()?;
    let query = args.filters.query();
    let measures = args.measures()?;
    let mut log = args.target.open_wanted(Extent::Whole, &Excerpt::Growing)?;
    refuse_unknown(log.source(), &measures, log.can_grow())?;
    match log.ring() {
        Some(_) => unknown_names::tell_so_far(&query, &[&log]),
        None => unknown_names::tell(&query, &[&log]),
    }
    let mut following = Following {
        args,
        signals: &signals,
        query: &query,
        measures: &measures,
        recording: HistogramRecorder::new(args, &measures)?,
        output: HistogramOutput::new(args, About::of(&args.target, &measures))?,
        end: None,
    };
    let mut begin = (FollowFrom::Now, now());
    while let FollowEnd::Replaced(next) = following.run(&log, begin)? {
        if let Some(before) = log.ring() {
            restart::report(before, &next);
        }
        // Of the next run, even the first events matter.
        begin = (FollowFrom::Start, next.info().created_unix_nanos);
        log = Log::of_ring(args.target.path(), next);
        following.recording.next_source();
    }
    following.output.finish()?;
    following.recording.report();
    fetch::intact()
}

/// What goes on from one run of the program to the next.
struct Following<'a> {
    args: &'a Args,
    signals: &'a Signals,
    query: &'a Query,
    measures: &'a [Measure],
    recording: HistogramRecorder,
    output: HistogramOutput<'a>,
    /// The time of the signal, and until when events that were logged before it are still read:
    /// they have no end where more come than can be read, all of earlier times.
    end: Option<(u64, Instant)>,
}

impl Following<'_> {
    /// Follows one timeline or archive until it ends, or another timeline takes its name. What
    /// comes is of after the second part of `begin`.
    fn run(&mut self, log: &Log, begin: (FollowFrom, u64)) -> Result<FollowEnd> {
        let (args, (from, mut read_at)) = (self.args, begin);
        let mut events = log.follow(from)?;
        let mut finding = Finding::new(log, self.measures, &args.durations, self.query);
        let live = log.ring().filter(|at| !at.is_snapshot());
        let mut restart = live.map(|at| Restart::new(at, args.target.path()));
        let (mut pause, mut batch, mut next) = (Pause::new(), Vec::new(), None);
        // The last time at which surely no other timeline had the name.
        let mut alone_at = read_at;
        let ended = loop {
            // Before the last look, so that no event is left that came before this.
            let (is_live, time) = (events.goes_on(), now());
            let is_due = match &mut restart {
                Some(restart) => next.is_none() && (restart.is_due() || self.end.is_some()),
                None => true,
            };
            if is_due {
                next = restart.as_mut().and_then(Restart::next);
                alone_at = if next.is_none() { time } else { alone_at };
            }
            batch.clear();
            let look = events.look(&mut batch)?;
            for what in &look.lacks {
                self.miss(*what, (read_at, now()));
            }
            for event in &batch {
                let recording = &mut self.recording;
                finding.add(event, |series, found| recording.add(series, &found));
            }
            self.recording.check()?;
            check_series(args, &finding.matcher)?;
            // A batch need not have all events that were logged before `time`, and the events of
            // the next timeline may be as old as the last time at which there was none.
            let newest = batch.last();
            let reached = newest.map_or(Some(alone_at), |event| log.source().time(event));
            if let Some(reached) = reached {
                self.recording.intervals.pass(reached);
            }
            read_at = read_at.max(reached.unwrap_or(0));
            let intervals = &mut self.recording.intervals;
            self.output
                .take(intervals, unit(finding.matcher.series()))?;
            let is_idle = look.is_idle;
            if self.has_ended(reached, is_idle) {
                break FollowEnd::Done;
            }
            if is_idle && let Some(next) = next {
                break FollowEnd::Replaced(Box::new(next));
            }
            if is_idle && !is_live {
                break FollowEnd::Done;
            }
            match self.signals.wait(pause.after(!batch.is_empty())) {
                WakeReason::Timeout => {}
                WakeReason::Interrupted => {
                    (self.end).get_or_insert_with(|| (now(), Instant::now() + REST));
                    // Somebody who asks again does not want to wait.
                    self.signals.end_at_once(true);
                }
                WakeReason::OutputClosed => return Err(Failure::ClosedPipe),
            }
        };
        if let FollowEnd::Done = ended {
            self.recording.intervals.finish();
        }
        let intervals = &mut self.recording.intervals;
        self.output
            .take(intervals, unit(finding.matcher.series()))?;
        finding.report();
        Ok(ended)
    }

    /// Whether a signal came, and all is read that was logged before it, as far as there was time.
    fn has_ended(&self, reached: Option<u64>, is_idle: bool) -> bool {
        let Some((end, until)) = self.end else {
            return false;
        };
        let is_late = Instant::now() >= until;
        let has_all = reached.is_some_and(|reached| reached >= end);
        if is_late && !has_all && !is_idle {
            output::say("the signal came before all events were read; the rest is left");
        }
        has_all || is_late
    }

    /// Says what is missing, wherever durations are shown.
    fn miss(&mut self, what: Lack, (since, until): (u64, u64)) {
        growth::say(what, growth::SPANS);
        let until = until.max(since);
        self.output.miss(IntervalLoss { what, since, until });
    }
}
