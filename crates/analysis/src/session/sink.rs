//! Where events and losses go.

use timeline::Event;
use timeline_latency::Lack;

use super::desk::Desk;
use super::item::StreamItem;
use super::workers::Workers;
use crate::analyzer::Analyzer;
use crate::error::Result;

/// To the analysers of this thread, and to other threads.
pub struct ItemSink<'s, 'a, 'w> {
    pub desk: &'s mut Desk<'a, dyn Analyzer + 'a>,
    pub workers: Option<&'s mut Workers<'w>>,
}

impl ItemSink<'_, '_, '_> {
    /// Gives an event of the log of this number.
    #[inline(always)]
    pub fn event(&mut self, log: usize, event: Event) -> Result {
        self.desk.event(log, &event)?;
        if let Some(workers) = &mut self.workers {
            workers.give(StreamItem::Event(log, event));
        }
        Ok(())
    }

    /// Says what a log lacks.
    pub fn lack(&mut self, log: usize, what: Lack) -> Result {
        self.desk.lack(log, what)?;
        if let Some(workers) = &mut self.workers {
            workers.give(StreamItem::Lack(log, what));
        }
        Ok(())
    }
}
