//! Regressions of writing: `cargo bench --workspace --bench log`.
//! `make bench` compares with clock and peers.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use timeline::{Level, Priority, Timeline, unlink};

/// A timeline that is removed when the bench ends.
struct Ring(Timeline);

impl Ring {
    fn new(purpose: &str) -> Ring {
        let path = format!("/timeline-bench-{purpose}-{}", std::process::id());
        Ring(Timeline::new(path).expect("64 MiB in /dev/shm"))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        unlink(self.0.path()).expect("it is there");
    }
}

fn log(c: &mut Criterion) {
    let Ring(timeline) = &Ring::new("log");
    let define = |priority, text| timeline.define("bench", priority, text).expect("room");
    let (none, four) = (
        define(Priority::Trace, "none"),
        define(Priority::Trace, "four $a $b $c $d"),
    );
    let detail = define(Priority::Library, "detail $a $b $c $d");
    timeline
        .priority(Level::from(Priority::App))
        .expect("a lock");

    let mut group = c.benchmark_group("log");
    group.bench_function("enabled, 0 arguments", |b| {
        b.iter(|| timeline.log(black_box(none), []))
    });
    group.bench_function("enabled, 4 arguments", |b| {
        b.iter(|| timeline.log(black_box(four), black_box([1, 2, 3, 4])));
    });
    group.bench_function("disabled", |b| {
        b.iter(|| timeline.log(black_box(detail), black_box([1, 2, 3, 4])));
    });
    group.finish();
}

fn define(c: &mut Criterion) {
    let Ring(timeline) = &Ring::new("define");
    c.bench_function("define, a known event", |b| {
        b.iter(|| timeline.define("bench", Priority::Trace, black_box("four $a $b $c $d")));
    });
}

criterion_group!(benches, log, define);
criterion_main!(benches);
