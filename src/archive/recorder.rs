//! Records a live ring into a file, and goes on where an earlier recorder of it was stopped.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::preamble::Preamble;
use super::reader::Archive;
use super::record::{Data, Kind, Source};
use super::writer::{Form, Writer};
use crate::attached::Attached;
use crate::error::{Error, Result};
use crate::event::EventId;
use crate::source::{Follow, From, Placed, ThreadRef};

/// How long events wait for others to share a block with.
const PATIENCE: Duration = Duration::from_secs(1);

/// A file that is locked against other recorders while it is open.
struct Output(Flock<File>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a recorder has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Events recorded.
    pub events: u64,
    /// Events that were overwritten before they could be recorded.
    pub missed: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Records a ring. Dropped without [`Recorder::finish`], it leaves what was written so far, as a kill does.
pub struct Recorder<'a> {
    at: &'a Attached,
    path: PathBuf,
    follow: Follow<'a>,
    writer: Writer<Output>,
    /// The number of the next event of each lane, of those that are known.
    next: Vec<Option<u64>>,
    kinds: Vec<Option<(Kind, usize)>>,
    sources: HashMap<(ThreadRef, u32), Source>,
    batch: Vec<Placed>,
    /// Since when events wait.
    waiting: Option<Instant>,
    totals: Totals,
}

impl<'a> Recorder<'a> {
    /// Records into the file at `path`, which is new, or one that an earlier recorder of the same ring wrote:
    /// then it goes on where that one stopped.
    ///
    /// # Errors
    /// `Io`; `OtherRing` for any other file; `RecorderBusy`.
    pub fn new(at: &'a Attached, path: &Path, form: Form) -> Result<Recorder<'a>> {
        let file = open(path)?;
        let fail = |doing| move |error| Error::io(doing, path, error);
        let bytes = std::fs::read(path).map_err(fail("read"))?;
        let torn = is_nothing_yet(&bytes);
        let archive = Archive::from_bytes(bytes);
        let ours = archive.preambles().iter().find(|p| p.is_of(at));
        // A preamble alone: the recorder was killed before it wrote where it begins.
        let fresh = torn || (ours.is_some() && archive.frames() == 1);
        let end = if fresh { 0 } else { archive.whole() as u64 };
        let (writer, follow) = if fresh {
            let preamble = Preamble::of(at);
            cut(&file, end).map_err(fail("write"))?;
            let mut writer = Writer::new(Output(file), preamble.magic.unwrap_or(0), form);
            writer.preamble(&preamble);
            let follow = at.follow(From::Oldest);
            let begun = follow.places().filter(|(_, next)| *next > 0);
            let begun: Vec<_> = begun.map(|(lane, next)| (lane.into(), next)).collect();
            let started = writer.missed(0, None, &begun).and_then(|()| writer.flush());
            started.map_err(fail("write"))?;
            (writer, follow)
        } else {
            let magic = ours.and_then(|preamble| preamble.magic);
            let magic = magic.ok_or_else(|| Error::OtherRing {
                path: path.to_path_buf(),
                timeline: at.path().to_path_buf(),
            })?;
            cut(&file, end).map_err(fail("write"))?;
            let mut writer = Writer::new(Output(file), magic, form);
            writer.knows(archive.string_ids(magic));
            let places = archive.places(magic);
            for (lane, next) in &places {
                writer.place(*lane, *next);
            }
            let lane = |(lane, next): &(u64, u64)| Some((u32::try_from(*lane).ok()?, *next));
            let places: Vec<_> = places.iter().filter_map(lane).collect();
            (writer, at.follow_at(&places))
        };
        let mut next = Vec::new();
        for (lane, number) in follow.places() {
            *known(&mut next, lane) = Some(number);
        }
        Ok(Recorder {
            at,
            path: path.to_path_buf(),
            follow,
            writer,
            next,
            kinds: Vec::new(),
            sources: HashMap::new(),
            batch: Vec::new(),
            waiting: None,
            totals: Totals::default(),
        })
    }

    /// Records what was logged since the last call; whether there was anything. Does not wait.
    ///
    /// # Errors
    /// `Io`. What stands in the file by then is valid up to its last whole frame.
    pub fn step(&mut self) -> Result<bool> {
        let path = self.path.clone();
        self.record()
            .map_err(|error| Error::io("write", &path, error))
    }

    /// Writes what still waits for others.
    ///
    /// # Errors
    /// `Io`.
    pub fn finish(mut self) -> Result<Totals> {
        let flushed = self.writer.flush();
        flushed.map_err(|error| Error::io("write", &self.path, error))?;
        Ok(self.totals())
    }

    /// What it has done so far.
    pub fn totals(&self) -> Totals {
        Totals {
            bytes: self.writer.written(),
            ..self.totals
        }
    }

    fn record(&mut self) -> io::Result<bool> {
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        let missed = self.follow.poll_placed(&mut batch);
        let mut data = Data::default();
        for placed in &batch {
            let expected = *known(&mut self.next, placed.lane);
            if expected.is_some_and(|expected| expected < placed.number) {
                self.miss(placed.lane, placed.number, Some(placed.event.ticks))?;
            }
            self.fill(placed, &mut data);
            self.writer.event(&data)?;
            *known(&mut self.next, placed.lane) = Some(placed.number.saturating_add(1));
        }
        if missed > 0 {
            let places: Vec<_> = self.follow.places().collect();
            for (lane, next) in places {
                if known(&mut self.next, lane).is_some_and(|expected| expected < next) {
                    self.miss(lane, next, None)?;
                }
            }
        }
        self.totals.events += batch.len() as u64;
        let new = !batch.is_empty() || missed > 0;
        self.batch = batch;
        self.writer.write()?;
        if self.writer.waiting() == 0 {
            self.waiting = None;
        } else if self.waiting.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            self.writer.flush()?;
            self.waiting = None;
        }
        Ok(new)
    }

