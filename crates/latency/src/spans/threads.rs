//! Pairs events of one thread: an end belongs to the innermost open begin of its series.

use rustc_hash::FxHashMap;
use timeline::ThreadRef;

/// A thread, and its id in the kernel: in damaged memory a record may be of another.
pub type ThreadKey = (ThreadRef, u32);

use super::times::Begun;

/// Threads of which something is kept though nothing is open in them.
const MOST_IDLE: usize = 1 << 16;

/// What is open in each thread.
pub struct Threads {
    numbers: FxHashMap<ThreadKey, Option<u32>>,
    states: Vec<State>,
    /// The thread that was asked for last.
    last: Option<(ThreadKey, u32)>,
    measures: usize,
    most: usize,
    /// So many threads are kept before idle ones are forgotten.
    limit: usize,
}

struct State {
    of: (ThreadRef, u32),
    /// By measure.
    open: Vec<Vec<Open>>,
    /// When an event of each series was logged last.
    last: FxHashMap<usize, u64>,
}

#[derive(Clone, Copy)]
struct Open {
    series: usize,
    time: u64,
    /// Whether somebody was told that it lasts too long.
    told: bool,
}

impl Threads {
    /// `most`: so many may be open in each thread and measure.
    pub fn new(measures: usize, most: usize) -> Threads {
        Threads {
            numbers: FxHashMap::default(),
            states: Vec::new(),
            last: None,
            measures,
            most,
            limit: MOST_IDLE,
        }
    }

    /// The number of a thread; `None` if the thread is not known. Counts the events of other
    /// threads that are forgotten for it, though the next ones would have been measured from them.
    #[inline]
    pub fn number(
        &mut self,
        key: ThreadKey,
        is_known: impl FnOnce() -> bool,
        forgotten: &mut u64,
    ) -> Option<u32> {
        match self.last {
            Some((last, number)) if last == key => Some(number),
            _ => self.other(key, is_known, forgotten),
        }
    }

    // Where it is inlined, keys are hashed for each event, needed or not.
    #[inline(never)]
    fn other(
        &mut self,
        key: ThreadKey,
        is_known: impl FnOnce() -> bool,
        forgotten: &mut u64,
    ) -> Option<u32> {
        if !self.numbers.contains_key(&key) {
            if self.numbers.len() >= self.limit {
                *forgotten += self.forget_idle();
            }
            let number = is_known().then(|| {
                self.states.push(State {
                    of: key,
                    open: vec![Vec::new(); self.measures],
                    last: FxHashMap::default(),
                });
                (self.states.len() - 1) as u32
            });
            self.numbers.insert(key, number);
        }
        let number = self.numbers[&key]?;
        self.last = Some((key, number));
        Some(number)
    }

    /// Forgets the threads in which nothing is open. Returns how many events are forgotten.
    fn forget_idle(&mut self) -> u64 {
        let mut forgotten = 0;
        let (mut states, mut kept) = (Vec::new(), FxHashMap::default());
        for (key, number) in self.numbers.drain() {
            let Some(number) = number else { continue };
            let state = &mut self.states[number as usize];
            if state.open.iter().any(|open| !open.is_empty()) {
                kept.insert(key, Some(states.len() as u32));
                let (open, last) = (&mut state.open, &mut state.last);
                states.push(State {
                    of: key,
                    open: std::mem::take(open),
                    last: std::mem::take(last),
                });
            } else {
                forgotten += state.last.len() as u64;
            }
        }
        self.limit = MOST_IDLE.max(2 * kept.len());
        (self.states, self.numbers, self.last) = (states, kept, None);
        forgotten
    }

    /// Returns how many open ones were forgotten for it.
    #[inline]
    pub fn begin(&mut self, thread: u32, measure: usize, series: usize, time: u64) -> u64 {
        let open = &mut self.states[thread as usize].open[measure];
        let is_full = open.len() >= self.most;
        if is_full {
            open.remove(0);
        }
        open.push(Open {
            series,
            time,
            told: false,
        });
        u64::from(is_full)
    }

    /// When the innermost of this series began and in how many others it lies, and how many were
    /// open inside it, whose ends are missing. `None` if none of the series is open.
    #[inline]
    pub fn end(
        &mut self,
        thread: u32,
        measure: usize,
        series: usize,
    ) -> Option<(Begun, usize, u64)> {
        let open = &mut self.states[thread as usize].open[measure];
        let place = open.iter().rposition(|open| open.series == series)?;
        let inside = (open.len() - 1 - place) as u64;
        let begun = (open[place].time, open[place].told);
        open.truncate(place);
        Some((begun, place, inside))
    }

    /// Whether one of this series, and of a thread of this number, is open since then.
    pub fn is_open(&self, tid: Option<u32>, series: usize, begin: u64) -> bool {
        let states = self.states.iter();
        let states = states.filter(|state| tid.is_none_or(|tid| tid == state.of.1));
        let mut open = states.flat_map(|state| state.open.iter().flatten());
        open.any(|open| open.series == series && open.time == begin)
    }

    /// Tells of the open ones that began by `until`, each once: the thread, the series, the begin.
    pub fn overdue(&mut self, until: u64, mut tell: impl FnMut((ThreadRef, u32), usize, u64)) {
        for State { of, open, .. } in &mut self.states {
            for open in open {
                // Not only up to the first that began later: clocks of other CPUs may be ahead.
                let late = open.iter_mut().filter(|open| open.time <= until);
                for open in late.filter(|open| !open.told) {
                    open.told = true;
                    tell(*of, open.series, open.time);
                }
            }
        }
    }

    /// When the event of this series before was logged.
    #[inline]
    pub fn every(&mut self, thread: u32, series: usize, time: u64) -> Option<u64> {
        self.states[thread as usize].last.insert(series, time)
    }

    /// Forgets all that is open. Returns how much that was. The last events are not among it: the
    /// next ones end no duration, but begin one.
    pub fn clear(&mut self) -> u64 {
        let mut count = 0;
        for state in &mut self.states {
            state.last.clear();
            for open in &mut state.open {
                count += open.len() as u64;
                open.clear();
            }
        }
        count
    }

    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.states.len()
    }

    pub fn open(&self) -> usize {
        let open = self.states.iter().flat_map(|state| &state.open);
        open.map(Vec::len).sum()
    }
}
