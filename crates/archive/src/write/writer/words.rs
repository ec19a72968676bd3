//! Writes events into blocks from the words of their entries in the ring.

use std::io::{self, Write};

use super::{BLOCK, Form, MOST_WEIGHT, Writer};
use crate::write::event_run::{EventRun, WordValues, weight_of_words};

impl<W: Write> Writer<W> {
    /// Whether events wait for others to fill a block.
    pub(crate) fn packs(&self) -> bool {
        self.form == Form::Blocks
    }

    /// How many events of so many entries and bytes of words fit into the block together with a
    /// first one, for which [`Writer::has_room`] has returned true. The file has room for them.
    #[inline]
    pub(crate) fn fit_behind(&self, entries: usize, size: usize) -> usize {
        let of_weight = MOST_WEIGHT.saturating_sub(self.weight) / weight_of_words(size);
        let of_block = (BLOCK - self.waiting).saturating_sub(1);
        of_weight.min(of_block).min(self.more_with_room(entries))
    }

    /// Like [`Writer::log`] in a writer of blocks, for events that have words in place of arguments
    /// and payload. All of their values are there, and they fit into the block.
    #[inline]
    pub(crate) fn log_words(&mut self, alike: &EventRun, values: &WordValues) -> io::Result<()> {
        let (count, entries) = (alike.len(), alike.events.entries);
        self.uses_room(entries, count - 1);
        for run in alike.events.runs {
            let next = run.number.saturating_add((run.count * entries) as u64);
            self.positions.note(run.lane.into(), next);
        }
        self.packer.push_words(alike, values);
        self.ticks.add_all(alike.events.ticks);
        self.unix.add_all(alike.unix_nanos);
        self.weighs(count, count * weight_of_words(alike.events.size));
        self.write_if_much()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::block::MAX_ARGS;
    use crate::format::event::{RawDefinition, RawEvent, SingleEvent};
    use crate::format::frame::{Frames, Part};
    use crate::format::record::{Record, decode};
    use crate::read::units::unpack::{IndexedEvent, UnpackedEvents, expand};
    use timeline::internal::{AlikeEvents, LaneRun, ValueKind};
    use timeline::{Layout, ThreadRef};

    /// Logs an event of so many doubles.
    fn log_doubles(writer: &mut Writer<&mut Vec<u8>>, number: u64, count: usize) {
        let message = "%f".repeat(count);
        let layout = Layout::of_format(&timeline::internal::Format::parse(&message));
        let mut event = RawEvent::default();
        event.definition.event = Some(number);
        let words: Vec<u8> = (0..count).flat_map(|i| (i as f64).to_le_bytes()).collect();
        let alike = EventRun {
            definition: writer.interned.event(&event).definition,
            events: AlikeEvents {
                ticks: &[number],
                words: &words,
                size: words.len(),
                entries: 1,
                runs: &[LaneRun {
                    count: 1,
                    lane: 0,
                    number,
                    core: None,
                    thread: (ThreadRef(0), 0),
                }],
            },
            threads: &[writer.thread(&event.thread)],
            unix_nanos: &[],
        };
        let kinds = vec![ValueKind::Float; count];
        writer
            .log_words(&alike, &WordValues::Kinds(&layout, &kinds))
            .unwrap();
    }

    fn log_integers(writer: &mut Writer<&mut Vec<u8>>, number: u64, count: usize) {
        let event = RawEvent {
            definition: RawDefinition {
                event: Some(number),
                ..RawDefinition::default()
            },
            args: vec![7; count],
            ..RawEvent::default()
        };
        writer.event(&event).unwrap();
    }

    /// The events of each block, by their definitions.
    fn blocks(file: &[u8]) -> Vec<Vec<u64>> {
        let mut blocks = Vec::new();
        for part in Frames::new(file) {
            let Part::Frame { record, .. } = part else {
                panic!("damage");
            };
            let mut single = SingleEvent::default();
            let Some(Record::Block(block)) = decode(record, &mut single) else {
                continue;
            };
            let mut buffer = Vec::new();
            let payload = block.payload.unwrap();
            let packed = expand(b"lz4", payload, block.expanded.unwrap(), &mut buffer).unwrap();
            let mut unpacked = UnpackedEvents::new(packed).unwrap();
            let (mut event, mut events) = (IndexedEvent::default(), Vec::new());
            while unpacked.next_event(&mut event).is_some() {
                let number = unpacked.shapes[event.definition].definition.event.unwrap();
                match event.args[..] {
                    [] => {
                        let values: Vec<_> = timeline::internal::values(&event.payload).collect();
                        let is =
                            |(i, value): (usize, &_)| *value == timeline::Value::Float(i as f64);
                        assert!(!values.is_empty() && values.iter().enumerate().all(is));
                    }
                    _ => assert!(event.args.iter().all(|value| *value == 7)),
                }
                events.push(number);
            }
            assert!(unpacked.is_at_end());
            blocks.push(events);
        }
        blocks
    }

    #[test]
    fn shapes_with_doubles_leave_room_for_others() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 7, Form::Blocks);
        // The last of these have no columns for themselves.
        (0..30).for_each(|number| log_doubles(&mut writer, number, 30));
        log_integers(&mut writer, 30, MAX_ARGS / 2);
        log_integers(&mut writer, 31, MAX_ARGS);
        log_doubles(&mut writer, 32, 2);
        writer.flush().unwrap();
        let expected = [(0..31).collect::<Vec<_>>(), vec![31, 32]];
        assert_eq!(blocks(&file), expected);
    }
}
