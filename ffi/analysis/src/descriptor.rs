//! Reads a descriptor that may give nothing for a while: an analysis of it can be cancelled.
use nix::poll::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;

/// How long bytes are waited for at once, in milliseconds.
const WAIT: u8 = 10;

/// A pipe, a connection or a file.
pub struct DescriptorReader<'a>(pub &'a File);

impl Read for DescriptorReader<'_> {
    /// `WouldBlock` if nothing comes for a moment.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut waiting = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        match poll(&mut waiting, WAIT)? {
            0 => Err(ErrorKind::WouldBlock.into()),
            // Bytes, their end, or an error, which the call tells.
            _ => self.0.read(buffer),
        }
    }
}
