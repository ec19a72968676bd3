//! The stretches of the wall clock in the memory of a timeline: reading them, and adding one.
//!
//! Any process that may write adds them, also in a signal handler, and may be killed anywhere. So
//! nothing waits here. Whoever adds one notes when it began; another one that finds such a note
//! goes away, unless it is older than a second: then its author was killed. A stretch counts when
//! the number of the newest is its own. That is stored last, and only if nobody else has added one
//! meanwhile. If a process was stopped in here for more than a second, two may write to one slot:
//! then the word that combines the others does not fit, and readers leave the stretch out.
//!
//! The words of a slot are Relaxed: they are published by the number of the newest, with Release,
//! and read after it, with Acquire; `check` tells whether they belong together. When the clocks
//! were last compared is Relaxed: a hint.

use std::ops::Range;

use super::course::{ClockReading, Course, Stretch, TickRate};
use super::{ClockKind, is_comparable, monotonic, realtime};
use crate::layout::records::Stretch as Slot;
use crate::layout::{Geometry, Header, Region};
use crate::shm::{Mapping, Record, RecordAccess};
use crate::sync::{AtomicU64, Ordering, fence};

/// A look at the clocks that took more nanoseconds than this was interrupted.
const SHARP: u64 = 10_000;
/// The closest of so many readings counts.
const LOOKS: u32 = 8;
/// Stretches before the newest that are looked for if that is not whole.
const FEW: u64 = 4;

/// The stretches of a timeline.
#[derive(Clone, Copy)]
pub struct Stretches<'a> {
    map: &'a Mapping,
    region: Region,
    /// How many chunks the ring has.
    chunks: u64,
    kind: ClockKind,
    rate: TickRate,
}

impl<'a> Stretches<'a> {
    /// Those of a timeline whose geometry was checked; `None` if it has no place for them.
    pub fn of(map: &'a Mapping, geometry: &Geometry, kind: ClockKind) -> Option<Stretches<'a>> {
        let region = geometry.stretches;
        // Relaxed: it never changes.
        let rate = map.header().field(|header| &header.tick_rate);
        let rate = TickRate(rate.load(Ordering::Relaxed));
        (region.length > 0).then_some(Stretches {
            map,
            region,
            chunks: geometry.chunks.into(),
            kind,
            rate,
        })
    }

    fn field(&self, field: fn(&Header) -> &AtomicU64) -> RecordAccess<'a, AtomicU64> {
        self.map.header().field(field)
    }

    /// The number of the newest one; 0 if there is none.
    pub fn newest(&self) -> u64 {
        // Acquire, pairs with the Release in `publish`: the slot is whole.
        self.field(|header| &header.newest_stretch)
            .load(Ordering::Acquire)
    }

    /// The first ticks of the newest one.
    pub fn begin_of_newest(&self) -> Option<u64> {
        self.read(self.newest()).map(|newest| newest.from)
    }

