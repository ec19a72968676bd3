//! Tests that interval logs are those of HdrHistogram in Java, JavaScript and Python.
//! Each reads what the library writes, and the library reads what each writes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use timeline_latency::intervals::{
    Distribution, HistogramShape, Interval, IntervalOptions, Intervals, LogHeader, LogReader,
    LogWriter, ReaderOptions, Summaries, TimeRules, corrected,
};
use timeline_latency::percentile;

use crate::support::root;

const JAR: &str = "/usr/share/java/hdrhistogram.jar";
const START: u64 = 1_500_000_040_000_000_000;
const BASE: u64 = 1_500_003_640_000_000_000;
const SECOND: u64 = 1_000_000_000;

/// What reads and writes logs besides the library.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tool {
    Java,
    JavaScript,
    Python,
}

impl Tool {
    /// Has the tool read or write a log; what it says of each interval.
    fn run(self, action: &str, log: &Path) -> Vec<Line> {
        let folder = root().join("tests/histograms");
        let (command, missing) = match self {
            Tool::Java => (
                java(&[folder.join("Log.java").to_str().expect("UTF-8")]),
                "the packages default-jdk-headless and libhdrhistogram-java",
            ),
            Tool::JavaScript => {
                let mut command = Command::new("node");
                command.arg(folder.join("log.mjs"));
                (
                    command,
                    "node, and hdr-histogram-js: `npm ci --prefix tests/histograms`",
                )
            }
            Tool::Python => {
                let mut command = Command::new("python3");
                command.env("PYTHONPATH", folder.join("python_modules"));
                command.arg(folder.join("log.py"));
                let missing = "python3, and hdrhistogram: \
                               `make tests/histograms/python_modules/.installed`";
                (command, missing)
            }
        };
        let text = said(command, &[action, log.to_str().expect("UTF-8")], missing);
        text.lines().map(Line::parse).collect()
    }
}

fn java(arguments: &[&str]) -> Command {
    let mut command = Command::new("java");
    // It takes the encoding of arguments, names of files and what it prints from the environment,
    // which may say nothing of one.
    command.env("LC_ALL", "C.UTF-8");
    command.args([
        "-XX:TieredStopAtLevel=1",
        "-Xshare:auto",
        "--class-path",
        JAR,
    ]);
    command.args(arguments);
    command
}

/// What a command prints. If it fails, the test says what may be missing.
fn said(mut command: Command, arguments: &[&str], missing: &str) -> String {
    let output = command.args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}; it needs {missing}"));
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} needs {missing}: {wrong}"
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What a tool says of an interval.
#[derive(Debug, PartialEq)]
struct Line {
    /// `-` for none.
    tag: String,
    /// In milliseconds.
    start: i64,
    length: i64,
    count: u64,
    /// The percentiles 25, 50, 75, 90, 99, 99.9 and 100.
    values: Vec<u64>,
}

impl Line {
    fn parse(line: &str) -> Line {
        let fields: Vec<_> = line.split(' ').collect();
        let number = |at: usize| fields[at].parse().unwrap_or_else(|_| panic!("{line}"));
        Line {
            tag: fields[0].to_owned(),
            start: number(1),
            length: number(2),
            count: number(3) as u64,
            values: (4..fields.len()).map(|at| number(at) as u64).collect(),
        }
    }

    fn of(interval: &Interval, tool: Tool) -> Line {
        let histogram = &interval.histogram;
        let value = |percent: f64| match tool {
            // It rounds how many durations a percentile has; the others round up.
            Tool::Python => {
                let all = histogram.len() as f64;
                let count = (percent / 100.0 * all + 0.5).floor().max(1.0);
                histogram.value_at_quantile((count - 0.5) / all.max(1.0))
            }
            Tool::Java | Tool::JavaScript => percentile(histogram, percent),
        };
        Line {
            tag: interval.tag.as_deref().unwrap_or("-").to_owned(),
            start: (interval.start / 1_000_000) as i64,
            length: (interval.length / 1_000_000) as i64,
            count: histogram.len(),
            values: [25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 100.0]
                .map(value)
                .to_vec(),
        }
    }
}

