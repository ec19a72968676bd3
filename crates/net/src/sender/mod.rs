//! Sends the frames of a recorder to a store, over one connection after the other.
//!
//! A sender keeps what is not acknowledged, up to a limit. Behind that, it takes no more, and the
//! recorder leaves the rest in the ring, as at a full disk. No call waits for the other side, but
//! for 20 milliseconds at most when it is asked what time it is there, every ten seconds.
//!
//! session.rs has the session of a run, and window.rs its frames that are not acknowledged.
//! link.rs connects, and channel.rs is one connection. clock.rs asks what time it is there.
//! last_wait.rs waits at the end.

mod channel;
mod clock;
mod last_wait;
mod link;
mod session;
mod window;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use timeline_archive::{
    Destination, Error, FileChange, FileLimits, OutputTrouble, Preamble, ReferenceClock, Result,
    ResumeState, RunState,
};

use crate::hello::{Acknowledge, SessionId, VERSION};
use crate::message::{Beat, Received, RefusalCode, WireMessage};
use crate::tls::StoreTrust;
use crate::token::StoreToken;
use clock::ClockQuestions;
pub(crate) use last_wait::LastWait;
use link::Link;
pub(crate) use session::SenderSession;

/// A beat is sent after so long a silence.
const BEAT: Duration = Duration::from_secs(5);
/// A connection over which nothing came for so long is closed: the other side sends beats as well.
const SILENCE: Duration = Duration::from_secs(30);
/// Within this time a store refuses a sender that wants to be told nothing.
const REFUSAL_TIME: Duration = Duration::from_secs(1);
/// Most bytes of a message from a store: a welcome has the positions of all lanes.
const MAX_MESSAGE: usize = 16 << 20;
/// Most bytes that are sent by one call, so that it returns to the ring.
const AT_ONCE: usize = 4 << 20;

/// What a sender is told.
#[derive(Debug, Clone)]
pub struct SenderOptions {
    /// Where to connect to: a name or an address, and a port.
    pub address: String,
    /// By what the store there is known.
    pub trust: StoreTrust,
    /// By what it knows its senders.
    pub token: Option<StoreToken>,
    /// Most bytes that wait for an acknowledgement.
    pub buffer: usize,
    /// What is waited for.
    pub acknowledge: Acknowledge,
    /// How long to try without a connection; for ever if it is not given.
    pub patience: Option<Duration>,
    /// What the files say of this sender: names and values, at most
    /// [`timeline_archive::MAX_METADATA`].
    pub metadata: Vec<(String, String)>,
}

impl Default for SenderOptions {
    /// No address yet; a store that the user knows, a buffer of 64 MiB, written is enough, for
    /// ever.
    fn default() -> SenderOptions {
        SenderOptions {
            address: String::new(),
            trust: StoreTrust::default(),
            token: None,
            buffer: 64 << 20,
            acknowledge: Acknowledge::default(),
            patience: None,
            metadata: Vec::new(),
        }
    }
}

/// The sending half of a connection. It is a destination of a recorder.
///
/// # Example
/// ```no_run
/// use timeline::Attached;
/// use timeline_archive::{ArchiveOutput, Form, Recorder};
/// use timeline_net::{Sender, SenderOptions};
/// let sender = Sender::new(SenderOptions {
///     address: "localhost:1980".into(),
///     metadata: vec![("service".into(), "db".into())],
///     ..SenderOptions::default()
/// });
/// let mut output = ArchiveOutput::to("localhost:1980", Box::new(sender));
/// let at = Attached::open("/timeline")?;
/// let recorder = loop {
///     match Recorder::new(&at, &mut output, Form::Blocks) {
///         Err(error) if error.is_pending() => std::thread::yield_now(),
///         other => break other?,
///     }
/// };
/// # drop(recorder);
/// # Ok::<(), timeline_archive::Error>(())
/// ```
pub struct Sender {
    options: SenderOptions,
    link: Link,
    session: Option<SenderSession>,
    /// Whether the receiver has answered the hello of this connection.
    is_welcome: bool,
    /// Since when nothing can be sent.
    down: Option<Instant>,
    /// Events in frames that were given up.
    lost: u64,
    trouble: Option<OutputTrouble>,
    /// Whether the last write found no room.
    is_full: bool,
    /// Whether somebody waits for new events, as the receiver says.
    is_watched: bool,
    clock: ClockQuestions,
}

