//! Reads blocks on several threads, ahead of the thread that merges their events.
//!
//! Each thread chooses among the events of a block and makes those that are wanted, as the reader
//! would do it. The reader takes them when it comes to the block. So events come in the same order,
//! and as many are lost, as if one thread did everything.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use timeline::Order;

use crate::read::open::archive::Archive;
use crate::read::order::chooser::EventChooser;
use crate::read::units::form::DecodedEvent;
use crate::read::units::unit::UnitInfo;

/// So many blocks are worth a thread.
const WORTH: usize = 16;
/// So many blocks for each thread may wait for the reader.
const WAITING: usize = 8;
/// No more blocks are read while events of so many bytes wait for the reader.
const ROOM: usize = 32 << 20;

/// Passes blocks to `read` that several threads read, each with a chooser of its own. Blocks are
/// read in this order, and not too far ahead.
pub fn read_on<'a, T: DecodedEvent + Send, R>(
    threads: usize,
    (archive, blocks): (&Archive, &[usize]),
    make: impl Fn() -> EventChooser<'a> + Sync,
    read: impl FnOnce(ReadBlocks<T>) -> R,
) -> R {
    let ahead = Ahead {
        state: Mutex::new(State::default()),
        changed: Condvar::new(),
        waiting: threads * WAITING,
        blocks,
    };
    thread::scope(|scope| {
        let start = || {
            let thread = thread::Builder::new();
            thread.spawn_scoped(scope, || ahead.work(archive, &make))
        };
        // Where no more threads are allowed, the reader reads what others do not.
        if (0..threads).filter(|_| start().is_ok()).count() == 0 {
            ahead.end();
        }
        read(ReadBlocks::of(&ahead))
    })
}

/// How many threads so many blocks are worth.
pub fn threads_for(blocks: usize) -> usize {
    let most = thread::available_parallelism().map_or(1, NonZero::get);
    most.min(blocks / WORTH)
}

/// The numbers of the blocks that may have wanted events, about in the order in which a reader by
/// time gets to them.
pub fn blocks_to_read(archive: &Archive, order: Order, chooser: &mut EventChooser) -> Vec<usize> {
    let one_ring = archive.has_one_ring();
    let wanted = archive.units().filter(|unit| {
        let may_be = unit.block && !unit.important;
        may_be && chooser.may_want(unit)
    });
    let time = |unit: &UnitInfo| {
        let (first, last) = if one_ring { unit.ticks } else { unit.unix };
        match order {
            Order::OldestFirst => (first, unit.number),
            Order::NewestFirst => (!last, !unit.number),
        }
    };
    let mut blocks: Vec<_> = wanted.map(|unit| (time(&unit), unit.number)).collect();
    blocks.sort_unstable();
    blocks.into_iter().map(|(_, number)| number).collect()
}

/// What the threads and the reader share.
struct Ahead<'b, T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// So many blocks may be ahead of the reader.
    waiting: usize,
    blocks: &'b [usize],
}

struct State<T> {
    /// How many of the blocks a thread has taken.
    taken: usize,
    /// How many the reader has come to.
    reached: usize,
    /// The blocks that wait for the reader, and the bytes of their events.
    read: HashMap<usize, ReadBlock<T>>,
    held: usize,
    /// Whether the reader ended, or a thread failed.
    is_over: bool,
}

impl<T> Default for State<T> {
    fn default() -> State<T> {
        State {
            taken: 0,
            reached: 0,
            read: HashMap::new(),
            held: 0,
            is_over: false,
        }
    }
}

/// What a thread read of a block.
pub struct ReadBlock<T> {
    /// The wanted events.
    pub events: Vec<T>,
    /// How many events cannot be read.
    pub lost: u64,
    /// How many entries are missing right before events that are not wanted.
    pub missed: u64,
    /// The bytes of the events.
    bytes: usize,
}

