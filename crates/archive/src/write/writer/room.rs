//! Computes how many bytes a writer will write at most.
//! It also says whether the file of the writer has room for them.

use super::{Form, Writer};
use crate::format::ranges;
use crate::format::varint::MOST_NUMBER;
use crate::write::event::InternedEvent;
use crate::write::packer::most_compressed;

/// Most bytes of a number in a record.
const NUMBER: usize = 9;
/// Most bytes of a frame without texts, payload and long lists. An event of a few integers fits as
/// well.
const FRAME: usize = 512;

impl<W> Writer<W> {
    /// The least number of bytes that the writer is going to write if it is given nothing more. It
    /// is 0 if nothing waits.
    #[inline]
    pub(crate) fn least(&self) -> u64 {
        (self.frames.len() + self.waiting) as u64
    }

    /// The largest number of bytes that the writer is going to write if it is given nothing more.
    /// The frame of a block counts even if the block has no events yet.
    pub(crate) fn most(&self) -> u64 {
        let block = match self.form {
            Form::Plain => 0,
            Form::Blocks => {
                let payload = most_compressed(self.packer.most());
                payload + ranges::most(payload) + self.most_of_positions()
            }
        };
        (self.frames.len() + block) as u64
    }

    /// How much an event adds to `most` at most, not counting the records that it refers to.
    pub(crate) fn most_of(event: &InternedEvent) -> u64 {
        let numbers = event.args.len() + event.backtrace.len();
        let event = most_compressed(event.payload.len() + 2 * MOST_NUMBER * numbers);
        (FRAME + event) as u64
    }

    /// How much a record of missed events in so many lanes adds to `most` at most.
    pub(crate) fn most_of_missed(&self, lanes: usize) -> u64 {
        (self.most_of_positions() + 2 * NUMBER * lanes) as u64
    }

    /// The largest size of a record that says how far all lanes are.
    fn most_of_positions(&self) -> usize {
        FRAME + 2 * NUMBER * self.positions.all().len()
    }

    /// Whether the file has room for an event after all that waits: for one of a few integers, or
    /// for the words of so many entries. `room` says how many more bytes the file may get. It is
    /// called once for many events.
    #[inline]
    pub(crate) fn has_room(&mut self, entries: usize, room: impl FnOnce(&W) -> u64) -> bool {
        let more = most_of_words(entries);
        match self.room.checked_sub(more) {
            Some(room) => {
                self.room = room;
                true
            }
            None => self.look_for_room(more, room),
        }
    }

    /// For how many further events of so many entries there is room for sure.
    #[inline]
    pub(super) fn more_with_room(&self, entries: usize) -> usize {
        (self.room / most_of_words(entries)) as usize
    }

    /// Notes that further events are written, for which there was room.
    #[inline]
    pub(super) fn uses_room(&mut self, entries: usize, count: usize) {
        let used = most_of_words(entries) * count as u64;
        self.room = self.room.saturating_sub(used);
    }

    #[cold]
    fn look_for_room(&mut self, more: u64, room: impl FnOnce(&W) -> u64) -> bool {
        let room = match room(&self.out) {
            u64::MAX => u64::MAX,
            room => room.saturating_sub(self.most()),
        };
        let rest = room.checked_sub(more);
        self.room = rest.unwrap_or(0);
        rest.is_some()
    }
}

