//! Says how far a pump is, and what is in its way.

use std::sync::Arc;

use timeline::Attached;
use timeline_archive::{FileChange, OutputTrouble, Preamble, Totals};

use super::{Pump, PumpStage, Subject, counted};

impl Pump {
    /// The timeline that is recorded.
    pub fn at(&self) -> &Arc<Attached> {
        &self.at
    }

    /// Whether it has begun to record that timeline, or has ended.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(
            self.stage,
            Some(
                PumpStage::Room(_)
                    | PumpStage::Former(_)
                    | PumpStage::Question(_, Subject::Former | Subject::Own)
                    | PumpStage::Recording(_, Subject::Former)
            )
        )
    }

    /// Whether the run before that one is recorded at present, or is about to be.
    pub fn is_former(&self) -> bool {
        matches!(
            self.stage,
            Some(
                PumpStage::Former(_)
                    | PumpStage::Question(_, Subject::Former)
                    | PumpStage::Recording(_, Subject::Former)
            )
        )
    }

    /// The run that the archive ended with when this one began, if something may be missing in
    /// between.
    pub fn gap(&self) -> Option<&Preamble> {
        self.gap.as_ref()
    }

    /// The results so far.
    pub fn totals(&mut self) -> Totals {
        let subject = match &self.stage {
            Some(PumpStage::Recording(_, subject)) => *subject,
            _ => return self.totals,
        };
        let present = self.ask(|recorder| recorder.totals());
        self.totals + counted(present.unwrap_or_default(), subject)
    }

    /// Entries of the ring that are not read yet, with those that are overwritten already.
    pub fn unread(&mut self) -> u64 {
        self.ask(|recorder| recorder.unread()).unwrap_or(0)
    }

    /// The step that fails at present. It is tried again and again.
    pub fn trouble(&mut self) -> Option<&OutputTrouble> {
        match &mut self.stage {
            None => None,
            Some(PumpStage::Room(wait)) => Some(wait.trouble()),
            Some(PumpStage::Recording(run, _)) => run.trouble(),
            Some(
                PumpStage::Former(output)
                | PumpStage::Question(output, _)
                | PumpStage::Ended(output),
            ) => output.trouble(),
        }
    }

    /// The same in a sentence.
    pub fn told_trouble(&mut self) -> Option<String> {
        let trouble = self.trouble()?;
        let (doing, path, error) = (trouble.doing, trouble.path.display(), &trouble.error);
        Some(format!(
            "cannot {doing} {path}: {error}; trying again until it works"
        ))
    }

    /// Bytes that lie in a spool until the store has them.
    pub fn waiting(&mut self) -> u64 {
        match &mut self.stage {
            Some(PumpStage::Recording(run, _)) => {
                run.with(|recorder| recorder.waiting()).unwrap_or(0)
            }
            Some(
                PumpStage::Former(output)
                | PumpStage::Question(output, _)
                | PumpStage::Ended(output),
            ) => output.waiting(),
            Some(PumpStage::Room(_)) | None => 0,
        }
    }

    /// Whether there is no room to write at present.
    pub fn is_full(&mut self) -> bool {
        self.ask(|recorder| recorder.is_full()).unwrap_or(false)
    }

    /// Whether nothing will ever be written again: see
    /// [`Recorder::is_over`](timeline_archive::Recorder::is_over).
    pub fn is_over(&mut self) -> bool {
        match &mut self.stage {
            Some(PumpStage::Recording(run, _)) => {
                run.with(|recorder| recorder.is_over()).unwrap_or(true)
            }
            Some(PumpStage::Former(output) | PumpStage::Question(output, _)) => output.is_over(),
            Some(PumpStage::Room(_)) => false,
            Some(PumpStage::Ended(_)) | None => true,
        }
    }

    /// Whether somebody watches the archive, so that events should not stay in the ring for long.
    pub fn is_watched(&mut self) -> bool {
        self.ask(|recorder| recorder.is_watched()).unwrap_or(false)
    }

    /// The change of the file since the last call, if it was opened again because of it.
    pub fn change(&mut self) -> Option<FileChange> {
        self.ask(|recorder| recorder.change()).flatten()
    }

    /// The timeline of what is recorded at present: that of the run before, or the one that was
    /// asked for.
    pub fn present(&self) -> &Arc<Attached> {
        match self.is_former() {
            true => self.of(Subject::Former),
            false => &self.at,
        }
    }
}
