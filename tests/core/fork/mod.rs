//! Tests logging from hostile places.
//! These are forked children, ending threads, signal handlers, and processes without descriptors.

mod children;
mod closed;
mod handlers;
mod limits;
mod signals;
mod stepping;
mod threads;

pub use signals::{handled, install, log_one, serve};
#[cfg(target_arch = "x86_64")]
pub use stepping::trap;

use std::io::Error;

/// How a child was forked.
#[derive(Clone, Copy)]
pub enum Fork {
    /// By the C library, which runs its handlers.
    Library,
    /// By the kernel alone.
    Raw,
}

/// Forks; the child runs `f` under a deadline of its own and ends without cleaning up.
pub fn fork(how: Fork, f: impl FnOnce()) -> libc::pid_t {
    let pid = fork_on(how);
    if pid == 0 {
        crate::support::deadline();
        f();
        // SAFETY: ends the process, which has nothing to clean up.
        unsafe { libc::_exit(0) };
    }
    pid
}

/// Forks; the child goes on as its parent does, and ends soon.
pub fn fork_on(how: Fork) -> libc::pid_t {
    // SAFETY: the child does what by the choice of the caller is allowed between a fork of this
    // kind and an exit, and then ends.
    let pid = unsafe {
        match how {
            Fork::Library => libc::fork(),
            Fork::Raw => libc::syscall(libc::SYS_fork) as libc::pid_t,
        }
    };
    assert!(pid >= 0, "fork: {}", Error::last_os_error());
    pid
}

/// Waits for a forked child, which must have succeeded.
pub fn reap(pid: libc::pid_t) {
    let mut status = 0;
    // SAFETY: `status` is a valid place for one.
    let waited = unsafe { libc::waitpid(pid, &mut status, 0) };
    assert_eq!(waited, pid, "waitpid: {}", Error::last_os_error());
    assert_eq!(
        status, 0,
        "the forked child failed, or hung until its alarm"
    );
}

/// The id of the calling process, from the kernel.
fn own_pid() -> u32 {
    std::process::id()
}