impl<T: DecodedEvent> Ahead<'_, T> {
    /// Reads blocks until none is left, or nobody wants any more.
    fn work<'a>(&self, archive: &Archive, make: &impl Fn() -> EventChooser<'a>) {
        let _failed = Failed(self);
        let (mut chosen, mut decoder) = (make(), archive.decoder());
        while let Some(number) = self.take() {
            let (mut events, missed) = (Vec::new(), chosen.missed());
            let unit = (&archive.found_units()[number], number);
            let lost = chosen.read(&mut decoder, unit, true, &mut events);
            let heap: usize = events.iter().map(DecodedEvent::heap).sum();
            let block = ReadBlock {
                lost,
                missed: chosen.missed() - missed,
                bytes: events.capacity() * size_of::<T>() + heap,
                events,
            };
            let mut state = self.state();
            state.held += block.bytes;
            state.read.insert(number, block);
            drop(state);
            self.changed.notify_all();
        }
    }
}

impl<T> Ahead<'_, T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// The next block, once it is not too far ahead. One that the reader waits for never is.
    fn take(&self) -> Option<usize> {
        let is_early = |state: &mut State<T>| {
            let ahead = state.taken.checked_sub(state.reached);
            let is_far = |ahead| ahead >= self.waiting || state.held >= ROOM;
            !state.is_over && ahead.is_some_and(is_far)
        };
        let state = self.changed.wait_while(self.state(), is_early);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let next = self.blocks.get(state.taken).filter(|_| !state.is_over)?;
        state.taken += 1;
        Some(*next)
    }

    /// Waits for the block at this position. `None` if the threads ended before they read it.
    fn wait_for(&self, at: usize) -> Option<ReadBlock<T>> {
        let mut state = self.state();
        state.reached = state.reached.max(at + 1);
        self.changed.notify_all();
        let number = self.blocks[at];
        let is_missing = |state: &mut State<T>| !state.is_over && !state.read.contains_key(&number);
        let state = self.changed.wait_while(state, is_missing);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let block = state.read.remove(&number)?;
        state.held -= block.bytes;
        Some(block)
    }
}

/// Lets the reader go on alone if a thread panics.
struct Failed<'a, 'b, T>(&'a Ahead<'b, T>);

impl<T> Drop for Failed<'_, '_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

/// The blocks that threads read. They end when this is dropped.
pub struct ReadBlocks<'a, T> {
    ahead: &'a Ahead<'a, T>,
    /// Where each block that was not taken stands among those that the threads read.
    positions: HashMap<usize, usize>,
}

impl<'a, T> ReadBlocks<'a, T> {
    fn of(ahead: &'a Ahead<'a, T>) -> ReadBlocks<'a, T> {
        let positions = ahead.blocks.iter().enumerate();
        ReadBlocks {
            ahead,
            positions: positions.map(|(at, block)| (*block, at)).collect(),
        }
    }

    /// Takes a unit. `None` if the threads do not read it, or it was taken before.
    pub fn take(&mut self, number: usize) -> Option<ReadBlock<T>> {
        let at = self.positions.remove(&number)?;
        self.ahead.wait_for(at)
    }
}

