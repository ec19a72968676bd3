//! tokio's `tracing` with its formatter, writing to a file through tracing-appender's thread.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};

/// The last event of a repeat, by which the writer knows that it has written all.
const LAST: &str = "last";

/// Writes to the file, in the appender's thread, and tells when it has written the last event.
struct Output {
    file: BufWriter<File>,
    reached: SyncSender<()>,
}

impl Write for Output {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.file.write_all(line)?;
        if line
            .strip_suffix(b"\n")
            .is_some_and(|line| line.ends_with(LAST.as_bytes()))
        {
            self.file.flush()?;
            // No receiver waits any more when the program ends.
            _ = self.reached.send(());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

struct TracingFile {
    dropped: ErrorCounter,
    reached: Mutex<Receiver<()>>,
    _worker: WorkerGuard,
}

impl TracingFile {
    fn open() -> Self {
        let path = std::env::temp_dir().join(format!("bench-tracing-{}.log", std::process::id()));
        let file = File::create_new(&path).unwrap_or_else(|error| {
            eprintln!(
                "{}: {error}: set TMPDIR to a directory that can be written",
                path.display()
            );
            std::process::exit(1);
        });
        // No process reads it, and a killed run leaves nothing behind.
        std::fs::remove_file(&path).expect("it was just created");
        let (reached, receiver) = sync_channel(1);
        let output = Output {
            file: BufWriter::with_capacity(1 << 16, file),
            reached,
        };
        let (writer, worker) = NonBlockingBuilder::default().lossy(false).finish(output);
        let dropped = writer.error_counter();
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_target(false)
            .with_writer(writer)
            .init();
        Self {
            dropped,
            reached: Mutex::new(receiver),
            _worker: worker,
        }
    }
}

impl peer_common::Peer for TracingFile {
    const NAME: &'static str = "tracing-file";
    const NOTE: &'static str = "blocks when its queue is full; writes text to a file in TMPDIR";
    const CRATE: &'static str = "tracing-subscriber";
    type Thread = ();

    fn thread(&self) {}

    #[inline(always)]
    fn log(&self, (): &mut (), i: i64) {
        tracing::info!(a = i, b = i + 1, c = i + 2, d = i + 3, "event");
    }

    fn drain(&self) {
        tracing::info!("{LAST}");
        let reached = self.reached.lock().expect("only this function locks it");
        reached
            .recv()
            .expect("the appender's thread lives as long as its guard");
    }

    fn lost(&self) -> Option<u64> {
        Some(self.dropped.dropped_lines() as u64)
    }
}

fn main() {
    peer_common::run(TracingFile::open);
}
