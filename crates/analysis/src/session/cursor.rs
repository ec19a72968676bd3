//! Gives what comes next to whoever asks for it, in place of analysers that are called.

use std::collections::VecDeque;

use timeline::Event;
use timeline_latency::Lack;

use super::input::AnalysisInput;
use super::item::StreamItem;
use super::log_desk::LogDesk;
use super::source::{EventSource, SourceStep};
use super::wish::SeatWish;
use crate::analyzer::AnalysisEnd;
use crate::context::{EventContext, EventView, Route};
use crate::error::Result;
use crate::gap::StreamGap;
use crate::subscriptions::Subscriptions;

/// Gives the events of logs one after the other, as an [`Analysis`](crate::Analysis) gives them to
/// an analyser, to a program that asks for the next.
///
/// # Example
/// ```
/// use timeline::{Priority, Timeline};
/// use timeline_analysis::{AnalysisCursor, AnalysisInput, CursorItem, Subscriptions};
/// use timeline_reading::{Extent, Log};
///
/// # let path = format!("/timeline-doc-cursor-{}", std::process::id());
/// let timeline = Timeline::with_size(&path, 1024, 4096)?;
/// let sent = timeline.define("net", Priority::Info, "sent $bytes:u32")?;
/// timeline.log(sent, [1500]);
/// timeline.log(sent, [40]);
///
/// let log = Log::open(path.as_ref(), Extent::Whole)?;
/// let mut wanted = Subscriptions::default();
/// wanted.events("net", "net.sent*");
/// let bytes = wanted.field::<u64>("bytes");
/// let mut cursor = AnalysisCursor::new(AnalysisInput::whole([&log]), wanted);
/// let mut sum = 0;
/// loop {
///     match cursor.advance()? {
///         CursorItem::Event(event) => sum += event.context().get(bytes)?.unwrap_or(0),
///         CursorItem::End(_) => break,
///         _ => {}
///     }
/// }
/// assert_eq!(sum, 1540);
/// # timeline::unlink(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AnalysisCursor<'a> {
    is_cancelled: Option<&'a dyn Fn() -> bool>,
    desks: Vec<LogDesk<'a>>,
    wish: SeatWish,
    source: EventSource<'a>,
    /// What was read, and not given yet.
    items: VecDeque<StreamItem>,
    /// The next event, if the gap before it was given.
    behind_gap: Option<(usize, Event)>,
    /// The event that was given last.
    current: Option<(usize, Event)>,
    end: Option<AnalysisEnd>,
}

/// What comes next.
pub enum CursorItem<'c> {
    /// An event that is wanted.
    Event(EventLoan<'c>),
    /// Events may be missing between the one before and the next one: see
    /// [`Analyzer::gap`](crate::Analyzer::gap).
    Gap(StreamGap),
    /// So much of a log, by its number, is missing.
    Loss(usize, Lack),
    /// Nothing is new, and something may come: wait before asking again.
    Idle,
    /// Nothing more comes.
    End(AnalysisEnd),
}

/// An event, until the next one is asked for.
pub struct EventLoan<'c> {
    view: EventView<'c>,
    route: &'c Route<'c>,
    wish: &'c SeatWish,
}

impl<'c> EventLoan<'c> {
    /// The event, with all that is known of it.
    pub fn context(&self) -> EventContext<'_, 'c> {
        EventContext {
            view: &self.view,
            route: self.route,
            has_enough: &self.wish.has_enough,
        }
    }
}

/// What is to be given.
enum NextItem {
    /// That which is current now.
    Event,
    Gap(StreamGap),
    Loss(usize, Lack),
    Idle,
    End(AnalysisEnd),
}

impl<'a> AnalysisCursor<'a> {
    /// Of these logs, with the events that are wanted.
    pub fn new(input: AnalysisInput<'a>, wanted: Subscriptions) -> AnalysisCursor<'a> {
        let wish = SeatWish::new(wanted);
        let logs = input.logs.iter().enumerate();
        AnalysisCursor {
            is_cancelled: input.is_cancelled,
            desks: logs
                .map(|(number, log)| LogDesk::new(number, log))
                .collect(),
            source: EventSource::new(input, vec![wish.subscriptions.clone()]),
            wish,
            items: VecDeque::new(),
            behind_gap: None,
            current: None,
            end: None,
        }
    }

    /// Gives what comes next. Reads some thousand events ahead, or what is new in logs that are
    /// followed.
    ///
    /// # Errors
    /// `Reading` if a log cannot be read. Then nothing more comes.
    pub fn advance(&mut self) -> Result<CursorItem<'_>> {
        Ok(match self.next_item()? {
            NextItem::Gap(gap) => CursorItem::Gap(gap),
            NextItem::Loss(log, what) => CursorItem::Loss(log, what),
            NextItem::Idle => CursorItem::Idle,
            NextItem::End(end) => CursorItem::End(end),
            NextItem::Event => CursorItem::Event(self.loan().expect("one that is wanted")),
        })
    }

    /// The current event.
    fn loan(&self) -> Option<EventLoan<'_>> {
        let (log, event) = self.current.as_ref()?;
        let desk = &self.desks[*log];
        let facts = desk.learned(event);
        Some(EventLoan {
            view: desk.view(facts, event),
            route: facts.routes.first()?.as_ref()?,
            wish: &self.wish,
        })
    }

    fn next_item(&mut self) -> Result<NextItem> {
        self.current = None;
        loop {
            if let Some(end) = self.end {
                return Ok(NextItem::End(end));
            }
            if let Some(end) = self.early_end() {
                self.end = Some(end);
                continue;
            }
            if let Some((log, event)) = self.behind_gap.take() {
                if self.takes(log, event) {
                    return Ok(NextItem::Event);
                }
                continue;
            }
            match self.items.pop_front() {
                Some(StreamItem::Lack(log, what)) => return Ok(NextItem::Loss(log, what)),
                Some(StreamItem::Event(log, event)) => {
                    if self.desks[log].is_behind_gap(&event) {
                        let gap = self.desks[log].gap_before(&event);
                        self.behind_gap = Some((log, event));
                        return Ok(NextItem::Gap(gap));
                    }
                    if self.takes(log, event) {
                        return Ok(NextItem::Event);
                    }
                }
                None if self.is_idle()? => return Ok(NextItem::Idle),
                None => {}
            }
        }
    }

    /// Makes an event the current one, if it is wanted.
    fn takes(&mut self, log: usize, event: Event) -> bool {
        let desk = &mut self.desks[log];
        if desk.facts(&event).is_none() {
            desk.learn(&event, std::iter::once(&self.wish));
        }
        let is_wanted = desk.learned(&event).routes.iter().any(Option::is_some);
        if is_wanted {
            self.current = Some((log, event));
        }
        is_wanted
    }

    /// Reads more. Whether nothing was new.
    fn is_idle(&mut self) -> Result<bool> {
        match self.source.step(&mut self.items)? {
            SourceStep::More => Ok(false),
            SourceStep::Idle => Ok(self.items.is_empty()),
            SourceStep::Over => {
                if self.items.is_empty() {
                    self.end = Some(AnalysisEnd::Whole);
                }
                Ok(false)
            }
        }
    }

    /// Whether nobody wants more, although it may come.
    fn early_end(&self) -> Option<AnalysisEnd> {
        if self.is_cancelled.is_some_and(|is_cancelled| is_cancelled()) {
            return Some(AnalysisEnd::Cancelled);
        }
        (self.wish.has_enough.get()).then_some(AnalysisEnd::Enough)
    }
}
