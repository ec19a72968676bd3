//! Follows an archive: its newest events, and those that are recorded later.

use std::io::Write;

use timeline::dump::Durations;
use timeline::{Event, Order};
use timeline_archive::Archive;
use timeline_latency::intervals::Lack;
use timeline_search::Query;

use super::Args;
use super::printer::Printer;
use crate::durations::{Pairing, events_with_edges};
use crate::failure::{Failure, Result};
use crate::filters::Wanted;
use crate::growth::{self, Growth};
use crate::health;
use crate::programs::Programs;
use crate::signals::{self, Pause, SignalledOutput, Signals, Woken};
use crate::unmatched::{self, Whole};

/// How many events are read before a signal is looked for.
const LOOKS: u64 = 4096;

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
    // All of a large archive is read if few of its events are wanted.
    let mut read = 0_u64;
    let mut is_ended = || {
        read += 1;
        read.is_multiple_of(LOOKS) && signals.count() > 0
    };
    let all = Durations::new(archive, events.by_ref()).take_while(|_| !is_ended());
    let newest = all.filter(|event| are_shown.has(event));
    let mut batch: Vec<Event> = newest.take_while(|event| is_among_newest(event)).collect();
    if signals.count() > 0 {
        return Ok(0);
    }
    let first = batch.iter().take_while(|event| event.important).count();
    batch[..first].reverse();
    batch[first..].reverse();
    let mut pairing = Pairing::new(archive);
    // They have their durations. Those that begin among them may end later.
    for event in &batch {
        pairing.note(event);
    }
    unmatched::tell(query, &[Whole::Archive(archive)]);
    health::report(path, archive, events.lost());
    drop(events);
    let mut growth = Growth::of(archive)?;
    let mut printer = Printer::new(archive, Some(Programs::of(archive)), args);
    let (mut pause, mut total) = (Pause::new(), 0);
    loop {
        match printer.print(&batch, out).and_then(|()| out.flush()) {
            Err(error) if signals::is_interrupted(&error) => return Ok(total),
            other => other?,
        }
        batch.clear();
        // Before the last look, so that no event is left that was recorded before this check.
        let recorded = growth.is_recorded();
        let lacks = growth.poll(&mut batch)?;
        for lack in &lacks {
            if let Lack::Unrecorded(entries) = lack {
                total += entries;
            }
            growth::say(*lack, "");
        }
        let idle = batch.is_empty() && lacks.is_empty();
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