impl Sender {
    /// Connects as soon as there is something to send.
    pub fn new(options: SenderOptions) -> Sender {
        Sender {
            link: Link::new(options.address.clone(), options.trust.clone()),
            options,
            session: None,
            is_welcome: false,
            down: Some(Instant::now()),
            lost: 0,
            trouble: None,
            is_full: false,
            is_watched: false,
            clock: ClockQuestions::default(),
        }
    }

    /// Does what can be done without waiting: connects, receives, and sends.
    pub(crate) fn pump(&mut self) {
        if let Err((doing, error)) = self.try_pump() {
            self.fail(doing, error);
        }
        if self.trouble.is_none() && self.is_out_of_patience() {
            // The connection may still be on its way.
            let path = PathBuf::from(&self.options.address);
            let error = io::Error::new(io::ErrorKind::TimedOut, "there is no answer");
            self.trouble = Some(OutputTrouble::new("connect to", &path, error));
        }
    }

    /// The connection is of no use any more.
    fn fail(&mut self, doing: &'static str, error: io::Error) {
        self.link.close();
        (self.is_welcome, self.is_watched) = (false, false);
        self.down.get_or_insert_with(Instant::now);
        let path = PathBuf::from(&self.options.address);
        self.trouble = Some(OutputTrouble::new(doing, &path, error));
        if let Some(session) = &mut self.session {
            session.window.rewind();
            // Nobody says how far it came.
            session.is_lost |= session.is_sent && self.options.acknowledge == Acknowledge::Nothing;
        }
    }

    fn try_pump(&mut self) -> std::result::Result<(), (&'static str, io::Error)> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        if self.link.open().map_err(|error| ("connect to", error))?
            && let Some(channel) = self.link.channel()
        {
            if self.options.token.is_some() && !channel.is_private() {
                let what = "a token is not sent where everybody in between can read it; leave out \
                            --insecure, or the token";
                let error = io::Error::other(what);
                return Err(("send to", error));
            }
            channel.say(&session.hello(&self.options));
        }
        self.receive()?;
        let is_silent = self.options.acknowledge == Acknowledge::Nothing;
        let is_up = self.link.channel().is_some();
        if is_silent && is_up && !self.is_welcome && self.link.age() >= REFUSAL_TIME {
            self.welcome();
        }
        self.send().map_err(|error| ("send to", error))?;
        self.ask_time()
    }

    /// The receiver takes what is sent.
    fn welcome(&mut self) {
        self.is_welcome = true;
        (self.down, self.trouble) = (None, None);
        if self.options.acknowledge == Acknowledge::Nothing
            && let Some(session) = &mut self.session
        {
            session.before = Some(None);
        }
    }

    fn receive(&mut self) -> std::result::Result<(), (&'static str, io::Error)> {
        let Some(channel) = self.link.channel() else {
            return Ok(());
        };
        let records = channel.receive(MAX_MESSAGE);
        for record in records.map_err(|error| ("send to", error))? {
            let received = Received::read(&record);
            // Whoever acknowledges nothing may say anything; only a refusal is heard.
            let is_refusal = matches!(received, Some(Received::Message(WireMessage::Refused(_))));
            if self.options.acknowledge == Acknowledge::Nothing && !is_refusal {
                continue;
            }
            let Some(Received::Message(message)) = received else {
                let what = "expected an answer of a store, got something else";
                return Err(("send to", io::Error::new(io::ErrorKind::InvalidData, what)));
            };
            self.take(message)?;
        }
        Ok(())
    }

