//! What a recorder appends to an archive while it is being read.
//!
//! A recorder holds a lock on what it writes as long as it lives, so whether more can come is known without its help.
//! It writes whole frames, of which a reader may see a part: what is no whole frame at the end is looked at again when
//! there is more.

use std::fs::File;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

/// Whether a recorder holds the file.
pub fn is_recorded(file: &File) -> bool {
    let Ok(own) = file.try_clone() else {
        return false;
    };
    // Taken for a moment if it is free.
    let taken = Flock::lock(own, FlockArg::LockSharedNonblock);
    matches!(taken, Err((_, Errno::EWOULDBLOCK)))
}
