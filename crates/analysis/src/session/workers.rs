//! Has analysers take events on threads of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use super::desk::Desk;
use super::item::StreamItem;
use super::seat::Apart;
use crate::analyzer::AnalysisEnd;
use crate::error::Result;

/// How many items go to the threads at once, and how often so many may wait for one of them.
const BATCH: usize = 1024;
const WAITING: usize = 4;

type Batch = Arc<Vec<StreamItem>>;

enum WorkerMessage {
    Items(Batch),
    End(AnalysisEnd),
}

/// The threads, and what is to be sent to them.
pub struct Workers<'scope> {
    threads: Vec<Worker<'scope>>,
    batch: Vec<StreamItem>,
    has_failed: bool,
}

struct Worker<'scope> {
    sender: SyncSender<WorkerMessage>,
    has_enough: Arc<AtomicBool>,
    thread: ScopedJoinHandle<'scope, Result>,
}

impl<'scope> Workers<'scope> {
    /// Begins a thread for each of these desks.
    pub fn begin<'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        desks: impl IntoIterator<Item = Desk<'a, Apart<'a>>>,
    ) -> Workers<'scope> {
        let begin = |desk| {
            let (sender, receiver) = sync_channel(WAITING);
            let has_enough = Arc::new(AtomicBool::new(false));
            let tells = Arc::clone(&has_enough);
            Worker {
                sender,
                has_enough,
                thread: scope.spawn(move || work(desk, &receiver, &tells)),
            }
        };
        Workers {
            threads: desks.into_iter().map(begin).collect(),
            batch: Vec::new(),
            has_failed: false,
        }
    }

    /// Sends the next item, together with others.
    pub fn give(&mut self, item: StreamItem) {
        self.batch.push(item);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Sends what waits for others.
    pub fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = Arc::new(std::mem::take(&mut self.batch));
        for worker in &self.threads {
            let message = WorkerMessage::Items(Arc::clone(&batch));
            // One that has failed has hung up, and says why at the end.
            self.has_failed |= worker.sender.send(message).is_err();
        }
    }

    /// Whether a thread has failed.
    pub fn have_failed(&self) -> bool {
        self.has_failed
    }

    /// Whether none wants anything more.
    pub fn have_enough(&self) -> bool {
        // Relaxed: a flag by itself.
        let mut threads = self.threads.iter();
        threads.all(|worker| worker.has_enough.load(Ordering::Relaxed))
    }

    /// Nothing more comes. Waits for all threads, and returns the first error.
    pub fn end(mut self, end: Option<AnalysisEnd>) -> Result {
        self.flush();
        let mut result = Ok(());
        for Worker { sender, thread, .. } in self.threads {
            if let Some(end) = end {
                // As above.
                let _ = sender.send(WorkerMessage::End(end));
            }
            drop(sender);
            let ended = thread.join();
            let ended = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result = result.and(ended);
        }
        result
    }
}

/// Gives to a desk what comes.
fn work(mut desk: Desk<Apart>, receiver: &Receiver<WorkerMessage>, enough: &AtomicBool) -> Result {
    for message in receiver {
        match message {
            WorkerMessage::Items(items) => {
                items.iter().try_for_each(|item| desk.give(item))?;
                // Relaxed: a flag by itself.
                enough.store(desk.has_enough(), Ordering::Relaxed);
            }
            WorkerMessage::End(end) => desk.end(end)?,
        }
    }
    Ok(())
}