    fn slot(&self, serial: u64) -> RecordAccess<'a, Slot> {
        let slots = self.region.length / self.region.stride;
        self.map.record(self.region.at(serial % slots))
    }

    /// The one of this number, if it is whole.
    fn read(&self, serial: u64) -> Option<Stretch> {
        let slot = self.slot(serial);
        // Relaxed: the number of the newest was loaded with Acquire before.
        let word = |field: fn(&Slot) -> &AtomicU64| slot.field(field).load(Ordering::Relaxed);
        let words = WORDS.map(word);
        // Acquire fence, pairs with the Release fence in `write`: if a word is of a later one, so
        // is the number.
        fence(Ordering::Acquire);
        let is_still = word(|slot| &slot.serial) == serial;
        whole(serial, words).filter(|_| is_still)
    }

    /// All up to this number that are still there.
    pub fn course(&self, newest: u64) -> Course {
        Course::new(self.rate, self.after(0, newest))
    }

    /// Those of greater numbers than `known`, up to `newest`, that are still there and whole. They
    /// are copied at once, because each access to a file that is not mapped is a call; of one that
    /// is written meanwhile, `check` does not fit.
    pub fn after(&self, known: u64, newest: u64) -> Vec<Stretch> {
        let slots = self.region.length / self.region.stride;
        let first = newest
            .saturating_sub(slots - 1)
            .max(known.saturating_add(1));
        let (mut serial, mut all) = (first, Vec::new());
        while serial <= newest {
            let left = slots - serial % slots;
            let end = newest.saturating_add(1).min(serial.saturating_add(left));
            all.extend(self.copied(serial..end));
            if end == u64::MAX {
                break;
            }
            serial = end;
        }
        all
    }

    /// Those of these numbers, whose slots follow on each other.
    fn copied(&self, serials: Range<u64>) -> impl Iterator<Item = Stretch> {
        let stride = self.region.stride as usize;
        let mut bytes = vec![0; (serials.end - serials.start) as usize * stride];
        let slots = self.region.length / self.region.stride;
        let at = self.region.at(serials.start % slots);
        self.map.read(at, &mut bytes);
        let read = move |(at, serial): (usize, u64)| {
            let slot = Slot::of(&bytes[at * stride..]);
            // Relaxed: the copy is not shared.
            let words = WORDS.map(|field| field(&slot).load(Ordering::Relaxed));
            whole(serial, words)
        };
        (0..).zip(serials).filter_map(read)
    }

    /// Whether the clock runs as the newest one says, which has this number, so that there is
    /// nothing to add. Where another one would take the room of one that is needed, it need not run
    /// as exactly.
    pub fn hold(&self, newest: u64, last: &Stretch, look: ClockReading) -> bool {
        let slots = self.region.length / self.region.stride;
        // The first that is kept when another one is added, or when half as many are.
        let kept = [slots.saturating_sub(2), slots / 2].map(|back| newest.checked_sub(back));
        last.holds(look, self.rate)
            || match kept.map(|serial| serial.is_some_and(|serial| self.is_needed(serial))) {
                [false, false] => false,
                [is_full, _] => last.holds_roughly(look, self.rate, is_full),
            }
    }

    /// Whether the ring has entries of before this one, other than those of lanes at rest.
    fn is_needed(&self, serial: u64) -> bool {
        // Relaxed: a chunk more or less makes no difference.
        let next = self.field(|header| &header.next_ticket);
        let next = next.load(Ordering::Relaxed);
        let is_of_this_lap = |ticket: u64| next.wrapping_sub(ticket) <= self.chunks;
        self.read(serial)
            .is_some_and(|stretch| is_of_this_lap(stretch.ticket))
    }

    /// About how fast ticks pass.
    pub fn rate(&self) -> TickRate {
        self.rate
    }

    /// Adds a stretch if the wall clock does not run as the newest says, or if that ends soon. This
    /// process may write to the timeline. Makes no system call where the kernel's page of clocks
    /// can be read without one.
    pub fn check(&self) {
        if !is_comparable(self.kind) {
            return;
        }
        let (newest, header) = (self.newest(), self.map.header().shared());
        // If two processes wrote to the slot of the newest, it is not whole.
        let mut before = (0..FEW).filter_map(|back| self.read(newest.checked_sub(back)?));
        let Some(last) = before.next() else {
            return self.begin(None);
        };
        let look = ClockReading {
            ticks: self.kind.now(),
            realtime: realtime(),
            offset: None,
        };
        if self.hold(newest, &last, look) {
            // Before it begins, nothing was compared.
            if look.ticks >= last.from {
                // Relaxed: a hint for people.
                header.stretch_seen.store(look.ticks, Ordering::Relaxed);
            }
            return;
        }
        let next = self
            .look()
            .and_then(|look| self.next(&last, look).zip(Some(look)));
        if let Some((next, look)) = next {
            self.publish(newest, next, look.ticks);
        }
    }

    /// The one that would be added now.
    pub fn next(&self, last: &Stretch, look: ClockReading) -> Option<Stretch> {
        let seen = self.field(|header| &header.stretch_seen);
        last.next(look, seen.load(Ordering::Relaxed), self.rate)
    }

    /// Reads the clocks; `None` if that took too long. Reads no clock but these two, because other
    /// kernels need a system call for others.
    pub fn look(&self) -> Option<ClockReading> {
        let mut best = None;
        let mut narrowest = self.rate.ticks(SHARP);
        for _ in 0..LOOKS {
            let before = self.kind.now();
            let realtime = realtime();
            let after = self.kind.now();
            let offset = monotonic().map(|monotonic| realtime.wrapping_sub(monotonic));
            let width = after.checked_sub(before);
            if let Some(width) = width.filter(|width| *width <= narrowest) {
                narrowest = width;
                best = Some(ClockReading {
                    ticks: before + width / 2,
                    realtime,
                    offset,
                });
            }
        }
        best
    }

    /// Adds one that follows on no other. `before`: a look at the clocks some time ago.
    pub fn begin(&self, before: Option<ClockReading>) {
        if !is_comparable(self.kind) {
            return;
        }
        let newest = self.newest();
        if let Some(look) = self.look()
            && let Some(first) = Stretch::first(before, look, self.rate)
        {
            self.publish(newest, first, look.ticks);
        }
    }

    /// Whether a process adds one at the moment, which may still count.
    pub fn is_growing(&self) -> bool {
        // Relaxed: what is added is found by the number of the newest.
        let begun = self.field(|header| &header.stretch_begun);
        let begun = begun.load(Ordering::Relaxed);
        begun != 0 && begun.abs_diff(self.kind.now()) < self.rate.lead()
    }

    /// Makes a stretch the newest, if `before` still is. `begun`: the ticks at which the clocks
    /// were read.
    fn publish(&self, before: u64, stretch: Stretch, begun: u64) {
        let header = self.map.header().shared();
        // Relaxed: as in `is_needed`.
        let ticket = header.next_ticket.load(Ordering::Relaxed);
        let stretch = Stretch { ticket, ..stretch };
        let note = &header.stretch_begun;
        // Acquire, pairs with the Release at the end: the slots are those of who went before.
        let other = note.load(Ordering::Acquire);
        // The note may be of somebody who looked later.
        let is_held = other != 0 && begun.abs_diff(other) < self.rate.ticks(1_000_000_000);
        let take = |old| {
            let mine = begun.max(1);
            note.compare_exchange(old, mine, Ordering::Acquire, Ordering::Relaxed)
        };
        if is_held || take(other).is_err() {
            return;
        }
        // Acquire, pairs with the Release below: whoever made this one the newest has written its
        // slot.
        if header.newest_stretch.load(Ordering::Acquire) == before {
            let serial = before.wrapping_add(1);
            // A reader that has looked meanwhile does not know of it, and is right until it begins.
            let is_early = || {
                let passed = self.kind.now().wrapping_sub(begun);
                before == 0 || passed < self.rate.lead() / 2
            };
            // Who was stopped since may not write where another one has by now.
            if is_early() {
                self.write(serial, &stretch);
            }
            if is_early() {
                // Release, pairs with the Acquire in `newest`.
                let _ = header.newest_stretch.compare_exchange(
                    before,
                    serial,
                    Ordering::Release,
                    Ordering::Relaxed,
                );
            }
        }
        // Only if it is still ours. Release, pairs with the Acquire above.
        let _ = note.compare_exchange(begun.max(1), 0, Ordering::Release, Ordering::Relaxed);
    }

    fn write(&self, serial: u64, stretch: &Stretch) {
        let slot = self.slot(serial).shared();
        if claim(slot, serial) {
            stretch.put(serial, slot);
        }
    }
}

