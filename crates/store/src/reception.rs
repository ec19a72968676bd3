//! Receives what one sender sends, and writes it to the files of its run.
//!
//! Frames are appended as they come. An acknowledgement says that they are in the file, or on the
//! disk. If there is no room, nothing more is read, so the sender waits.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use timeline::internal::files::open_to_read;
use timeline_archive::frames::preamble;
use timeline_archive::{Error, TraceFiles, WatchMark};
use timeline_net::{
    Ack, Acknowledge, Beat, ClockAnswer, Hello, MAX_HELLO, Received, RefusalCode, VERSION, Welcome,
    WireMessage,
};
use tokio::task::block_in_place;
use tokio::time::{sleep, timeout};

use crate::machine;
use crate::options::StoreOptions;
use crate::place;
use crate::traces::{Claim, Traces};
use crate::wire::{ConnectionEnd, Wire, refused, wrong};

/// A sender that says nothing for so long is gone: it sends beats.
const SILENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether somebody watches the run.
const LOOK: Duration = Duration::from_millis(500);
/// A beat is sent after so long a silence.
const BEAT: Duration = Duration::from_secs(5);
/// The time between two acknowledgements.
const ACK: Duration = Duration::from_millis(20);
/// The same, if each costs a disk its time.
const DURABLE_ACK: Duration = Duration::from_millis(100);
/// The time between two attempts to write to a full disk.
const RETRY: Duration = Duration::from_millis(200);
/// Most bytes before the preamble of a run that has no directory yet.
const MAX_BEGINNING: usize = 1 << 20;
/// Most bytes of a record of a session.
const MAX_RECORD: usize = 16 << 20;

/// A session that is received.
pub struct Reception<'a> {
    wire: &'a mut Wire,
    hello: Hello,
    claim: Claim,
    traces: &'a Traces,
    options: &'a StoreOptions,
    /// The files. `None` as long as it is not known whose they are.
    files: Option<TraceFiles>,
    /// The number of the current file in the session.
    file: u64,
    /// Whether the session is complete.
    has_ended: bool,
    /// Frames that are to be written.
    frames: Vec<u8>,
    /// What is on the disk, and what was told.
    durable: (u64, u64),
    /// What the sender was told last of this side, and when it was looked at.
    beat: Beat,
    looked: Instant,
    told: Ack,
    told_at: Instant,
    heard: Instant,
    /// What came last, by the clock of this machine, and a question that came with it.
    received: u64,
    question: Option<u64>,
}

