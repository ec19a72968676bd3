//! Gives the events of a poll one by one, with their positions, or many at once.

use std::ops::Range;

use super::Follow;
use crate::layout::words::Entry;
use crate::source::entry::{AlikeEvents, EntryEvent, EventWords, LaneRun, thread_of};
use crate::source::merge::EventEntries;
use crate::source::{PlacedEvent, ThreadRef};

impl Follow<'_> {
    /// Like [`Follow::poll`], but [`Follow::next_placed`] returns the events one by one, with their
    /// positions. The next poll discards those not taken. Those of one lane stay in its order.
    pub fn poll_placed(&mut self) -> u64 {
        let missed = self.gather();
        let chunks = self.runs.iter();
        let chunks = chunks.map(|run| (run.lane, (run.start, run.start + run.count)));
        self.merge.begin(chunks, &self.entries);
        missed
    }

    /// Whether [`Follow::next_placed`] has more events to return.
    pub fn has_placed(&self) -> bool {
        self.merge.are_left() || self.kept_given < self.kept.len()
    }

    /// The next event of the last [`Follow::poll_placed`]; none after [`Follow::poll`].
    #[doc(hidden)]
    pub fn next_placed(&mut self) -> Option<PlacedEvent> {
        let important = self.next_important();
        important.or_else(|| self.next_entry().map(|event| self.placed_event(&event)))
    }

    /// The next important event. Those of a poll come before the others.
    #[doc(hidden)]
    pub fn next_important(&mut self) -> Option<PlacedEvent> {
        let kept = self.kept.get(self.kept_given)?;
        self.kept_given += 1;
        Some(kept.clone())
    }

    /// The next event that is not important, as its entries have it: for those who would only take
    /// a [`PlacedEvent`] apart again.
    #[doc(hidden)]
    #[inline]
    pub fn next_entry(&mut self) -> Option<EntryEvent> {
        let merged = self.merge.next(&self.entries)?;
        let run = &mut self.runs[merged.chunk];
        let place = (run.lane, run.number(merged.at));
        let missing = std::mem::take(&mut run.missing);
        let first = self.entries[merged.at];
        let rest = (merged.at + 1, merged.more);
        let passage = self.holes.passage(first.ticks());
        Some(EntryEvent::new(first, rest, place, (missing, passage)))
    }

    /// The event that [`Follow::next_entry`] returned since the last poll.
    #[doc(hidden)]
    pub fn placed_event(&self, event: &EntryEvent) -> PlacedEvent {
        event.placed(self.segment, &self.entries)
    }

    /// The words of such an event, if its definition says all about them: of its arguments, or of
    /// a payload without call stack and interned texts. Those of arguments are
    /// [`MAX_ARGUMENTS`](crate::MAX_ARGUMENTS), also if the event has fewer.
    #[doc(hidden)]
    #[inline]
    pub fn words(&mut self, event: &EntryEvent) -> Option<&[u8]> {
        self.words.clear();
        let is_all = event.words(&self.entries, &mut self.words);
        is_all.then_some(&self.words)
    }

    /// The event whose words [`Follow::words`] returned just now, and up to `more` events that come
    /// next and are like it, of any lane, with ticks in this range. Stops at an event of a thread
    /// that `is_known` refuses, at one with words that `fits` refuses, and where entries are
    /// missing. [`Follow::next_entry`] does not return them.
    #[doc(hidden)]
    #[inline]
    pub fn alike(
        &mut self,
        event: &EntryEvent,
        more: usize,
        of: &Range<u64>,
        is_known: impl Fn((ThreadRef, u32)) -> bool,
        fits: impl Fn(EventWords) -> bool,
    ) -> AlikeEvents<'_> {
        let size = self.words.len();
        self.ticks.clear();
        self.ticks.push(event.ticks());
        self.lane_runs.clear();
        self.lane_runs.push(event.run());
        let (entries, chunks) = (&self.entries, &self.runs);
        let may_begin = |chunk: usize, entry: &Entry| {
            event.is_alike(entry) && !chunks[chunk].missing.is_any() && is_known(thread_of(entry))
        };
        let next = self.merge.peek(entries);
        if next.is_some_and(|(chunk, entry)| may_begin(chunk, entry)) {
            let (ticks, words, runs) = (&mut self.ticks, &mut self.words, &mut self.lane_runs);
            let take = |merged: EventEntries, count: usize| {
                let chunk = &chunks[merged.chunk];
                let place = (chunk.lane, chunk.number(merged.at));
                let run = LaneRun::new(&entries[merged.at], place, count);
                match runs.last_mut() {
                    Some(last) if last.goes_on(&run, event.entries()) => last.count += count,
                    _ => runs.push(run),
                }
                let taken = &entries[merged.at..][..count * event.entries()];
                event.more_words(taken, ticks, words);
            };
            let fits = |group: &[Entry]| fits(EventWords(group));
            (self.merge).take_alike(event.entries(), entries, (more, of), may_begin, fits, take);
        }
        AlikeEvents {
            ticks: &self.ticks,
            words: &self.words,
            size,
            entries: event.entries(),
            runs: &self.lane_runs,
        }
    }
}
