//! Logs for tests of analyses in other languages, and what an analysis in Rust tells of them.

use std::fs;
use std::path::{Path, PathBuf};

use timeline::{Attached, Priority, Timeline, Value};
use timeline_analysis::{
    Analysis, AnalysisEnd, AnalysisInput, Analyzer, EventContext, FieldHandle, Lack, Log, Result,
    StreamGap, Subscriptions,
};
use timeline_archive::{ArchiveOutput, Form, Keeping, RawEvent, Recorder, Writer};

/// Events of several definitions in a folder: a timeline that is overwritten, its snapshot, an
/// archive that was recorded, and one with gaps and damaged bytes, the events of which are of
/// another machine.
pub fn logs(folder: &Path) -> [PathBuf; 4] {
    let [ring, snapshot, recorded, written] =
        ["ring", "saved.timeline", "recorded.tla", "written.tla"].map(|name| folder.join(name));
    let path = ring.to_str().expect("a plain name");
    let timeline = Timeline::with_size(path, 1024, 1 << 16).expect("a timeline");
    let define = |category, message| {
        timeline
            .define(category, Priority::Info, message)
            .expect("room")
    };
    let got = define("net", "got $number:u64");
    let sent = define("net", "sent $number:u64 to $host:str");
    let other = define("disk", "got $number");
    let sync = define("disk", "sync");
    let log = |from: u64, to: u64| {
        for number in from..to {
            let host = Value::Text {
                bytes: b"eth0",
                cut: false,
            };
            match number % 4 {
                0 => timeline.log(got, [number as i64]),
                1 => {
                    let words = timeline::lay_out(&[Value::Uint(number), host]);
                    timeline.log_payload(sent, &words, false);
                }
                2 => timeline.log(other, [number as i64]),
                _ => timeline.log(sync, []),
            }
        }
    };
    log(0, 3_000);
    keep(path, &snapshot, &recorded);
    fs::write(&written, damaged().concat()).expect("a file");
    [ring, snapshot, recorded, written]
}

/// The same events with fields of all kinds as a timeline, a snapshot and an archive.
pub fn fields(folder: &Path) -> [PathBuf; 3] {
    let message = "sent $len:u32 to $host:str $color:enum(red=1,green=2) $mode:flags(r=1,w=2) \
                   $ratio:f32 $ok:bool $sizes:u16[] $letter:char $took:ns $plain $none:str";
    let paths = ["ring", "saved.timeline", "x.tla"].map(|name| folder.join(name));
    let path = paths[0].to_str().expect("done");
    let timeline = Timeline::with_size(path, 1024, 1 << 16).expect("done");
    let event = timeline
        .define("net", Priority::Info, message)
        .expect("done");
    let text = |bytes, cut| Value::Text { bytes, cut };
    let sizes = [7u16.to_le_bytes(), 300u16.to_le_bytes()].concat();
    let values = [
        Value::Uint(1500),
        text(b"eth0", false),
        Value::Int(2),
        Value::Int(3),
        // As its word has it.
        Value::Uint(0.5f32.to_bits().into()),
        Value::Int(1),
        text(&sizes, true),
        Value::Uint(0x1f600),
        Value::Int(-9),
        Value::Int(-4),
        Value::Nil,
    ];
    let mut words = timeline::lay_out(&values);
    // The length of an array is that of its numbers.
    words[6] = (words[6] & !u64::from(u32::MAX)) | 2;
    for _ in 0..2 {
        timeline.log_payload(event, &words, false);
    }
    keep(path, &paths[1], &paths[2]);
    paths
}

/// Saves a timeline, and records it.
fn keep(ring: &str, snapshot: &Path, archive: &Path) {
    let at = Attached::open(ring).expect("a timeline");
    let mut output = ArchiveOutput::open(archive, Keeping::default()).expect("a file");
    let mut recorder = Recorder::new(&at, &mut output, Form::Blocks).expect("a recorder");
    while recorder.step() {}
    recorder.finish();
    at.save(snapshot).expect("a snapshot");
}

