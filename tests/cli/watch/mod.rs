//! Tests `timeline watch`, on timelines that are written to meanwhile.

mod actions;
mod conditions;
mod cooldown;
mod ends;
mod recordings;
mod refused;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use timeline::{Attached, Order, Priority, Timeline, event};

use crate::command::*;
use crate::support::Name;

/// Starts a watch that has begun to watch. Each firing is one of JSON.
pub fn watch(name: &Name, conditions: &[&str], args: &[&str]) -> Running {
    let whens = conditions
        .iter()
        .flat_map(|condition| ["--when", condition]);
    let words: Vec<&str> = ["watch", name.path(), "--json"]
        .into_iter()
        .chain(whens)
        .collect();
    let mut watch = Running::start(&[&words, args].concat());
    watch.stderr_until("the beginning", |lines| {
        lines.iter().any(|line| line.contains("watching"))
    });
    watch
}

/// Its first so many firings.
pub fn firings(watch: &mut Running, count: usize) -> Vec<Value> {
    let lines = watch.stdout_until("a firing", |lines| lines.len() >= count);
    let lines = lines
        .iter()
        .map(|line| serde_json::from_str(line).expect(line));
    lines.collect()
}

/// Waits for its end with this status: its firings, and what it said.
pub fn finish(watch: Running, status: i32) -> (Vec<Value>, Vec<String>) {
    let (ended, stdout, stderr) = watch.finish();
    assert_eq!(ended.code(), Some(status), "{stdout:?} {stderr:?}");
    let lines = stdout
        .iter()
        .map(|line| serde_json::from_str(line).expect(line));
    (lines.collect(), stderr)
}

pub fn tick(tl: &Timeline, number: i64) {
    event!(tl, Priority::Info, "engine", "tick {number}", number);
}

pub fn begin(tl: &Timeline) {
    event!(tl, Priority::Info, "engine", "begin breath");
}

pub fn end(tl: &Timeline) {
    event!(tl, Priority::Info, "engine", "end breath");
}

/// The snapshots in a folder.
pub fn snapshots(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// The names of the events of a file, the oldest first.
pub fn names(file: impl AsRef<Path>) -> Vec<String> {
    let at = Attached::open(file).unwrap();
    let names = at.events(Order::OldestFirst).map(|event| {
        let definition = at.definition(event.id).expect("defined");
        definition.name()
    });
    names.collect()
}
