//! Waits until a name leads to a timeline.

use std::time::{Duration, Instant};

use timeline::{Attached, ErrorKind};
use timeline_worker::Pause;

use crate::failure::{Failure, Result};
use crate::output;
use crate::signals::WakeReason;
use crate::target::{Target, lacks_slash, meant};

/// Opens the timeline; `None` if there is none yet.
pub fn open_if_there(target: &Target) -> Result<Option<Attached>> {
    target.refuse_trace()?;
    match Attached::open(target.path()) {
        Ok(at) => Ok(Some(at)),
        Err(error) if error.kind() == ErrorKind::NotFound && !lacks_slash(target.path()) => {
            Ok(None)
        }
        Err(error) => Err(target.explain(error)),
    }
}

/// Waits until there is a timeline; `None` if a signal or the end of this time came first. `pause`
/// waits for a signal, and for what else ends the command.
pub fn wait(
    target: &Target,
    mut pause: impl FnMut(Duration) -> WakeReason,
    most: Option<Duration>,
) -> Result<Option<Attached>> {
    let begin = Instant::now();
    let mut told = false;
    loop {
        if let Some(at) = open_if_there(target)? {
            return Ok(Some(at));
        }
        if !std::mem::replace(&mut told, true) {
            let path = target.path();
            let meant = meant(path).map_or(String::new(), |name| format!("; did you mean {name}?"));
            output::say(format_args!("waiting for {}{meant}", path.display()));
        }
        let left = most.map(|most| most.saturating_sub(begin.elapsed()));
        let rest = left.unwrap_or(Pause::LONGEST).min(Pause::LONGEST);
        if rest.is_zero() {
            return Ok(None);
        }
        match pause(rest) {
            WakeReason::Timeout => {}
            WakeReason::Interrupted => return Ok(None),
            WakeReason::OutputClosed => return Err(Failure::ClosedPipe),
        }
    }
}
