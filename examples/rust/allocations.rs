//! Pairs allocations with frees, on whatever threads they are: an analyser of timeline.
//!
//! `allocations PATH` reads a timeline, a snapshot or an archive whose program logs
//! `alloc $size:u64 at $address:ptr` and `free $address:ptr` in the category `mem`. Without a PATH it
//! makes such a timeline: one thread allocates, and another one frees.
//!
//! An address is used again and again, so this needs the order of events over all threads.

use std::collections::HashMap;
use std::sync::mpsc::channel;
use std::thread;

use timeline::{Nanoseconds, Priority, Timeline};
use timeline_analysis::{
    Analysis, AnalysisEnd, AnalysisInput, Analyzer, EventContext, Extent, FieldHandle, Log, Result,
    StreamGap, Subscription, Subscriptions, ThreadPlace,
};

/// An allocation that is not free yet.
struct Block {
    size: u64,
    since: Option<u64>,
    thread: ThreadPlace,
}

/// Pairs the allocations of all processes with their frees.
#[derive(Default)]
struct Allocations {
    alloc: Option<Subscription>,
    size: FieldHandle<u64>,
    address: FieldHandle<u64>,
    /// By process and address.
    open: HashMap<(u32, u64), Block>,
    /// The process of each thread, which takes longer to ask for.
    processes: HashMap<ThreadPlace, u32>,
    pairs: u64,
    elsewhere: u64,
    bytes: u64,
    longest: u64,
    unknown: u64,
}

impl Allocations {
    fn process(&mut self, event: &EventContext) -> u32 {
        let thread = self.processes.entry(event.thread_place());
        *thread.or_insert_with(|| event.thread().map_or(0, |thread| thread.pid))
    }
}

impl Analyzer for Allocations {
    fn begin(&mut self, wanted: &mut Subscriptions) {
        self.alloc = Some(wanted.events("mem", "mem.alloc"));
        wanted.events("mem", "mem.free");
        self.size = wanted.field("size");
        self.address = wanted.field("address");
    }

    fn event(&mut self, event: &EventContext) -> Result {
        let Some(address) = event.get(self.address)? else {
            return Ok(());
        };
        let place = (self.process(event), address);
        if Some(event.subscription()) == self.alloc {
            let block = Block {
                size: event.get(self.size)?.unwrap_or(0),
                since: event.time(),
                thread: event.thread_place(),
            };
            self.open.insert(place, block);
            return Ok(());
        }
        let Some(block) = self.open.remove(&place) else {
            self.unknown += 1;
            return Ok(());
        };
        self.pairs += 1;
        self.bytes += block.size;
        self.elsewhere += u64::from(block.thread != event.thread_place());
        if let Some((since, until)) = block.since.zip(event.time()) {
            self.longest = self.longest.max(until.saturating_sub(since));
        }
        Ok(())
    }

    /// What is open may have been freed unseen, and its address may be that of another block by now.
    fn gap(&mut self, _: &StreamGap) -> Result {
        self.unknown += self.open.len() as u64;
        self.open.clear();
        Ok(())
    }

    fn end(&mut self, _: AnalysisEnd) -> Result {
        let left: u64 = self.open.values().map(|block| block.size).sum();
        println!("{} blocks of {} bytes were freed", self.pairs, self.bytes);
        println!("{} of them by another thread", self.elsewhere);
        println!("the longest was used for {}", Nanoseconds(self.longest as i64));
        println!("{} blocks of {left} bytes are still in use", self.open.len());
        println!("{} lack their other half", self.unknown);
        Ok(())
    }
}

/// Logs 1,000 allocations of one thread, of which another thread frees all but each tenth. Each
/// address is used many times.
fn make(path: &str) -> timeline::Result<()> {
    let tl = Timeline::with_size(path, 65536, 1 << 16)?;
    let message = "alloc $size:u64 at $address:ptr";
    let alloc = tl.define("mem", Priority::Info, message)?;
    let free = tl.define("mem", Priority::Info, "free $address:ptr")?;
    let (blocks, freed) = channel::<i64>();
    thread::scope(|scope| {
        let tl = &tl;
        let (given_back, again) = channel();
        scope.spawn(move || {
            for address in freed {
                tl.log(free, [address]);
                // Nobody takes it any more at the end.
                let _ = given_back.send(address);
            }
        });
        let mut next = 0x1000;
        for number in 0..1_000 {
            let address = again.try_recv().unwrap_or_else(|_| {
                next += 64;
                next
            });
            tl.log(alloc, [64, address]);
            if number % 10 != 0 {
                // The other thread waits for it until there are no more.
                let _ = blocks.send(address);
            }
        }
        drop(blocks);
    });
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let path = match std::env::args().nth(1) {
        Some(path) => path,
        None => {
            let path = format!("/timeline-allocations-{}", std::process::id());
            make(&path)?;
            path
        }
    };
    let log = Log::open(path.as_ref(), Extent::Whole)?;
    if std::env::args().len() < 2 {
        timeline::unlink(&path)?;
    }
    let mut allocations = Allocations::default();
    let analysis = Analysis::new(AnalysisInput::whole([&log])).with(&mut allocations);
    analysis.run()?;
    Ok(())
}
