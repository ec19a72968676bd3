//! Looks at all events of an archive for numbers without a text.

use std::collections::HashSet;

use timeline::{Value, ValueKind, values};

use super::wanted::{Kinds, MOST, Wanted};
use crate::format::event::{RawDefinition, RawThread, SingleEvent};
use crate::format::record::Block;
use crate::read::archive::Archive;
use crate::read::decode::unpack_block;

/// Most arguments of a message.
const MOST_ARGUMENTS: u64 = 64;

/// What was looked at already.
#[derive(Default)]
struct Seen {
    definitions: HashSet<(u64, RawDefinition, Option<Kinds>)>,
    threads: HashSet<(u64, RawThread)>,
}

/// The numbers without a text of an archive.
pub fn wanted(archive: &Archive) -> Wanted {
    let (mut wanted, mut seen) = (Wanted::default(), Seen::default());
    let mut decoder = archive.decoder::<()>();
    let mut expanded = Vec::new();
    let names = archive.names();
    for unit in archive.found_units() {
        decoder.each(unit, |single, block| {
            let (magic, definitions, threads) = match block {
                Some(block) => of_block(block, &mut expanded),
                None => of_event(single),
            };
            for (definition, kinds) in definitions {
                let row = (magic, definition, kinds);
                if !seen.definitions.contains(&row) {
                    wanted.want_definition(names, magic, &row.1, row.2.clone());
                    seen.definitions.insert(row);
                }
            }
            for thread in threads {
                if !seen.threads.contains(&(magic, thread.clone())) {
                    wanted.want_thread(names, magic, &thread);
                    seen.threads.insert((magic, thread));
                }
            }
        });
        // Memory does not grow with an archive.
        if seen.definitions.len() + seen.threads.len() > MOST {
            seen = Seen::default();
        }
    }
    wanted.take_known(names);
    wanted
}

/// A magic, definitions with the kinds of the values of their events, and threads.
type Rows = (u64, Vec<(RawDefinition, Option<Kinds>)>, Vec<RawThread>);

fn of_block(block: &Block, expanded: &mut Vec<u8>) -> Rows {
    let magic = block.magic.unwrap_or(0);
    let Some(unpacked) = unpack_block(block, expanded) else {
        return (magic, Vec::new(), Vec::new());
    };
    let definitions = unpacked.shapes.into_iter().map(|shape| {
        let kinds = match (shape.payload, shape.kinds.is_empty()) {
            (true, _) => None,
            (false, false) => Some(shape.kinds.into_iter().map(Some).collect()),
            (false, true) => words(shape.args),
        };
        (shape.definition, kinds)
    });
    (magic, definitions.collect(), unpacked.threads)
}

fn of_event(single: &SingleEvent) -> Rows {
    let event = &single.event;
    let kinds = match event.payload.is_empty() {
        true => words(event.args.len() as u64),
        false => Some(values(&event.payload).map(|value| kind(&value)).collect()),
    };
    (
        single.magic(),
        vec![(single.definition(), kinds)],
        vec![single.thread()],
    )
}

/// Words are numbers of any type.
fn words(count: u64) -> Option<Kinds> {
    (count <= MOST_ARGUMENTS).then(|| vec![None; count as usize])
}

fn kind(value: &Value) -> Option<ValueKind> {
    match value {
        Value::Int(_) => Some(ValueKind::Int),
        Value::Uint(_) => Some(ValueKind::Uint),
        Value::Float(_) => Some(ValueKind::Float),
        Value::LongDouble(_) => Some(ValueKind::LongDouble),
        _ => Some(ValueKind::Text),
    }
}
