//! Looks at all events of an archive for numbers without a text.

use std::collections::{BTreeSet, HashSet};

use timeline::Value;
use timeline::internal::{ValueKind, values};

use super::lost_texts::{LostTexts, MOST, MOST_KINDS, ValueKinds, is_lost};
use crate::format::block::Shape;
use crate::format::event::{RawDefinition, RawThread, SingleEvent};
use crate::format::record::Block;
use crate::read::open::archive::Archive;
use crate::read::open::decode::unpack_block;
use crate::read::texts::names::Names;
use crate::read::units::unpack::{IndexedEvent, UnpackedEvents};

/// Most arguments of a message.
const MOST_ARGUMENTS: u64 = 64;

/// What was looked at already.
#[derive(Default)]
struct RowHistory {
    definitions: HashSet<(u64, RawDefinition, Option<ValueKinds>)>,
    threads: HashSet<(u64, RawThread)>,
}

/// The numbers without a text of an archive.
pub fn wanted(archive: &Archive) -> LostTexts {
    let (mut wanted, mut seen) = (LostTexts::default(), RowHistory::default());
    let mut decoder = archive.decoder::<()>();
    let mut expanded = Vec::new();
    let names = archive.names();
    for unit in archive.found_units() {
        decoder.each(unit, |single, block| {
            let (magic, definitions, threads) = match block {
                Some(block) => of_block(block, names, &mut expanded),
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
            seen = RowHistory::default();
        }
    }
    wanted.take_known(names);
    wanted
}

/// A magic, definitions with the kinds of the values of their events, and threads.
type Rows = (
    u64,
    Vec<(RawDefinition, Option<ValueKinds>)>,
    Vec<RawThread>,
);

fn of_block(block: &Block, names: &Names, expanded: &mut Vec<u8>) -> Rows {
    let magic = block.magic.unwrap_or(0);
    let Some(mut unpacked) = unpack_block(block, expanded) else {
        return (magic, Vec::new(), Vec::new());
    };
    let payloads = of_payloads(names, magic, &mut unpacked);
    let shapes = unpacked.shapes.into_iter().zip(payloads);
    let definitions = shapes.flat_map(|(shape, payloads)| {
        let mut all: Vec<Option<ValueKinds>> = payloads.into_iter().map(Some).collect();
        if all.is_empty() {
            all.push(match (shape.payload, shape.kinds.is_empty()) {
                (true, _) => None,
                (false, false) => Some(shape.kinds.into_iter().map(Some).collect()),
                (false, true) => words(shape.args),
            });
        }
        all.into_iter()
            .map(move |kinds| (shape.definition.clone(), kinds))
    });
    (magic, definitions.collect(), unpacked.threads)
}

/// The kinds of the values in payloads, of each shape whose message is lost: nothing but the events
/// themselves has them.
fn of_payloads(
    names: &Names,
    magic: u64,
    unpacked: &mut UnpackedEvents,
) -> Vec<BTreeSet<ValueKinds>> {
    let is_lost = |shape: &Shape| shape.payload && is_lost(names, magic, &shape.definition);
    let lost: Vec<bool> = unpacked.shapes.iter().map(is_lost).collect();
    let mut found = vec![BTreeSet::new(); lost.len()];
    if !lost.contains(&true) {
        return found;
    }
    let mut event = IndexedEvent::default();
    while unpacked.next_as_stored(&mut event).is_some() {
        let shape = event.definition;
        if lost[shape] && found[shape].len() < MOST_KINDS {
            found[shape].extend(of_payload(&event.payload));
        }
    }
    found
}

fn of_event(single: &SingleEvent) -> Rows {
    let event = &single.event;
    let kinds = match event.payload.is_empty() {
        true => words(event.args.len() as u64),
        false => of_payload(&event.payload),
    };
    (
        single.magic(),
        vec![(single.definition(), kinds)],
        vec![single.thread()],
    )
}

fn of_payload(payload: &[u8]) -> Option<ValueKinds> {
    let kinds = values(payload).map(|value| kind(&value));
    let kinds: ValueKinds = kinds.take(MOST_ARGUMENTS as usize + 1).collect();
    (kinds.len() <= MOST_ARGUMENTS as usize).then_some(kinds)
}

/// Words are numbers of any type.
fn words(count: u64) -> Option<ValueKinds> {
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
