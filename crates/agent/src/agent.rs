//! Has the recordings of a host.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use timeline_net::{StoreToken, StoreTrust};

use crate::error::{Error, Result};
use crate::fleet::{FleetOptions, SentRuns, new_recordings};
use crate::recording::{HostRecording, RecordingRequest, RecordingState, options_of};

/// Most recordings that run at once: each has a thread.
const MOST: usize = 1024;
/// How many that have ended are remembered.
const REMEMBERED: usize = 256;
/// How often it is looked which programs have come and gone.
const OFTEN: Duration = Duration::from_millis(200);

/// What an agent may do.
#[derive(Clone)]
pub struct AgentOptions {
    /// The directory for files. Without it, none are written.
    pub folder: Option<PathBuf>,
    /// By what stores are known to which somebody else has it send, and the token for them.
    pub access: (StoreTrust, Option<StoreToken>),
    /// What is sent without being asked for.
    pub fleet: Option<FleetOptions>,
    /// Is told what happens, a line each.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Records the timelines of this host.
pub struct Agent {
    options: AgentOptions,
    state: Mutex<AgentState>,
    stop: (Mutex<bool>, Condvar),
}

#[derive(Default)]
struct AgentState {
    recordings: BTreeMap<u64, HostRecording>,
    next: u64,
    sent: SentRuns,
}

impl Agent {
    /// An agent, which does nothing by itself before [`Agent::run`].
    pub fn new(options: AgentOptions) -> Agent {
        Agent {
            options,
            state: Mutex::default(),
            stop: Default::default(),
        }
    }

    /// The directory for files.
    pub fn folder(&self) -> Option<&PathBuf> {
        self.options.folder.as_ref()
    }

    /// Ends recordings whose programs have ended, and begins those that need not be asked for,
    /// until [`Agent::stop`]. Then all of them are ended.
    pub fn run(&self) {
        loop {
            self.look();
            let stopped = self.stop.0.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self
                .stop
                .1
                .wait_timeout_while(stopped, OFTEN, |stopped| !*stopped);
            let (stopped, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if *stopped {
                break;
            }
        }
        self.state().recordings.values_mut().for_each(|recording| {
            recording.stop();
        });
    }

    /// Has [`Agent::run`] end.
    pub fn stop(&self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
    }

    /// Looks which programs have come and gone.
    fn look(&self) {
        let mut state = self.state();
        let AgentState {
            recordings, sent, ..
        } = &mut *state;
        for (number, recording) in &mut *recordings {
            if recording.look() {
                let name = &recording.request.timeline;
                if recording.is_of_fleet {
                    sent.note(name);
                }
                self.say(format_args!("recording {number} of {name} is complete"));
            } else if let Some(trouble) = recording.news() {
                let name = &recording.request.timeline;
                match trouble.is_empty() {
                    true => self.say(format_args!("recording {number} of {name} goes on")),
                    false => self.say(format_args!("recording {number} of {name}: {trouble}")),
                }
            }
        }
        if let Some(fleet) = &self.options.fleet {
            let is_sent = |name: &str, run| {
                recordings.values().any(|one| {
                    let is_same = one.request.timeline == name && one.run() == run;
                    one.is_of_fleet && one.is_running() && is_same
                })
            };
            let running = recordings.values().filter(|one| one.is_running()).count();
            let begun = match running < MOST {
                true => new_recordings(fleet, sent, is_sent),
                false => Vec::new(),
            };
            for (name, recording) in begun {
                match recording {
                    Ok(recording) => {
                        let number = state.keep(recording);
                        self.say(format_args!("recording {number} of {name} has begun"));
                    }
                    Err(why) => self.say(format_args!("cannot record {name}: {why}")),
                }
            }
        }
    }

    /// Starts a recording. The names of files are those below the directory of the agent.
    ///
    /// # Errors
    /// `FileName`, `NoFolder`, `TooMany`, `Timeline`, `Worker`.
    pub fn record(&self, request: RecordingRequest) -> Result<RecordingState> {
        // Any other path would be opened with the rights of the agent.
        let names = timeline::names()?;
        if !names.contains(&request.timeline) {
            let name = request.timeline;
            return Err(Error::NoTimeline { name });
        }
        check_labels(&request.labels)?;
        let (trust, token) = self.options.access.clone();
        let options = options_of(&request, self.options.folder.as_deref())?;
        let options = options.access(trust, token);
        let running = |state: &AgentState| {
            let recordings = state.recordings.values();
            recordings.filter(|one| one.is_running()).count()
        };
        if running(&self.state()) >= MOST {
            return Err(Error::TooMany { most: MOST });
        }
        // To open a file may take a while, and others ask meanwhile.
        let recording = HostRecording::begin(request, &options, false)?;
        let mut state = self.state();
        let number = state.keep(recording);
        let begun = &state.recordings[&number];
        let name = &begun.request.timeline;
        self.say(format_args!("recording {number} of {name} has begun"));
        Ok(begun.state(number))
    }

    /// All recordings that run, and those that have ended last, in the order in which they began.
    pub fn recordings(&self) -> Vec<RecordingState> {
        let state = self.state();
        let recordings = state.recordings.iter();
        recordings.map(|(number, one)| one.state(*number)).collect()
    }

    /// Stops a recording. What was logged by now is written.
    ///
    /// # Errors
    /// `NoRecording`.
    pub fn end(&self, number: u64) -> Result<RecordingState> {
        // To end it may take seconds, and others ask meanwhile.
        let mut all = self.state();
        let taken = all.recordings.remove(&number);
        let mut recording = taken.ok_or(Error::NoRecording { number })?;
        if recording.is_of_fleet {
            // It is not begun again.
            all.sent.stop(&recording.request.timeline, recording.run());
        }
        drop(all);
        recording.stop();
        let state = recording.state(number);
        self.state().recordings.insert(number, recording);
        let name = &state.timeline;
        self.say(format_args!("recording {number} of {name} was stopped"));
        Ok(state)
    }

    fn say(&self, what: fmt::Arguments) {
        (self.options.log)(&what.to_string());
    }

    fn state(&self) -> MutexGuard<'_, AgentState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses labels that no command line takes.
fn check_labels(labels: &[(String, String)]) -> Result<()> {
    let is_plain = |text: &String| !text.chars().any(char::is_control);
    let is_good =
        |(name, value): &(String, String)| !name.is_empty() && is_plain(name) && is_plain(value);
    match labels.iter().find(|label| !is_good(label)) {
        Some((name, _)) => Err(Error::Label { name: name.clone() }),
        None => Ok(()),
    }
}

impl AgentState {
    /// Keeps a recording, and forgets the oldest of those that have ended. Returns its number.
    fn keep(&mut self, recording: HostRecording) -> u64 {
        self.next += 1;
        self.recordings.insert(self.next, recording);
        let over = self.recordings.iter().filter(|(_, one)| !one.is_running());
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        for number in &over[..over.len().saturating_sub(REMEMBERED)] {
            self.recordings.remove(number);
        }
        self.next
    }
}
