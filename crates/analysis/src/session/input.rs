//! Which logs are read, and how far.

use timeline::FollowFrom;
use timeline_reading::{Log, LogFollow};
use timeline_search::Query;

/// What an analysis reads.
pub struct AnalysisInput<'a> {
    pub(super) logs: Vec<&'a Log>,
    pub(super) extent: InputExtent<'a>,
    pub(super) query: Option<&'a Query>,
    pub(super) is_cancelled: Option<&'a dyn Fn() -> bool>,
}

/// How far.
pub enum InputExtent<'a> {
    /// What they hold.
    Whole,
    /// What comes to them.
    Growth(Vec<LogFollow<'a>>),
}

impl<'a> AnalysisInput<'a> {
    /// All that these logs hold by now, in the order of time.
    pub fn whole(logs: impl IntoIterator<Item = &'a Log>) -> AnalysisInput<'a> {
        AnalysisInput {
            logs: logs.into_iter().collect(),
            extent: InputExtent::Whole,
            query: None,
            is_cancelled: None,
        }
    }

    /// What comes to these logs: to timelines from a place on, to archives behind what they had
    /// when they were opened. The events that a look finds come in the order of time; one may be a
    /// little older than the last one of the look before, but comes before none that happened
    /// before it.
    ///
    /// # Errors
    /// Those of [`Log::follow`].
    pub fn growth(
        logs: impl IntoIterator<Item = &'a Log>,
        from: FollowFrom,
    ) -> timeline_reading::Result<AnalysisInput<'a>> {
        let logs: Vec<_> = logs.into_iter().collect();
        let follows = logs.iter().map(|log| log.follow(from));
        Ok(AnalysisInput {
            extent: InputExtent::Growth(follows.collect::<Result<_, _>>()?),
            ..AnalysisInput::whole(logs)
        })
    }

    /// What somebody follows: bytes that come ([`Log::follow_bytes`]), say.
    pub fn followed(logs: impl IntoIterator<Item = (&'a Log, LogFollow<'a>)>) -> AnalysisInput<'a> {
        let (logs, follows): (Vec<_>, _) = logs.into_iter().unzip();
        AnalysisInput {
            extent: InputExtent::Growth(follows),
            ..AnalysisInput::whole(logs)
        }
    }

    /// Only the events that a query wants. Analysers subscribe to some of these.
    #[must_use]
    pub fn query(mut self, query: &'a Query) -> AnalysisInput<'a> {
        self.query = Some(query).filter(|query| !query.is_empty());
        self
    }

    /// As long as `is_cancelled` does not say that nobody waits for the rest. It is asked again and
    /// again, but not while the reader of bytes waits for more.
    #[must_use]
    pub fn unless(mut self, is_cancelled: &'a dyn Fn() -> bool) -> AnalysisInput<'a> {
        self.is_cancelled = Some(is_cancelled);
        self
    }
}
