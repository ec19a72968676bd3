//! Tells when conditions were met in a snapshot or an archive.

use std::io::Write;

use timeline::Order;
use timeline_latency::{Firing, Triggers};
use timeline_reading::{Log, Request};

use super::gate::Gates;
use super::line::FiringPrinter;
use super::note::is_own;
use super::{Args, nanos};
use crate::failure::Result;
use crate::health;
use crate::output;
use crate::unknown_names;

/// Prints all firings, by the times of events.
pub fn report(log: &Log, args: &Args) -> Result<Gates> {
    let query = args.filters.query();
    let triggers = Triggers::new(&args.when, &query, log.source())
        .holding(args.hold.map_or(0, nanos))
        .leaving_out(is_own);
    let cooldown = args.cooldown.map_or(0, nanos);
    let mut replay = Replay {
        args,
        triggers,
        gates: Gates::new(args.when.len(), cooldown, args.max_firings),
        fired: Vec::new(),
        printer: FiringPrinter::new(args.json),
        out: output::stdout(),
    };
    let mut events = log.stream(Request::new(Order::OldestFirst));
    while !replay.gates.are_closed() {
        let Some(event) = events.next() else {
            replay.end()?;
            break;
        };
        if let Some(time) = log.source().time(&event) {
            replay.pass(time)?;
        }
        let fired = &mut replay.fired;
        replay
            .triggers
            .add_recorded(&event, &mut |one| fired.push(one));
        replay.print()?;
    }
    replay.out.flush()?;
    unknown_names::tell(&query, &[log]);
    health::report_stream(&events)?;
    Ok(replay.gates)
}

/// What is known of a recording so far, and printed.
struct Replay<'a, W> {
    args: &'a Args,
    triggers: Triggers<'a>,
    gates: Gates,
    /// What is to be printed.
    fired: Vec<Firing>,
    printer: FiringPrinter,
    out: W,
}

impl<W: Write> Replay<'_, W> {
    /// Prints what a cooldown holds back that is over at this time.
    fn pass(&mut self, time: u64) -> Result {
        while let Some(next) = self.gates.next().filter(|next| *next <= time) {
            let (triggers, fired) = (&mut self.triggers, &mut self.fired);
            triggers.advance(next, &mut |one| fired.push(one));
            let due = self.gates.due(next, |held| triggers.still(held, next));
            self.fired.splice(0..0, due);
            self.print()?;
        }
        Ok(())
    }

    /// Prints what is known only at the end, by time: what is open now was never ended, and the
    /// last windows go on a little longer.
    fn end(&mut self) -> Result {
        let mut open = Vec::new();
        let end = self.triggers.end(&mut |one| open.push(one));
        open.sort_by_key(|one| one.time);
        for one in open {
            self.pass(one.time)?;
            self.fired.push(one);
            self.print()?;
        }
        self.pass(end)?;
        let fired = &mut self.fired;
        self.triggers.advance(end, &mut |one| fired.push(one));
        self.fired.sort_by_key(|one| one.time);
        self.print()
    }

    /// Prints those that go through.
    fn print(&mut self) -> Result {
        for one in self.fired.drain(..) {
            if let Some(ignored) = self.gates.pass(&one, one.time) {
                let condition = &self.args.when[one.condition];
                (self.printer).print(condition, &one, ignored, None, &mut self.out)?;
            }
        }
        Ok(())
    }
}