/// How much the words of an event of so many entries add to `most` at most.
#[inline]
fn most_of_words(entries: usize) -> u64 {
    // Two entries have 11 words. A number takes 10 bytes at most; a column that a value has for
    // itself 10 for its length, and 2 for its kind.
    (FRAME * entries.div_ceil(2)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::event::{RawDefinition, RawEvent, RawThread};
    use crate::write::event_run::{EventRun, WordValues};
    use timeline::internal::{AlikeEvents, Format, LaneRun};
    use timeline::{Layout, ThreadRef};

    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![0..4u64, any::<u64>()]
    }

    /// Any event. Events have few definitions and threads or many, and small numbers or large ones.
    fn event() -> impl Strategy<Value = RawEvent> {
        let field = || proptest::option::of(word());
        let kind = (field(), field(), field(), field(), field());
        let source = (field(), field(), field(), field());
        let position = (field(), field(), field(), field(), field());
        let lists = (
            proptest::collection::vec(any::<i64>(), 0..30),
            proptest::collection::vec(word(), 0..30),
            proptest::collection::vec(any::<u8>(), 0..300),
        );
        (kind, source, position, lists).prop_map(|(kind, source, position, lists)| {
            let (file, line, format, category, event) = kind;
            let (thread, tid, pid, process) = source;
            let (ticks, unix_nanos, core, lane, number) = position;
            let (args, backtrace, payload) = lists;
            RawEvent {
                definition: RawDefinition {
                    file,
                    line,
                    level: Some(3),
                    format,
                    category,
                    event,
                    syntax: line,
                    channels: format,
                },
                thread: RawThread {
                    name: thread,
                    tid,
                    pid,
                    process,
                    group: line,
                    identity: event,
                },
                ticks,
                unix_nanos,
                core,
                lane,
                number,
                next: number.map(|number| number ^ 7),
                missed: 0,
                args,
                payload,
                backtrace,
            }
        })
    }

    /// The same, for words of so many entries.
    fn no_more_words_are_written_than_was_said(words: &[u64], counts: &[usize]) {
        let mut writer = Writer::new(Vec::new(), u64::MAX, Form::Blocks);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (number, entries) in (0..).zip(counts) {
            let definition = writer.interned.definition(&RawDefinition {
                event: Some(u64::MAX - number),
                ..RawDefinition::default()
            });
            let count = 6 * entries - 1;
            let format = ["%ld ", "%f ", "%d%Lf", "%ld%ld%f"][entries % 4].repeat(count / 3);
            let layout = Layout::of_format(&Format::parse(&format));
            let kinds: Vec<_> = layout.kinds().collect();
            let values = WordValues::Kinds(&layout, &kinds);
            assert!(values.are_in(&bytes[..8 * count]));
            let before = writer.most();
            writer.room = 1 << 20;
            assert!(writer.has_room(*entries, |_| 0));
            let said = (1 << 20) - writer.room;
            // As many more as there may be, up to two.
            let size = 8 * count;
            let more = writer.fit_behind(*entries, size).min(entries % 3);
            let ticks: Vec<u64> = (0..=more as u64).map(|i| (number + i) << 50).collect();
            // Each of a lane and a thread of its own.
            let run = |i: u64| LaneRun {
                count: 1,
                lane: u32::MAX - (3 * number + i) as u32,
                number: !number,
                core: Some(u16::MAX - i as u16),
                thread: (ThreadRef(0), 0),
            };
            let runs: Vec<_> = (0..=more as u64).map(run).collect();
            let threads = (0..=more as u64).map(|i| RawThread {
                tid: Some(!(3 * number + i)),
                ..RawThread::default()
            });
            let threads: Vec<_> = threads.map(|row| writer.interned.thread(&row)).collect();
            let alike = EventRun {
                definition,
                events: AlikeEvents {
                    ticks: &ticks,
                    words: &bytes[..size].repeat(1 + more),
                    size,
                    entries: *entries,
                    runs: &runs,
                },
                threads: &threads,
                unix_nanos: &ticks,
            };
            writer.log_words(&alike, &values).unwrap();
            let said = said * (1 + more as u64);
            let written = writer.most() - before;
            assert!(written <= said, "{written} > {said}");
        }
        let most = writer.most() as usize;
        writer.flush().unwrap();
        assert!(writer.written() as usize <= most);
    }

    proptest! {
        #[test]
        fn no_more_is_written_than_was_said(
            events in proptest::collection::vec((event(), 0..12u8), 1..60),
            words in proptest::collection::vec(word(), 60),
            counts in proptest::collection::vec(1..10usize, 1..40),
        ) {
            no_more_words_are_written_than_was_said(&words, &counts);
            for form in [Form::Plain, Form::Blocks] {
                let mut file = Vec::new();
                let mut writer = Writer::new(&mut file, u64::MAX, form);
                for (event, then) in &events {
                    let row = writer.interned.event(event);
                    let most = writer.most() + Writer::<Vec<u8>>::most_of(&row);
                    writer.event(event).unwrap();
                    prop_assert!(writer.most() <= most, "{} > {most}", writer.most());
                    let before = writer.written();
                    let most = before + writer.most();
                    match then {
                        0 => writer.flush().unwrap(),
                        1 => {
                            let most = writer.most() + writer.most_of_missed(1);
                            writer.gap(event, u64::MAX, u64::MAX).unwrap();
                            writer.write().unwrap();
                            let written = writer.written() - before;
                            prop_assert!(written <= most, "{written} > {most}");
                        }
                        _ => {}
                    }
                    if *then == 0 {
                        let written = writer.written();
                        prop_assert!(written <= most, "{written} > {most}");
                    }
                }
            }
        }
    }
}
