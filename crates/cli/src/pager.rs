//! Shows long output in a pager, as git does.

use std::env;
use std::fs::OpenOptions;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use nix::unistd::dup2_stdout;
use signal_hook::consts::SIGINT;

use crate::output;

/// A pager that shows standard output, until it is dropped.
pub struct Pager(Option<JoinHandle<()>>);

impl Pager {
    /// Starts TIMELINE_PAGER, PAGER or less, if standard output is a terminal. If the variable is
    /// empty or cat, there is no pager. If it names a program that is not there, that is told, and
    /// the output goes to the terminal as it is.
    pub fn start() -> Pager {
        let named = ["TIMELINE_PAGER", "PAGER"]
            .into_iter()
            .find_map(|name| timeline::internal::variable(name)?.into_string().ok());
        let is_named = named.is_some();
        let command = named.unwrap_or_else(|| "less".into());
        if !output::is_terminal() || ["", "cat"].contains(&command.trim()) {
            return Pager(None);
        }
        if let Some(missing) = missing(&command).filter(|_| is_named) {
            output::say(format_args!(
                "there is no pager {missing}: expected the name of a program in TIMELINE_PAGER or \
                 PAGER"
            ));
            return Pager(None);
        }
        // Without less, the output goes to the terminal as it is.
        Pager(begin(&command).ok())
    }
}

/// The program of a command of the shell, if it is surely not there.
fn missing(command: &str) -> Option<&str> {
    // Variables may stand before it.
    let program = command
        .split_whitespace()
        .find(|word| !word.contains('='))?;
    let is_plain = |c: char| c.is_alphanumeric() || "/._+-".contains(c);
    let looked_for = || {
        let mut shell = Command::new("sh");
        shell.args(["-c", "command -v -- \"$1\"", "sh", program]);
        shell.stdin(Stdio::null()).stdout(Stdio::null());
        shell.stderr(Stdio::null()).status()
    };
    let is_missing =
        program.chars().all(is_plain) && looked_for().is_ok_and(|status| !status.success());
    is_missing.then_some(program)
}

fn begin(command: &str) -> io::Result<JoinHandle<()>> {
    let mut pager = Command::new("sh");
    pager.args(["-c", command]).stdin(Stdio::piped());
    // Leaves at once if all fits on the screen, shows colours, and does not clear the screen.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    if command.trim() == "less" {
        // A shell would start, and fail where nobody sees it.
        Command::new("less")
            .arg("--version")
            .stdout(Stdio::null())
            .status()?;
    }
    output::keep_colours();
    let mut child = pager.spawn()?;
    let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    dup2_stdout(&input)?;
    // Ctrl-C is for the pager, as long as there is one.
    let has_ended = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&has_ended))?;
    let command = command.to_owned();
    Ok(thread::spawn(move || {
        let ended = child.wait();
        // What the shell says of a command that it cannot run.
        if ended.is_ok_and(|status| matches!(status.code(), Some(126 | 127))) {
            output::say(format_args!(
                "the pager {command} could not be started, so nothing is shown: set TIMELINE_PAGER \
                 or PAGER, or give --no-pager"
            ));
        }
        // SeqCst, as signal_hook reads it; it guards nothing but itself.
        has_ended.store(true, Ordering::SeqCst);
    }))
}

impl Drop for Pager {
    fn drop(&mut self) {
        let Some(pager) = self.0.take() else { return };
        // The end of the input: nothing else holds the pipe.
        if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
            let _ = dup2_stdout(&nothing);
        }
        let _ = pager.join();
    }
}
