//! Acts on firings, over all runs of a program.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use timeline::Attached;
use timeline_latency::Firing;

use super::action::Action;
use super::commands::{self, Commands};
use super::gate::Gates;
use super::line::FiringPrinter;
use super::note::Notes;
use super::raise::Raise;
use super::snapshots::{MOST_PENDING, Snapshots};
use super::{Args, COOLDOWN, nanos};
use crate::failure::Result;
use crate::format::things;
use crate::output;
use crate::signals::{self, SignalledOutput, Signals, WakeReason};

/// The pause between two looks at what is still to be done at the end.
const LOOK: Duration = Duration::from_millis(2);

/// What is printed, saved, raised and run.
pub struct Session<'a> {
    args: &'a Args,
    pub signals: &'a Signals,
    out: SignalledOutput<'a>,
    printer: FiringPrinter,
    pub gates: Gates,
    notes: Notes,
    raise: Option<Raise<'a>>,
    snapshots: Option<Snapshots>,
    commands: Commands,
    start: Instant,
}

impl<'a> Session<'a> {
    /// Fails if an action is not permitted. `start`: when the watch began.
    pub fn new(
        args: &'a Args,
        (at, start): (&Attached, Instant),
        snapshots: Option<Snapshots>,
        signals: &'a Signals,
    ) -> Result<Session<'a>> {
        at.intact()?;
        let raise = args.actions.iter().find_map(|action| match action {
            Action::Priority(level, length) => Some((*level, *length)),
            _ => None,
        });
        let raise = raise.map(|raise| Raise::new(&args.target, &args.trusted, raise));
        let lines = args.actions.iter().filter_map(|action| match action {
            Action::Exec(line) => Some(line.clone()),
            _ => None,
        });
        let cooldown = args.cooldown.unwrap_or(COOLDOWN);
        Ok(Session {
            args,
            signals,
            out: signals.stdout(),
            printer: FiringPrinter::new(args.json),
            gates: Gates::new(args.when.len(), nanos(cooldown), args.max_firings),
            notes: Notes::new(&args.trusted, args.read_only),
            raise: raise.transpose()?,
            snapshots,
            commands: Commands::new(lines),
            start,
        })
    }

    /// The time that is left; `None` if there is no end.
    pub fn left(&self) -> Option<Duration> {
        let duration = self.args.duration?;
        Some(duration.saturating_sub(self.start.elapsed()))
    }

    /// What came too early after another, if that is over and it still holds.
    pub fn due(&mut self, still: impl Fn(&Firing) -> Option<Firing>) -> Vec<Firing> {
        self.gates.due(nanos(self.start.elapsed()), still)
    }

    /// Acts on a firing, unless it comes too early after another of its condition.
    pub fn fire(&mut self, at: &Arc<Attached>, fired: &Firing) -> Result {
        let Some(ignored) = self.gates.pass(fired, nanos(self.start.elapsed())) else {
            return Ok(());
        };
        let condition = &self.args.when[fired.condition];
        // First what cannot wait.
        if let Some(raise) = &mut self.raise {
            raise.begin();
        }
        let path = self.args.target.path();
        let environment = commands::environment(path, condition, fired);
        let snapshots = self.snapshots.as_mut();
        let snapshot = snapshots.and_then(|all| all.plan(at, path, &environment));
        let mut line = Vec::new();
        let shown = snapshot.as_deref();
        (self.printer).print(condition, fired, ignored, shown, &mut line)?;
        let printed = self.out.write_all(&line).and_then(|()| self.out.flush());
        // Even if nobody reads it any more.
        self.notes.write(at, path, condition, fired);
        if snapshot.is_none() {
            self.commands.start(&environment);
        }
        match printed {
            Err(error) if signals::is_interrupted(&error) => self.signals.write_if_room(&line),
            other => other?,
        }
        Ok(())
    }

    /// Does what is due. Returns whether anything is left.
    pub fn work(&mut self) -> bool {
        let mut are_left = false;
        if let Some(snapshots) = &mut self.snapshots {
            for snapshot in snapshots.work() {
                // After the snapshot, so that they find it.
                self.commands.start(&snapshot.environment);
            }
            are_left |= snapshots.are_left();
        }
        are_left |= self.raise.as_mut().is_some_and(Raise::is_raised);
        are_left | (!self.commands.is_empty() && self.commands.reap())
    }

    /// The time until something is due.
    pub fn rest(&self) -> Option<Duration> {
        let snapshot = self.snapshots.as_ref().and_then(Snapshots::rest);
        snapshot.into_iter().chain(self.left()).min()
    }

    /// Another timeline has the name now.
    pub fn next_timeline(&mut self) {
        if let Some(raise) = &mut self.raise {
            raise.next_timeline();
        }
    }

    /// How many snapshots could not be saved.
    pub fn failed(&self) -> u64 {
        self.snapshots.as_ref().map_or(0, Snapshots::failed)
    }

    /// Says on standard error which firings have no snapshot.
    pub fn report(&self) {
        let refused = self.snapshots.as_ref().map_or(0, Snapshots::refused);
        if refused > 0 {
            let firings = things(refused, "firing");
            output::say(format_args!(
                "{firings} without a snapshot: {MOST_PENDING} others were still to be saved; a \
                 longer --cooldown or a shorter --after leaves fewer"
            ));
        }
    }

    /// Restores the level, saves what is pending, and waits for commands. `hurries`: without
    /// waiting for what is not due yet, nor for commands.
    pub fn finish(&mut self, hurries: bool) {
        if !hurries {
            while self.work() {
                if self.signals.wait_for_signal(LOOK) == WakeReason::Interrupted {
                    return self.finish(true);
                }
            }
            return;
        }
        if let Some(raise) = &mut self.raise {
            raise.end();
        }
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.hurry();
        }
        // Somebody who asks again does not want to wait for the disk.
        self.signals.end_at_once(true);
        self.work();
        while self.snapshots.as_ref().is_some_and(Snapshots::are_left) {
            std::thread::sleep(LOOK);
            self.work();
        }
    }
}
