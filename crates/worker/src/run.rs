//! Holds the recorder of one run of a program, together with what it reads and writes.

use std::sync::Arc;

use self_cell::{MutBorrow, self_cell};
use timeline::{Attached, Event};
use timeline_archive::{ArchiveOutput, Error, Form, OutputTrouble, Recorder, Totals};

/// Chooses which events of a timeline are recorded.
pub trait EventChoice: Send + Sync {
    /// What says of each event of this timeline, in the order in which they are recorded, whether
    /// it is wanted. See [`Recorder::only`].
    fn on<'a>(&'a self, at: &'a Attached) -> Box<dyn FnMut(&Event) -> bool + Send + 'a>;
}

/// What a recorder reads, what it writes, and which events it takes.
struct RunParts {
    at: Arc<Attached>,
    output: MutBorrow<Box<ArchiveOutput>>,
    choice: Option<Arc<dyn EventChoice>>,
}

/// None once it has ended.
type RunRecorder<'a> = Option<Recorder<'a>>;

self_cell!(
    struct RunCell {
        owner: Box<RunParts>,
        #[not_covariant]
        dependent: RunRecorder,
    }
);

/// A run of a program that is recorded.
pub struct RunRecording(RunCell);

impl RunRecording {
    /// Begins to record `at` into an output that knows how far it is recorded. `before` is the run
    /// right before it, if that is known.
    ///
    /// # Errors
    /// Those of [`Recorder::after`], with the output.
    pub fn begin(
        output: Box<ArchiveOutput>,
        at: Arc<Attached>,
        before: Option<&Attached>,
        choice: Option<Arc<dyn EventChoice>>,
        form: Form,
    ) -> std::result::Result<RunRecording, (Box<ArchiveOutput>, Error)> {
        let parts = RunParts {
            at,
            output: MutBorrow::new(output),
            choice,
        };
        let cell = RunCell::try_new_or_recover(Box::new(parts), |parts| {
            let recorder = Recorder::after(before, &parts.at, parts.output.borrow_mut(), form)?;
            Ok(Some(match &parts.choice {
                Some(choice) => recorder.only(choice.on(&parts.at)),
                None => recorder,
            }))
        });
        cell.map(RunRecording)
            .map_err(|(parts, error)| (parts.output.into_inner(), error))
    }

    /// Does something with the recorder.
    pub fn with<T>(&mut self, ask: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
        self.0
            .with_dependent_mut(|_, recorder| recorder.as_mut().map(ask))
    }

    /// The step that fails at present.
    pub fn trouble(&mut self) -> Option<&OutputTrouble> {
        self.0
            .with_dependent_mut(|_, recorder| recorder.as_mut().and_then(Recorder::trouble))
    }

    /// Ends the recorder. If `is_durable`, it waits until what it wrote is as durable as the output
    /// promises. Returns the output and the results.
    pub fn end(mut self, is_durable: bool) -> (Box<ArchiveOutput>, Totals) {
        let totals = self.0.with_dependent_mut(|_, recorder| {
            let recorder = recorder.take()?;
            Some(match is_durable {
                true => recorder.finish(),
                false => recorder.finish_at_once(),
            })
        });
        let parts = self.0.into_owner();
        (parts.output.into_inner(), totals.unwrap_or_default())
    }
}
