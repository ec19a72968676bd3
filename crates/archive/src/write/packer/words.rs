//! Packs many events of one definition at once, from the words of their entries.

use super::{Packer, Place, ShapeKey};
use crate::format::block::{
    CORE, HAS_CORE, HAS_LANE, HAS_NUMBER, HAS_TICKS, HAS_TIME, LANE, NUMBER, SHAPE, THREAD, TICKS,
};
use crate::format::varint::{put_difference, repeat, repeat_difference};
use crate::write::columns::ArgumentColumn;
use crate::write::event_run::{EventRun, WordValues};
use crate::write::interner::ThreadId;
use timeline::Layout;
use timeline::internal::{LaneRun, ValueSink as _};

impl Packer {
    /// Adds events without arguments, payload and call stack, which have words instead.
    #[inline]
    pub fn push_words(&mut self, alike: &EventRun, values: &WordValues) {
        let (args, kinds) = match values {
            WordValues::Integers(count) => (*count, [].as_slice()),
            WordValues::Kinds(_, kinds) => (kinds.len(), *kinds),
        };
        let has_time = if alike.unix_nanos.is_empty() {
            0
        } else {
            HAS_TIME
        };
        let has_core = if alike.have_core() { HAS_CORE } else { 0 };
        let shape = ShapeKey {
            definition: alike.definition,
            has: HAS_TICKS | has_time | has_core | HAS_LANE | HAS_NUMBER,
            backtrace: 0,
            args,
            payload: false,
            kinds: !kinds.is_empty(),
        };
        let shape = self.shape(shape, || kinds.to_vec());
        self.put_moments(shape, alike);
        let entries = alike.events.entries as u64;
        if let ([run], [thread]) = (alike.events.runs, alike.threads) {
            self.put_only_run(run, *thread, entries);
        } else {
            self.end_run();
            for (run, thread) in alike.events.runs.iter().zip(alike.threads) {
                self.put_run(run, *thread, entries);
            }
        }
        self.put_words(shape, alike, values);
    }

    fn put_moments(&mut self, shape: usize, alike: &EventRun) {
        repeat(&mut self.columns[SHAPE], shape as u64, alike.len());
        let ticks = alike.events.ticks;
        let mut before = match self.first {
            Some(_) => self.previous.ticks,
            None => *self.first.insert(ticks[0]),
        };
        for ticks in ticks {
            put_difference(&mut self.columns[TICKS], *ticks, before);
            before = *ticks;
        }
        self.previous.ticks = before;
        self.times.extend_from_slice(alike.unix_nanos);
        self.ticks_of_times
            .extend_from_slice(&ticks[..alike.unix_nanos.len()]);
    }

    /// Writes where events were logged, which take so many entries each. Others of the same place
    /// are likely to follow.
    #[inline]
    fn put_only_run(&mut self, events: &LaneRun, thread: ThreadId, entries: u64) {
        let further = events.count - 1;
        self.put_place(Place {
            thread,
            core: events.core.map(u64::from),
            lane: Some(events.lane.into()),
        });
        self.put_number(Some(events.number));
        if let (1.., Some(run)) = (further, &mut self.run) {
            run.more += further;
            run.next = run
                .next
                .wrapping_add((further as u64).wrapping_mul(entries));
            // Each is expected behind the first entry of the one before.
            repeat_difference(&mut self.columns[NUMBER], entries - 1, further);
        }
    }

    /// The same, where the next events are likely to be of another place.
    #[inline]
    fn put_run(&mut self, events: &LaneRun, thread: ThreadId, entries: u64) {
        let (count, lane) = (events.count, u64::from(events.lane));
        let thread = self.thread(thread);
        let (columns, previous) = (&mut self.columns, &mut self.previous);
        repeat(&mut columns[THREAD], thread as u64, count);
        if let Some(core) = events.core {
            put_difference(&mut columns[CORE], core.into(), previous.core);
            previous.core = core.into();
            repeat(&mut columns[CORE], 0, count - 1);
        }
        repeat(&mut columns[LANE], lane, count);
        let next = previous.next_number(Some(lane));
        put_difference(&mut columns[NUMBER], events.number, *next);
        // Each further one is expected behind the first entry of the one before.
        repeat_difference(&mut columns[NUMBER], entries - 1, count - 1);
        let last = (events.number).wrapping_add((count as u64 - 1).wrapping_mul(entries));
        *next = last.wrapping_add(1);
    }