/// The tools calculate times as floating-point numbers, and cut them to milliseconds.
fn assert_same(ours: &[Interval], theirs: &[Line], tool: Tool) {
    assert_eq!(ours.len(), theirs.len(), "{tool:?}");
    for (ours, theirs) in ours.iter().map(|ours| Line::of(ours, tool)).zip(theirs) {
        let apart = (ours.start - theirs.start)
            .abs()
            .max((ours.length - theirs.length).abs());
        assert!(apart <= 1, "{tool:?}: {ours:?} {theirs:?}");
        let ours = Line {
            start: theirs.start,
            length: theirs.length,
            ..ours
        };
        assert_eq!(&ours, theirs, "{tool:?}");
    }
}

fn read(log: &Path, rules: TimeRules) -> Vec<Interval> {
    let log = fs::read(log).expect("the log");
    let options = ReaderOptions {
        rules,
        ..ReaderOptions::default()
    };
    let intervals = LogReader::new(&log[..], options).intervals();
    intervals
        .map(|interval| interval.expect("an interval"))
        .collect()
}

/// Durations of three spans, of which some seconds have none.
fn intervals(expected: Option<Duration>) -> Vec<Interval> {
    let mut intervals = Intervals::new(IntervalOptions {
        start: Some(BASE),
        expected,
        ..IntervalOptions::default()
    })
    .expect("options");
    let tags = [None, Some("parse"), Some("größe=1")].map(|tag| intervals.tag(tag).expect("a tag"));
    let mut random = 7_u64;
    for number in 0..3000_u64 {
        random = random * 16_807 % 2_147_483_647;
        let tag = tags[(random % 3) as usize];
        let second = number / 500;
        if second == 2 || second == 4 && tag == tags[1] {
            continue;
        }
        let value = match random % 100 {
            0 => random * 1_000,
            _ => 1 + random % 50_000_000,
        };
        intervals.record(tag, BASE + number * 2_000_000, value);
    }
    intervals.finish();
    std::iter::from_fn(|| intervals.due()).collect()
}

/// Writes them to a file; with both times, with one of them, or with none.
fn written(folder: &TempDir, intervals: &[Interval], times: (bool, bool)) -> std::path::PathBuf {
    let header = LogHeader {
        comments: vec!["[written by timeline]".into()],
        start_time: times.0.then_some(START),
        base_time: times.1.then_some(BASE),
    };
    let mut log = LogWriter::new(Vec::new(), &header).expect("memory");
    for interval in intervals {
        log.write(interval).expect("an interval");
    }
    let path = folder.path().join("ours.hlog");
    fs::write(&path, log.into_inner().expect("memory")).expect("written");
    path
}

#[test]
fn all_read_what_we_write() {
    let folder = TempDir::new().expect("a folder");
    for expected in [None, Some(Duration::from_millis(2))] {
        let intervals = intervals(expected);
        assert_eq!(intervals.len(), 18);
        let empty = intervals
            .iter()
            .filter(|interval| interval.histogram.is_empty());
        assert_eq!(empty.count(), 4);
        let log = written(&folder, &intervals, (true, true));
        for tool in [Tool::Java, Tool::JavaScript, Tool::Python] {
            // The second time only that the counts are as much larger as we say.
            if expected.is_none() || tool == Tool::Java {
                assert_same(&intervals, &tool.run("read", &log), tool);
            }
        }
    }
}

/// 99.9 % of a thousand durations are 999 of them, although no floating-point number is 99.9.
#[test]
fn percentiles_of_round_counts_are_those_of_all_tools() {
    let folder = TempDir::new().expect("a folder");
    let mut intervals = Vec::new();
    for (number, count) in (100..=10_000).step_by(100).enumerate() {
        let mut histogram = HistogramShape::default().histogram().expect("a shape");
        (1..=count).for_each(|value| histogram.record(value).expect("a short one"));
        intervals.push(Interval {
            tag: None,
            start: BASE + number as u64 * SECOND,
            length: SECOND,
            origin: START,
            histogram,
        });
    }
    let log = written(&folder, &intervals, (true, true));
    for tool in [Tool::Java, Tool::JavaScript, Tool::Python] {
        let theirs = tool.run("read", &log);
        assert_same(&intervals, &theirs, tool);
        // Of a thousand, in all of them.
        assert_eq!(theirs[9].values[5], 999, "{tool:?}");
    }
}

