//! Child processes that run a function of the test, and talk with it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

/// Where the function is that a child process runs, instead of tests.
const ROLE: &str = "TIMELINE_TEST_ROLE";

/// A child that has not ended after this many seconds hangs, and is killed by its alarm.
const DEADLINE_SECONDS: u32 = 300;

/// A function of a child process, given its arguments.
pub type Role = fn(&[String]);

/// Where the code of a role is, in words that every process of this program understands.
pub fn place(role: Role) -> String {
    (role as usize)
        .wrapping_sub(play as *const () as usize)
        .to_string()
}

/// The role of which [`place`] was taken.
pub fn role_at(place: &str) -> Role {
    let distance: usize = place.parse().expect("a distance");
    let at = (play as *const () as usize).wrapping_add(distance);
    // SAFETY: it was taken in a process of this program, from a function of this type.
    unsafe { std::mem::transmute::<usize, Role>(at) }
}

/// Plays the role that the environment asks for, and ends the process; returns if there is none.
///
/// It runs before `main`, so that a child is one thread and no test harness.
extern "C" fn play() {
    // A shell without job control has what it starts in the background ignore this signal, and so
    // would all that tests start, and then interrupt.
    // SAFETY: no thread is there yet, nor a handler.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    let Ok(asked) = std::env::var(ROLE) else {
        return;
    };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    own_program();
    deadline();
    let done = std::panic::catch_unwind(|| role_at(&asked)(&arguments));
    std::process::exit(if done.is_ok() { 0 } else { 1 });
}

#[used]
#[unsafe(link_section = ".init_array")]
static PLAY: extern "C" fn() = play;

/// Our own program. It is asked for before a role plays: beneath a chroot, the kernel tells a
/// process in a mount namespace of its own the path that its program has outside, where it cannot
/// be found.
fn own_program() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| std::env::current_exe().expect("our own path"))
}

/// From now on the process is killed if it hangs; a forked child has to ask for it again.
pub fn deadline() {
    // SAFETY: alarm takes a number and touches nothing of ours.
    unsafe { libc::alarm(DEADLINE_SECONDS) };
}

/// A child process in one of its roles; killed when dropped.
pub struct Process {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Process {
    pub fn start(role: Role, arguments: &[&str]) -> Process {
        Process::start_with(role, arguments, &[])
    }

    /// As [`Process::start`], with something more in its environment.
    pub fn start_with(role: Role, arguments: &[&str], environment: &[(&str, &str)]) -> Process {
        let mut child = Command::new(own_program())
            .env(ROLE, place(role))
            .envs(environment.iter().copied())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Process { child, output }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line it prints, waited for.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("its output");
        assert!(
            line.ends_with('\n'),
            "it ended instead of printing a line: {:?}",
            self.child.wait()
        );
        line.trim_end().to_owned()
    }

    /// Has its [`hear`] return.
    pub fn tell(&mut self) {
        self.write("");
    }

    /// Writes a line to it.
    pub fn write(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("a pipe");
        writeln!(input, "{line}").expect("it reads");
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.wait();
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("waited for")
    }

    /// Waits for it; it must have succeeded.
    pub fn finish(mut self) {
        let status = self.wait();
        assert_ne!(status.signal(), Some(libc::SIGALRM), "the child hung");
        assert!(status.success(), "the child failed: {status}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Why the kernel has refused namespaces, or mounts in them, as far as that is a chroot's doing.
pub fn refusal(error: &std::io::Error) -> String {
    let reason = match error.raw_os_error() {
        Some(libc::EPERM) => ": beneath a chroot, nobody gets a user namespace",
        Some(libc::EINVAL) => ": beneath a chroot, the root may be no mount",
        _ => "",
    };
    format!("{error}{reason}")
}

/// In a child: prints a line for [`Process::line`].
pub fn say(line: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .expect("the parent reads");
}

/// In a child: waits for [`Process::tell`].
pub fn hear() {
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .expect("the parent's word");
}