    fn take(&mut self, message: WireMessage) -> std::result::Result<(), (&'static str, io::Error)> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        match message {
            WireMessage::Welcome(welcome) if welcome.version != VERSION => {
                let what = format!(
                    "expected version {VERSION} of the protocol, got {}; use the same version of \
                     timeline on both sides",
                    welcome.version
                );
                return Err(("send to", io::Error::other(what)));
            }
            WireMessage::Welcome(welcome) if !self.is_welcome => {
                self.clock.begin(welcome.machine.clone());
                session.take_welcome(welcome);
                self.welcome();
            }
            WireMessage::Ack(ack) => {
                let offset = match self.options.acknowledge {
                    Acknowledge::Durable => ack.durable,
                    _ => ack.written,
                };
                session.window.acknowledge(ack.file, offset);
                // What was in its way is over.
                self.trouble = None;
                self.link.settle();
            }
            WireMessage::Beat(beat) => {
                if let Some(answer) = beat.answer {
                    self.clock.take(answer);
                }
                self.is_watched = beat.is_watched;
                let path = PathBuf::from(&self.options.address);
                let trouble = |told| OutputTrouble::new("write at", &path, io::Error::other(told));
                self.trouble = beat.trouble.map(trouble);
            }
            WireMessage::Gone => session.is_lost = true,
            WireMessage::Refused(refusal) => {
                session.is_lost |= refusal.code == RefusalCode::UnknownSession && !session.is_new();
                let refused = io::Error::other(refusal.sentence);
                return Err(("send to", refused));
            }
            _ => {}
        }
        Ok(())
    }

    fn send(&mut self) -> io::Result<()> {
        let (Some(channel), Some(session)) = (self.link.channel(), &mut self.session) else {
            return Ok(());
        };
        let window = &mut session.window;
        if self.is_welcome && channel.said.elapsed() >= BEAT && window.is_between_batches() {
            channel.say(&WireMessage::Beat(Beat::default()));
        }
        if window.is_between_batches() && !channel.send_messages()? {
            return Ok(());
        }
        let mut rest = AT_ONCE;
        while self.is_welcome && !session.is_lost && rest > 0 && window.has_unsent() {
            let Ok(unsent) = window.unsent() else {
                // Somebody has removed or cut the file of a spool.
                session.is_lost = true;
                break;
            };
            let count = channel.send(&unsent[..unsent.len().min(rest)])?;
            if count == 0 {
                break;
            }
            window.send(count);
            session.is_sent = true;
            rest -= count;
        }
        if self.options.acknowledge == Acknowledge::Nothing {
            window.forget_sent();
        } else if channel.heard.elapsed() >= SILENCE {
            let what = "nothing came from there for 30 seconds; what is no store of timeline and \
                        only writes to a file needs --acknowledge nothing";
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        Ok(())
    }

    /// Gives up the session, and begins another one of the same run.
    fn begin_anew(&mut self, magic: u64) -> Result<()> {
        if let Some(former) = &mut self.session {
            self.lost += former.window.give_up();
        }
        let session = SenderSession::new(magic);
        let path = PathBuf::from(&self.options.address);
        let failed = |error| timeline::Error::io("send to", &path, error);
        self.session = Some(session.map_err(failed)?);
        self.is_welcome = false;
        if self.link.channel().is_some() {
            self.link.close();
        }
        Ok(())
    }

    /// The time without a connection, if that is longer than the sender should try.
    fn is_out_of_patience(&self) -> bool {
        let patience = self.options.patience;
        let down = self.down.map(|since| since.elapsed());
        patience.zip(down).is_some_and(|(most, down)| down > most)
    }
}

/// What a spool has its sender do.
impl Sender {
    /// The session that is sent.
    pub(crate) fn session(&mut self) -> Option<&mut SenderSession> {
        self.session.as_mut()
    }