/// An archive with a gap of a known length, and with damaged bytes in it, in two pieces: each has
/// whole frames.
pub fn damaged() -> [Vec<u8>; 2] {
    let bytes = |numbers: std::ops::Range<u64>| {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Blocks);
        for number in numbers {
            let mut event = RawEvent {
                unix_nanos: Some(1_000 + number),
                ticks: Some(1 + number),
                lane: Some(0),
                number: Some(number + if number > 2 { 5 } else { 0 }),
                args: vec![number as i64],
                ..RawEvent::default()
            };
            // The text of one category is nowhere.
            let category = writer.string("net") + if number == 7 { 1_000 } else { 0 };
            event.definition.category = Some(category);
            event.definition.format = Some(writer.string("got $number:u64"));
            if number == 3 {
                writer.gap(&event, 5, 0).expect("in memory");
            }
            writer.event(&event).expect("in memory");
            if number == 5 {
                writer.flush().expect("in memory");
            }
        }
        writer.flush().expect("in memory");
        drop(writer);
        file
    };
    let (all, first) = (bytes(0..9), bytes(0..6).len());
    let rest = [b"no frame", &all[first..]].concat();
    [all[..first].to_vec(), rest]
}

/// Says in lines all that it is told.
#[derive(Default)]
struct Teller {
    is_some: bool,
    number: FieldHandle<u64>,
    lines: Vec<String>,
}

/// What is known, or a `?`.
fn shown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

impl Analyzer for Teller {
    fn begin(&mut self, wanted: &mut Subscriptions) {
        match self.is_some {
            true => {
                wanted.events("net", "net.*");
                wanted.events("*", "*.got");
            }
            false => {
                wanted.all();
            }
        }
        self.number = wanted.field("number");
    }

    fn event(&mut self, event: &EventContext) -> Result {
        let (known, thread, raw) = (event.definition(), event.thread(), event.event());
        let named = known.filter(|known| !known.is_lost && !known.is_category_lost);
        let number = match event.get(self.number) {
            Ok(number) => shown(number),
            Err(_) => {
                let reader = "timeline_analysis_u64 does not read that";
                format!(
                    "(the field number of {} is i64, and {reader})",
                    event.name()
                )
            }
        };
        let thread = thread.as_ref();
        let words = [
            event.log_number().to_string(),
            event.subscription().0.to_string(),
            shown(named.map(|_| event.name())),
            shown(named.map(|known| &known.category)),
            number,
            shown(event.time()),
            shown(event.ticks()),
            shown(known.and_then(|known| known.priority).map(|one| one as u64)),
            shown(raw.known_core()),
            shown(raw.known_node()),
            shown(raw.known_tid()),
            shown(thread.and_then(timeline::Thread::known_pid)),
            u8::from(raw.important).to_string(),
            shown(thread.and_then(|thread| thread.name.as_ref())),
            shown(thread.and_then(|thread| thread.group.as_ref())),
            shown(thread.and_then(|thread| thread.process.as_ref())),
            shown(event.host()),
            event.log().path().display().to_string(),
            shown(event.clock().map(|key| key.clock)),
            shown(event.clock().map(|key| key.boot_id)),
            event.message(),
        ];
        self.lines.push(format!("event {}", words.join(" ")));
        Ok(())
    }

    fn gap(&mut self, gap: &StreamGap) -> Result {
        let entries = shown(Some(gap.entries).filter(|entries| *entries > 0));
        let before = shown(gap.before);
        self.lines
            .push(format!("gap {} {entries} {before}", gap.log));
        Ok(())
    }

    fn loss(&mut self, log: usize, what: Lack) -> Result {
        let (number, amount) = match what {
            Lack::Unread(amount) => (1, Some(amount)),
            Lack::Unrecorded(amount) => (2, Some(amount)),
            Lack::Unknown => (3, None),
            Lack::Damaged(amount) => (4, Some(amount)),
            Lack::Removed(amount) => (5, Some(amount)),
            Lack::Gone(amount) => (6, Some(amount)),
            Lack::Unreadable(amount) => (7, Some(amount)),
        };
        let amount = shown(amount);
        self.lines
            .push(format!("loss {log} {number} {amount} {what}"));
        Ok(())
    }

    fn end(&mut self, end: AnalysisEnd) -> Result {
        let number = match end {
            AnalysisEnd::Whole => 2,
            AnalysisEnd::Cancelled => 3,
            AnalysisEnd::Enough => 4,
        };
        self.lines.push(format!("end {number}"));
        Ok(())
    }
}

/// What an analysis in Rust tells of logs, of all events or of some.
pub fn told(logs: &[Log], is_some: bool) -> Vec<String> {
    told_of(AnalysisInput::whole(logs), is_some)
}

/// The same of any input.
pub fn told_of(input: AnalysisInput, is_some: bool) -> Vec<String> {
    let mut teller = Teller {
        is_some,
        ..Teller::default()
    };
    let analysis = Analysis::new(input).with(&mut teller);
    analysis.run().expect("an analysis");
    teller.lines
}
