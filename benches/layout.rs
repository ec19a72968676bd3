//! Compares chunk sizes and strides of rings: `cargo bench --workspace --bench layout`.
//!
//! Each ring is a default one whose header was rewritten before the first event. The rings take
//! turns in each round, which also measures the bare clock on as many threads. Prints medians of
//! ratios of processor time, and quartiles. To compare settings of the system (pages of 2 MiB for
//! shared memory, say), run it twice.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Barrier;

use timeline::internal::layout::Geometry;
use timeline::internal::layout::header::{CHECKED, Header};
use timeline::internal::layout::words::Cursor;
use timeline::internal::{DEFAULT_ENTRIES, Record};
use timeline::{EventId, Level, Priority, Timeline, unlink};

const ROUNDS: usize = 25;
const EVENTS: i64 = 400_000;
const CHUNKS: [u32; 6] = [16, 64, 256, 1024, 2048, 4096];
const STRIDES: [u64; 2] = [64, 128];

struct Ring {
    timeline: Timeline,
    event: EventId,
}

impl Ring {
    /// A default ring, except for `chunk` entries in a chunk, and `stride` bytes from one lane or
    /// chunk record to the next.
    fn new(chunk: u32, stride: u64) -> Ring {
        let path = format!("/timeline-layout-{}-{chunk}-{stride}", std::process::id());
        drop(Timeline::new(&path).expect("64 MiB in /dev/shm"));
        let file = File::options()
            .read(true)
            .write(true)
            .open(format!("/dev/shm{path}"))
            .expect("it is there");
        let mut head = Header::zeroed();
        file.read_exact_at(head.bytes_mut(), 0).expect("a header");
        let mut geometry = Geometry::load(&head).expect("a sound header");
        geometry.chunk_entries = chunk;
        geometry.chunks = (DEFAULT_ENTRIES / u64::from(chunk)) as u32;
        geometry.cpu_lanes = (geometry.chunks / 8).min(1024);
        geometry.thread_lanes = (geometry.chunks / 2).min(4096);
        let counts = [geometry.lanes(), geometry.chunks];
        let mut end = geometry.regions[3].offset + geometry.regions[3].length;
        for (i, region) in geometry.regions.iter_mut().enumerate().skip(4) {
            if i < 6 {
                region.stride = stride;
                region.length = u64::from(counts[i - 4]) * stride;
            }
            region.offset = end.next_multiple_of(4096);
            end = region.offset + region.length;
        }
        let strings = geometry.regions[7];
        let mut texts = vec![0; strings.length as usize];
        let old = Geometry::load(&head).expect("a sound header");
        file.read_exact_at(&mut texts, old.strings().offset)
            .expect("its texts");
        geometry.total = end.next_multiple_of(4096);
        geometry.store(&mut head);
        head.next_ticket = u64::from(geometry.chunks).into();
        head.checksum = 0.into();
        head.checksum = crc32fast::hash(&head.bytes_mut()[..CHECKED]).into();
        file.set_len(geometry.total).expect("space");
        file.write_all_at(head.bytes_mut(), 0).expect("written");
        file.write_all_at(&texts, strings.offset).expect("written");
        let records = vec![0; (geometry.entry().offset - geometry.lane().offset) as usize];
        file.write_all_at(&records, geometry.lane().offset)
            .expect("written");
        for lane in 0..u64::from(geometry.lanes()) {
            let at = geometry.lane().offset + lane * stride;
            file.write_all_at(&Cursor::new(0, chunk).0.to_le_bytes(), at)
                .expect("written");
        }
        let timeline = Timeline::open(&path).expect("the header is sound");
        timeline.priority(Level::ALL).expect("a lock");
        let event = timeline
            .define("bench", Priority::Trace, "four $a $b $c $d")
            .expect("room");
        let ring = Ring { timeline, event };
        // Touches every page.
        (0..DEFAULT_ENTRIES as i64).for_each(|i| ring.log(i));
        ring
    }

    #[inline(always)]
    fn log(&self, i: i64) {
        self.timeline.log(self.event, [i, i + 1, i + 2, i + 3]);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        unlink(self.timeline.path()).expect("it is there");
    }
}

#[cfg(target_arch = "x86_64")]
fn clock() -> u64 {
    // SAFETY: every x86-64 processor has it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn clock() -> u64 {
    now(libc::CLOCK_MONOTONIC_RAW) as u64
}

/// Nanoseconds of that clock.
fn now(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for one.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Processor time of an iteration of `f`, on that many threads at once.
fn cost(threads: usize, f: impl Fn(i64) + Sync) -> f64 {
    let start = Barrier::new(threads);
    let spent = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let before = now(libc::CLOCK_THREAD_CPUTIME_ID);
                    (0..EVENTS).for_each(&f);
                    now(libc::CLOCK_THREAD_CPUTIME_ID) - before
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|t| t.join().expect("it measured"))
            .sum::<f64>()
    });
    spent / (threads as f64 * EVENTS as f64)
}

/// The 99.9th and the 99.99th percentile of single calls, as multiples of the median.
fn tail(ring: &Ring) -> [f64; 2] {
    let mut ticks: Vec<u64> = (0..EVENTS)
        .map(|i| {
            let before = clock();
            ring.log(i);
            clock() - before
        })
        .collect();
    ticks.sort_unstable();
    let at = |share: f64| ticks[(ticks.len() as f64 * share) as usize] as f64;
    [at(0.999) / at(0.5), at(0.9999) / at(0.5)]
}

/// The quartiles of some numbers.
fn quartiles(mut of: Vec<f64>) -> String {
    of.sort_by(f64::total_cmp);
    let at = |quarter: usize| of[of.len() * quarter / 4];
    format!("{:6.3} [{:6.3} {:6.3}]", at(2), at(1), at(3))
}

fn main() {
    let huge = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    println!(
        "huge pages of shared memory: {}",
        huge.unwrap_or_default().trim()
    );
    println!(
        "event / clock, by processor time: median [quartiles] of {ROUNDS} rounds of {EVENTS} events"
    );
    println!(
        "chunk  stride  1 thread                2 threads               4 threads               \
         99.9 % / median         99.99 % / median"
    );
    let rings: Vec<(u32, u64, Ring)> = CHUNKS
        .into_iter()
        .flat_map(|chunk| STRIDES.map(|stride| (chunk, stride, Ring::new(chunk, stride))))
        .collect();
    let mut found = vec![vec![Vec::new(); 5]; rings.len()];
    for _ in 0..ROUNDS {
        for ((_, _, ring), found) in rings.iter().zip(&mut found) {
            for (i, threads) in [1, 2, 4].into_iter().enumerate() {
                let bare = cost(threads, |_| {
                    std::hint::black_box(clock());
                });
                found[i].push(cost(threads, |i| ring.log(i)) / bare);
            }
            let [most, nearly_all] = tail(ring);
            found[3].push(most);
            found[4].push(nearly_all);
        }
    }
    for ((chunk, stride, _), found) in rings.iter().zip(found) {
        let columns: Vec<String> = found.into_iter().map(quartiles).collect();
        println!("{chunk:5}  {stride:6}  {}", columns.join("  "));
    }
}
