//! For the tests of the core: names of their own, events that can be checked, and child processes.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "each test uses its part"
)]

pub mod kernel;
pub mod naive;
pub mod user;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use timeline::{Attached, Event, EventId, Priority, Timeline};

/// What a child process is asked to do, instead of running tests.
const ROLE: &str = "TIMELINE_TEST_ROLE";

/// A child that has not ended after this many seconds hangs, and is killed by its alarm.
pub const DEADLINE_SECONDS: u32 = 120;

/// A name in shared memory that is the test's own; removed, with all that stands beside it, when
/// dropped.
pub struct Name(String);

impl Name {
    pub fn new(purpose: &str) -> Name {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Name(format!(
            "/timeline-core-{purpose}-{}-{number}",
            std::process::id()
        ))
    }

    pub fn path(&self) -> &str {
        &self.0
    }

    /// The name of what stands beside it: `.prev`.
    pub fn beside(&self, suffix: &str) -> String {
        format!("{}{suffix}", self.0)
    }

    /// The file behind it.
    pub fn file(&self) -> PathBuf {
        self.file_beside("")
    }

    pub fn file_beside(&self, suffix: &str) -> PathBuf {
        PathBuf::from(format!("/dev/shm{}{suffix}", self.0))
    }

    /// The files in which it is being created, or was when its creator was killed.
    pub fn staged(&self) -> Vec<PathBuf> {
        self.files_beside(".creating-")
    }

    /// What is kept of the run before where `.prev` is not ours.
    pub fn kept(&self) -> Vec<PathBuf> {
        self.files_beside(".prev-")
    }

    /// All whose names begin with this one and a suffix.
    fn files_beside(&self, suffix: &str) -> Vec<PathBuf> {
        let begin = self.beside(suffix).split_off(1);
        let entries = std::fs::read_dir("/dev/shm").expect("listed").flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin))
            .map(|entry| entry.path())
            .collect()
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let beside = ["", ".prev", ".creating"].map(|suffix| self.file_beside(suffix));
        for file in beside.into_iter().chain(self.staged()).chain(self.kept()) {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// The event that all these tests log: who, the how many-th, and two words that only they give.
pub fn define(timeline: &Timeline) -> EventId {
    timeline
        .define("core", Priority::Info, "step $who $number $mixed $turned")
        .expect("defined")
}

/// Arguments that a torn entry would not have.
pub fn arguments(who: i64, number: i64) -> [i64; 4] {
    let mixed = who
        .wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)
        .wrapping_add(number)
        .wrapping_mul(0x2545_f491_4f6c_dd1d);
    [who, number, mixed, (who ^ !number).rotate_left(17)]
}

/// Who logged this event and the how many-th of theirs it is; fails on a torn one.
pub fn checked(event: &Event) -> (i64, i64) {
    let [who, number, ..] = event.args;
    assert_eq!(event.args, arguments(who, number), "torn: {event:x?}");
    assert!(
        event.ticks != 0 && event.tid != 0 && event.id.0 != 0,
        "half an entry: {event:x?}"
    );
    (who, number)
}

/// Attaches, or says why not.
pub fn attach(path: &str) -> Attached {
    Attached::open(path).unwrap_or_else(|e| panic!("{e}"))
}

/// Numbers that differ from run to run only in where the machine is interrupted.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Whether the threads of this process write through lanes of CPUs: glibc says that the kernel took
/// its area.
pub fn rseq() -> bool {
    // SAFETY: dlsym with a constant name; the symbol, if there, is an unsigned int.
    unsafe {
        let size = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr());
        !size.is_null() && *size.cast::<u32>() != 0
    }
}

/// The lanes of their own that so many threads take: none where those of CPUs serve them.
pub fn own_lanes(threads: u32) -> u32 {
    if rseq() { 0 } else { threads }
}

/// What glibc reads to leave restartable sequences alone.
pub const NO_RSEQ: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");

/// Has the test of that name run in a process without restartable sequences, if this one has them;
/// whether that was done, and nothing is left to do here.
pub fn in_process_without_rseq(test: &str) -> bool {
    if !rseq() {
        return false;
    }
    let output = Command::new(std::env::current_exe().expect("it runs"))
        .args(["--exact", test])
        .env(NO_RSEQ.0, NO_RSEQ.1)
        .output()
        .expect("started");
    let said = String::from_utf8_lossy(&output.stdout);
    // What it left out, and why.
    std::io::stderr()
        .write_all(&output.stderr)
        .expect("written");
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{test}: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// The CPUs of this machine, from 0 on, as far as this process may run on them.
pub fn cpus() -> usize {
    // SAFETY: the set is a valid place for one, and its bits are numbers below its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &mut set);
        (0..libc::CPU_SETSIZE as usize)
            .take_while(|cpu| libc::CPU_ISSET(*cpu, &set))
            .count()
    }
}

/// Has this thread run on that CPU only.
pub fn run_on(cpu: usize) {
    // SAFETY: as in `cpus`.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
    }
}

/// A function of a child process, given its arguments.
pub type Role = fn(&[String]);

/// Makes the functions available to [`Process::start`].
///
/// They run before `main`, so that a child is one thread and no test harness.
macro_rules! roles {
    ($($role:ident),+ $(,)?) => {
        extern "C" fn play_role() {
            $crate::harness::play(&[$((stringify!($role), $role)),+]);
        }
        #[used]
        #[unsafe(link_section = ".init_array")]
        static PLAY_ROLE: extern "C" fn() = play_role;
    };
}
pub(crate) use roles;

/// Plays the role that the environment asks for, and ends the process; returns if there is none.
pub fn play(roles: &[(&str, Role)]) {
    let Ok(asked) = std::env::var(ROLE) else {
        return;
    };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    deadline();
    let role = roles.iter().find(|(name, _)| *name == asked);
    let done = std::panic::catch_unwind(|| {
        let (_, role) = role.unwrap_or_else(|| panic!("no role {asked}"));
        role(&arguments);
    });
    std::process::exit(if done.is_ok() { 0 } else { 1 });
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
    pub fn start(role: &str, arguments: &[&str]) -> Process {
        Process::start_with(role, arguments, &[])
    }

    /// As [`Process::start`], with something more in its environment.
    pub fn start_with(role: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Process {
        let mut child = Command::new(std::env::current_exe().expect("our own path"))
            .env(ROLE, role)
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