    /// Notes that a lane goes on with `next`, and that what was before it is gone.
    fn miss(&mut self, lane: u32, next: u64, ticks: Option<u64>) -> io::Result<()> {
        let expected = known(&mut self.next, lane).replace(next).unwrap_or(next);
        let count = next.saturating_sub(expected);
        self.totals.missed = self.totals.missed.saturating_add(count);
        self.writer.missed(count, ticks, &[(lane.into(), next)])
    }

    fn fill(&mut self, placed: &Placed, data: &mut Data) {
        let event = &placed.event;
        let (kind, arguments) = self.kind(event.id);
        data.kind = kind;
        data.source = self.source(placed);
        data.ticks = Some(event.ticks);
        data.unix_nanos = self.at.unix_nanos(event.ticks);
        data.core = (event.core != u16::MAX).then_some(event.core.into());
        data.lane = Some(placed.lane.into());
        data.number = Some(placed.number);
        data.args.clear();
        data.args.extend(&event.args[..arguments]);
    }

    /// What an event says, and how many arguments it has: all there is room for, if that is not known.
    fn kind(&mut self, id: EventId) -> (Kind, usize) {
        let place = id.0 as usize;
        if let Some(Some(made)) = self.kinds.get(place) {
            return made.clone();
        }
        let unknown = Kind {
            event: Some(id.0.into()),
            ..Kind::default()
        };
        let Some(definition) = self.at.definition(id) else {
            return (unknown, 4);
        };
        let kind = Kind {
            level: Some(definition.priority as u64),
            format: Some(self.writer.string(&definition.message)),
            category: Some(self.writer.string(&definition.category)),
            ..unknown
        };
        let made = (kind, definition.argument_count().min(4));
        // Only what is defined makes this longer.
        if self.kinds.len() <= place {
            self.kinds.resize_with(place + 1, || None);
        }
        self.kinds[place] = Some(made.clone());
        made
    }

    fn source(&mut self, placed: &Placed) -> Source {
        let key = (placed.event.thread, placed.event.tid);
        if let Some(made) = self.sources.get(&key) {
            return made.clone();
        }
        let tid = Some(placed.event.tid.into());
        let made = match self.at.thread(&placed.event) {
            Some(thread) => Source {
                thread: Some(self.writer.string(&thread.name)),
                tid,
                pid: Some(thread.pid.into()),
                process: Some(self.writer.string(&thread.process)),
            },
            None => Source {
                tid,
                ..Source::default()
            },
        };
        self.sources.insert(key, made.clone());
        made
    }
}

fn known(next: &mut Vec<Option<u64>>, lane: u32) -> &mut Option<u64> {
    let lane = lane as usize;
    if next.len() <= lane {
        next.resize(lane + 1, None);
    }
    &mut next[lane]
}

/// Opens the file for this recorder alone.
fn open(path: &Path) -> Result<Flock<File>> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false);
    let file = file
        .open(path)
        .map_err(|error| Error::io("open", path, error))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
        Errno::EWOULDBLOCK => Error::RecorderBusy { path: path.into() },
        _ => Error::io("lock", path, errno),
    })
}

/// Whether a file is empty, or all that it has is the beginning of a first frame: its recorder was killed then.
fn is_nothing_yet(bytes: &[u8]) -> bool {
    let begins = bytes
        .iter()
        .zip([0xc1, 0xce])
        .all(|(byte, mark)| *byte == mark);
    begins && bytes.len() < 1 << 16 && Archive::from_bytes(bytes).frames() == 0
}

/// Leaves only what is before `end`, and writes on there.
fn cut(mut file: &File, end: u64) -> io::Result<()> {
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok(())
}