    /// The session that is sent, and how far it is acknowledged: its oldest file, and the bytes of
    /// that.
    pub(crate) fn progress(&self) -> Option<(SessionId, (u64, u64))> {
        let session = self.session.as_ref()?;
        Some((session.id(), session.progress()))
    }

    /// Sends another session from now on.
    pub(crate) fn ship(&mut self, session: SenderSession) {
        self.session = Some(session);
        self.is_welcome = false;
        if self.link.channel().is_some() {
            self.link.renew();
        }
    }

    /// Sends nothing until there is another session, and asks the store again after a pause.
    pub(crate) fn give_up(&mut self) {
        self.session = None;
        self.is_welcome = false;
        if self.link.channel().is_some() {
            self.link.close();
        }
    }
}

impl Destination for Sender {
    fn begin_run(&mut self, run: &Preamble) -> Result<Option<RunState>> {
        let magic = run.magic.unwrap_or(0);
        let is_ready = |session: &SenderSession| session.magic() == magic && session.is_new();
        if !self.session.as_ref().is_some_and(is_ready) {
            self.begin_anew(magic)?;
        }
        self.pump();
        let before = self
            .session
            .as_ref()
            .and_then(|session| session.before.clone());
        before.ok_or_else(|| {
            let path = PathBuf::from(&self.options.address);
            let what = io::Error::from(io::ErrorKind::WouldBlock);
            Error::from(timeline::Error::io("send to", &path, what))
        })
    }

    fn limits(&self) -> FileLimits {
        let session = self.session.as_ref();
        session.map_or_else(FileLimits::default, |session| session.limits)
    }

    fn size(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.size)
    }

    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        self.pump();
        let Some(session) = self.session.as_mut().filter(|session| !session.is_lost) else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let bytes = session.window.bytes();
        self.is_full = bytes > 0 && bytes + frames.len() > self.options.buffer;
        if self.is_full {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if !frames.is_empty() {
            session.write(frames, &self.options);
            self.pump();
        }
        Ok(frames.len())
    }

    fn is_full(&self) -> bool {
        self.is_full
    }

    fn is_over(&self) -> bool {
        self.is_out_of_patience()
    }

    fn is_settled(&mut self) -> bool {
        self.pump();
        let is_flushed = self
            .link
            .channel()
            .is_none_or(|channel| channel.is_flushed());
        let session = self.session.as_ref();
        session.is_none_or(|session| session.window.is_empty() && !session.is_lost && is_flushed)
    }

    fn begin_next(&mut self) -> bool {
        let session = self.session.as_mut().filter(|session| !session.is_lost);
        let Some(session) = session else {
            return false;
        };
        session.begin_file(&self.options);
        true
    }

    fn may_begin_next(&self) -> bool {
        !self.is_full
    }

    fn change(&mut self) -> Option<FileChange> {
        self.pump();
        None
    }

    fn reopen(&mut self, _: FileChange) -> Option<ResumeState> {
        None
    }

    fn is_cut_off(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_lost)
    }

    fn cut_off_rest(&mut self) {}

    fn finish(&mut self, waits: bool) {
        if let Some(session) = &mut self.session
            && !session.is_new()
            && !session.is_lost
        {
            session.put_message(&WireMessage::Bye);
        }
        let mut wait = LastWait::new();
        while !self.is_settled() && waits && wait.goes_on(self) {}
        let was_lost = self.is_cut_off();
        if let Some(mut session) = self.session.take() {
            self.lost += session.window.give_up();
        }
        self.is_welcome = false;
        if self.link.channel().is_some() {
            // A store that loses all that it is sent is not asked again without a pause.
            match was_lost {
                true => self.link.close(),
                false => self.link.renew(),
            }
        }
    }

    fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    fn take_clock(&mut self) -> Option<ReferenceClock> {
        self.clock.reading()
    }

    fn trouble(&self) -> Option<&OutputTrouble> {
        self.trouble.as_ref()
    }

    fn is_watched(&self) -> bool {
        self.is_watched
    }
}
