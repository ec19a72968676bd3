//! Does the work of the demo.
//! One thread makes blocks of text, others compress and check them, and all of them log it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lz4_flex::block;
use timeline::{EventId, Priority, Timeline};

use super::matches::{Match, matches};

/// Blocks waiting to be compressed, at most.
const QUEUE: usize = 8;
const WORKERS: usize = 3;
const BLOCK: usize = 16 * 1024;
/// The time between blocks: short enough to see something, long enough to leave the machine free.
const PACE: Duration = Duration::from_millis(4);
/// One block in so many is noise, which does not compress; and one in so many is damaged.
const NOISE: u64 = 37;
const DAMAGE: u64 = 211;

/// The events.
struct Events {
    made: EventId,
    waiting: EventId,
    took: EventId,
    matched: EventId,
    packed: EventId,
    grew: EventId,
    damaged: EventId,
    stopped: EventId,
}

impl Events {
    fn define(tl: &Timeline) -> timeline::Result<Events> {
        use Priority::*;
        let define = |category, priority, message| tl.define(category, priority, message);
        Ok(Events {
            made: define("producer", Trace, "made $block of $bytes")?,
            waiting: define("queue", App, "$blocks waiting for $workers")?,
            took: define("worker", Trace, "took $block")?,
            matched: define(
                "lz",
                Library,
                "matched $bytes at $position, $distance back\n\
                 One for every match the compressor finds: far more than all the rest. The demo\n\
                 leaves this level off; `timeline sample` looks at a little of it.",
            )?,
            packed: define("worker", Info, "packed $block from $bytes to $packed")?,
            grew: define(
                "worker",
                Warning,
                "$block grew from $bytes to $packed\n\
                 Noise does not compress. It is stored as it is.",
            )?,
            damaged: define(
                "worker",
                Error,
                "$block came back with checksum $found, expected $expected\n\
                 The demo damages a block now and then, to have an error to find.",
            )?,
            stopped: define("demo", Info, "stopped after $blocks")?,
        })
    }
}

struct Block {
    number: u64,
    bytes: Vec<u8>,
}

/// The state that all threads share.
struct Shared {
    tl: Arc<Timeline>,
    events: Events,
    waiting: Mutex<i64>,
}

impl Shared {
    /// Counts a block into the queue (1) or out of it (-1).
    fn count_waiting(&self, change: i64) -> i64 {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting += change;
        *waiting
    }
}

/// The running threads.
pub struct Workload {
    shared: Arc<Shared>,
    stop: Sender<()>,
    producer: JoinHandle<u64>,
    workers: Vec<JoinHandle<()>>,
}

impl Workload {
    /// Starts the threads.
    pub fn start(tl: Arc<Timeline>) -> timeline::Result<Workload> {
        let events = Events::define(&tl)?;
        let shared = Arc::new(Shared {
            tl,
            events,
            waiting: Mutex::new(0),
        });
        let (stop, stopped) = channel();
        let (send, receive) = sync_channel(QUEUE);
        let receive = Arc::new(Mutex::new(receive));
        let workers = (1..=WORKERS)
            .map(|i| {
                let (shared, receive) = (shared.clone(), receive.clone());
                spawn(format!("worker-{i}"), move || work(&shared, &receive))
            })
            .collect();
        let producer = {
            let shared = shared.clone();
            spawn("producer".into(), move || produce(&shared, &send, &stopped))
        };
        Ok(Workload {
            shared,
            stop,
            producer,
            workers,
        })
    }

    /// Stops the threads, after the waiting blocks are done.
    pub fn stop(self) {
        drop(self.stop);
        // The thread itself has reported a panic.
        let blocks = self.producer.join().unwrap_or(0);
        for worker in self.workers {
            let _ = worker.join();
        }
        self.shared
            .tl
            .log(self.shared.events.stopped, [blocks as i64]);
    }
}

fn spawn<T: Send + 'static>(
    name: String,
    body: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let thread = thread::Builder::new().name(name).spawn(body);
    thread.expect("the system lets a demo have four threads")
}

/// Makes blocks until it is stopped, and returns their number.
fn produce(shared: &Shared, send: &SyncSender<Block>, stopped: &Receiver<()>) -> u64 {
    let (tl, events) = (&shared.tl, &shared.events);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut number = 0;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PACE) {
        number += 1;
        let bytes = if number % NOISE == 0 {
            noise(&mut random)
        } else {
            prose(&mut random)
        };
        tl.log(events.made, [number as i64, bytes.len() as i64]);
        tl.log(events.waiting, [shared.count_waiting(1), WORKERS as i64]);
        if send.send(Block { number, bytes }).is_err() {
            break;
        }
    }
    number
}

/// Compresses and checks blocks until there are no more.
fn work(shared: &Shared, receive: &Mutex<Receiver<Block>>) {
    let (tl, events) = (&shared.tl, &shared.events);
    loop {
        let received = match receive.lock() {
            Ok(receive) => receive.recv(),
            Err(_) => return,
        };
        let Ok(Block { number, bytes }) = received else {
            return;
        };
        let id = number as i64;
        shared.count_waiting(-1);
        tl.log(events.took, [id]);
        let expected = crc32fast::hash(&bytes);
        let mut packed = block::compress(&bytes);
        for Match {
            position,
            length,
            distance,
        } in matches(&packed)
        {
            let values = [length, position, distance].map(|value| value as i64);
            tl.log(events.matched, values);
        }
        let (before, after) = (bytes.len() as i64, packed.len() as i64);
        if after < before {
            tl.log(events.packed, [id, before, after]);
        } else {
            tl.log(events.grew, [id, before, after]);
        }
        if number.is_multiple_of(DAMAGE) {
            let middle = packed.len() / 2;
            packed[middle] ^= 0x20;
        }
        let unpacked = block::decompress(&packed, bytes.len());
        let found = unpacked.map_or(0, |bytes| crc32fast::hash(&bytes));
        if found != expected {
            tl.log(events.damaged, [id, found.into(), expected.into()]);
        }
    }
}

fn prose(random: &mut Random) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "ring", "chunk", "lane", "event", "clock", "core", "reader", "writer", "commits", "reads",
        "wraps", "before", "after", "while", "every", "the", "a", "and", "of", "in",
    ];
    let mut text = String::with_capacity(BLOCK + 16);
    while text.len() < BLOCK {
        text.push_str(WORDS[random.next() as usize % WORDS.len()]);
        text.push(' ');
    }
    text.truncate(BLOCK);
    text.into_bytes()
}

fn noise(random: &mut Random) -> Vec<u8> {
    std::iter::repeat_with(|| random.next().to_le_bytes())
        .take(BLOCK / 8)
        .flatten()
        .collect()
}

/// xorshift64: the same blocks in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
