//! Measures how fast the durations of spans are found in an archive.
//!
//!     bench-durations --mode write --file FILE --events E
//!         writes an archive of E events of two threads: an hour of breaths with two apps in each
//!     bench-durations --mode durations --file FILE --repeats R
//!         finds all durations and records them in histograms of seconds, as the command does

#[allow(dead_code, reason = "each program uses its part")]
mod measure;

use std::fs::File;

use measure::{arguments, cpu_ns, fail, number};
use timeline::Priority;
use timeline_archive::{Archive, Form, RawEvent, RawThread, Writer};
use timeline_latency::intervals::{IntervalOptions, Intervals};
use timeline_latency::{Matcher, Measure};
use timeline_reading::{DurationRequest, each_duration};
use timeline_search::Query;

/// Events that a thread has side by side in a file.
const CHUNK: u64 = 64;
/// Nanoseconds of the whole archive.
const HOUR: u64 = 3_600_000_000_000;
/// When it begins.
const START: u64 = 1_700_000_000_000_000_000;
/// What a breath logs.
const MESSAGES: [&str; 6] = [
    "begin breath $number",
    "begin pull $app",
    "end pull $app",
    "begin push $app",
    "end push $app",
    "end breath $number",
];

fn main() {
    let [mode, file, events, repeats] = arguments(["mode", "file", "events", "repeats"]);
    match (mode.as_deref(), file) {
        (Some("write"), Some(file)) => write(&file, number("events", events, 20_000_000)),
        (Some("durations"), Some(file)) => durations(&file, number("repeats", repeats, 5)),
        _ => fail("--mode: expected write or durations, with --file"),
    }
}

/// The value, or the end.
fn must<T>(result: Result<T, impl std::fmt::Display>) -> T {
    result.unwrap_or_else(|error| fail(error))
}

fn write(file: &str, events: u64) {
    let mut writer = Writer::new(must(File::create(file)), 7, Form::Blocks);
    let threads = ["worker-1", "worker-2"].map(|name| RawThread {
        tid: Some(name.len() as u64),
        name: Some(writer.string(name)),
        ..RawThread::default()
    });
    let category = writer.string("engine");
    let messages = MESSAGES.map(|message| writer.string(message));
    let (mut event, mut random) = (RawEvent::default(), 0x2545_f491_4f6c_dd1d_u64);
    let mut logged = [0_u64; 2];
    for i in 0..events {
        let worker = (i / CHUNK % 2) as usize;
        let number = logged[worker];
        logged[worker] += 1;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (breath, part) = (number / 6, (number % 6) as usize);
        event.thread = threads[worker].clone();
        event.definition.category = Some(category);
        event.definition.format = Some(messages[part]);
        event.definition.level = Some(Priority::Info as u64);
        event.definition.event = Some(part as u64 + 1);
        (event.core, event.lane) = (Some(worker as u64), Some(worker as u64));
        event.number = Some(number);
        let time = i * (HOUR / events) + random % 50;
        event.ticks = Some(1_000_000 + 3 * time);
        event.unix_nanos = Some(START + time);
        event.args.clear();
        event.args.push(breath as i64);
        must(writer.event(&event));
    }
    must(writer.flush());
}

fn durations(file: &str, repeats: u64) {
    let measures = [Measure::Spans("*".into())];
    for repeat in 0..repeats {
        let before = cpu_ns();
        let archive = must(Archive::open(file));
        let mut matcher = Matcher::new(&measures, &archive);
        let mut intervals = must(Intervals::new(IntervalOptions::default()));
        let (mut tags, mut found, mut longest) = (Vec::new(), 0_u64, 0);
        each_duration(
            &archive,
            &mut matcher,
            &DurationRequest::new(&Query::default()),
            &mut |series, ended| {
                found += 1;
                while tags.len() <= ended.series {
                    let name = series[tags.len()].name.clone();
                    tags.push(must(intervals.tag(Some(&name))));
                }
                intervals.record(tags[ended.series], ended.end, ended.value);
                while let Some(interval) = intervals.due() {
                    longest = interval.histogram.max().max(longest);
                }
            },
        );
        std::hint::black_box(longest);
        let (cpu, events) = (cpu_ns() - before, archive.count() as f64);
        println!(
            "{{\"repeat\":{repeat},\"events\":{events},\"found\":{found},\
             \"event_cpu_ns\":{:.2},\"events_per_cpu_us\":{:.1}}}",
            cpu / events,
            1e3 * events / cpu
        );
    }
}
