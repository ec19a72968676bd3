//! Makes files in memory, for readers that want a path.
//! Nobody needs to remove them, even if a target is killed.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

use nix::sys::memfd::{MFdFlags, memfd_create};

/// A file in memory.
pub struct Scratch(File);

impl Scratch {
    /// With these bytes.
    pub fn new(bytes: &[u8]) -> Scratch {
        let made = memfd_create(c"fuzz", MFdFlags::MFD_CLOEXEC).expect("memory for a file");
        let mut file = File::from(made);
        file.write_all(bytes).expect("room for a small file");
        Scratch(file)
    }

    /// A path that leads there as long as this lives.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }

    /// What it holds now.
    pub fn content(&self) -> Vec<u8> {
        std::fs::read(self.path()).expect("a file that can be read")
    }
}