impl<'a> Reception<'a> {
    /// Says how far the session, or the run, is received.
    pub async fn begin(
        wire: &'a mut Wire,
        hello: Hello,
        claim: Claim,
        traces: &'a Traces,
        options: &'a StoreOptions,
    ) -> Result<Reception<'a>, ConnectionEnd> {
        let mut reception = Reception {
            wire,
            hello,
            claim,
            traces,
            options,
            files: None,
            file: 0,
            has_ended: false,
            frames: Vec::new(),
            durable: (0, 0),
            beat: Beat::default(),
            looked: Instant::now(),
            told: Ack::default(),
            told_at: Instant::now(),
            heard: Instant::now(),
            received: 0,
            question: None,
        };
        let mut welcome = block_in_place(|| reception.open())?;
        if welcome.file == 0 && (reception.hello.file > 1 || reception.hello.acknowledged > 0) {
            let sentence = "this session is not known here; another one begins";
            return Err(refused(RefusalCode::UnknownSession, sentence));
        }
        welcome.version = VERSION;
        welcome.machine = machine::own();
        welcome.size = options.keeping.rotate_size;
        let age = options.keeping.rotate_every;
        welcome.age = age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        reception.wire.say(&WireMessage::Welcome(welcome)).await?;
        Ok(reception)
    }

    /// Says what became of the session.
    pub fn tell_end(&self, address: SocketAddr) {
        if let Some(files) = self.files.as_ref().filter(|_| self.file > 0) {
            let how = match self.has_ended {
                true => "has ended",
                false => "broke off",
            };
            let place = files.path().display().to_string();
            self.options.say(format_args!("{address} {how}: {place}"));
        }
    }

    /// Opens the files of the run, if it has some.
    fn open(&mut self) -> Result<Welcome, ConnectionEnd> {
        let mut welcome = Welcome::default();
        // What was removed is not known any more.
        if self
            .claim
            .folder
            .as_ref()
            .is_some_and(|folder| !folder.exists())
        {
            *self.claim.folder = None;
        }
        let Some(folder) = self.claim.folder.as_deref() else {
            return Ok(welcome);
        };
        let cannot = |error: Error| refused(RefusalCode::Other(0), error.to_string());
        let mut files = TraceFiles::open(folder, self.options.keeping).map_err(cannot)?;
        let first = files.first_record()?;
        let first = first.and_then(|record| Received::read(&record));
        match first {
            Some(Received::Message(WireMessage::File(start)))
                if start.session == self.hello.session =>
            {
                (welcome.file, welcome.written) = (start.number, files.size());
                self.file = start.number;
            }
            _ => welcome.state = files.state_of(self.hello.magic).map_err(cannot)?,
        }
        self.told = Ack {
            file: welcome.file,
            written: welcome.written,
            durable: 0,
        };
        self.files = Some(files);
        if welcome.file > 0 {
            self.tell_place();
        }
        Ok(welcome)
    }

    /// Receives until the connection ends.
    pub async fn run(&mut self) -> Result<(), ConnectionEnd> {
        loop {
            let ended = self.take_records();
            self.answer().await?;
            self.write().await?;
            if ended? {
                self.has_ended = true;
                block_in_place(|| self.sync());
                self.tell().await?;
            }
            self.tell_if_due().await?;
            if self.heard.elapsed() >= SILENCE {
                return Err(ConnectionEnd::Closed);
            }
            let wait = match self.is_told() {
                true => LOOK,
                false => self.ack_pause().saturating_sub(self.told_at.elapsed()),
            };
            // A pause of nothing would leave other connections no time.
            let wait = wait.max(Duration::from_millis(1));
            match timeout(wait, self.wire.receive()).await {
                Ok(Ok(())) => {
                    self.heard = Instant::now();
                    self.received = machine::time();
                    self.claim.hear();
                }
                Ok(Err(end)) => {
                    block_in_place(|| self.sync());
                    return Err(end);
                }
                Err(_) => {}
            }
        }
    }

    /// Takes the records that are whole. Returns whether the session has ended.
    fn take_records(&mut self) -> Result<bool, ConnectionEnd> {
        let mut has_ended = false;
        loop {
            let next = self.wire.inbox.next(MAX_RECORD);
            let next = next.map_err(|_| wrong("expected frames of an archive, got other bytes"))?;
            let Some(frame) = next else {
                return Ok(has_ended);
            };
            let (record, frame) = (frame.record().to_vec(), frame.bytes.to_vec());
            match Received::read(&record) {
                Some(Received::Data) => self.take_data(&frame, &record)?,
                Some(Received::Message(_)) if record.len() > MAX_HELLO => {
                    return Err(wrong(
                        "expected a message of at most 8 KiB, got a longer one",
                    ));
                }
                Some(Received::Message(WireMessage::File(start))) => {
                    let is_own =
                        (start.session, start.magic) == (self.hello.session, self.hello.magic);
                    if !is_own || start.number != self.file + 1 {
                        return Err(wrong("expected the next file of the session, got another"));
                    }
                    self.begin_file(start.number)?;
                    self.frames.extend_from_slice(&frame);
                }
                Some(Received::Message(WireMessage::Bye)) => {
                    self.take_data(&frame, &[])?;
                    has_ended = true;
                }
                Some(Received::Message(WireMessage::Beat(beat))) => {
                    self.question = beat.question.or(self.question);
                }
                Some(Received::Message(WireMessage::Unknown)) => {}
                _ => return Err(wrong("expected frames of an archive, got another message")),
            }
        }
    }

    /// Says what time it is here, if that was asked.
    async fn answer(&mut self) -> Result<(), ConnectionEnd> {
        let Some(asked) = self.question.take() else {
            return Ok(());
        };
        let answer = ClockAnswer {
            asked,
            received: self.received,
            sent: machine::time(),
        };
        let beat = Beat {
            answer: Some(answer),
            ..self.beat.clone()
        };
        self.wire.say(&WireMessage::Beat(beat)).await
    }

    /// Takes a frame that belongs to the file.
    fn take_data(&mut self, frame: &[u8], record: &[u8]) -> Result<(), ConnectionEnd> {
        if self.file == 0 {
            return Err(wrong("expected the record of a file first, got another"));
        }
        self.frames.extend_from_slice(frame);
        if self.files.is_some() {
            return Ok(());
        }
        if self.frames.len() > MAX_BEGINNING {
            return Err(wrong("expected the preamble of the run, got other records"));
        }
        let Some(run) = preamble(record) else {
            return Ok(());
        };
        if run.magic != Some(self.hello.magic) {
            return Err(wrong(
                "expected the preamble of the run of the hello, got another",
            ));
        }
        let folder = self.traces.folder().join(place::of_run(&run));
        let opened = block_in_place(|| TraceFiles::open(&folder, self.options.keeping));
        let opened = opened.map_err(|error| refused(RefusalCode::Other(0), error.to_string()));
        let files = opened?;
        if files.size() > 0 {
            // It was put there meanwhile. The next hello finds it.
            *self.claim.folder = Some(folder);
            let sentence = "this run is kept here already; connect again";
            return Err(refused(RefusalCode::UnknownSession, sentence));
        }
        block_in_place(|| sync_names(self.traces.folder(), &folder))?;
        *self.claim.folder = Some(folder);
        self.files = Some(files);
        self.tell_place();
        Ok(())
    }

    /// Begins the next file of the session.
    fn begin_file(&mut self, number: u64) -> Result<(), ConnectionEnd> {
        if let Some(files) = &mut self.files {
            // What belongs to the former file was sent before. The next acknowledgement says that
            // all of it is there.
            let frames = std::mem::take(&mut self.frames);
            let is_durable = self.hello.acknowledge == Acknowledge::Durable;
            let begun = block_in_place(|| {
                let is_written = frames.is_empty()
                    || files.write(&frames).is_ok_and(|done| done == frames.len());
                is_written && (!is_durable || files.sync()) && files.begin_next()
            });
            if !begun {
                return Err(cannot_write(files));
            }
            self.durable = (number, 0);
        }
        self.file = number;
        self.tell_place();
        Ok(())
    }

    /// Says where the session goes on.
    fn tell_place(&self) {
        if let Some(files) = &self.files {
            let place = files.path().display().to_string();
            self.options.say(format_args!("receiving {place}"));
        }
    }

    /// Writes what was taken. Waits while there is no room.
    async fn write(&mut self) -> Result<(), ConnectionEnd> {
        while !self.frames.is_empty()
            && let Some(files) = &mut self.files
        {
            if block_in_place(|| files.change()).is_some() {
                self.wire.say(&WireMessage::Gone).await?;
                return Err(ConnectionEnd::Closed);
            }
            match block_in_place(|| files.write(&self.frames)) {
                Ok(done) => drop(self.frames.drain(..done)),
                Err(_) => {
                    let trouble = files.trouble().map(|trouble| trouble.error.to_string());
                    if trouble.is_some() && self.beat.trouble.is_none() {
                        let place = files.path().display().to_string();
                        let what = trouble.as_deref().unwrap_or_default();
                        self.options
                            .say(format_args!("cannot write {place}: {what}"));
                    }
                    let beat = Beat {
                        trouble: trouble.or(self.beat.trouble.take()),
                        ..self.beat
                    };
                    self.beat_with(beat).await?;
                    sleep(RETRY).await;
                    self.heard = Instant::now();
                    self.claim.hear();
                }
            }
        }
        Ok(())
    }

    /// How far the file is received.
    fn ack(&self) -> Ack {
        let written = self.files.as_ref().map_or(0, TraceFiles::size);
        let durable = match self.durable {
            (file, durable) if file == self.file => durable,
            _ => 0,
        };
        Ack {
            file: self.file,
            written,
            durable,
        }
    }

    /// Whether the sender knows how far the file is received, as far as it wants to.
    fn is_told(&self) -> bool {
        let ack = self.ack();
        match self.hello.acknowledge {
            Acknowledge::Nothing => true,
            Acknowledge::Written => (ack.file, ack.written) == (self.told.file, self.told.written),
            Acknowledge::Durable => (ack.file, ack.written) == (self.told.file, self.told.durable),
        }
    }

    fn ack_pause(&self) -> Duration {
        match self.hello.acknowledge {
            Acknowledge::Durable => DURABLE_ACK,
            _ => ACK,
        }
    }

    async fn tell_if_due(&mut self) -> Result<(), ConnectionEnd> {
        if !self.is_told() && self.told_at.elapsed() >= self.ack_pause() {
            if self.hello.acknowledge == Acknowledge::Durable {
                block_in_place(|| self.sync());
            }
            self.tell().await?;
        }
        let mut beat = Beat {
            trouble: None,
            ..self.beat
        };
        if self.looked.elapsed() >= LOOK
            && let Some(folder) = self.claim.folder.as_deref()
        {
            self.looked = Instant::now();
            beat.is_watched = block_in_place(|| WatchMark::new(folder).is_now());
        }
        self.beat_with(beat).await
    }

    /// Says how this side is, if that changed, or after a silence.
    async fn beat_with(&mut self, beat: Beat) -> Result<(), ConnectionEnd> {
        let is_due = self.beat != beat || self.wire.said.elapsed() >= BEAT;
        self.beat = beat;
        match is_due {
            true => self.wire.say(&WireMessage::Beat(self.beat.clone())).await,
            false => Ok(()),
        }
    }

    async fn tell(&mut self) -> Result<(), ConnectionEnd> {
        if self.hello.acknowledge == Acknowledge::Nothing {
            return Ok(());
        }
        self.told = self.ack();
        self.told_at = Instant::now();
        self.wire.say(&WireMessage::Ack(self.told)).await
    }

    /// Makes what is written durable.
    fn sync(&mut self) {
        let file = self.file;
        if let Some(files) = &mut self.files
            && files.sync()
        {
            self.durable = (file, files.size());
        }
    }
}

/// Makes the name of the directory of a run durable, and that of its host.
fn sync_names(store: &Path, folder: &Path) -> std::io::Result<()> {
    let host = folder.parent().unwrap_or(store);
    [host, store]
        .into_iter()
        .try_for_each(|folder| open_to_read(folder)?.sync_all())
}

/// The files cannot be written now. The sender tries again.
fn cannot_write(files: &TraceFiles) -> ConnectionEnd {
    let trouble = files.trouble();
    let reason = trouble.map_or("there is no room".into(), |trouble| {
        trouble.error.to_string()
    });
    refused(
        RefusalCode::Other(0),
        format!("the store cannot write: {reason}"),
    )
}
