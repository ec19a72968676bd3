//! Pairs events by a key, in any thread. The number of open ones is bounded.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use timeline::internal::SpanKey;

use super::times::Begun;

/// The begins whose ends have not come yet.
pub struct Keys {
    open: FxHashMap<(usize, SpanKey), Open>,
    /// All begins in order by their numbers, with some that have ended: those are passed over.
    order: VecDeque<(u64, (usize, SpanKey))>,
    begun: u64,
    most: usize,
    /// Up to this number all are known to last too long, have ended, or are among `ahead`.
    looked_at: u64,
    /// The numbers and keys of those that began later than the clock said.
    ahead: Vec<(u64, (usize, SpanKey))>,
}

struct Open {
    time: u64,
    /// Its number among all begins.
    number: u64,
    /// Whether somebody was told that it lasts too long.
    told: bool,
}

impl Keys {
    pub fn new(most: usize) -> Keys {
        Keys {
            open: FxHashMap::default(),
            order: VecDeque::new(),
            begun: 0,
            most,
            looked_at: 0,
            ahead: Vec::new(),
        }
    }

    /// Returns how many open ones were forgotten for it: one of the same key, or the oldest.
    pub fn begin(&mut self, series: usize, key: SpanKey, time: u64) -> u64 {
        let key = (series, key);
        self.begun += 1;
        let mut forgotten = 0;
        let open = Open {
            time,
            number: self.begun,
            told: false,
        };
        if self.open.insert(key.clone(), open).is_some() {
            forgotten += 1;
        }
        self.order.push_back((self.begun, key));
        if self.open.len() > self.most {
            forgotten += u64::from(self.forget_oldest());
        }
        // Those that ended must not outnumber those that are open by much.
        if self.order.len() > 2 * self.open.len() + 1024 {
            let open = &self.open;
            self.order
                .retain(|(number, key)| open.get(key).is_some_and(|open| open.number == *number));
        }
        forgotten
    }

    fn forget_oldest(&mut self) -> bool {
        while let Some((number, key)) = self.order.pop_front() {
            if self
                .open
                .get(&key)
                .is_some_and(|open| open.number == number)
            {
                self.open.remove(&key);
                return true;
            }
        }
        false
    }

    /// When it began; `None` if nobody saw that.
    pub fn end(&mut self, series: usize, key: SpanKey) -> (SpanKey, Option<Begun>) {
        let key = (series, key);
        let began = self.open.remove(&key);
        (key.1, began.map(|open| (open.time, open.told)))
    }

    /// Whether one of this key is open since then.
    pub fn is_open(&self, series: usize, key: &SpanKey, begin: u64) -> bool {
        let open = self.open.get(&(series, key.clone()));
        open.is_some_and(|open| open.time == begin)
    }

    /// Tells of the open ones that began by `until`, each once: the key, the series and the begin.
    /// `now` is the present time. Begins come in the order of their times, unless the clock of a
    /// CPU is ahead: such begins are looked at again each time.
    pub fn overdue(
        &mut self,
        (until, now): (u64, u64),
        mut tell: impl FnMut(&SpanKey, usize, u64),
    ) {
        let mut is_late = |open: &mut Open, key: &(usize, SpanKey)| {
            open.told = open.time <= until;
            if open.told {
                tell(&key.1, key.0, open.time);
            }
            open.told
        };
        let all = &mut self.open;
        // Of one that has ended, or whose key began again, nothing is open.
        self.ahead.retain(|(number, key)| {
            let open = all.get_mut(key).filter(|open| open.number == *number);
            open.is_some_and(|open| !is_late(open, key))
        });
        let known = (self.order).partition_point(|(number, _)| *number <= self.looked_at);
        for (number, key) in self.order.range(known..) {
            if let Some(open) = all.get_mut(key).filter(|open| open.number == *number)
                && !is_late(open, key)
            {
                if open.time <= now {
                    break;
                }
                self.ahead.push((*number, key.clone()));
            }
            self.looked_at = *number;
        }
    }

    /// Forgets all open ones. Returns how many there were.
    pub fn clear(&mut self) -> u64 {
        let count = self.open.len() as u64;
        self.open.clear();
        self.order.clear();
        self.ahead.clear();
        count
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }
}