/// Takes a slot for the stretch of this number. Who was stopped on the way finds what another one
/// has written since, and leaves it.
fn claim(slot: &Slot, serial: u64) -> bool {
    let former = |former| (former != serial).then_some(0);
    // Relaxed: only authors use it. No reader takes the former stretch for whole any more; the
    // Release fence pairs with the Acquire fence in `read`.
    let relaxed = Ordering::Relaxed;
    let is_ours = slot.serial.fetch_update(relaxed, relaxed, former).is_ok();
    fence(Ordering::Release);
    is_ours
}

/// The words of a slot, in order.
const WORDS: [fn(&Slot) -> &AtomicU64; 10] = [
    |slot| &slot.serial,
    |slot| &slot.from,
    |slot| &slot.ticks,
    |slot| &slot.unix,
    |slot| &slot.nanos,
    |slot| &slot.realtime,
    |slot| &slot.seen,
    |slot| &slot.offset,
    |slot| &slot.ticket,
    |slot| &slot.check,
];

/// The stretch of this number with these words, if they are its own and whole.
fn whole(serial: u64, words: [u64; 10]) -> Option<Stretch> {
    let is_whole = serial != 0 && words[0] == serial && words.iter().fold(0, |a, b| a ^ b) == 0;
    let [
        _,
        from,
        ticks,
        unix,
        nanos,
        realtime,
        seen,
        offset,
        ticket,
        _,
    ] = words;
    is_whole.then_some(Stretch {
        from,
        ticks,
        unix,
        nanos,
        realtime,
        seen,
        offset: (offset != 0).then_some(offset),
        ticket,
    })
}

impl Stretch {
    /// Writes it to a slot, with this number. Relaxed: it is published with the number of the
    /// newest.
    pub fn put(&self, serial: u64, slot: &Slot) {
        let words = [
            (&slot.from, self.from),
            (&slot.ticks, self.ticks),
            (&slot.unix, self.unix),
            (&slot.nanos, self.nanos),
            (&slot.realtime, self.realtime),
            (&slot.seen, self.seen),
            (&slot.offset, self.offset.unwrap_or(0)),
            (&slot.ticket, self.ticket),
        ];
        let mut check = serial;
        for (place, word) in words {
            place.store(word, Ordering::Relaxed);
            check ^= word;
        }
        slot.check.store(check, Ordering::Relaxed);
        slot.serial.store(serial, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that was stopped before it wrote, until another one had written.
    #[test]
    fn a_late_author_changes_nothing() {
        let slot = Slot::of(&[0; 80]);
        let of_other = Stretch {
            from: 70,
            ..Stretch::default()
        };
        assert!(claim(&slot, 5));
        of_other.put(5, &slot);
        assert!(!claim(&slot, 5));
        let words = || WORDS.map(|field| field(&slot).load(Ordering::Relaxed));
        assert_eq!(whole(5, words()), Some(of_other));
        // The next one of this slot is nobody's yet.
        assert!(claim(&slot, 69));
        assert_eq!((whole(5, words()), whole(69, words())), (None, None));
    }
}
