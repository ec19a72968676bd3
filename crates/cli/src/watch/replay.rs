//! Tells when conditions were met in a snapshot or an archive.

use std::io::Write;

use timeline::Order;
use timeline_latency::{Fired, Triggers};

use super::gate::Gate;
use super::line::Printer;
use super::note::is_own;
use super::{Args, nanos};
use crate::failure::Result;
use crate::output;
use crate::reading::Reading;

/// Prints all firings, by the times of events.
pub fn report(reading: &Reading, args: &Args) -> Result<Gate> {
    let query = args.filters.query();
    let mut triggers = Triggers::new(&args.when, &query, reading.source())
        .holding(args.hold.map_or(0, nanos))
        .leaving_out(is_own);
    let mut gate = Gate::new(args.cooldown.map_or(0, nanos), args.max_firings);
    let (mut out, mut printer) = (output::stdout(), Printer::new(args.json));
    let mut fired: Vec<Fired> = Vec::new();
    let mut events = reading.events(Order::OldestFirst);
    loop {
        let event = events.next();
        match &event {
            Some(event) => triggers.add_recorded(event, &mut |one| fired.push(one)),
            // What is open now was never ended.
            None => triggers.tick(triggers.now(), &mut |one| fired.push(one)),
        }
        for one in fired.drain(..) {
            if let Some(ignored) = gate.pass(one.time) {
                let condition = &args.when[one.condition];
                printer.print(condition, &one, ignored, None, &mut out)?;
            }
        }
        if event.is_none() || gate.is_closed() {
            break;
        }
    }
    out.flush()?;
    events.report()?;
    Ok(gate)
}
