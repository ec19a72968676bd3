//! Writes what fired into the timeline, as an event of its own.
//!
//! **Why is a timeline joined for each event of a watch, and not for good?** A process that has it
//! open for writing keeps it in use: the program could not be started again under its name. For the
//! same reason nothing is written when no program writes any more.
//!
//! **Why is the event not important?** Important ones are never overwritten, and there is room for
//! few: those of a watch that runs for weeks would take the room of the program's own.

use std::path::Path;

use timeline::{Attached, Definition, Nanoseconds, Options, Priority, Thread, Timeline, event};
use timeline_latency::{Condition, Firing, FiringValue};

use crate::output;
use crate::permission;
use crate::trust::TrustArgs;

const CATEGORY: &str = "watch";
/// What the messages of its events begin with.
const FIRST: &str = "trigger ";

/// Whether events of this definition are those of a watch. They meet no condition.
pub fn is_own(definition: &Definition) -> bool {
    definition.category == CATEGORY && definition.message.starts_with(FIRST)
}

/// Writes events.
pub struct Notes {
    options: Options,
    is_off: bool,
}

impl Notes {
    /// Writes into timelines of trusted users, unless it is off.
    pub fn new(trusted: &TrustArgs, is_off: bool) -> Notes {
        let trust = trusted.trust();
        let mut options = Timeline::options();
        if let Some(user) = trust.user {
            options = options.trust_user(user);
        }
        if let Some(group) = trust.group {
            options = options.trust_group(group);
        }
        Notes { options, is_off }
    }

    /// Writes one. If that is not possible, it says so once.
    pub fn write(&mut self, at: &Attached, path: &Path, condition: &Condition, fired: &Firing) {
        let is_written_to = || at.info().writers.iter().any(|writer| writer.alive);
        if self.is_off || at.replaced() || !is_written_to() {
            return;
        }
        match self.options.open(path) {
            Ok(timeline) => log(&timeline, &condition.to_string(), fired),
            Err(error) => {
                self.is_off = true;
                let told = permission::told(&error);
                output::say(format_args!(
                    "what fires is not logged into the timeline: {told}"
                ));
            }
        }
    }
}

fn log(timeline: &Timeline, condition: &str, fired: &Firing) {
    let name = fired.name.as_str();
    let thread = fired.thread.as_ref().and_then(Thread::known_tid);
    let priority = Priority::Warning;
    // A statement logs one message, and a thread that is not known has no number to say.
    match (&fired.seen, thread) {
        (FiringValue::Nanoseconds(nanos), thread) => {
            let value = Nanoseconds(i64::try_from(*nanos).unwrap_or(i64::MAX));
            match thread {
                Some(thread) => event!(
                    timeline,
                    priority,
                    "watch",
                    "trigger {condition} saw {value} of {name} in thread {thread}",
                    condition,
                    value,
                    name,
                    thread
                ),
                None => event!(
                    timeline,
                    priority,
                    "watch",
                    "trigger {condition} saw {value} of {name}",
                    condition,
                    value,
                    name
                ),
            }
        }
        (FiringValue::PerSecond(rate), _) => {
            let rate = *rate;
            event!(
                timeline,
                priority,
                "watch",
                "trigger {condition} saw {rate} of {name} in a second",
                condition,
                rate,
                name
            );
        }
        (FiringValue::Event, Some(thread)) => event!(
            timeline,
            priority,
            "watch",
            "trigger {condition} saw {name} in thread {thread}",
            condition,
            name,
            thread
        ),
        (FiringValue::Event, None) => event!(
            timeline,
            priority,
            "watch",
            "trigger {condition} saw {name}",
            condition,
            name
        ),
    }
}
