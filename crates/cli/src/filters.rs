//! The options of verbs that say which events are wanted.

use std::ops::{Deref, RangeInclusive};

use timeline::Priority;
use timeline_search::{Case, Error, Expression, Needle, Query, local_now, moment, numbers};

use crate::args::PrioritiesParser;
use crate::format::things;
use crate::output;

/// Which events are wanted: those that meet all conditions. If an option is given several times, an
/// event must meet one of its values. With several --where, it must meet all.
#[derive(clap::Args)]
#[command(next_help_heading = "Filters")]
pub struct Filters {
    /// Only these categories; * is any text and ? any one character
    #[arg(long, value_name = "PATTERN")]
    category: Vec<String>,

    /// Only events of these names, such as 'engine.*'; `timeline events` lists them
    #[arg(long, value_name = "PATTERN")]
    event: Vec<String>,

    /// Only this priority, or a range: ..info (up to info), warning..trace
    #[arg(long, value_name = "RANGE", value_parser = PrioritiesParser, hide_possible_values = true)]
    priority: Option<RangeInclusive<Priority>>,

    /// Only threads with this name (a pattern) or this number of the kernel
    #[arg(long, value_name = "NAME|TID")]
    thread: Vec<String>,

    /// Only threads of this process
    #[arg(long, value_name = "PID", value_parser = process)]
    pid: Vec<u32>,

    /// Only events logged on these cores: 0-3,8
    #[arg(long, value_name = "LIST", value_parser = core_list)]
    core: Vec<Cores>,

    /// Only events from this time on: 2026-11-23, "2026-11-23 14:03:07", 14:03, "5m ago", -90s
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    since: Option<u64>,

    /// Only events before this time
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    until: Option<u64>,

    /// Only events whose values meet this condition: 'bytes > 1.5KiB && tcp == 10 || name ~ "eth"'.
    /// A field by itself is one that is neither false, nor 0, nor empty; $0 is the first value
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    conditions: Vec<Expression>,

    /// Only events whose message has this text. Capitals count only if it has some
    #[arg(short, long, value_name = "TEXT", value_parser = needle, allow_hyphen_values = true)]
    grep: Option<Needle>,
}

#[derive(Clone)]
struct Cores(Vec<RangeInclusive<u32>>);

fn core_list(text: &str) -> Result<Cores, Error> {
    numbers(text).map(Cores)
}

fn process(text: &str) -> Result<u32, String> {
    let number = text.parse();
    number.map_err(|_| format!("expected the number of a process, such as 4711, got {text:?}"))
}

fn time(text: &str) -> Result<u64, Error> {
    moment(text, &local_now())
}

fn needle(text: &str) -> Result<Needle, Error> {
    Needle::text(text, Case::Smart)
}

impl Filters {
    /// The conditions.
    pub fn query(&self) -> FilterQuery {
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since >= until
        {
            output::say("--since is not before --until: no event is between them");
        }
        let cores = self.core.iter().flat_map(|cores| cores.0.iter().cloned());
        FilterQuery(Query {
            categories: self.category.clone(),
            events: self.event.clone(),
            priorities: self.priority.clone(),
            threads: self.thread.clone(),
            pids: self.pid.clone(),
            cores: cores.collect(),
            since: self.since,
            until: self.until,
            expressions: self.conditions.clone(),
            texts: self.grep.iter().cloned().collect(),
            ..Query::default()
        })
    }
}

/// What was asked for. Says at its end how many events it does not show because their process is
/// not known.
pub struct FilterQuery(Query);

impl Deref for FilterQuery {
    type Target = Query;

    fn deref(&self) -> &Query {
        &self.0
    }
}

impl Drop for FilterQuery {
    fn drop(&mut self) {
        let unknown = self.of_unknown_process.get();
        if unknown > 0 {
            let (what, is) = (
                things(unknown, "event"),
                if unknown == 1 { "is" } else { "are" },
            );
            output::say(format_args!(
                "{what} of an unknown process {is} left out by --pid: their threads are forgotten"
            ));
        }
    }
}

/// Says how many entries were overwritten where no event is shown that could say it.
pub fn report_missed(missed: u64) {
    if missed > 0 {
        let what = things(missed, "entry");
        output::say(format_args!(
            "{what} missing right before events that are not shown"
        ));
    }
}
