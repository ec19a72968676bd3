//! Recordings that are sent to a store: nothing twice, nothing left out, whatever happens between.
//!
//! place.rs is a store within this process, and a program whose events are sent. proxy.rs stands
//! between both, and cuts.

mod cuts;
mod encryption;
mod hosts;
mod limits;
mod pin;
pub mod place;
mod proxy;
mod reading;
mod receivers;
mod rest;
mod shifted;
mod spool;
mod strangers;
mod verbs;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;

use crate::command::Running;

/// An address of this machine that no other test has, so that a port which is free for a while is
/// taken by nobody.
pub fn own_address() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let [_, a, b, c] = (std::process::id() + 0x1_0000).to_be_bytes();
    let next = NEXT.fetch_add(1, Ordering::Relaxed) as u8;
    format!("127.{}.{b}.{c}:0", (a ^ next) | 1)
}

/// Starts a store, and returns it with its address.
pub fn receiving(folder: &Path, listen: &str) -> (Running, String) {
    let folder = folder.display().to_string();
    let mut store = Running::start(&["store", &folder, "--listen", listen]);
    let lines = store.stdout_until("an address", |lines| !lines.is_empty());
    (store, lines[0].clone())
}

/// Waits until a recorder says that it is refused for this reason, and ends it.
pub fn assert_refused(mut recorder: Running, reason: &str) {
    let refused = |lines: &[String]| lines.iter().any(|line| line.contains(reason));
    recorder.stderr_until(reason, refused);
    recorder.signal(Signal::SIGINT);
    recorder.finish();
}
