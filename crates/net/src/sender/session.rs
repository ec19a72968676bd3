//! Holds what is sent of one run: the number of the file, and the frames that nobody has yet.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::time::Duration;

use timeline_archive::{FileLimits, RunState, SessionFile};

use super::SenderOptions;
use super::window::SendWindow;
use crate::hello::{Hello, SessionId, VERSION, Welcome};
use crate::message::WireMessage;

/// The smallest limits of a file: each repeats the definitions and strings of its events.
const LEAST_SIZE: u64 = 64 << 10;
const LEAST_AGE: Duration = Duration::from_secs(1);

/// A session.
pub struct SenderSession {
    id: SessionId,
    magic: u64,
    /// The number of the current file, and the bytes of its frames. 0 before the first.
    file: u64,
    pub size: u64,
    /// The files before it whose successors may have to be sent again, and their sizes.
    former: VecDeque<(u64, u64)>,
    pub window: SendWindow,
    pub limits: FileLimits,
    /// How far the run was recorded before. `None` as long as nobody has said.
    pub before: Option<Option<RunState>>,
    /// Whether any of it was sent.
    pub is_sent: bool,
    /// Whether the receiver has lost what this session goes on with.
    pub is_lost: bool,
    /// Whether its frames lie in the files of a spool.
    is_stored: bool,
}

impl SenderSession {
    /// A new one, of a run.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn new(magic: u64) -> io::Result<SenderSession> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(SenderSession::with(id, magic))
    }

    /// One that has this name, and of which nothing was handed over yet.
    fn with(id: SessionId, magic: u64) -> SenderSession {
        SenderSession {
            id,
            magic,
            file: 0,
            size: 0,
            former: VecDeque::new(),
            window: SendWindow::default(),
            limits: FileLimits::default(),
            before: None,
            is_sent: false,
            is_lost: false,
            is_stored: false,
        }
    }

    /// One whose frames lie in the files of a spool: see [`SenderSession::push_stored`].
    pub fn stored(id: SessionId, magic: u64) -> SenderSession {
        SenderSession {
            is_stored: true,
            ..SenderSession::with(id, magic)
        }
    }

    /// Its name.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// The run.
    pub fn magic(&self) -> u64 {
        self.magic
    }

    /// Whether nothing was handed over yet.
    pub fn is_new(&self) -> bool {
        self.file == 0
    }

    /// How far it is acknowledged: its oldest file, and the bytes of that.
    pub fn progress(&self) -> (u64, u64) {
        self.window.oldest().unwrap_or((self.file, self.size))
    }

    /// What a connection begins with.
    pub fn hello(&self, options: &SenderOptions) -> WireMessage {
        let (file, acknowledged) = self.progress();
        WireMessage::Hello(Hello {
            version: VERSION,
            session: self.id,
            magic: self.magic,
            file,
            acknowledged,
            acknowledge: options.acknowledge,
            token: options.token.clone(),
        })
    }

    /// Takes the answer to a hello.
    pub fn take_welcome(&mut self, welcome: Welcome) {
        self.limits = FileLimits {
            size: welcome.size.map(|size| size.max(LEAST_SIZE)),
            age: welcome
                .age
                .map(|age| Duration::from_millis(age).max(LEAST_AGE)),
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
        // It may have all of a file, and nothing yet of the next one.
        // Of a file that a spool has removed, the size is not known any more.
        let is_former = self.is_stored || self.former.contains(&(file, written));
        let goes_on_behind = is_former && self.window.oldest() == Some((file + 1, 0));
        self.is_lost = !has_all && !goes_on_behind && !self.resumes(file, written);
    }

    fn resumes(&mut self, file: u64, written: u64) -> bool {
        self.window.resume(file, written) && self.window.goes_on_with_frame()
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
        let oldest = self.window.oldest().map_or(self.file, |(file, _)| file);
        self.former.retain(|(file, _)| file + 1 >= oldest);
        self.former.push_back((self.file, self.size));
        self.file += 1;
        self.size = 0;
        let start = WireMessage::File(SessionFile {
            session: self.id,
            number: self.file,
            magic: self.magic,
            metadata: options.metadata.clone(),
        });
        self.put_message(&start);
    }

    /// Whether what stands there in a file of the session is what comes next.
    pub fn goes_on_at(&self, number: u64, begin: u64) -> bool {
        let is_next = (number, begin) == (self.file + 1, 0);
        is_next || (number, begin) == (self.file, self.size)
    }

    /// Hands over what the file at `path`, which has this number in the session, has between these
    /// places.
    pub fn push_stored(&mut self, number: u64, (begin, end): (u64, u64), path: &Path) {
        (self.file, self.size) = (number, end);
        self.window.push_stored(number, (begin, end), path);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> SenderOptions {
        SenderOptions {
            address: "localhost:1980".into(),
            buffer: 1 << 20,
            ..SenderOptions::default()
        }
    }

    /// The receiver has all of the first file, and was gone before the second one came.
    #[test]
    fn a_session_goes_on_with_a_file_of_which_nothing_has_come() {
        let (mut session, options) = (SenderSession::new(7).unwrap(), options());
        session.write(b"first", &options);
        let size = session.size;
        while session.window.has_unsent() {
            let count = session.window.unsent().unwrap().len();
            session.window.send(count);
        }
        session.begin_file(&options);
        session.write(b"second", &options);
        session.window.acknowledge(1, size);
        assert_eq!(session.window.oldest(), Some((2, 0)));
        let all = session.window.bytes();
        session.window.rewind();
        let welcome = |written| Welcome {
            version: VERSION,
            file: 1,
            written,
            ..Welcome::default()
        };
        session.take_welcome(welcome(size));
        assert!(!session.is_lost);
        assert_eq!(
            (session.window.bytes(), session.window.oldest()),
            (all, Some((2, 0)))
        );
        assert!(session.window.has_unsent());
        // It has lost a part of the first one, which nobody has any more.
        session.take_welcome(welcome(size - 1));
        assert!(session.is_lost);
    }
}
