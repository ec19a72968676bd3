//! Records many events of one definition at once, from the words of their entries.

use timeline::internal::{EntryEvent, EventWords};

use super::Recorder;
use super::definitions::find_recent;
use crate::write::event_run::EventRun;

impl Recorder<'_> {
    /// Packs an event as its entries have it, and those behind it that are like it. Returns whether
    /// it could: most events of blocks are of a definition and a thread that are written already,
    /// and have nothing to look up.
    #[inline]
    pub(super) fn record_words(&mut self, found: &EntryEvent) -> bool {
        let known = self.definitions.get(found.id().0 as usize);
        let Some(known) = known.and_then(Option::as_ref) else {
            return false;
        };
        let values = known.of_words(found.has_payload());
        let pointees = &self.pointees;
        let words = self.follow.words(found);
        let words = words.filter(|words| values.are_in(words));
        let words = words.filter(|words| known.points_to(words, found.thread(), pointees));
        let size = words.map(<[u8]>::len);
        let (packs, entries) = (self.writer.packs(), found.entries());
        let Some(size) = size.filter(|_| packs && self.recent_thread(found.thread()).is_some())
        else {
            return false;
        };
        if !self.writer.has_room(entries, |output| output.room()) {
            return false;
        }
        let time = self.clock.unix_nanos(self.at, found.ticks());
        let more = self.writer.fit_behind(entries, size);
        let recent = &self.recent;
        let is_known = |thread| find_recent(recent, thread).is_some();
        let pointees = &self.pointees;
        let fits = |words: EventWords| {
            let knows = |word| pointees.knows(words.thread(), word);
            let mut places = known.pointers.iter();
            places.all(|place| words.get(*place).is_some_and(knows))
        };
        let ticks = self.clock.even_ticks();
        let follow = &mut self.follow;
        // Most events have no pointers: then no event is looked at for them.
        let events = match known.pointers.is_empty() {
            true => follow.alike(found, more, &ticks, is_known, |_| true),
            false => follow.alike(found, more, &ticks, is_known, fits),
        };
        self.totals.events += events.ticks.len() as u64 - 1;
        self.times.clear();
        self.times.extend(time);
        let further = events.ticks[1..].iter();
        (self.times).extend(further.map(|ticks| self.clock.even_time(*ticks)));
        self.threads_of_runs.clear();
        let threads = events.runs.iter();
        let threads = threads.filter_map(|run| find_recent(recent, run.thread));
        self.threads_of_runs.extend(threads);
        let alike = EventRun {
            definition: known.id,
            events,
            threads: &self.threads_of_runs,
            unix_nanos: &self.times,
        };
        let _ = self.writer.log_words(&alike, &values);
        true
    }
}