#[test]
fn we_read_what_all_write() {
    let folder = TempDir::new().expect("a folder");
    for tool in [Tool::Java, Tool::JavaScript, Tool::Python] {
        let path = folder.path().join(format!("{tool:?}.hlog"));
        let theirs = tool.run("write", &path);
        assert_eq!(theirs.len(), 6);
        let ours = read(&path, TimeRules::Plain);
        assert_same(&ours, &theirs, tool);
        assert_eq!(ours[1].offset(), 3_601_007_000_000, "{tool:?}");
        assert!(ours[2].histogram.is_empty());
        let tag = (tool != Tool::Python).then_some("odd");
        assert_eq!(ours[1].tag.as_deref(), tag, "{tool:?}");
    }
}

/// All four cases of StartTime and BaseTime: the rules of Java are those of Java.
#[test]
fn java_guesses_as_we_say_that_it_does() {
    let folder = TempDir::new().expect("a folder");
    let absolute = intervals(None);
    let shifted = absolute.iter().cloned().map(|mut interval| {
        interval.start -= BASE;
        interval
    });
    let shifted: Vec<_> = shifted.collect();
    for (times, intervals) in [
        ((true, true), &absolute),
        ((true, false), &absolute),
        ((true, false), &shifted),
        ((false, true), &absolute),
        ((false, false), &absolute),
    ] {
        let log = written(&folder, intervals, times);
        let theirs = Tool::Java.run("read", &log);
        assert_same(&read(&log, TimeRules::Java), &theirs, Tool::Java);
    }
}

/// The distribution that HistogramLogProcessor writes of a tag, without its line of StartTime.
fn processed(log: &Path, options: &[&str]) -> String {
    let command = java(&["org.HdrHistogram.HistogramLogProcessor", "-i"]);
    let arguments = [&[log.to_str().expect("UTF-8")], options].concat();
    let text = said(command, &arguments, "the package libhdrhistogram-java");
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| !line.starts_with("#[StartTime"))
        .collect()
}

#[test]
fn distributions_are_those_of_java_byte_for_byte() {
    let folder = TempDir::new().expect("a folder");
    let intervals = intervals(None);
    let log = written(&folder, &intervals, (true, true));
    let distribution = |tag: Option<&str>, csv: bool, from: u64, expected: u64| {
        let mut summaries = Summaries::default();
        for interval in read(&log, TimeRules::Java) {
            if interval.tag.as_deref() == tag && interval.start >= BASE + from * SECOND {
                let histogram = corrected(&interval.histogram, expected);
                let interval = Interval {
                    histogram,
                    ..interval
                };
                summaries.add(&interval).expect("a few tags");
            }
        }
        let summary = summaries.iter().next().expect("a tag");
        let mut text = Vec::new();
        let distribution = Distribution {
            csv,
            ..Distribution::default()
        };
        distribution
            .write(&summary.histogram, &mut text)
            .expect("memory");
        String::from_utf8(text).expect("UTF-8")
    };
    let parse = Some("parse");
    for (options, ours) in [
        (&[][..], distribution(None, false, 0, 0)),
        (&["-tag", "parse"], distribution(parse, false, 0, 0)),
        (&["-tag", "parse", "-csv"], distribution(parse, true, 0, 0)),
        (
            &["-tag", "parse", "-start", "3603"],
            distribution(parse, false, 3, 0),
        ),
    ] {
        assert_eq!(processed(&log, options), ours, "{options:?}");
    }
    // Where there are tags, it corrects lines that it does not want.
    let ours = distribution(None, false, 0, 2_000_000);
    let options = ["-correctLogWithKnownCoordinatedOmission", "2000000"];
    let untagged = intervals
        .into_iter()
        .filter(|interval| interval.tag.is_none());
    let log = written(&folder, &untagged.collect::<Vec<_>>(), (true, true));
    assert_eq!(processed(&log, &options), ours);
}
