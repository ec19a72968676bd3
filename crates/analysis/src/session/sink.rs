//! Where events and losses go.

use std::collections::VecDeque;

use timeline::Event;
use timeline_latency::Lack;

use super::desk::Desk;
use super::item::StreamItem;
use super::workers::Workers;
use crate::analyzer::Analyzer;
use crate::error::Result;

/// Who takes them.
pub trait ItemSink {
    /// Takes an event of the log of this number.
    fn event(&mut self, log: usize, event: Event) -> Result;

    /// Is told what a log lacks.
    fn lack(&mut self, log: usize, what: Lack) -> Result;
}

/// To the analysers of this thread, and to other threads.
pub struct AnalyzerSink<'s, 'a, 'w> {
    pub desk: &'s mut Desk<'a, dyn Analyzer + 'a>,
    pub workers: Option<&'s mut Workers<'w>>,
}

impl ItemSink for AnalyzerSink<'_, '_, '_> {
    #[inline(always)]
    fn event(&mut self, log: usize, event: Event) -> Result {
        self.desk.event(log, &event)?;
        if let Some(workers) = &mut self.workers {
            workers.give(StreamItem::Event(log, event));
        }
        Ok(())
    }

    fn lack(&mut self, log: usize, what: Lack) -> Result {
        self.desk.lack(log, what)?;
        if let Some(workers) = &mut self.workers {
            workers.give(StreamItem::Lack(log, what));
        }
        Ok(())
    }
}

/// They wait there until somebody asks for them.
impl ItemSink for VecDeque<StreamItem> {
    fn event(&mut self, log: usize, event: Event) -> Result {
        self.push_back(StreamItem::Event(log, event));
        Ok(())
    }

    fn lack(&mut self, log: usize, what: Lack) -> Result {
        self.push_back(StreamItem::Lack(log, what));
        Ok(())
    }
}
