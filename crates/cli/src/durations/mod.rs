//! The options that say which durations are wanted, and the durations of a timeline or an archive.
//!
//! matches.rs finds the durations.

mod matches;

pub use matches::Finding;

use std::sync::LazyLock;

use timeline::Source;
use timeline::internal::Unknown;
use timeline_latency::Measure;

use crate::failure::{Failure, Result};
use crate::time::parse_nanoseconds;

/// What is said where there are none.
pub const NONE: &str = "no durations were found: a span is from an event \"begin X\" to \"end X\", \
                        or from \"start X\" to \"finish X\"; --from with --to, and --every, \
                        measure between any other events";

/// Fails if a name of a measure is in no definition. `can_grow`: whether more definitions may come;
/// then only a name that is like another one is refused.
pub fn refuse_unknown(source: &dyn Source, measures: &[Measure], can_grow: bool) -> Result {
    let unknown = measures
        .iter()
        .filter_map(|measure| measure.unknown(source));
    refuse(unknown, can_grow)
}

/// Fails with the first of these names that is surely not meant.
pub fn refuse(mut unknown: impl Iterator<Item = Unknown>, can_grow: bool) -> Result {
    let refused = unknown.find(|one| !(one.is_pattern() || can_grow && one.may_come()));
    refused.map_or(Ok(()), |unknown| {
        Err(Failure::Message(match can_grow {
            true => unknown.while_it_goes_on(),
            false => unknown.to_string(),
        }))
    })
}

/// Which durations are wanted. If none is named, all spans.
#[derive(clap::Args)]
#[command(next_help_heading = "Durations")]
pub struct DurationArgs {
    /// Spans of these names, such as 'engine.*'. A span is from "begin X" to "end X" in one thread,
    /// or from "start X $key" to "finish X $key"
    #[arg(long, value_name = "PATTERN")]
    span: Vec<String>,

    /// From an event of this name (a pattern), to one of --to in the same thread, or with the same
    /// --key
    #[arg(long, value_name = "EVENT", requires = "to")]
    from: Option<String>,

    /// To an event of this name; it may be that of --from
    #[arg(long, value_name = "EVENT", requires = "from")]
    to: Option<String>,

    /// The field whose value both events share, in any thread
    #[arg(long, value_name = "FIELD", requires = "from")]
    key: Option<String>,

    /// From each event of this name to the next one of the same name and thread
    #[arg(long, value_name = "EVENT")]
    every: Vec<String>,

    /// Look for begins so long before --since. A span that is longer counts as one without a begin
    #[arg(long, value_name = "TIME", value_parser = parse_nanoseconds)]
    #[arg(default_value = LONGEST.as_str())]
    longest: u64,
}

static LONGEST: LazyLock<String> =
    LazyLock::new(|| format!("{}s", timeline_latency::DEFAULT_LONGEST.as_secs()));

impl DurationArgs {
    /// What was asked for.
    pub fn measures(&self) -> Vec<Measure> {
        let mut measures = self.given();
        if measures.is_empty() {
            measures.push(Measure::Spans("*".into()));
        }
        measures
    }

    /// What was asked for; nothing if no option was given.
    pub fn given(&self) -> Vec<Measure> {
        let spans = self.span.iter().cloned().map(Measure::Spans);
        let every = self.every.iter().cloned().map(Measure::Every);
        let between = self.from.iter().zip(&self.to);
        let between = between.map(|(from, to)| Measure::Between {
            from: from.clone(),
            to: to.clone(),
            key: self.key.clone(),
        });
        spans.chain(between).chain(every).collect()
    }

    /// How far before the first wanted time begins are looked for, in nanoseconds.
    pub fn longest(&self) -> u64 {
        self.longest
    }
}
