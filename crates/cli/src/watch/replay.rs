//! Tells when conditions were met in a snapshot or an archive.

use std::io::Write;

use timeline::Order;
use timeline_latency::{Fired, Triggers};

use super::gate::Gates;
use super::line::Printer;
use super::note::is_own;
use super::{Args, nanos};
use crate::failure::Result;
use crate::output;
use crate::reading::Reading;

/// Prints all firings, by the times of events.
pub fn report(reading: &Reading, args: &Args) -> Result<Gates> {
    let query = args.filters.query();
    let mut triggers = Triggers::new(&args.when, &query, reading.source())
        .holding(args.hold.map_or(0, nanos))
        .leaving_out(is_own);
    let cooldown = args.cooldown.map_or(0, nanos);
    let mut gates = Gates::new(args.when.len(), cooldown, args.max_firings);
    let (mut out, mut printer) = (output::stdout(), Printer::new(args.json));
    let mut fired: Vec<Fired> = Vec::new();
    let mut events = reading.events(Order::OldestFirst);
    loop {
        let event = events.next();
        let time = event
            .as_ref()
            .and_then(|event| reading.source().time(event));
        // What a cooldown holds back comes when that is over, before this event.
        while let Some(next) = gates
            .next()
            .filter(|next| time.is_some_and(|time| *next <= time))
        {
            triggers.advance(next, &mut |one| fired.push(one));
            let due = gates.due(next, |held| triggers.still(held, next));
            fired.splice(0..0, due);
            print(&mut fired, args, &mut gates, &mut printer, &mut out)?;
        }
        match &event {
            Some(event) => triggers.add_recorded(event, &mut |one| fired.push(one)),
            // What is open now was never ended.
            None => triggers.tick(triggers.now(), &mut |one| fired.push(one)),
        }
        print(&mut fired, args, &mut gates, &mut printer, &mut out)?;
        if event.is_none() || gates.are_closed() {
            break;
        }
    }
    out.flush()?;
    events.report()?;
    Ok(gates)
}

/// Prints those that go through.
fn print(
    fired: &mut Vec<Fired>,
    args: &Args,
    gates: &mut Gates,
    printer: &mut Printer,
    out: &mut impl Write,
) -> Result {
    for one in fired.drain(..) {
        if let Some(ignored) = gates.pass(&one, one.time) {
            let condition = &args.when[one.condition];
            printer.print(condition, &one, ignored, None, out)?;
        }
    }
    Ok(())
}
