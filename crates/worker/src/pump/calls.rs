//! The calls of a pump that take a time: they record, write and wait until it is over.

use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use timeline::FollowFrom;
use timeline_archive::Totals;

use super::{Pump, PumpStage, PumpStep, Subject};
use crate::error::Result;

/// For this time the ring is still read at the end.
const REST: Duration = Duration::from_millis(1500);
/// The pause between two questions whether all has arrived.
const QUESTION: Duration = Duration::from_millis(1);

impl Pump {
    /// Records for this time what was logged, a step at least, and returns whether that was all. It
    /// waits neither for a disk to have room nor for another machine. It returns later than asked
    /// by a step at most, and by what the system takes to write and to sync a file: where that
    /// matters, choose [`Fsync::Never`](timeline_archive::Fsync).
    ///
    /// What it recorded may wait up to a second for more to be written with it:
    /// [`Pump::flush`] writes it at once.
    ///
    /// # Errors
    /// Those of [`Pump::step`].
    pub fn update(&mut self, most: Duration) -> Result<bool> {
        let until = Instant::now() + most;
        loop {
            match self.step()? {
                PumpStep::Idle => return Ok(!self.is_full() && self.trouble().is_none()),
                PumpStep::Waiting => return Ok(false),
                _ if Instant::now() >= until => return Ok(false),
                _ => {}
            }
        }
    }

    /// Writes what was logged before this call, and waits until it is written, or has arrived if it
    /// is sent. Returns whether that was done within this time.
    ///
    /// # Errors
    /// Those of [`Pump::step`].
    pub fn flush(&mut self, most: Duration) -> Result<bool> {
        self.flush_until(Instant::now() + most, &mut |_| {})
    }

    /// Likewise, until that time. What is in the way is told while it waits.
    pub(crate) fn flush_until(
        &mut self,
        until: Instant,
        tell: &mut dyn FnMut(&mut Pump),
    ) -> Result<bool> {
        let mut left = self.wind_up_telling(until, || true, tell)?;
        while !self.write() {
            if Instant::now() >= until {
                return Ok(false);
            }
            tell(self);
            thread::sleep(QUESTION);
            // Otherwise nothing is recorded: a program that logs on would be waited for, too.
            if self.unread() > self.most_unread {
                self.step()?;
            }
            if self.ask(|recorder| recorder.is_cut_off()) == Some(true) {
                self.step()?;
                left = self.wind_up_telling(until, || true, tell)?;
            }
        }
        Ok(left == 0)
    }

    /// Writes what waits to be written with more, without waiting. Returns whether all that was
    /// recorded is written, or has arrived if it is sent.
    pub fn write(&mut self) -> bool {
        match &self.stage {
            Some(PumpStage::Room(_) | PumpStage::Former(_) | PumpStage::Question(..)) => false,
            _ => self.ask(|recorder| recorder.flush()).unwrap_or(true),
        }
    }

    /// Records what was logged before this call, until that time, or until `go_on` says no. Returns
    /// how many of these entries are left in the ring; unknown if it is not known what is recorded.
    ///
    /// # Errors
    /// Those of [`Pump::step`].
    pub fn wind_up(&mut self, until: Instant, go_on: impl Fn() -> bool) -> Result<u64> {
        self.wind_up_telling(until, go_on, &mut |_| {})
    }

    fn wind_up_telling(
        &mut self,
        until: Instant,
        go_on: impl Fn() -> bool,
        tell: &mut dyn FnMut(&mut Pump),
    ) -> Result<u64> {
        while !matches!(
            self.stage,
            None | Some(
                PumpStage::Recording(_, Subject::Own | Subject::OwnAgain) | PumpStage::Ended(_)
            )
        ) && Instant::now() < until
            && go_on()
        {
            if let PumpStep::Waiting | PumpStep::Idle = self.step()? {
                tell(self);
                thread::sleep(QUESTION);
            }
        }
        self.refuse_child()?;
        let left = self.ask(|recorder| recorder.wind_up(until, go_on));
        Ok(left.unwrap_or(0))
    }

    /// Ends the recording: records what was logged before this call, for at most a second and a
    /// half, writes it, makes it durable, and waits for a store for at most two seconds. Returns
    /// the results. Later calls do nothing.
    ///
    /// # Errors
    /// Those of [`Pump::step`].
    pub fn end(&mut self) -> Result<Totals> {
        self.wind_up(Instant::now() + REST, || true)?;
        self.finish(true)
    }

    /// Ends the recording: what waits is written, and is made as durable as the output promises if
    /// `is_durable`. What is still in the ring stays there, unless [`Pump::wind_up`] recorded it
    /// before. Returns the results.
    ///
    /// # Errors
    /// `ForkedProcess`.
    pub fn finish(&mut self, is_durable: bool) -> Result<Totals> {
        self.refuse_child()?;
        if !self.has_begun() {
            // Nobody knows yet what of it is recorded elsewhere.
            self.totals.left = self.at.follow(FollowFrom::Oldest).unread();
        }
        let output = match self.stage.take() {
            None | Some(PumpStage::Room(_)) => return Ok(self.totals),
            Some(PumpStage::Recording(run, subject)) => self.close(run, subject, is_durable),
            Some(
                PumpStage::Former(output)
                | PumpStage::Question(output, _)
                | PumpStage::Ended(output),
            ) => output,
        };
        self.stage = Some(PumpStage::Ended(output));
        Ok(self.totals)
    }
}

/// Records what is in the ring. In a forked child it does nothing.
impl Drop for Pump {
    fn drop(&mut self) {
        if self.is_child() {
            // The files, their locks and the connection are the parent's.
            mem::forget(self.stage.take());
            return;
        }
        // Nobody is left to be told.
        let _ = self.end();
    }
}
