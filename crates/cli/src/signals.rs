//! Waits that a signal, or the end of the reader of standard output, ends at once.

use std::cell::Cell;
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag::{self, register_conditional_shutdown};
use signal_hook::low_level::pipe;
use timeline::dump::FRAME;

use crate::failure::{Failure, Result};

/// The end of a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// The time has passed.
    Timeout,
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT came, now or before the wait.
    Interrupted,
    /// The reader of standard output has closed it.
    OutputClosed,
}

/// Makes a file that has reached its limit like a full disk. The signal would kill the command.
pub fn take_limits_for_errors() -> Result {
    let ignored = Arc::new(AtomicBool::new(false));
    let registered = flag::register(SIGXFSZ, ignored);
    registered.map_err(|error| Failure::Message(format!("cannot catch signals: {error}")))?;
    Ok(())
}

/// The time in which a signal that comes again counts as the same. `timeout` sends each signal
/// twice: to its child, and to the group that the child is in.
const SAME: Duration = Duration::from_millis(250);

/// A pipe that is writable takes this much without blocking (PIPE_BUF).
const SURE: usize = 4096;

/// One of the signals.
#[derive(Default)]
struct Caught {
    /// Whether it came since the last look.
    came: Arc<AtomicBool>,
    /// When it came last.
    last: Cell<Option<Instant>>,
    /// Whether the next one ends the process at once.
    fatal: Arc<AtomicBool>,
}

/// SIGINT, SIGTERM, SIGHUP and SIGQUIT, as something to wait for.
pub struct Signals {
    // Handlers write a byte to its other end for each signal. One for all of them: a process may
    // poll no more descriptors than it may have open.
    pipe: UnixStream,
    caught: [Caught; 4],
    /// How often one came, as `SAME` tells them apart.
    came: Cell<usize>,
    same: Duration,
    /// Whether another signal is to end the process at once.
    ends: Arc<Mutex<bool>>,
}

impl Signals {
    /// Catches these signals: they no longer end the process by themselves.
    pub fn catch() -> Result<Signals> {
        Signals::catch_within(SAME)
    }

    fn catch_within(same: Duration) -> Result<Signals> {
        let caught: [Caught; 4] = Default::default();
        let catch = || -> io::Result<UnixStream> {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            for (signal, caught) in [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().zip(&caught) {
                // The status that a shell shows for a process that a signal ended.
                let status = 128 + signal;
                // First: from here on a signal is caught, and no other handler remembers it.
                flag::register(signal, Arc::clone(&caught.came))?;
                register_conditional_shutdown(signal, status, Arc::clone(&caught.fatal))?;
                pipe::register(signal, write.try_clone()?)?;
            }
            Ok(read)
        };
        match catch() {
            Ok(pipe) => Ok(Signals {
                pipe,
                caught,
                came: Cell::new(0),
                same,
                ends: Arc::default(),
            }),
            Err(error) => Err(Failure::Message(format!("cannot catch signals: {error}"))),
        }
    }

    /// The number of signals so far. One that comes again at once is counted with the first.
    pub fn count(&self) -> usize {
        let mut buffer = [0; 64];
        while let Ok(1..) = (&self.pipe).read(&mut buffer) {}
        for caught in &self.caught {
            // SeqCst, as signal_hook sets it in a handler: a flag by itself, which the byte in the
            // pipe comes after.
            let is_new = caught.came.swap(false, Ordering::SeqCst);
            if is_new && self.rest(caught).is_zero() {
                self.came.set(self.came.get() + 1);
                caught.last.set(Some(Instant::now()));
            }
        }
        self.came.get()
    }

    /// The time in which this signal would still count as the one before.
    fn rest(&self, caught: &Caught) -> Duration {
        let since = caught.last.get().map(|last| last.elapsed());
        since.map_or(Duration::ZERO, |since| self.same.saturating_sub(since))
    }

    /// Sets whether another signal ends the process at once.
    pub fn end_at_once(&self, ends: bool) {
        *lock(&self.ends) = ends;
        for caught in &self.caught {
            let rest = self.rest(caught);
            // SeqCst, as signal_hook reads it in a handler; it guards nothing but itself.
            caught.fatal.store(ends && rest.is_zero(), Ordering::SeqCst);
            if ends && !rest.is_zero() {
                let (ends, fatal) = (Arc::clone(&self.ends), Arc::clone(&caught.fatal));
                std::thread::spawn(move || {
                    std::thread::sleep(rest);
                    let ends = lock(&ends);
                    // SeqCst, as above.
                    fatal.fetch_or(*ends, Ordering::SeqCst);
                });
            }
        }
    }

    /// Waits for a signal, for standard output to be closed by its reader, or for `timeout`.
    pub fn wait(&self, timeout: Duration) -> WakeReason {
        let stdout = io::stdout();
        // No event asked for: poll reports errors and hang-ups anyway, and nothing else.
        self.poll(Some((stdout.as_fd(), PollFlags::empty())), Some(timeout))
    }

    /// Waits for a signal, or for `timeout`.
    pub fn wait_for_signal(&self, timeout: Duration) -> WakeReason {
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

    /// Writes a last line to standard output although a signal came, if there is room for it.
    pub fn write_if_room(&self, line: &[u8]) {
        let stdout = io::stdout();
        let mut fds = [PollFd::new(stdout.as_fd(), PollFlags::POLLOUT)];
        let has_room = matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..));
        if has_room && line.len() <= SURE {
            // Nobody is left to whom an error matters.
            let _ = nix::unistd::write(stdout.as_fd(), line);
        }
    }

    fn poll(
        &self,
        other: Option<(BorrowedFd<'_>, PollFlags)>,
        timeout: Option<Duration>,
    ) -> WakeReason {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        loop {
            if self.count() > 0 {
                return WakeReason::Interrupted;
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
                Ok(0) if left.is_some_and(|left| left.is_zero()) => return WakeReason::Timeout,
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) if ready(0) => {}
                Ok(_) => return WakeReason::OutputClosed,
                // poll can fail only if the kernel has no memory.
                Err(_) => return WakeReason::Interrupted,
            }
        }
    }
}

/// Nothing panics while it holds the lock.
fn lock(ends: &Mutex<bool>) -> MutexGuard<'_, bool> {
    ends.lock().unwrap_or_else(PoisonError::into_inner)
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
        let stdout = (self.inner.as_fd(), PollFlags::POLLOUT);
        match self.signals.poll(Some(stdout), None) {
            WakeReason::Interrupted => Err(io::Error::other(Interrupted)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::{Signal, raise};

    #[test]
    fn a_signal_that_comes_again_at_once_is_the_same() {
        let signals = Signals::catch_within(Duration::from_secs(3600)).unwrap();
        assert_eq!(signals.count(), 0);
        raise(Signal::SIGHUP).unwrap();
        assert_eq!(signals.count(), 1);
        // Otherwise, this would end the process.
        signals.end_at_once(true);
        raise(Signal::SIGHUP).unwrap();
        assert_eq!(signals.count(), 1);
        signals.end_at_once(false);
        raise(Signal::SIGQUIT).unwrap();
        assert_eq!(signals.count(), 2);

        let signals = Signals::catch_within(Duration::ZERO).unwrap();
        for count in 1..4 {
            raise(Signal::SIGHUP).unwrap();
            assert_eq!(signals.count(), count);
        }
    }
}
