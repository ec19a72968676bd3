//! Makes pages and segments from the events of an archive.

use std::collections::BTreeMap;

use timeline::dump::Messages;
use timeline::{Event, EventId, Source};
use timeline_archive::Archive;

use super::file::{Root, SegmentEntry};
use super::ngrams;
use super::page::{self, MOST_EVENTS, Page};
use super::segment::SegmentBuilder;
use crate::message_lines::line_count;

/// Makes pages and segments from the events of a file of an archive.
pub struct Builder<'a> {
    archive: &'a Archive,
    messages: Messages<'a>,
    segment: SegmentBuilder,
    pages: Vec<Page>,
    /// The bytes of the lines of these pages.
    text: u64,
    /// The definitions of the events, and whether each shows symbols.
    definitions: BTreeMap<EventId, bool>,
}

impl<'a> Builder<'a> {
    pub fn new(archive: &'a Archive) -> Builder<'a> {
        Builder {
            archive,
            messages: Messages::new(archive),
            segment: SegmentBuilder::default(),
            pages: Vec::new(),
            text: 0,
            definitions: BTreeMap::new(),
        }
    }

    /// Goes on with a segment that has room.
    pub fn go_on(&mut self, segment: SegmentBuilder, pages: Vec<Page>, text: u64) {
        (self.segment, self.pages, self.text) = (segment, pages, text);
    }

    /// Adds the events of a unit, which begins at `unit` in its file.
    pub fn add(&mut self, unit: u64, events: &[Event]) {
        let mut first = 0;
        for events in events.chunks(MOST_EVENTS) {
            let mut page = Page {
                unit,
                first,
                events: events.len() as u32,
                lines: 0,
                ticks: (u64::MAX, 0),
                time: (u64::MAX, 0),
            };
            first += page.events;
            for event in events {
                page.lines += self.event(event);
                let time = event.time.map_or(0, Into::into);
                page.ticks = (page.ticks.0.min(event.ticks), page.ticks.1.max(event.ticks));
                page.time = (page.time.0.min(time), page.time.1.max(time));
            }
            self.pages.push(page);
            self.segment.end_page();
        }
    }

    /// Adds the ngrams of an event. Returns how many lines it has.
    fn event(&mut self, event: &Event) -> u64 {
        let definition = self.archive.definition(event.id);
        self.definitions.entry(event.id).or_insert_with(|| {
            let fields = definition
                .into_iter()
                .flat_map(|definition| definition.fields());
            fields.into_iter().any(|field| field.kind.is_address())
        });
        let message = self.messages.text(event, definition);
        let segment = &mut self.segment;
        ngrams::each(message.as_bytes(), |ngram| segment.add(ngram));
        self.text += message.len() as u64 + 1;
        line_count(&message)
    }

    /// Whether there may be no room for another unit.
    pub fn is_full(&self) -> bool {
        self.segment.is_full()
    }

    /// Whether no page was added since the last segment.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Appends the pages and their ngrams.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> SegmentEntry {
        let segment = self.segment.finish(out);
        let start = out.len();
        page::encode(&self.pages, out);
        let sum = crc32fast::hash(&out[start..]);
        let table = start as u64..out.len() as u64;
        let pages = std::mem::take(&mut self.pages);
        let text = std::mem::take(&mut self.text);
        SegmentEntry::of(&segment, &pages, (table, sum), text)
    }

    /// Adds the names of which the events up to now are made.
    pub fn add_names(&self, root: &mut Root) {
        let (archive, known) = (self.archive, self.definitions.keys());
        let strings = known.filter_map(|id| archive.message_string(*id));
        root.names.extend(
            strings
                .map(|(magic, number)| (magic, number, digest_of_string(archive, magic, number))),
        );
        root.names.sort_unstable();
        root.names.dedup();
        if self.definitions.values().any(|has_symbols| *has_symbols) || root.symbols.is_some() {
            root.symbols = Some(archive.symbols_digest());
        }
    }
}

/// A digest of a string of an archive; 0 if it was lost.
pub fn digest_of_string(archive: &Archive, magic: u64, number: u64) -> u64 {
    archive.string(magic, number).map_or(0, |text| {
        let half = |seed: u32| {
            let mut hasher = crc32fast::Hasher::new_with_initial(seed);
            hasher.update(text.as_bytes());
            u64::from(hasher.finalize())
        };
        (half(0) << 32 | half(0x9e37_79b9)).max(1)
    })
}