    fn put_words(&mut self, shape: usize, alike: &EventRun, values: &WordValues) {
        let size = alike.events.size;
        let previous = &mut self.previous.args[shape];
        let ranges = &mut self.ranges[shape];
        let args = match self.shapes[shape].own {
            Some(first) => &mut self.own[first..],
            None => &mut self.args[..],
        };
        for words in alike.events.words.chunks(Layout::MOST_ROWS * size.max(1)) {
            let columns = args.iter_mut().zip(previous.iter_mut());
            let columns = columns.zip(ranges.iter_mut());
            let columns = columns.map(|((bytes, before), range)| ArgumentColumn {
                bytes,
                before,
                range,
            });
            match values {
                WordValues::Integers(count) => {
                    for (place, mut column) in columns.take(*count).enumerate() {
                        for words in words.chunks_exact(size) {
                            let (words, _) = words.as_chunks();
                            column.int(i64::from_le_bytes(words[place]));
                        }
                    }
                }
                WordValues::Kinds(layout, _) => {
                    let mut values = layout.columns(words, size);
                    columns.for_each(|mut column| values.give_next(&mut column));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::event::{RawDefinition, RawEvent, RawThread};
    use crate::write::interner::Interner;
    use timeline::ThreadRef;
    use timeline::internal::AlikeEvents;

    /// Lane and thread, the difference of the ticks to those before, and the arguments.
    type Logged = ((u32, u32), i64, [i64; 2]);

    fn logged() -> impl Strategy<Value = Logged> {
        let place = (prop_oneof![0..3_u32, 0..5000_u32], 0..3_u32);
        let arg = || prop_oneof![-9..9_i64, any::<i64>()];
        let args = [arg(), arg()];
        (place, prop_oneof![-9..300_i64, any::<i64>()], args)
    }

    /// The same events as a recorder gives them, one by one or many at once.
    fn events(logged: &[Logged], entries: u64, core: bool, time: bool) -> Vec<RawEvent> {
        let (mut ticks, mut next) = (0_i64, std::collections::HashMap::new());
        let event = |((lane, thread), difference, args): &Logged| {
            ticks = ticks.wrapping_add(*difference);
            let number = next.entry(*lane).or_insert(u64::from(*lane) % 3);
            *number += entries;
            RawEvent {
                definition: RawDefinition {
                    event: Some(1),
                    ..RawDefinition::default()
                },
                thread: RawThread {
                    tid: Some((*thread).into()),
                    ..RawThread::default()
                },
                ticks: Some(ticks as u64),
                unix_nanos: time.then_some(ticks.wrapping_mul(3) as u64),
                core: core.then_some(u64::from(*lane) % 7),
                lane: Some((*lane).into()),
                number: Some(*number - entries),
                args: args.to_vec(),
                ..RawEvent::default()
            }
        };
        logged.iter().map(event).collect()
    }

    fn push_at_once(packer: &mut Packer, interned: &mut Interner, of: &[RawEvent], entries: usize) {
        let (mut runs, mut threads): (Vec<LaneRun>, Vec<_>) = Default::default();
        for event in of {
            let row = interned.event(event);
            let run = LaneRun {
                count: 1,
                lane: event.lane.unwrap() as u32,
                number: event.number.unwrap(),
                core: event.core.map(|core| core as u16),
                thread: (ThreadRef(0), event.thread.tid.unwrap() as u32),
            };
            let place = |run: &LaneRun| (run.lane, run.thread);
            match runs.last_mut() {
                Some(last) if place(last) == place(&run) => last.count += 1,
                _ => {
                    runs.push(run);
                    threads.push(row.thread);
                }
            }
        }
        let ticks: Vec<_> = of.iter().filter_map(|event| event.ticks).collect();
        let unix_nanos: Vec<_> = of.iter().filter_map(|event| event.unix_nanos).collect();
        let words = of.iter().flat_map(|event| &event.args);
        let words: Vec<_> = words.flat_map(|word| word.to_le_bytes()).collect();
        let alike = EventRun {
            definition: interned.event(&of[0]).definition,
            events: AlikeEvents {
                ticks: &ticks,
                words: &words,
                size: 16,
                entries,
                runs: &runs,
            },
            threads: &threads,
            unix_nanos: &unix_nanos,
        };
        packer.push_words(&alike, &WordValues::Integers(2));
    }

    proptest! {
        #[test]
        fn many_at_once_are_packed_as_one_by_one(
            logged in prop::collection::vec(logged(), 1..200),
            cuts in prop::collection::vec((1..60_usize, any::<bool>()), 1..9),
            (entries, core, time) in (1..4_usize, any::<bool>(), any::<bool>()),
        ) {
            let events = events(&logged, entries as u64, core, time);
            let mut interned = Interner::new(0);
            let [mut one_by_one, mut at_once] = [Packer::new(), Packer::new()];
            let mut left = events.as_slice();
            for (count, together) in cuts.iter().cycle() {
                let (now, rest) = left.split_at((*count).min(left.len()));
                now.iter().for_each(|event| one_by_one.push(&interned.event(event)));
                match *together && !now.is_empty() {
                    true => push_at_once(&mut at_once, &mut interned, now, entries),
                    false => now.iter().for_each(|event| at_once.push(&interned.event(event))),
                }
                left = rest;
                if left.is_empty() {
                    break;
                }
            }
            let mut expected = [Vec::new(), Vec::new()];
            let mut found = expected.clone();
            let [out, ranges] = &mut expected;
            one_by_one.finish(&interned, out, ranges);
            let most = at_once.most();
            let [out, ranges] = &mut found;
            at_once.finish(&interned, out, ranges);
            prop_assert!(out.len() <= most);
            prop_assert_eq!(found, expected);
        }
    }
}
