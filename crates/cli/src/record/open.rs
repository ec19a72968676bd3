//! Opens what a recording is written to, as soon as there is room for it.

use timeline_archive::{ArchiveOutput, Keeping};
use timeline_worker::Pause;

use super::Args;
use crate::failure::{Failure, Result};
use crate::output;
use crate::signals::{Signals, WakeReason};

/// Opens the output. Waits as long as there is no room for it, as a recorder does that runs
/// already; a signal ends that.
pub fn open_output(args: &Args, keeping: Keeping, signals: &Signals) -> Result<ArchiveOutput> {
    if let Some(output) = args.remote.output()? {
        return Ok(output);
    }
    let mut told = false;
    loop {
        let error = match ArchiveOutput::open(args.destination(), keeping) {
            Ok(output) => {
                if told {
                    output::say("recording begins");
                }
                return Ok(output);
            }
            Err(error) => error,
        };
        let waits = error.waits_for_room();
        let error = Failure::from(error);
        let Some(told_once) = error.message().filter(|_| waits) else {
            return Err(error);
        };
        if !std::mem::replace(&mut told, true) {
            output::say(format_args!("{told_once}; trying again until it works"));
        }
        if signals.wait_for_signal(Pause::LONGEST) == WakeReason::Interrupted {
            return Err(error);
        }
    }
}
