//! The events of several logs that are followed, by time.
//!
//! What is logged during a look may be seen in one log and not yet in another that was looked at
//! before. So of several, what is younger than the beginning of the look waits for the next one.

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use timeline::Event;

use crate::event_time::EventTime;
use crate::merge::LogEvent;

/// Merges the events that come to several logs.
pub struct FollowMerge {
    queues: Vec<Queue>,
    /// When the present look began, in nanoseconds since 1970.
    begun: u64,
}

/// The events of one log that were not given yet, and how many of them may be.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Event, EventTime)>,
    ready: usize,
}

impl FollowMerge {
    /// For so many logs.
    pub fn new(logs: usize) -> FollowMerge {
        FollowMerge {
            queues: (0..logs).map(|_| Queue::default()).collect(),
            begun: 0,
        }
    }

    /// A look at all logs begins. What waited for one look waits no longer, whatever the clock
    /// says. Returns whether anything did.
    pub fn begin_look(&mut self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.begun = now.map_or(u64::MAX, |now| now.as_nanos() as u64);
        self.give_all();
        self.queues.iter().any(|queue| queue.ready > 0)
    }

    /// Adds what the look has found in a log, the oldest first.
    pub fn add(&mut self, log: usize, new: Vec<(Event, EventTime)>) {
        let (is_one, begun) = (self.queues.len() == 1, self.begun);
        let is_old =
            |time: &EventTime| is_one || time.unix_nanos.is_none_or(|nanos| nanos <= begun);
        let queue = &mut self.queues[log];
        queue.ready += new.iter().take_while(|(_, time)| is_old(time)).count();
        queue.waiting.extend(new);
    }

    /// All that waits may be given now.
    pub fn give_all(&mut self) {
        for queue in &mut self.queues {
            queue.ready = queue.waiting.len();
        }
    }

    /// Whether nothing of a log waits.
    pub fn is_empty(&self, log: usize) -> bool {
        self.queues[log].waiting.is_empty()
    }

    /// Leaves the important events and the newest `count` others of all.
    pub fn keep_newest(&mut self, count: usize) {
        let others = self.queues.iter().flat_map(|queue| &queue.waiting);
        let others = others.filter(|(event, _)| !event.important);
        let mut times: Vec<u64> = others.map(|(_, time)| nanos(time)).collect();
        let surplus = times.len().checked_sub(count);
        let Some(surplus) = surplus.filter(|surplus| *surplus > 0) else {
            return;
        };
        times.sort_unstable();
        let newest = times.get(surplus).copied().unwrap_or(u64::MAX);
        // Of the same time, as many as there is place for.
        let same = times[..surplus].iter().filter(|time| **time == newest);
        let mut same = same.count();
        for queue in &mut self.queues {
            queue.waiting.retain(|(event, time)| {
                let is_surplus = nanos(time) == newest && same > 0;
                let is_kept = event.important || (nanos(time) >= newest && !is_surplus);
                same -= usize::from(!is_kept && is_surplus);
                is_kept && (event.important || count > 0)
            });
            queue.ready = queue.ready.min(queue.waiting.len());
        }
    }

    /// The oldest event that may be given. `important_first`: those that are important come before
    /// the others, however old they are.
    pub fn next(&mut self, important_first: bool) -> Option<LogEvent> {
        let key = |queue: &Queue| {
            let (event, time) = queue.waiting.front().filter(|_| queue.ready > 0)?;
            Some((!(important_first && event.important), nanos(time)))
        };
        let queues = self.queues.iter().enumerate();
        let next = queues.filter_map(|(log, queue)| Some((key(queue)?, log)));
        let (_, log) = next.min()?;
        let queue = &mut self.queues[log];
        queue.ready -= 1;
        let (event, time) = queue.waiting.pop_front()?;
        Some(LogEvent {
            log,
            event,
            time,
            error: None,
            may_be_earlier: false,
        })
    }
}

/// The time of an event; the least if it is not known.
fn nanos(time: &EventTime) -> u64 {
    time.unix_nanos.unwrap_or(0)
}
