//! Archives of a few events, and an analyser that notes what it is given.

use timeline::Value;
use timeline_archive::{Archive, Form, RawEvent, Writer};
use timeline_latency::Lack;
use timeline_reading::Log;

use crate::analyzer::{AnalysisEnd, Analyzer};
use crate::context::EventContext;
use crate::error::Result;
use crate::field::FieldHandle;
use crate::gap::StreamGap;
use crate::subscriptions::Subscriptions;

/// Categories and messages. The names of events are made of these.
pub const DEFINITIONS: [(&str, &str); 5] = [
    ("net", "got $number:u64"),
    ("net", "sent to host $number:u64"),
    ("disk", "got $number:u64"),
    ("disk", "sync"),
    ("n", "got"),
];

/// The names of these events.
pub const NAMES: [&str; 5] = [
    "net.got",
    "net.sent_to_host",
    "disk.got",
    "disk.sync",
    "n.got",
];

/// An event of a sample.
#[derive(Debug, Clone, Copy)]
pub struct SampleEvent {
    /// The place of its definition.
    pub definition: usize,
    pub time: u64,
    pub important: bool,
    /// How many entries are missing before it.
    pub missed: u64,
    /// Whether a block ends behind it.
    pub ends_block: bool,
}

impl SampleEvent {
    pub fn new(definition: usize, time: u64) -> SampleEvent {
        SampleEvent {
            definition,
            time,
            important: false,
            missed: 0,
            ends_block: false,
        }
    }
}

/// An event of this category, message and time.
pub fn raw(
    writer: &mut Writer<&mut Vec<u8>>,
    (category, format): (&str, &str),
    time: u64,
) -> RawEvent {
    let mut event = RawEvent {
        unix_nanos: Some(time),
        ticks: Some(time),
        ..RawEvent::default()
    };
    event.definition.category = Some(writer.string(category));
    event.definition.format = Some(writer.string(format));
    event
}

/// The bytes of an archive with these events, each of which says its number.
pub fn bytes(events: &[SampleEvent], magic: u64) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, magic, Form::Blocks);
    // The next number of each lane.
    let (mut next, mut important) = (0, 0);
    for (number, event) in (0..).zip(events) {
        let mut one = raw(&mut writer, DEFINITIONS[event.definition], event.time);
        match event.important {
            true => (one.lane, one.number) = (Some(32_768), Some(important)),
            false => (one.lane, one.number) = (Some(0), Some(next + event.missed)),
        }
        one.args = vec![number];
        if event.missed > 0 && !event.important {
            writer.gap(&one, event.missed, 0).unwrap();
        }
        match event.important {
            true => important += 1,
            false => next += event.missed + 1,
        }
        writer.event(&one).unwrap();
        if event.ends_block {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    drop(writer);
    file
}

pub fn log(events: &[SampleEvent], magic: u64) -> Log {
    Log::of_archive("x.tla".as_ref(), Archive::from_bytes(bytes(events, magic)))
}

/// What an analyser was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BookLine {
    /// The log, the number of the event, its time, and the number of the subscription.
    Event(usize, u64, u64, usize),
    /// The log, and how many entries are missing.
    Gap(usize, u64),
    Loss(usize, Lack),
    End(AnalysisEnd),
}

/// Notes what it is told.
#[derive(Default)]
pub struct Notebook {
    /// Patterns of categories and names; all events if there are none.
    pub patterns: Vec<(String, String)>,
    /// After how many events it has enough.
    pub enough: Option<usize>,
    /// At which event it fails.
    pub fails_at: Option<usize>,
    pub told: Vec<BookLine>,
    /// How many events it was given.
    pub count: usize,
    pub number: FieldHandle<Value<'static>>,
}

impl Notebook {
    pub fn of(patterns: &[(&str, &str)]) -> Notebook {
        let owned = |(category, name): &(&str, &str)| ((*category).into(), (*name).into());
        Notebook {
            patterns: patterns.iter().map(owned).collect(),
            ..Notebook::default()
        }
    }

    /// The events that it was given.
    pub fn events(&self) -> Vec<BookLine> {
        let events = self
            .told
            .iter()
            .filter(|told| matches!(told, BookLine::Event(..)));
        events.cloned().collect()
    }
}

impl Analyzer for Notebook {
    fn begin(&mut self, wanted: &mut Subscriptions) {
        for (category, name) in &self.patterns {
            wanted.events(category, name);
        }
        if self.patterns.is_empty() {
            wanted.all();
        }
        self.number = wanted.field("0");
    }

    fn event(&mut self, event: &EventContext) -> Result {
        let count = self.count + 1;
        if self.fails_at == Some(count) {
            return Err(crate::Error::own("the notebook is full"));
        }
        self.count = count;
        let number = event.event().args[0] as u64;
        if let Some(value) = event.get(self.number)? {
            assert_eq!(value, Value::Uint(number));
        }
        let time = event.time().unwrap_or(0);
        let subscription = event.subscription().0;
        self.told.push(BookLine::Event(
            event.log_number(),
            number,
            time,
            subscription,
        ));
        if self.enough == Some(count) {
            event.enough();
        }
        Ok(())
    }

    fn gap(&mut self, gap: &StreamGap) -> Result {
        self.told.push(BookLine::Gap(gap.log, gap.entries));
        Ok(())
    }

    fn loss(&mut self, log: usize, what: Lack) -> Result {
        self.told.push(BookLine::Loss(log, what));
        Ok(())
    }

    fn end(&mut self, end: AnalysisEnd) -> Result {
        self.told.push(BookLine::End(end));
        Ok(())
    }
}
