//! Tests that events come in the same order with any room.

use super::*;
use crate::format::event::{RawDefinition, RawEvent};
use crate::read::order::recorded_event::RecordedEvent;
use crate::write::writer::{Form, Writer};

/// An archive of one ring with blocks of 50 events. Each block overlaps the next, and its
/// events are out of order. Every third archive has no ticks.
fn archive(magic: u64, seed: u64) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, magic, Form::Blocks);
    for i in 0..200 {
        let at = i + seed + i * 7_919 % 60;
        let event = RawEvent {
            definition: RawDefinition {
                event: Some(1),
                ..RawDefinition::default()
            },
            ticks: (seed % 3 != 1).then_some(at),
            unix_nanos: Some(1 + at / 2),
            lane: Some(i % 2),
            number: Some(i / 2),
            args: vec![(seed * 1_000 + i) as i64; 6],
            ..RawEvent::default()
        };
        writer.event(&event).unwrap();
        if i % 50 == 49 {
            writer.flush().unwrap();
        }
    }
    writer.flush().unwrap();
    file
}

/// All events in this order, read with `room` bytes, and the most bytes that were in memory.
fn merged(archive: &Archive, order: Order, room: usize) -> (Vec<RecordedEvent>, usize) {
    let mut merged = ByTime::with_room(archive, order, room);
    let (mut events, mut most) = (Vec::new(), 0);
    while let Some(event) = merged.next() {
        most = most.max(merged.held);
        let held: usize = merged.batches.iter().map(|batch| batch.bytes).sum();
        assert_eq!(held, merged.held);
        events.push(event);
    }
    assert_eq!((merged.lost, merged.held), (0, 0));
    (events, most)
}

#[test]
fn the_order_does_not_depend_on_the_room() {
    let same: Vec<_> = (0..15).map(|_| archive(1, 0)).collect();
    let of_one_ring: Vec<_> = (0..15).map(|seed| archive(1, seed)).collect();
    let of_several: Vec<_> = (0..15).map(|seed| archive(seed % 4, seed)).collect();
    for parts in [same, of_one_ring, of_several] {
        let archive = Archive::from_bytes(parts.concat());
        let one_ring = archive.has_one_ring();
        let mut expected: Vec<_> = archive.events().collect();
        assert_eq!(expected.len(), 15 * 200);
        expected.sort_by_key(|event| {
            let (unix, ticks, ring, lane, number) = event.moment();
            (if one_ring { 0 } else { unix }, ticks, ring, lane, number)
        });
        for order in [Order::OldestFirst, Order::NewestFirst] {
            for room in [usize::MAX, 1 << 20, 100_000, 10_000, 0] {
                let (events, most) = merged(&archive, order, room);
                assert!(events == expected, "{order:?} with {room} bytes");
                // At least one event.
                assert!(most <= room.saturating_add(10_000), "{most} of {room}");
            }
            expected.reverse();
        }
    }
}
