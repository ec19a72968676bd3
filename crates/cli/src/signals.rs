//! Waits that a signal, or the end of the reader of standard output, ends at once.

use std::cell::Cell;
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;
use signal_hook::low_level::pipe;
use timeline::dump::FRAME;

use crate::failure::{Failure, Result};

/// The pause between two looks into a ring or an archive: short while events come, and doubled with
/// each look that finds none.
pub struct Pause(Duration);

impl Pause {
    /// The longest pause.
    pub const LONGEST: Duration = Duration::from_millis(50);
    const SHORTEST: Duration = Duration::from_millis(1);

    /// None so far.
    pub fn new() -> Pause {
        Pause(Pause::SHORTEST)
    }

    /// The pause after a look that found events, or none.
    pub fn after(&mut self, found: bool) -> Duration {
        self.0 = match found {
            true => Pause::SHORTEST,
            false => (self.0 * 2).min(Pause::LONGEST),
        };
        self.0
    }
}

/// The end of a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// The time has passed.
    Timeout,
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT came, now or before the wait.
    Interrupted,
    /// The reader of standard output has closed it.
    OutputClosed,
}

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT, as something to wait for.
pub struct Signals {
    // Handlers write a byte to its other end for each signal.
    pipe: UnixStream,
    /// The number of bytes read from it.
    came: Cell<usize>,
    /// Whether the next signal ends the process at once.
    fatal: Arc<AtomicBool>,
}

impl Signals {
    /// Catches these signals: they no longer end the process by themselves.
    pub fn catch() -> Result<Signals> {
        let fatal = Arc::new(AtomicBool::new(false));
        let catch = || -> io::Result<UnixStream> {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
                // The status that a shell shows for a process that a signal ended.
                let status = 128 + signal;
                register_conditional_shutdown(signal, status, Arc::clone(&fatal))?;
                pipe::register(signal, write.try_clone()?)?;
            }
            Ok(read)
        };
        match catch() {
            Ok(pipe) => Ok(Signals {
                pipe,
                came: Cell::new(0),
                fatal,
            }),
            Err(error) => Err(Failure::Message(format!("cannot catch signals: {error}"))),
        }
    }

    /// The number of signals so far. Two signals of one kind at the same moment may count as one.
    pub fn count(&self) -> usize {
        let mut buffer = [0; 64];
        while let Ok(more @ 1..) = (&self.pipe).read(&mut buffer) {
            self.came.set(self.came.get() + more);
        }
        self.came.get()
    }

    /// Sets whether another signal ends the process at once.
    pub fn end_at_once(&self, fatal: bool) {
        self.fatal.store(fatal, Ordering::SeqCst);
    }

    /// Waits for a signal, for standard output to be closed by its reader, or for `timeout`.
    pub fn wait(&self, timeout: Duration) -> Woken {
        let stdout = io::stdout();
        // No event asked for: poll reports errors and hang-ups anyway, and nothing else.
        self.poll(Some((stdout.as_fd(), PollFlags::empty())), Some(timeout))
    }

    /// Waits for a signal, or for `timeout`.
    pub fn wait_for_signal(&self, timeout: Duration) -> Woken {
        self.poll(None, Some(timeout))
    }

    /// Standard output whose writes a signal can end, even while its reader takes nothing.
    pub fn stdout(&self) -> SignalledOutput<'_> {
        BufWriter::with_capacity(
            64 * 1024,
            Interruptible {
                signals: self,
                inner: io::stdout(),
                events: 0,
                begins: Some(0),
            },
        )
    }

    fn poll(&self, other: Option<(BorrowedFd<'_>, PollFlags)>, timeout: Option<Duration>) -> Woken {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            if self.count() > 0 {
                return Woken::Interrupted;
            }
            let mut fds = vec![PollFd::new(self.pipe.as_fd(), PollFlags::POLLIN)];
            fds.extend(other.map(|(fd, events)| PollFd::new(fd, events)));
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let wait = left.map_or(PollTimeout::NONE, |left| {
                // Rounded up to whole milliseconds: rounding down would spin through the last one.
                let millis = left.as_nanos().div_ceil(1_000_000);
                PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX)
            });
            let result = poll(&mut fds, wait);
            let ready = |i: usize| fds.get(i).is_some_and(|fd| fd.any() == Some(true));
            match result {
                Ok(0) if left.is_some_and(|left| left.is_zero()) => return Woken::Timeout,
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) if ready(0) => {}
                Ok(_) => return Woken::OutputClosed,
                // poll can fail only if the kernel has no memory.
                Err(_) => return Woken::Interrupted,
            }
        }
    }
}

/// Standard output whose writes a signal can end.
pub type SignalledOutput<'a> = BufWriter<Interruptible<'a>>;

/// Standard output that is written only while it has room, so that no write keeps a signal waiting.
pub struct Interruptible<'a> {
    signals: &'a Signals,
    inner: io::Stdout,
    events: u64,
    /// The bytes of the current line, if they may be those of a call stack; `None` otherwise.
    begins: Option<usize>,
}

impl Interruptible<'_> {
    /// Events whose first line was written completely. The lines of a call stack do not count.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn count(&mut self, mut written: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', written) {
            self.begin(&written[..end]);
            self.events += u64::from(self.begins != Some(FRAME.len()));
            self.begins = Some(0);
            written = &written[end + 1..];
        }
        self.begin(written);
    }

    /// Continues with a part of a line.
    fn begin(&mut self, part: &[u8]) {
        if let Some(known) = self.begins
            && let Some(rest) = FRAME.as_bytes().get(known..)
        {
            let more = part.len().min(rest.len());
            self.begins = (part[..more] == rest[..more]).then_some(known + more);
        }
    }
}

impl Write for Interruptible<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        // A pipe that is writable takes this much without blocking (PIPE_BUF).
        const SURE: usize = 4096;
        let stdout = (self.inner.as_fd(), PollFlags::POLLOUT);
        match self.signals.poll(Some(stdout), None) {
            Woken::Interrupted => Err(io::Error::other(Interrupted)),
            _ => {
                let taken = nix::unistd::write(self.inner.as_fd(), &buf[..buf.len().min(SURE)])?;
                self.count(&buf[..taken]);
                Ok(taken)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error of a write that a signal interrupted.
#[derive(Debug)]
struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted by a signal")
    }
}

impl std::error::Error for Interrupted {}

/// Whether this is the error of a write that a signal interrupted.
pub fn is_interrupted(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<Interrupted>())
}
