//! Holds what is sent of one run: the number of the file, and the frames that nobody has yet.

use std::io;

use timeline_archive::{FileLimits, RunState};

use super::SenderOptions;
use super::window::SendWindow;
use crate::hello::{Acknowledge, Hello, SessionId, VERSION, Welcome};
use crate::message::{FileStart, WireMessage};

/// A session.
pub struct SenderSession {
    id: SessionId,
    magic: u64,
    /// The number of the current file, and the bytes of its frames. 0 before the first.
    file: u64,
    pub size: u64,
    pub window: SendWindow,
    pub limits: FileLimits,
    /// How far the run was recorded before. `None` as long as nobody has said.
    pub before: Option<Option<RunState>>,
    /// Whether any of it was sent.
    pub is_sent: bool,
    /// Whether the receiver has lost what this session goes on with.
    pub is_lost: bool,
}

impl SenderSession {
    /// A new one, of a run.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new(magic: u64) -> io::Result<SenderSession> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(SenderSession {
            id,
            magic,
            file: 0,
            size: 0,
            window: SendWindow::default(),
            limits: FileLimits::default(),
            before: None,
            is_sent: false,
            is_lost: false,
        })
    }

    /// The run.
    pub fn magic(&self) -> u64 {
        self.magic
    }

    /// Whether nothing was handed over yet.
    pub fn is_new(&self) -> bool {
        self.file == 0
    }

    /// What a connection begins with.
    pub fn hello(&self, acknowledge: Acknowledge) -> WireMessage {
        let (file, acknowledged) = self.window.oldest().unwrap_or((self.file, self.size));
        WireMessage::Hello(Hello {
            version: VERSION,
            session: self.id,
            magic: self.magic,
            file,
            acknowledged,
            acknowledge,
        })
    }

    /// Takes the answer to a hello.
    pub fn take_welcome(&mut self, welcome: Welcome) {
        self.limits = FileLimits {
            size: welcome.size,
            age: welcome.age.map(std::time::Duration::from_millis),
        };
        if self.is_new() {
            self.before = Some(welcome.state);
            return;
        }
        // A receiver that does not know the session begins its first file.
        let (file, written) = match welcome.file {
            0 => (1, 0),
            file => (file, welcome.written),
        };
        let has_all = self.window.is_empty() && (file, written) == (self.file, self.size);
        self.is_lost = !has_all && !self.window.resume(file, written);
    }

    /// Hands frames over.
    pub fn write(&mut self, frames: &[u8], options: &SenderOptions) {
        if self.is_new() {
            self.begin_file(options);
        }
        self.put(frames.to_vec());
    }

    /// Begins the next file.
    pub fn begin_file(&mut self, options: &SenderOptions) {
        self.file += 1;
        self.size = 0;
        let start = WireMessage::File(FileStart {
            session: self.id,
            number: self.file,
            magic: self.magic,
            metadata: options.metadata.clone(),
        });
        self.put_message(&start);
    }

    /// Hands over a message that is kept in the file.
    pub fn put_message(&mut self, message: &WireMessage) {
        let mut frame = Vec::new();
        message.put(&mut frame);
        self.put(frame);
    }

    fn put(&mut self, frames: Vec<u8>) {
        self.size += frames.len() as u64;
        self.window.push(self.file, self.size, frames);
    }
}
