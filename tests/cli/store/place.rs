//! A store within this process, and a program whose events are sent to it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use timeline::{Attached, Attributes, EventId, Priority, Timeline};
use timeline_archive::{
    Archive, ArchiveOutput, Form, Keeping, Preamble, RecordedEvent, Recorder, Totals,
};
use timeline_net::{Fingerprint, Sender, SenderOptions};
use timeline_store::{Retention, Store, StoreHandle, StoreOptions};

use crate::support::Name;

/// Far longer than anything takes: only a hang comes here.
const DEADLINE: Duration = Duration::from_secs(60);

/// A store, with a directory of its own.
pub struct Place {
    folder: TempDir,
    pub address: SocketAddr,
    pub fingerprint: Fingerprint,
    handle: StoreHandle,
    thread: Option<JoinHandle<()>>,
}

impl Place {
    pub fn new() -> Place {
        Place::keeping(Keeping::default())
    }

    pub fn keeping(keeping: Keeping) -> Place {
        Place::with(|options| options.keeping = keeping)
    }

    /// One whose options are changed before it starts.
    pub fn with(change: impl FnOnce(&mut StoreOptions)) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let mut options = store_options(&folder.path().join("traces"));
        change(&mut options);
        let store = Store::bind(options).unwrap();
        let (address, handle) = (store.address(), store.handle());
        let fingerprint = store.fingerprint();
        let thread = thread::spawn(move || store.run().unwrap());
        Place {
            folder,
            address,
            fingerprint,
            handle,
            thread: Some(thread),
        }
    }

    /// Its directory.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("traces")
    }

    /// The directories of all runs.
    pub fn traces(&self) -> Vec<PathBuf> {
        traces(&self.folder())
    }

    /// The directory of the only run.
    pub fn trace(&self) -> PathBuf {
        let traces = self.traces();
        assert_eq!(traces.len(), 1, "{traces:?}");
        traces[0].clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// A store in a directory that only this machine can send to.
pub fn store_options(folder: &Path) -> StoreOptions {
    StoreOptions {
        folder: folder.to_path_buf(),
        listen: "127.0.0.1:0".parse().unwrap(),
        socket: None,
        keeping: Keeping::default(),
        retention: Retention::default(),
        certificate: None,
        tokens: Vec::new(),
        is_insecure: false,
        log: Arc::new(|_| ()),
    }
}

/// The directories of the runs in the directory of a store.
pub fn traces(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let mut traces: Vec<_> = inside(folder)
        .iter()
        .flat_map(|host| inside(host))
        .collect();
    traces.sort();
    traces
}

/// A program with important events and others.
pub struct Program {
    pub name: Name,
    pub timeline: Timeline,
    important: EventId,
    plain: EventId,
    pub logged: i64,
}

impl Program {
    pub fn new(purpose: &str, entries: u64) -> Program {
        let name = Name::new(purpose);
        let options = Timeline::options().entries(entries).string_table_size(4096);
        let options = options.important_entries(256);
        let timeline = options.create(name.path()).unwrap();
        let attributes = Attributes {
            important: true,
            ..Attributes::default()
        };
        let important = timeline.define_with("net", Priority::Info, "interface $id", &attributes);
        let plain = timeline.define("test", Priority::Info, "number $n of $all");
        let (important, plain) = (important.unwrap(), plain.unwrap());
        (0..3).for_each(|id| timeline.log(important, [id]));
        Program {
            name,
            timeline,
            important,
            plain,
            logged: 0,
        }
    }

    pub fn log(&mut self, count: i64) {
        // Hard to compress.
        let mixed = |n: i64| (n * 0x9e37_79b9).wrapping_mul(n) >> 7;
        let numbers = self.logged..self.logged + count;
        numbers.for_each(|n| self.timeline.log(self.plain, [n, mixed(n)]));
        self.logged += count;
    }

    pub fn keep(&mut self, id: i64) {
        self.timeline.log(self.important, [id]);
    }

    /// What a recorder on this machine makes of it.
    pub fn recorded_here(&self) -> Vec<RecordedEvent> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("here.tla");
        let mut output = ArchiveOutput::open(&file, Keeping::default()).unwrap();
        let at = self.name.attach();
        let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).unwrap();
        while recorder.step() {}
        recorder.finish();
        drop(output);
        events(&file)
    }
}

pub fn options(address: SocketAddr) -> SenderOptions {
    SenderOptions {
        address: address.to_string(),
        metadata: vec![("service".into(), "test".into())],
        ..SenderOptions::default()
    }
}

/// An output that sends there.
pub fn output_to(options: &SenderOptions) -> ArchiveOutput {
    ArchiveOutput::to(&options.address, Box::new(Sender::new(options.clone())))
}

/// A recorder that sends, as soon as the store answers.
pub fn recorder<'a>(at: &'a Attached, output: &'a mut ArchiveOutput, form: Form) -> Recorder<'a> {
    eventually("an answer", || match output.prepare(at) {
        Err(error) if error.is_pending() => false,
        other => {
            other.unwrap();
            true
        }
    });
    Recorder::new(at, output, form).unwrap()
}

/// Records all that is in the ring, until the store has it.
pub fn send(program: &Program, options: &SenderOptions, form: Form) -> Totals {
    let at = program.name.attach();
    let mut output = output_to(options);
    let mut recorder = recorder(&at, &mut output, form);
    settle(&mut recorder);
    recorder.finish()
}

/// Records until all that is in the ring has arrived.
pub fn settle(recorder: &mut Recorder) {
    eventually("the events to arrive", || {
        !recorder.step() && recorder.flush()
    });
}

pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The events of an archive, which is whole.
pub fn events(path: &Path) -> Vec<RecordedEvent> {
    let archive = Archive::open(path).unwrap();
    assert!(archive.damage().is_empty(), "{}", path.display());
    assert_eq!((archive.missed(), archive.repeated()), (0, 0));
    archive.events().collect()
}

/// The run of an archive.
pub fn run(path: &Path) -> Preamble {
    Archive::open(path).unwrap().programs().remove(0)
}

/// The same events are in both.
pub fn assert_same(found: &[RecordedEvent], expected: &[RecordedEvent], what: &str) {
    let told = |events: &[RecordedEvent]| {
        let mut told: Vec<_> = events.iter().map(|e| (e.ticks, e.args.clone())).collect();
        told.sort();
        told
    };
    assert_eq!(told(found), told(expected), "{what}");
}

/// Whether it is one of the program's important events.
pub fn is_important(event: &RecordedEvent) -> bool {
    event.definition.category.as_deref() == Some("net")
}
