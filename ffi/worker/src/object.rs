//! What a handle of a worker leads to, which a forked child leaves alone.
use crate::error::{CallFailure, TIMELINE_OK, guard};
use std::sync::{Mutex, MutexGuard, PoisonError};
use timeline_archive::Totals;
use worker_core::{Error, Pump, Worker};

/// What records.
pub enum ObjectRecording {
    Thread(Worker),
    Pump(Box<Pump>),
    Ended(Totals),
}

impl ObjectRecording {
    /// What is in the way at present, in a sentence.
    pub(crate) fn trouble(&mut self) -> Result<Option<String>, CallFailure> {
        Ok(match self {
            ObjectRecording::Thread(worker) => worker.trouble()?,
            ObjectRecording::Pump(pump) => pump.told_trouble(),
            ObjectRecording::Ended(_) => None,
        })
    }
}

/// The object behind a `timeline_worker_t *`.
pub struct WorkerObject {
    process: u32,
    recording: Mutex<ObjectRecording>,
}

impl WorkerObject {
    /// Of this process.
    pub fn new(recording: ObjectRecording) -> WorkerObject {
        WorkerObject {
            process: std::process::id(),
            recording: Mutex::new(recording),
        }
    }

    /// What records, unless this is a forked child: there, a thread of the parent may have had the
    /// lock.
    pub(crate) fn recording(&self) -> Result<MutexGuard<'_, ObjectRecording>, CallFailure> {
        match self.process == std::process::id() {
            true => Ok(self
                .recording
                .lock()
                .unwrap_or_else(PoisonError::into_inner)),
            false => Err(Error::ForkedProcess {
                process: self.process,
            }
            .into()),
        }
    }

    pub(crate) fn stop(&self) -> Result<Totals, CallFailure> {
        let mut recording = self.recording()?;
        // Until it has ended, nobody else has it.
        let (totals, result) =
            match std::mem::replace(&mut *recording, ObjectRecording::Ended(Totals::default())) {
                ObjectRecording::Thread(worker) => ended(worker.stop()),
                ObjectRecording::Pump(mut pump) => ended(pump.end()),
                ObjectRecording::Ended(totals) => (totals, Ok(totals)),
            };
        *recording = ObjectRecording::Ended(totals);
        result
    }

    /// Nobody is left to be told, and in a forked child nothing is done.
    pub fn stop_at_exit(&self) {
        guard(|| self.stop().map(|_| TIMELINE_OK));
    }
}

fn ended(result: worker_core::Result<Totals>) -> (Totals, Result<Totals, CallFailure>) {
    let totals = result.as_ref().copied().unwrap_or_default();
    (totals, result.map_err(CallFailure::from))
}