impl<T> Drop for ReadBlocks<'_, T> {
    fn drop(&mut self) {
        self.ahead.end();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use proptest::prelude::*;
    use timeline::Event;

    use super::*;
    use crate::read::choice::block_ranges::BlockRanges;
    use crate::read::choice::columns::BlockColumns;
    use crate::read::choice::select::{Places, Select};
    use crate::read::open::outline::tests::{OutlineStep, file, steps};
    use crate::read::order::merge::ByTime;
    use crate::read::units::ordered::OrderedEvent;
    use crate::write::writer::Form;

    /// Wants a third of the events, and asks about another third. With `only_on`, it panics on all
    /// other threads.
    #[derive(Clone, Copy, Default)]
    struct Third {
        only_on: Option<thread::ThreadId>,
    }

    impl Select for Third {
        fn wants_unit(&mut self, unit: &UnitInfo) -> bool {
            !unit.number.is_multiple_of(7)
        }

        fn wants_block(&mut self, unit: &UnitInfo, _: &BlockRanges) -> bool {
            !unit.number.is_multiple_of(5)
        }

        fn choose(
            &mut self,
            unit: &UnitInfo,
            _: Option<&mut BlockColumns<'_>>,
            places: &mut Places,
        ) {
            let only_on = self.only_on;
            assert!(only_on.is_none_or(|only| only == thread::current().id()));
            if unit.number.is_multiple_of(3) {
                return places.clear_range(0..places.len());
            }
            for place in 0..places.len() {
                match (place + unit.number) % 3 {
                    0 => {}
                    1 => places.ask(place),
                    _ => places.clear(place),
                }
            }
        }

        fn wants(&mut self, event: &Event) -> bool {
            event.ticks.is_multiple_of(2)
        }
    }

    fn chooser(select: Third) -> EventChooser<'static> {
        EventChooser::by(Box::new(select))
    }

    type All = (Vec<Event>, u64, u64);

    /// The wanted events, how many were missed before others, and how many were lost.
    fn all(mut merged: ByTime<OrderedEvent>) -> All {
        let events = merged.by_ref().map(|ordered| ordered.event).collect();
        (events, merged.missed(), merged.lost())
    }

    fn on_one(archive: &Archive, order: Order) -> All {
        let merged = ByTime::new(archive, order);
        all(merged.chosen_by(chooser(Third::default())))
    }

    /// Reads blocks on so many threads, and keeps so many bytes of events.
    fn on_threads<R>(
        (archive, order): (&Archive, Order),
        (threads, room): (usize, usize),
        select: Third,
        read: impl FnOnce(ByTime<OrderedEvent>) -> R,
    ) -> R {
        let blocks = blocks_to_read(archive, order, &mut chooser(select));
        let merged = ByTime::with_room(archive, order, room).chosen_by(chooser(select));
        read_on(
            threads,
            (archive, &blocks),
            || chooser(select),
            |ahead| read(merged.ahead_by(ahead)),
        )
    }

    /// As many blocks as several threads read for a while, of up to 30 events each.
    fn many_blocks() -> Archive {
        let blocks = (0..1_000).flat_map(|block| {
            [
                OutlineStep::Events(1 + block as u8 % 30),
                OutlineStep::Flush,
            ]
        });
        let blocks: Vec<_> = blocks.collect();
        Archive::from_bytes(file(&blocks, Form::Blocks, &mut 0))
    }

    #[test]
    fn threads_find_what_one_finds_in_many_blocks() {
        let (archive, select) = (many_blocks(), Third::default());
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let expected = on_one(&archive, order);
            assert!(expected.0.len() > 3_000);
            for means in [(1, usize::MAX), (3, usize::MAX), (3, 10_000)] {
                let found = on_threads((&archive, order), means, select, all);
                assert!(found == expected, "{order:?} by {means:?}");
            }
            let first = on_threads((&archive, order), (3, usize::MAX), select, |mut merged| {
                merged.next()
            });
            assert_eq!(first.map(|first| first.event).as_ref(), expected.0.first());
        }
    }

    #[test]
    fn a_thread_that_fails_holds_nobody_up() {
        let (archive, order) = (many_blocks(), Order::OldestFirst);
        let only_on = Some(thread::current().id());
        let mut found = None;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            on_threads(
                (&archive, order),
                (2, usize::MAX),
                Third { only_on },
                |merged| {
                    found = Some(all(merged));
                },
            );
        }));
        assert!(ended.is_err());
        assert!(found == Some(on_one(&archive, order)));
    }

    proptest! {
        #[test]
        fn threads_find_what_one_finds(
            parts in prop::collection::vec((steps(), prop::bool::weighted(0.3)), 1..5),
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..4),
            threads in 1_usize..4,
            room in prop::sample::select(vec![0, 10_000, usize::MAX]),
        ) {
            let (mut number, mut bytes) = (0, Vec::new());
            for (steps, plain) in &parts {
                let form = if *plain { Form::Plain } else { Form::Blocks };
                bytes.extend(file(steps, form, &mut number));
            }
            for (at, bit) in flips.iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            let archive = Archive::from_bytes(bytes);
            let select = Third::default();
            for order in [Order::OldestFirst, Order::NewestFirst] {
                let found = on_threads((&archive, order), (threads, room), select, all);
                prop_assert_eq!(found, on_one(&archive, order));
            }
        }
    }
}
