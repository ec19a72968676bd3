//! Runs commands, each at most once at a time, and does not wait for them.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use timeline::dump::printable;
use timeline_latency::{Condition, Firing, FiringValue};

use crate::output;
use crate::time::{TimeFormat, WallClock};

/// What a command learns of a firing.
pub type Environment = Vec<(&'static str, OsString)>;

/// The variables of a firing.
pub fn environment(path: &Path, condition: &Condition, fired: &Firing) -> Environment {
    let mut all: Environment = vec![
        ("TIMELINE_PATH", path.into()),
        ("TIMELINE_CONDITION", condition.to_string().into()),
        ("TIMELINE_NAME", text(&fired.name)),
        ("TIMELINE_UNIX_NS", fired.time.to_string().into()),
    ];
    let time = WallClock::new(TimeFormat::Rfc3339)
        .format(fired.time)
        .to_owned();
    all.push(("TIMELINE_TIME", time.into()));
    match fired.seen {
        FiringValue::Nanoseconds(nanos) => {
            all.push(("TIMELINE_VALUE_NS", nanos.to_string().into()))
        }
        FiringValue::PerSecond(rate) => all.push(("TIMELINE_RATE", rate.to_string().into())),
        FiringValue::Event => {}
    }
    // What is not known is not set: 0 would be a number, and of a process for `kill` its own group.
    if let Some(thread) = &fired.thread {
        let mut number = |name, number: Option<u32>| {
            all.extend(number.map(|number| (name, number.to_string().into())));
        };
        number("TIMELINE_TID", thread.known_tid());
        number("TIMELINE_PID", thread.known_pid());
        all.extend(
            thread
                .name
                .as_deref()
                .map(|name| ("TIMELINE_THREAD", text(name))),
        );
    }
    all
}

/// A text of a program. A variable has no zeros, nor should a terminal obey what is in it.
fn text(text: &str) -> OsString {
    printable(text).into_owned().into()
}

/// The commands.
pub struct Commands(Vec<One>);

struct One {
    line: String,
    child: Option<Child>,
}

impl Commands {
    /// These, each a line for a shell.
    pub fn new(lines: impl Iterator<Item = String>) -> Commands {
        Commands(lines.map(|line| One { line, child: None }).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Starts all of them. One that still runs is not started again.
    pub fn start(&mut self, environment: &Environment) {
        self.reap();
        for one in &mut self.0 {
            let line = &one.line;
            if one.child.is_some() {
                output::say(format_args!("{line} still runs, and is not started again"));
                continue;
            }
            match spawn(line, environment) {
                Ok(child) => one.child = Some(child),
                Err(error) => output::say(format_args!("cannot run {line}: {error}")),
            }
        }
    }

    /// Takes note of those that have ended. Returns whether any still runs.
    pub fn reap(&mut self) -> bool {
        let mut are_left = false;
        for One { line, child } in &mut self.0 {
            let Some(running) = child else { continue };
            match running.try_wait() {
                Ok(None) => are_left = true,
                Ok(Some(status)) => {
                    *child = None;
                    if !status.success() {
                        output::say(format_args!("{line} failed: {status}"));
                    }
                }
                Err(_) => *child = None,
            }
        }
        are_left
    }
}

/// What it prints goes to standard error: standard output has the firings.
fn spawn(line: &str, environment: &Environment) -> io::Result<Child> {
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    Command::new("sh")
        .args(["-c", line])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::from(stderr))
        .spawn()
}
