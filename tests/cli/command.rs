//! The command, run to its end or held on to, and events for it to show.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use timeline::{EventId, Priority, Timeline};

use crate::support::Name;

/// Far longer than anything takes: only a hang comes here.
const DEADLINE: Duration = Duration::from_secs(60);

/// All verbs but `help`, in the order of the help.
pub const VERBS: [&str; 29] = [
    "list",
    "info",
    "dump",
    "tail",
    "search",
    "index",
    "stats",
    "events",
    "histogram",
    "outliers",
    "serve",
    "save",
    "record",
    "store",
    "agent",
    "remote",
    "pin",
    "import",
    "export",
    "verify",
    "repair",
    "priority",
    "enable",
    "disable",
    "channel",
    "sample",
    "watch",
    "rm",
    "demo",
];

/// Events of three priorities, to log and to find again.
pub struct Events {
    pub sum: EventId,
    pub warn: EventId,
    pub fail: EventId,
}

impl Events {
    pub fn define(tl: &Timeline) -> Events {
        let define = |category, priority, message| tl.define(category, priority, message).unwrap();
        Events {
            sum: define(
                "example",
                Priority::Trace,
                "processed $tcp, $udp, and $other",
            ),
            warn: define(
                "example.low",
                Priority::Warning,
                "only $left left\nA second line of prose.",
            ),
            fail: define("disk", Priority::Error, "read $size of $size at $offset"),
        }
    }
}

/// Logs `sum` with 1..=count as its first argument.
pub fn log_sums(tl: &Timeline, events: &Events, count: i64) {
    for i in 1..=count {
        tl.log(events.sum, [i, -i, 3]);
    }
}

/// The calling thread's id.
pub fn gettid() -> u32 {
    let link = fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// The calling thread's name, as the kernel cuts it.
pub fn thread_name() -> String {
    let comm = fs::read_to_string("/proc/thread-self/comm").unwrap();
    comm.trim_end().to_string()
}

/// The command, with an environment that is the same everywhere.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
    command.args(args).env("TZ", "UTC").stdin(Stdio::null());
    // Not that of the person who tests.
    command.env(
        "XDG_CONFIG_HOME",
        concat!(env!("CARGO_TARGET_TMPDIR"), "/config"),
    );
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command
}

/// What a finished command left.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn new(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output as one JSON value a line.
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Runs the command to its end.
pub fn run(args: &[&str]) -> Ran {
    Ran::new(command(args).output().unwrap())
}

/// Runs the command to its end, which must be a good one.
pub fn succeed(args: &[&str]) -> Ran {
    let ran = run(args);
    assert_eq!(ran.code, Some(0), "timeline {args:?}: {ran:?}");
    ran
}

/// Runs the command to its end, which must be that it printed what can be read of an archive, and
/// told what cannot.
pub fn lacking(args: &[&str]) -> Ran {
    let ran = run(args);
    let status = if args[0] == "search" { 2 } else { 1 };
    assert_eq!(ran.code, Some(status), "timeline {args:?}: {ran:?}");
    ran
}

/// Runs the command to its end, which must be a failure told in one line.
pub fn fail(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.code, Some(1), "timeline {args:?}: {ran:?}");
    assert_eq!(ran.stdout, "", "timeline {args:?}");
    assert!(ran.stderr.starts_with("timeline: "), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    ran.stderr
}

/// Waits for a condition, however long it takes within reason.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A command that is running; killed if the test is over before it.
pub struct Running {
    child: Child,
    stdout: Option<Lines>,
    stderr: Option<Lines>,
}

/// The lines of one stream, as they come.
struct Lines {
    incoming: Receiver<String>,
    seen: Vec<String>,
    closed: bool,
}

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Lines {
        let (send, incoming) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Lines {
            incoming,
            seen: Vec::new(),
            closed: false,
        }
    }

    fn update(&mut self) -> &[String] {
        loop {
            match self.incoming.try_recv() {
                Ok(line) => self.seen.push(line),
                Err(error) => {
                    self.closed = error == TryRecvError::Disconnected;
                    return &self.seen;
                }
            }
        }
    }
}

impl Running {
    /// Starts the command and reads what it writes.
    pub fn start(args: &[&str]) -> Running {
        Running::of(command(args))
    }

    /// Starts a command that runs the command somewhere else, and reads what it writes.
    pub fn of(command: Command) -> Running {
        let mut running = Running::start_command(command);
        running.stdout = running.child.stdout.take().map(Lines::of);
        running
    }

    /// Likewise, with a directory of its own for temporary files.
    pub fn start_in(folder: &Path, args: &[&str]) -> Running {
        let mut command = command(args);
        command.env("TMPDIR", folder);
        Running::of(command)
    }

    /// Starts the command and does not touch its standard output yet.
    pub fn start_unread(args: &[&str]) -> Running {
        Running::start_command(command(args))
    }

    fn start_command(mut command: Command) -> Running {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let stderr = child.stderr.take().map(Lines::of);
        Running {
            child,
            stdout: None,
            stderr,
        }
    }

    /// The reading end of a standard output that was not touched yet.
    pub fn take_stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until these lines satisfy the condition, and returns them.
    pub fn stdout_until(
        &mut self,
        what: &str,
        condition: impl Fn(&[String]) -> bool,
    ) -> Vec<String> {
        until(self.stdout.as_mut().unwrap(), what, condition)
    }

    /// The same for standard error.
    pub fn stderr_until(
        &mut self,
        what: &str,
        condition: impl Fn(&[String]) -> bool,
    ) -> Vec<String> {
        until(self.stderr.as_mut().unwrap(), what, condition)
    }

    /// The lines of standard output so far.
    pub fn stdout_now(&mut self) -> Vec<String> {
        self.stdout.as_mut().unwrap().update().to_vec()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid() as i32), signal).unwrap();
    }

    /// Waits for the end: how it ended, and all lines of both streams.
    pub fn finish(mut self) -> (ExitStatus, Vec<String>, Vec<String>) {
        let mut status = None;
        eventually("the command to end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let rest = |stream: Option<Lines>| {
            let Some(mut lines) = stream else {
                return Vec::new();
            };
            eventually("the stream to end", || {
                lines.update();
                lines.closed
            });
            lines.seen
        };
        (
            status.unwrap(),
            rest(self.stdout.take()),
            rest(self.stderr.take()),
        )
    }

    /// Waits for a good end.
    pub fn succeed(self) -> (Vec<String>, Vec<String>) {
        let (status, stdout, stderr) = self.finish();
        let told = (status.code(), status.signal());
        assert_eq!(
            told,
            (Some(0), None),
            "stdout {stdout:?}, stderr {stderr:?}"
        );
        (stdout, stderr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already gone in every test that succeeds.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(lines: &mut Lines, what: &str, condition: impl Fn(&[String]) -> bool) -> Vec<String> {
    let start = Instant::now();
    while !condition(lines.update()) {
        let late = start.elapsed() > DEADLINE || lines.closed;
        assert!(!late, "waited in vain for {what}, and saw {:?}", lines.seen);
        thread::sleep(Duration::from_millis(2));
    }
    lines.seen.clone()
}

/// Saves a live timeline into a directory of its own.
pub fn snapshot(name: &Name, directory: &Path) -> String {
    let file = directory.join("snapshot.timeline").display().to_string();
    name.attach().save(&file).unwrap();
    assert!(fs::metadata(&file).unwrap().len() > 0);
    file
}
