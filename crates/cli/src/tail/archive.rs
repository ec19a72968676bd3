//! Follows an archive: its newest events, and those that are recorded later.

use std::io::Write;

use timeline::dump::Durations;
use timeline::{Event, Order};
use timeline_archive::{Archive, ArchiveFollow};
use timeline_search::Query;

use super::Args;
use super::printer::Printer;
use crate::durations::{Pairing, events_with_edges};
use crate::failure::{Failure, Result};
use crate::filters::Wanted;
use crate::format::{agree, things};
use crate::health;
use crate::output;
use crate::programs::Programs;
use crate::signals::{self, Pause, SignalledOutput, Signals, Woken};

/// Prints events until no recorder writes any more, or a signal comes. Returns how many entries
/// were missed.
pub fn follow(
    archive: &Archive,
    args: &Args,
    query: &Query,
    signals: &Signals,
    out: &mut SignalledOutput,
) -> Result<u64> {
    let path = args.target.path();
    let (mut events, mut are_shown) = events_with_edges(archive, Order::NewestFirst, query);
    let mut wanted = Wanted::new(query, archive);
    let mut left = args.max_entries;
    let mut is_among_newest = |event: &Event| {
        let is_among_newest = event.important || left > 0;
        left -= usize::from(is_among_newest && !event.important);
        is_among_newest
    };
    let newest = Durations::new(archive, events.by_ref()).filter(|event| are_shown.has(event));
    let mut batch: Vec<Event> = newest.take_while(|event| is_among_newest(event)).collect();
    let first = batch.iter().take_while(|event| event.important).count();
    batch[..first].reverse();
    batch[first..].reverse();
    let mut pairing = Pairing::new(archive);
    // They have their durations. Those that begin among them may end later.
    for event in &batch {
        pairing.note(event);
    }
    health::report(path, archive, events.lost());
    drop(events);
    let mut growth = archive.follow()?;
    let mut printer = Printer::new(archive, Some(Programs::of(archive)), args);
    let (mut pause, mut total) = (Pause::new(), 0);
    let mut told = Told::default();
    loop {
        match printer.print(&batch, out).and_then(|()| out.flush()) {
            Err(error) if signals::is_interrupted(&error) => return Ok(total),
            other => other?,
        }
        batch.clear();
        // Before the last look, so that no event is left that was recorded before this check.
        let recorded = growth.is_recorded();
        let missed = growth.poll(&mut batch)?;
        total += missed;
        told.tell(&growth, missed);
        let idle = batch.is_empty() && missed == 0;
        batch.iter_mut().for_each(|event| pairing.add(event));
        batch.retain(|event| wanted.has(event));
        if idle && !recorded {
            return Ok(total);
        }
        match signals.wait(pause.after(!idle)) {
            Woken::Timeout => {}
            Woken::Interrupted => return Ok(total),
            Woken::OutputClosed => return Err(Failure::ClosedPipe),
        }
    }
}

/// Which losses of a growing archive were told.
#[derive(Default)]
struct Told {
    unknown: u64,
    damaged: u64,
    removed: u64,
    gone: u64,
}

impl Told {
    /// Tells what else is missing, after a poll that missed so many entries.
    fn tell(&mut self, growth: &ArchiveFollow, missed: u64) {
        if missed > 0 {
            let what = things(missed, "entry");
            output::say(format_args!(
                "{what} missed here, overwritten before they were recorded"
            ));
        }
        if growth.missed_unknown() > self.unknown {
            self.unknown = growth.missed_unknown();
            output::say(
                "events before this may be missing, because no recorder ran between two runs",
            );
        }
        if growth.damaged() > self.damaged {
            let new = growth.damaged() - self.damaged;
            let what = things(new, "byte");
            self.damaged = growth.damaged();
            let belong = agree(new, "belongs", "belong");
            health::note_incomplete();
            output::say(format_args!("{what} here {belong} to no whole frame"));
        }
        if growth.removed() > self.removed {
            let what = things(growth.removed() - self.removed, "file");
            self.removed = growth.removed();
            output::say(format_args!("{what} removed here before they were read"));
        }
        if growth.gone() > self.gone {
            let new = growth.gone() - self.gone;
            let what = things(new, "entry");
            self.gone = growth.gone();
            health::note_incomplete();
            let (were, are) = (agree(new, "was", "were"), agree(new, "is", "are"));
            output::say(format_args!("{what} that {were} recorded {are} gone here"));
        }
    }
}
