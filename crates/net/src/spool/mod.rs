//! Keeps on a disk what a store does not have yet, however long it is away.
//!
//! All that is recorded goes to numbered files of a directory, which are those that the store will
//! have, byte by byte. They are sent in order, and removed when the store has acknowledged them. So
//! whoever opens the directory next goes on where the store is, whatever became of this process.
//!
//! folder.rs has the files. Sessions are sent by a [`Sender`], which reads them from there.

mod folder;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use timeline_archive::{
    Destination, FileChange, FileLimits, OutputTrouble, Preamble, ReferenceClock, Result,
    ResumeState, RunState, SessionFile,
};

use crate::hello::{Acknowledge, SessionId};
use crate::message::WireMessage;
use crate::sender::{LastWait, Sender, SenderOptions, SenderSession};
use folder::{SpoolFile, SpoolFolder, failed};

/// The smallest spool: it has several files.
pub const LEAST_SPOOL: u64 = 1 << 20;
/// The size of a spool, if none is given.
pub const SPOOL: u64 = 1 << 30;
/// The largest file, and which part of a spool it is at most.
const LARGEST: u64 = 16 << 20;
const PART: u64 = 8;
/// The pause before files that could not be read are tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a store is asked how far it has a run of which nothing is in the spool.
const ANSWER: Duration = Duration::from_secs(2);

/// What is recorded at present.
struct OwnSession {
    id: SessionId,
    magic: u64,
    /// The number of its last file.
    number: u64,
    /// Whether it is written to.
    is_begun: bool,
}

/// Sends to a store by way of a directory. It is a destination of a recorder, which never waits for
/// the store: only if the spool has reached its size, or the disk is full, events stay in the ring.
///
/// # Example
/// ```no_run
/// use timeline_archive::ArchiveOutput;
/// use timeline_net::{SPOOL, SenderOptions, Spool};
/// let options = SenderOptions {
///     address: "localhost:1980".into(),
///     ..SenderOptions::default()
/// };
/// let spool = Spool::open("spool/".as_ref(), SPOOL, options)?;
/// let output = ArchiveOutput::to("localhost:1980", Box::new(spool));
/// # drop(output);
/// # Ok::<(), timeline_archive::Error>(())
/// ```
pub struct Spool {
    sender: Sender,
    folder: SpoolFolder,
    /// Most bytes of all files.
    most: u64,
    metadata: Vec<(String, String)>,
    own: Option<OwnSession>,
    /// Since when the store is asked how far it has the run.
    asked: Option<Instant>,
    /// What the store said last of files.
    store_limits: FileLimits,
    /// Whether the store has lost the session that is recorded.
    is_lost: bool,
    /// Why nothing was taken last.
    full: Option<OutputTrouble>,
    /// Why files cannot be sent, and since when.
    unsent: Option<(OutputTrouble, Instant)>,
    /// Whether the run has ended, so that the store need not be there any more.
    has_ended: bool,
}

impl Spool {
    /// Opens a directory, which is made with access for its owner alone if it is not there, and has
    /// at most so many bytes ([`LEAST_SPOOL`] at least). What another recorder has left in it is
    /// sent first.
    ///
    /// # Errors
    /// `Io`, also for a directory that has other files, or if nothing is to be acknowledged;
    /// `RecorderBusy`.
    pub fn open(path: &Path, most: u64, options: SenderOptions) -> Result<Spool> {
        if options.acknowledge == Acknowledge::Nothing {
            let what = "expected a store that tells what it has, since that is removed here";
            let error = io::Error::new(io::ErrorKind::InvalidInput, what);
            return Err(failed("spool to", path, error));
        }
        Ok(Spool {
            folder: SpoolFolder::open(path)?,
            metadata: options.metadata.clone(),
            sender: Sender::new(options),
            most: most.max(LEAST_SPOOL),
            own: None,
            asked: None,
            store_limits: FileLimits::default(),
            is_lost: false,
            full: None,
            unsent: None,
            has_ended: false,
        })
    }

    /// Sends what can be sent, and removes what has arrived.
    fn pump(&mut self) {
        self.sender.pump();
        if let Some(session) = self.sender.session() {
            self.store_limits = session.limits;
            match session.is_lost {
                true => self.lose(),
                false => self.note_acknowledged(),
            }
        }
        if !self.is_lost {
            let own = self.own.as_ref().map(|own| own.magic);
            self.folder.remove_acknowledged(own);
            self.send_next();
        }
    }

    /// Notes which files the store has.
    fn note_acknowledged(&mut self) {
        let Some(session) = self.sender.session() else {
            return;
        };
        let (id, (number, bytes)) = (session.id(), session.progress());
        let files = self.folder.all.iter_mut();
        for file in files.filter(|file| file.session == id) {
            let is_all = (file.number, file.size) == (number, bytes);
            file.is_acknowledged = file.number < number || is_all;
        }
    }

