//! Writes which processes log, the fingerprints of their executables, and what they have loaded.
//!
//! An executable may have hundreds of megabytes. So another thread hashes it, while the recorder
//! goes on: the record of a process is written before its first event, and once more when its
//! fingerprint is known.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use timeline::internal::executable::sha1_of;
use timeline::{Attached, FileVersion, JoinedProcess, Module, ProcessExecutable};

use crate::format::preamble::Preamble;
use crate::format::process::ProcessRecord;
use crate::write::writer::Writer;

/// How long a recorder that ends waits for fingerprints.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a process may take from being counted to being in the table.
const JOINING: Duration = Duration::from_secs(1);
/// Most processes that further files have.
const MOST: usize = 1 << 12;
/// Most modules that an archive has of a ring.
const MOST_MODULES: usize = 1 << 16;

type Sha1 = Option<[u8; 20]>;
/// A file, as processes name it.
type Named = (Arc<ProcessExecutable>, FileVersion);

/// Whom a thread that hashes is asked by, and its answers.
type Hashing = (Sender<JoinedProcess>, Receiver<(Named, Sha1)>);

/// The processes of a ring.
#[derive(Default)]
pub struct RingProcesses {
    /// How many had joined when they were looked at.
    joins: Option<u64>,
    changed: Option<Instant>,
    /// Those that were written.
    all: Vec<JoinedProcess>,
    /// What is known of files.
    known: HashMap<Named, Sha1>,
    /// What they have loaded, and how many definitions there were when that was looked at.
    modules: Vec<Module>,
    defined: u32,
    /// Files that are being hashed.
    waiting: usize,
    hashing: Option<Hashing>,
}

fn named(joined: &JoinedProcess) -> Option<Named> {
    Some((Arc::clone(joined.executable.as_ref()?), joined.version?))
}

impl RingProcesses {
    /// Writes those that have joined since, and fingerprints that were found since.
    pub fn tell<W: Write>(&mut self, at: &Attached, run: &Preamble, writer: &mut Writer<W>) {
        self.take_digests(run, writer);
        let known = self.all.len();
        self.look(at, run);
        for joined in &self.all[known.min(self.all.len())..] {
            put(&self.known, run, joined, writer);
        }
        for module in self.look_at_modules(at) {
            writer.module(&module);
        }
        // Those that are gone from the table stay known, but not for ever.
        let too_many = self.all.len().saturating_sub(MOST);
        self.all.drain(..too_many);
    }

    /// Writes all again, for a file that begins.
    pub fn repeat<W: Write>(&mut self, at: &Attached, run: &Preamble, writer: &mut Writer<W>) {
        self.look(at, run);
        for joined in &self.all {
            put(&self.known, run, joined, writer);
        }
        self.look_at_modules(at);
        for module in &self.modules {
            writer.module(module);
        }
    }

    /// Adds what was loaded since, and returns it.
    fn look_at_modules(&mut self, at: &Attached) -> Vec<Module> {
        let (mut new, defined) = at.modules_since(self.defined);
        self.defined = defined;
        new.truncate(MOST_MODULES.saturating_sub(self.modules.len()));
        self.modules.extend_from_slice(&new);
        new
    }

    /// Adds those that have joined since.
    fn look(&mut self, at: &Attached, run: &Preamble) {
        let joins = at.joins();
        if self.joins != Some(joins) {
            (self.joins, self.changed) = (Some(joins), Some(Instant::now()));
        } else if self
            .changed
            .is_none_or(|changed| changed.elapsed() > JOINING)
        {
            return;
        }
        for joined in at.processes() {
            let is_known = |known: &JoinedProcess| known.identity == joined.identity;
            if !self.all.iter().any(is_known) {
                self.begin(at, run, &joined);
                self.all.push(joined);
            }
        }
    }

    /// Has the executable of a process hashed, unless its fingerprint is known.
    fn begin(&mut self, at: &Attached, run: &Preamble, joined: &JoinedProcess) {
        let Some(file) = named(joined) else {
            return;
        };
        if self.known.contains_key(&file) {
            return;
        }
        let recorded = file.0.sha1;
        // That of the creator is in the preamble.
        let is_creator = run.pid == Some(joined.pid.into())
            && run.path.as_deref() == Some(&file.0.path)
            && run.size == file.0.size;
        let of_run = run.sha1.as_deref().and_then(|sha1| sha1.try_into().ok());
        let sha1 = recorded.or(of_run.filter(|_| is_creator));
        self.known.insert(file, sha1);
        if sha1.is_some() || at.is_snapshot() {
            return;
        }
        let (requests, _) = self.hashing.get_or_insert_with(hashing);
        if requests.send(joined.clone()).is_ok() {
            self.waiting += 1;
        }
    }

    /// Takes the fingerprints that were found, and writes the processes again that have them.
    fn take_digests<W: Write>(&mut self, run: &Preamble, writer: &mut Writer<W>) {
        while let Some((_, answers)) = &self.hashing
            && let Ok(answer) = answers.try_recv()
        {
            self.found(answer, run, writer);
        }
    }

    fn found<W: Write>(
        &mut self,
        (file, sha1): (Named, Sha1),
        run: &Preamble,
        writer: &mut Writer<W>,
    ) {
        self.waiting = self.waiting.saturating_sub(1);
        let all = self.all.iter();
        let having = all.filter(|joined| named(joined).as_ref() == Some(&file));
        let having: Vec<JoinedProcess> = having.cloned().collect();
        self.known.insert(file, sha1);
        if sha1.is_some() {
            for joined in &having {
                put(&self.known, run, joined, writer);
            }
        }
    }

    /// Waits a moment for fingerprints, because the recorder ends.
    pub fn wait<W: Write>(&mut self, run: &Preamble, writer: &mut Writer<W>) {
        let until = Instant::now() + PATIENCE;
        while self.waiting > 0
            && let Some((_, answers)) = &self.hashing
            && let Ok(answer) =
                answers.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            self.found(answer, run, writer);
        }
    }
}

fn put<W: Write>(
    known: &HashMap<Named, Sha1>,
    run: &Preamble,
    joined: &JoinedProcess,
    writer: &mut Writer<W>,
) {
    let sha1 = named(joined).and_then(|file| *known.get(&file)?);
    writer.process(&ProcessRecord::of(run.magic.unwrap_or(0), joined, sha1));
}

/// A thread that hashes files one after the other, until nobody asks any more.
fn hashing() -> Hashing {
    let (requests, asked) = channel::<JoinedProcess>();
    let (answer, answers) = channel();
    let hash = move || {
        for joined in asked {
            let Some(file) = named(&joined) else {
                continue;
            };
            if answer.send((file, sha1_of(&joined))).is_err() {
                return;
            }
        }
    };
    // Without a thread, nobody answers, and fingerprints stay unknown.
    let _ = thread::Builder::new().name("hashing".into()).spawn(hash);
    (requests, answers)
}
