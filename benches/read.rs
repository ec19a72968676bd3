//! Finds regressions in reading a full ring: `cargo bench --workspace --bench read`.
//! `make bench` compares with peers.

use std::hint::black_box;
use std::io::sink;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use timeline::internal::DEFAULT_ENTRIES;
use timeline::{Attached, FollowFrom, Order, Priority, Timeline, dump, unlink};

/// A full timeline, removed when the bench ends.
struct Full(Timeline);

impl Full {
    fn new() -> Full {
        let path = format!("/timeline-bench-read-{}", std::process::id());
        let timeline = Timeline::new(path).expect("64 MiB in /dev/shm");
        let four = timeline
            .define("bench", Priority::Trace, "four $a $b $c $d")
            .expect("room");
        for i in 0..DEFAULT_ENTRIES as i64 {
            timeline.log(four, [i, i + 1, i + 2, i + 3]);
        }
        Full(timeline)
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        unlink(self.0.path()).expect("it is there");
    }
}

fn read(c: &mut Criterion) {
    let Full(timeline) = &Full::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let attached = Attached::open(timeline.path()).expect("it is there");

    c.bench_function("attach", |b| {
        b.iter(|| Attached::open(timeline.path()).expect("it is there"))
    });
    c.bench_function("newest event", |b| {
        b.iter(|| attached.events(Order::NewestFirst).next())
    });

    let mut group = c.benchmark_group("full ring");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(DEFAULT_ENTRIES));
    for (name, order) in [
        ("oldest first", Order::OldestFirst),
        ("newest first", Order::NewestFirst),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                attached
                    .events(order)
                    .map(|event| event.ticks & 1)
                    .sum::<u64>()
            });
        });
    }
    group.bench_function("follow", |b| {
        let mut events = Vec::with_capacity(DEFAULT_ENTRIES as usize);
        b.iter(|| {
            events.clear();
            let mut follow = attached.follow(FollowFrom::Oldest);
            let mut before = None;
            while before != Some(events.len()) {
                before = Some(events.len());
                follow.poll(&mut events);
            }
            events.len()
        });
    });
    group.bench_function("dump", |b| {
        b.iter(|| dump::write(black_box(&attached), None, &mut sink()).expect("a sink"));
    });
    group.bench_function("save", |b| {
        b.iter(|| {
            timeline
                .save(folder.path().join("snapshot"))
                .expect("room for 64 MiB")
        });
    });
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
