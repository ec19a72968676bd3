//! Pairs events by a key, in any thread. The number of open ones is bounded.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use timeline::SpanKey;

use super::times::Begun;

/// The begins whose ends have not come yet.
pub struct Keys {
    /// By series and key: when it began, and its number among all begins.
    open: FxHashMap<(usize, SpanKey), (u64, u64)>,
    /// All begins in order, with some that have ended: those are passed over.
    order: VecDeque<(u64, (usize, SpanKey))>,
    begun: u64,
    most: usize,
    /// Up to this number all are known to last too long, or have ended.
    told: u64,
}

impl Keys {
    pub fn new(most: usize) -> Keys {
        Keys {
            open: FxHashMap::default(),
            order: VecDeque::new(),
            begun: 0,
            most,
            told: 0,
        }
    }

    /// Returns how many open ones were forgotten for it: one of the same key, or the oldest.
    pub fn begin(&mut self, series: usize, key: SpanKey, time: u64) -> u64 {
        let key = (series, key);
        self.begun += 1;
        let mut forgotten = 0;
        if self.open.insert(key.clone(), (time, self.begun)).is_some() {
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
                .retain(|(number, key)| open.get(key).is_some_and(|(_, known)| known == number));
        }
        forgotten
    }

    fn forget_oldest(&mut self) -> bool {
        while let Some((number, key)) = self.order.pop_front() {
            if self
                .open
                .get(&key)
                .is_some_and(|(_, known)| *known == number)
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
        (
            key.1,
            began.map(|(time, number)| (time, number <= self.told)),
        )
    }

    /// Tells of the open ones that began by `until`, each once: the key, the series and the begin.
    pub fn overdue(&mut self, until: u64, mut tell: impl FnMut(&SpanKey, usize, u64)) {
        let known = self.order.partition_point(|(begun, _)| *begun <= self.told);
        for (number, key) in self.order.range(known..) {
            // Of one that has ended, or whose key began again, nothing is open.
            if let Some((time, _)) = self.open.get(key).filter(|(_, known)| known == number) {
                if *time > until {
                    break;
                }
                tell(&key.1, key.0, *time);
            }
            self.told = *number;
        }
    }

    /// Forgets all open ones. Returns how many there were.
    pub fn clear(&mut self) -> u64 {
        let count = self.open.len() as u64;
        self.open.clear();
        self.order.clear();
        count
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }
}