    /// The store cannot go on with the session that is sent.
    fn lose(&mut self) {
        let Some(id) = self.sender.session().map(|session| session.id()) else {
            return;
        };
        self.sender.give_up();
        match &self.own {
            // The recorder leaves its file first.
            Some(own) if own.id == id && own.is_begun => self.is_lost = true,
            _ => self.rename(id),
        }
    }

    /// Has what is left of a session sent as another one.
    fn rename(&mut self, id: SessionId) {
        // If that fails, it is lost again.
        if let Ok(new) = SenderSession::new(0)
            && self.folder.rename_session(id, new.id()).is_ok()
            && let Some(own) = self.own.as_mut().filter(|own| own.id == id)
        {
            let files = self
                .folder
                .all
                .iter()
                .filter(|file| file.session == new.id());
            (own.id, own.number) = (new.id(), files.count() as u64);
        }
    }

    /// Sends the next session, if all of the last one has arrived.
    fn send_next(&mut self) {
        let is_sent = |session: &mut SenderSession| session.window.is_empty();
        if !self.sender.session().is_none_or(is_sent) {
            return;
        }
        let is_early = |(_, since): &(OutputTrouble, Instant)| since.elapsed() < PAUSE;
        if self.unsent.as_ref().is_some_and(is_early) {
            return;
        }
        let places = self.folder.next_session();
        let (places, error) = match places {
            Ok(places) => (places, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        self.unsent = error.map(|error| {
            let trouble = OutputTrouble::of("send from", self.folder.path(), error);
            (trouble, Instant::now())
        });
        let Some(first) = places.first().map(|place| &self.folder.all[*place]) else {
            return;
        };
        let mut session = SenderSession::stored(first.session, first.magic);
        for file in places.iter().map(|place| &self.folder.all[*place]) {
            session.push_stored(file.number, (0, file.size), &file.path);
        }
        self.sender.ship(session);
    }

    /// What the store says of a run of which nothing is here. `None` if there is no answer yet.
    fn ask(&mut self, id: SessionId, magic: u64) -> Option<Option<RunState>> {
        if self
            .sender
            .session()
            .is_none_or(|session| session.id() != id)
        {
            self.sender.ship(SenderSession::stored(id, magic));
        }
        let asked = *self.asked.get_or_insert_with(Instant::now);
        self.sender.pump();
        let before = self
            .sender
            .session()
            .and_then(|session| session.before.clone());
        let is_away = self.sender.trouble().is_some() || asked.elapsed() >= ANSWER;
        before.or(is_away.then_some(None))
    }

    /// Begins the next file of the session.
    fn begin_file(&mut self) -> bool {
        let Some(own) = &mut self.own else {
            return false;
        };
        let start = SessionFile {
            session: own.id,
            number: own.number + 1,
            magic: own.magic,
            metadata: self.metadata.clone(),
        };
        own.is_begun = self.folder.begin(&start);
        own.number += u64::from(own.is_begun);
        own.is_begun
    }

    /// Appends whole frames to the file, and has them sent.
    fn put(&mut self, frames: &[u8]) -> io::Result<usize> {
        let before = self.folder.bytes();
        let (file, place) = self.folder.write(frames)?;
        if let Some(session) = self.sender.session()
            && session.id() == file.session
            && session.goes_on_at(file.number, place.0)
        {
            session.push_stored(file.number, place, &file.path);
        }
        Ok((self.folder.bytes() - before) as usize)
    }

    fn full(&self, what: &str) -> Option<OutputTrouble> {
        let error = io::Error::new(io::ErrorKind::StorageFull, what);
        Some(OutputTrouble::new("write to", self.folder.path(), error))
    }
}

impl Destination for Spool {
    fn begin_run(&mut self, run: &Preamble) -> Result<Option<RunState>> {
        let magic = run.magic.unwrap_or(0);
        self.has_ended = false;
        if let Some(own) = self.own.take_if(|own| own.magic != magic || own.is_begun) {
            self.folder.end_file();
            self.asked = None;
            if std::mem::take(&mut self.is_lost) {
                self.rename(own.id);
            }
        }
        let known = self.folder.state_of(magic)?;
        let known = known.map(|(file, state)| ((file.session, file.number), state));
        if let Some(((id, number), state)) = known {
            self.own.get_or_insert(OwnSession {
                id,
                magic,
                number,
                is_begun: false,
            });
            self.pump();
            return Ok(Some(state));
        }
        if self.own.is_none() {
            let path = PathBuf::from(self.folder.path());
            let new =
                SenderSession::new(magic).map_err(|error| failed("spool to", &path, error))?;
            self.own = Some(OwnSession {
                id: new.id(),
                magic,
                number: 0,
                is_begun: false,
            });
        }
        let id = self.own.as_ref().map_or(SessionId::default(), |own| own.id);
        if !self.folder.all.is_empty() {
            // The store has to be sent these before it can be asked, and may be away.
            self.pump();
            return Ok(None);
        }
        self.ask(id, magic).ok_or_else(|| {
            let what = io::Error::from(io::ErrorKind::WouldBlock);
            failed("send to", self.folder.path(), what)
        })
    }

    fn limits(&self) -> FileLimits {
        let own = (self.most / PART).min(LARGEST);
        FileLimits {
            size: Some(self.store_limits.size.map_or(own, |size| size.min(own))),
            age: self.store_limits.age,
        }
    }

    fn size(&self) -> u64 {
        let file = self.folder.all.last();
        let file = file.filter(|_| self.own.as_ref().is_some_and(|own| own.is_begun));
        file.map_or(0, |file| file.size - file.head)
    }

    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        self.pump();
        if frames.is_empty() {
            return Ok(0);
        }
        let bytes = self.folder.bytes() + frames.len() as u64;
        if bytes > self.most && self.waiting() > 0 {
            self.full = self.full("it is as large as it may be, and waits for the store");
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let is_begun = self.own.as_ref().is_some_and(|own| own.is_begun);
        let put = match is_begun || self.begin_file() {
            true => self.put(frames),
            false => Err(io::ErrorKind::StorageFull.into()),
        };
        self.full = match &put {
            Ok(_) => None,
            Err(_) => self.full("there is no room"),
        };
        self.pump();
        put
    }

    fn is_full(&self) -> bool {
        self.full.is_some()
    }

    fn is_over(&self) -> bool {
        self.sender.is_over()
    }

    fn begin_next(&mut self) -> bool {
        let has_ended = self.folder.end_file();
        if let Some(own) = self.own.as_mut().filter(|_| has_ended) {
            own.is_begun = false;
        }
        has_ended
    }

    fn may_begin_next(&self) -> bool {
        self.full.is_none()
    }

    fn change(&mut self) -> Option<FileChange> {
        self.pump();
        let is_begun = self.own.as_ref().is_some_and(|own| own.is_begun);
        self.folder.change().filter(|_| is_begun)
    }

    fn reopen(&mut self, _: FileChange) -> Option<ResumeState> {
        self.begin_next().then(ResumeState::default)
    }

    fn is_cut_off(&self) -> bool {
        self.is_lost
    }

    fn cut_off_rest(&mut self) {}

    /// What is in the spool is safe, and the next run need not wait until it is sent.
    fn is_settled(&mut self) -> bool {
        self.pump();
        true
    }

    fn finish(&mut self, waits: bool) {
        let is_begun = self.own.as_ref().is_some_and(|own| own.is_begun);
        if is_begun && !self.is_lost {
            let mut bye = Vec::new();
            WireMessage::Bye.put(&mut bye);
            // Without room for it, the session is one that broke off.
            let _ = self.put(&bye);
        }
        if waits {
            self.folder.sync();
        }
        let mut wait = LastWait::new();
        self.pump();
        while waits && self.waiting() > 0 && wait.goes_on(&self.sender) {
            self.pump();
        }
        if self.is_lost {
            return;
        }
        self.folder.end_file();
        (self.own, self.asked, self.has_ended) = (None, None, true);
        self.folder.look_again();
        self.folder.remove_acknowledged(None);
    }

    fn take_lost(&mut self) -> u64 {
        0
    }

    fn take_clock(&mut self) -> Option<ReferenceClock> {
        self.sender.take_clock()
    }

    fn trouble(&self) -> Option<&OutputTrouble> {
        let here = self.folder.trouble().or(self.full.as_ref());
        // What is in the spool waits for the store; who gave it only so long is told.
        let is_told = !self.has_ended || self.sender.is_over();
        let there = || self.sender.trouble().filter(|_| is_told);
        let unsent = || self.unsent.as_ref().map(|(trouble, _)| trouble);
        here.or_else(unsent).or_else(there)
    }

    fn is_watched(&self) -> bool {
        self.sender.is_watched()
    }

    fn waiting(&self) -> u64 {
        let sent = self.sender.progress();
        let unsent = |file: &SpoolFile| match sent {
            Some((id, (number, bytes))) if (id, number) == (file.session, file.number) => {
                file.size.saturating_sub(bytes)
            }
            _ => file.size,
        };
        let files = self.folder.all.iter().filter(|file| file.waits());
        files.map(unsent).sum()
    }
}
