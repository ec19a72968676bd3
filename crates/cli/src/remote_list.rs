//! Lists what a store or an agent has.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Deserialize;
use serde_json::Value;
use timeline::dump::printable;
use timeline_client::Client;

use crate::failure::{Failure, Result};
use crate::format::{self, Align, Bytes, Cell, Count};
use crate::output;

#[derive(Deserialize)]
struct RemoteList {
    logs: Vec<ListedLog>,
}

/// A log of another machine.
#[derive(Deserialize)]
struct ListedLog {
    id: String,
    kind: String,
    bytes: Option<u64>,
    modified: Option<String>,
    trace: Option<ListedTrace>,
    ring: Option<ListedRing>,
}

#[derive(Deserialize)]
struct ListedTrace {
    events: u64,
    state: Option<String>,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ListedRing {
    level: String,
    writers: u64,
    entries: u64,
}

/// Prints all logs of a host: a table, or what it answers.
pub fn show(client: &Client, as_json: bool) -> Result {
    let told = |error: timeline_client::Error| Failure::Message(error.to_string());
    let mut out = output::stdout();
    if as_json {
        let logs: Value = client.get("logs", &[]).map_err(told)?;
        writeln!(out, "{logs}")?;
        out.flush()?;
        return Ok(());
    }
    let list: RemoteList = client.get("logs", &[]).map_err(told)?;
    let columns = [
        ("NAME", Align::Left),
        ("STATE", Align::Left),
        ("EVENTS", Align::Right),
        ("SIZE", Align::Right),
        ("WRITTEN", Align::Left),
        ("LEVEL, LABELS", Align::Left),
    ];
    let theme = output::theme();
    let rows: Vec<_> = list.logs.iter().map(row).collect();
    if rows.is_empty() {
        output::say(format_args!(
            "{} has no timeline and no trace",
            client.address()
        ));
        return Ok(());
    }
    format::table(&mut out, theme.bold, &columns, &rows)?;
    out.flush()?;
    Ok(())
}

fn row(log: &ListedLog) -> Vec<Cell> {
    let (state, events, more) = match (&log.trace, &log.ring) {
        (Some(trace), _) => {
            let labels = trace.labels.iter();
            let labels: Vec<_> = labels
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            let state = trace.state.clone().unwrap_or_else(|| log.kind.clone());
            (state, Some(trace.events), labels.join(" "))
        }
        (None, Some(ring)) => {
            let state = match ring.writers {
                0 => "no writer".into(),
                count => format::things(count, "writer"),
            };
            (state, Some(ring.entries), ring.level.clone())
        }
        (None, None) => (log.kind.clone(), None, String::new()),
    };
    let number = |number: Option<u64>| number.map_or("?".into(), |it| Count(it).to_string());
    let bytes = log
        .bytes
        .map_or("?".into(), |bytes| Bytes(bytes).to_string());
    // To the second.
    let written = log.modified.as_deref().and_then(|time| time.get(..19));
    vec![
        printable(&log.id).to_string().into(),
        printable(&state).to_string().into(),
        number(events).into(),
        bytes.into(),
        printable(&written.unwrap_or("?").replace('T', " "))
            .to_string()
            .into(),
        printable(&more).to_string().into(),
    ]
}
