//! Numbers the lines of an archive, of which only some pages are read.

use std::sync::Arc;

use timeline::{Event, Order};

use super::page::Page;

/// By what events are ordered: ticks, or time if there are several rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    Ticks,
    Time,
}

impl Rank {
    /// Where an event stands.
    pub fn of(self, event: &Event) -> u64 {
        match self {
            Rank::Ticks => event.ticks,
            Rank::Time => event.time.map_or(1, Into::into),
        }
    }

    /// Where the first and the last event of a page stand.
    pub(super) fn range(self, page: &Page) -> (u64, u64) {
        self.choose(page.ticks, page.time)
    }

    /// Where the first and the last event with these ticks and times stand.
    pub(super) fn choose(self, ticks: (u64, u64), time: (u64, u64)) -> (u64, u64) {
        match self {
            Rank::Ticks => ticks,
            Rank::Time => (time.0.max(1), time.1.max(1)),
        }
    }
}

/// Numbers the lines of events that are read in order: from 0 on, first those of important events,
/// then the others.
#[derive(Debug, Clone)]
pub struct LineNumbers {
    order: Order,
    rank: Rank,
    /// The pages that are not read: the rank of the last event of each (from newest to oldest, of
    /// the first), and how many lines they have up to it, in the order of reading.
    skipped: Arc<Vec<(u64, u64)>>,
    /// How many of these there are: more may stand behind them.
    count: usize,
    /// How many of these pages were passed.
    passed: usize,
    /// How many lines were read: of important events, and of others.
    read: [u64; 2],
    /// From newest to oldest: how many lines there are of important events, and of all.
    total: [u64; 2],
}

impl LineNumbers {
    /// For events that are all read.
    pub fn new(order: Order) -> LineNumbers {
        LineNumbers::skipping(order, Rank::Ticks, &[])
    }

    /// For the events of an archive but those of these pages.
    pub(super) fn skipping(order: Order, rank: Rank, pages: &[&Page]) -> LineNumbers {
        let mut skipped: Vec<(u64, u64)> = pages
            .iter()
            .map(|page| match (rank.range(page), order) {
                ((_, last), Order::OldestFirst) => (last, page.lines),
                ((first, _), Order::NewestFirst) => (first, page.lines),
            })
            .collect();
        skipped.sort_unstable();
        if order == Order::NewestFirst {
            skipped.reverse();
        }
        let mut sum = 0_u64;
        for (_, lines) in &mut skipped {
            sum = sum.saturating_add(*lines);
            *lines = sum;
        }
        let count = skipped.len();
        LineNumbers::skipping_first(order, rank, (Arc::new(skipped), count))
    }

    /// For the events of an archive but those of the first `count` pages of a list, as `skipped`
    /// has them.
    pub(super) fn skipping_first(
        order: Order,
        rank: Rank,
        (skipped, count): (Arc<Vec<(u64, u64)>>, usize),
    ) -> LineNumbers {
        LineNumbers {
            order,
            rank,
            skipped,
            count,
            passed: 0,
            read: [0; 2],
            total: [0; 2],
        }
    }

    /// How many lines the skipped pages have.
    pub fn skipped(&self) -> u64 {
        let last = self.count.checked_sub(1);
        last.map_or(0, |last| self.skipped[last].1)
    }

    /// Sets how many lines there are: of important events, and of all. Needed from newest to
    /// oldest.
    pub fn set_total(&mut self, important: u64, all: u64) {
        self.total = [important, all];
    }

    /// The number of the first line of the next event, which has so many lines, and whether pages
    /// were skipped right before it.
    pub fn next(&mut self, event: &Event, lines: u64) -> (u64, bool) {
        let passed = self.passed;
        if !event.important {
            let rank = self.rank.of(event);
            let is_before = |(skipped, _): &(u64, u64)| match self.order {
                Order::OldestFirst => *skipped < rank,
                Order::NewestFirst => *skipped > rank,
            };
            let rest = &self.skipped[self.passed..self.count];
            self.passed += rest.iter().take_while(|page| is_before(page)).count();
        }
        let skipped = match self.passed {
            0 => 0,
            passed => self.skipped[passed - 1].1,
        };
        let kind = usize::from(!event.important);
        let before = self.read[kind];
        self.read[kind] += lines;
        let first = match self.order {
            Order::OldestFirst if event.important => before,
            Order::OldestFirst => self.read[0] + skipped + before,
            Order::NewestFirst => self.total[kind].saturating_sub(skipped + self.read[kind]),
        };
        (first, self.passed > passed)
    }
}
