//! Acting as another user, which only root can.

/// The other user, and its group.
pub const NOBODY: u32 = 65534;

/// Whether we are root; says that the test is skipped if not.
pub fn are_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        eprintln!("skipped: only root can act as another user");
    }
    root
}

/// From here on this process, which is one thread, has only the rights of that user and of a
/// further group.
pub fn become_user(user: u32, group: u32) {
    // SAFETY: they change only whose process this is.
    let became = unsafe { libc::setgroups(1, &group) | libc::setgid(user) | libc::setuid(user) };
    assert_eq!(became, 0);
}

/// From here on this process, which is one thread, has only the rights of nobody.
pub fn become_nobody() {
    become_user(NOBODY, NOBODY);
}
